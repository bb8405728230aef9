"""
Requests: the ways of asking for a metric, read into one form and bound to it; budgets are resolved or refused here.
"""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog import Provider, check_parameters
from rankgauge.catalog.other_tools import translated
from rankgauge.catalog.trec_eval import read_form
from rankgauge.columns import JudgedSample
from rankgauge.errors import DeclarationError, ExpressionError, ParameterError, listed
from rankgauge.expression import MetricExpression, Value, as_written, parse_many, read_budget
from rankgauge.judging import Budget
from rankgauge.pickling import goes_by_name
from rankgauge.planning.cutoffs import Conventions, check_k
from rankgauge.planning.word_choice import USUAL_TOKENIZER, tokenizer_of
from rankgauge.plugin.metric import Metric, declared
from rankgauge.plugin.metric_decorators import sample_metric
from rankgauge.plugin.signature import ENGINE

__all__ = [
    "USUAL_BUDGET",
    "Bound",
    "Located",
    "MetricSpec",
    "Request",
    "bind",
    "budget_of",
    "budget_settings",
    "by_column",
    "check_sendable",
    "lifted",
    "read_requests",
    "refusal_of",
    "request_of",
    "specs_of",
]


class Located(NamedTuple):
    """A metric as a file asks for it, with its place."""

    spec: str | Mapping[str, Any]
    file: str = ""
    line: int | None = None
    path: str = ""


MetricSpec = str | MetricExpression | Mapping[str, Any] | Callable[..., Any] | Located
"""An expression, a mapping ``{metric, as, k, ...}``, or a function: a declared one, or one over a `JudgedSample`; and a
measure of ir_measures, which is read by its name."""


@dataclass(frozen=True, slots=True)
class Request:
    """One metric as a user asked for it."""

    written: str  # the spelling, for messages and for finding the column later
    expression: MetricExpression  # without the parameters that the engine keeps for itself
    given: Metric | None  # the metric itself, when a function was given
    name: str | None  # of the column (`as`)
    k: object  # a cutoff given to the metric without pinning it
    engine: Mapping[str, Value]  # those of `ENGINE` that are given
    of_tool: bool = False  # whether it is the tool's measure already, and no name that a profile gives a meaning


def specs_of(metrics: Sequence[MetricSpec] | MetricSpec) -> tuple[MetricSpec, ...]:
    """Return one or several metrics as several, each without an object of another package."""
    specs: Sequence[MetricSpec]
    if type(metrics) in {list, tuple}:  # asked first, because abstract classes are slow to ask
        specs = cast("Sequence[MetricSpec]", metrics)
    elif isinstance(metrics, str | Mapping | Located) or not isinstance(metrics, Sequence):
        specs = [metrics]
    else:
        specs = cast("Sequence[MetricSpec]", metrics)
    return tuple(spec if type(spec) is str else cast("MetricSpec", as_written(spec)) for spec in specs)


def by_column(specs: Iterable[MetricSpec], known: Iterable[MetricSpec]) -> tuple[MetricSpec, ...]:
    """Return metrics, with those that are asked for by the `as` of a *known* one as that one declares them."""
    declared_as: dict[object, MetricSpec] = {}
    for spec in known:
        plain = spec.spec if isinstance(spec, Located) else spec
        if isinstance(plain, Mapping) and isinstance(plain.get("as"), str):
            declared_as.setdefault(plain["as"], spec)
    return tuple(declared_as.get(spec, spec) if isinstance(spec, str) else spec for spec in specs)


def check_sendable(specs: Iterable[MetricSpec]) -> None:
    """Raise `NotPicklableError` for functions that the running pickler cannot send."""
    for spec in specs:
        given = spec.get("metric") if isinstance(spec, Mapping) else spec
        if callable(given):
            goes_by_name(given, f"metric {getattr(given, '__name__', given)!r}")


def read_requests(spec: object) -> list[Request]:
    """Read an expression (which may list cutoffs), a mapping or a function into one request for each column."""
    if isinstance(spec, Located):
        return read_requests(spec.spec)
    spec = as_written(spec)
    if isinstance(spec, MetricExpression):
        return [request_of(str(spec), spec)]
    if isinstance(spec, str):
        expressions = read_form(spec) or parse_many(spec)
        return [
            request_of(spec if len(expressions) == 1 else str(expression), expression) for expression in expressions
        ]
    if isinstance(spec, Mapping):
        return _from_mapping(spec)
    if callable(spec):
        declaration = declared(spec) or lifted(spec)
        k = _default_k(declaration)
        return [request_of(declaration.alias, MetricExpression(declaration.alias), k=k, given=declaration)]
    msg = f"a metric is an expression, a mapping with 'metric', or a function; not {spec!r}"
    raise ExpressionError(msg, text=repr(spec))


