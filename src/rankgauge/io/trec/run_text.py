"""
Runs: the rankings of a TREC run file with its ir_metadata header, some whole queries at a time.
"""

from __future__ import annotations

import copy
import io
import math
import textwrap
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import IO, Any

from rankgauge.columns import RankingBatch
from rankgauge.errors import UnreadableError
from rankgauge.io.files import open_file
from rankgauge.io.problems import RAISE_IT, MalformedError, longest_piece, unreadable, written_size
from rankgauge.io.recognize import split_line
from rankgauge.io.stated_ranks import StatedRanks
from rankgauge.io.trec.line_columns import RUN, Form, Lines, explain, read_lines
from rankgauge.io.trec.line_fields import Window
from rankgauge.io.trec.odd_lines import OddLines, scores_rise

__all__ = ["BLOCK", "RunFile", "read_header"]

_START, _END = "ir_metadata.start", "ir_metadata.end"
_MOST_BYTES = 1 << 20
_WHOLE = 1 << 63


def read_header(path: Path, name: str) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Return the header of a run as JSON values, and notes: a broken header is one, never an error."""
    lines: list[str] | None = None
    left = _MOST_BYTES
    with open_file(path, name=name) as opened:
        if opened.stream.peek(1)[:1] != b"#":  # type: ignore[attr-defined]  # open_file gives a buffered reader
            return {}, ()
        while (line := opened.stream.readline(left)).startswith(b"#"):
            left -= len(line)
            text = line[1:].decode("utf-8", "replace").rstrip("\r\n")
            if lines is None:
                lines = [] if text.strip() == _START else None
            elif text.strip() == _END:
                return _parsed(lines, name)
            else:
                lines.append(text)
    return {}, () if lines is None else _ignored(name, f"it has no line `# {_END}`")


def _parsed(lines: list[str], name: str) -> tuple[Mapping[str, Any], Sequence[str]]:
    from rankgauge.io.yaml_documents import read_yaml

    try:
        value = read_yaml(textwrap.dedent("\n".join(lines)), name).value
    except UnreadableError as error:
        return {}, _ignored(name, error.problems[0].message)
    if not isinstance(value, dict):
        return {}, _ignored(name, "it is not a mapping")
    return _plain(value), ()


def _ignored(name: str, why: str) -> Sequence[str]:
    return [f"the ir_metadata header of {name} was ignored: {why}"]


def _plain(value: object) -> Any:  # noqa: ANN401  # any JSON value
    """Return a value as JSON can hold it."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    is_too_much = isinstance(value, float) and not math.isfinite(value)
    is_too_much |= isinstance(value, int) and not -_WHOLE <= value < _WHOLE
    return str(value) if is_too_much else value


_BUCKETS = 64
_PENDING = 1 << 24  # how many bytes of lines are held before they are written


def _grouped(stream: IO[bytes], field: int) -> Iterator[IO[bytes]]:
    """Yield streams that each have all lines of their queries, a *field* of theirs, by way of temporary files."""
    import tempfile

    pending: list[list[bytes]] = [[] for _ in range(_BUCKETS)]
    held = 0
    with ExitStack() as opened:
        spools: list[IO[bytes] | None] = [None] * _BUCKETS

        def write() -> None:
            for number, lines in enumerate(pending):
                if lines:
                    spool = spools[number]
                    if spool is None:  # it has no name, and goes with the process
                        spool = spools[number] = opened.enter_context(tempfile.TemporaryFile())
                    spool.writelines(lines)
                    lines.clear()

        for line in stream:
            name = _query_of(line, field)
            if name is None:
                continue
            pending[zlib.crc32(name) % _BUCKETS].append(line if line.endswith(b"\n") else line + b"\n")
            held += len(line)
            if held > _PENDING:
                write()
                held = 0
        write()
        for spool in filter(None, spools):
            spool.seek(0)
            by_query: dict[bytes, list[bytes]] = {}
            for line in spool:
                by_query.setdefault(_query_of(line, field) or b"", []).append(line)
            spool.close()
            yield io.BytesIO(b"".join(chain.from_iterable(by_query.values())))


