"""
sqlite-vec: vectors in a file of SQLite, each of which is compared.
"""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Iterable, Sequence
from importlib import metadata
from typing import Any

from pydantic import Field

from rankgauge.errors import ParameterError
from rankgauge_systems.engines import Document, Hit, Loaded, Pool, made_whole, required
from rankgauge_systems.options import ConfigPath, VectorOptions, embedding_of

__all__ = ["SqliteVecEngine", "SqliteVecOptions"]

_TABLE = "[A-Za-z_][A-Za-z0-9_]*"
_MOST = 4096
"""How many results sqlite-vec returns at most."""


class SqliteVecOptions(VectorOptions):
    """Options of sqlite-vec; a search is always exact."""

    k: int = Field(10, ge=1, lt=_MOST, description="How many documents a search returns.")
    path: ConfigPath = Field(description="The database file, relative to the config.")
    table: str = Field(
        "documents",
        pattern=f"^{_TABLE}$",
        description="The table: id, title, text; its vectors are in `TABLE_vectors`.",
    )


class SqliteVecEngine:
    """A table of documents and one of their vectors."""

    def __init__(self, options: SqliteVecOptions) -> None:
        """Open nothing yet."""
        self._options = options
        self._embed = embedding_of(options.embed)
        # That of Python often cannot load extensions.
        self._apsw = required("apsw", "sqlite-vec", "sqlite-vec")
        self._extension = required("sqlite_vec", "sqlite-vec", "sqlite-vec").loadable_path()
        self._pool: Pool[Any] = Pool(self._connect, lambda connection: connection.close())

    def search(self, question: str, _given: object, most: int, /) -> Sequence[Hit]:
        """Return the nearest documents by cosine."""
        table = self._options.table
        sql = (
            f"WITH found AS MATERIALIZED (SELECT rowid, distance FROM {table}_vectors "  # noqa: S608  # checked
            f"WHERE embedding MATCH ? AND k = ?) "
            f"SELECT id, title, text, distance FROM found JOIN {table} ON {table}.rowid = found.rowid "
            "ORDER BY distance, found.rowid"
        )
        vector = array("f", self._embed.question(question)).tobytes()
        with self._pool.taken() as connection:
            rows = connection.execute(sql, (vector, most)).fetchall()
        return [
            Hit(name, 1.0 - distance, Document(name, title, text).whole if self._options.texts else None)
            for name, title, text, distance in rows
        ]

    def documents(self, _given: object, /) -> int:
        """Return how many documents the table has."""
        with self._pool.taken() as connection:
            return int(connection.execute(f"SELECT count(*) FROM {self._options.table}").fetchone()[0])  # noqa: S608  # checked

    def index(self, documents: Iterable[Document]) -> Loaded:
        """Write the tables anew, or leave them as they are if that fails."""
        rows = list(documents)
        if not rows:
            raise ParameterError("there is no document to load")
        kept, vectors, zeros = self._embed.documents(rows)
        options, table = self._options, self._options.table
        self.close()
        options.path.parent.mkdir(parents=True, exist_ok=True)
        with made_whole(options.path), contextlib.closing(self._opened(readonly=False)) as connection, connection:
            connection.execute(f"DROP TABLE IF EXISTS {table}; DROP TABLE IF EXISTS {table}_vectors")
            connection.execute(f"CREATE TABLE {table} (id TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL)")
            connection.execute(
                f"CREATE VIRTUAL TABLE {table}_vectors "
                f"USING vec0(embedding float[{len(vectors[0])}] distance_metric=cosine)"
            )
            insert = f"INSERT INTO {table} (rowid, id, title, text) VALUES (?, ?, ?, ?)"  # noqa: S608  # checked
            connection.executemany(insert, ((at, row.id, row.title, row.text) for at, row in enumerate(kept)))
            insert = f"INSERT INTO {table}_vectors (rowid, embedding) VALUES (?, ?)"  # noqa: S608  # checked
            connection.executemany(insert, ((at, array("f", vector).tobytes()) for at, vector in enumerate(vectors)))
        return Loaded(len(kept), zeros)

    def version(self) -> str:
        """Return those of both libraries."""
        return f"sqlite-vec {metadata.version('sqlite-vec')}, SQLite {self._apsw.sqlite_lib_version()}"

    def check(self) -> None:
        """Connect once, and look for the tables."""
        with self._pool.taken() as connection:
            for table in (self._options.table, f"{self._options.table}_vectors"):
                connection.execute(f"SELECT rowid FROM {table} LIMIT 1").fetchall()  # noqa: S608  # checked

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def _connect(self) -> Any:  # noqa: ANN401  # apsw is an extra
        if not self._options.path.is_file():
            raise ParameterError(f"there is no database {self._options.path}; `rankgauge systems index` makes it")
        return self._opened(readonly=True)

    def _opened(self, *, readonly: bool) -> Any:  # noqa: ANN401  # apsw is an extra
        how = "SQLITE_OPEN_READONLY" if readonly else "SQLITE_OPEN_READWRITE"
        flags = getattr(self._apsw, how) | (0 if readonly else self._apsw.SQLITE_OPEN_CREATE)
        connection = self._apsw.Connection(str(self._options.path), flags=flags)
        connection.enable_load_extension(True)
        connection.load_extension(self._extension)
        connection.enable_load_extension(False)
        return connection
