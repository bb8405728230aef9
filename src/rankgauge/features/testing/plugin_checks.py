"""
`check_plugin`: checking everything that a plugin offers against the laws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, cast, get_args

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog import Catalog
from rankgauge.catalog.claims import Plugin, normalized
from rankgauge.errors import UnknownNameError, suggest
from rankgauge.features.testing.law import Kind, Laws, law_names
from rankgauge.features.testing.law_checks import CASES, checking, drawn_laws
from rankgauge.features.testing.law_report import PluginReport, Report, Verdict
from rankgauge.features.testing.metric_checks import declared_candidate
from rankgauge.features.testing.part_laws import PART_LAWS, Part, check_part, parts_of
from rankgauge.features.testing.text_checks import check_comparer, check_matcher, check_normalizer, check_tokenizer
from rankgauge.plugin.metric import Metric

__all__ = ["check_plugin", "laws_of", "time_left"]


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
    with checking("plugin"):
        spared = _spared(without)
        if isinstance(plugin, str):
            known = catalog or Catalog.installed()
            name, plugins = plugin, _named(known, plugin)
        else:
            name = str(getattr(plugin, "__name__", type(plugin).__name__))
            known = Catalog.discover(own_only=True, plugins={name: plugin})
            plugins = [known.plugins[-1]]
        ids = {one.id for one in plugins}
        faults = tuple(str(fault) for fault in known.faults if fault.plugin in ids)
        offers = [part for one in plugins for part in parts_of(one, known)]
        left = time_left([offer.kind for offer in offers], cases)
        reports = []
        for done, offer in enumerate(offers):
            if progress is not None:
                progress(f"{offer.kind} {offer.name} ({done + 1} of {len(offers)}, {left(done)} left)")
            reports.append(_report(offer, spared(offer), cases))
    return PluginReport(name=name, faults=faults, reports=tuple(reports))


_KINDS: tuple[Kind, ...] = get_args(Kind)


def laws_of(kind: Kind) -> Laws:
    """
    Return the laws of one kind of part.

    Args:
        kind: `metric`, `normalizer`, `comparer`, `matcher`, `tokenizer`, `reader`, `reporter`, `aggregate`, `profile`,
            `metric set`, `report section`, `gold kind`, `command`, `system` or `observer`.

    Returns:
        The laws by name, in the order of reports; what each says is `says`.

    Raises:
        MissingExtraError: hypothesis is not installed.
    """
    return PART_LAWS[kind] if kind in PART_LAWS else drawn_laws(kind)


_SECONDS = {"metric": 10.0, "normalizer": 2.0, "comparer": 2.0, "matcher": 0.5}
"""About how long `CASES` cases take on a machine of 2025; what is tried on tiny data takes no time."""

_LONG = 90


def time_left(kinds: Sequence[str], cases: int) -> Callable[[int], str]:
    """Return a function that tells how long the remaining checks take, from the time that those done have taken."""
    costs = [_SECONDS.get(kind, 0.0) * cases / CASES for kind in kinds]
    began = monotonic()

    def left(n_done: int) -> str:
        done, rest = sum(costs[:n_done]), sum(costs[n_done:])
        seconds = rest * (monotonic() - began) / done if done else rest
        return f"about {max(1, round(seconds))} s" if seconds < _LONG else f"about {round(seconds / 60)} min"

    return left


def _report(part: Part, without: list[str], cases: int) -> Report:
    """Check one part; if the check itself cannot go on, that is a finding, and the other parts are checked."""
    try:
        with guarded():
            return _checked(part, without, cases)
    except ForeignError as error:
        why = f"the check ended with {error}"
        verdict = Verdict(law="usable", says="it can be checked", state="broken", reason=why)
        return Report(kind=part.kind, name=part.name, verdicts=(verdict,))


def _checked(part: Part, without: list[str], cases: int) -> Report:
    if part.kind in PART_LAWS:
        return check_part(part, without)
    declaration: Any = part.offer.declaration
    if isinstance(declaration, Metric):
        with checking("metric", without, cases) as checker:
            from rankgauge.features.testing.metric_subjects import EngineMetric

            return checker.report(declared_candidate(EngineMetric.of(declaration, part.catalog)))
    if part.kind == "matcher":
        return check_matcher(declaration.source, catalog=part.catalog, without=without, cases=cases)
    checks: Mapping[str, Callable[..., Report]] = {
        "normalizer": check_normalizer,
        "comparer": check_comparer,
        "tokenizer": check_tokenizer,
    }
    return checks[part.kind](declaration.function, without=without, cases=cases)


def _named(catalog: Catalog, name: str) -> list[Plugin]:
    """Return the plugins of that name: those of a distribution, or the one behind an entry point."""
    distribution, colon, point = name.partition(":")
    if colon:
        entry = (normalized(distribution), point)
        matching = [one for one in catalog.plugins if (one.distribution, one.name) == entry]
    else:
        matching = [one for one in catalog.plugins if one.distribution == normalized(name)]
        matching = matching or [one for one in catalog.plugins if one.name == name]
    if not matching:
        known = sorted({one.distribution for one in catalog.plugins} | {one.id for one in catalog.plugins})
        hint = f"installed are {', '.join(known)}"
        raise UnknownNameError("plugin", name, suggestions=suggest(name, known), hint=hint)
    if all(one.disabled for one in matching):
        raise UnknownNameError("plugin", name, hint="it is installed and disabled, so it was not loaded")
    return [one for one in matching if not one.disabled]


def _spared(
    without: Iterable[str] | Mapping[str, Iterable[str]],
) -> Callable[[Part], list[str]]:
    """Return a function that gives the laws not to check of what is offered; raise if one does not exist."""
    by_name: Mapping[str, Iterable[str]] = without if isinstance(without, Mapping) else {}
    every = [law for kind in _KINDS for law in laws_of(kind)]
    for names in by_name.values():
        law_names("", every, names)
    general = () if isinstance(without, Mapping) else law_names("", every, without)

    def of(part: Part) -> list[str]:
        known = laws_of(cast("Kind", part.kind))
        return [law for law in by_name.get(part.name, general) if law in known]

    return of
