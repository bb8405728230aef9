"""
`check_plugin`: checking everything that a plugin offers against the laws, its readers and reporters on tiny data.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, cast, get_args

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.catalog import Catalog
from rankgauge.catalog.claims import Claim, Declaration, Plugin, normalized
from rankgauge.errors import DataError, RankgaugeError, UnknownNameError, suggest
from rankgauge.plugin.declarations import Reader, Record, Reporter, Source
from rankgauge.plugin.metric import Metric
from rankgauge.testing.law import Kind, Laws, Trial, applying, book, law, law_names
from rankgauge.testing.law_checks import CASES, Candidate, Checker, checking, require_hypothesis
from rankgauge.testing.law_report import PluginReport, Report
from rankgauge.testing.metric_checks import declared_candidate
from rankgauge.testing.text_checks import check_comparer, check_matcher, check_normalizer, check_tokenizer

__all__ = ["check_format", "check_plugin", "laws_of", "time_left"]


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
            known = catalog or Catalog.discover()
            name, plugins = plugin, _named(known, plugin)
        else:
            name = str(getattr(plugin, "__name__", type(plugin).__name__))
            known = Catalog.discover(own_only=True, plugins={name: plugin})
            plugins = [known.plugins[-1]]
        ids = {one.id for one in plugins}
        faults = tuple(str(fault) for fault in known.faults if fault.plugin in ids)
        # What has no laws, such as an aggregate, is held to what it declares wherever it is used.
        offers = [offer for one in plugins for offer in one.offers if offer.kind in _KINDS]
        left = time_left([offer.kind for offer in offers], cases)
        reports = []
        for done, offer in enumerate(offers):
            if progress is not None:
                progress(f"{offer.kind} {_name_of(offer)} ({done + 1} of {len(offers)}, {left(done)} left)")
            reports.append(_report(offer, known, spared(offer), cases))
    return PluginReport(name=name, faults=faults, reports=tuple(reports))


_KINDS: tuple[Kind, ...] = get_args(Kind)


def laws_of(kind: Kind) -> Laws:
    """
    Return the laws of one kind of part.

    Args:
        kind: `metric`, `normalizer`, `comparer`, `matcher`, `tokenizer`, `reader` or `reporter`.

    Returns:
        The laws by name, in the order of reports; what each says is `says`.

    Raises:
        MissingExtraError: hypothesis is not installed.
    """
    if kind in {"reader", "reporter"}:
        return READER_LAWS if kind == "reader" else REPORTER_LAWS
    require_hypothesis(kind)
    from rankgauge.testing import run_laws, text_laws

    return {
        "metric": run_laws.METRIC_LAWS,
        "normalizer": text_laws.NORMALIZER_LAWS,
        "comparer": text_laws.COMPARER_LAWS,
        "matcher": text_laws.MATCHER_LAWS,
        "tokenizer": text_laws.TOKENIZER_LAWS,
    }[kind]


_SECONDS = {"metric": 10.0, "normalizer": 2.0, "comparer": 2.0, "matcher": 0.5}
"""About how long `CASES` cases take on a machine of 2025; readers and reporters take no time."""

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


def _report(offer: Claim[Declaration], catalog: Catalog, without: list[str], cases: int) -> Report:
    declaration: Any = offer.declaration
    if isinstance(declaration, Metric):
        with checking("metric", without, cases) as checker:
            from rankgauge.testing.metric_subjects import EngineMetric
            from rankgauge.testing.run_laws import METRIC_LAWS

            return checker.report(declared_candidate(EngineMetric.of(declaration, catalog)), METRIC_LAWS)
    if offer.kind in {"reader", "reporter"}:
        return check_format(offer)
    if offer.kind == "matcher":
        return check_matcher(declaration.source, catalog=catalog, without=without, cases=cases)
    checks: Mapping[str, Callable[..., Report]] = {
        "normalizer": check_normalizer,
        "comparer": check_comparer,
        "tokenizer": check_tokenizer,
    }
    return checks[offer.kind](declaration.function, without=without, cases=cases)


def _name_of(offer: Claim[Declaration]) -> str:
    return offer.declaration.alias if isinstance(offer.declaration, Metric) else offer.declaration.name


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
) -> Callable[[Claim[Declaration]], list[str]]:
    """Return a function that gives the laws not to check of what is offered; raise where one does not exist."""
    by_name: Mapping[str, Iterable[str]] = without if isinstance(without, Mapping) else {}
    every = [law for kind in _KINDS for law in laws_of(kind)]
    for names in by_name.values():
        law_names("", every, names)
    general = () if isinstance(without, Mapping) else law_names("", every, without)

    def of(offer: Claim[Declaration]) -> list[str]:
        known = laws_of(cast("Kind", offer.kind))
        return [law for law in by_name.get(_name_of(offer), general) if law in known]

    return of


def check_format(offer: Claim[Any]) -> Report:
    """Check a reader or reporter of a plugin on tiny data, for which hypothesis is not needed."""
    laws = READER_LAWS if offer.kind == "reader" else REPORTER_LAWS
    candidate = Candidate(name=offer.declaration.name, subject=offer, laws=applying(laws))
    return Checker(offer.kind).report(candidate, laws)


_FILES = {
    "an empty file": b"",
    "a blank line": b"\n",
    "a line of JSON": b'{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}\n',
    "a line of text": b"q1 a 0.5\n",
    "bytes that are no text": bytes(range(256)),
}

_MOST = 1000
"""How many records are read of each file: some readers may find no end."""

_SAMPLES = [
    {"id": "found", "expected_output": ["a"], "actual_output": ["a", "b"], "metadata": {"tags": ["first"]}},
    {"id": "missing", "expected_output": ["a"]},
    {"id": "failed", "expected_output": ["a"], "actual_output": 5},
    {"id": "without ground truth", "expected_output": [], "actual_output": ["a"]},
]


@law()
def _tiny_files(trial: Trial[Claim[Reader]]) -> None:
    """An empty, a tiny and a damaged file give records, or `DataError`."""
    from rankgauge.io.files import open_file

    with tempfile.TemporaryDirectory(prefix="rankgauge-") as folder:
        path = Path(folder, f"tiny{trial.subject.declaration.suffixes[0]}")
        for what, content in _FILES.items():
            trial.forget()
            trial.note(content=repr(content[:80]))
            path.write_bytes(content)
            with open_file(path) as source:
                reason = _misread(trial.subject, source)
            trial.demand(not reason, f"for {what} {reason}")


def _misread(claim: Claim[Reader], source: Source) -> str:
    """Return what a reader does wrong with a file; empty where it does nothing wrong."""
    try:
        with guarded(DataError):
            records: Iterator[Any] = iter(claim.declaration.function(source))
            strange = [record for record in islice(records, _MOST) if type(record) is not Record]
    except DataError:
        return ""
    except ForeignError as error:
        return f"it raised {error}; for a file that it cannot read it raises rankgauge.plugin.DataError"
    return f"it yielded {shown(strange[0])} where a rankgauge.plugin.Record is needed" if strange else ""


@law()
def _tiny_results(trial: Trial[Claim[Reporter]]) -> None:
    """Results with and without scores give a text."""
    from rankgauge.engine.engine import Engine
    from rankgauge.report.json import rendered

    engine = Engine(catalog=Catalog.discover(own_only=True))
    for what, samples in (("one sample", _SAMPLES[:1]), ("samples without a score", _SAMPLES)):
        result = engine.dataset(samples).with_metrics(["hit@1", "MRR"]).run(details=True)
        trial.forget()
        trial.note(samples=", ".join(result.sample_ids))
        try:
            rendered(trial.subject, result)
        except RankgaugeError as error:
            trial.fail(f"for {what}: {error}")


READER_LAWS = book(_tiny_files)
REPORTER_LAWS = book(_tiny_results)
