"""
The plugin: a comparer over embeddings, matchers made with it, and the metric that reads its scores.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.plugin import (
    ComparerLaw,
    Cutoff,
    Judged,
    Matcher,
    Scores,
    comparer,
    hookimpl,
    metric,
    named_matcher,
)
from rankgauge_semantic.embedders import DEFAULT, Embedder, find_embedder
from rankgauge_semantic.vectors import Vectors

__all__ = ["answer_semantic_similarity", "embedding_cosine", "semantic", "semantic_plugin", "semantic_score"]

RANKGAUGE_API = (1, 0)

_LAWS: Sequence[ComparerLaw] = ("reflexive", "empty-scores-zero", "symmetric")
_THRESHOLD = 0.7
_ANY = 1e-6
"""The lowest score of six decimals above 0, so that every score above 0 makes a judged row."""


@functools.cache  # what was embedded once in a process is never embedded again
def _vectors(name: str) -> Vectors:
    return _cached(find_embedder(name))


def _cached(embedder: Embedder) -> Vectors:
    from rankgauge_semantic.cache import open_cache  # noqa: PLC0415  # listing a catalog needs no SQLite

    return Vectors(embedder, open_cache(embedder.model))


def _check(*, embedder: str = DEFAULT) -> None:
    check = find_embedder(embedder).check
    if check is not None:
        check()


def _prepare(texts: Sequence[str], *, embedder: str = DEFAULT) -> None:
    _vectors(embedder).add(texts)


@comparer("embedding-cosine", check=_check, prepare=_prepare, laws=_LAWS)
def embedding_cosine(retrieved: Sequence[str], gold: Sequence[str], *, embedder: str = DEFAULT) -> NDArray[np.float64]:
    """
    Score the cosine of two texts' embeddings, 0 if it is negative, to six decimals.

    Args:
        retrieved: Retrieved texts, normalized.

        gold: Gold texts, normalized.

        embedder: An installed embedder, by the name of its entry point.

    Returns:
        Shape (retrieved, gold).
    """
    return _vectors(embedder).cosines(retrieved, gold)


@named_matcher("semantic", f"collapse-whitespace > embedding-cosine >= {_THRESHOLD}")
def semantic() -> None:
    """Decide by meaning: texts match from a cosine of 0.7 on, by the default model."""


@named_matcher("semantic-score", f"collapse-whitespace > embedding-cosine >= {_ANY}")
def semantic_score() -> None:
    """Match every text with a cosine above 0, for metrics that read the score."""


def _scoring(*, embedder: str = DEFAULT) -> str:
    """Choose the matcher of `answer-semantic-similarity`."""
    if embedder == DEFAULT:
        return "semantic-score"
    return str(Matcher(("collapse-whitespace",), "embedding-cosine", (("embedder", embedder),), _ANY))


def _details(judged: Judged, *, k: Cutoff | None) -> Mapping[str, Sequence[Any]]:
    scores = _best(judged, k)
    rows = judged.rows.where(judged.score == scores[judged.rows.sample]).until(k)
    ranks = np.zeros(judged.n, dtype=np.int64)
    ranks[rows.sample[::-1]] = rows.rank[::-1]  # the first rank of a sample is written last
    return {"best_rank": [rank or None for rank in ranks.tolist()]}


@metric(
    "answer-semantic-similarity",
    short=("semantic_similarity",),
    gold="answer",
    matcher=_scoring,
    uses_rel=False,
    laws=(
        "bounded",
        "perfect-is-one",
        "best-first",
        "relevant-helps",
        "padding",
        "tail",
        "duplicates",
        "monotone-in-k",
    ),
    undefined="the ground truth has no answer",
    details=_details,
)
def answer_semantic_similarity(judged: Judged, *, k: Cutoff | None = None) -> Scores:
    """
    How close in meaning the best of the first *k* results comes to an accepted answer.

    Formula: the highest match score of the first *k* texts (of all, without a cutoff) with any accepted answer: the
    cosine of their embeddings, 0 if it is negative; 0 if nothing was retrieved. `embedder` names an installed
    embedder; with another `matcher`, its scores from its threshold on.

    When to use it: answers are paraphrased, so `answer-containment-at-k` finds too few. Compare only values of one
    model: 0.6 means different things in different models.

    Args:
        judged: The retrieved texts of a batch of samples, judged against the accepted answers.

        k: How many results count, for all samples or for each; None for all.

    Returns:
        Shape (n,), from 0 to 1; NaN if there is no answer.
    """
    scores = _best(judged, k)
    scores[judged.n_gold() == 0] = np.nan
    return scores


def _best(judged: Judged, k: Cutoff | None) -> Scores:
    """Return the highest match score of each sample within the cutoff, 0 if nothing matched; shape (n,)."""
    rank, sample = judged.rows.rank, judged.rows.sample
    within = np.ones(len(rank), dtype=np.bool_) if k is None else rank <= (k if isinstance(k, int) else k[sample])
    scores = np.zeros(judged.n)
    np.maximum.at(scores, sample[within], judged.score[within])
    return scores


@hookimpl
def rankgauge_comparers() -> Sequence[Callable[..., Any]]:
    """Return the comparer."""
    return (embedding_cosine,)


@hookimpl
def rankgauge_matchers() -> Sequence[Callable[[], None]]:
    """Return the matchers over the default model."""
    return (semantic, semantic_score)


@hookimpl
def rankgauge_metrics() -> Sequence[Callable[..., Any]]:
    """Return the metric."""
    return (answer_semantic_similarity,)


def semantic_plugin(embedder: Embedder, *, name: str, threshold: float = _THRESHOLD) -> object:
    """
    Make a plugin from an embedder that no installed package offers.

    ::

        plugin = semantic_plugin(Embedder("house-v3", model.encode), name="house")
        catalog = Catalog.discover(plugins={"house": plugin})
        Engine(catalog=catalog).dataset(samples).with_metrics(["hit(gold=passages, matcher=house)@5"])

    Args:
        embedder: The embedder.

        name: Lower-case words joined by hyphens. The plugin offers the comparer ``NAME-cosine``, the matcher ``NAME``,
            and ``NAME-score`` for `answer-semantic-similarity`.

        threshold: The lowest cosine at which two texts match by the matcher ``NAME``.

    Returns:
        A plugin for `rankgauge.Catalog.discover`.

    Raises:
        RankgaugeError: The name or the threshold cannot be used.
    """
    vectors = _cached(embedder)

    def check() -> None:
        if embedder.check is not None:
            embedder.check()

    @comparer(f"{name}-cosine", check=check, prepare=vectors.add, laws=_LAWS)
    def cosine(retrieved: Sequence[str], gold: Sequence[str]) -> NDArray[np.float64]:
        """Score the cosine of two texts' embeddings, 0 if it is negative, to six decimals."""
        return vectors.cosines(retrieved, gold)

    @named_matcher(name, str(Matcher(("collapse-whitespace",), f"{name}-cosine", (), threshold)))
    def match() -> None:
        """Decide by meaning, by an embedder given in Python."""

    @named_matcher(f"{name}-score", str(Matcher(("collapse-whitespace",), f"{name}-cosine", (), _ANY)))
    def score() -> None:
        """Match every text with a cosine above 0, by an embedder given in Python."""

    return SimpleNamespace(
        rankgauge_comparers=hookimpl(lambda: [cosine]), rankgauge_matchers=hookimpl(lambda: [match, score])
    )
