"""
`Metric`: a metric as it was declared: a function, and everything the engine must know about it.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, filterfalse
from typing import Any, Literal, NamedTuple, SupportsIndex

import numpy as np

from rankgauge.columns import Cutoff, Flags, Floats, Ints, Judged, Rows, Scores
from rankgauge.errors import DeclarationError, ExpressionError, did_you_mean
from rankgauge.expression import Value, parse
from rankgauge.pickling import goes_by_name, itself
from rankgauge.plugin.metric_values import wrong_values
from rankgauge.plugin.signature import PLAIN_NAME, CutoffKind, Parameter, first_line, read_like
from rankgauge.samples import KINDS, kind_called
from rankgauge.samples.built_in_kinds import with_members

__all__ = [
    "POOLED",
    "WHOLE_RUN",
    "Contributions",
    "CutoffRule",
    "Explaining",
    "Judging",
    "Law",
    "Metric",
    "Need",
    "check_declaration",
    "declared",
]

POOLED = "pooled"
"""The aggregate of a share that is the sum of all numerators over the sum of all denominators."""

WHOLE_RUN = "whole run"
"""In place of an aggregate: the metric has one value for a run, and none for a sample."""

Law = Literal[
    "bounded",
    "perfect-is-one",
    "best-first",
    "relevant-helps",
    "padding",
    "tail",
    "duplicates",
    "monotone-in-k",
    "linear",
    "whole-or-pieces",
]
"""
A property that `rankgauge.testing` checks for every metric that declares it.

`bounded`: the score lies in `range`. `perfect-is-one`: a perfect order scores 1. `best-first`: no order of the same
items beats gold first, best first. `relevant-helps`: a relevant item in place of an irrelevant one never lowers the
score. `padding`: unjudged items below the last one, up to k, change nothing. `tail`: items behind rank k change
nothing, or irrelevant ones at the end, for a metric without a cutoff. `duplicates`: repeating a retrieved item never
raises the score. `monotone-in-k`: the score never falls as k grows. `linear`: the score is the sum of what
each item earns, whatever else is relevant. `whole-or-pieces`: by text and by places, merging neighbours that hold gold
never hurts, and one result with all of it is as good as perfect pieces.
"""

_LAWS = frozenset(typing.get_args(Law))

_OF_CUTOFFS = frozenset({"tail", "last-rank"})
"""The laws of every metric with a cutoff."""

Need = Literal[
    "texts",
    "ids",
    "scores",
    "result_metadata",
    "input",
    "answer",
    "metadata",
    "spent",
    "searches",
    "intents",
    "cover",
]
"""
What a metric may ask to see besides judged columns.

