"""
Searches: what several searches for one question took, and what they brought, as agents make them.
"""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np

from rankgauge.metrics.family import retrieval
from rankgauge.plugin import Judged, Scores, metric

__all__ = [
    "search_characters",
    "search_count",
    "search_redundancy",
    "searches_per_found",
    "searches_to_first_relevant",
]

_until_found = functools.partial(retrieval, needs="searches", higher_is_better=False, laws=("bounded", "tail"))
_over_outputs = functools.partial(
    metric, gold=(), needs="searches", higher_is_better=False, range=(0.0, None), laws=("bounded",)
)


def _counts(judged: Judged, name: Literal["n", "results", "repeated"] = "n") -> Scores:
    return np.array([getattr(seen.searches, name) for seen in judged.seen], dtype=np.float64)


def _shares(part: Scores, whole: Scores) -> Scores:
    """Return what is divided by what, NaN if that is 0."""
    shares: Scores = np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
    return shares


@_until_found("searches-to-first-relevant", short=("first_search", "searches_to_first_relevant"), range=(1.0, None))
def searches_to_first_relevant(judged: Judged) -> Scores:
    """
    Which search was the first that returned something relevant, over the samples where one was.

    Formula: ``min over relevant results of the search that returned it``, counted from 1, of `actual_output.searches`.
    A single ranking is one search. The mean covers only samples in which a search found something; the number of those
    is printed beside it.

    When to use it: to see how often an agent has to ask again, beside `retrieval-hit-at-k`.

    Returns:
        Shape (n,), 1 or more; NaN if nothing relevant was found.
    """
    hits, first = judged.hits(), np.full(judged.n, np.inf)
    found = [judged.seen[at].searches.of_rank[rank - 1] for at, rank in zip(hits.sample, hits.rank, strict=True)]
    np.minimum.at(first, hits.sample, found)
    return np.where(np.isinf(first), np.nan, first)


@_until_found("searches-per-found", short=("searches_per_found",), range=(0.0, None))
def searches_per_found(judged: Judged) -> Scores:
    """
    How many searches each relevant item took, over the samples where one was found.

    Formula: ``|searches| / |relevant items found by any of them|``. A single ranking is one search. The mean covers
    only samples in which something was found; the number of those is printed beside it.

    When to use it: as the price of recall: of two agents that find the same, the one that asks less often is better.

    Returns:
        Shape (n,), above 0; NaN if nothing relevant was found.
    """
    return _shares(_counts(judged), judged.found().astype(np.float64))


@_over_outputs("search-redundancy", short=("search_redundancy",), range=(0.0, 1.0))
def search_redundancy(judged: Judged) -> Scores:
    """
    Fraction of the results of all searches that an earlier search had returned already.

    Formula: ``|results that an earlier search of the sample returned| / |results of all its searches|``. Results are
    the same where their ids are, or, without ids, their texts. It needs no ground truth.

    When to use it: to see whether further searches look elsewhere, or ask the same again.

    Returns:
        Shape (n,), from 0 to 1; NaN if no search returned anything.
    """
    return _shares(_counts(judged, "repeated"), _counts(judged, "results"))


@_over_outputs("search-count", short=("search_count",))
def search_count(judged: Judged) -> Scores:
    """
    Count the searches that were made.

    Formula: ``|actual_output.searches|``; 1 for a single ranking.

    When to use it: beside quality, which more searches often buy.

    Returns:
        Shape (n,), whole numbers.
    """
    return _counts(judged)


@_over_outputs("search-characters", short=("search_characters",))
def search_characters(judged: Judged) -> Scores:
    """
    Characters of all that the searches returned, repeats included: what an agent has to read.

    Formula: ``sum of the lengths of the texts of all results``. A cutoff of budget, such as ``recall@2000tok``, counts
    the text of each result once.

    When to use it: as the budget of a whole trajectory, beside `search-redundancy`.

    Returns:
        Shape (n,), whole numbers; NaN if a result has no text.
    """
    read = [seen.searches.characters for seen in judged.seen]
    return np.array([np.nan if each is None else each for each in read], dtype=np.float64)
