"""
`check_metric`: checking a metric from the catalog, a declared one, or any callable against the laws.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from rankgauge.catalog import Catalog
from rankgauge.errors import ParameterError
from rankgauge.expression import MetricExpression, parse
from rankgauge.features.testing.law import Law, Laws, applying, law_names
from rankgauge.features.testing.law_checks import CASES, Candidate, checking
from rankgauge.features.testing.law_report import Report
from rankgauge.planning.requests import lifted
from rankgauge.plugin.hookspecs import hookimpl
from rankgauge.plugin.metric import Metric, declared
from rankgauge.plugin.signature import read_like

if TYPE_CHECKING:
    from rankgauge.features.testing.metric_subjects import EngineMetric, MetricSubject

__all__ = ["check_metric", "declared_candidate"]


def check_metric(
    metric: Callable[..., Any] | str,
    *,
    calls: str | None = None,
    range: tuple[float | None, float | None] = (0.0, 1.0),  # noqa: A002  # the field's word
    higher_is_better: bool = True,
    laws: Iterable[str] | None = None,
    like: str | Iterable[str] = (),
    reference: Callable[..., float | None] | None = None,
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
            `JudgedSample`. The roles are in the documentation, "Laws".

        range: Lowest and highest score of a function that declares nothing; None for no bound.

        higher_is_better: Whether more is better, for a function that declares nothing.

        laws: The laws to check instead of the usual ones.

        like: Metrics that it equals somewhere, besides those that it declares, such as ``"recall@k where binary"``; see
            `rankgauge.plugin.metric`. One or several.

        reference: A plain function that defines the same score, in place of a declared one.

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
    with checking("metric", without, cases) as checker:
        from rankgauge.features.testing.foreign_metrics import fit, read_calling

        wanted = None if laws is None else law_names("metric", checker.laws, laws)
        if isinstance(metric, str):
            candidate = declared_candidate(_named(metric, catalog or Catalog.installed()), wanted)
        elif inspect.isclass(metric) or not callable(metric):
            what = f"the class {metric.__qualname__}" if inspect.isclass(metric) else repr(metric)
            raise ParameterError(f"a metric is a function, a callable object, or a name; not {what}")
        elif (declaration := declared(metric)) is not None:
            candidate = declared_candidate(_in_a_catalog(declaration, catalog), wanted)
        elif (calling := read_calling(metric, calls)) == "judged":
            name = getattr(metric, "__name__", "the function")
            advice = "declare it with @metric, which gives it a name and a range, and check that"
            raise ParameterError(f"{name} takes a Judged: {advice}")
        elif calling == "sample":
            lift = replace(lifted(metric), range=range, higher_is_better=higher_is_better)
            usual = {law.name for law in checker.laws.values() if law.elsewhere or law.when == "every"}
            candidate = declared_candidate(_in_a_catalog(lift, catalog, metric), wanted or usual)
        else:
            foreign = fit(metric, calling)
            peers = catalog or Catalog.discover(own_only=True)
            subject = foreign.subject(range, peers, higher_is_better=higher_is_better)
            called = f"{subject.name.rpartition('.')[2]}{foreign.calling}"
            candidate = _foreign_candidate(subject, called, wanted)
        likes = (like,) if isinstance(like, str) else tuple(like)
        for written in likes:
            read_like(written)
        held = candidate.subject
        held = replace(held, like=(*held.like, *likes), reference=reference or held.reference)
        return checker.report(replace(candidate, subject=held))


_OF_GOLD = frozenset({"perfect-is-one", "best-first", "relevant-helps", "padding", "linear", "whole-or-pieces"})
"""Laws that speak of what is relevant."""


def declared_candidate(metric: EngineMetric, laws: Iterable[str] | None = None) -> Candidate:
    """Return a declared metric with its laws; *laws* replace those of every metric and those that it declares."""
    from rankgauge.features.testing.metric_subjects import MetricTrial
    from rankgauge.features.testing.run_laws import METRIC_LAWS, WHOLE_RUN_LAWS

    declaration = metric.metric
    example = declaration.example
    asked = {key: value for key, value in metric.params.items() if key not in example or example[key] != value}
    name = str(MetricExpression(declaration.alias, asked))
    # what was written and is refused breaks the law `usable`
    unusable = metric.needs_gold_of_plugins or ("" if asked else metric.needs_parameters)
    if declaration.is_whole:
        unfit = f"is for metrics with a score of each sample; {name} has one value for a run"
        chosen = _chosen(WHOLE_RUN_LAWS, laws or WHOLE_RUN_LAWS, unfit)
        could: tuple[Law, ...] = ()
    elif laws is not None:
        chosen, could = _chosen(METRIC_LAWS, laws), ()
    else:
        bounded = () if declaration.range == (None, None) else ("bounded",)
        tail = () if declaration.cutoff.kind == "none" else ("tail",)
        named = applying(METRIC_LAWS, {*declaration.laws, *bounded, *tail})
        chosen = tuple(law for law in named if law.name not in declaration.without)
        empty = () if declaration.needs_gold else _OF_GOLD  # they say nothing of such a metric
        declarable = (law for law in METRIC_LAWS.values() if law.when == "declared" and law.name not in empty)
        could = tuple(law for law in declarable if law not in chosen)
    return Candidate(
        name=name, subject=metric.subject(), laws=chosen, could_declare=could, unusable=unusable, trial=MetricTrial
    )


def _foreign_candidate(subject: MetricSubject, called: str, laws: Iterable[str] | None) -> Candidate:
    from rankgauge.features.testing.metric_subjects import MetricTrial
    from rankgauge.features.testing.run_laws import FOREIGN_LAWS

    unfit = f"is only for metrics that the engine scores; {subject.name} is called directly"
    usual = [law.name for law in FOREIGN_LAWS.values() if law.elsewhere]
    chosen = _chosen(FOREIGN_LAWS, usual if laws is None else laws, unfit)
    return Candidate(name=subject.name, subject=subject, laws=chosen, called=called, trial=MetricTrial)


def _chosen(known: Laws, names: Iterable[str], unfit: str = "") -> tuple[Law, ...]:
    """Return laws by their names; raise `ParameterError` for one that is for other metrics."""
    for name in sorted(names):
        if name not in known:
            raise ParameterError(f"the law {name!r} {unfit}")
    return tuple(known[name] for name in names)


def _named(written: str, catalog: Catalog) -> EngineMetric:
    """Return a metric of the catalog, with the parameters that were written with it."""
    from rankgauge.features.testing.metric_subjects import EngineMetric

    expression = parse(written)
    reading = catalog.read(expression)
    metric, params = reading.claim.declaration, dict(expression.params)
    if reading.k is not None and metric.cutoff.pins is not None:
        params[metric.cutoff.pins] = reading.k
    return EngineMetric(metric, catalog, params=params)


def _in_a_catalog(metric: Metric, catalog: Catalog | None, written: Callable[..., Any] | None = None) -> EngineMetric:
    """Return a metric with a catalog; the function is given if the catalog lacks it or has its names taken."""
    from rankgauge.features.testing.metric_subjects import EngineMetric

    @hookimpl
    def rankgauge_metrics() -> list[Callable[..., Any]]:
        return [metric.function]

    checked = SimpleNamespace(rankgauge_metrics=rankgauge_metrics)
    return EngineMetric.of(metric, catalog or Catalog.discover(own_only=True, plugins={"checked": checked}), written)
