"""
SQLite's full text search (FTS5): BM25 without any server, in a file.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Sequence

from pydantic import Field

from rankgauge.errors import ParameterError
from rankgauge_systems.engines import Document, Hit, Loaded, Pool, made_whole, words_of
from rankgauge_systems.options import ConfigPath, SearchOptions

__all__ = ["SqliteEngine", "SqliteOptions"]

_TABLE = "[A-Za-z_][A-Za-z0-9_]*"


class SqliteOptions(SearchOptions):
    """Options of SQLite."""

    path: ConfigPath = Field(description="The database file, relative to the config.")
    table: str = Field("documents", pattern=f"^{_TABLE}$", description="The FTS5 table: id, title, text.")
    tokenize: str = Field(
        "porter unicode61",
        description="How `systems index` cuts words; see FTS5. `unicode61 categories 'L* N* Co M*'` keeps vowel signs.",
    )
    title_weight: float = Field(1.0, ge=0, description="How much a word in the title counts, against 1 in the text.")
    operator: str = Field("or", pattern="^(and|or)$", description="Whether a document needs all words, or one.")


class SqliteEngine:
    """A table of FTS5."""

    def __init__(self, options: SqliteOptions) -> None:
        """Open nothing yet."""
        self._options = options
        self._pool: Pool[sqlite3.Connection] = Pool(self._connect, sqlite3.Connection.close)

    def search(self, question: str, _given: object, most: int, /) -> Sequence[Hit]:
        """Return the best documents by BM25; a question without a word finds nothing."""
        options = self._options
        words = words_of(question)
        if not words:
            return []
        wanted = f" {options.operator.upper()} ".join(f'"{word}"' for word in words)
        sql = (
            f"SELECT id, title, text, bm25({options.table}, 0, ?, 1) AS cost FROM {options.table} "  # noqa: S608  # checked
            f"WHERE {options.table} MATCH ? ORDER BY cost, rowid LIMIT ?"
        )
        with self._pool.taken() as connection:
            rows = connection.execute(sql, (options.title_weight, wanted, most)).fetchall()
        return [
            Hit(name, -cost, Document(name, title, text).whole if options.texts else None)
            for name, title, text, cost in rows
        ]

    def documents(self, _given: object, /) -> None:
        """Return None: what has none of the words is not found."""

    def index(self, documents: Iterable[Document]) -> Loaded:
        """Write the table anew, or leave it as it is if that fails."""
        options = self._options
        self.close()
        options.path.parent.mkdir(parents=True, exist_ok=True)
        tokenize = options.tokenize.replace("'", "''")
        with made_whole(options.path), contextlib.closing(sqlite3.connect(options.path)) as connection, connection:
            connection.execute("BEGIN IMMEDIATE")  # else the old table is gone before the new one is there
            connection.execute(f"DROP TABLE IF EXISTS {options.table}")
            connection.execute(
                f"CREATE VIRTUAL TABLE {options.table} USING fts5(id UNINDEXED, title, text, tokenize='{tokenize}')"
            )
            rows = ((document.id, document.title, document.text) for document in documents)
            insert = f"INSERT INTO {options.table} (id, title, text) VALUES (?, ?, ?)"  # noqa: S608  # checked
            return Loaded(connection.executemany(insert, rows).rowcount)

    def version(self) -> str:
        """Return that of the library, and how words are cut."""
        return f"SQLite {sqlite3.sqlite_version}, {self._options.tokenize}"

    def check(self) -> None:
        """Connect once, and look for the table."""
        with self._pool.taken() as connection:
            connection.execute(f"SELECT id, title, text FROM {self._options.table} LIMIT 1")  # noqa: S608  # checked

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def _connect(self) -> sqlite3.Connection:
        path = self._options.path
        if not path.is_file():
            raise ParameterError(f"there is no database {path}; `rankgauge systems index` makes it")
        return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
