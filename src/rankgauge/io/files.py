"""
Files: opens them, strips compression and byte-order marks, and explains what is wrong with them.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from rankgauge.base.forked import lost_threads
from rankgauge.errors import RankgaugeError, UnreadableError
from rankgauge.io.problems import RAISE_IT, MalformedError, longest_piece, unreadable, written_size

__all__ = [
    "COMPRESSIONS",
    "MAGIC",
    "NOT_TEXT",
    "OpenFile",
    "binary",
    "digest",
    "endings",
    "ends_within_a_line",
    "is_regular",
    "is_there",
    "no_such_file",
    "open_file",
    "open_regular",
    "plain_suffix",
    "read_bytes",
    "reading",
    "real_path",
    "sha256",
    "too_large",
]

MAGIC = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}
"""How compressed data begins, and the ending that says so."""

NOT_TEXT = {
    **{magic: f"compressed; give the file the ending {ending}" for magic, ending in MAGIC.items()},
    b"PK\x03\x04": "a zip archive; unpack it",
    **{b"BZh%d1AY&SY" % n: "bzip2 data; decompress it, or compress it with gzip or zstd" for n in range(1, 10)},
    b"\xfd7zXZ\x00": "xz data; decompress it, or compress it with gzip or zstd",
    b"\x04\x22\x4d\x18": "lz4 data; decompress it, or compress it with gzip or zstd",
    b"\xff\xfe": "UTF-16 text; convert it to UTF-8",
    b"\xfe\xff": "UTF-16 text; convert it to UTF-8",
}
"""How data begins that is no text, what it is, and what to do."""

_BINARY_FORMATS = frozenset({".parquet", ".pq", ".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"})
_BOM = b"\xef\xbb\xbf"
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
"""The endings of compressed files."""
_LOOKED_AT = 64
_BLOCK = 1 << 18
_TAIL = 1 << 12
# How much zstd data is expanded at once: a block has at least 4 bytes, and at most 128 KB once expanded, so 32 MB.
_PIECE = 1 << 10

_NOT_A_FILE = {
    stat.S_IFDIR: "this is a directory; name a file in it",
    stat.S_IFIFO: "this is a pipe, which can be read only once; write its content to a file first",
    stat.S_IFSOCK: "this is a socket, not a file",
    stat.S_IFCHR: "this is a device, not a file",
    stat.S_IFBLK: "this is a device, not a file",
}


@dataclass(frozen=True, slots=True)
class OpenFile:
    """An open file, as readers are given it."""

    name: str  # the path as the user wrote it
    path: str | None  # when the file is not compressed
    stream: IO[bytes]  # decompressed, behind a byte-order mark if there was one
    offset: int = 0  # the length of that mark


@contextmanager
def open_file(path: Path, *, name: str | None = None, is_text: bool = True) -> Iterator[OpenFile]:
    """
    Open a regular file for reading, decompressed by its ending (``.gz``, ``.zst``), and called *name* in messages.

    One that should be text, as all but tables in formats of their own are, and is not, is called what it is.
    Whatever is raised while it is open is an `UnreadableError`; so is a line, or the whole of a compressed file that is
    read at once, with more bytes than `longest_piece`.
    """
    label = str(path) if name is None else name
    with reading(label, path):
        limit = longest_piece()
        with open_regular(path, name=label) as raw:
            is_compressed = path.suffix.lower() in COMPRESSIONS
            lines = _LimitedLines(_decompressed(raw, path), path, label, limit)
            stream = _Whole(lines, label, limit) if is_compressed else io.BufferedReader(lines, _BLOCK)
            if is_text and plain_suffix(path) not in _BINARY_FORMATS and (what := binary(stream.peek(_LOOKED_AT))):
                raise unreadable(label, f"it is {what}")
            offset = len(_BOM) if stream.peek(len(_BOM))[: len(_BOM)] == _BOM else 0
            stream.read(offset)
            yield OpenFile(label, None if is_compressed else str(path), stream, offset)


def binary(data: bytes) -> str:
    """Return what data is that begins like this and is no UTF-8 text, and what to do; empty if it may be some."""
    is_wide = len(data) >= 8 and (not any(data[1:8:2]) or not any(data[0:8:2])) and any(data[:8])
    return next((what for magic, what in NOT_TEXT.items() if data.startswith(magic)), "") or (
        "UTF-16 text; convert it to UTF-8" if is_wide else ""
    )


@contextmanager
def reading(name: str, path: Path | None = None, *, form: str = "") -> Iterator[None]:
    """
    Turn whatever is raised while a file is read into an `UnreadableError` that names the file.

    A *form* is that of a file that polars reads, for which a forked process may lack the threads. Damaged files make
    libraries raise what they document nowhere: polars a panic, which is no `Exception`, others `RecursionError` or
    `MemoryError`.
    """
    if form and (why := lost_threads()):
        raise unreadable(name, why)
    try:
        yield
    except (RankgaugeError, MalformedError):
        raise
    except OSError as error:
        raise unreadable(name, _explained(Path(name) if path is None else path, error)) from error
    except MemoryError as error:
        raise unreadable(name, str(error) or "reading it needs more memory than there is") from error
    except Exception as error:
        if isinstance(error, EOFError | zlib.error) or type(error).__name__ == "ZstdError":
            raise unreadable(name, f"the compressed data is damaged: {error}") from error
        raise unreadable(name, _raised(error, form)) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # how a panic of Rust code, such as that of polars, arrives
            raise
        raise unreadable(name, f"not a readable {form or 'data'} file: it is damaged") from error


def read_bytes(path: Path, *, hint: str = "") -> bytes:
    """Return the content of a small file; *hint* says what to do if there is none."""
    try:
        with open_file(path) as opened:
            return opened.stream.read()
    except UnreadableError as error:
        if not (hint and isinstance(error.__cause__, FileNotFoundError)):
            raise
        raise unreadable(str(path), f"{error.problems[0].message}; {hint}") from error.__cause__


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, as ``sha256sum`` prints it."""
    with reading(str(path), path), open_regular(path) as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def is_regular(path: Path) -> bool:
    """Return whether there is a regular file at a path, however long or strange its name is."""
    with suppress(OSError, ValueError):
        return path.is_file()
    return False


