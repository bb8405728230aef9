"""
Table files: the rows of Parquet, CSV and TSV files, some row groups or lines at a time.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import polars as pl

from rankgauge.errors import DataError, Problem
from rankgauge.io.field_names import Kind, find_columns, is_unread, positions
from rankgauge.io.files import open_file, open_regular, reading
from rankgauge.io.problems import RAISE_IT, first_problems, longest_piece, unreadable, written_size
from rankgauge.io.recognize import read_head
from rankgauge.io.table_rows import Frame, Ranged, Rows, selection, unnested, worth

__all__ = ["DelimitedRows", "parquet_rows", "row_groups"]

_MAGIC = b"PAR1"
_MOST_BYTES = 1 << 24
"""A footer with more bytes takes longer to step through than it saves."""

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_INTEGERS = {4, 5, 6}
_ROW_GROUPS, _NUM_ROWS = 4, 3
"""The field of a file's metadata that lists its row groups, and the field of a row group that counts its rows."""


def row_groups(path: Path) -> list[int] | None:
    """Return how many rows each row group has; None if the footer does not say, or is too large to step through."""
    with open_regular(path) as file:
        size = file.seek(0, 2)
        if size < 12:
            return None
        file.seek(size - 8)
        tail = file.read(8)
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != _MAGIC or length > min(size - 12, _MOST_BYTES):
            return None
        file.seek(size - 8 - length)
        footer = file.read(length)
    try:
        counts = [group[_NUM_ROWS] for group in _Compact(footer).value(_STRUCT)[_ROW_GROUPS]]
    except (IndexError, KeyError, TypeError, ValueError, RecursionError):
        return None
    return counts if all(isinstance(count, int) and count >= 0 for count in counts) else None


