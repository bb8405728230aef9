"""
Keys that nothing reads: those of samples, outputs and their items, and which of ours their author may have meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from rankgauge.base.plain_text import visible
from rankgauge.errors import listed, suggest

__all__ = [
    "ITEMS",
    "KNOWN",
    "OUTPUT",
    "SEARCHES",
    "SETS",
    "STAGES",
    "Unread",
    "how_to_map",
    "keys_of",
    "maybe_metadata",
    "meant",
    "similar",
    "unread_among",
    "unread_keys",
    "unread_notes",
    "usual",
]

OUTPUT = "actual_output"
ITEMS = "actual_output.retrieved[]"
STAGES = "actual_output.stages[]"
SEARCHES = "actual_output.searches[]"
SETS = "expected_output.sets[]"
_RELEVANT = ("expected_output[]", "expected_output.relevant[]")

KNOWN: Mapping[str, frozenset[str]] = {
    "": frozenset({"id", "input", "expected_output", "actual_output", "metadata"}),
    **dict.fromkeys(_RELEVANT, frozenset({"id", "gain", "intent", "metadata", "valid_from", "valid_to"})),
    "expected_output.nuggets[]": frozenset({"id", "text", "importance"}),
    "expected_output.passages[]": frozenset({"text", "grade", "id"}),
    "expected_output.spans[]": frozenset({"document", "start", "end", "grade", "text"}),
    "expected_output.forbidden[]": frozenset({"id", "text", "metadata"}),
    SETS: frozenset({"all_of", "any_of"}),
    OUTPUT: frozenset({"retrieved", "answer", "support", "stages", "searches", "seconds", "bytes", "cost", "remarks"}),
    STAGES: frozenset({"name", "retrieved", "from", "seconds", "cost"}),
    SEARCHES: frozenset({"retrieved", "query"}),
    ITEMS: frozenset({"id", "text", "score", "metadata"}),
}
"""The keys that are read, by the place of their object."""

_PLACE = frozenset({"document", "start", "end"})
"""Those of an item that says where it is: if it has two of them, for `document` alone may be a text."""

_ITEM_ID = ("doc_id", "docid", "docno", "document_id", "chunk_id", "passage_id", "node_id", "corpus_id", "_id", "uuid")
_ITEM_TEXT = ("page_content", "content", "contents", "body", "passage", "chunk", "document")
_RANKINGS = (
    *("contexts", "context", "documents", "docs", "document_ids", "doc_ids", "chunks", "passages", "results", "hits"),
    *("retrieved_contexts", "retrieval_context", "retrieved_ids", "retrieved_context_ids", "source_documents"),
    *("source_nodes", "nodes", "sources", "ranking", "retrieval", "matches"),
)

_SECONDS, _COST = ("latency", "duration", "time", "elapsed"), ("price", "usd")

_MEANT: Mapping[str, Mapping[str, Sequence[str]]] = {
    "": {
        "id": ("qid", "query_id", "question_id", "sample_id", "_id"),
        "input": ("query", "question", "user_input", "prompt"),
        "expected_output": ("expected", "ground_truth", "ground_truths", "reference", "qrels", "gold", "relevant"),
        "actual_output": ("output", "actual", "prediction", "outputs"),
        "metadata": ("meta",),
    },
    **{place: {"id": _ITEM_ID, "gain": ("grade", "relevance", "rel", "label", "score")} for place in _RELEVANT},
    "expected_output.nuggets[]": {"text": ("nugget", "fact", *_ITEM_TEXT), "importance": ("label",)},
    "expected_output.passages[]": {
        "id": _ITEM_ID,
        "text": _ITEM_TEXT,
        "grade": ("gain", "relevance", "rel", "label", "score"),
    },
    "expected_output.spans[]": {
        "document": ("doc", "doc_id", "document_id", "corpus_id", "source", "file"),
        "start": ("start_index", "begin", "start_char", "offset"),
        "end": ("end_index", "stop", "end_char"),
        "grade": ("gain", "relevance", "rel", "label"),
        "text": ("content", "quote", "excerpt"),
    },
    "expected_output.forbidden[]": {"id": _ITEM_ID, "text": _ITEM_TEXT, "metadata": ("meta", "where", "filter")},
    SETS: {"all_of": ("all", "and"), "any_of": ("any", "or", "one_of")},
    OUTPUT: {
        "retrieved": _RANKINGS,
        "answer": ("response", "generated", "generated_text", "completion", "output"),
        "seconds": _SECONDS,
        "cost": _COST,
    },
    STAGES: {
        "name": ("stage", "step", "id"),
        "retrieved": _RANKINGS,
        "from": ("sources", "inputs", "input", "after"),
        "seconds": _SECONDS,
        "cost": _COST,
    },
    SEARCHES: {"retrieved": _RANKINGS, "query": ("input", "question", "q")},
    ITEMS: {
        "id": _ITEM_ID,
        "text": _ITEM_TEXT,
        "score": ("similarity", "relevance_score", "distance", "rel"),
        "metadata.valid_from": ("valid_from",),
        "metadata.valid_to": ("valid_to",),
    },
}
"""Usual names of other tools for what we read, which no spelling gives away."""


class Unread(NamedTuple):
    """A key that nothing reads."""

    place: str  # the object that holds it, as in `KNOWN`
    key: str
    meant: str = ""  # the key that was probably meant, if any

    @property
    def path(self) -> str:
        """Return where it is."""
        return visible(f"{self.place}.{self.key}" if self.place else self.key)


@lru_cache(maxsize=1024)
def meant(place: str, key: str, *, is_placed: bool = False) -> str:
    """Return which key of ours an unknown one looks like, or stands for in other tools; empty for neither."""
    alike = suggest(key, sorted(_known(place, is_placed)), most=1, cutoff=0.7)
    return usual(place, key) or next(iter(alike), "")


def usual(place: str, key: str) -> str:
    """Return which key of ours another one stands for in other tools; empty if it stands for none."""
    folded = key.casefold().replace("-", "_").replace(" ", "_")
    return next((ours for ours, names in _MEANT[place].items() if folded in names), "")


def _known(place: str, is_placed: bool) -> frozenset[str]:  # noqa: FBT001  # of `meant`
    return KNOWN[place] | _PLACE if is_placed else KNOWN[place]


def unread_keys(objects: Iterable[Any], place: str) -> tuple[Unread, ...]:
    """Return the keys of some objects that nothing reads; what is no object is passed over."""
    return unread_among(keys_of(each for each in objects if type(each) is dict or isinstance(each, Mapping)), place)


def keys_of(objects: Iterable[Mapping[Any, Any]]) -> AbstractSet[Any]:
    """Return the keys that any of some objects has."""
    return set(chain.from_iterable(objects))


def unread_among(keys: AbstractSet[Any], place: str) -> tuple[Unread, ...]:
    """Return those keys that nothing reads."""
    if keys <= KNOWN[place]:
        return ()
    is_placed = place == ITEMS and len(_PLACE & keys) > 1
    known = _known(place, is_placed)
    if keys <= known:
        return ()
    unknown = sorted(key for key in keys - known if isinstance(key, str))
    guesses = ((key, meant(place, key, is_placed=is_placed)) for key in unknown)
    return tuple(Unread(place, key, "" if guess in keys else guess) for key, guess in guesses)


def similar(record: Mapping[Any, Any], ours: str) -> str:
    """Return which key of a record may be meant by one that it lacks, and what reads it; empty if there is none."""
    theirs = next((each.key for each in unread_keys((record,), "") if each.meant == ours), None)
    return "" if theirs is None else visible(f"; is it {theirs!r}? {how_to_map(ours, theirs)}")


def how_to_map(ours: str, theirs: str) -> str:
    """Return what reads a key of the user's data as one of ours."""
    return f"rename it, or map it: --field {ours}={theirs}"


