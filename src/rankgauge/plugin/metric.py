"""
Metric declarations: a function, and everything the engine must know about it.

`@metric` marks a function over a batch; `@sample_metric` turns a function over one ranking into that form. Both return
a function that can be called directly, with the declaration as its attribute `__rankgauge__`.
"""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Concatenate, Literal, ParamSpec, SupportsIndex, TypeVar

import numpy as np

from rankgauge.base.frozen import frozen
from rankgauge.columns import Cutoff, Flags, Judged, JudgedSample, Scores
from rankgauge.errors import DeclarationError, ExpressionError, did_you_mean
from rankgauge.expression import Value, parse
from rankgauge.pickling import goes_by_name, itself
from rankgauge.plugin.contributions import Contributions
from rankgauge.plugin.signature import CutoffKind, Parameter, companion, declaring, first_line, read_signature
from rankgauge.samples import GOLD_KINDS, GoldKind

__all__ = [
    "WHOLE_RUN",
    "CutoffRule",
    "Explaining",
    "Judging",
    "Law",
    "Metric",
    "Need",
    "declared",
    "metric",
    "sample_metric",
]

WHOLE_RUN = "whole run"
"""In place of an aggregate: the metric has one value for a run, and none for a sample."""

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
S = TypeVar("S", bound=str)

Law = Literal[
    "bounded", "perfect-is-one", "best-first", "relevant-helps", "padding", "tail", "duplicates", "monotone-in-k"
]
"""
A property that `rankgauge.testing` checks for every metric that declares it.

`bounded`: the score lies in `range`. `perfect-is-one`: a perfect order scores 1. `best-first`: no order of the same
items beats gold first, best first. `relevant-helps`: a relevant item in place of an irrelevant one never lowers the
score. `padding`: unjudged items below the last one, up to k, change nothing. `tail`: items behind rank k change
nothing, or irrelevant ones at the end, for a metric without a cutoff. `duplicates`: repeating a retrieved item never
raises the score. `monotone-in-k`: the score never falls as k grows.
"""

_LAWS = frozenset(typing.get_args(Law))

Need = Literal["texts", "ids", "scores", "input", "answer", "metadata", "intents"]
"""
What a metric may ask to see besides judged columns.

`texts`, `ids`, `scores`: one for each rank, after policy. `input`, `answer`, `metadata`: of the sample. These are what
`Judged.seen` and `JudgedSample.seen` have. `intents`: `Judged.intents`, which intents of its query each gold item
serves. A run has no texts, input, answer or metadata, so that metrics that need these are refused there.
"""

_NEEDS = frozenset(typing.get_args(Need))


