"""
Documents: what a span tells of each result, in the form of the items of an output.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankgauge_traces.spans import decoded

__all__ = ["Item", "items_of", "key_of_item", "listed_items"]

Item = dict[str, Any]
"""One result: some of `id`, `text`, `score` and `metadata`, as `actual_output.retrieved` has them."""

_IDS = ("document.id", "id", "id_", "doc_id", "document_id", "chunk_id", "node_id")
_TEXTS = ("document.content", "page_content", "pageContent", "content", "text", "document")
_SCORES = ("document.score", "score", "relevance_score", "similarity")
_METADATA = ("document.metadata", "metadata", "meta")
_SPREAD = "document.metadata."  # how Phoenix returns what was one text
_INNER = ("document", "node", "kwargs")
_LISTS = ("documents", "docs", "nodes", "source_nodes", "results", "context", "chunks", "output", "outputs")
_MARKS = frozenset({*_IDS, *_TEXTS})


def items_of(documents: Iterable[Any], *, id_key: str = "", first: str = "") -> list[Item]:
    """
    Return documents as items.

    *id_key* names what of their metadata is the id, in place of their own; *first* what is, where they have it.
    """
    return [_item(document, id_key, first) for document in documents]


def listed_items(value: object, *, id_key: str = "", first: str = "") -> list[Item] | None:
    """
    Return the documents that a logged value holds: a list of objects, or an object with one; None if it holds none.

    Texts in such a list are passed over, because most are what `repr` made of an object.
    """
    value = decoded(decoded(value))  # MLflow and Langfuse write JSON into JSON
    if isinstance(value, Mapping):
        lists = [decoded(value[name]) for name in _LISTS if name in value]
        value = next((each for each in lists if isinstance(each, list)), None)
    if not isinstance(value, list):
        return None
    documents = [_scored(entry) for entry in value]
    if not all(isinstance(entry, Mapping) and not _MARKS.isdisjoint(_flat(entry)) for entry in documents):
        return None
    return items_of(documents, id_key=id_key, first=first)


def key_of_item(item: Item) -> object:
    """Return what tells a document apart: its id, or its text."""
    return item.get("id", ("text", item.get("text")))


def _scored(entry: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Return a pair of a document and its score as one object."""
    if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], Mapping):
        return {**_flat(entry[0]), "score": entry[1]}
    return entry


def _flat(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with what its inner object says: a node of LlamaIndex, or a serialized one of LangChain."""
    flat = dict(document)
    for name in _INNER:
        if isinstance(inner := document.get(name), Mapping):
            del flat[name]
            flat = {**inner, **flat}
    if isinstance(flat.get("id"), Sequence) and not isinstance(flat["id"], str):
        del flat["id"]  # of LangChain's serialized form: the path of its class
        flat |= {"id": document["kwargs"]["id"]} if _has_kwargs_id(document) else {}
    return flat


def _has_kwargs_id(document: Mapping[str, Any]) -> bool:
    kwargs = document.get("kwargs")
    return isinstance(kwargs, Mapping) and isinstance(kwargs.get("id"), str)


def _item(document: Any, id_key: str, first: str) -> Item:  # noqa: ANN401  # any JSON value
    if not isinstance(document, Mapping):
        return {"text": document} if isinstance(document, str) and document else {}
    flat = _flat(document)
    item: Item = {}
    metadata = decoded(next((flat[name] for name in _METADATA if flat.get(name) is not None), None))
    spread = {key.removeprefix(_SPREAD): value for key, value in flat.items() if key.startswith(_SPREAD)}
    known = metadata if isinstance(metadata, Mapping) else spread
    names = (known.get(id_key),) if id_key else (known.get(first), *map(flat.get, _IDS), known.get("doc_uri"))
    name = next(filter(_is_id, names), None)
    if _is_id(name):
        item["id"] = str(name)
    text = next((flat[key] for key in _TEXTS if isinstance(flat.get(key), str) and flat[key]), None)
    if text is not None:
        item["text"] = text
    score = next((flat[key] for key in _SCORES if flat.get(key) is not None), None)
    if (number := _number(score)) is not None:
        item["score"] = number
    if known:
        item["metadata"] = dict(known)
    return item


def _is_id(value: object) -> bool:
    return (isinstance(value, str) and bool(value)) or (isinstance(value, int) and not isinstance(value, bool))


def _number(value: object) -> float | None:
    """Return a finite score, which some writers write as a text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
