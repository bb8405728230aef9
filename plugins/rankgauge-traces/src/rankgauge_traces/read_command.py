"""
`rankgauge traces read`: spans become a file of samples.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import orjson

from rankgauge.errors import DataError, NothingToEvaluateError, ParameterError, Problem
from rankgauge.files import check_new_file, refuse, write_whole
from rankgauge.plugin import Console
from rankgauge.text import counted, did_you_mean, listed
from rankgauge_traces.samples import BY_QUESTION, Joined, join, lacks, read_gold, samples_of_traces
from rankgauge_traces.span_files import read_spans
from rankgauge_traces.traces import Counts, Reading, Trace, check_there, traces_of

__all__ = ["run", "write_lines"]


def run(given: argparse.Namespace, console: Console) -> int:
    """Do what `traces read` was given, and return its exit code."""
    check_new_file(given.output)
    if given.gold is None and (idle := [name for name in ("by", "with_missing") if getattr(given, name)]):
        raise ParameterError(f"--{idle[0].replace('_', '-')} is about ground truth; name it with --gold FILE")
    reading = Reading(given.id_key, given.root, _names(given.name or []))
    gold = None if given.gold is None else read_gold(given.gold, given.by or BY_QUESTION, console.catalog())
    problems: list[Problem] = []
    spans = chain.from_iterable(read_spans(file, problems) for file in given.spans)
    traces, counts = traces_of(spans, reading, problems)
    if not given.skip_broken:
        refuse(f"the traces cannot be used ({counted(len(problems), 'problem')}):", problems)
    check_there(traces, counts, reading)
    joined = None if gold is None else join(traces, gold, with_missing=given.with_missing)
    samples = samples_of_traces(traces) if joined is None else joined.samples
    if joined is not None and gold is not None and not any("actual_output" in sample for sample in samples):
        hint = f"; the first trace asks {traces[0].question!r:.80}" if gold.by == BY_QUESTION else ""
        raise NothingToEvaluateError(f"no trace has ground truth in {gold.file} by {gold.by}{hint}", [])
    write_lines(given.output, samples)
    missing = [*_idle_names(reading.names, traces), *_broken(problems, counts), *lacks(traces)]
    if given.as_json:
        console.json(_summary(given.output, traces, counts, joined, len(samples), missing))
        return 0
    console.echo("\n".join(_told(traces, counts, joined, given)))
    for sentence in missing:
        console.note(sentence)
    console.echo(f"wrote {given.output} ({counted(len(samples), 'sample')})")
    return 0


def write_lines(file: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write records as JSON lines, all of them or none."""
    try:
        lines = [orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records]
    except orjson.JSONEncodeError as error:
        raise DataError(f"{file} is not written:", [Problem(f"a value cannot be written as JSON: {error}")]) from error
    write_whole({file: b"".join(lines)})


def _names(typed: Sequence[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for text in typed:
        span, sign, stage = text.rpartition("=")
        if not sign or not span.strip() or not stage.strip():
            raise ParameterError(f"--name takes SPAN=STAGE, not {text!r}")
        if span in names:
            raise ParameterError(f"--name names {span!r} twice")
        names[span] = stage
    return names


def _idle_names(names: Mapping[str, str], traces: Sequence[Trace]) -> Iterator[str]:
    """Yield which names are for spans that there are not."""
    stages = list(dict.fromkeys(stage["name"] for trace in traces for stage in trace.stages.stages))
    for span, stage in names.items():
        if not any(name == stage or name.startswith(f"{stage}-") for name in stages):
            hint = f"{did_you_mean(span, stages)}; the stages are {listed(stages)}"
            yield f"--name {span}={stage}: no span that retrieves is called {span!r}{hint}"


def _told(traces: Sequence[Trace], counts: Counts, joined: Joined | None, given: argparse.Namespace) -> Iterator[str]:
    yield f"{counted(counts.spans, 'span')} in {counted(counts.traces, 'trace')}"
    for name, sources, times in _pipeline(traces):
        often = "" if times == len(traces) else f", in {times:,} of {len(traces):,}"
        given_by = f" (from {', '.join(sources)})" if sources else ""
        yield f"stage {name}{given_by}{often}"
    if counts.without:
        yield f"{counts.without:,} without a retrieval, left out"
    if joined is not None:
        found = len(traces) - joined.unmatched
        left = f"; {joined.unmatched:,} left out" if joined.unmatched else ""
        yield f"ground truth for {found:,} of {counted(len(traces), 'trace')}, by {given.by or BY_QUESTION}{left}"
        if joined.repeated:
            yield f"{joined.repeated:,} of them ask what an earlier one asks; their ids have a number behind them"
        if joined.missing:
            what = "added, to count as missing" if given.with_missing else "left out (--with-missing adds them)"
            yield f"{counted(joined.missing, 'sample')} with ground truth and no trace, {what}"


def _pipeline(traces: Sequence[Trace]) -> list[tuple[str, tuple[str, ...], int]]:
    """Return each stage that occurs with its sources and how often, in the order in which they come up."""
    times: dict[tuple[str, tuple[str, ...]], int] = {}
    for trace in traces:
        for stage in trace.stages.stages:
            key = stage["name"], tuple(stage["from"])
            times[key] = times.get(key, 0) + 1
    return [(*key, count) for key, count in times.items()]


def _broken(problems: Sequence[Problem], counts: Counts) -> Iterator[str]:
    """Yield what is wrong with the spans themselves."""
    if problems:
        first = problems[0]
        where = first.file if first.line is None else f"{first.file}, line {first.line}"
        yield f"{counted(len(problems), 'problem')} skipped; the first is in {where}: {first.message}"
    if counts.cut:
        advice = "raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT where spans are written"
        yield f"attributes of {counted(counts.cut, 'retrieval')} were dropped; stages that lack results fail: {advice}"
    if counts.orphans:
        yield f"parents are missing of {counted(counts.orphans, 'span')}, which count as roots of their trace"
    if counts.repeated:
        yield f"{counted(counts.repeated, 'span')} there twice, counted once"


def _summary(
    output: Path,
    traces: Sequence[Trace],
    counts: Counts,
    joined: Joined | None,
    n_samples: int,
    missing: Sequence[str],
) -> Mapping[str, Any]:
    stages = [{"name": name, "from": sources, "traces": times} for name, sources, times in _pipeline(traces)]
    truth = None if joined is None else {**joined._asdict(), "samples": len(joined.samples)}
    return {
        "samples": n_samples,
        "output": str(output),
        **counts._asdict(),
        "stages": stages,
        "ground_truth": truth,
        "lacks": list(missing),
    }
