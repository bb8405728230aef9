"""
`check_metric`: checking a metric from the catalog, a declared one, or any callable against the laws.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from rankgauge.catalog import Catalog
from rankgauge.errors import ParameterError
from rankgauge.expression import MetricExpression, Value, parse
from rankgauge.planning.requests import lifted
from rankgauge.plugin.hookspecs import hookimpl
from rankgauge.plugin.metric import Metric, declared
from rankgauge.testing.check import CASES, Checker, checking
from rankgauge.testing.laws import check_names, laws_of
from rankgauge.testing.report import Report

if TYPE_CHECKING:
    from rankgauge.testing.calling import Calling
    from rankgauge.testing.subject import EngineMetric, MetricSubject

__all__ = ["check_metric", "report_metric"]

_LAWS = laws_of("metric")
_ELSEWHERE = tuple(name for name, law in _LAWS.items() if law.elsewhere)


def check_metric(
    metric: Callable[..., Any] | str,
    *,
    calls: str | None = None,
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
    that it declares. Any other callable is called as *calls* says, and checked for the laws that the usual metrics
    obey: hit, recall, precision, MRR, AP, nDCG.

    Args:
        metric: The function; or a metric in the catalog by any of its names, with parameters that differ from the
            defaults, such as ``ndcg(gain=exponential)`` or ``iprec@0.3``. A cutoff has no effect: the laws try many.

        calls: How a function from elsewhere is called: the roles of its parameters in order, such as
            ``gold,retrieved,k`` (``batch:gold,retrieved,k`` when it takes lists of rankings), or ``sample`` for a
            function of one `JudgedSample`. Not needed where each parameter is named like its role, or annotated
            `JudgedSample`. The roles stand in the documentation, "Laws".

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

        ParameterError: *calls* is missing or does not fit, the function fails on the plainest case, or there is no
            such law.

        UnknownNameError: No plugin offers the name.
    """
    from rankgauge.testing.subject import EngineMetric

    wanted = None if laws is None else check_names("metric", laws)
    with checking("metric", without, cases) as checker:
        if isinstance(metric, str):
            known = catalog or Catalog.discover()
            named, params = _read(metric, known)
            return report_metric(checker, EngineMetric(named, known, params=params), wanted)
        if inspect.isclass(metric) or not callable(metric):
            what = f"the class {metric.__qualname__}" if inspect.isclass(metric) else repr(metric)
            msg = f"a metric is a function, a callable object, or a name; not {what}"
            raise ParameterError(msg)
        found, written = declared(metric), None
        if found is None:
            from rankgauge.testing.calling import read_calling
            from rankgauge.testing.elsewhere import fit

            calling = read_calling(metric, calls)
            if calling == "judged":
                name = getattr(metric, "__name__", "the function")
                how = "declare it with @metric, which gives it a name and a range, and check that"
                msg = f"{name} takes a Judged: {how}"
                raise ParameterError(msg)
            if calling != "sample":
                fitted = fit(metric, calling)
                subject = fitted.subject(range, higher_is_better=higher_is_better)
                return _report_elsewhere(checker, subject, fitted.calling, wanted)
            found, written = replace(lifted(metric), range=range, higher_is_better=higher_is_better), metric
            wanted = wanted or frozenset(n for n, law in _LAWS.items() if law.elsewhere or law.when == "every")
        known, given = _catalog_of(found, catalog)
        return report_metric(checker, EngineMetric(found, known, given, written), wanted)


def report_metric(checker: Checker, metric: EngineMetric, laws: Iterable[str] | None = None) -> Report:
    """Check a declared metric; *laws* stand in for those that hold for every metric and those that it declares."""
    from rankgauge.testing.metric_laws import METRIC_LAWS
    from rankgauge.testing.run_laws import RUN_LAWS, WHOLE_RUN_LAWS
    from rankgauge.testing.trial import MetricTrial

    declaration = metric.metric
    example = declaration.example
    asked = {key: value for key, value in metric.params.items() if key not in example or example[key] != value}
    name = str(MetricExpression(declaration.alias, asked))
    if not asked and (why := metric.needs_parameters):  # what was written and is refused breaks the law `usable`
        return checker.unusable(name, why)
    if declaration.is_whole:
        wanted = frozenset(laws or (*WHOLE_RUN_LAWS, "no-network"))
        if unfit := sorted(wanted - {*WHOLE_RUN_LAWS, "no-network"}):
            msg = f"the law {unfit[0]!r} is for metrics with a score of each sample; {name} has one value for a run"
            raise ParameterError(msg)
        return checker.report(name, functools.partial(MetricTrial, metric.subject()), WHOLE_RUN_LAWS, wanted)
    usual = {name for name, info in _LAWS.items() if info.when == "every"} | declaration.laws
    if declaration.range != (None, None):
        usual.add("bounded")
    could = () if laws is not None else [n for n, i in _LAWS.items() if i.when == "declared" and n not in usual]
    return checker.report(
        name,
        functools.partial(MetricTrial, metric.subject()),
        {**METRIC_LAWS, **RUN_LAWS},
        usual if laws is None else laws,
        could=could,
    )


def _report_elsewhere(checker: Checker, subject: MetricSubject, calling: Calling, laws: Iterable[str] | None) -> Report:
    from rankgauge.testing.elsewhere import ELSEWHERE_LAWS
    from rankgauge.testing.metric_laws import METRIC_LAWS
    from rankgauge.testing.trial import MetricTrial

    known = {**METRIC_LAWS, **ELSEWHERE_LAWS}
    wanted = _ELSEWHERE if laws is None else tuple(laws)
    if unfit := [law for law in wanted if law not in {*known, "no-network"}]:
        msg = f"the law {unfit[0]!r} is only for metrics that the engine scores; {subject.name} is called directly"
        raise ParameterError(msg)
    called = f"{subject.name.rpartition('.')[2]}{calling}"
    return checker.report(subject.name, functools.partial(MetricTrial, subject), known, wanted, called=called)


def _read(written: str, catalog: Catalog) -> tuple[Metric, dict[str, Value]]:
    """Return a metric of the catalog, and the parameters that were written with it."""
    expression = parse(written)
    reading = catalog.read(expression)
    found, params = reading.claim.declaration, dict(expression.params)
    if reading.k is not None and found.cutoff.pins is not None:
        params[found.cutoff.pins] = reading.k
    return found, params


def _catalog_of(metric: Metric, catalog: Catalog | None) -> tuple[Catalog, Callable[..., Any] | None]:
    """Return a catalog for a metric; and its function, where the catalog lacks it or has its names taken."""

    @hookimpl
    def rankgauge_metrics() -> list[Callable[..., Any]]:
        return [metric.function]

    checked = SimpleNamespace(rankgauge_metrics=rankgauge_metrics)
    known = catalog or Catalog.discover(own_only=True, plugins={"checked": checked})
    usable = any(claim.declaration is metric for claim in known.metrics.values())
    return known, None if usable else metric.function
