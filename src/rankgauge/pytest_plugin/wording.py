"""
What tests and sessions print about gates: values, bounds and counts, and the worst samples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rankgauge.pytest_plugin.gates import Bound, GateOutcome, Judgment
from rankgauge.samples import Output, read_expected, read_output

if TYPE_CHECKING:
    from rankgauge.result import MetricSummary

__all__ = ["column_line", "counts_of", "failure_text", "outcome_line", "worst_lines"]

_WORST = 3
_SHOWN = 10
_LONGEST = 60


def failure_text(judgment: Judgment, records: Mapping[str, Mapping[str, Any]]) -> str:
    """Say why a test fails: a heading, a line for each gate, and the worst samples of each that was missed."""
    samples = f"{len(records)} sample{'' if len(records) == 1 else 's'}"
    lines = [f"{', '.join(map(_headline, judgment.failed))} over {samples}"]
    for outcome in judgment.outcomes:
        lines.append(f"  {outcome_line(outcome)}")
        lines += [f"    {line}" for line in worst_lines(outcome, judgment, records)]
    lines += [f"  note: {note}" for note in (judgment.result.notes if judgment.result is not None else ())]
    return "\n".join(lines)


def outcome_line(outcome: GateOutcome) -> str:
    """Say how a gate came out: ``MISSED ndcg@10: 0.3155 is below the minimum 0.42 (mean of n=3, 1 undefined)``."""
    verdict = "ok    " if outcome.passed else "MISSED"
    bound = outcome.bound
    side = "maximum" if bound.is_maximum else "minimum"
    if outcome.value is None:
        told = f"no value for the {side} {bound.bound:g}: {outcome.reason}"
    else:
        value, limit = _apart(outcome.value, bound.bound)
        missed = "is above" if bound.is_maximum else "is below"
        told = f"{value} {'keeps' if outcome.passed else missed} the {side} {limit}"
    return f"{verdict} {bound.column}: {told} ({outcome.aggregate} of {_counted(outcome.counts)})"


def column_line(column: MetricSummary) -> str:
    """Return the name, value and counts of a metric without a gate."""
    value = "no value" if column.mean is None or not column.n else f"{column.mean:.4f}"
    return f"       {column.name}: {value} ({column.info.aggregate} of {_counted(counts_of(column))})"


def counts_of(column: MetricSummary) -> dict[str, int]:
    """Return how many samples of a column count, and how many are undefined, missing and failed."""
    return {"n": column.n, "undefined": column.n_undefined, "missing": column.n_missing, "failed": column.n_failed}


def worst_lines(
    outcome: GateOutcome,
    judgment: Judgment,
    records: Mapping[str, Mapping[str, Any]],
    tests: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Yield lines on the worst samples of a missed gate; *tests* has the test of each, where they are of several."""
    if outcome.passed or outcome.value is None or judgment.result is None:
        return
    column = judgment.result.metrics[outcome.bound.column]
    for place in _worst(column, outcome.bound):
        sample_id = judgment.result.sample_ids[place]
        record = records[sample_id]
        value = f"{float(column.values[place]):.4f}"
        where = f"  {tests[sample_id]}" if tests else ""
        status = column.status(place)
        asked = f"  {_short(record['input'])}" if record.get("input") is not None else ""
        yield f"{sample_id}: {value}{'' if status == 'scored' else f' ({status})'}{asked}{where}"
        yield from (f"  {line}" for line in _compared(record, column, column.reasons.get(place, "")))


def _worst(column: MetricSummary, bound: Bound) -> list[int]:
    """Return the places of the samples that miss the bound by most, worst first."""
    values = column.values.tolist()
    beyond = [place for place, value in enumerate(values) if not math.isnan(value) and not bound.holds(value)]
    return sorted(beyond, key=lambda place: -values[place] if bound.is_maximum else values[place])[:_WORST]


def _compared(record: Mapping[str, Any], column: MetricSummary, reason: str) -> Iterator[str]:
    """Yield what was retrieved, and the gold of the kind that the metric is judged against."""
    if reason:
        yield f"because    {reason}"
    output = read_output(record.get("actual_output"))
    kind, _, rest = column.info.judged.partition(" ")
    by_answer = "generated answer" in rest
    ids: list[str | None] = []
    if not isinstance(output, Output) or record.get("actual_output") is None:
        pass  # the reason says so
    elif by_answer:
        yield f"answered   {_short(output.answer)}"
    else:
        ids = list(output.ids)
        texts = output.texts if kind != "relevant" else None
        items = [
            f"{rank}. {'' if name is None else name}{'' if texts is None else f' {_short(texts[rank - 1])}'}".strip()
            for rank, name in enumerate(ids[:_SHOWN], 1)
        ]
        if len(ids) > _SHOWN:
            items.append(f"... {len(ids) - _SHOWN} more")
        lines = items if texts is not None and items else ["  ".join(items) or "nothing"]
        yield from (f"{'' if number else 'retrieved':<9}  {line}" for number, line in enumerate(lines))
    yield f"expected   {_wanted(record, kind, ids) or 'nothing'}"


def _wanted(record: Mapping[str, Any], kind: str, ids: list[str | None]) -> str:
    raw = record.get("expected_output")
    try:
        expected = read_expected([] if raw is None else raw)
    except ValueError:  # a profile may accept what the default contract does not
        return _short(raw)
    if kind != "relevant":
        texts: tuple[str, ...] = getattr(expected, kind, None) or ()
        return "  ".join(map(_short, texts[:_SHOWN]))
    wanted = []
    for name, gain in list((expected.relevant or {}).items())[:_SHOWN]:
        rank = f"rank {ids.index(name) + 1}" if name in ids else "not retrieved"
        wanted.append(f"{name} ({f'gain {gain:g}, ' if expected.graded else ''}{rank})")
    more = len(expected.relevant or {}) - _SHOWN
    return "  ".join(wanted) + (f"  ... {more} more" if more > 0 else "")


def _counted(counts: Mapping[str, int]) -> str:
    rest = [f"{count} {name}" for name, count in counts.items() if name != "n" and count]
    return ", ".join([f"n={counts['n']}", *rest])


def _apart(value: float, bound: float) -> tuple[str, str]:
    """Return both numbers with enough digits to tell them apart, at least four for the value."""
    limit = f"{bound:g}"
    for digits in range(4, 17):
        shown = f"{value:.{digits}f}"
        if value == bound or float(shown) != bound:
            return shown, limit
    return repr(value), repr(bound)


def _headline(outcome: GateOutcome) -> str:
    bound = outcome.bound
    if outcome.value is None:
        return f"{bound.column} has no value"
    value, limit = _apart(outcome.value, bound.bound)
    return f"{bound.column} is {value} {'>' if bound.is_maximum else '<'} {limit}"


def _short(value: object) -> str:
    if isinstance(value, Mapping) and len(value) == 1:
        (value,) = value.values()
    text = value if isinstance(value, str) else "" if value is None else repr(value)
    line = " ".join(text.split())
    return repr(line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}...")
