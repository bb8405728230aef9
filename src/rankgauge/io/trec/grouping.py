"""
Grouping: brings the lines of each query together, for runs whose queries are scattered.

Lines go to one of many files by their query, in order; each file, small enough to be held, is then sorted by query.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

__all__ = ["grouped"]

_BUCKETS = 64
_PENDING = 1 << 24
"""How many bytes of lines are held before they are written."""


def grouped(stream: IO[bytes], folder: Path) -> Iterator[IO[bytes]]:
    """Yield streams that each have all lines of their queries, together and in order, by way of *folder*."""
    paths = [folder / f"{number}.part" for number in range(_BUCKETS)]
    pending: list[list[bytes]] = [[] for _ in paths]
    held = 0
    for line in stream:
        name = line.split(None, 1)
        if not name or line.startswith(b"#"):
            continue
        pending[zlib.crc32(name[0]) % _BUCKETS].append(line if line.endswith(b"\n") else line + b"\n")
        held += len(line)
        if held > _PENDING:
            _write(paths, pending)
            held = 0
    _write(paths, pending)
    for path in paths:
        if path.exists():
            queries: dict[bytes, list[bytes]] = {}
            with path.open("rb") as lines:
                for line in lines:
                    queries.setdefault(line.split(None, 1)[0], []).append(line)
            path.unlink()
            yield io.BytesIO(b"".join(line for own in queries.values() for line in own))


def _write(paths: list[Path], pending: list[list[bytes]]) -> None:
    for path, lines in zip(paths, pending, strict=True):
        if lines:
            with path.open("ab") as out:
                out.writelines(lines)
            lines.clear()
