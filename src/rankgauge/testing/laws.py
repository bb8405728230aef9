"""
The laws by name: what each one says, and what it applies to. `metric_laws` and its neighbours check them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from rankgauge.errors import ParameterError, did_you_mean
from rankgauge.testing.report import Exhibit, State, Verdict

__all__ = ["LAWS", "LawInfo", "Subjects", "check_names", "laws_of"]

Subjects = Literal["metric", "normalizer", "comparer", "matcher", "tokenizer", "reader", "reporter"]


@dataclass(frozen=True, slots=True)
class LawInfo:
    """
    One law.

    Attributes:
        name: Its name in declarations, reports and ``--without``.

        kind: What it applies to.

        summary: What it says, in a clause.

        when: `every`: it applies to all of that kind; `declared`: to those whose declaration names it; `elsewhere`:
            only to metrics that were not written for rankgauge.

        elsewhere: Whether it also applies to metrics that were not written for rankgauge.
    """

    name: str
    kind: Subjects
    summary: str
    when: Literal["every", "declared", "elsewhere"] = "every"
    elsewhere: bool = True

    def verdict(self, state: State, reason: str = "", example: tuple[Exhibit, ...] = ()) -> Verdict:
        """Return what became of this law."""
        return Verdict(law=self.name, says=self.summary, state=state, reason=reason, example=example)


LAWS: tuple[LawInfo, ...] = (
    LawInfo("usable", "metric", "the engine can resolve the metric, call it and aggregate its scores", elsewhere=False),
    LawInfo("bounded", "metric", "the score lies within the range", "declared"),
    LawInfo("perfect", "metric", "all relevant items and no others, best first, get the best score", "elsewhere"),
    LawInfo("perfect-is-one", "metric", "a perfect ranking scores 1 at every cutoff", "declared", elsewhere=False),
    LawInfo("best-first", "metric", "no order of the same results scores more than the best items first", "declared"),
    LawInfo("relevant-helps", "metric", "a relevant result in place of an irrelevant one never hurts", "declared"),
    LawInfo("padding", "metric", "unjudged results below the last one, up to k, change nothing", "declared"),
    LawInfo("tail", "metric", "results below rank k change nothing", "declared"),
    LawInfo("top-rank", "metric", "where each rank is worth less than the one above, rank 2 is worth less than rank 1"),
    LawInfo("duplicates", "metric", "a duplicate never raises the score, nor takes it out of its range", "declared"),
    LawInfo("monotone-in-k", "metric", "the score never falls as k grows", "declared", elsewhere=False),
    LawInfo("ties", "metric", "results of one grade can change places, and those of one score can come in any order"),
    LawInfo("constant-scorer", "metric", "where all results have one score, the order they came in changes nothing"),
    LawInfo("gold-order", "metric", "the order in which the ground truth is listed changes nothing"),
    LawInfo("empty-list", "metric", "where nothing is retrieved the score is the lowest possible, or undefined"),
    LawInfo("empty-gold", "metric", "where nothing is relevant the score is undefined or 0, and never an error"),
    LawInfo("huge-cutoff", "metric", "a cutoff far beyond the list gives a finite score within the range"),
    LawInfo("sees-the-ranking", "metric", "the score depends on what was retrieved"),
    LawInfo("expectation", "metric", "its `expectation` is the mean over all orders of tied results", elsewhere=False),
    LawInfo("contributions", "metric", "its `contributions` add up to the score", elsewhere=False),
    LawInfo("order-of-samples", "metric", "the order of the samples changes neither their scores nor the mean"),
    LawInfo("one-by-one", "metric", "a sample scores the same alone and in a batch, to the last bit"),
    LawInfo("batch-size", "metric", "the size of the batches changes nothing, to the last bit", elsewhere=False),
    LawInfo("parts", "metric", "merged parts equal the whole, to the last bit", elsewhere=False),
    LawInfo("twice", "metric", "the same ranking always gets the same score, whatever was scored in between"),
    LawInfo("arguments", "metric", "the function does not change its arguments"),
    LawInfo("pickling", "metric", "the function can be sent to another process"),
    LawInfo("no-network", "metric", "nothing connects to the network"),
    LawInfo("total", "normalizer", "any text, however odd, gives a text"),
    LawInfo("twice", "normalizer", "the same text always gives the same text"),
    LawInfo("idempotent", "normalizer", "normalizing again changes nothing; not for the stage `decode`"),
    LawInfo("pickling", "normalizer", "the function can be sent to another process"),
    LawInfo("no-network", "normalizer", "nothing connects to the network"),
    LawInfo("bounded", "comparer", "scores are from 0 to 1, in the shape (retrieved, gold)"),
    LawInfo("pair-by-pair", "comparer", "a pair scores the same alone and in a block"),
    LawInfo("cutoff", "comparer", "a cutoff changes no score at or above it, and lifts no score up to it"),
    LawInfo("twice", "comparer", "the same texts always get the same scores"),
    LawInfo("prepared", "comparer", "`prepare` changes no score"),
    LawInfo("many-samples", "comparer", "`batch` scores each of many samples as the function does, to the last bit"),
    LawInfo("arguments", "comparer", "the function does not change its arguments"),
    LawInfo("reflexive", "comparer", "a text that is not empty scores 1 against itself", "declared"),
    LawInfo("empty-scores-zero", "comparer", "an empty text scores 0 against everything", "declared"),
    LawInfo("symmetric", "comparer", "two texts score the same in either order", "declared"),
    LawInfo("pickling", "comparer", "the function can be sent to another process"),
    LawInfo("no-network", "comparer", "nothing connects to the network"),
    LawInfo("usable", "matcher", "its names can be resolved, and its stages are in order"),
    LawInfo("prints-as-read", "matcher", "it prints as text that gives the same matcher when read"),
    LawInfo("total", "matcher", "any two texts, however odd, get a score from 0 to 1"),
    LawInfo("twice", "matcher", "the same two texts always get the same score"),
    LawInfo(
        "matches-itself",
        "matcher",
        "a text that is not empty once normalized matches itself, if its comparer is reflexive",
    ),
    LawInfo(
        "nothing-matches-nothing",
        "matcher",
        "a text that is empty once normalized matches none, if its comparer scores it 0",
    ),
    LawInfo("no-network", "matcher", "nothing connects to the network"),
    LawInfo("total", "tokenizer", "any text, however odd, has a number of tokens, 0 or more"),
    LawInfo("empty", "tokenizer", "the empty text has no token"),
    LawInfo("twice", "tokenizer", "the same text always has the same number of tokens"),
    LawInfo("monotone", "tokenizer", "a text with a line break and more behind it has no fewer tokens", "declared"),
    LawInfo("subadditive", "tokenizer", "two texts joined by a line break have at most one token more", "declared"),
    LawInfo("pickling", "tokenizer", "the function can be sent to another process"),
    LawInfo("no-network", "tokenizer", "nothing connects to the network"),
    LawInfo("tiny-files", "reader", "an empty, a tiny and a damaged file give records, or `DataError`"),
    LawInfo("tiny-results", "reporter", "results with and without scores give a text"),
)
"""Every law, in the order in which reports list them."""


def laws_of(kind: Subjects) -> Mapping[str, LawInfo]:
    """Return the laws of one kind by name, in the order in which they are checked."""
    return MappingProxyType({law.name: law for law in LAWS if law.kind == kind})


def check_names(kind: Subjects | None, names: Iterable[str]) -> frozenset[str]:
    """Return names of laws as a set; raise `ParameterError` for one that no law of that kind has (None: any kind)."""
    known = dict.fromkeys(law.name for law in LAWS if kind in {None, law.kind})
    given = (names,) if isinstance(names, str) else tuple(names)
    for name in given:
        if name not in known:
            of = "" if kind is None else f" of a {kind}"
            msg = f"there is no law {name!r}{of}{did_you_mean(name, known)}; known are {', '.join(known)}"
            raise ParameterError(msg)
    return frozenset(given)
