"""
The laws by name: what each one says, and for whom it holds. How they are checked stands in the modules beside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from rankgauge.errors import ParameterError, did_you_mean

__all__ = ["LAWS", "LawInfo", "Subjects", "check_names", "laws_of"]

Subjects = Literal["metric", "normalizer", "comparer", "matcher"]


@dataclass(frozen=True, slots=True)
class LawInfo:
    """
    One law.

    Attributes:
        name: What declarations, reports and ``--without`` call it.

        kind: What it is a law of.

        summary: What it says, in a clause.

        when: `every`: it holds for all of that kind; `declared`: for those whose declaration names it; `elsewhere`:
            only for metrics that were not written for rankgauge.

        elsewhere: Whether it is checked of a metric that declares nothing, too.
    """

    name: str
    kind: Subjects
    summary: str
    when: Literal["every", "declared", "elsewhere"] = "every"
    elsewhere: bool = True


LAWS: tuple[LawInfo, ...] = (
    LawInfo("usable", "metric", "the engine can resolve the metric, and call it", elsewhere=False),
    LawInfo("bounded", "metric", "the score lies within the range", "declared"),
    LawInfo(
        "perfect",
        "metric",
        "all relevant items and nothing else, best first, cut at their number, score 1",
        "elsewhere",
    ),
    LawInfo(
        "perfect-is-one",
        "metric",
        "all relevant items, best first, score 1 at every cutoff",
        "declared",
        elsewhere=False,
    ),
    LawInfo(
        "best-first", "metric", "no order of the same results beats the relevant ones first, best first", "declared"
    ),
    LawInfo(
        "relevant-helps", "metric", "a relevant result in place of an irrelevant one never makes it worse", "declared"
    ),
    LawInfo(
        "padding",
        "metric",
        "unjudged results below the last one, up to k, change nothing: a short list is no excuse",
        "declared",
    ),
    LawInfo("tail", "metric", "what stands behind rank k changes nothing", "declared"),
    LawInfo(
        "duplicates",
        "metric",
        "retrieving an item again never makes the score better, nor takes it out of its range",
        "declared",
    ),
    LawInfo("monotone-in-k", "metric", "the score never falls as k grows", "declared", elsewhere=False),
    LawInfo("ties", "metric", "results of one grade can change places, and those of one score can come in any order"),
    LawInfo("constant-scorer", "metric", "where all results have one score, the order they came in decides nothing"),
    LawInfo("gold-order", "metric", "the order in which the ground truth is listed decides nothing"),
    LawInfo("empty-list", "metric", "nothing retrieved scores the least there is, or has no score"),
    LawInfo("empty-gold", "metric", "where nothing is relevant there is no score, or 0, and never an error"),
    LawInfo("huge-cutoff", "metric", "a cutoff far beyond the list gives a finite score within the range"),
    LawInfo("sees-the-ranking", "metric", "the score is not the same whatever was retrieved"),
    LawInfo(
        "expectation",
        "metric",
        "what it declares for `ties=average` is the mean over all orders of tied results",
        elsewhere=False,
    ),
    LawInfo("order-of-samples", "metric", "the order of the samples changes neither their scores nor the mean"),
    LawInfo("one-by-one", "metric", "a batch gives every sample the score that it has alone, to the last bit"),
    LawInfo("batch-size", "metric", "the size of the batches changes nothing, to the last bit", elsewhere=False),
    LawInfo("parts", "metric", "merged parts equal the whole, to the last bit", elsewhere=False),
    LawInfo("twice", "metric", "evaluating twice equals evaluating once, whatever was scored between"),
    LawInfo("arguments", "metric", "what the function is given stays as it was"),
    LawInfo("pickling", "metric", "the function can be sent to another process"),
    LawInfo("no-network", "metric", "nothing connects to anywhere"),
    LawInfo("total", "normalizer", "any text, however odd, becomes a text"),
    LawInfo("twice", "normalizer", "one text always becomes the same text"),
    LawInfo("idempotent", "normalizer", "normalizing what is normalized changes nothing; not for the stage `decode`"),
    LawInfo("pickling", "normalizer", "the function can be sent to another process"),
    LawInfo("no-network", "normalizer", "nothing connects to anywhere"),
    LawInfo("bounded", "comparer", "scores are from 0 to 1, in the shape (retrieved, gold)"),
    LawInfo("pair-by-pair", "comparer", "a block gives every pair the score that it has alone"),
    LawInfo(
        "cutoff", "comparer", "with a cutoff, a score at or above it stays what it is without, and others stay below"
    ),
    LawInfo("twice", "comparer", "equal texts always get the same scores"),
    LawInfo("prepared", "comparer", "`prepare` changes no score"),
    LawInfo("arguments", "comparer", "what the function is given stays as it was"),
    LawInfo("reflexive", "comparer", "a text that is not empty scores 1 against itself", "declared"),
    LawInfo("empty-scores-zero", "comparer", "an empty text scores 0 against everything", "declared"),
    LawInfo("symmetric", "comparer", "two texts score the same in either order", "declared"),
    LawInfo("pickling", "comparer", "the function can be sent to another process"),
    LawInfo("no-network", "comparer", "nothing connects to anywhere"),
    LawInfo("usable", "matcher", "its names can be resolved, and its stages are in order"),
    LawInfo("prints-as-read", "matcher", "it is read again from what it prints"),
    LawInfo("total", "matcher", "any two texts, however odd, get a score from 0 to 1"),
    LawInfo("twice", "matcher", "one pair of texts always gets the same score"),
    LawInfo(
        "matches-itself", "matcher", "a text of which something is left matches itself; if its comparer is reflexive"
    ),
    LawInfo(
        "nothing-matches-nothing",
        "matcher",
        "a text of which nothing is left matches none; if its comparer scores it 0",
    ),
    LawInfo("no-network", "matcher", "nothing connects to anywhere"),
)
"""Every law, in the order in which reports list them."""


def laws_of(kind: Subjects) -> Mapping[str, LawInfo]:
    """
    Return the laws of one kind.

    Args:
        kind: `metric`, `normalizer`, `comparer` or `matcher`.

    Returns:
        The laws by name, in the order in which they are checked.
    """
    return MappingProxyType({law.name: law for law in LAWS if law.kind == kind})


def check_names(kind: Subjects | None, names: Iterable[str]) -> frozenset[str]:
    """
    Return names of laws as a set.

    Args:
        kind: What they are laws of; None for anything.

        names: The names.

    Returns:
        The names.

    Raises:
        ParameterError: One of them names no law of that kind.
    """
    known = dict.fromkeys(law.name for law in LAWS if kind in {None, law.kind})
    given = (names,) if isinstance(names, str) else tuple(names)
    for name in given:
        if name not in known:
            of = "" if kind is None else f" of a {kind}"
            msg = f"there is no law {name!r}{of}{did_you_mean(name, known)}; known are {', '.join(known)}"
            raise ParameterError(msg)
    return frozenset(given)
