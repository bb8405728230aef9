"""
The kinds of systems: the options of each, and what makes it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rankgauge_systems.options import SystemOptions

__all__ = ["KINDS", "Kind", "made"]


class Kind(NamedTuple):
    """A kind of system: where in this package its options and its class are, and what it is for people."""

    module: str
    model: str  # the class of its options
    system: str  # its own class
    is_engine: bool
    about: str

    @property
    def options(self) -> type[SystemOptions]:
        """Return its options, which are imported only now."""
        return self._own(self.model)  # type: ignore[no-any-return]  # a class that is imported by name

    def make(self, *given: Any) -> Any:  # noqa: ANN401  # the options of the kind
        """Return a system."""
        return self._own(self.system)(*given)

    def _own(self, name: str) -> Any:  # noqa: ANN401  # a class
        return getattr(importlib.import_module(f"rankgauge_systems.{self.module}"), name)


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "http": Kind("http_system", "HttpOptions", "HttpSystem", False, "A search service over HTTP."),
        "command": Kind(
            "command_system", "CommandOptions", "CommandSystem", False, "A program: JSON lines in and out."
        ),
        "pipeline": Kind(
            "pipeline_system", "PipelineOptions", "PipelineSystem", False, "Searches, fused and reranked."
        ),
        "sqlite": Kind("sqlite_engine", "SqliteOptions", "SqliteEngine", True, "SQLite's full text search (FTS5)."),
        "duckdb": Kind("duckdb_engine", "DuckdbOptions", "DuckdbEngine", True, "DuckDB, by words or vectors."),
        "postgres": Kind(
            "postgres_engine", "PostgresOptions", "PostgresEngine", True, "PostgreSQL, by words or pgvector."
        ),
        "qdrant": Kind("vector_engines", "QdrantOptions", "QdrantEngine", True, "Qdrant, a server or a folder."),
        "lancedb": Kind("vector_engines", "LancedbOptions", "LancedbEngine", True, "LanceDB, vectors in a folder."),
        "chroma": Kind("vector_engines", "ChromaOptions", "ChromaEngine", True, "Chroma, a server or a folder."),
        "milvus": Kind("milvus_engine", "MilvusOptions", "MilvusEngine", True, "Milvus, a server or milvus-lite."),
        "faiss": Kind("folder_indexes", "FaissOptions", "FaissEngine", True, "faiss, vectors in a folder."),
        "usearch": Kind("folder_indexes", "UsearchOptions", "UsearchEngine", True, "usearch, vectors in a folder."),
        "sqlite-vec": Kind(
            "sqlite_vec_engine", "SqliteVecOptions", "SqliteVecEngine", True, "sqlite-vec, vectors in a file."
        ),
        "bm25s": Kind("folder_indexes", "Bm25sOptions", "Bm25sEngine", True, "bm25s, five kinds of BM25 in a folder."),
        "tantivy": Kind("tantivy_engine", "TantivyOptions", "TantivyEngine", True, "Tantivy, BM25 over a folder."),
        "elasticsearch": Kind("elastic_engine", "ElasticsearchOptions", "ElasticEngine", True, "Elasticsearch."),
        "opensearch": Kind("elastic_engine", "OpensearchOptions", "ElasticEngine", True, "OpenSearch."),
    }
)


def made(kind: str, options: Any) -> Callable[[Any], Any]:  # noqa: ANN401  # the options of the kind
    """Return a system of a kind."""
    found = KINDS[kind]
    if kind == "pipeline":
        return found.make(options, made)  # type: ignore[no-any-return]  # see `Kind.make`
    if not found.is_engine:
        return found.make(options)  # type: ignore[no-any-return]  # see `Kind.make`
    from rankgauge_systems.engines import Searching  # noqa: PLC0415  # what is slow is imported where it is used

    return Searching(found.make(options), options.k)
