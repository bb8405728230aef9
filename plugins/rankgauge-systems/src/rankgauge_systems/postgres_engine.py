"""
PostgreSQL: its full text search, and vectors by the extension pgvector.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, model_validator

from rankgauge_systems.engines import Document, Hit, Loaded, Pool, required
from rankgauge_systems.options import APPROXIMATES, Embedding, SearchOptions, embedding_of, told

__all__ = ["PostgresEngine", "PostgresOptions"]

_DEFAULT_EF, _MOST_EF = 40, 1000  # of pgvector
_NAME = "^[A-Za-z_][A-Za-z0-9_]*$"


class PostgresOptions(SearchOptions):
    """Options of PostgreSQL."""

    url: str = Field(description="Where it is: postgresql://user@host/database.")
    password: SecretStr | None = Field(None, description="The password, from a variable; or leave it to ~/.pgpass.")
    table: str = Field("documents", pattern=_NAME, description="The table: id, title, text, and vector.")
    by: Literal["words", "vectors"] = Field("words", description="What is searched; vectors need pgvector.")
    embed: Embedding | None = Field(None, description="What makes vectors of texts, for vectors.")
    language: str = Field("english", pattern="^[a-z_]+$", description="The text search configuration, for words.")
    operator: Literal["and", "or"] = Field("or", description="Whether a document needs all words, or one.")
    index_kind: Literal["hnsw", "ivfflat", "none"] = Field(
        "hnsw", description="What `systems index` makes for vectors."
    )
    m: int = Field(16, ge=2, le=100, description="Neighbours of a vector in an hnsw index.")
    ef_construction: int = Field(64, ge=4, le=1000, description="How carefully an hnsw index is made.")
    ef: Annotated[int | None, APPROXIMATES] = Field(
        None, ge=1, le=1000, description="hnsw.ef_search of each search; raised to k + 1."
    )
    probes: Annotated[int | None, APPROXIMATES] = Field(None, ge=1, description="ivfflat.probes of each search.")
    exact: bool = Field(False, description="Whether to compare every vector, and use no index.")
    settings: Mapping[str, str] = Field(
        default_factory=dict,
        description="Settings of each transaction, such as `app.tenant: '{tenant}'`; braces name a field of the input.",
    )

    @model_validator(mode="after")
    def _check_embed(self) -> PostgresOptions:
        if (self.embed is None) == (self.by == "vectors"):
            raise ValueError("embed goes with by: vectors")
        if self.embed is not None and self.index_kind == "hnsw" and not self.exact and self.k > _MOST_EF:
            raise ValueError(f"an hnsw index finds {_MOST_EF:,} documents at most; lower k, or say exact: true")
        return self


class PostgresEngine:
    """A table of PostgreSQL."""

    def __init__(self, options: PostgresOptions) -> None:
        """Connect to nothing yet."""
        self._psycopg = required("psycopg", "PostgreSQL", "postgres")
        self._vectors = required("pgvector.psycopg", "PostgreSQL", "postgres") if options.embed else None
        self._options = options
        self._embed = None if options.embed is None else embedding_of(options.embed)
        self._pool: Pool[Any] = Pool(self._connect, lambda connection: connection.close())

    def search(self, question: str, given: object, most: int, /) -> Sequence[Hit]:
        """Return the best documents, by `ts_rank_cd` of words or by the cosine of vectors."""
        with self._asking(given, most) as cursor:
            if self._embed is None:
                cursor.execute(*self._by_words(question, most))
            else:
                vector = self._vector(self._embed.question(question))
                sql = "SELECT id, title, text, 1 - (vector <=> %s) FROM {} ORDER BY vector <=> %s LIMIT %s"
                cursor.execute(self._psycopg.sql.SQL(sql).format(self._identifier()), (vector, vector, most))
            rows = cursor.fetchall()
        return [
            Hit(name, float(score), Document(name, title or "", text).whole if self._options.texts else None)
            for name, title, text, score in rows
            if score is not None and not math.isnan(score)  # of no vector, or of zeros; these come last
        ]

    def documents(self, given: object, /) -> int | None:
        """Return how many documents have a vector that is not all zeros, among those that the settings show."""
        if self._embed is None:
            return None
        with self._asking(given, 1) as cursor:
            sql = "SELECT count(*) FROM {} WHERE vector_norm(vector) > 0"
            cursor.execute(self._psycopg.sql.SQL(sql).format(self._identifier()))
            return int(cursor.fetchone()[0])

    @contextlib.contextmanager
    def _asking(self, given: object, most: int) -> Iterator[Any]:  # psycopg is an extra
        """Lend a cursor in a transaction with the settings of the options."""
        with self._pool.taken() as connection, connection.transaction(), connection.cursor() as cursor:
            for name, value in self._settings(given, most).items():
                cursor.execute("SELECT set_config(%s, %s, true)", (name, value))
            yield cursor

    def index(self, documents: Iterable[Document]) -> Loaded:
        """Write the table anew, with an index."""
        options, sql = self._options, self._psycopg.sql
        rows: Sequence[Document] = list(documents)
        zeros: tuple[str, ...] = ()
        table = self._identifier()
        with self._connect(is_new=True) as connection, connection.cursor() as cursor:
            cursor.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(table))
            vectors: Sequence[Any] = [None] * len(rows)
            kind = sql.SQL("tsvector")
            if self._embed is not None:
                rows, made, zeros = self._embed.documents(rows)
                vectors = [self._vector(vector) for vector in made]
                size = len(vectors[0].to_list()) if vectors else 1
                kind = sql.SQL("vector({})").format(sql.Literal(size))
            columns = sql.SQL("CREATE TABLE {} (id text PRIMARY KEY, title text, text text, vector {})")
            cursor.execute(columns.format(table, kind))
            with cursor.copy(sql.SQL("COPY {} (id, title, text, vector) FROM STDIN").format(table)) as copy:
                for row, vector in zip(rows, vectors, strict=True):
                    copy.write_row((row.id, row.title, row.text, None if vector is None else vector.to_text()))
            if self._embed is None:
                words = "UPDATE {} SET vector = to_tsvector(%s, coalesce(title, '') || ' ' || text)"
                cursor.execute(sql.SQL(words).format(table), (options.language,))
                cursor.execute(sql.SQL("CREATE INDEX ON {} USING gin (vector)").format(table))
            elif options.index_kind != "none":
                cursor.execute(self._index(table))
            connection.commit()
            cursor.execute(sql.SQL("ANALYZE {}").format(table))
            connection.commit()
        return Loaded(len(rows), zeros)

    def version(self) -> str:
        """Return that of the server, and of what searches."""
        with self._pool.taken() as connection, connection.transaction():
            (server,) = connection.execute("SHOW server_version").fetchone()
            if self._embed is None:
                return f"PostgreSQL {server}, {self._options.language}"
            (found,) = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
        return f"PostgreSQL {server}, pgvector {found}, {'exact' if self._options.exact else self._options.index_kind}"

    def drop(self) -> None:
        """Remove the table."""
        with self._pool.taken() as connection, connection.transaction():
            connection.execute(self._psycopg.sql.SQL("DROP TABLE IF EXISTS {}").format(self._identifier()))

    def check(self) -> None:
        """Connect once, and look for the table."""
        with self._pool.taken() as connection:
            connection.execute(
                self._psycopg.sql.SQL("SELECT id, title, text, vector FROM {} LIMIT 1").format(self._identifier())
            )
            connection.rollback()

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def _by_words(self, question: str, most: int) -> tuple[Any, Sequence[Any]]:
        options, sql = self._options, self._psycopg.sql
        query = sql.SQL("plainto_tsquery(%s, %s)")
        if options.operator == "or":
            query = sql.SQL("replace({}::text, ' & ', ' | ')::tsquery").format(query)
        found = sql.SQL(
            "SELECT id, title, text, ts_rank_cd(vector, query) AS score FROM {}, (SELECT {} AS query) AS asked "
            "WHERE vector @@ query ORDER BY score DESC, id LIMIT %s"
        )
        return found.format(self._identifier(), query), (options.language, question, most)

    def _settings(self, given: object, most: int) -> dict[str, str]:
        """Return the settings of a transaction, with fields of the input in place of braces."""
        options = self._options
        fields = given if isinstance(given, Mapping) else {}
        settings = {name: _filled(text, fields) for name, text in options.settings.items()}
        if self._embed is not None:  # an hnsw index finds no more than it keeps as candidates
            settings["hnsw.ef_search"] = str(min(_MOST_EF, max(options.ef or _DEFAULT_EF, most)))
        if options.probes is not None:
            settings["ivfflat.probes"] = str(options.probes)
        if options.exact:
            settings |= {"enable_indexscan": "off", "enable_bitmapscan": "off"}
        return settings

    def _index(self, table: Any) -> Any:  # noqa: ANN401  # psycopg is an extra
        options, sql = self._options, self._psycopg.sql
        if options.index_kind == "ivfflat":
            return sql.SQL("CREATE INDEX ON {} USING ivfflat (vector vector_cosine_ops)").format(table)
        made = "CREATE INDEX ON {} USING hnsw (vector vector_cosine_ops) WITH (m = {}, ef_construction = {})"
        return sql.SQL(made).format(table, sql.Literal(options.m), sql.Literal(options.ef_construction))

    def _identifier(self) -> Any:  # noqa: ANN401  # psycopg is an extra
        return self._psycopg.sql.Identifier(self._options.table)

    def _vector(self, values: Sequence[float]) -> Any:  # noqa: ANN401  # pgvector is an extra
        return required("pgvector", "PostgreSQL", "postgres").Vector(values)

    def _connect(self, *, is_new: bool = False) -> Any:  # noqa: ANN401  # psycopg is an extra
        password = told(self._options.password)
        connection = self._psycopg.connect(self._options.url, **({} if password is None else {"password": password}))
        if self._vectors is not None:
            if is_new:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
                connection.commit()
            self._vectors.register_vector(connection)
            connection.commit()
        return connection


def _filled(text: str, fields: Mapping[str, Any]) -> str:
    try:
        return text.format_map({name: value for name, value in fields.items() if isinstance(value, str | int)})
    except KeyError as error:
        raise ValueError(f"a setting needs the field {error} of the sample's input, which has none") from None
