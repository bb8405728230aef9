"""
Which reader reads a file: the one that was named, or the one of the longest ending that a reader has.
"""

from __future__ import annotations

from pathlib import Path

from rankgauge.catalog import Catalog, Claim
from rankgauge.io.files import endings
from rankgauge.plugin.declarations import Reader

__all__ = ["reader_of"]


def reader_of(path: Path, catalog: Catalog, name: str = "") -> Claim[Reader] | None:
    """
    Return the reader of that *name*, or else that of a file's ending; None if there is none for it.

    ``run.ikat.json`` is read by a plugin's reader of ``.ikat.json`` if there is one, and as JSON otherwise.
    """
    if name:
        return catalog.reader_named(name)
    return next(filter(None, map(catalog.reader, endings(path))), None)
