"""
Samples: traces in the form of the dataset contract, joined with ground truth, and what they lack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rankgauge import Catalog
from rankgauge.errors import DataError, Problem
from rankgauge.files import Fault, records, refuse
from rankgauge.text import counted, listed
from rankgauge_traces.documents import Item
from rankgauge_traces.traces import Trace

__all__ = ["BY_ID", "BY_QUESTION", "Gold", "Joined", "join", "lacks", "read_gold", "sample_of", "samples_of_traces"]

BY_QUESTION, BY_ID = "question", "id"
_SHOWN = 3


def sample_of(trace: Trace) -> dict[str, Any]:
    """Return a trace as a sample without ground truth."""
    output: dict[str, Any] = {"stages": trace.stages.stages}
    if trace.answer:
        output["answer"] = trace.answer
    sample: dict[str, Any] = {"id": trace.id}
    if trace.question:
        sample["input"] = trace.question
    spans = trace.stages.spans
    place = {"trace_id": trace.trace, "span_id": list(spans.values())[-1], "stage_spans": spans}
    return {**sample, "actual_output": output, "metadata": place}


def samples_of_traces(traces: Iterable[Trace]) -> list[dict[str, Any]]:
    """Return traces as samples with ids of their own: a further one of the same id gets a number behind it."""
    times: Counter[str] = Counter()
    samples = []
    for trace in traces:
        times[trace.id] += 1
        again = {"id": f"{trace.id}#{times[trace.id]}"} if times[trace.id] > 1 else {}
        samples.append({**sample_of(trace), **again})
    return samples


class Gold(NamedTuple):
    """Samples with ground truth, by what finds them."""

    file: str
    by: str  # `question`, `id`, or the name of an attribute that has the id
    samples: Mapping[str, Mapping[str, Any]]


class Joined(NamedTuple):
    """Samples with the ground truth that was found for them."""

    samples: list[dict[str, Any]]
    unmatched: int  # traces without ground truth, which are left out
    missing: int  # samples of the ground truth without a trace
    repeated: int  # traces of a sample that had one already


def read_gold(file: Path, by: str, catalog: Catalog) -> Gold:
    """Read ground truth: samples in any format of datasets; a `DataError` names those that cannot be found by *by*."""
    samples: dict[str, Mapping[str, Any]] = {}
    problems: list[Problem] = []
    for record in records(file, catalog=catalog):
        sample = record.value
        flaw = ""
        if isinstance(sample, Fault):
            flaw = sample.reason
        elif not isinstance(sample, Mapping) or sample.get("expected_output") is None:
            flaw = "a sample with ground truth needs an 'expected_output'"
        elif not isinstance(sample.get("id"), str | int) or sample["id"] == "":
            flaw = "a sample needs an 'id', a text"
        elif by == BY_QUESTION and not (isinstance(sample.get("input"), str) and sample["input"].strip()):
            flaw = "a sample that is found by its question needs an 'input', a text; or join --by id or an attribute"
        else:
            key = _folded(sample["input"]) if by == BY_QUESTION else str(sample["id"])
            if key in samples:
                flaw = f"an earlier sample has the same {BY_QUESTION if by == BY_QUESTION else BY_ID}"
            samples.setdefault(key, sample)
        if flaw:
            problems.append(Problem(flaw, str(file), record.line, record.path))
    refuse(f"the ground truth cannot be used ({counted(len(problems), 'problem')}):", problems)
    if not samples:
        raise DataError("the ground truth cannot be used:", [Problem("there are no samples in it", str(file))])
    return Gold(str(file), by, samples)


def join(traces: Iterable[Trace], gold: Gold, *, with_missing: bool) -> Joined:
    """
    Return a sample for each trace that ground truth is found for, under the id that the latter has.

    A further trace of a sample gets a number behind that id. *with_missing* adds samples that have no trace, without
    an output, so that they count as missing.
    """
    joined: list[dict[str, Any]] = []
    times: Counter[str] = Counter()
    unmatched = 0
    for trace in traces:
        key = next((key for key in _keys(trace, gold.by) if key in gold.samples), None)
        if key is None:
            unmatched += 1
            continue
        times[key] += 1
        expected, sample = gold.samples[key], sample_of(trace)
        known = expected.get("metadata")
        metadata = {**(known if isinstance(known, Mapping) else {}), **sample["metadata"]}
        name = str(expected["id"]) if times[key] == 1 else f"{expected['id']}#{times[key]}"
        joined.append({**expected, **sample, "id": name, "metadata": metadata})
    missing = [sample for key, sample in gold.samples.items() if key not in times]
    if with_missing:
        joined += [{key: value for key, value in sample.items() if key != "actual_output"} for sample in missing]
    return Joined(joined, unmatched, len(missing), sum(times.values()) - len(times))


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _keys(trace: Trace, by: str) -> Iterator[str]:
    """Yield what may find the ground truth of a trace, the surest first."""
    if by == BY_QUESTION:
        yield from map(_folded, trace.queries)
    elif by == BY_ID:
        yield from (trace.id, trace.trace)
    elif (value := trace.attributes.get(by)) is not None:
        yield str(value)


def lacks(traces: Sequence[Trace]) -> list[str]:
    """Return what results and traces lack, a sentence each, with what can be done."""
    return [*_lacks_of_items(traces), *_lacks_of_traces(traces)]


def _lacks_of_items(traces: Sequence[Trace]) -> Iterator[str]:
    total = 0
    lacking: dict[str, Counter[str]] = {"id": Counter(), "text": Counter(), "score": Counter(), "neither": Counter()}
    keys: Counter[str] = Counter()
    for trace in traces:
        for stage in trace.stages.stages:
            items: list[Item] = stage["retrieved"]
            total += len(items)
            for item in items:
                absent = [key for key in ("id", "text", "score") if key not in item]
                absent += ["neither"] if "id" in absent and "text" in absent else []
                for key in absent:
                    lacking[key][stage["name"]] += 1
                if "id" in absent:
                    keys.update(map(str, item.get("metadata", ())))  # the keys; of a mapping its values would be added
    advice = {
        "id": "they can be judged by text",
        "text": "they can be judged by id only",
        "score": "ranks are those of the trace, and metrics of scores fail",
        "neither": "their stages fail; let the instrumentation log ids or texts",
    }
    if keys:
        shown = listed([repr(key) for key, _ in keys.most_common(_SHOWN)])
        advice["id"] += f", or a key of their metadata is the id: --id-key (there is {shown})"
    for key, names in lacking.items():
        if names:
            stages = listed([name for name, _ in names.most_common(_SHOWN)])
            what = "neither id nor text" if key == "neither" else f"no {key}"
            yield f"{what} in {names.total():,} of {counted(total, 'result')} ({stages}): {advice[key]}"


def _lacks_of_traces(traces: Sequence[Trace]) -> Iterator[str]:
    if untold := sum(trace.stages.n_untold for trace in traces):
        yield f"no results are logged by {counted(untold, 'retrieval')}, counted as empty"
    if unjoined := sum(trace.stages.n_unjoined > 0 for trace in traces):
        yield f"nothing joins the branches of {counted(unjoined, 'trace')}; the last one counts as the result"
    if silent := sum(not trace.question for trace in traces):
        yield f"no question in {counted(silent, 'trace')}: no span says what was asked"
