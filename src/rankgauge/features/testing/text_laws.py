"""
The laws of normalizers, comparers, matchers and tokenizers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from rankgauge.catalog import Catalog, ResolvedMatcher
from rankgauge.errors import RankgaugeError
from rankgauge.features.testing.drawn_cases import TEXT
from rankgauge.features.testing.law import Laws, Trial, book, draw, law, no_network, pickling, unless
from rankgauge.features.testing.state_laws import text_state, texts_state
from rankgauge.features.testing.tokenizer_laws import TOKENIZER_LAWS
from rankgauge.judging.by_text import covers_of, scores_of
from rankgauge.plugin.matching import Covers, Normalizer, parse_matcher

__all__ = ["TEXT_LAWS", "ComparerSubject", "MatcherSubject", "Variant"]

_SLACK = 2e-6
"""A score of six decimals may be rounded up once and down the other time."""

_BLOCK = st.lists(st.sampled_from(["a", "ab", "a b", "b", ""]) | TEXT, max_size=4)
_BLANK = st.text(" \t\n\u00a0\u2003", max_size=4) | TEXT
_TWO = st.tuples(TEXT, TEXT)
_PAIR = _TWO | _TWO.map(lambda two: (two[0], two[0] + two[1])) | _TWO.map(lambda two: (two[0], two[1] + two[0]))
"""Two texts: any two, or one and another that contains it."""

_NEEDS_FOLD = unless(lambda subject: subject.stage != "decode", "it decodes, so it may find more to decode")
_NEEDS_CUTOFF = unless(lambda subject: subject.takes_cutoff, "it has no parameter `cutoff`")
_NEEDS_PREPARE = unless(lambda subject: subject.variants[0].prepare, "it declares no `prepare`")
_NEEDS_BATCH = unless(lambda subject: subject.variants[0].batch, "it declares no `batch`")


class Variant(NamedTuple):
    """A comparer with one choice of its parameters: how it is written, and the functions that it declares."""

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


@dataclass(frozen=True)
class MatcherSubject:
    """A matcher as it is written, and the catalog that knows its parts."""

    spec: str
    catalog: Catalog

    @functools.cached_property
    def resolved(self) -> ResolvedMatcher:
        """Return what it resolves to; raise if it does not."""
        return self.catalog.matcher(self.spec)

    def declares(self, law: str) -> bool:
        """Return whether its comparer declares a law."""
        claim = self.catalog.all("comparer").get(self.resolved.matcher.comparer)
        return claim is not None and law in claim.declaration.laws


Texts = list[str]
Scores = NDArray[np.float64]


def _variant(subject: ComparerSubject) -> st.SearchStrategy[Variant]:
    return st.sampled_from(subject.variants)


def _normalized(trial: Trial[Normalizer], text: str, note: str = "") -> str:
    """Any text, however odd, gives a text."""
    normalized: object = trial.attempt(lambda: trial.subject.function(text), {"text": repr(text), "note": note})
    trial.note(text=repr(text), gives=repr(normalized), note=note)
    trial.demand(isinstance(normalized, str), f"it returned a {type(normalized).__name__}, not a text")
    return str(normalized)


@law(draw(TEXT, TEXT), name="twice")
def _normalizer_twice(trial: Trial[Normalizer], text: str, between: str) -> None:
    """The same text always gives the same text."""
    wrong = "it gives another text the second time"
    trial.repeats(lambda: _normalized(trial, text), lambda: _normalized(trial, between), wrong)


@law(draw(TEXT), skip=_NEEDS_FOLD, cost=0.2)
def _idempotent(trial: Trial[Normalizer], text: str) -> None:
    """Normalizing again changes nothing; not for the stage `decode`."""
    once = _normalized(trial, text)
    trial.demand(once == _normalized(trial, once, "again"), "normalizing again changes it")


@law(draw(st.lists(_BLANK, max_size=4)), skip=unless(lambda subject: subject.batch, "it declares no `batch`"))
def _many_texts(trial: Trial[Normalizer], texts: Texts) -> None:
    """`batch` gives for each of many texts what the function does."""
    alone, batch = [_normalized(trial, text) for text in texts], trial.subject.batch
    together: Any = trial.attempt(lambda: batch and list(batch(texts)), {"texts": repr(texts)}, "`batch`")
    trial.demand(together == alone, f"`batch` gives {together!r}")


_normalizer_total = law(draw(TEXT), name="total", cost=0.2)(_normalized)
NORMALIZER_LAWS = book(_normalizer_total, _normalizer_twice, _idempotent, _many_texts, text_state, pickling, no_network)


class _Compared(NamedTuple):
    """What a comparer returned: scores, and where it returns covers, the parts of each pair of texts."""

    scores: Scores
    parts: Mapping[tuple[int, int], Sequence[tuple[int, int]]] | None = None

    @classmethod
    def of(cls, returned: object, retrieved: int, gold: int) -> _Compared:
        """Return it checked; raise ValueError if it does not fit so many texts."""
        scores = scores_of(returned, retrieved, gold)
        if not isinstance(returned, Covers):
            return cls(scores)
        parts: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for row, column, start, end in zip(
            *map(np.ndarray.tolist, covers_of(returned, retrieved, gold)[:4]), strict=True
        ):
            parts.setdefault((row, column), []).append((start, end))
        return cls(scores, parts)


def _compared(
    trial: Trial[Any], variant: Variant, retrieved: Sequence[str], gold: Sequence[str], cutoff: float | None = None
) -> _Compared:
    """All scores are from 0 to 1, in the shape (retrieved, gold)."""
    facts: dict[str, object] = {
        "retrieved": [repr(text) for text in retrieved],
        "against": [repr(text) for text in gold],
        "comparer": variant.spec,
        "cutoff": "" if cutoff is None else cutoff,
    }
    options = {} if cutoff is None else {"cutoff": cutoff}
    returned = trial.attempt(lambda: variant.compare(retrieved, gold, **options), facts)
    try:
        compared = _Compared.of(returned, len(retrieved), len(gold))
    except (TypeError, ValueError) as error:
        trial.note(**facts, returned=repr(returned))
        trial.fail(str(error))
    trial.note(**facts, scores=[[float(score) for score in row] for row in compared.scores])
    return compared


def _block(trial: Trial[Any], variant: Variant, own: Texts, gold: Texts, cutoff: float | None = None) -> Scores:
    return _compared(trial, variant, own, gold, cutoff).scores


def _pair(trial: Trial[Any], variant: Variant, retrieved: str, gold: str) -> float:
    return float(_block(trial, variant, [retrieved], [gold])[0, 0])


Comparing = Trial[ComparerSubject]


@law(draw(_variant, _BLOCK, _BLOCK))
def _pair_by_pair(trial: Comparing, variant: Variant, retrieved: Texts, gold: Texts) -> None:
    """A pair scores the same alone and in a block, and has the same parts in common."""
    whole = _compared(trial, variant, retrieved, gold)
    block = whole.scores
    for row, one in enumerate(retrieved):
        for column, other in enumerate(gold):
            trial.forget(1)  # the pairs before it; the block stays
            pair = _compared(trial, variant, [one], [other])
            alone, together = float(pair.scores[0, 0]), block[row, column]
            same = abs(together - alone) <= _SLACK
            trial.demand(same, f"in the block the pair scores {together!r}, alone {alone!r}")
            if whole.parts is not None and pair.parts is not None:
                parts, of_pair = whole.parts.get((row, column)), pair.parts.get((0, 0))
                trial.demand(parts == of_pair, f"in the block the pair has {parts} in common, alone {of_pair}")


@law(draw(_variant, _BLOCK, _BLOCK, st.sampled_from([0.1, 0.5, 0.75, 0.9, 1.0])), skip=_NEEDS_CUTOFF)
def _cutoff(trial: Comparing, variant: Variant, retrieved: Texts, gold: Texts, cutoff: float) -> None:
    """A cutoff changes no score at or above it, and lifts no score up to it."""
    whole = _block(trial, variant, retrieved, gold)
    cut = _block(trial, variant, retrieved, gold, cutoff=cutoff)
    above, below = whole >= min(cutoff + _SLACK, 1.0), whole < cutoff - _SLACK
    kept = bool((np.abs(cut - whole) <= _SLACK)[above].all())
    trial.demand(kept, "a score at or above the cutoff changes with it")
    trial.demand(bool((cut < cutoff)[below].all()), "with the cutoff, a score below it reaches it")


@law(draw(_variant, _BLOCK, _BLOCK, _BLOCK), name="twice")
def _comparer_twice(trial: Comparing, variant: Variant, retrieved: Texts, gold: Texts, between: Texts) -> None:
    """The same texts always get the same scores."""
    wrong = "it scores the same texts differently the second time"
    again, other = (retrieved, gold), (between, between)
    trial.repeats(lambda: _block(trial, variant, *again).tolist(), lambda: _block(trial, variant, *other), wrong)


@law(draw(_variant, _BLOCK, _BLOCK, _BLOCK), skip=_NEEDS_PREPARE)
def _prepared(trial: Comparing, variant: Variant, retrieved: Texts, gold: Texts, others: Texts) -> None:
    """`prepare` changes no score."""
    if variant.prepare is None:
        return
    gold = [*gold, *retrieved]  # so that equal texts are compared before any was prepared
    before = _block(trial, variant, retrieved, gold)
    prepare, together = variant.prepare, list(dict.fromkeys([*others, *retrieved, *gold]))
    trial.attempt(lambda: prepare(together), {}, "`prepare`")
    after = _block(trial, variant, retrieved, gold)
    trial.demand(bool((np.abs(before - after) <= _SLACK).all()), "it scores differently once prepared")


@law(draw(_variant, _BLOCK, _BLOCK, _BLOCK), skip=_NEEDS_BATCH)
def _many_samples(trial: Comparing, variant: Variant, retrieved: Texts, gold: Texts, others: Texts) -> None:
    """`batch` scores each of many samples as the function does, to the last bit."""
    samples = [(retrieved, gold), (others, [*retrieved, *gold]), ([*gold, *others], gold)]
    alone = [_compared(trial, variant, *sample) for sample in samples]
    batch, both = variant.batch, map(list, zip(*samples, strict=True))
    returned: Any = trial.attempt(lambda: batch and batch(*both), {}, "`batch`")
    try:
        pairs = zip(returned, samples, strict=True)
        together = [_Compared.of(block, len(sample[0]), len(sample[1])) for block, sample in pairs]
    except (TypeError, ValueError) as error:
        trial.fail(f"`batch`: {error}")
    for number, (one, many, sample) in enumerate(zip(alone, together, samples, strict=True), 1):
        trial.note(retrieved=repr(sample[0]), against=repr(sample[1]), comparer=variant.spec)
        same = np.array_equal(one.scores, many.scores) and one.parts == many.parts
        trial.demand(same, f"sample {number} of 3 scores {many} together, {one} alone")


@law(draw(_variant, _BLOCK, _BLOCK), name="arguments")
def _comparer_arguments(trial: Comparing, variant: Variant, retrieved: Texts, gold: Texts) -> None:
    """The function does not change its arguments."""
    before = (list(retrieved), list(gold))
    _block(trial, variant, retrieved, gold)
    trial.demand(before == (retrieved, gold), "it changed the texts that it was given; work on a copy")


@law(draw(_variant, TEXT), when="declared")
def _reflexive(trial: Comparing, variant: Variant, text: str) -> None:
    """A text that is not empty scores 1 against itself."""
    if text:
        score = _pair(trial, variant, text, text)
        trial.demand(score >= 1.0 - _SLACK, f"a text scores {score!r} against itself")


@law(draw(_variant, TEXT), when="declared")
def _empty_scores_zero(trial: Comparing, variant: Variant, text: str) -> None:
    """An empty text scores 0 against everything."""
    for retrieved, gold in (("", text), (text, "")):
        trial.forget()
        score = _pair(trial, variant, retrieved, gold)
        trial.demand(score == 0.0, f"an empty text scores {score!r}")


@law(draw(_variant, _PAIR), when="declared")
def _symmetric(trial: Comparing, variant: Variant, pair: tuple[str, str]) -> None:
    """Two texts score the same in either order."""
    there, back = _pair(trial, variant, *pair), _pair(trial, variant, *reversed(pair))
    trial.demand(abs(there - back) <= _SLACK, f"in one order it is {there!r}, in the other {back!r}")


_comparer_bounded = law(draw(_variant, _BLOCK, _BLOCK), name="bounded")(_compared)
COMPARER_LAWS = book(
    *(_comparer_bounded, _pair_by_pair, _cutoff, _comparer_twice, _prepared, _many_samples, _comparer_arguments),
    *(_reflexive, _empty_scores_zero, _symmetric, texts_state, pickling, no_network),
)


def _match(trial: Trial[MatcherSubject], retrieved: str, gold: str) -> tuple[tuple[str, str], float, bool]:
    """Any two texts, however odd, get a score from 0 to 1."""
    matcher, facts = trial.subject.resolved, {"retrieved": repr(retrieved), "against": repr(gold)}
    texts = trial.attempt(lambda: (matcher.normalize(retrieved), matcher.normalize(gold)), facts, "a normalizer")
    compared = _compared(trial, Variant("", matcher.compare), [texts[0]], [texts[1]])
    score = float(compared.scores[0, 0])
    return texts, score, score >= matcher.matcher.threshold


@law()
def _usable(trial: Trial[MatcherSubject]) -> None:
    """Its names can be resolved, and its stages are in order."""
    try:
        _ = trial.subject.resolved
    except RankgaugeError as error:
        trial.fail(str(error))


@law()
def _prints_as_read(trial: Trial[MatcherSubject]) -> None:
    """It prints as text that gives the same matcher when read."""
    matcher = trial.subject.resolved.matcher
    trial.note(prints=str(matcher))
    trial.demand(parse_matcher(str(matcher)) == matcher, "it is read as another matcher")


@law(draw(TEXT, TEXT, TEXT), name="twice")
def _matcher_twice(trial: Trial[MatcherSubject], retrieved: str, gold: str, between: str) -> None:
    """The same two texts always get the same score."""
    wrong = "the same texts do not score the same the second time"
    trial.repeats(lambda: _match(trial, retrieved, gold), lambda: _match(trial, between, gold), wrong)


def _needs(name: str) -> Callable[[MatcherSubject], str]:
    return unless(lambda subject: subject.declares(name), f"its comparer does not declare `{name}`")


@law(draw(TEXT), skip=_needs("reflexive"))
def _matches_itself(trial: Trial[MatcherSubject], text: str) -> None:
    """A text that is not empty once normalized matches itself, if its comparer is reflexive."""
    (normalized, _), score, matched = _match(trial, text, text)
    trial.demand(matched or not normalized, f"normalized to {normalized!r}, a text scores {score!r} against itself")


@law(draw(_BLANK, TEXT), skip=_needs("empty-scores-zero"))
def _nothing_matches_nothing(trial: Trial[MatcherSubject], blank: str, text: str) -> None:
    """A text that is empty once normalized matches none, if its comparer scores it 0."""
    for retrieved, gold in ((blank, text), (text, blank)):
        trial.forget()
        texts, score, matched = _match(trial, retrieved, gold)
        wrong = f"a text that is empty once normalized scores {score!r}, so it matches"
        trial.demand("" not in texts or not matched, wrong)


_matcher_total = law(draw(TEXT, TEXT), name="total")(_match)
MATCHER_LAWS = book(
    *(_usable, _prints_as_read, _matcher_total, _matcher_twice, _matches_itself, _nothing_matches_nothing, no_network),
)

TEXT_LAWS: Mapping[str, Laws] = MappingProxyType(
    {
        "normalizer": NORMALIZER_LAWS,
        "comparer": COMPARER_LAWS,
        "matcher": MATCHER_LAWS,
        "tokenizer": TOKENIZER_LAWS,
    }
)
"""The laws of each kind of what reads texts, by name."""
