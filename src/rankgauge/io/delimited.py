"""
Delimited text: the rows of CSV and TSV files, a block of lines at a time.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

import polars as pl

from rankgauge.errors import DataError, Problem
from rankgauge.io.columns import Kind, find_columns
from rankgauge.io.files import open_file
from rankgauge.io.limits import RAISE_IT, longest_piece, written_size
from rankgauge.io.problems import first_problems, unreadable
from rankgauge.io.recognize import read_head
from rankgauge.io.rows import Frame

__all__ = ["DelimitedRows"]

_BLOCK = 1 << 22
"""How many bytes are read at once; it never changes a result."""


class DelimitedRows:
    """
    The rows of a CSV or TSV file with a header.

    Attributes:
        name: The name of the file in messages.
    """

    def __init__(
        self, path: Path, kind: Kind, columns: Mapping[str, str] | None, *, name: str, block: int = _BLOCK
    ) -> None:
        """Open a file and find its columns; *block* bytes are read at once, which never changes a result."""
        self.name = name
        self._path = path
        self._block = block
        with open_file(path, name=name) as opened:
            self._head = read_head(opened.stream)
        self._names = self._head.fields
        self._columns = find_columns(self._names, kind, columns, source=name)

    def parts(self, count: int) -> list[Iterator[Frame]]:
        """Return one iterator, because a quoted field may contain line ends."""
        del count
        return [self.frames()]

    def frames(self) -> Iterator[Frame]:
        """Yield the whole table in order."""
        first, line = 0, self._head.number + 1
        with open_file(self._path, name=self.name) as opened:
            read_head(opened.stream)
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
        missing = rows.null_count().row(0)
        return rows.filter(~pl.all_horizontal(pl.all().is_null())) if all(missing) else rows  # blank lines

    def _explained(self, reason: str) -> DataError:
        """Return what is wrong with the lines of the file, as far as Python's own reader can tell."""
        problems = first_problems(self._wrong_lines(), self.name)
        unknown = Problem(f"{reason}; a field that contains a quote must itself be quoted", self.name)
        msg = f"cannot read {self.name}:"
        return DataError(msg, problems or [unknown])

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
            return f"{len(fields)} fields, but the header has {len(self._names)}"
        if any("\udc80" <= letter <= "\udcff" for field in fields for letter in field):
            return "bytes that are not UTF-8; save the file as UTF-8"
        return ""


def _blocks(stream: IO[bytes], size: int, limit: int) -> Iterator[bytes]:
    """Yield blocks that end with a row, at a line end outside quotes; one above the limit is the last, and a part."""
    rest, wanted = b"", size
    while data := stream.read(wanted):
        data = rest + data
        cut = _row_end(data)
        if cut:
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
