"""
Pipelines: several searches, fused, filtered and reranked, with every stage told, so that a funnel can be made of them.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from rankgauge.errors import ParameterError
from rankgauge.systems import import_function
from rankgauge_systems.engines import Document, Loaded
from rankgauge_systems.options import Function, SystemOptions

__all__ = ["PipelineOptions", "PipelineSystem"]

Item = Mapping[str, Any]
Make = Callable[[str, Any], Callable[[Any], Any]]


class FuseOptions(SystemOptions):
    """How rankings become one."""

    method: Literal["rrf", "scores"] = Field(
        "rrf", description="rrf adds weight / (k + rank); scores adds weighted scores, each ranking scaled to 0 to 1."
    )
    k: int = Field(60, ge=0, description="The constant of rrf.")
    weights: Mapping[str, float] = Field(default_factory=dict, description="What a ranking counts; 1 unless given.")
    depth: int | None = Field(None, ge=1, description="How many are kept; all unless given.")


class RerankOptions(SystemOptions):
    """What puts the first results into another order."""

    by: Function = Field(description="(input, items) -> items in their new order; module:function or file.py:function.")
    depth: int | None = Field(None, ge=1, description="How many of the first items it is given; others are dropped.")


def _branches(value: object, info: ValidationInfo) -> dict[str, tuple[str, Any]]:
    """Return each search with its kind and checked options."""
    from rankgauge_systems.kinds import KINDS  # noqa: PLC0415  # which have this one

    if not isinstance(value, Mapping) or not value:
        raise ValueError("searches are systems by name, such as {dense: {kind: qdrant, ...}}")
    branches = {}
    for name, given in value.items():
        kind = given.get("kind") if isinstance(given, Mapping) else None
        if not isinstance(kind, str) or kind not in KINDS or kind == "pipeline":
            known = ", ".join(sorted(KINDS.keys() - {"pipeline"}))
            raise ValueError(f"search {name!r} needs a kind, one of {known}")
        options = {key: inner for key, inner in given.items() if key != "kind"}
        branches[str(name)] = (kind, KINDS[kind].options.model_validate(options, context=info.context))
    return branches


class PipelineOptions(SystemOptions):
    """Options of a pipeline."""

    search: Annotated[Mapping[str, Any], BeforeValidator(_branches)] = Field(
        description="Searches by name; each is a system with its kind and options."
    )
    fuse: FuseOptions | None = Field(None, description="How several searches become one ranking.")
    filter: Function | None = Field(None, description="(input, items) -> those that may stay.")
    rerank: RerankOptions | None = Field(None, description="What reorders the results.")
    keep: int | None = Field(None, ge=1, description="How many results are returned in the end.")

    @model_validator(mode="after")
    def _check_fuse(self) -> PipelineOptions:
        if (len(self.search) > 1) != (self.fuse is not None):
            raise ValueError("fuse goes with two searches or more")
        if self.fuse is not None and (unknown := self.fuse.weights.keys() - self.search.keys()):
            raise ValueError(f"fuse.weights names {min(unknown)!r}, which is no search")
        return self


class PipelineSystem:
    """A pipeline as a system under test."""

    def __init__(self, options: PipelineOptions, make: Make) -> None:
        """Make its searches by kind and options."""
        self._options = options
        self._filter = None if options.filter is None else import_function(options.filter, "filter")
        self._rerank = None if options.rerank is None else import_function(options.rerank.by, "rerank.by")
        self._searches = {name: make(kind, given) for name, (kind, given) in options.search.items()}
        self._threads = ThreadPoolExecutor(max_workers=32, thread_name_prefix="pipeline")

    def __call__(self, given: object) -> dict[str, Any]:
        """Return every stage, with what it retrieved and how long it took."""
        found = dict(zip(self._searches, self._threads.map(_timed(given), self._searches.values()), strict=True))
        stages = [
            {"name": name, "retrieved": each.items, "seconds": each.seconds, "from": []} for name, each in found.items()
        ]
        rankings = {name: each.items for name, each in found.items()}
        items: Sequence[Item] = next(iter(rankings.values()))
        options = self._options
        if options.fuse is not None:
            items = _add(stages, "fused", functools.partial(fused, rankings, options.fuse), list(rankings))
        depth = None if options.rerank is None else options.rerank.depth
        if self._filter is not None:
            items = _add(stages, "filtered", functools.partial(_worked, "filter", self._filter, given, items))
        if self._rerank is not None:
            items = _add(stages, "reranked", functools.partial(_worked, "rerank", self._rerank, given, items[:depth]))
        if options.keep is not None:
            _add(stages, "kept", functools.partial(list, items[: options.keep]))
        remarks = [f"{name}: {remark}" for name, each in found.items() for remark in each.remarks]
        return {"stages": stages, "remarks": remarks} if remarks else {"stages": stages}

    def index(self, documents: Iterable[Document]) -> Loaded:
        """Load documents into every search that can be loaded."""
        rows = list(documents)
        loadable = [search.index for search in self._searches.values() if hasattr(search, "index")]
        if not loadable:
            raise ParameterError("no search of the pipeline can be loaded with documents")
        zeros = itertools.chain.from_iterable(load(rows).zeros for load in loadable)
        return Loaded(len(rows), tuple(dict.fromkeys(zeros)))

    def check(self) -> None:
        """Check every search that can be checked."""
        for search in self._searches.values():
            if hasattr(search, "check"):
                search.check()

    def close(self) -> None:
        """Close every search."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for search in self._searches.values():
            if hasattr(search, "close"):
                search.close()


