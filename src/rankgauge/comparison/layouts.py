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
    detectable_line,
    digits_of,
    facts_table,
    limit_lines,
    method_line,
    notes,
    p_value,
    pairs_of,
    percent,
    signed,
    span,
    unjudged_lines,
    verdicts,
    with_condensed,
)
from rankgauge.result.wording import largest, number

__all__ = ["comparison_csv", "comparison_latex", "comparison_lines", "comparison_markdown"]

_ROLES = {"better": "good", "worse": "bad", "undecided": "open"}
_WORDS = {
    "depends on unjudged documents": "unjudged",
    "depends on short lists": "short lists",
    "depends on changed documents": "inconclusive",
}
_ROLES |= dict.fromkeys(_WORDS, "open")

_BRIEF = ("verdict", "baseline", "run", "change", "interval", "p", "won/lost")
_LEAST = (("baseline", "run"), ("won/lost",))
"""What a narrow table leaves out, first what decides least: verdict, change, interval and p are always shown."""


def comparison_lines(comparison: Comparison, *, width: int | None, is_whole: bool = False) -> Iterator[Line]:
    """
    Yield the lines: verdicts, then tables no wider than *width* if possible; all columns if it *is_whole*.

    How many labels each sign speaks against is said if it *is_whole*, and else left to the caller.
    """
    is_whole |= width is None
    yield from (Line(visible(line), "open") for pair in comparison.comparisons for line in limit_lines(pair))
    if is_whole and comparison.label_doubts is not None:
        yield from (Line(visible(f"note: {line}")) for line in comparison.label_doubts.of_signs())
    for verdict, metric in verdicts(comparison):
        yield Line(visible(verdict), _ROLES.get(metric.verdict, "verdict"))
    for pair in comparison.comparisons:
        if is_whole or len(comparison.comparisons) > 1:
            yield Line("")
        yield Line(visible(f"{pair.run} against {pair.baseline}: {pairs_of(pair.metrics.values())}"))
        yield from _whole_table(comparison, pair, width) if is_whole else _table(comparison, pair, width)
        first = next(iter(pair.metrics.values()))
        lines = [f"note: {note}" for note in notes(pair)]
        lines += [line] if (line := detectable_line(pair)) else []
        for what, changes in (("losses", first.worst), ("gains", first.best)):
            lines += [f"biggest {what}, {first.name}: {_changes(changes, is_whole=is_whole)}"] if changes else []
        yield from (Line(visible(line)) for line in (*lines, *unjudged_lines(comparison, pair)))
        yield from _cohorts(first, width) if is_whole else ()
    if is_whole:
        yield from (Line(""), Line(visible(method_line(comparison)), "small"))
        return
    corrected = f"p*: {comparison.test} test, {comparison.correction}"
    p = corrected if comparison.correction else f"p: {comparison.test} test"
    yield Line(f"{p}; --all-columns shows more", "small")


def _whole_table(comparison: Comparison, pair: RunComparison, width: int | None) -> Iterator[Line]:
    facts = [fact for fact in FACTS if comparison.correction or fact != "corrected p"]
    yield from (Line(line, "row") for line in aligned(facts_table(pair, facts), width))


def _table(comparison: Comparison, pair: RunComparison, width: int | None) -> Iterator[Line]:
    """Yield the table of a pair; if it would be too wide, short headings, then fewer columns, then folded names."""
    metrics = with_condensed(pair)
    digits = max(map(digits_of, metrics.values()))
    p = "p*" if comparison.correction else "p"
    short = {"baseline": "base", "run": "new", "interval": f"{percent(comparison.confidence)} interval", "p": p}
    names = {**short, "baseline": pair.baseline, "run": pair.run}
    rows = [
        {
            "metric": name,
            "verdict": _WORDS.get(metric.verdict, metric.verdict),
            "baseline": number(metric.baseline_mean),
            "run": number(metric.mean),
            "change": signed(metric.difference, digits),
            "interval": span(metric.interval, digits),
            "p": p_value(metric.p_adjusted),
            "won/lost": f"{metric.wins:,}/{metric.losses:,}",
        }
        for name, metric in metrics.items()
    ]
    dropped: list[str] = []
    for headings, group in ((names, ()), (short, ()), *((short, group) for group in _LEAST)):
        dropped += group
        kept = ["metric", *(fact for fact in _BRIEF if fact not in dropped)]
        table = [[headings.get(fact, fact) for fact in kept], *([row[fact] for fact in kept] for row in rows)]
        lines = list(aligned(table))
        if width is None or max(map(text_width, lines)) <= width:
            break
    else:
        lines = list(aligned(table, width))
    roles = [
        ("head", ""),
        *(
            (_ROLES.get(metric.verdict, "row"), row["verdict"])
            for metric, row in zip(metrics.values(), rows, strict=True)
        ),
    ]
    if len(lines) == len(roles):
        yield from (
            Line(line, role, word if role != "row" else "") for line, (role, word) in zip(lines, roles, strict=True)
        )
    else:
        yield from (Line(line, "row") for line in lines)
    if left_out := left_out_line([names.get(fact, fact) for fact in dropped]):
        yield Line(visible(left_out), "small")


def _changes(changes: Sequence[Change], *, is_whole: bool) -> str:
    texts = [f"{change.sample_id} {signed(change.difference, 3)}" for change in changes[:3]]
    if is_whole:
        ends = [f" ({number(change.baseline)} to {number(change.value)})" for change in changes[:3]]
        texts = [text + end for text, end in zip(texts, ends, strict=True)]
    return ", ".join(texts)


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


_MEANS = (
    "verdict",
    "n",
    "baseline_mean",
    "mean",
    "difference",
    "low",
    "high",
    "interval_method",
    "confidence",
    "matters",
)
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
    yield from (f"- {cell(line)}" for pair in comparison.comparisons for line in limit_lines(pair))
    if comparison.label_doubts is not None:
        yield from (f"- {cell(line)}" for line in comparison.label_doubts.of_signs())
    yield from (f"- {cell(line)}" for line, _ in verdicts(comparison))
    yield ""
    for pair in comparison.comparisons:
        yield from (f"## {cell(pair.run)} against {cell(pair.baseline)}", "", *_markdown_table(*facts_table(pair)))
        remarks = [f"- {cell(line)}" for line in (*unjudged_lines(comparison, pair), *notes(pair))]
        remarks += [f"- {cell(line)}"] if (line := detectable_line(pair)) else []
        yield from (*remarks, "")
        for metric in pair.metrics.values():
            yield from _details(pair, metric)
    yield cell(method_line(comparison))


def _details(pair: RunComparison, metric: MetricComparison) -> Iterator[str]:
    """Yield the samples that changed most, and the differences by tag, if there are any."""
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
