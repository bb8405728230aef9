"""
Records: what a reader finds in a file, or what is given in Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rankgauge.catalog import Catalog
from rankgauge.catalog.claims import OWN, Claim
from rankgauge.errors import RankgaugeError, did_you_mean
from rankgauge.guard import ForeignError, guarded, shown
from rankgauge.io.files import open_file, plain_suffix
from rankgauge.io.problems import unreadable
from rankgauge.plugin.formats import Reader, Record, Source

__all__ = ["foreign_records", "given", "records"]


def records(path: Path, catalog: Catalog) -> Iterator[Record]:
    """Read the records of a file in the format that its suffix names."""
    with open_file(path) as source:
        suffix = plain_suffix(path)
        claim = catalog.reader(suffix)
        if claim is None:
            known = sorted({ending for each in catalog.all("reader").values() for ending in each.declaration.suffixes})
            hint = did_you_mean(suffix, known)
            message = (
                f"no reader for files ending in {suffix!r}{hint}; known are {', '.join(known)} (also with .gz or .zst)"
            )
            raise unreadable(str(path), message)
        if claim.provider.distribution == OWN:
            yield from claim.declaration.function(source)
        else:
            yield from foreign_records(claim, source)


def foreign_records(claim: Claim[Reader], source: Source) -> Iterator[Record]:
    """Yield the records of a plugin's reader; what it raises is its own fault, damaged data aside."""
    try:
        with guarded(RankgaugeError, OSError, EOFError):
            yield from map(_checked, claim.declaration.function(source))
    except ForeignError as error:
        message = f"reader {claim.declaration.name!r} (by {claim.provider}) failed: {error}"
        raise unreadable(source.name, message) from error


def _checked(record: object) -> Record:
    """Return what a reader of somebody else yields, if it is a record."""
    if not isinstance(record, Record):
        msg = f"it yielded {shown(record)} where a rankgauge.plugin.Record is needed"
        raise TypeError(msg)
    return record


def given(values: Sequence[object], name: str) -> Iterator[Record]:
    """Return records given in Python, which messages call by name and place."""
    return (Record(value, None, f"{name}[{place}]") for place, value in enumerate(values))
