"""
Judgments and runs in files that a plugin's reader reads: its records become rows of a table, all in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.catalog import Claim
from rankgauge.errors import DataError, Problem
from rankgauge.io.columns import Kind, find_columns
from rankgauge.io.files import open_file
from rankgauge.io.problems import unreadable
from rankgauge.io.records import foreign_records
from rankgauge.plugin.formats import Reader
from rankgauge.samples import Fault

if TYPE_CHECKING:
    from rankgauge.io.rows import Rows

__all__ = ["rows_of_reader"]

_MOST_PROBLEMS = 50


def rows_of_reader(
    claim: Claim[Reader], path: Path, kind: Kind, columns: Mapping[str, str] | None, *, name: str
) -> Rows:
    """Return the records of a file as rows of a table."""
    import polars as pl

    from rankgauge.io.rows import Ranged, selection

    rows: list[Mapping[str, Any]] = []
    problems: list[Problem] = []
    with open_file(path, name=name) as source:
        for record in foreign_records(claim, source):
            if isinstance(record.value, Mapping):
                rows.append(record.value)
                continue
            fault = record.value
            found = fault.reason if isinstance(fault, Fault) else f"expected a row, found {type(fault).__name__}"
            problems.append(Problem(found, name, record.line, record.path))
            if len(problems) >= _MOST_PROBLEMS:
                break
    if problems:
        msg = f"{'the judgments' if kind == 'qrels' else 'the run'} cannot be read:"
        raise DataError(msg, problems)
    names = list(dict.fromkeys(str(key) for row in rows for key in row))
    found_columns = find_columns(names, kind, columns, source=name)
    try:
        wanted = found_columns.by_role.values()
        frame = pl.DataFrame({each: pl.Series([row.get(each) for row in rows], strict=True) for each in wanted})
        return Ranged.of(frame.lazy().select(selection(frame.schema, found_columns, kind)).collect(), name)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        message = f"the rows of reader {claim.declaration.name!r} (by {claim.provider}) make no table: {error}"
        raise unreadable(name, message) from error
