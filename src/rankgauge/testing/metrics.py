"""
`check_metric`: a metric from the catalog, a declared one, or any callable against the laws.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from rankgauge.catalog import Catalog
from rankgauge.errors import MatcherError, ParameterError
from rankgauge.expression import MetricExpression, Value, parse
from rankgauge.planning.requests import read_requests
from rankgauge.plugin.hookspecs import hookimpl
from rankgauge.plugin.metric import Metric, declared
from rankgauge.testing.check import CASES, checking, judge_laws
from rankgauge.testing.laws import check_names, laws_of
from rankgauge.testing.report import Report

if TYPE_CHECKING:
    from rankgauge.testing.calling import Calling
    from rankgauge.testing.elsewhere import ForeignSubject

__all__ = ["check_metric", "report_metric"]

_LAWS = laws_of("metric")
_ELSEWHERE = tuple(name for name, law in _LAWS.items() if law.elsewhere)


def check_metric(
    metric: Callable[..., Any] | str,
    *,
    calls: str = "auto",
    range: tuple[float | None, float | None] = (0.0, 1.0),  # noqa: A002  # the field's word
    higher_is_better: bool = True,
    laws: Iterable[str] | None = None,
    without: Iterable[str] = (),
    cases: int = CASES,
    catalog: Catalog | None = None,
) -> Report:
    """
    Check a metric against the laws.

    A metric declared with `@metric` or `@sample_metric` is checked for the laws that hold for every metric and those
    that it declares. Any other callable is called in its own convention, and checked for the laws that the metrics of
    the field obey: hit, recall, precision, MRR, AP, nDCG.

    Args:
        metric: The function; or a metric in the catalog by any of its names, with parameters where the default ones are
            not meant, such as ``ndcg(gain=exponential)`` or ``iprec@0.3``. A cutoff has no effect: the laws try many.

        calls: How a function from elsewhere is called: `auto` reads it from its parameters; `ids`, `relevances`,
            `scores`, `batch` or `sample` say it; or what its parameters are, in order, such as ``gold,retrieved,k``.

        range: Lowest and highest score of a function that declares nothing; None for no bound.

        higher_is_better: Whether more is better, for a function that declares nothing.

        laws: The laws to check instead of the usual ones.

        without: Laws not to check.

        cases: How many cases to draw for a law.

        catalog: Where a name and matchers are looked up; everything installed for a name, rankgauge's own for a
            function.

    Returns:
        Which laws hold, and the smallest example of each that does not.

    Raises:
        MissingExtraError: hypothesis is not installed.

        ParameterError: It cannot be told how to call the function, it fails on the plainest case, or a law is none.

        UnknownNameError: No plugin offers the name.
    """
    wanted = None if laws is None else check_names("metric", laws)
    check_names("metric", without)
    with checking("checking a metric") as attempts:
        if isinstance(metric, str):
            known = catalog or Catalog.discover()
            named, params = _read(metric, known)
            return report_metric(
                named, known, params=params, laws=wanted, without=without, cases=cases, attempts=attempts
            )
        _refuse_class(metric)
        found, written = declared(metric), None
        if found is None:
            calling = _calling(metric, calls)
            if calling is not None:
                subject = _fitted(metric, calling, range, higher_is_better, spelled=calls != "auto")
                return _report_elsewhere(subject, wanted, without, cases, attempts)
            found = replace(_lifted(metric), range=range, higher_is_better=higher_is_better)
            written = metric
            wanted = wanted or frozenset(n for n, law in _LAWS.items() if law.elsewhere or law.when == "every")
        known, given = _catalog_of(found, catalog)
        return report_metric(
            found,
            known,
            given=given,
            written=written,
            laws=wanted,
            without=without,
            cases=cases,
            attempts=attempts,
        )


def report_metric(
    metric: Metric,
    catalog: Catalog,
    *,
    given: Callable[..., Any] | None = None,
    written: Callable[..., Any] | None = None,
    params: Mapping[str, Value] = MappingProxyType({}),
    laws: Iterable[str] | None = None,
    without: Iterable[str] = (),
    cases: int = CASES,
    attempts: list[str],
) -> Report:
    """
    Check a declared metric inside a check that was entered.

    Args:
        metric: Its declaration.

        catalog: Where it is found, with its matchers.

        given: The function, where no catalog has it.

        written: The function as its author wrote it, where that is not the one over a batch.

        params: Values of its parameters that are not the default ones.

        laws: The laws to check instead of the usual ones.

        without: Laws not to check.

        cases: How many cases to draw for a law.

        attempts: What was tried to reach over the network.

    Returns:
        The report.
    """
    from rankgauge.testing.metric_laws import METRIC_LAWS  # loads hypothesis
    from rankgauge.testing.run_laws import RUN_LAWS  # as above
    from rankgauge.testing.subject import EngineSubject  # as above
    from rankgauge.testing.trial import MetricTrial  # as above

    subject = EngineSubject(metric, catalog, given, written, params, _unusable(metric, catalog))
    usual = {name for name, info in _LAWS.items() if info.when == "every"} | metric.laws
    if metric.range != (None, None):
        usual.add("bounded")
    could = () if laws is not None else [n for n, i in _LAWS.items() if i.when == "declared" and n not in usual]
    return judge_laws(
        "metric",
        str(MetricExpression(metric.alias, params)),
        lambda: MetricTrial(subject),
        {**METRIC_LAWS, **RUN_LAWS},
        usual if laws is None else laws,
        without=without,
        cases=cases,
        attempts=attempts,
        could=could,
    )


def _fitted(
    function: Callable[..., Any],
    calling: Calling,
    bounds: tuple[float | None, float | None],
    higher_is_better: bool,  # noqa: FBT001  # a private step of one public function
    *,
    spelled: bool,
) -> ForeignSubject:
    from rankgauge.testing.elsewhere import ForeignSubject, fit  # loads when a check runs

    name = str(getattr(function, "__qualname__", type(function).__qualname__))
    return fit(ForeignSubject(name, function, calling, bounds, higher_is_better), spelled=spelled)


def _report_elsewhere(
    subject: ForeignSubject, laws: Iterable[str] | None, without: Iterable[str], cases: int, attempts: list[str]
) -> Report:
    from rankgauge.testing.elsewhere_laws import ELSEWHERE_LAWS  # loads hypothesis
    from rankgauge.testing.metric_laws import METRIC_LAWS  # as above
    from rankgauge.testing.trial import MetricTrial  # as above

    known = {**METRIC_LAWS, **ELSEWHERE_LAWS}
    wanted = _ELSEWHERE if laws is None else tuple(laws)
    if unfit := [law for law in wanted if law not in {*known, "no-network"}]:
        msg = f"the law {unfit[0]!r} is one of metrics that the engine scores; {subject.name} is called as it is"
        raise ParameterError(msg)
    return judge_laws(
        "metric",
        subject.name,
        lambda: MetricTrial(subject),
        known,
        wanted,
        without=without,
        cases=cases,
        attempts=attempts,
        called=f"{subject.name.rpartition('.')[2]}{subject.calling}",
    )


def _calling(function: Callable[..., Any], calls: str) -> Calling | None:
    """Return how a function is called; None for one in the engine's own form."""
    from rankgauge.testing.calling import read_calling  # loads when a check runs

    calling = read_calling(function, calls)
    if calling == "judged":
        name = getattr(function, "__name__", "the function")
        msg = f"{name} takes a Judged; declare it with @metric, which says its name and its range, and check that"
        raise ParameterError(msg)
    return None if isinstance(calling, str) else calling