def _from_mapping(spec: Mapping[str, Any]) -> list[Request]:
    written, given = _named(spec)
    if given is not None and spec.get("budget") is None and spec.get("k") is None:
        spec = {**spec, "k": _default_k(given)}
    params = {key: value for key, value in spec.items() if key not in {"metric", "k"}}
    if params.get("as") is None:
        params.pop("as", None)
    cutoffs = spec.get("k")
    if isinstance(spec.get("budget"), list | tuple):
        return _of_budgets(written, spec)
    requests = []
    for expression in read_form(written) or parse_many(written):
        if twice := set(dict(expression.params)) & set(params):
            raise ExpressionError(f"{written!r} already sets {min(twice)!r}; give it once", text=written)
        merged = {**dict(expression.params), **params}
        if isinstance(cutoffs, list | tuple):
            if expression.k is not None or not cutoffs:
                msg = f"{written!r} needs either one pinned cutoff or a list of them, not {cutoffs!r}"
                raise ExpressionError(msg, text=written)
            _check_one_name(written, merged, cutoffs)
            pinned = [check_k(k, repr(written)) for k in cutoffs]
            requests += [request_of("", MetricExpression(expression.name, merged, k=k), given=given) for k in pinned]
            continue
        if cutoffs is not None and expression.k is not None:
            raise ExpressionError(f"{written!r} already pins its cutoff; leave out k: {cutoffs!r}", text=written)
        same = MetricExpression(expression.name, merged, k=expression.k, unit=expression.unit)
        requests.append(request_of("", same, k=cutoffs, given=given))
    return requests


def _named(spec: Mapping[str, Any]) -> tuple[str, Metric | None]:
    """Return the metric that a mapping names, and its declaration where that is a function."""
    named: object = as_written(spec.get("metric"))
    if isinstance(named, str):
        return named, None
    if callable(named):
        given = declared(named) or lifted(named)
        return given.alias, given
    msg = f"a metric given as a mapping needs its name under 'metric'; found {dict(spec)!r}"
    raise ExpressionError(msg, text=repr(dict(spec)))


def _of_budgets(written: str, spec: Mapping[str, Any]) -> list[Request]:
    """Return a request for each of a list of budgets."""
    budgets = spec["budget"]
    if not budgets:
        msg = f"{written!r} has an empty list of budgets; give some, such as [1000tok, 2000tok], or leave it out"
        raise ExpressionError(msg, text=written)
    _check_one_name(written, spec, budgets)
    return [request for budget in budgets for request in _from_mapping({**spec, "budget": budget})]


def _check_one_name(written: str, spec: Mapping[str, Any], cutoffs: Sequence[object]) -> None:
    if spec.get("as") is not None and len(cutoffs) > 1:
        msg = f"'as' names one column, and {written!r} makes {len(cutoffs)}; list them separately"
        raise ExpressionError(msg, text=written)


def request_of(written: str, expression: MetricExpression, *, k: object = None, given: Metric | None = None) -> Request:
    """Return the request for an expression, with the engine's parameters apart from the metric's."""
    written = written or str(expression)
    if given is None:
        expression = translated(expression)
    params = dict(expression.params)
    if "k" in params:
        if k is not None or expression.k is not None:
            raise ExpressionError(f"{str(expression)!r} gives its cutoff twice", text=str(expression))
        k = params.pop("k")
    pinned, unit = expression.k, expression.unit
    if "budget" in params:
        if k is not None or pinned is not None:
            msg = f"{str(expression)!r} gives both a cutoff and a budget; leave one of them out"
            raise ExpressionError(msg, text=str(expression))
        pinned, unit = read_budget(params.pop("budget"))
    name = params.pop("as", None)
    if name is not None and not (isinstance(name, str) and name.strip()):
        raise ExpressionError(f"'as' is a column name, not {name!r}", text=str(expression))
    engine: dict[str, Value] = {key: params.pop(key) for key in ENGINE if key in params}
    plain = MetricExpression(expression.name, params, k=pinned, unit=unit)
    return Request(written, plain, given, name, k, engine)


