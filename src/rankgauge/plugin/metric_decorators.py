"""
`@metric` and `@sample_metric`: how a function becomes a metric.

The first marks a function over a batch, the second turns a function over one ranking into that form. Both return a
function that can be called directly, with the declaration as its attribute `__rankgauge__`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Concatenate, Literal, ParamSpec, TypedDict, TypeVar, Unpack

import numpy as np

from rankgauge.base.frozen import frozen
from rankgauge.columns import Flags, Judged, JudgedSample, Scores, has_mask, unmasked
from rankgauge.errors import DeclarationError
from rankgauge.expression import Value
from rankgauge.named_options import check_names, listing
from rankgauge.plugin.metric import Contributions, CutoffRule, Explaining, Judging, Law, Metric, Need, check_declaration
from rankgauge.plugin.signature import companion, declaring, read_signature

__all__ = ["MetricOptions", "metric", "sample_metric"]

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
S = TypeVar("S", bound=str)


class _NameOptions(TypedDict, total=False):
    """What a metric is called."""

    aliases: Iterable[str]
    short: Iterable[str]
    version: str


class _JudgingOptions(TypedDict, total=False):
    """What it judges against what, and what it sees of it."""

    gold: str | Sequence[str]
    judges: Literal["retrieved", "answer"]
    matcher: str | Callable[..., str] | None
    needs: Need | Iterable[Need]
    needs_max_grade: bool
    uses_rel: bool | Literal["binary"]
    own_ranks: bool
    defined: Callable[[Judged], Flags] | None
    undefined: str


class _ScoreOptions(TypedDict, total=False):
    """What its numbers are, and which parameters it takes."""

    range: tuple[float | None, float | None]
    higher_is_better: bool
    aggregate: str
    describes: bool
    pins: str | None
    check: Callable[..., None] | None
    expectation: Callable[..., Scores] | Literal["itself"] | None
    denominators: Callable[..., Scores] | None
    check_ties: Callable[..., None] | None


class _ExplainingOptions(TypedDict, total=False):
    """How its scores are explained."""

    details: Callable[..., Mapping[str, Sequence[Any]]] | None
    joins: Iterable[Literal["relevant", "top_k", "expected_span"]]
    contributions: Callable[..., Contributions] | None


class _CheckOptions(TypedDict, total=False):
    """What it is held to by `rankgauge.testing`."""

    laws: Iterable[Law]
    without: Iterable[Literal["tail", "last-rank"]]
    example: Mapping[str, Value]
    like: str | Iterable[str]
    reference: Callable[..., float | None] | None


class MetricOptions(_NameOptions, _JudgingOptions, _ScoreOptions, _ExplainingOptions, _CheckOptions, total=False):
    """The options of a declaration; `metric` describes each."""


METRIC_DEFAULTS = MetricOptions(
    aliases=(),
    short=(),
    version="1",
    gold="relevant",
    judges="retrieved",
    matcher=None,
    needs=(),
    needs_max_grade=False,
    uses_rel=True,
    own_ranks=False,
    defined=None,
    undefined="the ground truth has no relevant item",
    range=(0.0, 1.0),
    higher_is_better=True,
    aggregate="mean",
    describes=False,
    pins=None,
    check=None,
    expectation=None,
    denominators=None,
    check_ties=None,
    details=None,
    joins=(),
    contributions=None,
    laws=(),
    without=(),
    example={},
    like=(),
    reference=None,
)


@listing(MetricOptions, METRIC_DEFAULTS)
def metric(alias: str, **options: Unpack[MetricOptions]) -> Callable[[F], F]:
    """
    Declare a metric over a batch: ``(judged: Judged, *, k: Cutoff, ...) -> Scores``.

    A parameter `k` annotated ``Cutoff`` is required; ``Cutoff | None`` without a default can be dropped by writing
    the short name without ``@``; ``Cutoff | None = None`` is optional. Further keyword-only parameters need an
    annotation and a default.

    `details`, `check`, `expectation`, `denominators`, `check_ties` and `contributions` name only the parameters they
    use: each of these is passed by name, with the metric's default if none is given.

    Args:
        alias: The name in results, lower-case words joined by hyphens; it ends in ``-at-k`` if there is a cutoff.

        aliases: Further long names.

        short: Short names. One with ``{k}`` in it pins the cutoff, such as ``ndcg_cut_{k}``; one with the parameter of
            *pins* sets that.

        version: Raise it when the definition changes.

        gold: The kinds of ground truth it can be judged against; the first that a dataset has is taken. ``()`` for a
            metric that needs none, such as the diversity of a list: samples may then lack `expected_output`.

        judges: Whether the retrieved items are judged, or the generated answer.

        matcher: The matcher for ground truth that is text: a name, or a function of some parameters that gives one.

        needs: What it asks to see besides judged columns; see `Need`. What is not asked for is not built.

        needs_max_grade: Whether `max_grade`, when absent, is to be inferred from the whole data set.

        uses_rel: Whether a threshold of relevance has any effect; `binary` for a metric that reads gains, which a `rel`
            of its own turns into 1 and 0, and which ignores the threshold of the run.

        own_ranks: Whether it reads `Judged.at_own_ranks`, so that by text several gold items of one result all earn.

        defined: ``(Judged) -> flags`` of shape (n,): which samples' ground truth allows a score; by default, where
            anything is relevant. A missing output is *undefined* only if this says so.

        undefined: Why a sample has no score if its ground truth does not allow one, for reports.

        range: Lowest and highest value; None for no bound.

        higher_is_better: Whether more is better.

        aggregate: How samples become one number: `mean`, `sum`, `geometric`, `pooled` (with `denominators`), or the
            name of an aggregate of a plugin.

        describes: Whether it describes the data rather than how good a ranking is, so that a missing output counts as
            an empty ranking, whatever the range.

        pins: The parameter that a number after ``@`` sets, if it is not a cutoff (``iprec@0.1``).

        check: ``(*, ...) -> None``, called when an evaluation is planned; a `ValueError` is the user's error.

        expectation: ``(Judged, *, k, ...) -> Scores``, the expectation over all orders of tied results (policy
            ``ties=average``); `itself` if their order has no effect; None if there is no closed form.

        denominators: ``(Judged, *, k, ...) -> Scores``, what each score is a share of, 0 or more; shape (n,). It makes
            ``aggregate=pooled`` possible: ``sum of score * denominator / sum of denominators``. It has to be known from
            the ground truth, so that a sample without output counts as much as any other.

        check_ties: As `check`, called under ``ties=average``: a `ValueError` says for which values of parameters there
            is no closed form, so that planning refuses them. `expectation` raises for none.

        details: ``(Judged, *, k, ...) -> {fact: one value a sample}``, computed only when asked for. Values are kept as
            JSON has them, arrays as lists; one that JSON cannot hold is left out, with the reason.

        joins: Facts about ids and texts that the engine adds to the details.

        contributions: ``(Judged, *, k, ...) -> Contributions``, what each rank adds to the score, for `rankgauge
            explain`; None if the score is no sum over ranks.

        laws: The laws that hold; see `Law`.

        without: Which of `tail` and `last-rank`, the laws of metrics with a cutoff, do not hold, as for a share of all
            that was retrieved.

        example: Parameters with which the laws are checked, for a metric that cannot work with its defaults, such as
            one that needs a file.

        like: Metrics that this one equals somewhere, for the checks of laws: an expression, with ``@k`` for the same
            cutoff, and where the two agree, such as ``"ndcg@k where binary and few relevant"``; see `LikeCondition`.

        reference: A plain function that defines the same score, for the checks of laws. Its parameters are named like
            the roles of "Laws", such as ``(retrieved, gains, k)``, or it takes one `JudgedSample`.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: An option has an unknown name; when applied: the declaration cannot be used.
    """
    check_names("metric", options, METRIC_DEFAULTS, DeclarationError)
    return declaring(functools.partial(_declared, alias, MetricOptions(**{**METRIC_DEFAULTS, **options})))


def _declared(alias: str, given: MetricOptions, function: Callable[..., Any]) -> Metric:
    """Return a declaration of which every option is given, checked."""
    source = getattr(function, "__wrapped__", function)
    parameters, kind = read_signature(alias, source)
    defaults = {parameter.name: parameter.default for parameter in parameters}
    cutoff = CutoffRule(kind, given["pins"])
    of_batch = {**cutoff.given(None), **defaults}
    expectation = given["expectation"]
    declaration = Metric(
        alias=alias,
        aliases=_several(given["aliases"]),
        short=_several(given["short"]),
        function=function,
        source=source,
        parameters=parameters,
        cutoff=cutoff,
        judging=_judging(alias, given),
        explaining=Explaining(
            companion(alias, "details", given["details"], of_batch),
            tuple(given["joins"]),
            companion(alias, "contributions", given["contributions"], of_batch),
        ),
        range=given["range"],
        higher_is_better=given["higher_is_better"],
        aggregate=given["aggregate"],
        describes=given["describes"],
        version=given["version"],
        laws=frozenset(given["laws"]),
        needs_max_grade=given["needs_max_grade"],
        check=companion(alias, "check", given["check"], defaults, skip_first=False),
        expectation=companion(alias, "expectation", expectation, of_batch) if callable(expectation) else expectation,
        denominators=companion(alias, "denominators", given["denominators"], of_batch),
        check_ties=companion(alias, "check_ties", given["check_ties"], defaults, skip_first=False),
        example=frozen(given["example"]),
        without=frozenset(given["without"]),
        like=_several(given["like"]),
        reference=given["reference"],
    )
    check_declaration(declaration)
    return declaration


def _judging(alias: str, given: MetricOptions) -> Judging:
    gold, matcher = _several(given["gold"]), given["matcher"]
    return Judging(
        gold=gold,
        judges=given["judges"],
        matcher=matcher,
        matching=read_signature(alias, matcher, skip_first=False)[0] if callable(matcher) else (),
        needs=_several(given["needs"]),
        uses_rel=given["uses_rel"] if gold else False,
        own_ranks=given["own_ranks"],
        defined=given["defined"],
        undefined=given["undefined"],
    )


def _several(given: S | Iterable[S]) -> tuple[S, ...]:
    """Return one text or several of them as several."""
    return (given,) if isinstance(given, str) else tuple(given)


@listing(MetricOptions, METRIC_DEFAULTS)
def sample_metric(
    alias: str, **options: Unpack[MetricOptions]
) -> Callable[[Callable[Concatenate[JudgedSample, P], float | None]], Callable[Concatenate[Judged, P], Scores]]:
    """
    Declare a metric over one ranking: ``(ranking: JudgedSample, *, k: int, ...) -> float | None``.

    The easy form; `metric` is the fast one. None means that the sample has no value.

    Args:
        alias: As in `metric`.

        **options: As in `metric`.

    Returns:
        A decorator that lifts the function into the batch form, with the same parameters.

    Raises:
        DeclarationError: An option has an unknown name; when applied: the declaration cannot be used.
    """
    check_names("sample_metric", options, METRIC_DEFAULTS, DeclarationError)
    declared = metric(alias, **options)

    def decorate(
        function: Callable[Concatenate[JudgedSample, P], float | None],
    ) -> Callable[Concatenate[Judged, P], Scores]:
        lifted: Callable[Concatenate[Judged, P], Scores] = _lift(function)
        return declared(lifted)

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
