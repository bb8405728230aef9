"""
The history laid out: a list of entries, lines for a terminal, JSON, and a table to analyse elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.base.frozen import plain_fields
from rankgauge.base.plain_text import visible
from rankgauge.base.tables import Line as TextLine
from rankgauge.base.tables import ruled
from rankgauge.errors import ParameterError, ResultError, counted
from rankgauge.features.history.entry import Entry, Mean
from rankgauge.features.history.lines import Line, Point, since_sentences
from rankgauge.io.whole_files import replace_file
from rankgauge.result.wording import number

if TYPE_CHECKING:
    import polars as pl

__all__ = ["entry_facts", "export_history", "history_text", "line_facts", "list_text", "passed_word"]

_COMMIT = 10
_LISTED = ("name", "created_at", "commit", "system", "passed", "n", "failed")


def passed_word(entry: Entry) -> str:
    """Return what became of the gates of an entry."""
    return {True: "passed", False: "failed", None: "-"}[entry.passed]


def list_text(entries: Sequence[Entry], *, width: int | None, rule: str) -> Iterator[TextLine]:
    """Yield the entries by dataset as tables, with the mean of every metric."""
    for dataset in dict.fromkeys(entry.dataset for entry in entries):
        same = [entry for entry in entries if entry.dataset == dataset]
        metrics = list(dict.fromkeys(name for entry in same for name in entry.means))
        header = ("name", "time", "commit", "gates", "n", "failed", *metrics)
        means = [{name: mean.mean for name, mean in entry.means.items()} for entry in same]
        rows = [(*_cells(entry), *map(number, map(of.get, metrics))) for entry, of in zip(same, means, strict=True)]
        yield from ruled(f"{dataset}: {counted(len(same), 'entry', 'entries')}", header, rows, width=width, rule=rule)


def _cells(entry: Entry) -> tuple[str, ...]:
    when = entry.created_at[:16].replace("T", " ")
    commit = entry.commit[:_COMMIT] or "-"
    return (entry.name, when, commit, passed_word(entry), f"{entry.n:,}", f"{entry.failed:,}")


def history_text(lines: Iterable[Line], *, width: int | None, rule: str) -> Iterator[TextLine]:
    """Yield the lines as tables: means with their intervals, breaks, and changes with their corrected p."""
    for line in lines:
        header = ("entry", "time", "mean", "low", "high", "n", "change", "corrected p", "verdict")
        rows = [_row(point) for point in line.points]
        yield from ruled(f"{line.dataset}: {line.metric}", header, rows, width=width, rule=rule)
        for point in line.points:
            if point.breaks:
                yield TextLine(visible(f"the line breaks at {point.entry.name}: {point.breaks}"))
            elif point.change is not None and point.change.why_not:
                yield TextLine(visible(f"{point.entry.name} was not tested: {point.change.why_not}"))
        yield from (TextLine(visible(sentence), "verdict") for sentence in since_sentences(line))
    yield TextLine(
        "change: from the entry before, tested by pairs (sign flips); p corrected by Holm over all changes shown of a "
        "dataset",
        "small",
    )


def _row(point: Point) -> tuple[str, ...]:
    mean, change = point.mean, point.change
    when = point.entry.created_at[:16].replace("T", " ")
    cells = (point.entry.name, when, number(mean.mean), number(mean.low), number(mean.high), f"{mean.n:,}")
    if change is None or change.difference is None:
        return (*cells, "break" if point.breaks else "-", "-", "-")
    return (*cells, f"{change.difference:+.4f}", number(change.p_adjusted), change.verdict)


def entry_facts(entry: Entry) -> dict[str, Any]:
    """Return an entry as JSON values."""
    facts = {one.name: getattr(entry, one.name) for one in fields(entry)}
    means = {name: mean._asdict() for name, mean in entry.means.items()}
    cohorts = {tag: {name: mean._asdict() for name, mean in part.items()} for tag, part in entry.cohorts.items()}
    return {**facts, "means": means, "cohorts": cohorts}


def line_facts(line: Line) -> dict[str, Any]:
    """Return a line as JSON values, which name entries by their ids."""
    points = [
        {
            "entry": point.entry.id,
            "name": point.entry.name,
            "created_at": point.entry.created_at,
            **point.mean._asdict(),
            "breaks": point.breaks,
            "change": None if point.change is None else plain_fields(point.change),
        }
        for point in line.points
    ]
    since = [
        {**{name: getattr(since, name).id for name in _ENDS}, **{name: getattr(since, name) for name in _FOUND}}
        for since in line.since
    ]
    return {"dataset": line.dataset, "metric": line.metric, "points": points, "since": since}


_ENDS = ("entry", "first", "last")
_FOUND = ("verdict", "difference", "p")


def export_history(entries: Sequence[Entry], path: Path) -> None:
    """Write one row for each entry, metric and cohort as CSV or Parquet, complete or not at all."""
    import io

    frame, target = _frame(entries), io.BytesIO()
    if path.suffix.lower() == ".csv":
        frame.write_csv(target)
    elif path.suffix.lower() in {".parquet", ".pq"}:
        frame.write_parquet(target)
    else:
        raise ParameterError(f"a history is exported as .csv or .parquet, not {path.suffix or 'without a suffix'!r}")
    try:
        replace_file(path, target.getvalue())
    except OSError as error:
        raise ResultError(f"cannot write {path}: {error.strerror or error}") from error


def _frame(entries: Sequence[Entry]) -> pl.DataFrame:
    import polars as pl

    plain = ("id", *_LISTED, "dataset", "data", "samples", "gold", "seconds", "folder")
    rows = [
        {
            **{name: getattr(entry, name) for name in plain},
            "tags": ",".join(entry.tags),
            "metric": metric,
            "fingerprint": entry.fingerprints[metric],
            "cohort": cohort,
            **{f"samples_{name}" if name in {"n", "failed"} else name: value for name, value in mean._asdict().items()},
        }
        for entry in entries
        for cohort, means in ((None, entry.means), *entry.cohorts.items())
        for metric, mean in means.items()
    ]
    kinds: dict[str, Any] = dict.fromkeys((*plain, "tags", "metric", "fingerprint", "cohort"), pl.String)
    kinds |= {"passed": pl.Boolean, "n": pl.Int64, "failed": pl.Int64, "seconds": pl.Float64}
    numbers = {name: pl.Float64 if name in {"mean", "low", "high"} else pl.Int64 for name in Mean._fields}
    kinds |= {f"samples_{name}" if name in {"n", "failed"} else name: kind for name, kind in numbers.items()}
    return pl.DataFrame(rows, schema=kinds)
