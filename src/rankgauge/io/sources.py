"""
Sources: opening judgments and runs, whatever they are given as.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rankgauge.errors import DataError, Problem
from rankgauge.io.mappings import qrels_of_mapping
from rankgauge.io.trec import RunFile, read_qrels
from rankgauge.rankings import Qrels, RunSource

__all__ = ["STANDARD_INPUT", "open_qrels", "open_run"]

STANDARD_INPUT = "-"
_INPUT_NAME = "standard input"


def open_qrels(source: object, *, columns: Mapping[str, str] | None = None) -> Qrels:
    """
    Read judgments.

    Args:
        source: A path, ``-`` for standard input, a mapping ``{query: {document: grade}}``, or a table.

        columns: The table's own name for `query`, `document` and `grade`.

    Returns:
        The judgments.

    Raises:
        DataError: They cannot be read; every problem at once.
    """
    if isinstance(source, str | os.PathLike):
        if os.fspath(source) != STANDARD_INPUT:
            return read_qrels(Path(source))
        with _spooled() as spool:
            return read_qrels(Path(spool.name), name=_INPUT_NAME)
    if isinstance(source, Mapping):
        return qrels_of_mapping(source)
    raise _unusable(source, "judgments")


def open_run(source: object, *, columns: Mapping[str, str] | None = None) -> RunSource:
    """
    Open a run.

    Args:
        source: A path, ``-`` for standard input, or a table.

        columns: The table's own name for `query`, `document` and `score`.

    Returns:
        The run, which is read when it is judged.

    Raises:
        DataError: It cannot be opened.
    """
    if isinstance(source, str | os.PathLike):
        if os.fspath(source) != STANDARD_INPUT:
            return RunFile(Path(source))
        spool = _spooled()
        return RunFile(Path(spool.name), name=_INPUT_NAME, kept=spool)
    raise _unusable(source, "a run")


def _spooled() -> tempfile._TemporaryFileWrapper[bytes]:
    """Return what stands in standard input as a file, which can be read more than once; it goes when it is closed."""
    spool = tempfile.NamedTemporaryFile(prefix="rankgauge-", suffix=".run")  # noqa: SIM115  # closed by who keeps it
    shutil.copyfileobj(sys.stdin.buffer, spool)
    spool.flush()
    return spool


def _unusable(source: object, what: str) -> DataError:
    msg = f"{what} cannot be used:"
    found = type(source).__name__
    return DataError(msg, [Problem(f"expected a path, a mapping of mappings or a table, found a {found}")])
