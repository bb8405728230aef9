"""
`@metric` and `@sample_metric`: how a function becomes a metric.

The first marks a function over a batch, the second turns a function over one ranking into that form. Both return a
function that can be called directly, with the declaration as its attribute `__rankgauge__`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Concatenate, Literal, ParamSpec, TypedDict, TypeVar, Unpack

import numpy as np

from rankgauge.base.frozen import frozen
from rankgauge.columns import Flags, Judged, JudgedSample, Scores, has_mask, unmasked
from rankgauge.expression import Value
from rankgauge.plugin.metric import Contributions, CutoffRule, Explaining, Judging, Law, Metric, Need, check_declaration
from rankgauge.plugin.signature import companion, declaring, read_signature

__all__ = ["MetricOptions", "metric", "sample_metric"]

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
S = TypeVar("S", bound=str)


def metric(
    alias: str,
    *,
    aliases: Iterable[str] = (),
    short: Iterable[str] = (),
    gold: str | Sequence[str] = "relevant",
    judges: Literal["retrieved", "answer"] = "retrieved",
    matcher: str | Callable[..., str] | None = None,
    range: tuple[float | None, float | None] = (0.0, 1.0),  # noqa: A002  # the field's word
    higher_is_better: bool = True,
    aggregate: str = "mean",
    version: str = "1",
    laws: Iterable[Law] = (),
    uses_rel: bool | Literal["binary"] = True,
    own_ranks: bool = False,
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
    check_ties: Callable[..., None] | None = None,
    contributions: Callable[..., Contributions] | None = None,
    example: Mapping[str, Value] = MappingProxyType({}),
    without: Iterable[Literal["tail", "last-rank"]] = (),
    like: str | Iterable[str] = (),
    reference: Callable[..., float | None] | None = None,
) -> Callable[[F], F]:
    """
    Declare a metric over a batch: ``(judged: Judged, *, k: Cutoff, ...) -> Scores``.

    A parameter `k` annotated ``Cutoff`` is required; ``Cutoff | None`` without a default can be dropped by writing
    the short name without ``@``; ``Cutoff | None = None`` is optional. Further keyword-only parameters need an
    annotation and a default.

    `details`, `check`, `expectation`, `check_ties` and `contributions` name only the parameters they use: each of these
    is passed by name, with the metric's default where none is given.

    Args:
        alias: The name in results, lower-case words joined by hyphens; it ends in ``-at-k`` if there is a cutoff.

        aliases: Further long names.

        short: Short names. One with ``{k}`` in it pins the cutoff, such as ``ndcg_cut_{k}``; one with the parameter of
            *pins* sets that.

        gold: The kinds of ground truth it can be judged against; the first that a dataset has is taken. ``()`` for a
            metric that needs none, such as the diversity of a list: samples may then lack `expected_output`.

        judges: Whether the retrieved items are judged, or the generated answer.

        matcher: The matcher for ground truth that is text: a name, or a function of some parameters that gives one.

        range: Lowest and highest value; None for no bound.

        higher_is_better: Whether more is better.

        aggregate: How samples become one number: `mean`, `sum`, `geometric`, or the name of an aggregate of a plugin.

        version: Raise it when the definition changes.

        laws: The laws that hold; see `Law`.

        uses_rel: Whether a threshold of relevance has any effect; `binary` for a metric that reads gains, which a `rel`
            of its own turns into 1 and 0, and which ignores the threshold of the run.

        own_ranks: Whether it reads `Judged.at_own_ranks`, so that by text several gold items of one result all earn.

        undefined: Why a sample has no score if its ground truth does not allow one, for reports.

        defined: ``(Judged) -> flags`` of shape (n,): which samples' ground truth allows a score; by default, where
            anything is relevant. A missing output is *undefined* only where this says so.

        needs_max_grade: Whether `max_grade`, when absent, is to be inferred from the whole data set.

        needs: What it asks to see besides judged columns; see `Need`. What nobody asks for is not built.

        details: ``(Judged, *, k, ...) -> {fact: one value a sample}``, computed only when asked for. Values are kept as
            JSON has them, arrays as lists; one that JSON cannot hold is left out, with the reason.

        joins: Facts about ids and texts that the engine adds to the details.

        pins: The parameter that a number after ``@`` sets, if it is not a cutoff (``iprec@0.1``).

        check: ``(*, ...) -> None``, called when an evaluation is planned; a `ValueError` is the user's error.

        describes: Whether it describes the data rather than how good a ranking is, so that a missing output counts as
            an empty ranking, whatever the range.

        expectation: ``(Judged, *, k, ...) -> Scores``, the expectation over all orders of tied results (policy
            ``ties=average``); `itself` where their order has no effect; None where there is no closed form.

        check_ties: As `check`, called under ``ties=average``: a `ValueError` says for which values of parameters there
            is no closed form, so that planning refuses them. `expectation` raises for none.

        contributions: ``(Judged, *, k, ...) -> Contributions``, what each rank adds to the score, for `rankgauge
            explain`; None where the score is no sum over ranks.

        example: Parameters with which the laws are checked, for a metric that cannot work with its defaults, such as
            one that needs a file.

        without: Which of `tail` and `last-rank`, the laws of metrics with a cutoff, do not hold, as for a share of all
            that was retrieved.

        like: Metrics that this one equals somewhere, for the checks of laws: an expression, with ``@k`` for the same
            cutoff, and where the two agree, such as ``"ndcg@k where binary and few relevant"``; see `LikeCondition`.

        reference: A plain function that defines the same score, for the checks of laws. Its parameters are named like
            the roles of "Laws", such as ``(retrieved, gains, k)``, or it takes one `JudgedSample`.

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
                uses_rel=uses_rel if _several(gold) else False,
                own_ranks=own_ranks,
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
            check_ties=None
            if check_ties is None
            else companion(alias, "check_ties", check_ties, defaults, skip_first=False),
            example=frozen(example),
            without=frozenset(without),
            like=_several(like),
            reference=reference,
        )
        check_declaration(declaration)
        return declaration

    return declaring(declare)


def _several(given: S | Iterable[S]) -> tuple[S, ...]:
    """Return one text or several of them as several."""
    return (given,) if isinstance(given, str) else tuple(given)


class MetricOptions(TypedDict, total=False):
    """The keywords of `metric`, which `sample_metric` passes on."""

    aliases: Iterable[str]
    short: Iterable[str]
    gold: str | Sequence[str]
    judges: Literal["retrieved", "answer"]
    matcher: str | Callable[..., str] | None
    range: tuple[float | None, float | None]
    higher_is_better: bool
    aggregate: str
    version: str
    laws: Iterable[Law]
    uses_rel: bool | Literal["binary"]
    own_ranks: bool
    undefined: str
    defined: Callable[[Judged], Flags] | None
    needs_max_grade: bool
    needs: Need | Iterable[Need]
    details: Callable[..., Mapping[str, Sequence[Any]]] | None
    joins: Iterable[Literal["relevant", "top_k", "expected_span"]]
    pins: str | None
    check: Callable[..., None] | None
    describes: bool
    expectation: Callable[..., Scores] | Literal["itself"] | None
    check_ties: Callable[..., None] | None
    contributions: Callable[..., Contributions] | None
    example: Mapping[str, Value]
    without: Iterable[Literal["tail", "last-rank"]]
    like: str | Iterable[str]
    reference: Callable[..., float | None] | None


def sample_metric(
    alias: str, **declaration: Unpack[MetricOptions]
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
            scores[index] = np.nan if value is None else unmasked(value) if has_mask(value) else value
        return scores

    return over_batch
