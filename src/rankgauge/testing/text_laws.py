"""
The laws of normalizers, comparers and matchers, each a check with its strategies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from numpy.typing import NDArray

from rankgauge.catalog import ResolvedMatcher
from rankgauge.judging.by_text import checked_scores
from rankgauge.plugin.matching import Normalizer, parse_matcher
from rankgauge.testing.trial import TEXTS, Law, Strategies, Trial, unless

__all__ = [
    "COMPARER_LAWS",
    "MATCHER_LAWS",
    "NORMALIZER_LAWS",
    "ComparerSubject",
    "MatcherSubject",
    "Variant",
]

Block = NDArray[np.float64]


class Variant(NamedTuple):
    """
    A comparer with one choice of its parameters.

    Attributes:
        spec: How it is written.

        compare: The function of two blocks of texts.

        prepare: Called with many texts before they are compared; None where the comparer declares nothing of the kind.

        batch: The function of many samples at once; None where the comparer declares none.
    """

    spec: str
    compare: Callable[..., object]
    prepare: Callable[..., object] | None = None
    batch: Callable[..., object] | None = None


@dataclass(frozen=True, eq=False)
class ComparerSubject:
    """A comparer: its function, its variants (the default one first), and whether it has a parameter `cutoff`."""

    function: Callable[..., object]
    variants: tuple[Variant, ...]
    takes_cutoff: bool
    slack: float = 2e-6
    """A score of six decimals may be rounded up once and down the other time."""


@dataclass(frozen=True, eq=False)
class MatcherSubject:
    """A matcher: what it resolves to, and the laws that its comparer declares."""

    matcher: ResolvedMatcher
    comparer_laws: frozenset[str]


def _normalized(trial: Trial[Normalizer], text: str, note: str = "") -> str:
    found: object = trial.attempt(lambda: trial.subject.function(text), {"text": repr(text), "note": note})
    trial.note(text=repr(text), gives=repr(found), note=note)
    trial.demand(isinstance(found, str), f"it returned a {type(found).__name__}, not a text")
    return str(found)


def _normalizer_twice(trial: Trial[Normalizer], text: str, between: str) -> None:
    trial.repeats(
        lambda: _normalized(trial, text),
        lambda: _normalized(trial, between),
        "it gives another text the second time",
    )


def _idempotent(trial: Trial[Normalizer], text: str) -> None:
    once = _normalized(trial, text)

    trial.demand(once == _normalized(trial, once, "again"), "normalizing again changes it")


def _block(
    trial: Trial[Any], variant: Variant, retrieved: Sequence[str], gold: Sequence[str], cutoff: float | None = None
) -> Block:
    """Compare two blocks of texts, and keep the scores for the report; a comparer that fails breaks the law."""
    facts: dict[str, object] = {
        "retrieved": [repr(text) for text in retrieved],
        "against": [repr(text) for text in gold],
        "comparer": variant.spec,
        "cutoff": "" if cutoff is None else cutoff,
    }
    options = {} if cutoff is None else {"cutoff": cutoff}
    returned = trial.attempt(lambda: variant.compare(retrieved, gold, **options), facts)
    try:
        scores = checked_scores(returned, len(retrieved), len(gold))
    except (TypeError, ValueError) as error:
        trial.note(**facts, returned=repr(returned))
        trial.fail(str(error))
    trial.note(**facts, scores=[[float(score) for score in row] for row in scores])
    return scores


def _pair(trial: Trial[Any], variant: Variant, retrieved: str, gold: str) -> float:
    return float(_block(trial, variant, [retrieved], [gold])[0, 0])


def _pair_by_pair(trial: Trial[ComparerSubject], variant: Variant, retrieved: list[str], gold: list[str]) -> None:
    block = _block(trial, variant, retrieved, gold)
    for row, found in enumerate(retrieved):
        for column, wanted in enumerate(gold):
            trial.forget(1)  # the pairs before it; the block stays
            alone = _pair(trial, variant, found, wanted)
            same = abs(block[row, column] - alone) <= trial.subject.slack
            trial.demand(same, f"in the block the pair scores {block[row, column]!r}, alone {alone!r}")


def _comparer_cutoff(
    trial: Trial[ComparerSubject], variant: Variant, retrieved: list[str], gold: list[str], cutoff: float
) -> None:
    whole = _block(trial, variant, retrieved, gold)
    cut = _block(trial, variant, retrieved, gold, cutoff)
    above = whole >= min(cutoff + trial.subject.slack, 1.0)
    below = whole < cutoff - trial.subject.slack
    kept = bool((np.abs(cut - whole) <= trial.subject.slack)[above].all())

    trial.demand(kept, "a score at or above the cutoff changes with it")
    trial.demand(bool((cut < cutoff)[below].all()), "with the cutoff, a score below it reaches it")


def _comparer_twice(
    trial: Trial[ComparerSubject], variant: Variant, retrieved: list[str], gold: list[str], between: list[str]
) -> None:
    trial.repeats(
        lambda: _block(trial, variant, retrieved, gold).tolist(),
        lambda: _block(trial, variant, between, between),
        "it scores the same texts differently the second time",
    )


def _prepared(
    trial: Trial[ComparerSubject], variant: Variant, retrieved: list[str], gold: list[str], others: list[str]
) -> None:
    if variant.prepare is None:
        return
    gold = [*gold, *retrieved]  # so that equal texts are compared before any was prepared
    before = _block(trial, variant, retrieved, gold)
    prepare, together = variant.prepare, list(dict.fromkeys([*others, *retrieved, *gold]))
    trial.attempt(lambda: prepare(together), {}, "`prepare`")
    after = _block(trial, variant, retrieved, gold)

    trial.demand(bool((np.abs(before - after) <= trial.subject.slack).all()), "it scores differently once prepared")


def _many_samples(
    trial: Trial[ComparerSubject], variant: Variant, retrieved: list[str], gold: list[str], others: list[str]
) -> None:
    if variant.batch is None:
        return
    samples = [(retrieved, gold), (others, [*retrieved, *gold]), ([*gold, *others], gold)]
    alone = [_block(trial, variant, *each) for each in samples]
    batch, (found, wanted) = variant.batch, map(list, zip(*samples, strict=True))
    returned: Any = trial.attempt(lambda: batch(found, wanted), {}, "`batch`")
    try:
        pairs = zip(returned, samples, strict=True)
        together = [checked_scores(block, len(own), len(other)) for block, (own, other) in pairs]
    except (TypeError, ValueError) as error:
        trial.fail(f"`batch`: {error}")
    for place, (one, many) in enumerate(zip(alone, together, strict=True), 1):
        trial.note(retrieved=repr(found[place - 1]), against=repr(wanted[place - 1]), comparer=variant.spec)
        same = np.array_equal(one, many)
        trial.demand(same, f"sample {place} of 3 scores {many.tolist()} together, {one.tolist()} alone")


def _comparer_arguments(trial: Trial[ComparerSubject], variant: Variant, retrieved: list[str], gold: list[str]) -> None:
    before = (list(retrieved), list(gold))
    _block(trial, variant, retrieved, gold)

    trial.demand(before == (retrieved, gold), "it changed the texts that it was given; work on a copy")


def _reflexive(trial: Trial[ComparerSubject], variant: Variant, text: str) -> None:
    if text:
        score = _pair(trial, variant, text, text)
        trial.demand(score >= 1.0 - trial.subject.slack, f"a text scores {score!r} against itself")


def _empty_scores_zero(trial: Trial[ComparerSubject], variant: Variant, text: str) -> None:
    for retrieved, gold in (("", text), (text, "")):
        trial.forget()
        score = _pair(trial, variant, retrieved, gold)
        trial.demand(score == 0.0, f"an empty text scores {score!r}")


def _symmetric(trial: Trial[ComparerSubject], variant: Variant, pair: tuple[str, str]) -> None:
    one, other = pair
    there = _pair(trial, variant, one, other)
    back = _pair(trial, variant, other, one)

    trial.demand(abs(there - back) <= trial.subject.slack, f"in one order it is {there!r}, in the other {back!r}")


def _match(trial: Trial[MatcherSubject], retrieved: str, gold: str) -> tuple[str, str, float]:
    """Return both texts normalized, and their score."""
    matcher = trial.subject.matcher
    facts = {"retrieved": repr(retrieved), "against": repr(gold)}
    prepared, wanted = trial.attempt(
        lambda: [matcher.normalize(text) for text in (retrieved, gold)], facts, "a normalizer"
    )
    return prepared, wanted, _pair(trial, Variant("", matcher.compare), prepared, wanted)


def _matcher_twice(trial: Trial[MatcherSubject], retrieved: str, gold: str, between: str) -> None:
    trial.repeats(
        lambda: _match(trial, retrieved, gold),
        lambda: _match(trial, between, gold),
        "the same texts do not score the same the second time",
    )


def _matches_itself(trial: Trial[MatcherSubject], text: str) -> None:
    prepared, _, score = _match(trial, text, text)
    threshold = trial.subject.matcher.matcher.threshold
    if prepared:
        trial.demand(score >= threshold, f"normalized to {prepared!r}, a text scores {score!r} against itself")


def _nothing_matches_nothing(trial: Trial[MatcherSubject], blank: str, text: str) -> None:
    for retrieved, gold in ((blank, text), (text, blank)):
        trial.forget()
        prepared, wanted, score = _match(trial, retrieved, gold)
        if "" in {prepared, wanted}:
            matched = score >= trial.subject.matcher.matcher.threshold
            trial.demand(not matched, f"a text that is empty once normalized scores {score!r}, so it matches")


def _prints_as_read(trial: Trial[MatcherSubject]) -> None:
    matcher = trial.subject.matcher.matcher
    trial.note(prints=str(matcher))

    trial.demand(parse_matcher(str(matcher)) == matcher, "it is read as another matcher")


def _pickling(trial: Trial[Any]) -> None:
    trial.pickles(trial.subject.function)


def _drawn(*strategies: SearchStrategy[Any]) -> Callable[[Any], Strategies]:
    return lambda _subject: strategies


def _with_variant(*strategies: SearchStrategy[Any]) -> Callable[[ComparerSubject], Strategies]:
    return lambda subject: (st.sampled_from(subject.variants), *strategies)


_BLOCKS = st.lists(st.sampled_from(["a", "ab", "a b", "b", ""]) | TEXTS, max_size=4)
_BLANKS = st.text(" \t\n\u00a0\u2003", max_size=4) | TEXTS
_PAIRS = st.tuples(TEXTS, TEXTS)
_RELATED = (
    _PAIRS
    | _PAIRS.map(lambda both: (both[0], both[0] + both[1]))
    | _PAIRS.map(lambda both: (both[0], both[1] + both[0]))
)
"""Two texts: any two, or one and another that contains it."""
_THRESHOLDS = st.sampled_from([0.1, 0.5, 0.75, 0.9, 1.0])

NORMALIZER_LAWS: dict[str, Law] = {
    "total": Law(_normalized, _drawn(TEXTS), cost=0.2),
    "twice": Law(_normalizer_twice, _drawn(TEXTS, TEXTS)),
    "idempotent": Law(
        _idempotent,
        _drawn(TEXTS),
        unless(lambda subject: subject.stage != "decode", "it decodes, so it may find more to decode"),
        cost=0.2,
    ),
    "pickling": Law(_pickling, None),
}

COMPARER_LAWS: dict[str, Law] = {
    "bounded": Law(_block, _with_variant(_BLOCKS, _BLOCKS)),
    "pair-by-pair": Law(_pair_by_pair, _with_variant(_BLOCKS, _BLOCKS)),
    "cutoff": Law(
        _comparer_cutoff,
        _with_variant(_BLOCKS, _BLOCKS, _THRESHOLDS),
        unless(lambda subject: subject.takes_cutoff, "it has no parameter `cutoff`"),
    ),
    "twice": Law(_comparer_twice, _with_variant(_BLOCKS, _BLOCKS, _BLOCKS)),
    "prepared": Law(
        _prepared,
        _with_variant(_BLOCKS, _BLOCKS, _BLOCKS),
        unless(lambda subject: subject.variants[0].prepare, "it declares no `prepare`"),
    ),
    "many-samples": Law(
        _many_samples,
        _with_variant(_BLOCKS, _BLOCKS, _BLOCKS),
        unless(lambda subject: subject.variants[0].batch, "it declares no `batch`"),
    ),
    "arguments": Law(_comparer_arguments, _with_variant(_BLOCKS, _BLOCKS)),
    "reflexive": Law(_reflexive, _with_variant(TEXTS)),
    "empty-scores-zero": Law(_empty_scores_zero, _with_variant(TEXTS)),
    "symmetric": Law(_symmetric, _with_variant(_RELATED)),
    "pickling": Law(_pickling, None),
}

MATCHER_LAWS: dict[str, Law] = {
    "prints-as-read": Law(_prints_as_read, None),
    "total": Law(_match, _drawn(TEXTS, TEXTS)),
    "twice": Law(_matcher_twice, _drawn(TEXTS, TEXTS, TEXTS)),
    "matches-itself": Law(
        _matches_itself,
        _drawn(TEXTS),
        unless(lambda subject: "reflexive" in subject.comparer_laws, "its comparer does not declare `reflexive`"),
    ),
    "nothing-matches-nothing": Law(
        _nothing_matches_nothing,
        _drawn(_BLANKS, TEXTS),
        unless(
            lambda subject: "empty-scores-zero" in subject.comparer_laws,
            "its comparer does not declare `empty-scores-zero`",
        ),
    ),
}
