"""
Vector databases that run in this process or behind an address: Qdrant, LanceDB and Chroma.
"""

from __future__ import annotations

import contextlib
import threading
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from typing import Annotated, Any

from pydantic import Field, SecretStr, model_validator

from rankgauge.errors import ParameterError
from rankgauge_systems.engines import Document, Hit, Loaded, required
from rankgauge_systems.options import APPROXIMATES, ConfigPath, VectorOptions, embedding_of, told

__all__ = [
    "ChromaEngine",
    "ChromaOptions",
    "LancedbEngine",
    "LancedbOptions",
    "QdrantEngine",
    "QdrantOptions",
    "VectorEngine",
    "hit_of",
]

_BATCH = 256


class VectorEngine(ABC):
    """What vector databases share: documents in batches with their vectors, and the vector of a question."""

    def __init__(self, embed: str) -> None:
        """Take what makes vectors."""
        self._embed = embedding_of(embed)

    def index(self, documents: Iterable[Document]) -> Loaded:
        """Write the collection anew."""
        rows = list(documents)
        if not rows:
            raise ParameterError("there is no document to load")
        kept, vectors, zeros = self._embed.documents(rows)
        self._begin(len(vectors[0]))
        for begin in range(0, len(kept), _BATCH):
            self._add(kept[begin : begin + _BATCH], vectors[begin : begin + _BATCH])
        self._finish(len(kept))
        return Loaded(len(kept), zeros)

    @abstractmethod
    def _begin(self, size: int, /) -> None:
        """Make an empty collection of vectors of a size in place of what is there."""

    @abstractmethod
    def _add(self, rows: Sequence[Document], vectors: Sequence[Sequence[float]]) -> None:
        """Add documents."""

    def _finish(self, count: int, /) -> None:  # noqa: B027  # nothing, for most
        """Do what is left when all documents are there."""


class QdrantOptions(VectorOptions):
    """Options of Qdrant."""

    url: str | None = Field(None, description="Where the server is, such as http://localhost:6333.")
    path: ConfigPath | None = Field(None, description="A folder, in place of a server; searches there are exact.")
    api_key: SecretStr | None = Field(None, description="The key of the server, from a variable.")
    collection: str = Field("documents", min_length=1, description="The collection: payload id, title, text.")
    ef: Annotated[int | None, APPROXIMATES] = Field(None, ge=1, description="hnsw_ef of each search.")
    m: int = Field(16, ge=0, description="Neighbours of a vector in the index that `systems index` makes.")
    ef_construct: int = Field(100, ge=4, description="How carefully that index is made.")
    filter_by: Mapping[str, str] = Field(
        default_factory=dict, description="Payload that documents must have, by fields of the input: {tenant: tenant}."
    )
    timeout: float = Field(10.0, gt=0, description="Seconds for each request to a server.")

    @model_validator(mode="after")
    def _check_place(self) -> QdrantOptions:
        if (self.url is None) == (self.path is None):
            raise ValueError("give either url or path")
        return self


class QdrantEngine(VectorEngine):
    """A collection of Qdrant."""

    def __init__(self, options: QdrantOptions) -> None:
        """Connect to a server, or open a folder."""
        super().__init__(options.embed)
        self._qdrant = required("qdrant_client", "Qdrant", "qdrant")
        self._options = options
        where: dict[str, Any] = {"path": str(options.path)}
        if options.url is not None:
            where = {"url": options.url, "api_key": told(options.api_key), "timeout": round(options.timeout) or 1}
        self._client = self._qdrant.QdrantClient(**where)
        self._lock = threading.Lock() if options.path is not None else None  # a folder is for one thread at a time

    def search(self, question: str, given: object, most: int, /) -> Sequence[Hit]:
        """Return the nearest documents by cosine."""
        options, models = self._options, self._qdrant.models
        asked: dict[str, Any] = {
            "collection_name": options.collection,
            "query": self._embed.question(question),
            "limit": most,
            "query_filter": self._filter(given),
        }
        if options.url is not None:  # a folder is searched exactly, whatever is asked
            asked["search_params"] = models.SearchParams(hnsw_ef=options.ef, exact=options.exact)
        with self._lock or contextlib.nullcontext():
            points = self._client.query_points(**asked).points
        return [hit_of(point.payload or {}, float(point.score), texts=options.texts) for point in points]

    def documents(self, given: object, /) -> int:
        """Return how many documents the filter leaves."""
        asked = {"count_filter": self._filter(given), "exact": True}
        with self._lock or contextlib.nullcontext():
            return int(self._client.count(self._options.collection, **asked).count)

    def version(self) -> str:
        """Return that of the server, or of what searches a folder."""
        if self._options.url is not None:
            return f"Qdrant {self._client.info().version}"
        return f"qdrant-client {metadata.version('qdrant-client')}, a folder"

    def drop(self) -> None:
        """Remove the collection."""
        self._client.delete_collection(self._options.collection)

    def check(self) -> None:
        """Ask for the collection once."""
        self._client.get_collection(self._options.collection)

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def _begin(self, size: int, /) -> None:
        models, options = self._qdrant.models, self._options
        if self._client.collection_exists(options.collection):
            self._client.delete_collection(options.collection)
        self._client.create_collection(
            options.collection,
            vectors_config=models.VectorParams(size=size, distance=models.Distance.COSINE),
            hnsw_config=models.HnswConfigDiff(m=options.m, ef_construct=options.ef_construct),
        )

    def _filter(self, given: object) -> Any:  # noqa: ANN401  # qdrant-client is an extra
        models, fields = self._qdrant.models, given if isinstance(given, Mapping) else {}
        conditions = [
            models.FieldCondition(key=key, match=models.MatchValue(value=_field(fields, name)))
            for key, name in self._options.filter_by.items()
        ]
        return models.Filter(must=conditions) if conditions else None

    def _add(self, rows: Sequence[Document], vectors: Sequence[Sequence[float]]) -> None:
        points = [
            self._qdrant.models.PointStruct(
                id=str(uuid.uuid5(uuid.NAMESPACE_URL, row.id)),
                vector=list(vector),
                payload={"id": row.id, "title": row.title, "text": row.text},
            )
            for row, vector in zip(rows, vectors, strict=True)
        ]
        self._client.upsert(self._options.collection, points)


