"""
What tests and sessions print about gates: values, bounds and counts, and the worst samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rankgauge.engine.explaining import explain_samples
from rankgauge.errors import counted
from rankgauge.pytest_plugin.gates import GateOutcome, Judgment
from rankgauge.report.samples import sample_lines, sample_title
from rankgauge.report.wording import counts
from rankgauge.visible import visible

if TYPE_CHECKING:
    from rankgauge.result import MetricSummary

__all__ = ["column_line", "failure_text", "outcome_line", "worst_lines"]

_WORST = 3


def failure_text(judgment: Judgment, n_samples: int) -> str:
    """Say why a test fails: a heading, a line for each gate, and the worst samples of each that was missed."""
    lines = [f"{', '.join(map(_headline, judgment.failed))} over {counted(n_samples, 'sample')}"]
    for outcome in judgment.outcomes:
        lines.append(f"  {outcome_line(outcome)}")
        lines += [f"    {line}" for line in worst_lines(outcome, judgment)]
    lines += [f"  note: {note}" for note in (judgment.result.notes if judgment.result is not None else ())]
    return "\n".join(map(visible, lines))


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
    return f"       {column.name}: {value} ({column.info.aggregate} of {_counted(counts(column))})"


def worst_lines(outcome: GateOutcome, judgment: Judgment, tests: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield lines on the worst samples of a missed gate; *tests* has the test of each, where they are of several."""
    if outcome.passed or outcome.value is None or judgment.result is None:
        return
    result, bound = judgment.result, outcome.bound
    column = result.metrics[bound.column]
    worst = [place for place in column.worst(_WORST, highest=bound.is_maximum) if not bound.holds(column.values[place])]
    sample_ids = [result.sample_ids[place] for place in worst]
    for explanation in explain_samples(result, sample_ids, column, trials=False) if worst else ():
        where = f"  {tests[explanation.sample]}" if tests else ""
        yield f"{sample_title(explanation)}{where}"
        yield from (f"  {line}" for line in sample_lines(explanation))


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
