"""
Comparisons laid out: the verdict in words, then tables, for terminals, Markdown, CSV and papers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from rankgauge.base.plain_text import visible
from rankgauge.base.tables import Line, aligned, cell, left_out_line, text_width
from rankgauge.comparison.differences import Change, Comparison, MetricComparison, RunComparison
from rankgauge.comparison.sentences import (
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
from rankgauge.result.wording import number

__all__ = ["comparison_csv", "comparison_latex", "comparison_lines", "comparison_markdown"]

_COHORTS = 20
_NEVER_LEFT_OUT = 4
"""Means, difference and interval are shown however narrow the terminal is."""


def comparison_lines(comparison: Comparison, *, width: int | None) -> Iterator[Line]:
    """Yield the lines: verdicts, then tables no wider than *width* where that is possible, then what limits them."""
    yield from (Line(visible(verdict), "head") for verdict in verdicts(comparison))
    is_corrected = bool(comparison.correction)
    for pair in comparison.comparisons:
        yield Line("")
        yield Line(visible(f"{pair.run} against {pair.baseline}"))
        yield from _table(pair, width, is_corrected=is_corrected)
        first = next(iter(pair.metrics.values()))
        lines = [*unjudged_lines(comparison, pair), *(f"note: {note}" for note in notes(pair))]
        if first.worst:
            lines.append(f"lost most, {first.name}: {_changes(first.worst)}")
        if first.best:
            lines.append(f"won most, {first.name}: {_changes(first.best)}")
        yield from (Line(visible(line)) for line in lines)
        yield from _cohorts(first)
    yield Line("")
    yield Line(visible(method_line(comparison)), "small")


def _table(pair: RunComparison, width: int | None, *, is_corrected: bool) -> Iterator[Line]:
    rows = {name: facts(metric) for name, metric in with_condensed(pair).items()}
    kept = [fact for fact in FACTS if is_corrected or fact != "corrected p"]
    while True:
        names = {"baseline": pair.baseline, "run": pair.run}
        table = [("metric", *(names.get(fact, fact) for fact in kept))]
        table += [(name, *(row[fact] for fact in kept)) for name, row in rows.items()]
        lines = list(aligned(table))
        if len(kept) <= _NEVER_LEFT_OUT or width is None or max(map(text_width, lines)) <= width:
            yield from (Line(line, "row") for line in lines)
            left_out = [fact for fact in FACTS[len(kept) :] if is_corrected or fact != "corrected p"]
            yield from (Line(line, "small") for line in [left_out_line(left_out)] if line)
            return
        kept.pop()


def _changes(changes: Sequence[Change]) -> str:
    return ", ".join(
        f"{change.sample_id} {signed(change.difference, 3)} ({number(change.baseline)} to {number(change.value)})"
        for change in changes[:3]
    )


def _cohorts(metric: MetricComparison) -> Iterator[Line]:
    """Yield the differences by tag of one metric; of many tags those with the most pairs."""
    if not metric.cohorts:
        return
    shown = sorted(metric.cohorts, key=lambda each: -each.n)[:_COHORTS]
    yield Line("")
    table = [("tag", f"{metric.name} difference", "interval", "n")]
    for each in metric.cohorts:
        if each in shown:
            name = "(untagged)" if each.tag is None else each.tag
            interval = "-" if each.interval is None else span(each.interval)
            table.append((name, signed(each.difference), interval, f"{each.n:,}"))
    yield from (Line(line, "row") for line in aligned(table))
    if len(metric.cohorts) > len(shown):
        more = f"... and {len(metric.cohorts) - len(shown):,} more tags; --json has all of them"
        yield Line(more)


_HEADER = (
    "run",
    "baseline",
    "metric",
    "verdict",
    "n",
    "baseline_mean",
    "mean",
    "difference",
    "low",
    "high",
    "confidence",
    "p",
    "p_t",
    "p_adjusted",
    "dz",
    "g",
    "wins",
    "ties",
    "losses",
    "detectable",
)


def comparison_csv(comparison: Comparison) -> str:
    """Lay a comparison out as CSV; what does not exist is an empty field, and condensed lists have own rows."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADER)
    for pair in comparison.comparisons:
        for name, metric in with_condensed(pair).items():
            low, high = metric.interval or (None, None)
            own = {"run": pair.run, "baseline": pair.baseline, "metric": name, "low": low, "high": high}
            writer.writerow([own[field] if field in own else getattr(metric, field) for field in _HEADER])
    return text.getvalue()


def comparison_markdown(comparison: Comparison) -> str:
    """Lay a comparison out as Markdown: verdicts, a table for each run, and what changed most folded away."""
    return "\n".join(_markdown_lines(comparison)).rstrip() + "\n"


def _markdown_lines(comparison: Comparison) -> Iterator[str]:
    yield f"# Comparison with {cell(comparison.baseline)}"
    yield ""
    yield from (f"- {cell(line)}" for line in verdicts(comparison))
    yield ""
    for pair in comparison.comparisons:
        yield f"## {cell(pair.run)} against {cell(pair.baseline)}"
        yield ""
        names = {"baseline": pair.baseline, "run": pair.run}
        rows = [[cell(name), *facts(metric).values()] for name, metric in with_condensed(pair).items()]
        yield from _markdown_table(["metric", *(cell(names.get(fact, fact)) for fact in FACTS)], rows)
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
    yield from _markdown_table(["sample", cell(pair.baseline), cell(pair.run), "difference"], rows)
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
        yield from _markdown_table(["tag", "difference", "interval", "n"], rows)
    yield "</details>"
    yield ""


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (header, ["---", *["---:"] * (len(header) - 1)], *rows):
        yield f"| {' | '.join(row)} |"
    yield ""


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
    rows: list[tuple[str, dict[str, tuple[float | None, bool]]]] = [
        (comparison.baseline, {name: (metric.baseline_mean, False) for name, metric in first.items()})
    ]
    for pair in pairs:
        found = {name: (metric.mean, metric.verdict in {"better", "worse"}) for name, metric in pair.metrics.items()}
        rows.append((pair.run, found))
    best = {name: _best([row[name][0] for _, row in rows if name in row], first[name]) for name in names}
    for run, row in rows:
        cells = [_cell(*row[name], best[name]) if name in row else "--" for name in names]
        yield " & ".join([_plain(run), *cells]) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _best(means: list[float | None], metric: MetricComparison) -> str:
    """Return the best mean of a column as it is printed, so that equal digits are all bold."""
    known = [mean for mean in means if mean is not None]
    if not known:
        return ""
    return f"{max(known) if metric.higher_is_better else min(known):.4f}"


def _cell(mean: float | None, is_marked: bool, best: str) -> str:  # noqa: FBT001  # the value and its mark
    if mean is None:
        return "--"
    text = f"{mean:.4f}"
    return (rf"\textbf{{{text}}}" if text == best else text) + (r"$^{\dagger}$" if is_marked else "")


def _plain(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in visible(text))