`texts`, `ids`, `scores`, `result_metadata`: one for each rank, after policy. `input`, `answer`, `metadata`: of the
sample. `spent`: what its output took. `searches`: which of several searches returned what. These are what `Judged.seen`
and `JudgedSample.seen` have. `intents`: `Judged.intents`, which intents of its query each gold item serves. `cover`:
`Judged.cover`, which stretches of documents results take up, for gold spans alone. A run has no texts, input, answer,
metadata, times, searches or places, so that metrics that need these are refused there.
"""

_NEEDS = frozenset(typing.get_args(Need))


class Contributions(NamedTuple):
    """
    A score as a sum over ranks: ``sum of gain * discount over the rows of a sample, divided by its divisor``.

    Attributes:
        rows: The judged rows that add to a score, in order of sample, then rank.

        gains: What each is worth; shape (rows,).

        discounts: What each gain is multiplied by because of its rank; shape (rows,). None for 1.

        divisors: What the sum of each sample is divided by; shape (n,). None for 1. NaN says that the score of a sample
            is no such sum, such as one that was clipped.

        divisor_is: What the divisors are, such as ``ideal DCG``, for people.

        found: The rank of the result that holds each row, for rows at own ranks, as `Judged.found_at` has it; shape
            (rows,). None for the rank of the row.
    """

    rows: Rows
    gains: Floats
    discounts: Floats | None = None
    divisors: Scores | None = None
    divisor_is: str = ""
    found: Ints | None = None

    def values(self) -> Floats:
        """
        Return what each row adds to the score of its sample.

        Returns:
            Shape (rows,); 0 if the divisor is 0, NaN if it is NaN.
        """
        sums = self.gains if self.discounts is None else self.gains * self.discounts
        if self.divisors is None:
            return sums
        divisors = self.divisors[self.rows.sample]
        return np.divide(sums, divisors, out=np.zeros(len(sums)), where=divisors != 0)

    def scores(self, judged: Judged) -> Scores:
        """
        Return the scores that the rows add up to.

        Args:
            judged: The batch that they are of.

        Returns:
            Shape (n,); NaN if the divisor is NaN.
        """
        added = judged.sum(self.rows, self.values())
        return added if self.divisors is None else np.where(np.isnan(self.divisors), np.nan, added)


@dataclass(frozen=True, slots=True)
class CutoffRule:
    """Whether a metric has a cutoff, and what a number behind the @ of its name sets if it is none."""

    kind: CutoffKind
    pins: str | None  # a parameter

    def given(self, k: Cutoff | None) -> dict[str, Any]:
        """Return a cutoff as the metric's functions take it: not at all if there is none."""
        return {} if self.kind == "none" else {"k": k}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What a metric judges against what, and what it sees of it."""

    gold: tuple[str, ...]
    judges: Literal["retrieved", "answer"]
    matcher: str | Callable[..., str] | None
    matching: tuple[Parameter, ...]  # parameters that only choose the matcher
    needs: tuple[Need, ...]
    uses_rel: bool | Literal["binary"]
    own_ranks: bool
    defined: Callable[[Judged], Flags] | None
    undefined: str


@dataclass(frozen=True, slots=True)
class Explaining:
    """How a score is explained."""

    details: Callable[..., Mapping[str, Sequence[Any]]] | None
    joins: tuple[Literal["relevant", "top_k", "expected_span"], ...]
    contributions: Callable[..., Contributions] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric as the catalog holds it: the arguments of `metric`, and what the function's signature says."""

    alias: str
    aliases: tuple[str, ...]
    short: tuple[str, ...]
    function: Callable[..., Scores]
    source: Callable[..., Any]  # the author's function, for file and line
    parameters: tuple[Parameter, ...]
    cutoff: CutoffRule
    judging: Judging
    explaining: Explaining
    range: tuple[float | None, float | None]
    higher_is_better: bool
    aggregate: str
    describes: bool
    version: str
    laws: frozenset[Law]
    needs_max_grade: bool
    check: Callable[..., None] | None
    expectation: Callable[..., Scores] | Literal["itself"] | None
    denominators: Callable[..., Scores] | None
    check_ties: Callable[..., None] | None
    example: Mapping[str, Value]
    without: frozenset[str]
    like: tuple[str, ...]
    reference: Callable[..., Any] | None

    __copy__ = __deepcopy__ = itself

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        # It is sent as the name of its function, which carries it: a copy could belong to another version of the code.
        # It is copied only with a function that is itself sent as code.
        original = declared(self.function)
        if original is not None and original.aggregate != self.aggregate:
            return Metric.with_aggregate, (original, self.aggregate)
        remake: tuple[Any, ...] | None = getattr(self.function, "__rankgauge_remake__", None)
        by_name = goes_by_name(self.function if remake is None else remake[1], f"metric {self.alias!r}")
        if remake is not None:
            return remake
        return (declared, (self.function,)) if by_name else object.__reduce_ex__(self, protocol)

    @property
    def names(self) -> tuple[str, ...]:
        """Return every name it can be called by, templates such as ``ndcg_cut_{k}`` included."""
        return (self.alias, *self.aliases, *self.short)

    @property
    def all_parameters(self) -> tuple[Parameter, ...]:
        """Return its parameters, and those that only choose its matcher."""
        return (*self.parameters, *self.judging.matching)

    @property
    def needs_gold(self) -> bool:
        """Return whether it is judged against anything; if not, it only describes what was retrieved."""
        return bool(self.judging.gold)

    @property
    def gold(self) -> tuple[str, ...]:
        """Return what it is judged against; for a metric that needs no ground truth, what may be absent."""
        return self.judging.gold or (("relevant",) if self.judging.judges == "retrieved" else ("answer",))

    @property
    def is_whole(self) -> bool:
        """Return whether it has one value for a run, and none for a sample."""
        return self.aggregate == WHOLE_RUN

    def with_aggregate(self, how: str) -> Metric:
        """Return the same metric, whose scores become one number in another way."""
        return self if how == self.aggregate else replace(self, aggregate=how)

    @property
    def takes_joint(self) -> bool:
        """Return whether it finds gold texts or spans, which several results may do together."""
        of_results = self.judging.judges == "retrieved" and "cover" not in self.judging.needs
        return of_results and any(kind.together != "never" for kind in with_members(self.judging.gold))

    @property
    def gold_of_items(self) -> tuple[str, ...]:
        """Return what single items are judged against: as `gold`, but the kinds of their items in place of sets."""
        return tuple(kind.name for kind in with_members(self.gold))

    @property
    def engine_parameters(self) -> tuple[str, ...]:
        """Return which of the engine's parameters have an effect on this metric."""
        has_cutoff = self.cutoff.kind != "none"
        has_budget = has_cutoff and self.judging.judges == "retrieved"
        takes = {
            "k": has_cutoff,
            **dict.fromkeys(("budget", "tokenizer", "partial"), has_budget),
            "rel": bool(self.judging.uses_rel),
            "gold": self.needs_gold and len(self.gold_of_items) > 1,
            "matcher": any(kind.is_text for kind in with_members(self.judging.gold)),
            "joint": self.takes_joint,
            "words": has_budget or (self.judging.judges == "answer" and "answer" in self.judging.gold),
            "unit": any(kind_called(kind).has_units for kind in self.judging.gold)
            and self.judging.judges == "retrieved"
            and not self.is_whole,
            "stage": self.judging.judges == "retrieved" and not self.is_whole,
            "aggregate": not self.is_whole,
            "undefined": self.needs_gold and not self.is_whole and not self.describes,
            "missing": not self.is_whole,
            "ties": self.over_ties is not None,
            "score_above": self.needs_gold and self.judging.judges == "retrieved" and not self.is_whole,
            "as": True,
        }
        return tuple(name for name, applies in takes.items() if applies)

    @property
    def plain_short(self) -> tuple[str, ...]:
        """Return the short names that are not templates."""
        return tuple(name for name in self.short if "{" not in name)

    @property
    def over_ties(self) -> Callable[..., Scores] | None:
        """Return the function for the expectation over the orders of tied results; None if there is none."""
        return self.function if self.expectation == "itself" else self.expectation

    @property
    def summary(self) -> str:
        """Return the first line of its documentation."""
        return first_line(self.source)