def is_there(path: Path) -> bool:
    """Return whether there is anything at a path, however long or strange its name is."""
    with suppress(OSError, ValueError):
        return path.exists()
    return False


def too_large(limit: int) -> str:
    """Return what is wrong with a compressed file that is read whole."""
    return f"it has more than {written_size(limit)} once decompressed; decompress the file, or {RAISE_IT}"


def real_path(path: Path) -> Path:
    """Return a path from the root without links; links that go in circles stay, and cannot be opened."""
    return Path(os.path.realpath(path))


def sha256(data: bytes) -> str:
    """Return the SHA-256 of some bytes in the form of `digest`."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def ends_within_a_line(path: Path) -> bool:
    """Return whether the last line of a file has no end, as where its writer was killed."""
    with open_regular(path) as file:
        return file.seek(0, io.SEEK_END) > 0 and (file.seek(-1, io.SEEK_END), file.read(1))[1] != b"\n"


def plain_suffix(path: Path) -> str:
    """Return a file's suffix in lower case, without that of a compression."""
    return Path(path.stem).suffix.lower() if path.suffix.lower() in COMPRESSIONS else path.suffix.lower()


def endings(path: Path) -> tuple[str, ...]:
    """Return what a file's name may end in, the longest first, without a compression: ``.ikat.json`` and ``.json``."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        del suffixes[-1]
    return tuple("".join(suffixes[at:]) for at in range(len(suffixes))) or ("",)


def open_regular(path: Path, *, name: str | None = None) -> io.FileIO:
    """
    Open a file for reading; what is not a regular file raises an `UnreadableError`, and is not waited for.

    Opening a pipe may wait forever, and reading a device may never end.
    """
    raw = io.FileIO(path, opener=lambda place, flags: os.open(place, flags | getattr(os, "O_NONBLOCK", 0)))
    if (why := _NOT_A_FILE.get(stat.S_IFMT(os.fstat(raw.fileno()).st_mode))) is not None:
        raw.close()
        raise unreadable(str(path) if name is None else name, why)
    return raw


def _decompressed(raw: io.FileIO, path: Path) -> io.RawIOBase:
    """Return the bytes of a file without its compression, if it has one."""
    match COMPRESSIONS.get(path.suffix.lower()):
        case "gzip":
            import gzip

            return cast("io.RawIOBase", gzip.GzipFile(fileobj=io.BufferedReader(raw, _BLOCK)))
        case "zstd":
            return _ZstdReader(io.BufferedReader(raw, _BLOCK))
        case _:
            return raw


class _LimitedLines(io.RawIOBase):
    """Bytes as they are, until a line of them is longer than the limit."""

    def __init__(self, raw: io.RawIOBase, path: Path, name: str, limit: int) -> None:
        self._raw = raw
        self._path = path
        self._name = name
        self._limit = limit
        self._at = 0
        self._line = 0  # where the line begins that is being read

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return isinstance(self._raw, io.FileIO)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        at = self._raw.seek(offset, whence)
        if at != self._at:
            self._at = self._line = at
        return at

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401  # any writable buffer
        view = memoryview(buffer).cast("B")[: min(self._limit, _BLOCK)]  # so that no whole line in it is too long
        size: int | None = self._raw.readinto(view)
        if not size:
            return size
        if self._at + size - self._line > self._limit:
            first = bytes(view[:size]).find(b"\n")
            if self._at + (size if first < 0 else first) - self._line > self._limit:
                raise self._too_long()
        self._at += size
        # Nearly every block has a line end near its own, so that a copy of its last bytes is all that it costs.
        for tail in (_TAIL, size) if size > _TAIL else (size,):
            last = bytes(view[size - tail : size]).rfind(b"\n")
            if last >= 0:
                self._line = self._at - tail + last + 1
                break
        return size

    def _too_long(self) -> UnreadableError:
        number, left = 1, self._line
        with open_regular(self._path) as file:
            again = _decompressed(file, self._path)
            while left > 0 and (data := again.read(min(left, _BLOCK))):
                number += data.count(b"\n")
                left -= len(data)
        return unreadable(self._name, f"the line has more than {written_size(self._limit)}; {RAISE_IT}", number)


class _Whole(io.BufferedReader):
    """Decompressed bytes, which cannot be read whole if they are more than the limit."""

    def __init__(self, raw: io.RawIOBase, name: str, limit: int) -> None:
        super().__init__(raw, _BLOCK)
        self._name = name
        self._limit = limit

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size >= 0:
            return super().read(size)
        data = super().read(self._limit + 1)
        if len(data) > self._limit:
            raise unreadable(self._name, too_large(self._limit))
        return data


class _ZstdReader(io.RawIOBase):
    """Decompressed zstd frames, one after the other; unlike the library's own reader it notices a truncated file."""

    def __init__(self, raw: IO[bytes]) -> None:
        import zstandard

        self._raw = raw
        self._new = zstandard.ZstdDecompressor().decompressobj
        self._frame = self._new(write_size=1 << 14)
        self._begun = False
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        while not self._ready:
            compressed = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame, self._begun = self._new(write_size=1 << 14), False
            compressed = compressed or self._raw.read(_PIECE)
            if not compressed:
                if self._begun:
                    raise EOFError("it ends in the middle of a frame")
                return 0
            self._begun = True
            self._ready = memoryview(self._frame.decompress(compressed))
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size


def _explained(path: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return no_such_file(path)
    if isinstance(error, IsADirectoryError):
        return _NOT_A_FILE[stat.S_IFDIR]
    if error.errno == errno.ENXIO:  # what opening a socket says
        return _NOT_A_FILE[stat.S_IFSOCK]
    if isinstance(error, PermissionError):
        return "no permission to read it"
    return f"{error.strerror or error}"


def no_such_file(path: Path) -> str:
    """Return what messages say of a file that is not there."""
    if str(path) == "-":
        return "standard input can be a run or judgments of `rankgauge trec` only, because this is read more than once"
    near: list[str] = []
    with suppress(OSError):
        near = sorted(item.name for item in path.parent.iterdir())[:5]
    return f"no such file; the folder has {', '.join(near)}" if near else "no such file"


def _raised(error: BaseException, form: str) -> str:
    """Return what an error says in its first line, and its kind unless the file's form says what was being done."""
    first_line = str(error).strip().partition("\n")[0]
    if form:
        return f"not a readable {form} file: {first_line or type(error).__name__}"
    return f"reading it failed: {type(error).__name__}{f': {first_line}' if first_line else ''}"