class _Compact:
    """
    Reads values of Thrift's compact protocol; texts and floats, which are not needed, become None.

    The bytes ``26 c8 01 00`` are a structure: field 0 + 2 of type 6 (an integer), the number 0xc8 0x01 = 200 in groups
    of seven bits, the sign in its lowest bit: 100; then the end. So ``value(_STRUCT)`` is ``{2: 100}``.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def value(self, kind: int) -> Any:  # noqa: ANN401  # a number, a list or a structure of these
        if kind in {_TRUE, _FALSE}:  # the type itself is the value
            return None
        if kind == _BYTE:
            return self._bytes(1)[0]
        if kind in _INTEGERS:
            return self._integer()
        if kind in {_DOUBLE, _BINARY}:
            self._bytes(8 if kind == _DOUBLE else self._varint())
            return None
        if kind in {_LIST, _SET}:
            head = self._bytes(1)[0]
            count, item = head >> 4, head & 0x0F
            item = _BYTE if item in {_TRUE, _FALSE} else item  # in a list a truth value has a byte of its own
            return [self.value(item) for _ in range(self._varint() if count == 15 else count)]
        if kind != _STRUCT:  # maps, which the structures of Parquet do not have
            raise ValueError
        fields: dict[int, Any] = {}
        number = 0
        while head := self._bytes(1)[0]:
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = self.value(head & 0x0F)
        return fields

    def _integer(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)

    def _varint(self) -> int:
        number = shift = 0
        while (byte := self._bytes(1)[0]) >= 0x80:
            number |= (byte & 0x7F) << shift
            shift += 7
        return number | byte << shift

    def _bytes(self, count: int) -> bytes:
        self._at += count
        if self._at > len(self._data):
            raise IndexError
        return self._data[self._at - count : self._at]


_PIECE = 1 << 18  # how many rows are held at once, unless a row group has more


def parquet_rows(path: Path, kind: Kind, columns: Mapping[str, str] | None, *, name: str) -> Rows:
    """Return the rows of a Parquet file, of which only the columns in question are read."""
    with open_file(path, name=name) as opened:
        is_plain = opened.path is not None
        source = path if is_plain else io.BytesIO(opened.stream.read())
    with reading(name, path, form="Parquet"):
        flat = pl.scan_parquet(source, glob=False)
        scan = unnested(flat, kind)
        schema = scan.collect_schema()
    roles = find_columns(list(schema), kind, columns, source=name)
    table = scan.select(selection(schema, roles, kind, source=name))
    groups = row_groups(path) if is_plain and scan is flat else None
    if groups is None or len(groups) < 2:
        with reading(name, path, form="Parquet"):
            return Ranged.of(table.collect(), name)

    def read(begin: int, end: int, names: Sequence[str]) -> pl.DataFrame:
        with reading(name, path, form="Parquet"):
            return table.select(names).slice(begin, end - begin).collect()

    return Ranged(name, _edges(groups), read, list(roles.by_role))


def _edges(groups: Sequence[int]) -> list[int]:
    """Return where to read anew: at row groups, several of them at once if they are small."""
    edges, row = [0], 0
    for rows in groups:
        if row > edges[-1] and row + rows - edges[-1] > _PIECE:
            edges.append(row)
        row += rows
    return [*edges, row]


_BLOCK = 1 << 22  # how many bytes are read at once, which never changes a result


class DelimitedRows:
    """The rows of a CSV or TSV file with a header, or without one where *columns* lists what its columns are."""

    def __init__(
        self,
        path: Path,
        kind: Kind,
        columns: Mapping[str, str] | None,
        *,
        name: str,
        block: int = _BLOCK,
        has_header: bool = True,
    ) -> None:
        self.name = name
        self._path = path
        self._block = block
        with open_file(path, name=name) as opened:
            self._head = read_head(opened.stream)
        self._has_header = has_header
        listed = positions(columns, kind)
        self._names = self._head.fields if has_header else listed
        letters = {"letters": given} if (given := (columns or {}).get("letters")) else {}
        own = None if has_header else {**letters, **{role: role for role in listed if not is_unread(role)}}
        self._columns = find_columns(self._names, kind, columns if has_header else own, source=name)

    def parts(self, count: int) -> list[Iterator[Frame]]:
        """Return one iterator, because a quoted field may contain line ends."""
        del count
        return [self.frames()]

    def frames(self) -> Iterator[Frame]:
        """Yield the whole table in order."""
        first, line = 0, self._head.number + self._has_header
        with open_file(self._path, name=self.name) as opened:
            for _ in range(line - 1):  # comments, empty lines and the header
                opened.stream.readline()
            limit = longest_piece()
            for block in _blocks(opened.stream, self._block, limit):
                if len(block) > limit:
                    message = f"a row has more than {written_size(limit)}; a quote may not be closed, or {RAISE_IT}"
                    raise unreadable(self.name, message, line)
                rows = self._rows(block)
                n_lines = block.count(b"\n") + (not block.endswith(b"\n"))
                yield Frame(rows, first, line if rows.height == n_lines else None)
                first += rows.height
                line += n_lines

    def _rows(self, block: bytes) -> pl.DataFrame:
        places = {role: self._names.index(name) for role, name in self._columns.by_role.items()}
        schema = {str(place): pl.String for place in range(len(self._names))}
        try:
            rows = pl.read_csv(
                io.BytesIO(block), has_header=False, schema=schema, separator=self._head.separator, quote_char='"'
            )
        except pl.exceptions.PolarsError as error:
            raise self._explained(str(error).partition("\n")[0]) from None
        rows = rows.select(pl.col(str(place)).alias(role) for role, place in places.items())
        if self._columns.letters:
            rows = rows.with_columns(worth(pl.col("value"), self._columns.letters))
        missing = rows.null_count().row(0)
        return rows.filter(~pl.all_horizontal(pl.all().is_null())) if all(missing) else rows  # blank lines

    def _explained(self, reason: str) -> DataError:
        """Return what is wrong with the lines of the file, as far as Python's own reader can tell."""
        unknown = Problem(f"{reason}; a field that contains a quote must itself be quoted", self.name)
        return DataError(f"cannot read {self.name}:", first_problems(self._wrong_lines(), self.name) or [unknown])

    def _wrong_lines(self) -> Iterator[Problem]:
        with open_file(self._path, name=self.name) as opened:
            lines = (raw.decode("utf-8", "surrogateescape") for raw in opened.stream)
            reader = csv.reader(lines, delimiter=self._head.separator)
            try:
                for fields in reader:
                    if problem := self._wrong(fields):
                        yield Problem(problem, self.name, reader.line_num)
            except csv.Error as error:  # a bare carriage return, or a field of more than 131,072 characters
                yield Problem(f"not valid CSV: {error}", self.name, reader.line_num)

    def _wrong(self, fields: Sequence[str]) -> str:
        if len(fields) > len(self._names):
            known = "the header has" if self._has_header else "--columns names"
            return f"{len(fields)} fields, but {known} {len(self._names)}"
        if any("\udc80" <= letter <= "\udcff" for field in fields for letter in field):
            return "bytes that are not UTF-8; save the file as UTF-8"
        return ""


def _blocks(stream: IO[bytes], size: int, limit: int) -> Iterator[bytes]:
    """Yield blocks that end with a row, at a line end outside quotes; one above the limit is the last, and a part."""
    rest, wanted = b"", size
    while data := stream.read(wanted):
        data = rest + data
        if cut := _row_end(data):
            yield data[:cut]
        rest = data[cut:]
        if len(rest) > limit:
            break
        wanted = max(size, len(rest))  # twice as much as before, so that a long row is not searched again and again
    if rest:
        yield rest


def _row_end(data: bytes) -> int:
    end = data.rfind(b"\n") + 1
    quotes = data.count(b'"', 0, end)
    while end and quotes % 2:
        before = data.rfind(b"\n", 0, end - 1) + 1
        quotes -= data.count(b'"', before, end)
        end = before
    return end