def declared(function: object) -> Metric | None:
    """Return the declaration that `@metric` or `@sample_metric` put on a function; None if there is none."""
    declaration = getattr(function, "__rankgauge__", None)
    return declaration if isinstance(declaration, Metric) else None


def check_declaration(declaration: Metric) -> None:
    """Raise `DeclarationError` for a declaration that cannot be used."""
    for name in declaration.names:
        _check_name(name, declaration)
    for written in declaration.like:
        read_like(written)
    wrong = wrong_values(declaration, declaration.judging, declaration.explaining)
    for problem in chain(wrong, _problems(declaration), _odd_values(declaration)):
        raise DeclarationError(f"metric {declaration.alias!r} {problem}")


def _check_name(name: str, declaration: Metric) -> None:
    alias = declaration.alias
    try:
        read = parse(name.replace("{k}", "1").replace(f"{{{declaration.cutoff.pins}}}", "1"))
    except (ExpressionError, AttributeError) as error:
        raise DeclarationError(f"{name!r} cannot be a name of metric {alias!r}: {error}") from error
    if name == alias and (alias != alias.lower() or read.k is not None):
        raise DeclarationError(f"the alias {alias!r} must be lower-case and must not pin a cutoff")
    if read.k is not None or read.params:
        raise DeclarationError(
            f"{name!r} cannot be a name of metric {alias!r}: a name pins no cutoff and has no parameters"
        )