@dataclass(frozen=True, slots=True)
class CutoffRule:
    """Whether a metric has a cutoff, and what a number behind the @ of its name sets if it is none."""

    kind: CutoffKind
    pins: str | None  # a parameter

    def given(self, k: Cutoff | None) -> dict[str, Any]:
        """Return a cutoff as the metric's functions take it: not at all where there is none."""
        return {} if self.kind == "none" else {"k": k}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What a metric judges against what, and what it sees of it."""

    gold: tuple[GoldKind, ...]
    judges: Literal["retrieved", "answer"]
    matcher: str | Callable[..., str] | None
    matching: tuple[Parameter, ...]  # parameters that only choose the matcher
    needs: tuple[Need, ...]
    uses_rel: bool | Literal["binary"]
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
    example: Mapping[str, Value]

    __copy__ = __deepcopy__ = itself

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        # It is sent as the name of its function, which carries it: a copy could belong to another version of the code.
        # It is copied only with a function that is itself sent as code.
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
    def is_whole(self) -> bool:
        """Return whether it has one value for a run, and none for a sample."""
        return self.aggregate == WHOLE_RUN

    @property
    def engine_parameters(self) -> tuple[str, ...]:
        """Return which of the engine's parameters have an effect on this metric."""
        has_cutoff = self.cutoff.kind != "none"
        has_budget = has_cutoff and self.judging.judges == "retrieved"
        takes = {
            "k": has_cutoff,
            **dict.fromkeys(("budget", "tokenizer", "partial"), has_budget),
            "rel": bool(self.judging.uses_rel),
            "gold": len(self.judging.gold) > 1,
            "matcher": any(kind != "relevant" for kind in self.judging.gold),
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


def metric(
    alias: str,
    *,
    aliases: Iterable[str] = (),
    short: Iterable[str] = (),
    gold: GoldKind | Sequence[GoldKind] = "relevant",
    judges: Literal["retrieved", "answer"] = "retrieved",
    matcher: str | Callable[..., str] | None = None,
    range: tuple[float | None, float | None] = (0.0, 1.0),  # noqa: A002  # the field's word
    higher_is_better: bool = True,
    aggregate: str = "mean",
    version: str = "1",
    laws: Iterable[Law] = (),
    uses_rel: bool | Literal["binary"] = True,
    undefined: str = "the ground truth has no relevant item",
    defined: Callable[[Judged], Flags] | None = None,
    needs_max_grade: bool = False,
    needs: Need | Iterable[Need] = (),
    details: Callable[..., Mapping[str, Sequence[Any]]] | None = None,
    joins: Iterable[Literal["relevant", "top_k", "expected_span"]] = (),
    pins: str | None = None,
    check: Callable[..., None] | None = None,
    describes: bool = False,
    expectation: Callable[..., Scores] | Literal["itself"] | None = None,
    contributions: Callable[..., Contributions] | None = None,
    example: Mapping[str, Value] = MappingProxyType({}),
) -> Callable[[F], F]:
    """
    Declare a metric over a batch: ``(judged: Judged, *, k: Cutoff, ...) -> Scores``.

    A parameter `k` annotated ``Cutoff`` is required; ``Cutoff | None`` without a default can be dropped by writing
    the short name without ``@``; ``Cutoff | None = None`` is optional. Further keyword-only parameters need an
    annotation and a default.

    `details`, `check`, `expectation` and `contributions` name only the parameters they use: each of these is passed by
    name, with the metric's default where none is given.

    Args:
        alias: The name in results, lower-case words joined by hyphens; it ends in ``-at-k`` if there is a cutoff.

        aliases: Further long names.

        short: Short names. One with ``{k}`` in it pins the cutoff, such as ``ndcg_cut_{k}``; one with the parameter of
            *pins* sets that.

        gold: The kinds of ground truth it can be judged against; the first that a dataset has is taken.

        judges: Whether the retrieved items are judged, or the generated answer.

        matcher: The matcher for ground truth that is text: a name, or a function of some parameters that gives one.

        range: Lowest and highest value; None for no bound.

        higher_is_better: Whether more is better.

        aggregate: How samples become one number: `mean`, `sum`, `geometric`, or the name of an aggregate of a plugin.

        version: Raise it when the definition changes.

        laws: The laws that hold; see `Law`.

        uses_rel: Whether a threshold of relevance has any effect; `binary` for a metric that reads gains, which a `rel`
            of its own turns into 1 and 0, and which ignores the threshold of the run.

        undefined: Why a sample has no score if its ground truth does not allow one, for reports.

        defined: ``(Judged) -> flags`` of shape (n,): which samples' ground truth allows a score; by default, where
            anything is relevant. A missing output is *undefined* only where this says so.

        needs_max_grade: Whether `max_grade`, when absent, is to be inferred from the whole data set.

        needs: What it asks to see besides judged columns; see `Need`. What nobody asks for is not built.

        details: ``(Judged, *, k, ...) -> {fact: one value a sample}``, computed only when asked for.

        joins: Facts about ids and texts that the engine adds to the details.

        pins: The parameter that a number after ``@`` sets, if it is not a cutoff (``iprec@0.1``).

        check: ``(*, ...) -> None``, called when an evaluation is planned; a `ValueError` is the user's error.

        describes: Whether it describes the data rather than how good a ranking is, so that a missing output counts as
            an empty ranking, whatever the range.

        expectation: ``(Judged, *, k, ...) -> Scores``, the expectation over all orders of tied results (policy
            ``ties=average``); `itself` where their order has no effect; None where there is no closed form.

        contributions: ``(Judged, *, k, ...) -> Contributions``, what each rank adds to the score, for `rankgauge
            explain`; None where the score is no sum over ranks.

        example: Parameters with which the laws are checked, for a metric that cannot work with its defaults, such as
            one that needs a file.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the declaration cannot be used.
    """

    def declare(function: Callable[..., Any]) -> Metric:
        source = getattr(function, "__wrapped__", function)
        parameters, kind = read_signature(alias, source)
        matching = read_signature(alias, matcher, skip_first=False)[0] if callable(matcher) else ()
        defaults = {parameter.name: parameter.default for parameter in parameters}
        cutoff = CutoffRule(kind, pins)
        narrowed = functools.partial(companion, alias, offered={**cutoff.given(None), **defaults})
        declaration = Metric(
            alias=alias,
            aliases=_several(aliases),
            short=_several(short),
            function=function,
            source=source,
            parameters=parameters,
            cutoff=cutoff,
            judging=Judging(
                gold=_several(gold),
                judges=judges,
                matcher=matcher,
                matching=matching,
                needs=_several(needs),
                uses_rel=uses_rel,
                defined=defined,
                undefined=undefined,
            ),
            explaining=Explaining(
                None if details is None else narrowed("details", details),
                tuple(joins),
                None if contributions is None else narrowed("contributions", contributions),
            ),
            range=range,
            higher_is_better=higher_is_better,
            aggregate=aggregate,
            describes=describes,
            version=version,
            laws=frozenset(laws),
            needs_max_grade=needs_max_grade,
            check=None if check is None else companion(alias, "check", check, defaults, skip_first=False),
            expectation=narrowed("expectation", expectation) if callable(expectation) else expectation,
            example=frozen(example),
        )
        _check(declaration)
        return declaration

    return declaring(declare)


def _several(given: S | Iterable[S]) -> tuple[S, ...]:
    """Return one text or several of them as several."""
    return (given,) if isinstance(given, str) else tuple(given)


def sample_metric(
    alias: str,
    **declaration: Any,  # noqa: ANN401  # passed on to `metric`
) -> Callable[[Callable[Concatenate[JudgedSample, P], float | None]], Callable[Concatenate[Judged, P], Scores]]:
    """
    Declare a metric over one ranking: ``(ranking: JudgedSample, *, k: int, ...) -> float | None``.

    The easy form; `metric` is the fast one. None means that the sample has no value.

    Args:
        alias: As in `metric`.

        **declaration: As in `metric`.

    Returns:
        A decorator that lifts the function into the batch form, with the same parameters.

    Raises:
        DeclarationError: When applied: the declaration cannot be used.
    """

    def decorate(
        function: Callable[Concatenate[JudgedSample, P], float | None],
    ) -> Callable[Concatenate[Judged, P], Scores]:
        lifted: Callable[Concatenate[Judged, P], Scores] = _lift(function)
        return metric(alias, **declaration)(lifted)

    return decorate


def _lift(function: Callable[..., float | None]) -> Callable[..., Scores]:
    @functools.wraps(function)
    def over_batch(judged: Judged, **params: Any) -> Scores:  # noqa: ANN401  # the function's own parameters
        scores = np.full(judged.n, np.nan)
        cutoffs = params.get("k")
        for index in range(judged.n):
            if isinstance(cutoffs, np.ndarray):
                params["k"] = int(cutoffs[index])
            value = function(judged.sample(index), **params)
            scores[index] = np.nan if value is None else value
        return scores

    return over_batch


def _check(declaration: Metric) -> None:
    for name in declaration.names:
        _check_name(name, declaration)
    for problem in _problems(declaration):
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
    if unknown := set(judging.gold) - set(GOLD_KINDS) or declaration.laws - _LAWS:
        yield f"names {', '.join(sorted(map(repr, unknown)))}, which is neither a gold kind nor a law"
    if unseen := [need for need in judging.needs if need not in _NEEDS]:
        known = f"{', '.join(sorted(_NEEDS))}{did_you_mean(str(unseen[0]), _NEEDS)}"
        yield f"needs {', '.join(map(repr, unseen))}, and can only see {known}"
    if not judging.gold:
        yield "must name at least one kind of gold"
    if not declaration.summary:
        yield "needs a docstring: `rankgauge metrics show` prints it"
    if cutoff.pins is not None and (cutoff.kind != "none" or cutoff.pins not in names):
        yield f"pins {cutoff.pins!r}, which must be one of its parameters, and it must have no k"
