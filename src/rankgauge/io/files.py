"""
Files: opens them, strips compression and byte-order marks, and explains what is wrong with them.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from rankgauge.io.problems import unreadable

__all__ = ["MAGIC", "OpenFile", "digest", "ends_within_a_line", "open_file", "plain_suffix", "sha256"]

MAGIC = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}
"""How compressed data begins, and the ending that says so."""

_BOM = b"\xef\xbb\xbf"
_COMPRESSED = {".gz": "gzip", ".zst": "zstd"}


@dataclass(frozen=True, slots=True)
class OpenFile:
    """
    An open file, as readers are given it.

    Attributes:
        name: The path as the user wrote it.

        path: The path when the file is not compressed, else None.

        stream: The decompressed bytes, behind a byte-order mark if there was one.

        offset: Length of that mark in bytes; 0 without one.
    """

    name: str
    path: str | None
    stream: IO[bytes]
    offset: int = 0


@contextmanager
def open_file(path: Path) -> Iterator[OpenFile]:
    """Open a file for reading, decompressed by its ending (``.gz``, ``.zst``)."""
    name = str(path)
    try:
        with io.BufferedReader(path.open("rb", buffering=0), 1 << 18) as raw:
            compression = _COMPRESSED.get(path.suffix.lower())
            stream = io.BufferedReader(_decompressed(raw, compression), 1 << 18) if compression else raw
            offset = len(_BOM) if stream.peek(len(_BOM))[: len(_BOM)] == _BOM else 0
            stream.read(offset)
            yield OpenFile(name, None if compression else name, stream, offset)
    except OSError as error:
        raise unreadable(name, _explained(path, error)) from error
    except (EOFError, zlib.error) as error:
        raise unreadable(name, f"the compressed data is damaged: {error}") from error
    except Exception as error:
        if type(error).__name__ == "ZstdError":
            raise unreadable(name, f"the compressed data is damaged: {error}") from error
        raise


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, as ``sha256sum`` prints it."""
    try:
        with path.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError as error:
        raise unreadable(str(path), _explained(path, error)) from error


def sha256(data: bytes) -> str:
    """Return the SHA-256 of some bytes in the form of `digest`."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def ends_within_a_line(path: Path) -> bool:
    """Return whether the last line of a file has no end, as where its writer was killed."""
    with path.open("rb") as file:
        return file.seek(0, io.SEEK_END) > 0 and (file.seek(-1, io.SEEK_END), file.read(1))[1] != b"\n"


def plain_suffix(path: Path) -> str:
    """Return a file's suffix in lower case, without that of a compression."""
    return Path(path.stem).suffix.lower() if path.suffix.lower() in _COMPRESSED else path.suffix.lower()


def _decompressed(raw: IO[bytes], compression: str) -> io.RawIOBase:
    if compression == "gzip":
        return cast("io.RawIOBase", gzip.GzipFile(fileobj=raw))
    return _ZstdReader(raw)


class _ZstdReader(io.RawIOBase):
    """Decompressed zstd frames, one after the other; unlike the library's own reader it notices a truncated file."""

    def __init__(self, raw: IO[bytes]) -> None:
        import zstandard

        self._raw = raw
        self._new = zstandard.ZstdDecompressor().decompressobj
        self._frame = self._new()
        self._begun = False
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        while not self._ready:
            compressed = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame, self._begun = self._new(), False
            compressed = compressed or self._raw.read(1 << 17)
            if not compressed:
                if self._begun:
                    msg = "it ends in the middle of a frame"
                    raise EOFError(msg)
                return 0
            self._begun = True
            self._ready = self._frame.decompress(compressed)
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size


def _explained(path: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        near = sorted(item.name for item in path.parent.iterdir())[:5] if path.parent.is_dir() else []
        return f"no such file{f'; the folder has {chr(44).join(near)}' if near else ''}"
    if isinstance(error, IsADirectoryError):
        return "this is a directory; name a file in it"
    if isinstance(error, PermissionError):
        return "no permission to read it"
    return f"{error.strerror or error}"
