"""
Limits: how much of a file is held in one piece, whatever the file says.

A line, all lines of one query of a run, and a compressed file that can only be read whole are held in memory at once.
Everything else is read in blocks, so memory does not follow the size of a file, nor what a compressed one expands to.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from rankgauge.errors import ParameterError

__all__ = ["MAX_LINE", "RAISE_IT", "limited", "longest_piece", "parse_size", "written_size"]

MAX_LINE = "RANKGAUGE_MAX_LINE"
"""The environment variable that changes the limit; `--max-line` sets it for one call."""

RAISE_IT = f"raise the limit with --max-line or {MAX_LINE}"

_DEFAULT = 256 << 20
_UNITS = {"": 1, "b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
_SIZE = re.compile(r"([0-9]{1,15})\s*([a-z]*)", re.IGNORECASE)


def longest_piece() -> int:
    """Return how many bytes are held in one piece: 256 MB, unless RANKGAUGE_MAX_LINE says otherwise."""
    written = os.environ.get(MAX_LINE, "").strip()
    return parse_size(written, MAX_LINE) if written else _DEFAULT


@contextmanager
def limited(size: str, origin: str) -> Iterator[None]:
    """Change the limit for a while, also for processes that are started meanwhile; *origin* is who says so."""
    before = os.environ.get(MAX_LINE)
    os.environ[MAX_LINE] = str(parse_size(size, origin))
    try:
        yield
    finally:
        if before is None:
            del os.environ[MAX_LINE]
        else:
            os.environ[MAX_LINE] = before


def parse_size(written: str, origin: str) -> int:
    """Return a size such as ``512MB`` in bytes; a `ParameterError` that names its *origin* for anything else."""
    found = _SIZE.fullmatch(written.strip())
    unit = _UNITS.get(found[2].lower()) if found else None
    if found is None or unit is None or not (size := int(found[1]) * unit):
        msg = f"{origin} is a size above 0, such as 512MB or 2GB, not {written!r}"
        raise ParameterError(msg)
    return size


def written_size(size: int) -> str:
    """Return a size for people: ``256 MB``, or bytes where it is no whole number of units."""
    for name, unit in reversed(_UNITS.items()):
        if unit > 1 and size % unit == 0:
            return f"{size // unit:,} {name.upper()}"
    return f"{size:,} bytes"
