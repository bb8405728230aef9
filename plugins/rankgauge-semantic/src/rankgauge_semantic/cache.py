"""
The disk cache: vectors by model and text, kept from run to run.

There is one SQLite file for each model. Processes write in turn. A vector is stored with a checksum, and damaged rows
or files are computed again. A cache that cannot be used costs only time.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import sqlite3
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["ENVIRONMENT", "DiskCache", "cache_folder", "open_cache"]

ENVIRONMENT = "RANKGAUGE_SEMANTIC_CACHE"
"""The environment variable that names the folder, or is `off`."""

Vector = NDArray[np.float32]
T = TypeVar("T")

_PATIENCE = 30.0
"""Seconds to wait for another process that writes."""

_AT_ONCE = 500
"""How many texts one query asks for: SQLite allows 999 parameters in its oldest builds."""

_OFF = {"", "0", "off", "no", "false"}
_LOGGER = logging.getLogger("rankgauge.semantic")


def cache_folder() -> Path | None:
    """Return the folder of embeddings: RANKGAUGE_SEMANTIC_CACHE, else one in the user's cache; None when it is off."""
    said = os.environ.get(ENVIRONMENT)
    if said is not None:
        return None if said.strip().lower() in _OFF else Path(said).expanduser()
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # there is no home folder
        return None
    return base / "rankgauge" / "semantic"


def open_cache(model: str) -> DiskCache | None:
    """Return the cache of a model; None when caching is off."""
    folder = cache_folder()
    if folder is None:
        return None
    slug = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:40]
    return DiskCache(folder / f"{slug}-{hashlib.sha256(model.encode()).hexdigest()[:12]}.sqlite")


class DiskCache:
    """Vectors of one model in the file `path`, which is made when there is something to store."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._has_warned = False

    def get(self, texts: Iterable[str]) -> dict[str, Vector]:
        """Return the stored vectors by text, without damaged ones."""
        keys = {_key(text): text for text in texts}

        def read(connection: sqlite3.Connection) -> dict[str, Vector]:
            found: dict[str, Vector] = {}
            asked = list(keys)
            for start in range(0, len(asked), _AT_ONCE):
                part = asked[start : start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                rows = connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part)  # noqa: S608  # marks
                for key, packed in rows:
                    vector = _unpack(packed)
                    if vector is not None:
                        found[keys[key]] = vector
            return found

        return (self._use(read) or {}) if keys and self.path.exists() else {}

    def put(self, vectors: Mapping[str, Vector]) -> None:
        """Store vectors by text."""
        rows = [(_key(text), _pack(vector)) for text, vector in vectors.items()]

        def write(connection: sqlite3.Connection) -> bool:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
            return True

        if self._use(write) is None:
            self._use(write)  # a damaged file has been renamed by now

    def _use(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Do something with the file; return None when that fails. A damaged file is renamed."""
        try:
            with self._connection() as connection:
                return work(connection)
        except (sqlite3.OperationalError, OSError) as error:  # locked, read-only, a full disk
            self._warn(f"embeddings are not stored: {self.path}: {error}")
        except sqlite3.DatabaseError as error:  # cut short, or not a database
            self._warn(f"{self.path} is damaged ({error}); its embeddings are computed again")
            with contextlib.suppress(OSError):
                self.path.with_name(f"{self.path.name}-journal").unlink(missing_ok=True)  # it belongs to the old file
                self.path.replace(self.path.with_suffix(".damaged"))
        return None

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(self.path, timeout=_PATIENCE)) as connection, connection:
            connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)")
            yield connection

    def _warn(self, message: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            _LOGGER.warning(message)


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _pack(vector: Vector) -> bytes:
    data = vector.astype("<f4").tobytes()
    return zlib.crc32(data).to_bytes(4, "little") + data


def _unpack(packed: object) -> Vector | None:
    if not isinstance(packed, bytes) or len(packed) <= 4 or len(packed) % 4:
        return None
    if int.from_bytes(packed[:4], "little") != zlib.crc32(packed[4:]):
        return None
    return np.frombuffer(packed, "<f4", offset=4).astype(np.float32)