def lifted(function: Callable[..., Any]) -> Metric:
    """Make a metric of a bare function over one `JudgedSample`."""
    name = re.sub(r"[^a-z0-9]+", "-", getattr(function, "__name__", type(function).__name__).lower()).strip("-")
    parameters = inspect.signature(function).parameters
    usual = inspect.Parameter.POSITIONAL_OR_KEYWORD
    if by_place := [each.name for each in [*parameters.values()][1:] if each.kind is usual]:
        raise DeclarationError(
            f"the function {name!r} is no metric: it has to take one judged ranking, and parameters by keyword, as "
            f"`def {name.replace('-', '_')}(ranking, *, k)` does; {listed(by_place)} can be given by place. `ranking` "
            "has `relevant`, `grades` and `n_gold`"
        )
    k = parameters.get("k")
    alias = name or "metric"
    if k is not None and k.default is not None and not alias.endswith("-at-k"):
        alias += "-at-k"

    @functools.wraps(function)
    def documented(ranking: JudgedSample, /, **params: Any) -> Any:  # noqa: ANN401  # what the function takes and gives
        return function(ranking, **params)

    documented.__doc__ = inspect.getdoc(function) or f"The function {name}, given in Python."
    annotated = function if inspect.isroutine(function) else type(function).__call__
    documented.__annotations__ = typing.get_type_hints(getattr(function, "func", annotated))
    declaration = declared(sample_metric(alias)(documented))
    if declaration is None:  # `sample_metric` always declares
        raise AssertionError(alias)
    # The lifted function cannot be imported, so its declaration is made again where it is unpickled.
    declaration.function.__rankgauge_remake__ = (lifted, (function,))  # type: ignore[attr-defined]  # a function takes any
    return declaration


def _default_k(metric: Metric) -> int | None:
    """Return the cutoff that a bare function gives as its parameter's default."""
    k = inspect.signature(metric.source).parameters.get("k")
    return k.default if k is not None and type(k.default) is int else None


USUAL_BUDGET: Mapping[str, Value] = MappingProxyType({"tokenizer": USUAL_TOKENIZER, "partial": False})
"""How budgets are counted if an expression says nothing."""


def budget_of(request: Request, metric: Metric, amount: float | None, conventions: Conventions) -> Budget | None:
    """Return the budget that a request asks for; None if it asks for none."""
    written, unit = repr(request.written), request.expression.unit
    options = [name for name in USUAL_BUDGET if name in request.engine]
    if unit is None or amount is None:
        if options:
            raise ParameterError(
                f"{options[0]} of {written} has no effect without a budget; leave it out, or give one: "
                f"{request.expression.name}@2000tok"
            )
        return None
    if metric.cutoff.kind == "none" or metric.judging.judges == "answer":
        raise ParameterError(f"metric {metric.alias!r} has no cutoff, and so no budget; leave it out of {written}")
    if request.k is not None:
        raise ParameterError(f"{written} gives both a cutoff and a budget; leave one of them out")
    if conventions.by_id:
        raise ParameterError(
            f"{written} is a budget, which counts the texts of results, and a run has only ids and scores; give a "
            "number of ranks, or use `rankgauge run` on samples"
        )
    if conventions.profile.policy.settles_ties_late:
        raise ParameterError(
            f"policy ties={conventions.profile.policy.ties} settles no ranks, so that nothing can be fitted into the "
            f"budget of {written}"
        )
    if unit == "char" and "tokenizer" in options:
        raise ParameterError(
            f"tokenizer has no effect on characters; leave it out of {written}, or give the budget in tokens"
        )
    partial = request.engine.get("partial", USUAL_BUDGET["partial"])
    if not isinstance(partial, bool):
        raise ParameterError(f"partial of {written} is true or false, not {partial!r}")
    tokenizer = tokenizer_of(request.engine, request.written, unit)
    claim = None if unit == "char" else conventions.catalog.tokenizer(tokenizer)
    return Budget(check_k(amount, f"{written} (its budget)"), unit, claim, partial)