def of_object(item: object) -> str:
    """Return what an item of another library, such as a document, has for our keys; empty for plain values."""
    if isinstance(item, Mapping):
        pairs = {each.meant: f"{each.key!r}" for each in unread_keys((item,), ITEMS) if each.meant}
        advice = "rename it in your data"
    else:
        known = KNOWN[ITEMS] - {"metadata"}
        plain = isinstance(item, str | bytes | int | float | list | tuple | None)
        names = () if plain else sorted(name for name in (*known, *_ITEM_ID, *_ITEM_TEXT) if hasattr(item, name))
        pairs = {}
        for name in names:
            pairs.setdefault(name if name in known else meant(ITEMS, name), f"item.{name}")
        advice = f"give {{{', '.join(f'{ours!r}: {theirs}' for ours, theirs in pairs.items())}}} for each item"
    if not pairs:
        return ""
    listing = " and ".join(f"its {ours} in {theirs}" for ours, theirs in pairs.items())
    return f"; it seems to have {visible(listing)}: {visible(advice)}"


def maybe_metadata(unread: Iterable[Unread]) -> str:
    """Return which unread keys of results may belong into their metadata, as the end of an error; empty for none."""
    keys = [repr(each.key) for each in unread if each.place == ITEMS]
    return visible(f"; nothing reads {listed(keys)} of results, which metadata may hold") if keys else ""


def unread_notes(unread: Iterable[Unread]) -> list[str]:
    """Return what users should know of keys that nothing reads: a line for each that looks like ours, one for all."""
    seen = sorted(set(unread))
    notes = [f"{each.path} is not read: did you mean {each.meant!r}? {_advice(each)}" for each in seen if each.meant]
    others = [each.path for each in seen if not each.meant]
    return [*notes, f"nothing reads these keys: {listed(others)}"] if others else notes


def _advice(unread: Unread) -> str:
    """Return how to have a key read; `fields` reaches everything but what is in a list."""
    if unread.place.endswith("[]"):
        return "rename it in your data"
    return how_to_map(f"{unread.place}.{unread.meant}" if unread.place else unread.meant, unread.path)
