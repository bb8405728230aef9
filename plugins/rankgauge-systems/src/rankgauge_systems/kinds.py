"""
The kinds of systems: the options of each, and what makes it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from rankgauge_systems.command_system import CommandOptions
from rankgauge_systems.duckdb_engine import DuckdbOptions
from rankgauge_systems.elastic_engine import ElasticsearchOptions, OpensearchOptions
from rankgauge_systems.engines import Searching
from rankgauge_systems.http_system import HttpOptions
from rankgauge_systems.options import SystemOptions
from rankgauge_systems.pipeline_system import PipelineOptions
from rankgauge_systems.postgres_engine import PostgresOptions
from rankgauge_systems.sqlite_engine import SqliteOptions
from rankgauge_systems.tantivy_engine import TantivyOptions
from rankgauge_systems.vector_engines import ChromaOptions, LancedbOptions, QdrantOptions

__all__ = ["KINDS", "Kind", "made"]


class Kind(NamedTuple):
    """A kind of system: its options, the class that it is, and what that is for people."""

    options: type[SystemOptions]
    place: str  # module:class in this package
    is_engine: bool
    about: str


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "http": Kind(HttpOptions, "http_system:HttpSystem", False, "A search service over HTTP."),
        "command": Kind(CommandOptions, "command_system:CommandSystem", False, "A program: JSON lines in and out."),
        "pipeline": Kind(PipelineOptions, "pipeline_system:PipelineSystem", False, "Searches, fused and reranked."),
        "sqlite": Kind(SqliteOptions, "sqlite_engine:SqliteEngine", True, "SQLite's full text search (FTS5)."),
        "duckdb": Kind(DuckdbOptions, "duckdb_engine:DuckdbEngine", True, "DuckDB, by words or vectors."),
        "postgres": Kind(PostgresOptions, "postgres_engine:PostgresEngine", True, "PostgreSQL, by words or pgvector."),
        "qdrant": Kind(QdrantOptions, "vector_engines:QdrantEngine", True, "Qdrant, a server or a folder."),
        "lancedb": Kind(LancedbOptions, "vector_engines:LancedbEngine", True, "LanceDB, vectors in a folder."),
        "chroma": Kind(ChromaOptions, "vector_engines:ChromaEngine", True, "Chroma, a server or a folder."),
        "tantivy": Kind(TantivyOptions, "tantivy_engine:TantivyEngine", True, "Tantivy, BM25 over a folder."),
        "elasticsearch": Kind(ElasticsearchOptions, "elastic_engine:ElasticEngine", True, "Elasticsearch."),
        "opensearch": Kind(OpensearchOptions, "elastic_engine:ElasticEngine", True, "OpenSearch."),
    }
)


def made(kind: str, options: Any) -> Callable[[Any], Any]:  # noqa: ANN401  # the options of the kind
    """Return a system of a kind."""
    module, _, name = KINDS[kind].place.partition(":")
    make = getattr(importlib.import_module(f"rankgauge_systems.{module}"), name)
    if kind == "pipeline":
        return make(options, made)  # type: ignore[no-any-return]  # a class that was imported by name
    return Searching(make(options)) if KINDS[kind].is_engine else make(options)