def _refuse_class(metric: object) -> None:
    if inspect.isclass(metric) or not callable(metric):
        what = f"the class {metric.__qualname__}" if inspect.isclass(metric) else repr(metric)
        msg = f"a metric is a function, an object that can be called, or a name; not {what}"
        raise ParameterError(msg)


def _read(written: str, catalog: Catalog) -> tuple[Metric, dict[str, Value]]:
    """Return a metric of the catalog, and the parameters that were written with it."""
    expression = parse(written)
    reading = catalog.read(expression)
    found, params = reading.claim.declaration, dict(expression.params)
    if reading.k is not None and found.pins is not None:
        params[found.pins] = reading.k
    return found, params


def _unusable(metric: Metric, catalog: Catalog) -> str:
    """Return why the matcher of a metric cannot work here; empty where it can, or is none, which `usable` finds."""
    if all(kind == "relevant" for kind in metric.gold):
        return ""
    try:
        name = metric.matcher() if callable(metric.matcher) else metric.matcher or "contains"
        matcher = catalog.matcher(name)
    except Exception:  # noqa: BLE001  # plugin code may raise anything
        return ""
    try:
        matcher.check_usable()
    except MatcherError as error:
        return str(error)
    return ""


def _lifted(function: Callable[..., Any]) -> Metric:
    (request,) = read_requests(function)
    if request.given is None:  # a function is always given
        raise AssertionError(request)
    return request.given


def _catalog_of(metric: Metric, catalog: Catalog | None) -> tuple[Catalog, Callable[..., Any] | None]:
    """Return a catalog that has the metric; where its names cannot be had, one without it, and the function."""
    if catalog is not None and any(claim.declaration is metric for claim in catalog.metrics.values()):
        return catalog, None

    @hookimpl
    def rankgauge_metrics() -> list[Callable[..., Any]]:
        return [metric.function]

    if catalog is None:
        alone = Catalog.discover(
            own_only=True, plugins={"checked": SimpleNamespace(rankgauge_metrics=rankgauge_metrics)}
        )
        if alone.metrics.get(metric.alias) is not None and alone.metrics[metric.alias].declaration is metric:
            return alone, None
    return catalog or Catalog.discover(own_only=True), metric.function