def _query_of(line: bytes, field: int) -> bytes | None:
    """Return a field of a line; None of a comment, or if it is not there."""
    fields = line.split(None, field + 1)
    return fields[field] if len(fields) > field and not line.startswith(b"#") else None


BLOCK = 1 << 21  # bytes read at once: so many that calls cost little, so few that columns stay in a processor's cache

_TAG = 5
_LOOKED_AT = 1 << 15  # in how many bytes stated ranks are compared with scores
_HIGHER = (
    "the highest score counts first, so negate the scores if they are distances (`rankgauge validate` checks more)"
)
_SMALL = 1 << 22  # a file with fewer bytes is not worth a second thread
_LONGEST_SEARCH = 1 << 24

_Span = tuple[int, int | None]  # a part of a file: where it begins, and how many bytes it has; None for the rest


class RunFile:
    """
    A run, read as often as needed, in any number of parts; its tag is that of the last line, once it was read.

    Lines that have no header and are not TREC's have another *form*.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str | None = None,
        block: int = BLOCK,
        kept: object = None,
        form: Form = RUN,
        notes: Sequence[str] = (),
    ) -> None:
        """Name a run; *block* never changes a result, *kept* is a temporary file to keep alive as long as the run."""
        self._kept = kept
        self._form = form
        self._how = notes
        self._ranks = StatedRanks(str(path) if name is None else name)
        self.name = str(path) if name is None else name
        self.tag = ""
        self._path = path
        self._block = block
        self._states_ranks = False
        self._odd: list[int] = []  # how many odd lines each block had that was read last; threads add to it
        self._rises = False

    def with_ranks(self) -> RunFile:
        """Return the same run with the file's own column of ranks in its batches, which preflight checks."""
        other = copy.copy(self)
        other._states_ranks = True  # noqa: SLF001  # the copy is ours
        other._odd = []  # noqa: SLF001  # as above
        return other

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Return the ir_metadata header of the run, from its first comment lines."""
        return self._header[0]

    @property
    def notes(self) -> Sequence[str]:
        """Return what is wrong with that header, how lines were understood, and what is odd about lines and ranks."""
        notes = [*self._header[1], *self._how, *self._ranks.notes]
        if (odd := self.odd_lines) is not None:
            notes.append(odd.note)
        if self._rises:
            notes.append(f"the scores of {self.name} rise with its stated ranks; {_HIGHER}")
        return notes

    @property
    def odd_lines(self) -> OddLines | None:
        """Return the lines that may mean something else, once the run was read; None if there are none."""
        count = sum(self._odd)
        return OddLines(count, self._path, self.name) if count else None

    @cached_property
    def _header(self) -> tuple[Mapping[str, Any], Sequence[str]]:
        return read_header(self._path, self.name)

    def parts(self, count: int) -> list[Iterator[RankingBatch]]:
        """Return at most *count* iterators, one for each thread, over parts of the file; a compressed one has one."""
        self._odd, self._rises = [], False
        spans = self._spans(count)
        first, last = spans[0], spans[-1]
        return [self._batches(span, keeps_tag=span is last, looks=span is first) for span in reversed(spans)]

    def grouped(self) -> Iterator[RankingBatch]:
        """Yield every query once, even if its lines are scattered; this copies the run to temporary files."""
        self._odd, self._rises = [], False
        with open_file(self._path, name=self.name) as opened:
            try:
                for number, stream in enumerate(_grouped(opened.stream, self._form.query)):
                    yield from self._read(stream, None, looks=not number)
            except MalformedError:
                raise explain(self._path, self.name, self._form) from None

    def _batches(self, span: _Span, *, keeps_tag: bool, looks: bool) -> Iterator[RankingBatch]:
        try:
            with open_file(self._path, name=self.name) as opened:
                begin, length = span
                if begin:
                    opened.stream.seek(begin)
                yield from self._read(opened.stream, length, keeps_tag=keeps_tag, looks=looks)
        except MalformedError:
            raise explain(self._path, self.name, self._form) from None

    def _read(
        self, stream: IO[bytes], limit: int | None, *, keeps_tag: bool = True, looks: bool = False
    ) -> Iterator[RankingBatch]:
        window = Window(stream, limit=limit, size=self._block)
        limit_of_query = longest_piece()
        form = self._form
        ranks = self._states_ranks or (form != RUN and form.rank is not None)
        while True:
            window.fill()
            lines = read_lines(window.buffer, window.end, form, is_whole=window.is_last, ranks=ranks)
            if lines is None:
                if window.is_last:
                    return
                window.drop(window.end)
                continue
            if looks and form == RUN and not self._states_ranks:
                self._rises = _rises(window)
            looks = False
            self._odd.append(lines.n_odd)
            if window.is_last:
                if keeps_tag and form == RUN:
                    line = window.line_at(int(lines.documents.start[-1]))
                    self.tag = split_line(line)[_TAG].decode("utf-8", "replace")
                yield self._batch(lines)
                return
            if len(lines.numbers):
                yield self._batch(lines)
            elif window.end > limit_of_query:
                raise self._too_long(window.line_at(int(lines.left[0])), limit_of_query)
            if len(lines.numbers) or not window.keep_lines(lines.left):
                window.drop(window.line_begin(int(lines.left[0])))
            del lines  # or two blocks of columns are held at once

    def _batch(self, lines: Lines) -> RankingBatch:
        """Return the rankings that lines write."""
        columns = (lines.queries, lines.lengths, lines.documents, lines.keys, lines.numbers)
        batch = RankingBatch(*columns, stated=lines.stated)
        if self._form != RUN:
            self._ranks.look(batch)
        return batch

    def _too_long(self, line: bytes, limit: int) -> UnreadableError:
        query = split_line(line)[self._form.query].decode("utf-8", "replace")
        message = f"the lines of query {query!r} have more than {written_size(limit)} together; {RAISE_IT}"
        return unreadable(self.name, message)

    def _spans(self, count: int) -> list[_Span]:
        """Cut the file into parts that begin with a query each."""
        with open_file(self._path, name=self.name) as opened:
            if opened.path is None or count < 2:
                return [(opened.offset if opened.path else 0, None)]
            size = self._path.stat().st_size
            if not self._path.is_file() or size < _SMALL:
                return [(opened.offset, None)]
            cuts = [opened.offset]
            for part in range(1, count):
                cut = _query_boundary(opened.stream, max(size * part // count, cuts[-1]), self._form.query)
                if cut is not None and cut > cuts[-1]:
                    cuts.append(cut)
        return [(begin, end - begin) for begin, end in pairwise(cuts)] + [(cuts[-1], None)]


def _rises(window: Window) -> bool:
    """Return whether scores rise with the stated ranks in the first lines of a run."""
    end = window.end if window.end <= _LOOKED_AT else window.line_begin(_LOOKED_AT)
    lines = read_lines(window.buffer, end, RUN, ranks=True)
    return lines is not None and lines.stated is not None and scores_rise(lines.first, lines.stated, lines.numbers)


def _query_boundary(stream: IO[bytes], offset: int, field: int) -> int | None:
    """Return where the next query begins after an offset; None if there is none nearby."""
    stream.seek(offset)
    stream.readline()
    at = stream.tell()
    query: bytes | None = None
    for line in stream:
        name = _query_of(line, field)
        if name is not None:
            if query is not None and name != query:
                return at
            query = name
        at += len(line)
        if at - offset > _LONGEST_SEARCH:
            return None
    return None
