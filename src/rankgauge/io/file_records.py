"""
Records: what a reader yields for a file, its lines in portions, texts by id, and clusters of samples.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import orjson

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.base.plain_text import visible
from rankgauge.catalog import Catalog
from rankgauge.catalog.claims import OWN, Claim
from rankgauge.errors import ParameterError, Problem, RankgaugeError, did_you_mean
from rankgauge.io.builtin_formats import LINES
from rankgauge.io.documents import decode_text
from rankgauge.io.files import OpenFile, endings, open_file, plain_suffix, read_bytes
from rankgauge.io.ir_datasets_names import TextOf, is_named, texts_named
from rankgauge.io.problems import first_problems, refuse, unreadable
from rankgauge.plugin.declarations import Reader, Record, Source
from rankgauge.samples import Fault

__all__ = [
    "Lines",
    "Placed",
    "document_of",
    "foreign_records",
    "given",
    "has_our_lines",
    "is_row",
    "portions",
    "read_clusters",
    "read_texts",
    "records",
    "tabbed",
]


def records(path: Path, catalog: Catalog, reader: str = "") -> Iterator[Record]:
    """Read the records of a file in the format that its ending names, or by the *reader* of that name."""
    if (path / "qrels").is_dir():
        raise unreadable(str(path), "this is a directory; a folder of BEIR or MTEB is read with --preset beir")
    claim = catalog.reader_named(reader) if reader else catalog.reader(*endings(path))
    is_ours = claim is None or claim.provider.distribution == OWN
    with open_file(path, is_text=is_ours) as source:
        if claim is None:
            suffix = plain_suffix(path)
            readers = [reader.declaration for reader in catalog.all("reader").values()]
            known = sorted({ending for reader in readers for ending in reader.suffixes})
            message = f"no reader for files ending in {suffix!r}{did_you_mean(suffix, known)}; known are "
            others = "(also with .gz or .zst), and judgments of TREC; --reader NAME takes any reader"
            raise unreadable(str(path), f"{message}{', '.join(known)} {others}")
        if is_ours:
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
        raise TypeError(f"it yielded {shown(record)} where a rankgauge.plugin.Record is needed")
    return record


def is_row(record: Record) -> bool:
    """Return whether a record is the row of a table, of which empty cells are left out."""
    return record.line is None and record.path.startswith("row ")


def given(values: Sequence[object], name: str) -> Iterator[Record]:
    """Return records given in Python, which messages call by name and place."""
    return (Record(value, None, f"{name}[{place}]") for place, value in enumerate(values))


_PORTION = 1 << 20  # how many bytes of lines make a portion, or one line


class Lines(NamedTuple):
    """Some lines of a file."""

    lines: Iterable[bytes]
    first: int  # the number of the first
    offset: int  # the bytes of the file before it

    @property
    def name(self) -> str:
        """Return what messages call them."""
        last = self.first + len(list(self.lines)) - 1
        return f"line {last:,}" if last == self.first else f"lines {self.first:,} to {last:,}"


class Placed(Protocol):
    """What was made of some lines elsewhere."""

    @property
    def places(self) -> Mapping[str, int | str]:
        """Return the id of each sample in them, with its line."""

    @property
    def is_labelled(self) -> bool:
        """Return whether one of them has ground truth."""

    @property
    def unlabelled(self) -> Sequence[Problem]:
        """Return the problems of those without any, if none has some."""


def portions(source: OpenFile) -> Iterator[Lines]:
    """Yield all lines of an open file, about a megabyte at a time."""
    first, offset = 1, source.offset
    while lines := source.stream.readlines(_PORTION):
        yield Lines(lines, first, offset)
        first += len(lines)
        offset += sum(map(len, lines))


def has_our_lines(source: object, catalog: Catalog) -> bool:
    """Return whether data is a file of JSON lines that our own reader reads."""
    if not isinstance(source, Path) or plain_suffix(source) not in LINES:
        return False
    claim = catalog.reader(*endings(source))
    return claim is not None and claim.provider.distribution == OWN


def decoded(lines: Sequence[bytes]) -> list[Any] | None:
    """Return what lines hold; None if one of them is not JSON."""
    try:
        return list(map(orjson.loads, lines))
    except orjson.JSONDecodeError:
        return None


_IDS = ("id", "_id", "doc_id", "docid", "docno", "query_id", "qid")
_TEXTS = ("text", "contents", "body", "query", "question", "input")


def read_texts(path: Path, wanted: Collection[str], *, of: TextOf, catalog: Catalog) -> dict[str, str]:
    """
    Return the texts of some ids, a title before the text if there is one; ids without a text are left out.

    A row has an `id` (or `_id`, `docno`, ...) and a `text` (or `contents`, `body`, ...). A ``.tsv`` file has an id, a
    tab and a text on each line. ``ir_datasets:NAME`` has queries or documents, *of* which the ids are.
    """
    wanted = frozenset(wanted)
    if is_named(path):
        return texts_named(path, wanted, of)
    if plain_suffix(path) == ".tsv":
        return dict(_of_lines(path, wanted))
    texts: dict[str, str] = {}
    problems: list[Problem] = []
    for record in records(path, catalog):
        row = record.value
        name = _name(row) if isinstance(row, Mapping) else None
        if isinstance(row, Mapping) and name in wanted:
            texts[str(name)] = _text(row)
        elif name is None:
            message = row.reason if isinstance(row, Fault) else f"a row needs an id ({', '.join(_IDS[:4])})"
            problems.append(Problem(message, str(path), record.line, record.path))
    title = "the texts cannot be read; a row is an object with an id and a text:"
    refuse(title, first_problems(problems, str(path)))
    return {name: text for name, text in texts.items() if text}


def _name(row: Mapping[str, object]) -> str | None:
    return next((str(row[key]) for key in _IDS if row.get(key) is not None), None)


def document_of(row: Mapping[str, object]) -> tuple[str, str, str]:
    """Return the id, the title and the text of a row; empty if it has none."""
    title = row.get("title")
    text = next((row[key] for key in _TEXTS if isinstance(row.get(key), str)), "")
    return _name(row) or "", title if isinstance(title, str) else "", str(text)


def _text(row: Mapping[str, object]) -> str:
    _, title, text = document_of(row)
    return "\n".join(part for part in ("" if text.startswith(title) else title, text) if part)


def _of_lines(path: Path, wanted: Collection[str]) -> Iterator[tuple[str, str]]:
    with open_file(path) as opened:
        yield from ((name, text) for name, text in tabbed(opened) if name in wanted and text)


def tabbed(opened: OpenFile) -> Iterator[tuple[str, str]]:
    """Yield the id and the text of each line of a file, which a tab parts."""
    for line in opened.stream:
        name, _, text = line.decode("utf-8", "replace").rstrip("\r\n").partition("\t")
        yield name, text


def read_clusters(file: str, option: str, what: str = "cluster") -> dict[str, object]:
    """Return the cluster, or *what* else, of each id; *option* named the file."""
    clusters: dict[str, object] = {}
    for number, line in enumerate(decode_text(read_bytes(Path(file)), file).splitlines(), 1):
        parts = line.split()
        if not parts:
            continue
        if len(parts) != 2 or parts[0] in clusters:
            why = f"has no id and {what}" if len(parts) != 2 else f"gives {visible(parts[0])} a second {what}"
            msg = f"{option} {visible(file)}, line {number}: it {why}; each line is an id, a blank and its {what}"
            raise ParameterError(msg)
        clusters[parts[0]] = parts[1]
    return clusters
