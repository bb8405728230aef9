"""
Comparisons laid out: the verdict in words, then tables, for terminals, Markdown, CSV and papers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from rankgauge.base.plain_text import visible
from rankgauge.base.tables import Line, aligned, cell, left_out_line, markdown_table, text_width
from rankgauge.comparison.differences import Change, Comparison, MetricComparison, RunComparison
from rankgauge.comparison.sentences import (
    FACTS,
    cohort_row,
    facts_table,
    method_line,
    notes,
    signed,
    unjudged_lines,
    verdicts,
    with_condensed,
)
from rankgauge.result.wording import largest, number

__all__ = ["comparison_csv", "comparison_latex", "comparison_lines", "comparison_markdown"]

_LEAST = (
    ("g",),
    ("p of t",),
    ("d_z",),
    ("detectable",),
    ("tied",),
    ("p",),
    ("won", "lost"),
    ("n",),
    ("baseline", "run"),
)
"""What a narrow table leaves out, first what decides least: difference, interval and one p value are always shown."""


def comparison_lines(comparison: Comparison, *, width: int | None) -> Iterator[Line]:
    """Yield the lines: verdicts, then tables no wider than *width* where that is possible, then what limits them."""
    yield from (Line(visible(verdict), "verdict") for verdict in verdicts(comparison))
    facts = [fact for fact in FACTS if comparison.correction or fact != "corrected p"]
    for pair in comparison.comparisons:
        yield Line("")
        yield Line(visible(f"{pair.run} against {pair.baseline}"))
        yield from _table(pair, facts, width)
        first = next(iter(pair.metrics.values()))
        lines = [*unjudged_lines(comparison, pair), *(f"note: {note}" for note in notes(pair))]
        for what, changes in (("lost", first.worst), ("won", first.best)):
            lines += [f"{what} most, {first.name}: {_changes(changes)}"] if changes else []
        yield from (Line(visible(line)) for line in lines)
        yield from _cohorts(first, width)
    yield Line("")
    yield Line(visible(method_line(comparison)), "small")


def _table(pair: RunComparison, facts: Sequence[str], width: int | None) -> Iterator[Line]:
    """Yield the table of a pair; where it would be too wide, facts are left out, then the names of metrics folded."""
    groups = [group for group in _LEAST if group != ("p",) or "corrected p" in facts]
    dropped: set[str] = set()
    for group in ((), *groups):
        dropped.update(group)
        kept = [fact for fact in facts if fact not in dropped]
        lines = list(aligned(facts_table(pair, kept)))
        if width is None or max(map(text_width, lines)) <= width:
            break
    else:
        lines = list(aligned(facts_table(pair, kept), width))
    yield from (Line(line, "row") for line in lines)
    names = {"baseline": pair.baseline, "run": pair.run}
    if left_out := left_out_line([names.get(fact, fact) for fact in facts if fact in dropped]):
        yield Line(visible(left_out), "small")


def _changes(changes: Sequence[Change]) -> str:
    return ", ".join(
        f"{change.sample_id} {signed(change.difference, 3)} ({number(change.baseline)} to {number(change.value)})"
        for change in changes[:3]
    )


def _cohorts(metric: MetricComparison, width: int | None) -> Iterator[Line]:
    """Yield the differences by tag of one metric; of many tags those with the most pairs."""
    if not metric.cohorts:
        return
    shown, left = largest(metric.cohorts, lambda cohort: cohort.n)
    yield Line("")
    table = [["tag", f"{metric.name} difference", "interval", "n"], *map(cohort_row, shown)]
    yield from (Line(line, "row") for line in aligned(table, width))
    if left:
        yield Line(f"... and {len(left):,} more tags; --json has all of them")


_MEANS = ("verdict", "n", "baseline_mean", "mean", "difference", "low", "high", "confidence")
_TESTS = ("p", "p_t", "p_adjusted", "dz", "g", "wins", "ties", "losses", "detectable")


def comparison_csv(comparison: Comparison) -> str:
    """Lay a comparison out as CSV; what does not exist is an empty field, and condensed lists have own rows."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("run", "baseline", "metric", *_MEANS, *_TESTS))
    for pair in comparison.comparisons:
        for name, metric in with_condensed(pair).items():
            ends = dict(zip(("low", "high"), metric.interval or (None, None), strict=True))
            values = (ends[fact] if fact in ends else getattr(metric, fact) for fact in (*_MEANS, *_TESTS))
            writer.writerow((pair.run, pair.baseline, name, *values))
    return text.getvalue()