class _Found(NamedTuple):
    """What a search found, how long it took, and what it says of that."""

    items: list[Item]
    seconds: float
    remarks: Sequence[str]


def _timed(given: object) -> Callable[[Callable[[Any], Any]], _Found]:
    def search(system: Callable[[Any], Any]) -> _Found:
        begun = time.perf_counter()
        output = system(given)
        seconds = round(time.perf_counter() - begun, 6)
        is_object = isinstance(output, Mapping)
        items, remarks = (output.get("retrieved"), output.get("remarks")) if is_object else (output, None)
        return _Found([_item(item) for item in items or ()], seconds, remarks or ())

    return search


def _item(item: object) -> Item:
    return item if isinstance(item, Mapping) else {"id": item}


def _add(
    stages: list[dict[str, Any]], name: str, work: Callable[[], Sequence[Item]], sources: Sequence[str] | None = None
) -> Sequence[Item]:
    """Add a stage with what it makes; return that."""
    begun = time.perf_counter()
    items = list(work())
    stage: dict[str, Any] = {"name": name, "retrieved": items, "seconds": round(time.perf_counter() - begun, 6)}
    stages.append(stage if sources is None else {**stage, "from": list(sources)})
    return items


def _worked(what: str, work: Callable[[Any, Any], Any], given: object, items: Sequence[Item]) -> Sequence[Item]:
    """Return what a function makes of items: some of them, in any order; scores of another order are left out."""
    known = {item.get("id"): item for item in items}
    made = work(given, list(items))
    if not isinstance(made, Iterable) or isinstance(made, str | Mapping):
        raise TypeError(f"{what} returns items or ids, not {made!r:.60}")
    returned = list(made)
    names = [item.get("id") if isinstance(item, Mapping) else item for item in returned]
    if strange := [name for name in names if name not in known]:
        raise ValueError(f"{what} returned {strange[0]!r}, which it was not given")
    found = [item if isinstance(item, Mapping) else known[item] for item in returned]
    scores = [item.get("score") for item in found]
    falls = all(a is not None and b is not None and a >= b for a, b in itertools.pairwise(scores))
    return found if falls else [{key: value for key, value in item.items() if key != "score"} for item in found]


def fused(rankings: Mapping[str, Sequence[Item]], how: FuseOptions) -> list[Item]:
    """
    Return several rankings as one, the best first; ties in the order in which items are met, repeats left out.

    Reciprocal rank fusion (Cormack et al. 2009) adds ``weight / (k + rank)``. With scores each ranking is scaled to 0
    (its lowest) to 1, and what a ranking lacks adds 0.
    """
    scores: dict[str, float] = {}
    items: dict[str, Item] = {}
    for name, ranking in rankings.items():
        weight = how.weights.get(name, 1.0)
        gains = _reciprocal(ranking, how.k) if how.method == "rrf" else _scaled(name, ranking)
        seen: set[str] = set()
        for item, gain in zip(ranking, gains, strict=True):
            key = str(item["id"])
            if key in seen:
                continue
            seen.add(key)
            items.setdefault(key, item)
            scores[key] = scores.get(key, 0.0) + weight * gain
    order = sorted(scores, key=lambda key: -scores[key])[: how.depth]
    return [{**items[key], "score": scores[key]} for key in order]


def _reciprocal(ranking: Sequence[Item], k: int) -> list[float]:
    return [1.0 / (k + rank) for rank in range(1, len(ranking) + 1)]


def _scaled(name: str, ranking: Sequence[Item]) -> list[float]:
    given = [item.get("score") for item in ranking]
    scores = [float(score) for score in given if score is not None]
    if len(scores) < len(given):
        raise ValueError(f"search {name!r} gives no scores, so its ranking cannot be fused by scores; use rrf")
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]
