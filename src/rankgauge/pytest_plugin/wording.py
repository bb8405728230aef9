"""
What tests and sessions print about gates: values, bounds and counts, and the worst samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import visible
from rankgauge.engine.explaining import explain_samples
from rankgauge.errors import counted
from rankgauge.gates.grammar import Bound
from rankgauge.gates.lines import apart, counts_text, headline, outcome_line
from rankgauge.pytest_plugin.gates import Judgment
from rankgauge.report.samples import sample_lines, sample_title

if TYPE_CHECKING:
    from rankgauge.gates.outcomes import GateOutcome
    from rankgauge.result import MetricSummary

__all__ = ["column_line", "failure_text", "worst_lines"]

_WORST = 3


def failure_text(judgment: Judgment, n_samples: int) -> str:
    """Say why a test fails: a heading, a line for each gate, and the worst samples of each that was missed."""
    lines = [f"{', '.join(map(_short, judgment.failed))} over {counted(n_samples, 'sample')}"]
    for outcome in judgment.outcomes:
        lines.append(f"  {outcome_line(outcome)}")
        lines += [f"    {line}" for line in worst_lines(outcome, judgment)]
    lines += [f"  note: {note}" for note in (judgment.result.notes if judgment.result is not None else ())]
    return "\n".join(map(visible, lines))


def column_line(column: MetricSummary) -> str:
    """Return the name, value and counts of a metric without a gate."""
    value = "no value" if column.mean is None or not column.n else f"{column.mean:.4f}"
    return f"       {column.name}: {value} ({column.info.aggregate} of {counts_text(column.counts)})"


def worst_lines(outcome: GateOutcome, judgment: Judgment, tests: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield lines on the worst samples of a missed gate; *tests* has the test of each, where they are of several."""
    rule = outcome.gate.rule
    if outcome.verdict != "fail" or outcome.value is None or judgment.result is None or not isinstance(rule, Bound):
        return
    result = judgment.result
    column = result[outcome.gate.metric]
    ranked = column.worst(_WORST, highest=rule.side == "maximum")
    worst = [place for place in ranked if not rule.holds(float(column.values[place]))]
    sample_ids = [result.sample_ids[place] for place in worst]
    for explanation in explain_samples(result, sample_ids, column, trials=False) if worst else ():
        where = f"  {tests[explanation.sample]}" if tests else ""
        yield f"{sample_title(explanation)}{where}"
        yield from (f"  {line}" for line in sample_lines(explanation))


def _short(outcome: GateOutcome) -> str:
    """Return a gate that was missed as briefly as the last line of a test report needs it."""
    rule = outcome.gate.rule
    if outcome.verdict == "error" or outcome.gate.per_sample or not isinstance(rule, Bound):
        return headline(outcome)
    if outcome.value is None:
        return f"{outcome.gate.metric} has no value"
    value, limit = apart(outcome.value, rule.number)
    return f"{outcome.gate.metric} is {value} {'>' if rule.side == 'maximum' else '<'} {limit}"
