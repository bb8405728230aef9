"""
`check_plugin`: checking everything that a plugin offers against the laws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, cast

from rankgauge.catalog import Catalog
from rankgauge.catalog.claims import Claim, Declaration, Plugin, normalized
from rankgauge.errors import UnknownNameError, suggest
from rankgauge.plugin.metric import Metric
from rankgauge.testing.check import CASES, checking, ready
from rankgauge.testing.laws import LAWS, Subjects, check_names, laws_of
from rankgauge.testing.metrics import report_metric
from rankgauge.testing.report import PluginReport, Report
from rankgauge.testing.texts import check_comparer, check_matcher, check_normalizer
from rankgauge.testing.tokenizers import check_tokenizer

__all__ = ["check_plugin", "time_left"]


def check_plugin(
    plugin: object | str,
    *,
    without: Iterable[str] | Mapping[str, Iterable[str]] = (),
    cases: int = CASES,
    catalog: Catalog | None = None,
    progress: Callable[[str], None] | None = None,
) -> PluginReport:
    """
    Check that a plugin loads, that its names are not taken, and that everything it offers obeys the laws.

    Args:
        plugin: A module or object with hooks; or the name of an installed plugin: its distribution, its entry point,
            or both as ``distribution:name``.

        without: Laws not to check; or a mapping from the name of a metric, normalizer, comparer or matcher to such
            laws.

        cases: How many cases to draw for a law.

        catalog: Where an installed plugin is looked up; by default everything installed.

        progress: Called before each check, with the kind and name of what is checked, its place, and about how long the
            rest takes, such as ``metric retrieval-ncg-at-k (2 of 4, about 15 s left)``.

    Returns:
        What is wrong with the plugin, and a report for everything it offers.

    Raises:
        MissingExtraError: hypothesis is not installed.

        UnknownNameError: No plugin of that name is installed, or it is disabled.

        ParameterError: There is no such law.
    """
    spared = _spared(without)
    with ready("plugin"):
        if isinstance(plugin, str):
            known = catalog or Catalog.discover()
            name, found = plugin, _named(known, plugin)
        else:
            name = str(getattr(plugin, "__name__", type(plugin).__name__))
            known = Catalog.discover(own_only=True, plugins={name: plugin})
            found = [known.plugins[-1]]
        ids = {each.id for each in found}
        faults = tuple(str(fault) for fault in known.faults if fault.plugin in ids)
        held = {law.kind for law in LAWS}  # an aggregate, say, is held to what it declares wherever it is used
        offers = [offer for each in found for offer in each.offers if offer.kind in held]
        left = time_left([offer.kind for offer in offers], cases)
        reports = []
        for place, offer in enumerate(offers):
            if progress is not None:
                progress(f"{offer.kind} {_name_of(offer)} ({place + 1} of {len(offers)}, {left(place)} left)")
            reports.append(_report(offer, known, spared, cases))
    return PluginReport(name=name, faults=faults, reports=tuple(reports))


_SECONDS = {"metric": 10.0, "normalizer": 2.0, "comparer": 2.0, "matcher": 0.5}
"""About how long `CASES` cases take on a machine of 2025; readers and reporters take no time."""

_LONG = 90


def time_left(kinds: Sequence[str], cases: int) -> Callable[[int], str]:
    """Return a function of a place that tells how long the checks from there on take, by those that are done."""
    costs = [_SECONDS.get(kind, 0.0) * cases / CASES for kind in kinds]
    began = monotonic()

    def left(place: int) -> str:
        done, rest = sum(costs[:place]), sum(costs[place:])
        seconds = rest * (monotonic() - began) / done if done else rest
        return f"about {max(1, round(seconds))} s" if seconds < _LONG else f"about {round(seconds / 60)} min"

    return left


def _report(offer: Claim[Declaration], catalog: Catalog, spared: Callable[[str, str], list[str]], cases: int) -> Report:
    declaration: Any = offer.declaration
    without = spared(offer.kind, _name_of(offer))
    if isinstance(declaration, Metric):
        from rankgauge.testing.subject import EngineMetric

        usable = any(claim.declaration is declaration for claim in catalog.metrics.values())
        given = None if usable else declaration.function  # its alias is taken, which is a fault of the plugin
        with checking("metric", without, cases) as checker:
            return report_metric(checker, EngineMetric(declaration, catalog, given))
    if offer.kind in {"reader", "reporter"}:
        return check_format(offer)
    if offer.kind == "normalizer":
        return check_normalizer(declaration.function, without=without, cases=cases)
    if offer.kind == "comparer":
        return check_comparer(declaration.function, without=without, cases=cases)
    if offer.kind == "tokenizer":
        return check_tokenizer(declaration.function, without=without, cases=cases)
    return check_matcher(declaration.source, catalog=catalog, without=without, cases=cases)


def check_format(offer: Claim[Any]) -> Report:
    """Check a reader or reporter on tiny data."""
    from rankgauge.testing.formats import check_reader, check_reporter

    return check_reader(offer) if offer.kind == "reader" else check_reporter(offer)


def _name_of(offer: Claim[Declaration]) -> str:
    return offer.declaration.alias if isinstance(offer.declaration, Metric) else offer.declaration.name


def _named(catalog: Catalog, name: str) -> list[Plugin]:
    """Return the plugins of that name: those of a distribution, or the one behind an entry point."""
    distribution, colon, point = name.partition(":")
    if colon:
        entry = (normalized(distribution), point)
        found = [each for each in catalog.plugins if (each.distribution, each.name) == entry]
    else:
        found = [each for each in catalog.plugins if each.distribution == normalized(name)]
        found = found or [each for each in catalog.plugins if each.name == name]
    if not found:
        known = sorted({each.distribution for each in catalog.plugins} | {each.id for each in catalog.plugins})
        hint = f"installed are {', '.join(known)}"
        raise UnknownNameError("plugin", name, suggestions=suggest(name, known), hint=hint)
    if all(each.disabled for each in found):
        raise UnknownNameError("plugin", name, hint="it is installed and disabled, so it was not loaded")
    return [each for each in found if not each.disabled]


def _spared(without: Iterable[str] | Mapping[str, Iterable[str]]) -> Callable[[str, str], list[str]]:
    """Return a function of kind and name that gives the laws to leave out; raise where one does not exist."""
    by_name: Mapping[str, Iterable[str]] = without if isinstance(without, Mapping) else {}
    general = () if isinstance(without, Mapping) else check_names(None, without)
    for names in by_name.values():
        check_names(None, names)

    def of(kind: str, name: str) -> list[str]:
        known = laws_of(cast("Subjects", kind))
        return [law for law in by_name.get(name, general) if law in known]

    return of
