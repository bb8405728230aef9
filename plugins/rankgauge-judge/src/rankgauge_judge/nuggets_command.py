"""
`rankgauge judge nuggets`: a model says which nuggets the answers of samples support, and drafts nuggets.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge import Sample
from rankgauge.errors import DataError, Problem
from rankgauge.files import Output, check_new_file, json_lines, read_bytes, read_sample, refuse, write_whole
from rankgauge.plugin import Console
from rankgauge.text import counted
from rankgauge_judge.asking import Outcome
from rankgauge_judge.model_calls import INCOMPLETE, ask_given, told_of_calls, told_of_end
from rankgauge_judge.nuggets import PROTOCOL, Nuggeted, NuggetJudge, NuggetTask

__all__ = ["DRAFTED", "judge_samples"]

DRAFTED = "nuggets drafted by a model"
"""The tag of samples whose nuggets no person has seen; every report shows it as a cohort."""

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the file: the record as it is, and what it says."""

    record: dict[str, Any]
    sample: Sample


def judge_samples(given: argparse.Namespace, console: Console) -> int:
    """Do what `judge nuggets` was given, and return its exit code."""
    check_new_file(given.output)
    lines = _read(given, console)
    tasks = [task for task in map(_task, range(len(lines)), lines) if task is not None]
    outcome, took = ask_given(given, console, lambda model: NuggetJudge(model, given.max_nuggets).judge, tasks)
    is_complete = not outcome.ended and not outcome.failed and len(outcome.done) == len(tasks)
    is_written = is_complete or given.partial
    if is_written:
        write_whole({given.output: json_lines(_filled(lines, outcome, given.model))})
    done = [one for one in outcome.done.values() if not one.failure]
    summary = {
        "model": given.model,
        "protocol": PROTOCOL,
        "samples": len(tasks),
        "drafted": sum(one.drafted is not None for one in done),
        "assigned": sum(one.support is not None for one in done),
        **took,
    }
    if given.as_json:
        console.json(summary | {"output": str(given.output) if is_written else None})
    else:
        console.echo("\n".join(_told(summary, outcome, lines, is_written=is_written)))
        unwritten = (
            f"{given.output} is not written, because samples are missing; answers are kept, and --partial writes it"
        )
        console.echo(f"wrote {given.output}" if is_written else unwritten)
    return 0 if is_complete else INCOMPLETE


def _read(given: argparse.Namespace, console: Console) -> list[_Line]:
    """Read samples; refuse those that no model could help."""
    file = str(given.samples)
    lines: list[_Line] = []
    problems: list[Problem] = []
    for number, text in enumerate(read_bytes(given.samples).splitlines(), 1):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            problems.append(Problem(f"not a line of JSON: {error}", file, number))
            continue
        sample = read_sample(record, problems=problems, needs_gold=False, file=file, line=number)
        if sample is not None:
            flaw = _flaw(sample, may_draft=given.draft)
            problems += [Problem(flaw, file, number, sample=sample.id)] if flaw else []
            lines.append(_Line(record, sample))
    refuse(f"the samples cannot be judged ({counted(len(problems), 'problem')}):", problems)
    if not any(_task(0, line) for line in lines):
        hint = "an answer without `support` and nuggets, or passages to draft them from (--draft), are needed"
        raise DataError("there is nothing to ask:", [Problem(hint, file)])
    outputs = [line.sample.output for line in lines if line.sample.expected.nuggets is not None]
    if silent := sum(not isinstance(output, Output) or output.answer is None for output in outputs):
        console.note(f"{counted(silent, 'sample')} with nuggets and no answer: left as they are")
    return lines


def _flaw(sample: Sample, *, may_draft: bool) -> str:
    """Return why a sample cannot be judged; nothing for one that can, or that needs nothing."""
    nuggets = sample.expected.nuggets
    if nuggets is not None:
        blind = [nugget.name for nugget in nuggets if nugget.text is None]
        return f"the nugget {blind[0]!r} has no text, so that no model can look for it" if blind else _asks(sample)
    if not may_draft:
        return "there are no nuggets (expected_output.nuggets); --draft lets the model write them from the passages"
    if not sample.expected.passages:
        return "there are no passages (expected_output.passages) from which nuggets could be drafted"
    return _asks(sample)


def _asks(sample: Sample) -> str:
    return "" if _question(sample) else "there is no question: `input` is a text, or an object with `question`"


def _question(sample: Sample) -> str:
    value = sample.input
    if isinstance(value, Mapping):
        value = next((value[key] for key in ("question", "query", "text") if isinstance(value.get(key), str)), "")
    return value.strip() if isinstance(value, str) else ""


def _answer(sample: Sample) -> str | None:
    """Return the answer that is still to be compared with nuggets."""
    output = sample.output
    return output.answer if isinstance(output, Output) and output.support is None else None


def _task(place: int, line: _Line) -> NuggetTask | None:
    """Return what a sample lacks, None if that is nothing."""
    expected, answer = line.sample.expected, _answer(line.sample)
    if expected.nuggets is not None and (answer is None or not expected.nuggets):
        return None
    nuggets = None if expected.nuggets is None else tuple(nugget.text or "" for nugget in expected.nuggets)
    return NuggetTask(place, _question(line.sample), nuggets, expected.passages or (), answer)


def _filled(lines: Sequence[_Line], outcome: Outcome[Nuggeted], model: str) -> Iterator[dict[str, Any]]:
    """Yield the records, with what the model said and a note of who it was; whatever else they hold stays."""
    for place, line in enumerate(lines):
        done = outcome.done.get(place)
        yield line.record if done is None or done.failure else _with(line, done, model)


def _with(line: _Line, done: Nuggeted, model: str) -> dict[str, Any]:
    record, note = dict(line.record), {"protocol": PROTOCOL, "when": done.when}
    metadata = dict(record.get("metadata") or {})
    if done.drafted is None:
        names = [nugget.id or nugget.text for nugget in line.sample.expected.nuggets or ()]
    else:
        names = [f"n{number}" for number in range(1, len(done.drafted) + 1)]
        nuggets = [
            {"id": name, "text": text, "importance": importance}
            for name, (text, importance) in zip(names, done.drafted, strict=True)
        ]
        record["expected_output"] = {**record["expected_output"], "nuggets": nuggets}
        tags = metadata.get("tags") or []
        metadata["tags"] = [*([tags] if isinstance(tags, str) else tags), DRAFTED]
        note["drafted_by"] = f"model:{model}"
    if done.support is not None:
        output = record["actual_output"]
        output = json.loads(output) if isinstance(output, str) else output
        record["actual_output"] = {**output, "support": dict(zip(names, done.support, strict=True))}
        note["assigned_by"] = f"model:{model}"
    record["metadata"] = {**metadata, "nuggets": note}
    return record


def _told(
    summary: Mapping[str, Any], outcome: Outcome[Nuggeted], lines: Sequence[_Line], *, is_written: bool
) -> Iterator[str]:
    if summary["drafted"]:
        yield f"nuggets of {counted(summary['drafted'], 'sample')} drafted by model:{summary['model']}; read them"
    yield f"support of {counted(summary['assigned'], 'answer')} assigned by model:{summary['model']}"
    yield from told_of_calls(summary, summary["samples"] - summary["failed"], "sample")
    for one in outcome.failed[:_SHOWN]:
        yield f"nothing for sample {lines[one.place].sample.id!r}: {one.failure}"
    if len(outcome.failed) > _SHOWN:
        yield f"and {len(outcome.failed) - _SHOWN:,} more"
    yield from told_of_end(outcome, is_written=is_written)
