"""
DuckDB: full text search by its extension `fts`, and vectors compared one by one.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from rankgauge.errors import ParameterError
from rankgauge_systems.engines import Document, Hit, Loaded, Pool, made_whole, required
from rankgauge_systems.options import ConfigPath, Embedding, SearchOptions, embedding_of

__all__ = ["DuckdbEngine", "DuckdbOptions"]


class DuckdbOptions(SearchOptions):
    """Options of DuckDB."""

    path: ConfigPath = Field(description="The database file, relative to the config.")
    table: str = Field("documents", pattern="^[A-Za-z_][A-Za-z0-9_]*$", description="The table: id, title, text.")
    by: Literal["words", "vectors"] = Field("words", description="What is searched; words need the extension fts.")
    embed: Embedding | None = Field(None, description="What makes vectors of texts, for vectors.")
    stemmer: str = Field("porter", pattern="^[a-z]+$", description="How `systems index` cuts the ends of words.")

    ignore: str | None = Field(
        None,
        description="A regular expression of what is no part of a word, for `systems index`; the extension's own drops "
        r"digits, and `[^\p{L}\p{M}\p{N}]+` keeps them.",
    )

    @model_validator(mode="after")
    def _check_embed(self) -> DuckdbOptions:
        if (self.embed is None) == (self.by == "vectors"):
            raise ValueError("embed goes with by: vectors")
        return self


class DuckdbEngine:
    """A table of DuckDB."""

    def __init__(self, options: DuckdbOptions) -> None:
        """Open nothing yet."""
        self._duckdb = required("duckdb", "DuckDB", "duckdb")
        self._options = options
        self._embed = None if options.embed is None else embedding_of(options.embed)
        self._pool: Pool[Any] = Pool(self._connect, lambda connection: connection.close())

    def search(self, question: str, _given: object, most: int, /) -> Sequence[Hit]:
        """Return the best documents, by BM25 or by the cosine of vectors."""
        options = self._options
        if self._embed is None:
            score = f"fts_main_{options.table}.match_bm25(id, $question)"
            values: dict[str, Any] = {"question": question}
        else:
            # Of a vector of zeros it is NaN, which would come first; such a vector has no neighbours.
            score = "nullif(list_cosine_similarity(vector, $vector::FLOAT[]), 'nan'::FLOAT)"
            values = {"vector": self._embed.question(question)}
        sql = (
            f"SELECT id, title, text, {score} AS score FROM {options.table} WHERE score IS NOT NULL "  # noqa: S608  # checked
            "ORDER BY score DESC, id LIMIT $k"
        )
        with self._pool.taken() as connection:
            rows = connection.cursor().execute(sql, {**values, "k": most}).fetchall()
        return [
            Hit(name, score, Document(name, title, text).whole if options.texts else None)
            for name, title, text, score in rows
        ]

    def documents(self, _given: object, /) -> None:
        """Return None: a search of vectors compares every one, and what has none of the words is not found."""

    def index(self, documents: Iterable[Document]) -> Loaded:
        """Write the table anew, with vectors or with an index of words, or leave it as it is if that fails."""
        options = self._options
        rows: Sequence[Document] = list(documents)
        self.close()
        vectors: Sequence[Any] = [None] * len(rows)
        zeros: tuple[str, ...] = ()
        if self._embed is not None:
            rows, vectors, zeros = self._embed.documents(rows)
        options.path.parent.mkdir(parents=True, exist_ok=True)
        with made_whole(options.path), contextlib.closing(self._duckdb.connect(str(options.path))) as connection:
            if self._embed is None:
                self._load_words(connection)
            connection.begin()
            connection.execute(
                f"CREATE OR REPLACE TABLE {options.table} (id VARCHAR, title VARCHAR, text VARCHAR, vector FLOAT[])"
            )
            connection.executemany(
                f"INSERT INTO {options.table} VALUES (?, ?, ?, ?)",  # noqa: S608  # checked
                [(row.id, row.title, row.text, vector) for row, vector in zip(rows, vectors, strict=True)],
            )
            connection.commit()
            if self._embed is None:
                indexed = f"'{options.table}', 'id', 'title', 'text', stemmer='{options.stemmer}', overwrite=1"
                if options.ignore is not None:
                    ignored = options.ignore.replace("'", "''")
                    indexed += f", ignore='{ignored}'"
                connection.execute(f"PRAGMA create_fts_index({indexed})")
        return Loaded(len(rows), zeros)

    def version(self) -> str:
        """Return that of the library."""
        return f"DuckDB {self._duckdb.__version__}" + ("" if self._embed else f", {self._options.stemmer}")

    def check(self) -> None:
        """Connect once, and look for the table."""
        with self._pool.taken() as connection:
            connection.execute(f"SELECT id, title, text FROM {self._options.table} LIMIT 1")  # noqa: S608  # checked

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def _connect(self) -> Any:  # noqa: ANN401  # duckdb is an extra
        path = self._options.path
        if not path.is_file():
            raise ParameterError(f"there is no database {path}; `rankgauge systems index` makes it")
        connection = self._duckdb.connect(str(path), read_only=True)
        if self._embed is None:
            self._load_words(connection)
        return connection

    def _load_words(self, connection: Any) -> None:  # noqa: ANN401  # duckdb is an extra
        """Load the extension: that of the package duckdb-extension-fts for this version, or an installed one."""
        packaged = _packaged(self._duckdb.__version__)
        try:
            connection.execute("LOAD fts" if packaged is None else f"LOAD '{packaged}'")
        except self._duckdb.Error as error:
            why = str(error).partition("\n")[0]
            raise ParameterError(
                "DuckDB searches words by its extension fts, which is not installed for "
                f"DuckDB {self._duckdb.__version__} ({why}); pip install 'rankgauge-systems[duckdb-words]' installs it "
                "together with the newest DuckDB that has it as a package, and INSTALL fts loads it from the network"
            ) from None


def _packaged(version: str) -> Path | None:
    """Return where the package duckdb-extension-fts has the extension for a version; None if it has none."""
    found = importlib.util.find_spec("duckdb_extension_fts")
    folders = [] if found is None else list(found.submodule_search_locations or ())
    paths = (Path(folder) / "extensions" / f"v{version}" / "fts.duckdb_extension" for folder in folders)
    return next(filter(Path.is_file, paths), None)