def _field(fields: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401  # whatever the input has
    if name not in fields:
        raise ValueError(f"the filter needs the field {name!r} of the sample's input, which has none")
    return fields[name]


class LancedbOptions(VectorOptions):
    """Options of LanceDB."""

    path: ConfigPath = Field(description="The folder of the database, relative to the config.")
    table: str = Field("documents", min_length=1, description="The table: id, title, text, vector.")
    index_kind: str = Field(
        "none", pattern="^(none|ivf_flat|ivf_pq)$", description="The index that `systems index` makes."
    )
    partitions: int = Field(16, ge=1, description="Parts of an ivf index.")
    nprobes: Annotated[int | None, APPROXIMATES] = Field(None, ge=1, description="Parts looked through by a search.")
    refine: Annotated[int | None, APPROXIMATES] = Field(
        None, ge=1, description="How many times k results of an ivf_pq index are compared whole."
    )


class LancedbEngine(VectorEngine):
    """A table of LanceDB."""

    def __init__(self, options: LancedbOptions) -> None:
        """Open the database; the table may be missing yet."""
        super().__init__(options.embed)
        self._options = options
        self._lance = required("lancedb", "LanceDB", "lancedb")
        self._db = self._lance.connect(str(options.path))
        self._table: Any = None
        self._lock = threading.Lock()

    def search(self, question: str, _given: object, most: int, /) -> Sequence[Hit]:
        """Return the nearest documents by cosine."""
        options = self._options
        vector = self._embed.question(question)
        query = self._opened().search(vector, vector_column_name="vector").distance_type("cosine")
        if options.exact:
            query = query.bypass_vector_index()
        if options.nprobes is not None:
            query = query.nprobes(options.nprobes)
        if options.refine is not None:
            query = query.refine_factor(options.refine)
        rows = query.limit(most).to_list()
        return [hit_of(row, 1.0 - float(row["_distance"]), texts=options.texts) for row in rows]

    def documents(self, _given: object, /) -> int:
        """Return how many documents the table has."""
        return int(self._opened().count_rows("vector IS NOT NULL"))

    def version(self) -> str:
        """Return that of the library."""
        kind = "no index" if self._options.index_kind == "none" else self._options.index_kind
        return f"LanceDB {metadata.version('lancedb')}, {kind}"

    def check(self) -> None:
        """Open the table."""
        self._opened()

    def close(self) -> None:
        """Forget the table."""
        self._table = None

    def _opened(self) -> Any:  # noqa: ANN401  # lancedb is an extra
        with self._lock:
            if self._table is None:
                self._table = self._db.open_table(self._options.table)
            return self._table

    def _begin(self, _size: int, /) -> None:
        self._pending: list[dict[str, Any]] = []

    def _add(self, rows: Sequence[Document], vectors: Sequence[Sequence[float]]) -> None:
        self._pending += [
            {"id": row.id, "title": row.title, "text": row.text, "vector": list(vector)}
            for row, vector in zip(rows, vectors, strict=True)
        ]

    def _finish(self, count: int, /) -> None:
        options = self._options
        table = self._db.create_table(options.table, data=self._pending, mode="overwrite")
        if options.index_kind != "none":
            partitions = min(options.partitions, count)
            kinds = {"ivf_flat": self._lance.index.IvfFlat, "ivf_pq": self._lance.index.IvfPq}
            made = kinds[options.index_kind](distance_type="cosine", num_partitions=partitions)
            table.create_index("vector", config=made)
        self._table, self._pending = table, []


class ChromaOptions(VectorOptions):
    """Options of Chroma."""

    path: ConfigPath | None = Field(None, description="The folder of the database, relative to the config.")
    host: str | None = Field(None, description="The host of a server, in place of a folder.")
    port: int = Field(8000, ge=1, le=65535, description="The port of the server.")
    token: SecretStr | None = Field(None, description="What the server is sent as bearer token, from a variable.")
    collection: str = Field("documents", min_length=3, description="The collection.")
    ef: Annotated[int | None, APPROXIMATES] = Field(
        None, ge=1, description="How many candidates a search keeps; set for the collection."
    )
    m: int = Field(16, ge=2, description="Neighbours of a vector in the index that `systems index` makes.")
    ef_construction: int = Field(100, ge=4, description="How carefully that index is made.")

    @model_validator(mode="after")
    def _check_place(self) -> ChromaOptions:
        if (self.host is None) == (self.path is None):
            raise ValueError("give either host or path")
        if self.exact:
            raise ValueError("Chroma cannot search without its index")
        return self


class ChromaEngine(VectorEngine):
    """A collection of Chroma."""

    def __init__(self, options: ChromaOptions) -> None:
        """Open the folder, or connect to the server."""
        super().__init__(options.embed)
        chroma = required("chromadb", "Chroma", "chroma")
        self._options = options
        settings = chroma.config.Settings(anonymized_telemetry=False)
        if options.host is None:
            self._client = chroma.PersistentClient(path=str(options.path), settings=settings)
        else:
            token = told(options.token)
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            self._client = chroma.HttpClient(host=options.host, port=options.port, headers=headers, settings=settings)
        self._collection: Any = None
        self._lock = threading.Lock()

    def search(self, question: str, _given: object, most: int, /) -> Sequence[Hit]:
        """Return the nearest documents by cosine."""
        found = self._opened().query(
            query_embeddings=[self._embed.question(question)],
            n_results=most,
            include=["documents", "metadatas", "distances"],
        )
        rows = zip(found["ids"][0], found["documents"][0], found["metadatas"][0], found["distances"][0], strict=True)
        return [
            hit_of(
                {"id": name, "title": (about or {}).get("title", ""), "text": text},
                1.0 - distance,
                texts=self._options.texts,
            )
            for name, text, about, distance in rows
        ]

    def documents(self, _given: object, /) -> int:
        """Return how many documents the collection has."""
        return int(self._opened().count())

    def version(self) -> str:
        """Return that of the server, or of the library."""
        return f"Chroma {self._client.get_version()}"

    def drop(self) -> None:
        """Remove the collection."""
        self._client.delete_collection(self._options.collection)

    def check(self) -> None:
        """Open the collection."""
        self._opened()

    def close(self) -> None:
        """Forget the collection."""
        self._collection = None

    def _opened(self) -> Any:  # noqa: ANN401  # chromadb is an extra
        with self._lock:
            if self._collection is None:
                collection = self._client.get_collection(self._options.collection, embedding_function=None)
                if self._options.ef is not None:
                    collection.modify(configuration={"hnsw": {"ef_search": self._options.ef}})
                self._collection = collection
            return self._collection

    def _begin(self, _size: int, /) -> None:
        options = self._options
        if options.collection in {each.name for each in self._client.list_collections()}:
            self._client.delete_collection(options.collection)
        hnsw = {"space": "cosine", "max_neighbors": options.m, "ef_construction": options.ef_construction}
        self._collection = self._client.create_collection(
            options.collection, configuration={"hnsw": hnsw}, embedding_function=None
        )

    def _add(self, rows: Sequence[Document], vectors: Sequence[Sequence[float]]) -> None:
        self._collection.add(
            ids=[row.id for row in rows],
            embeddings=[list(vector) for vector in vectors],
            documents=[row.text for row in rows],
            metadatas=[{"title": row.title} for row in rows],
        )

    def _finish(self, _count: int, /) -> None:
        self._collection = None


def hit_of(row: Mapping[str, Any], score: float, *, texts: bool) -> Hit:
    """Return what was found, by a row with `id`, `title` and `text`."""
    document = Document(str(row["id"]), row.get("title") or "", row.get("text") or "")
    return Hit(document.id, score, document.whole if texts else None)
