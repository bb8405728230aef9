"""
Items of RAG libraries: documents, nodes and chunks of LangChain, LlamaIndex, Haystack and chonkie as retrieved items.

They are recognized by the fields that only they have, as objects and as the dictionaries that these libraries write, so
that none of the libraries is imported. What has our own keys, or a single field of theirs, stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankgauge.samples.gold_items import Misplaced
from rankgauge.samples.sample_values import is_real

__all__ = ["MARKS", "library_item", "output_of_library"]

MARKS = frozenset({"page_content", "pageContent", "kwargs", "node", "id_", "content", "token_count"})
"""Keys of which a dictionary of a library has at least one, and an item in our own form hardly any."""

_PLAIN = frozenset({str, int, float, bool, bytes, type(None)})
_SOURCE, _PARENT = "1", "4"  # relationships of LlamaIndex
_LANGCHAIN_IDS = ("id", "doc_id")
_LANGCHAIN_SCORES = ("score", "relevance_score")


def output_of_library(raw: object) -> dict[str, Any] | None:
    """Return a response of LlamaIndex (`source_nodes` and `response`) as an output; None for anything else."""
    nodes = None if type(raw) in _PLAIN else _field(raw, "source_nodes")
    if not isinstance(nodes, list | tuple) or (isinstance(raw, Mapping) and "retrieved" in raw):
        return None
    answer = _field(raw, "response")
    return {"retrieved": nodes, **({"answer": answer} if isinstance(answer, str) else {})}


def library_item(item: Any) -> dict[str, Any] | None:  # noqa: ANN401  # whatever a system returned
    """Return an item of a library as a mapping of our own keys; None for anything else."""
    if type(item) in _PLAIN:
        return None
    if isinstance(item, list | tuple):  # an item with its score, as LangChain has them
        is_pair = len(item) == 2 and is_real(item[1])
        found = library_item(item[0]) if is_pair else None
        return None if found is None else {**found, "score": item[1]}
    if type(item) is dict and MARKS.isdisjoint(item):
        return None
    found = _langchain(item) or _llamaindex(item) or _haystack(item) or _chonkie(item)
    if found is not None and found.get("start") is None:
        found |= {"document": None, "end": None}
    return None if found is None else {key: value for key, value in found.items() if value is not None}


def _langchain(item: Any) -> dict[str, Any] | None:  # noqa: ANN401  # any object or mapping
    """Read a `Document`: an object, `model_dump`, `dumps`, or what LangChain.js writes."""
    kwargs = item.get("kwargs") if isinstance(item, Mapping) else None
    if isinstance(kwargs, Mapping) and "lc" in item:
        item = kwargs
    text = _field(item, "page_content", "pageContent")
    if not isinstance(text, str) or not _has(item, "metadata"):
        return None
    known = _mapping(_field(item, "metadata"))
    score = _field(item, "score")
    return {
        "id": next(filter(None, (_field(item, "id"), *map(known.get, _LANGCHAIN_IDS))), None),
        "text": text,
        "score": next((each for each in (score, *map(known.get, _LANGCHAIN_SCORES)) if is_real(each)), None),
        "metadata": known or None,
        "document": known.get("source"),
        "start": known.get("start_index"),
        "end": known.get("end_index"),
    }


def _llamaindex(item: Any) -> dict[str, Any] | None:  # noqa: ANN401  # any object or mapping
    """Read a `NodeWithScore`, or a node: objects, `model_dump`, `to_dict`, `to_json`."""
    node = _field(item, "node")
    score = None if node is None or type(node) in _PLAIN else _field(item, "score")
    node = item if node is None or type(node) in _PLAIN else node
    held = _field(node, "__data__")
    node = held if isinstance(held, Mapping) else node
    name, relationships = _field(node, "id_"), _field(node, "relationships")
    if not isinstance(name, str) or not isinstance(relationships, Mapping):
        return None
    text = _field(node, "text")
    related = {str(getattr(key, "value", key)): value for key, value in relationships.items()}
    start: object = _field(node, "start_char_idx")
    if start is not None and _PARENT in related:
        start = Misplaced("the place is one of the parent node's text")
    return {
        "id": name,
        "text": text if isinstance(text, str) else _field(_field(node, "text_resource"), "text"),
        "score": score,
        "metadata": _mapping(_field(node, "metadata")) or None,
        "document": _field(related.get(_SOURCE), "node_id"),
        "start": start,
        "end": _field(node, "end_char_idx"),
    }


_HAYSTACK_OWN = frozenset({"id", "content", "blob", "score", "embedding", "sparse_embedding", "meta", "dataframe"})


def _haystack(item: Any) -> dict[str, Any] | None:  # noqa: ANN401  # any object or mapping
    """Read a `Document`: an object, or `to_dict` with its metadata apart or among the other keys."""
    text = _field(item, "content")
    if not (isinstance(text, str) and (_has(item, "meta") or _has(item, "blob"))):
        return None
    known = dict(_mapping(_field(item, "meta")))
    if isinstance(item, Mapping) and not known:
        known = {key: value for key, value in item.items() if key not in _HAYSTACK_OWN}
    start = known.get("split_idx_start")
    if start is not None and (made_of := _other_text(known)):
        start = Misplaced(f"the place is one of {made_of}")
    name = _field(item, "id")
    return {
        "id": name if isinstance(name, str) and name else None,
        "text": text,
        "score": _field(item, "score"),
        "metadata": known or None,
        "document": known.get("source_id"),
        "start": start,
    }


def _other_text(known: Mapping[Any, Any]) -> str:
    """Return the text whose places a splitter of Haystack wrote down; empty for the document's."""
    if known.get("header") is not None or known.get("parent_headers") is not None:
        return "a section's text"
    level = known.get("__level")
    return "the parent document's text" if isinstance(level, int) and level > 1 else ""


def _chonkie(item: Any) -> dict[str, Any] | None:  # noqa: ANN401  # any object or mapping
    """Read a `Chunk`: an object, or `to_dict`; the document is what is written beside, or its metadata say so."""
    text = _field(item, "text")
    if not (isinstance(text, str) and all(_has(item, key) for key in ("token_count", "start_index", "end_index"))):
        return None
    known = _mapping(_field(item, "metadata"))
    name, beside = _field(item, "id"), _field(item, "document")
    return {
        "id": name if isinstance(name, str) and name else None,
        "text": text,
        "score": _field(item, "score"),
        "metadata": known or None,
        "document": beside if isinstance(beside, str) else known.get("document", known.get("source")),
        "start": _field(item, "start_index"),
        "end": _field(item, "end_index"),
    }


def _field(item: Any, *names: str) -> Any:  # noqa: ANN401  # any object or mapping
    """Return the first field that an object or a mapping has; None if it has none of them."""
    if isinstance(item, Mapping):
        return next((item[name] for name in names if name in item), None)
    return next((getattr(item, name) for name in names if hasattr(item, name)), None)


def _has(item: Any, name: str) -> bool:  # noqa: ANN401  # any object or mapping
    return name in item if isinstance(item, Mapping) else hasattr(item, name)


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}
