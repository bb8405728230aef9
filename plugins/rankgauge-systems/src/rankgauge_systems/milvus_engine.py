"""
Milvus: vectors in a file of milvus-lite, or in a server.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, model_validator

from rankgauge_systems.engines import Document, Hit, required
from rankgauge_systems.options import APPROXIMATES, ConfigPath, VectorOptions, told
from rankgauge_systems.vector_engines import VectorEngine, hit_of

__all__ = ["MilvusEngine", "MilvusOptions"]

_MOST = 16_384
"""How many results Milvus returns at most."""
_TEXT = 65_535
"""How many bytes a text has at most."""


class MilvusOptions(VectorOptions):
    """Options of Milvus."""

    k: int = Field(10, ge=1, lt=_MOST, description="How many documents a search returns.")
    path: ConfigPath | None = Field(None, description="The file of milvus-lite, relative to the config.")
    url: str | None = Field(None, description="Where the server is, in place of a file.")
    token: SecretStr | None = Field(None, description="The token of the server, from a variable.")
    collection: str = Field("documents", pattern="^[A-Za-z_][A-Za-z0-9_]*$", description="The collection.")
    index_kind: Literal["flat", "hnsw", "ivf_flat"] = Field("flat", description="The index that `systems index` makes.")
    m: int = Field(16, ge=2, description="Neighbours of a vector in an hnsw index.")
    ef_construction: int = Field(100, ge=4, description="How carefully an hnsw index is made.")
    ef: Annotated[int, APPROXIMATES] = Field(
        64, ge=1, description="How many candidates a search of an hnsw index keeps; k where that is more."
    )
    lists: int = Field(16, ge=1, description="Parts of an ivf_flat index.")
    nprobe: Annotated[int, APPROXIMATES] = Field(8, ge=1, description="Parts of an ivf_flat index looked through.")
    timeout: float = Field(10.0, gt=0, description="Seconds for each request.")

    @model_validator(mode="after")
    def _check_place(self) -> MilvusOptions:
        if (self.url is None) == (self.path is None):
            raise ValueError("give either url or path")
        if self.path is not None and self.path.suffix != ".db":
            raise ValueError(f"milvus-lite wants a path that ends in .db, not {self.path.name}")
        if self.exact and self.index_kind != "flat":
            raise ValueError(
                f"Milvus cannot search without its index; exact goes with index_kind: flat, not {self.index_kind}"
            )
        return self


_FILES: Counter[Path] = Counter()
"""How many engines have a file of milvus-lite open."""


def _let_go(path: Path) -> None:
    """Stop what serves a file that no engine has open any more; a closed client leaves it running and locked."""
    _FILES[path.absolute()] -= 1
    if not _FILES[path.absolute()]:
        served = required("milvus_lite.server_manager", "Milvus", "milvus").server_manager_instance
        served.release_server(str(path))


class MilvusEngine(VectorEngine):
    """A collection of Milvus."""

    def __init__(self, options: MilvusOptions) -> None:
        """Open nothing yet."""
        super().__init__(options.embed)
        self._milvus = required("pymilvus", "Milvus", "milvus")
        self._options = options
        self._client: Any = None
        self._is_loaded = False
        self._lock = threading.Lock()
        self._searching = threading.Lock()

    def search(self, question: str, _given: object, most: int, /) -> Sequence[Hit]:
        """Return the nearest documents by cosine."""
        options = self._options
        how = {"hnsw": {"ef": max(options.ef, most)}, "ivf_flat": {"nprobe": options.nprobe}}
        asked = {"metric_type": "COSINE", "params": how.get(options.index_kind, {})}
        vector, client = self._embed.question(question), self._opened()
        with self._searching:
            (rows,) = client.search(
                options.collection,
                data=[vector],
                anns_field="vector",
                limit=most,
                search_params=asked,
                output_fields=["id", "title", "text"],
                timeout=options.timeout,
            )
        return [hit_of(row["entity"], float(row["distance"]), texts=options.texts) for row in rows]

    def documents(self, _given: object, /) -> int:
        """Return how many documents the collection has."""
        with self._searching:
            return int(self._opened().get_collection_stats(self._options.collection)["row_count"])

    def version(self) -> str:
        """Return that of the server, or of what searches a file."""
        kind = self._options.index_kind
        if self._options.url is not None:
            return f"Milvus {self._connected().get_server_version()}, {kind}"
        return f"milvus-lite {metadata.version('milvus-lite')}, {kind}"

    def drop(self) -> None:
        """Remove the collection."""
        self._connected().drop_collection(self._options.collection)

    def check(self) -> None:
        """Load the collection."""
        self._opened()

    def close(self) -> None:
        """Close the client."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                if self._options.path is not None:
                    _let_go(self._options.path)
            self._client, self._is_loaded = None, False

    def _connected(self) -> Any:  # noqa: ANN401  # pymilvus is an extra
        options = self._options
        with self._lock:
            if self._client is None:
                if options.path is not None:
                    options.path.parent.mkdir(parents=True, exist_ok=True)
                    _FILES[options.path.absolute()] += 1
                where = str(options.path) if options.url is None else options.url
                self._client = self._milvus.MilvusClient(
                    where, token=told(options.token) or "", timeout=options.timeout
                )
            return self._client

    def _opened(self) -> Any:  # noqa: ANN401  # pymilvus is an extra
        client = self._connected()
        with self._lock:
            if not self._is_loaded:
                client.load_collection(self._options.collection)
                self._is_loaded = True
            return client

    def _begin(self, size: int, /) -> None:
        client, options, kinds = self._connected(), self._options, self._milvus.DataType
        if client.has_collection(options.collection):
            client.drop_collection(options.collection)
        schema = client.create_schema(auto_id=False)
        schema.add_field("id", kinds.VARCHAR, is_primary=True, max_length=_TEXT)
        for name in ("title", "text"):
            schema.add_field(name, kinds.VARCHAR, max_length=_TEXT)
        schema.add_field("vector", kinds.FLOAT_VECTOR, dim=size)
        client.create_collection(options.collection, schema=schema)

    def _add(self, rows: Sequence[Document], vectors: Sequence[Sequence[float]]) -> None:
        self._client.insert(
            self._options.collection,
            [
                {"id": row.id, "title": row.title, "text": row.text, "vector": list(vector)}
                for row, vector in zip(rows, vectors, strict=True)
            ],
        )

    def _finish(self, count: int, /) -> None:
        client, options = self._client, self._options
        client.flush(options.collection)
        made: dict[str, dict[str, Any]] = {
            "hnsw": {"M": options.m, "efConstruction": options.ef_construction},
            "ivf_flat": {"nlist": min(options.lists, count)},
        }
        params = made.get(options.index_kind, {})
        if options.path is not None:  # milvus-lite 3.2.2 looks for them where pymilvus 3.0.2 does not put them
            params = {**params, "params": params}
        index = client.prepare_index_params()
        index.add_index("vector", index_type=options.index_kind.upper(), metric_type="COSINE", params=params)
        client.create_index(options.collection, index)
        if self._is_loaded:
            client.release_collection(options.collection)  # an index takes effect once it is loaded
        self._is_loaded = False
