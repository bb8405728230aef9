"""
Elasticsearch and OpenSearch over HTTP, which understand the same requests for what is asked here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, model_validator

from rankgauge.errors import ParameterError
from rankgauge_systems.engines import Document, Hit, Loaded
from rankgauge_systems.http_system import checked_answer, filled
from rankgauge_systems.options import APPROXIMATES, Embedding, SearchOptions, embedding_of, told

__all__ = ["ElasticEngine", "ElasticsearchOptions", "OpensearchOptions"]

_BATCH = 500
_WINDOW = 10_000  # how many results a search returns at most, unless an index says otherwise


class ElasticsearchOptions(SearchOptions):
    """Options of Elasticsearch."""

    url: str = Field(pattern="^https?://", description="Where the server is, such as http://localhost:9200.")
    index: str = Field("documents", min_length=1, description="The index: title, text, and vector.")
    api_key: SecretStr | None = Field(None, description="An API key, from a variable.")
    user: str | None = Field(None, description="A user, in place of a key.")
    password: SecretStr | None = Field(None, description="The user's password, from a variable.")
    by: Literal["words", "vectors"] = Field("words", description="What is searched.")
    embed: Embedding | None = Field(None, description="What makes vectors of texts, for vectors.")
    fields: Sequence[str] = Field(
        ("title", "text"), min_length=1, description="Fields whose words count, such as title^2."
    )
    query: Mapping[str, Any] | None = Field(
        None, description="The query in place of ours; '{question}' stands for the question."
    )
    candidates: Annotated[int, APPROXIMATES] = Field(
        100, ge=1, description="How many candidates a search of vectors keeps."
    )
    exact: bool = Field(False, description="Whether to compare every vector, and use no index.")
    analyzer: str = Field("english", min_length=1, description="How `systems index` cuts words.")
    timeout: float = Field(10.0, gt=0, description="Seconds for each request.")

    @model_validator(mode="after")
    def _check_embed(self) -> ElasticsearchOptions:
        if (self.embed is None) == (self.by == "vectors"):
            raise ValueError("embed goes with by: vectors")
        has_user = self.user is not None
        if has_user != (self.password is not None) or (has_user and self.api_key is not None):
            raise ValueError("give either api_key, or user and password")
        return self


class OpensearchOptions(ElasticsearchOptions):
    """Options of OpenSearch, which are those of Elasticsearch."""


class ElasticEngine:
    """An index of Elasticsearch or OpenSearch."""

    def __init__(self, options: ElasticsearchOptions) -> None:
        """Connect to nothing yet."""
        import httpx  # noqa: PLC0415  # the plugin loads for every run

        self._options = options
        self._is_opensearch = isinstance(options, OpensearchOptions)
        self._embed = None if options.embed is None else embedding_of(options.embed)
        key, password = told(options.api_key), told(options.password)
        self._client = httpx.Client(
            base_url=options.url,
            timeout=options.timeout,
            headers={} if key is None else {"Authorization": f"ApiKey {key}"},
            auth=None if options.user is None else (options.user, password or ""),
        )

    def search(self, question: str, given: object, most: int, /) -> Sequence[Hit]:
        """Return the best documents, by BM25 or by the cosine of vectors."""
        options = self._options
        most = min(most, max(options.k, _WINDOW))
        body = self._asked(question, given, most) | {"size": most, "_source": list(_SHOWN) if options.texts else False}
        answer = checked_answer(self._client.post(f"/{options.index}/_search", json=body))
        try:
            rows = answer["hits"]["hits"]
            return [self._hit(row) for row in rows]
        except (KeyError, TypeError) as error:
            raise ValueError(f"the answer has no hits as a search engine gives them: {error!r}") from None

    def documents(self, _given: object, /) -> int | None:
        """Return how many documents have a vector."""
        if self._embed is None or self._options.query is not None:
            return None
        body = {"query": {"exists": {"field": "vector"}}}
        count: int | None = checked_answer(self._client.post(f"/{self._options.index}/_count", json=body)).get("count")
        return count

    def index(self, documents: Iterable[Document]) -> Loaded:
        """Write the index anew, in batches."""
        options, rows = self._options, iter(documents)
        if options.index == "_all" or set(options.index) & set("*?,/"):
            raise ParameterError(f"index {options.index!r} may be several indices; name the one that is replaced")
        is_made, count = False, 0
        zeros: list[str] = []
        while batch := list(islice(rows, _BATCH)):
            kept: Sequence[Document] = batch
            vectors: Sequence[Any] = [None] * len(batch)
            if self._embed is not None:
                kept, vectors, without = self._embed.documents(batch)
                zeros += without
            if not is_made:
                self._make(None if self._embed is None else len(vectors[0]))
                is_made = True
            lines = "".join(f"{json.dumps(line)}\n" for line in self._lines(kept, vectors))
            answer = checked_answer(
                self._client.post("/_bulk", content=lines, headers={"Content-Type": "application/x-ndjson"})
            )
            if answer.get("errors"):
                whys = (next(iter(item.values())).get("error") for item in answer.get("items", ()))
                raise ParameterError(f"documents were refused: {next(filter(None, whys), 'no reason was given')}")
            count += len(kept)
        if not is_made:
            raise ParameterError("there is no document to load")
        checked_answer(self._client.post(f"/{options.index}/_refresh"))
        return Loaded(count, tuple(zeros))

    def version(self) -> str:
        """Return that of the server."""
        told = checked_answer(self._client.get("/")).get("version") or {}
        return f"{'OpenSearch' if self._is_opensearch else 'Elasticsearch'} {told.get('number', 'of unknown version')}"

    def drop(self) -> None:
        """Remove the index."""
        checked_answer(self._client.delete(f"/{self._options.index}"))

    def check(self) -> None:
        """Ask for the index once."""
        checked_answer(self._client.get(f"/{self._options.index}"))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _asked(self, question: str, given: object, most: int) -> dict[str, Any]:
        options = self._options
        if options.query is not None:
            fields = given if isinstance(given, Mapping) else {}
            return {"query": filled(options.query, {**fields, "question": question, "k": most})}
        if self._embed is None:
            return {"query": {"multi_match": {"query": question, "fields": list(options.fields)}}}
        vector = self._embed.question(question)
        if options.exact:
            return {"query": {"script_score": self._scored(vector)}}
        if self._is_opensearch:
            near = {"vector": vector, "k": most, "method_parameters": {"ef_search": max(options.candidates, most)}}
            return {"query": {"knn": {"vector": near}}}
        near = {"field": "vector", "query_vector": vector, "k": most}
        return {"knn": near | {"num_candidates": max(options.candidates, most)}}

    def _scored(self, vector: Sequence[float]) -> dict[str, Any]:
        if self._is_opensearch:
            params = {"field": "vector", "query_value": vector, "space_type": "cosinesimil"}
            return {"query": {"match_all": {}}, "script": {"source": "knn_score", "lang": "knn", "params": params}}
        source = "cosineSimilarity(params.vector, 'vector') + 1.0"
        return {"query": {"match_all": {}}, "script": {"source": source, "params": {"vector": vector}}}

    def _make(self, size: int | None) -> None:
        """Make the index, in place of one that is there."""
        options = self._options
        words = {"type": "text", "analyzer": options.analyzer}
        properties: dict[str, Any] = {"title": words, "text": words}
        settings: dict[str, Any] = {}
        if size is not None and self._is_opensearch:
            method = {"name": "hnsw", "space_type": "cosinesimil", "engine": "lucene"}
            properties["vector"] = {"type": "knn_vector", "dimension": size, "method": method}
            settings = {"settings": {"index": {"knn": True}}}
        elif size is not None:
            properties["vector"] = {"type": "dense_vector", "dims": size, "index": True, "similarity": "cosine"}
        gone = self._client.delete(f"/{options.index}")
        if gone.status_code != _NOT_FOUND:
            checked_answer(gone)
        checked_answer(self._client.put(f"/{options.index}", json={"mappings": {"properties": properties}, **settings}))

    def _lines(self, batch: Sequence[Document], vectors: Sequence[Any]) -> Iterator[dict[str, Any]]:
        for row, vector in zip(batch, vectors, strict=True):
            yield {"index": {"_index": self._options.index, "_id": row.id}}
            yield {"title": row.title, "text": row.text} | ({} if vector is None else {"vector": vector})

    def _hit(self, row: Mapping[str, Any]) -> Hit:
        source = row.get("_source") or {}
        document = Document(str(row["_id"]), source.get("title") or "", source.get("text") or "")
        score = row.get("_score")
        return Hit(
            document.id, None if score is None else float(score), document.whole if self._options.texts else None
        )


_NOT_FOUND = 404
_SHOWN = ("title", "text")
