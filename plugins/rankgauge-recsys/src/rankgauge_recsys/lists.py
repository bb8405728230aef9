"""
Single lists: how novel their items are, and how they differ from each other.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.plugin import Judged, JudgedSample, sample_metric
from rankgauge_recsys.items import Item, read_items

__all__ = ["intra_list_distance", "novelty"]


def _check(*, items: str) -> None:
    if not items:
        raise ValueError("give what is known of the items, a file of JSON lines: items=items.jsonl")
    read_items(items)


def _always(judged: Judged) -> NDArray[np.bool_]:
    """Return that every list has a score, whatever is relevant."""
    return np.ones(judged.n, dtype=np.bool_)


_of_lists = functools.partial(
    sample_metric,
    needs=("ids",),
    uses_rel=False,
    laws=("tail",),
    check=_check,
    defined=_always,
    example={"items": str(Path(__file__).with_name("example.jsonl"))},
)


def _known(ids: Sequence[str | None], items: str, what: str) -> list[Item]:
    """Return what is known of some items; raise for one of which *what* is not given."""
    known = read_items(items)
    found = []
    for name in ids:
        item = known.get(name or "")
        if item is None or not getattr(item, what):
            raise ValueError(f"{items} gives no {what} of the item {name!r}")
        found.append(item)
    return found


@_of_lists("novelty-at-k", short=("novelty",), range=(0.0, None))
def novelty(ranking: JudgedSample, *, k: int, items: str = "") -> float | None:
    """
    How unexpected the first *k* results are: their mean self-information.

    Formula: ``mean over the first k of -log2(popularity)``, with the share of users who know an item as its
    popularity. Source: Zhou et al., Solving the apparent diversity-accuracy dilemma of recommender systems, PNAS 2010.

    When to use it: what everybody knows needs no recommendation.

    Args:
        ranking: What was retrieved for one sample.

        k: How many results count.

        items: A file of JSON lines with `id` and `popularity`.

    Returns:
        Bits, 0 or more; None if nothing was retrieved.
    """
    found = _known(ranking.seen.ids[:k], items, "popularity")
    return math.fsum(-math.log2(item.popularity or 1.0) for item in found) / len(found) if found else None


@_of_lists("intra-list-distance-at-k", short=("ild", "ILD"), range=(0.0, 2.0))
def intra_list_distance(
    ranking: JudgedSample, *, k: int, items: str = "", by: Literal["categories", "vector"] = "categories"
) -> float | None:
    """
    How much the first *k* results differ from each other: the mean distance of two of them.

    Formula: ``mean over pairs of 1 - similarity``, with the Jaccard similarity of their categories or the cosine of
    their vectors. Source: Ziegler et al., Improving recommendation lists through topic diversification, WWW 2005.

    When to use it: a list of near duplicates is a poor list, whatever its accuracy.

    Args:
        ranking: What was retrieved for one sample.

        k: How many results count.

        items: A file of JSON lines with `id` and `categories`, or `vector`.

        by: What is compared.

    Returns:
        From 0 to 1 by categories, from 0 to 2 by vectors; None if fewer than two items were retrieved.
    """
    found = _known(ranking.seen.ids[:k], items, by)
    distance = _by_categories if by == "categories" else _by_vectors
    distances = [distance(one, other) for one, other in itertools.combinations(found, 2)]
    return math.fsum(distances) / len(distances) if distances else None


def _by_categories(one: Item, other: Item) -> float:
    return 1 - len(one.categories & other.categories) / len(one.categories | other.categories)


def _by_vectors(one: Item, other: Item) -> float:
    cosine = math.fsum(a * b for a, b in zip(one.vector or (), other.vector or (), strict=True))
    return 1 - max(-1.0, min(1.0, cosine))