def comparison_markdown(comparison: Comparison) -> str:
    """Lay a comparison out as Markdown: verdicts, a table for each run, and what changed most folded away."""
    return "\n".join(_markdown_lines(comparison)).rstrip() + "\n"


def _markdown_lines(comparison: Comparison) -> Iterator[str]:
    yield from (f"# Comparison with {cell(comparison.baseline)}", "")
    yield from (f"- {cell(line)}" for line in verdicts(comparison))
    yield ""
    for pair in comparison.comparisons:
        yield from (f"## {cell(pair.run)} against {cell(pair.baseline)}", "", *_markdown_table(*facts_table(pair)))
        remarks = [f"- {cell(line)}" for line in (*unjudged_lines(comparison, pair), *notes(pair))]
        yield from [*remarks, ""] if remarks else []
        for metric in pair.metrics.values():
            yield from _details(pair, metric)
    yield cell(method_line(comparison))


def _details(pair: RunComparison, metric: MetricComparison) -> Iterator[str]:
    """Yield the samples that changed most, and the differences by tag, where there are any."""
    if not metric.worst and not metric.best:
        return
    yield from (f"<details><summary>{cell(metric.name)}: the samples that changed most</summary>", "")
    rows = [
        [change.sample_id, number(change.baseline), number(change.value), signed(change.difference)]
        for change in (*metric.worst, *reversed(metric.best))
    ]
    yield from _markdown_table(["sample", pair.baseline, pair.run, "difference"], *rows)
    if metric.cohorts:
        yield from _markdown_table(["tag", "difference", "interval", "n"], *map(cohort_row, metric.cohorts))
    yield from ("</details>", "")


def _markdown_table(header: Sequence[str], *rows: Sequence[str]) -> list[str]:
    """Return a table whose header and first column come from outside."""
    return markdown_table(list(map(cell, header)), [[cell(name), *numbers] for name, *numbers in rows])


_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def comparison_latex(comparison: Comparison) -> str:
    r"""
    Lay a comparison out as a table: a row a run, a column a metric; needs ``\usepackage{booktabs}``.

    The best mean of a column is bold. A dagger marks a run that differs from the baseline by the corrected p.
    """
    return "\n".join(_latex_lines(comparison)) + "\n"


def _latex_lines(comparison: Comparison) -> Iterator[str]:
    pairs = [pair for pair in comparison.comparisons if pair.baseline == comparison.baseline]
    names = list(dict.fromkeys(name for pair in pairs for name in pair.metrics))
    level = 1 - comparison.confidence
    yield f"% {visible(method_line(comparison))}"
    yield f"% dagger: differs from {visible(comparison.baseline)}, corrected p <= {level:.4g}"
    yield rf"\begin{{tabular}}{{l{'r' * len(names)}}}"
    yield r"\toprule"
    yield " & ".join(["run", *map(_plain, names)]) + r" \\"
    yield r"\midrule"
    first: dict[str, MetricComparison] = {}
    for pair in pairs:
        first = {**pair.metrics, **first}
    rows = {comparison.baseline: {name: (metric.baseline_mean, "") for name, metric in first.items()}}
    for pair in pairs:
        rows[pair.run] = {name: (metric.mean, _mark(metric)) for name, metric in pair.metrics.items()}
    best = {name: _best([row[name][0] for row in rows.values() if name in row], first[name]) for name in names}
    for run, row in rows.items():
        cells = [_cell(*row.get(name, (None, "")), best[name]) for name in names]
        yield " & ".join([_plain(run), *cells]) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _mark(metric: MetricComparison) -> str:
    return r"$^{\dagger}$" if metric.verdict in {"better", "worse"} else ""


def _best(means: list[float | None], metric: MetricComparison) -> str:
    """Return the best mean of a column as it is printed, so that equal digits are all bold."""
    known = [mean for mean in means if mean is not None]
    if not known:
        return ""
    return number(max(known) if metric.higher_is_better else min(known))


def _cell(mean: float | None, mark: str, best: str) -> str:
    if mean is None:
        return "--"
    text = number(mean)
    return (rf"\textbf{{{text}}}" if text == best else text) + mark


def _plain(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in visible(text))
