"""
A comparison as Markdown, for pull requests and notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.comparison.values import Comparison, MetricComparison, RunComparison
from rankgauge.report.comparison.wording import (
    FACTS,
    facts,
    method_line,
    notes,
    signed,
    span,
    unjudged_lines,
    verdicts,
    with_condensed,
)
from rankgauge.report.markdown import cell
from rankgauge.report.wording import number

__all__ = ["comparison_markdown"]


def comparison_markdown(comparison: Comparison) -> str:
    """Lay a comparison out as Markdown: verdicts, a table for each run, and what changed most folded away."""
    return "\n".join(_lines(comparison)).rstrip() + "\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    yield f"# Comparison with {cell(comparison.baseline)}"
    yield ""
    yield from (f"- {cell(line)}" for line in verdicts(comparison))
    yield ""
    for pair in comparison.comparisons:
        yield f"## {cell(pair.run)} against {cell(pair.baseline)}"
        yield ""
        names = {"baseline": pair.baseline, "run": pair.run}
        rows = [[cell(name), *facts(metric).values()] for name, metric in with_condensed(pair).items()]
        yield from _table(["metric", *(cell(names.get(fact, fact)) for fact in FACTS)], rows)
        found = [f"- {cell(line)}" for line in (*unjudged_lines(comparison, pair), *notes(pair))]
        yield from [*found, ""] if found else []
        for metric in pair.metrics.values():
            yield from _details(pair, metric)
    yield cell(method_line(comparison))


def _details(pair: RunComparison, metric: MetricComparison) -> Iterator[str]:
    """Yield the samples that changed most, and the differences by tag, where there are any."""
    if not metric.worst and not metric.best:
        return
    yield f"<details><summary>{cell(metric.name)}: the samples that changed most</summary>"
    yield ""
    rows = [
        [cell(change.sample_id), number(change.baseline), number(change.value), signed(change.difference)]
        for change in (*metric.worst, *reversed(metric.best))
    ]
    yield from _table(["sample", cell(pair.baseline), cell(pair.run), "difference"], rows)
    if metric.cohorts:
        rows = [
            [
                "(untagged)" if each.tag is None else cell(each.tag),
                signed(each.difference),
                "-" if each.interval is None else span(each.interval),
                f"{each.n:,}",
            ]
            for each in metric.cohorts
        ]
        yield from _table(["tag", "difference", "interval", "n"], rows)
    yield "</details>"
    yield ""


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (header, ["---", *["---:"] * (len(header) - 1)], *rows):
        yield f"| {' | '.join(row)} |"
    yield ""
