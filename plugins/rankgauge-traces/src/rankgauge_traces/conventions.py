"""
Conventions: which spans retrieve or rerank, and what each says of its query and its documents.

Five are read: OpenInference, the GenAI conventions of OpenTelemetry, MLflow, Langfuse and OpenLLMetry.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from rankgauge_traces.documents import Item, items_of, listed_items
from rankgauge_traces.spans import Span, decoded, nested

__all__ = ["Retrieval", "answer_of", "question_of", "retrieval_of"]


class Retrieval(NamedTuple):
    """What a span says of a search or of a reranking."""

    kind: Literal["retriever", "reranker"]
    query: str  # empty if it is not given
    documents: list[Item] | None  # in the order of their ranks; None if the span does not tell
    inputs: list[Item] | None = None  # what a reranker was given


_QUERIES = ("query", "question", "query_str", "user_input", "input", "text", "prompt")
_INPUTS = (
    *("gen_ai.retrieval.query.text", "reranker.query", "input.value", "mlflow.spanInputs"),
    *("langfuse.observation.input", "langfuse.trace.input", "traceloop.entity.input"),
)
_OUTPUTS = ("output.value", "mlflow.spanOutputs", "langfuse.observation.output", "traceloop.entity.output")
_RESULTS: Mapping[str, str] = {"retriever": "retrieval.documents", "reranker": "reranker.output_documents"}
_DEEPEST = 4


def retrieval_of(span: Span, *, id_key: str = "") -> Retrieval | None:
    """Return what a span says of a retrieval; None for a span of any other kind."""
    return next((found for read in _READERS if (found := read(span, id_key)) is not None), None)


def question_of(span: Span) -> str:
    """Return the text that a span was given: a query by itself or in an object; empty if there is none."""
    held = (span.attributes[name] for name in _INPUTS if span.attributes.get(name) is not None)
    return next((text for value in held if (text := _query_in(value))), "")


def answer_of(span: Span) -> str:
    """Return the text that a span returned; empty if it returned none, or an object."""
    for name in _OUTPUTS:
        value = decoded(span.attributes.get(name))
        if isinstance(value, str) and value.strip():
            return value
    return ""


def _open_inference(span: Span, id_key: str) -> Retrieval | None:
    kind = str(span.attributes.get("openinference.span.kind") or _kind_by_documents(span)).lower()
    if kind not in _RESULTS:
        return None
    is_search = kind == "retriever"
    told = _documents(span, _RESULTS[kind], id_key)
    logged = listed_items(span.attributes.get("output.value"), id_key=id_key)
    if told is not None and logged is not None and len(told) == len(logged):
        told = [{**more, **item} for item, more in zip(told, logged, strict=True)]  # some tell ids in the latter only
    documents = logged if told is None else told
    inputs = None if is_search else _documents(span, "reranker.input_documents", id_key)
    return Retrieval("retriever" if is_search else "reranker", question_of(span), documents, inputs)


def _kind_by_documents(span: Span) -> str:
    """Return the kind of a span that lost it with other attributes, by its documents; empty for any other span."""
    kinds = (kind for kind, prefix in _RESULTS.items() if any(key.startswith(f"{prefix}.") for key in span.attributes))
    return next(kinds, "") if span.dropped else ""


def _gen_ai(span: Span, id_key: str) -> Retrieval | None:
    if span.attributes.get("gen_ai.operation.name") != "retrieval":
        return None
    documents = _documents(span, "gen_ai.retrieval.documents", id_key)
    for event in span.events if documents is None else ():
        if (told := listed_items(event.attributes.get("gen_ai.retrieval.documents"), id_key=id_key)) is not None:
            documents = told
    return Retrieval("retriever", question_of(span), documents)


_MLFLOW_ID = "doc_uri"
"""What of the metadata MLflow's own metrics, its ground truth and `rankgauge_hosts.mlflow` take for the id."""


def _mlflow(span: Span, id_key: str) -> Retrieval | None:
    kind = str(decoded(span.attributes.get("mlflow.spanType")) or "").lower()
    if kind not in {"retriever", "reranker"}:
        return None
    output, given = (
        listed_items(span.attributes.get(f"mlflow.span{side}"), id_key=id_key, first=_MLFLOW_ID)
        for side in ("Outputs", "Inputs")
    )
    if kind == "retriever":
        return Retrieval("retriever", question_of(span), output)
    return Retrieval("reranker", question_of(span), output, given)


def _langfuse(span: Span, id_key: str) -> Retrieval | None:
    if str(span.attributes.get("langfuse.observation.type", "")).lower() != "retriever":
        return None
    documents = listed_items(span.attributes.get("langfuse.observation.output"), id_key=id_key)
    return Retrieval("retriever", question_of(span), documents)


def _open_llmetry(span: Span, id_key: str) -> Retrieval | None:
    if span.attributes.get("gen_ai.operation.name") == "vector_db_retrieve":
        return Retrieval(
            "retriever",
            question_of(span),
            listed_items(span.attributes.get("traceloop.entity.output"), id_key=id_key),
        )
    forms = ("db.query.result", "db.search.result")
    found = [
        {f"document.{_FIELDS.get(key, key)}": value for key, value in _behind(event.attributes, event.name).items()}
        for event in span.events
        if event.name in forms
    ]
    # A call with several queries logs the results of all of them in one row, and does not say where one ends.
    counts = (span.attributes.get(f"db.chroma.query.{what}_count") for what in ("texts", "embeddings"))
    if not found or any(isinstance(count, int) and count > 1 for count in counts):
        return None
    return Retrieval("retriever", question_of(span), items_of(found, id_key=id_key))


_FIELDS: Mapping[str, str] = {"document": "content"}
_READERS: Sequence[Callable[[Span, str], Retrieval | None]] = (
    _open_inference,
    _gen_ai,
    _mlflow,
    _langfuse,
    _open_llmetry,
)


def _behind(attributes: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return what is behind a prefix and its dot."""
    return {key[len(prefix) + 1 :]: value for key, value in attributes.items() if key.startswith(f"{prefix}.")}


def _documents(span: Span, prefix: str, id_key: str) -> list[Item] | None:
    """
    Return documents that are a list, JSON text, or flat attributes with numbers.

    The SDK for Python drops the oldest attributes, which are the best results: one of which some are gone is empty.
    """
    value = decoded(span.attributes.get(prefix))
    if isinstance(value, list):
        return items_of(value, id_key=id_key)
    flat = nested(span.attributes, prefix)
    if span.dropped and flat:
        whole = flat[len(flat) // 2].keys()  # neither the oldest nor the newest, which other SDKs drop
        flat = [document if document.keys() >= whole else {} for document in flat]
    return items_of(flat, id_key=id_key) if flat else None


def _query_in(value: object) -> str:
    """
    Return the query in a logged input: the text itself, or that of the first key of a query, level by level.

    Decorators, such as Langfuse's, log a call as `args` and `kwargs`: its first text is the query.
    """
    value = decoded(decoded(value))
    if isinstance(value, str):
        return value.strip()
    todo = deque([(value, 0)])
    while todo:
        inner, depth = todo.popleft()
        if not isinstance(inner, Mapping):
            continue
        for name in _QUERIES:
            if isinstance(text := inner.get(name), str) and text.strip():
                return text.strip()
        if isinstance(arguments := inner.get("args"), list):
            todo.extend(({"text": each}, depth) for each in arguments if isinstance(each, str))
        if depth < _DEEPEST:
            todo.extend((held, depth + 1) for held in inner.values())
    return ""