def _problems(declaration: Metric) -> Iterator[str]:
    """Yield what is wrong with a declaration, as clauses whose subject is the metric."""
    cutoff, judging = declaration.cutoff, declaration.judging
    names = {parameter.name for parameter in declaration.parameters}
    if not names.issuperset(declaration.example):
        known = ", ".join(sorted(names)) or "none"
        yield f"has an example of {', '.join(declaration.example)}, and only {known} as parameters"
    needs_k, is_cut = cutoff.kind in {"required", "droppable"}, declaration.alias.endswith("-at-k")
    if needs_k and not is_cut:
        yield "takes a cutoff, so its alias must end in '-at-k'"
    if is_cut and not needs_k:
        yield "does not need a cutoff, so its alias must not end in '-at-k'"
    if unknown := set(filterfalse(_may_be_gold, judging.gold)) or declaration.laws - _LAWS:
        yield f"names {', '.join(sorted(map(repr, unknown)))}, which is neither a gold kind nor a law"
    if unseen := [need for need in judging.needs if need not in _NEEDS]:
        known = f"{', '.join(sorted(_NEEDS))}{did_you_mean(str(unseen[0]), _NEEDS)}"
        yield f"needs {', '.join(map(repr, unseen))}, and can only see {known}"
    if not judging.gold and (judging.matcher is not None or judging.defined is not None):
        yield "needs no ground truth (gold=()), so `matcher` and `defined` have no effect; leave them out"
    if "cover" in judging.needs and judging.gold != ("spans",):
        yield "needs the cover, which only the gold kind 'spans' has; declare it with gold='spans'"
    if not declaration.summary and sys.flags.optimize < 2:  # -OO has removed it
        yield "needs a docstring: `rankgauge metrics show` prints it"
    if cutoff.pins is not None and (cutoff.kind != "none" or cutoff.pins not in names):
        yield f"pins {cutoff.pins!r}, which must be one of its parameters, and it must have no k"


def _may_be_gold(kind: object) -> bool:
    """Return whether a kind of ground truth is built in, or has a name that a plugin can declare it by."""
    return kind in KINDS or (isinstance(kind, str) and PLAIN_NAME.fullmatch(kind) is not None)


def _odd_values(declaration: Metric) -> Iterator[str]:
    """Yield which values of a declaration mean nothing, as clauses whose subject is the metric."""
    if odd := declaration.without - _OF_CUTOFFS:
        known = " and ".join(sorted(_OF_CUTOFFS))
        yield f"is without {', '.join(sorted(map(repr, odd)))}; only {known} can be left out"
    if declaration.is_whole and (declaration.judging.gold or set(declaration.judging.needs) != {"ids"}):
        yield f"has the aggregate {WHOLE_RUN!r}; declare it with @run_metric"
    low, high = declaration.range
    if low is not None and high is not None and not low <= high:
        yield f"has the range {declaration.range!r}; write the lowest value first, and None for no bound"
    matcher, gold = declaration.judging.matcher, declaration.judging.gold
    if isinstance(matcher, str) and gold and not any(kind_called(kind).is_text for kind in gold):
        yield f"has matcher={matcher!r}, which has no effect: none of its ground truth is text"
    expectation: object = declaration.expectation
    if isinstance(expectation, str) and expectation != "itself":
        hint = did_you_mean(expectation, ["itself"])
        yield f"has the expectation {expectation!r}{hint}; it is a function, 'itself' or None"