def budget_settings(budget: Budget | None) -> dict[str, Value]:
    """Return what a column says of its budget among its parameters, also if that is the default."""
    if budget is None:
        return {}
    by = {} if budget.tokenizer is None else {"tokenizer": budget.tokenizer.declaration.name}
    return {**by, "partial": budget.partial}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A request with the metric that it names, and the values of its parameters."""

    request: Request
    metric: Metric
    provider: Provider
    is_short: bool  # whether it was asked for by a short name
    number: float | None  # the cutoff or budget behind the @
    defaults: Mapping[str, Value | None]  # of every parameter
    usual: Mapping[str, Value]  # those that the profile gives another value
    explicit: Mapping[str, Value]  # those that the request gives a value
    usual_matcher: Value | None  # the profile's
    usual_joint: bool  # whether what several results hold of a gold item adds up under the profile

    @property
    def params(self) -> dict[str, Value]:
        """Return the parameters that have another value than the default, or are given it explicitly."""
        return {**self.usual, **self.explicit}


def bind(request: Request, conventions: Conventions) -> Bound:
    """Look up the metric, bind its parameters, and check them one by one and together."""
    if request.given is not None:
        metric, number, is_short = request.given, request.expression.k, False
        provider = Provider.of(metric.source, "", "", "given in Python")
    else:
        reading = conventions.catalog.read(request.expression)
        metric, number, is_short = reading.claim.declaration, reading.k, reading.is_short
        provider = reading.claim.provider
    request = _with_own_words(request, metric)
    written, number = _pinned_parameter(request, metric, number, is_short=is_short)
    usual = dict(conventions.profile.parameters.get(metric.alias, {}))
    bound = Bound(
        request=request,
        metric=metric,
        provider=provider,
        is_short=is_short,
        number=number,
        defaults={parameter.name: parameter.default for parameter in metric.all_parameters},
        usual_matcher=usual.pop("matcher", None),
        usual_joint=conventions.profile.joint,
        usual=usual,
        explicit=check_parameters(f"metric {metric.alias!r}", metric.all_parameters, written),
    )
    _check_together(bound)
    return bound


def _with_own_words(request: Request, metric: Metric) -> Request:
    """Return a request for a metric that has a parameter `words` of its own, as plugins may, with it among these."""
    if "words" not in request.engine or all(parameter.name != "words" for parameter in metric.all_parameters):
        return request
    engine, expression = dict(request.engine), request.expression
    own = {**dict(expression.params), "words": engine.pop("words")}
    moved = MetricExpression(expression.name, own, k=expression.k, unit=expression.unit)
    return replace(request, engine=engine, expression=moved)


def _pinned_parameter(
    request: Request, metric: Metric, number: float | None, *, is_short: bool
) -> tuple[dict[str, Value], float | None]:
    """Return the parameters, with the one that the number behind @ stands for; and the number, if it is a cutoff."""
    written, name = dict(request.expression.params), metric.cutoff.pins
    if name is None:
        return written, number
    if request.expression.unit is not None:
        raise ParameterError(
            f"{request.written!r}: the number after @ is the {name} of metric {metric.alias!r}, which has no budget"
        )
    if number is not None and name in written:
        raise ParameterError(f"{request.written!r} gives its {name} twice")
    if number is not None:
        return {**written, name: number}, None
    if is_short and name not in written:
        raise ParameterError(
            f"{request.written!r} needs a number, its {name}: {request.expression.name}@0.1, or {metric.alias} "
            "for the default"
        )
    return written, None


def _check_together(bound: Bound) -> None:
    if refused := refusal_of(bound, bound.metric.check):
        raise ParameterError(f"{bound.request.written!r} cannot be computed: {refused}")


def refusal_of(bound: Bound, check: Callable[..., None] | None) -> str:
    """Return why a check of a metric refuses its parameters; empty if it does not, or there is none."""
    if check is None:
        return ""
    names, params = (parameter.name for parameter in bound.metric.parameters), bound.params
    try:
        with guarded():
            check(**{name: params[name] for name in names if name in params})
    except ForeignError as error:
        is_refusal = issubclass(type(error.__cause__), ValueError)  # which is how a check refuses
        return error.reason if is_refusal else f"its check failed: {error}"
    return ""


def in_a_word(metric: MetricSpec) -> str:
    """Return how a metric was asked for, in a word."""
    if isinstance(metric, Located):
        return in_a_word(metric.spec)
    if isinstance(metric, Mapping):
        return str(metric.get("as") or metric.get("metric"))
    return str(getattr(metric, "__name__", metric))
