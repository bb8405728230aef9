"""
The terminal report: tables for people, with a word for a mean if a reader may need one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from rankgauge.base.plain_text import visible
from rankgauge.base.tables import Line, aligned, left_out_line, ruled, side_by_side, without_least
from rankgauge.errors import counted, listed
from rankgauge.plugin import reporter
from rankgauge.result import MetricSummary, Result, SampleError
from rankgauge.result.label_doubts import LABEL_DOUBTS
from rankgauge.result.wording import (
    FACTS,
    calls_line,
    cluster_line,
    column_lines,
    dataset_name,
    doubt_lines,
    error_line,
    errors,
    facts,
    listed_cohorts,
    mean,
    policy_line,
    short_lists_lines,
    weights_line,
)

__all__ = ["band", "best_cohorts", "cohort_table", "mean_table", "result_lines", "terminal_report"]

_RANKED = ((1.0, "perfect"), (0.9, "excellent"), (0.75, "good"), (0.5, "acceptable"), (0.0, "poor"))
_RECALL = ((1.0, "complete"), (0.75, "good"), (0.5, "acceptable"), (0.0, "missing much"))
_BANDS = {
    "retrieval-mrr": _RANKED,
    "keyword-mrr": _RANKED,
    "retrieval-ndcg-at-k": _RANKED,
    "retrieval-ndcg-any-at-k": _RANKED,
    "keyword-ndcg-at-k": _RANKED,
    "retrieval-recall-at-k": _RECALL,
    "keyword-coverage-at-k": _RECALL,
}


def band(alias: str, mean: float | None) -> str:
    """Return the word for a mean of the metric with this alias; empty for a metric without bands."""
    if mean is None:
        return ""
    return next((word for least, word in _BANDS.get(alias, ()) if mean >= least), "")


_LISTED = 10
_WIDTH = 120
_COUNTS = ("n", "undefined", "missing", "failed")
_LEAST = (("scores",), ("band",), ("n",), ("undefined",))
"""What a narrow table leaves out, first what says least; mean and interval, missing and failed are always shown."""

_BLOCKS, _DIGITS = "\N{MIDDLE DOT}▁▂▃▄▅▆▇█", ".12345678"
"""What a histogram of one line is drawn with, from an empty bucket to the fullest, and in ASCII."""

_LONG = 20
"""From how many rows on a table is in two halves beside each other, if the width is that of a terminal."""


@reporter("table", suffix=".txt")
def terminal_report(result: Result) -> str:
    """Lay the result out as plain tables."""
    return "".join(f"{line.text}\n" for line in result_lines(result, width=_WIDTH, is_whole=True))


def result_lines(
    result: Result, *, width: int | None, bands: bool = False, rule: str = "─", is_whole: bool = False
) -> Iterator[Line]:
    """
    Yield the lines of a result: means with their intervals, or all columns and cohorts if it *is_whole*.

    Tables are no wider than *width* and have a word for each mean if *bands* are wanted. They are in ASCII where
    *rule*, which is drawn under headings, is.
    """
    columns = list(result.metrics.values())
    more = {"band": [band(column.info.alias, column.mean) for column in columns]} if bands else {}
    name = visible(dataset_name(result))
    yield from (Line(line, "open") for line in short_lists_lines(result))
    if is_whole or width is None:
        rows = [facts(column) for column in columns]
        cells = {heading: [row[heading] for row in rows] for heading in FACTS} | more
        kept = [heading for heading in cells if heading not in _COUNTS[1:] or set(cells[heading]) != {"0"}]
        table = list(zip(result.metrics, *(cells[heading] for heading in kept), strict=True))
        title = f"{name}: {counted(len(result), 'sample')}"
        yield from ruled(title, ("metric", *kept), table, width=width, rule=rule)
        if any(result.tags):
            yield from cohort_table(result, width, rule)
        small = [error_line(columns)]
    else:
        yield Line(f"{name}: {_counted(result)}", "verdict")
        yield from mean_table(list(result.metrics), columns, width=width, rule=rule, more=more)
        yield from (Line(line) for line in best_cohorts(result))
        by_ids = all(column.info.by_id for column in columns) and LABEL_DOUBTS not in result.manifest
        ask = "; --label-doubts lists labels that rankings speak against" if by_ids else ""
        small = [f"--all-columns shows counts, percentiles and every cohort{ask}"]
    yield from (Line(visible(line)) for line in _notes(result))
    yield from (Line(visible(f"{_INDENT if number else ''}{line}")) for number, line in enumerate(doubt_lines(result)))
    small = [
        *small[:-1],
        *column_lines(result),
        weights_line(result),
        cluster_line(result),
        calls_line(result),
        *small[-1:],
    ]
    yield from (Line(line, "small") for line in (*small, policy_line(result)) if line)


def _counted(result: Result) -> str:
    """Return how many samples there are and, if all metrics agree, how many count in the means and which do not."""
    n, counts = len(result), [column.counts for column in result.metrics.values()]
    text = counted(n, "sample")
    if not counts or any(one != counts[0] for one in counts) or counts[0]["n"] == n:
        return text
    parts = [f"{count:,} {'in the means' if name == 'n' else name}" for name, count in counts[0].items() if count]
    return f"{text}: {', '.join(parts)}"


def mean_table(
    names: Sequence[str],
    columns: Sequence[MetricSummary],
    *,
    width: int | None,
    rule: str,
    more: Mapping[str, Sequence[str]] = MappingProxyType({}),
    heading: str = "mean",
    aside: int | None = None,
) -> Iterator[Line]:
    """Yield means with their intervals and a histogram of scores; counts if they differ between metrics."""
    intervals = [errors(column) for column in columns]
    spans = [f"{ends['low']} to {ends['high']}" if ends["low"] != "-" else "-" for ends in intervals]
    cells: dict[str, Sequence[str]] = {heading: [mean(column) for column in columns]}
    cells |= {"95 % interval": spans} if set(spans) != {"-"} else {}
    cells |= more
    for name in _COUNTS:
        numbers = [column.counts[name] for column in columns]
        if len(set(numbers)) > 1 or (name in _COUNTS[2:] and any(numbers)):
            cells[name] = [f"{number:,}" for number in numbers]
    drawn = [_histogram(column, _BLOCKS if rule == "─" else _DIGITS) for column in columns]
    cells |= {"scores": drawn} if any(drawn) else {}
    room = None if width is None else width - len(_INDENT)
    kept = without_least([visible(name) for name in names], cells, _LEAST, room)
    lines = _rows(names, cells, kept, room)
    if aside is not None and len(lines) > _LONG:
        for fewer in (kept, [fact for fact in kept if fact != "scores"], [heading]):
            lines = side_by_side(_rows(names, cells, fewer, room), aside - len(_INDENT))
            if len(lines) <= len(names):
                kept = fewer
                break
    yield from (Line(_INDENT + line, "row" if number else "head") for number, line in enumerate(lines))
    if left_out := left_out_line([fact for fact in cells if fact not in kept]):
        yield Line(left_out, "small")


_INDENT = "  "


def _rows(names: Sequence[str], cells: Mapping[str, Sequence[str]], kept: Sequence[str], room: int | None) -> list[str]:
    table = zip(names, *(cells[heading] for heading in kept), strict=True)
    return list(aligned([("metric", *kept), *table], room))


def _histogram(column: MetricSummary, levels: str) -> str:
    """Return how the scores lie, in ten letters from the lowest to the highest score; empty for what is no mean."""
    buckets = [] if column.info.aggregate == "sum" or not column.n else [count for *_, count in column.histogram()]
    most = max(buckets, default=0)
    return "".join(levels[-(-count * (len(levels) - 1) // most)] for count in buckets) if most else ""


def best_cohorts(result: Result) -> Iterator[str]:
    """Yield the means of the first metric by cohort in one line, the highest first."""
    if not any(result.tags) or not result.metrics:
        return
    cohorts, others = listed_cohorts(result)
    name = next(iter(result.metrics))
    ordered = sorted(cohorts, key=lambda cohort: -(cohort[1].metrics[name].mean or 0.0))
    means = [f"{tag} {mean(cohort.metrics[name])} ({len(cohort):,})" for tag, cohort in ordered]
    yield f"by cohort, {visible(name)}: {', '.join(means)}"
    if others:
        yield f"... and {visible(others)}"


def _notes(result: Result) -> Iterator[str]:
    """Yield the samples that are missing or failed, by their reasons, and the samples that were asked for."""
    alike: dict[tuple[str, str | None, str], list[SampleError]] = {}
    for error in result.errors:
        alike.setdefault((error.status, error.metric, re.sub(r"\d+", "0", error.reason)), []).append(error)
    groups = list(alike.values())
    for first, *others in groups[:_LISTED]:
        where = f" ({first.metric})" if first.metric else ""
        names = [repr(each.sample_id) for each in (first, *others)]
        samples = f"{len(names):,} samples, {listed(names, 3)}" if others else f"sample {names[0]}"
        yield f"{first.status}: {samples}{where}: {first.reason}"
    if more := sum(map(len, groups[_LISTED:])):
        yield f"... and {more:,} more for other reasons; a saved result lists them all"
    if result.listed:
        from rankgauge.report.samples import listed_lines  # most results list none

        yield from listed_lines(result)


def cohort_table(result: Result, width: int | None, rule: str) -> Iterator[Line]:
    """Yield the means by cohort: cohorts down, unless metrics down take fewer lines."""
    cohorts, others = listed_cohorts(result)
    header = ["cohort", "samples", *result.metrics]
    rows = [[tag, f"{len(cohort):,}", *map(mean, cohort.metrics.values())] for tag, cohort in cohorts]
    down = list(ruled("means by cohort", header, rows, width=width, rule=rule))
    header = ["metric", *(f"{tag} ({len(cohort):,})" for tag, cohort in cohorts)]
    means = [[name, *(mean(cohort.metrics[name]) for _, cohort in cohorts)] for name in result.metrics]
    across = list(ruled("means by cohort", header, means, width=width, rule=rule))
    is_in_one_part = len(down) == len(rows) + 5
    yield from down if is_in_one_part or len(down) <= len(across) else across
    if others:
        yield Line(f"... and {visible(others)}")
