"""
The laws of what plugins offer besides metrics and what compares texts: each part is tried on tiny data.

None of them needs hypothesis, so that `rankgauge plugins check` tries them for everything installed.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.catalog import Catalog
from rankgauge.catalog.claims import Plugin
from rankgauge.commands import words
from rankgauge.comparison.builtin_tests import p_of
from rankgauge.engine.configured import metrics_of_sets
from rankgauge.engine.engine import Engine
from rankgauge.errors import DataError, RankgaugeError, ResultError
from rankgauge.features.html.html_report import views_of
from rankgauge.features.testing.law import Laws, Trial, book, law
from rankgauge.features.testing.law_checks import Checker
from rankgauge.features.testing.law_report import Report
from rankgauge.gates.kinds import found_by
from rankgauge.io.files import open_file
from rankgauge.io.preset_records import Shape
from rankgauge.judging.filtered import FilterFailedError, stays
from rankgauge.planning.filters import with_filters
from rankgauge.planning.plan import Plan
from rankgauge.plugin.declarations import Record, Source
from rankgauge.plugin.metric import Metric
from rankgauge.plugin.named_data import read_path
from rankgauge.plugin.programs import load_command, unusable_options
from rankgauge.policy import DEFAULT_CONTRACT, Policy
from rankgauge.report import rendered
from rankgauge.result import Result
from rankgauge.result.aggregation import aggregated
from rankgauge.samples import Output, Sample, read_sample
from rankgauge.samples.sample_values import InvalidError

__all__ = ["PART_LAWS", "Part", "check_part", "parts_of"]


class Part(NamedTuple):
    """One thing that a plugin offers: a claim, or an observer by its hook; and where names are looked up."""

    kind: str
    name: str
    offer: Any
    catalog: Catalog


def parts_of(plugin: Plugin, catalog: Catalog) -> list[Part]:
    """Return everything that a plugin offers, its observers last."""
    named = ((offer, offer.declaration) for offer in plugin.offers)
    parts = [
        Part(offer.kind, one.alias if isinstance(one, Metric) else str(one.name), offer, catalog)
        for offer, one in named
    ]
    parts += [Part("command", words(point.name), point, catalog) for point in plugin.commands]
    return parts + [Part("observer", hook, observer, catalog) for hook, observer in plugin.observers.items()]


def check_part(part: Part, without: Iterable[str] = ()) -> Report:
    """Check what is tried on tiny data."""
    return Checker(part.kind, PART_LAWS[part.kind], without).report_on(part)


_GOOD, _DAMAGED = "a line of JSON", "the same line of JSON and a damaged one"

_FILES = {
    "an empty file": b"",
    "a blank line": b"\n",
    _GOOD: b'{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}\n',
    "a line of text": b"q1 a 0.5\n",
    "bytes that are no text": bytes(range(256)),
    _DAMAGED: b'{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}\n\x80{[\xff\n',
}

_MOST = 1000
"""How many records are read of each file: some readers may find no end."""

_SAMPLES = [
    {"id": "found", "expected_output": ["a"], "actual_output": ["a", "b"], "metadata": {"tags": ["first"]}},
    {"id": "missing", "expected_output": ["a"]},
    {"id": "failed", "expected_output": ["a"], "actual_output": 5},
    {"id": "without ground truth", "expected_output": [], "actual_output": ["a"]},
]

_SCORES = {
    "one score": [0.25],
    "scores that are all 0": [0.0, 0.0],
    "scores from 0 to 1": [0.0, 0.25, 0.5, 0.5, 1.0],
    "scores below 0 and above 1": [-3.0, 0.0, 17.5],
}

_DIFFERENCES = {
    "one pair": [0.25],
    "pairs that differ by the same amount": [0.5, 0.5, 0.5],
    "pairs of which one differs": [0.0, 0.0, -1.0, 0.0],
    "pairs that differ both ways": [0.5, -0.25, 0.0, 0.125, 1.0, -0.5, 0.25, 0.75],
    "differences above 1": [-3.0, 17.5, 4.0],
}

_VALUES: tuple[Any, ...] = (None, "text", 5, True, [], {}, [None], ["text"], [{"text": 5}], {"text": ["text"]})
"""What a field of a record may hold instead of what a preset expects."""


@law()
def _tiny_files(trial: Trial[Part]) -> None:
    """An empty, a tiny and a damaged file give records, or `DataError`; what is damaged is not passed over."""
    counts: dict[str, int] = {}
    declaration = trial.subject.offer.declaration
    with tempfile.TemporaryDirectory(prefix="rankgauge-") as folder:
        path = Path(folder, f"tiny{declaration.suffixes[0]}")
        for what, content in _FILES.items():
            trial.forget()
            trial.note(content=repr(content[:80]))
            path.write_bytes(content)
            with open_file(path) as source:
                counts[what], reason = _read(declaration.function, source)
            trial.demand(not reason, f"for {what} {reason}")
    swallowed = 0 < counts[_GOOD] == counts[_DAMAGED]
    trial.demand(not swallowed, f"for {_DAMAGED} it gave as many records as without that; raise DataError")


def _read(function: Callable[[Source], Iterator[Any]], source: Source) -> tuple[int, str]:
    """Return how many records a reader gives, -1 if it says that it cannot; and what it does wrong, or nothing."""
    try:
        with guarded(DataError):
            records: Iterator[Any] = iter(function(source))
            several = list(islice(records, _MOST))
    except DataError:
        return -1, ""
    except ForeignError as error:
        return -1, f"it raised {error}; for a file that it cannot read it raises rankgauge.plugin.DataError"
    strange = [record for record in several if type(record) is not Record]
    wrong = f"it yielded {shown(strange[0])} where a rankgauge.plugin.Record is needed" if strange else ""
    return len(several), wrong


def _tiny_runs(trial: Trial[Part]) -> Iterator[tuple[str, Plan, Result]]:
    """Yield results with and without scores, each with what it is and its plan, and note their samples."""
    engine = Engine(catalog=Catalog.discover(own_only=True))
    undefined = "hit(rel=2)@1"  # no ground truth has a grade of 2
    for what, samples, metrics in (
        ("one sample", _SAMPLES[:1], ["hit@1", "MRR"]),
        ("samples without a score", _SAMPLES, ["hit@1", "MRR"]),
        ("a column without any value, whose mean is None", _SAMPLES, [undefined]),
    ):
        evaluation = engine.dataset(samples).with_metrics(metrics)
        result = evaluation.run(details=True)
        trial.forget()
        trial.note(samples=", ".join(result.sample_ids), metrics=", ".join(metrics))
        yield f"for {what}", evaluation.plan(), result


@law()
def _tiny_results(trial: Trial[Part]) -> None:
    """Results with and without scores give a text."""
    for what, _, result in _tiny_runs(trial):
        try:
            rendered(trial.subject.offer, result)
        except RankgaugeError as error:
            trial.fail(f"{what}: {error}")


@_tiny_results.checked_otherwise(None)
def _tiny_sections(trial: Trial[Part]) -> None:
    section = trial.subject.offer.declaration
    for what, _, result in _tiny_runs(trial):
        for results in ({"first": result}, {"first": result, "second": result}):
            trial.attempt(functools.partial(views_of, section, results), {}, f"{what}, it")


@law()
def _tiny_scores(trial: Trial[Part]) -> None:
    """One score or several in ascending order give a finite number, the same each time, whichever way is better."""
    how = (trial.subject.name, trial.subject.offer.declaration.function, None)
    for (what, scores), better in itertools.product(_SCORES.items(), (True, False)):
        trial.forget()
        trial.note(scores=scores, higher_is_better=better)
        first, second = (aggregated(np.asarray(scores), *how, higher_is_better=better) for _ in range(2))
        trial.demand(first.value is not None, f"for {what} {first.failure or 'it returned None'}")
        trial.demand(first == second, f"for {what} it returned {first.value!r}, then {second.value!r}")


_ODD: Mapping[str, object] = MappingProxyType(
    {
        "a number": 5,
        "a truth value": True,
        "a text": "x",
        "an empty list": [],
        "a list of numbers": [1, -2.5],
        "a list of texts": ["x", ""],
        "a list of null": [None],
        "a list of lists": [[], [[1]]],
        "an empty object": {},
        "a list of empty objects": [{}],
        "a list of objects with other keys": [{"no such key": {}}],
    }
)
"""What may be under the key of a kind of ground truth and is probably not in its form."""


@law()
def _odd_values(trial: Trial[Part]) -> None:
    """Of whatever JSON has it makes gold items, or raises ValueError, whose message says why."""
    kind = trial.subject.catalog.gold_kinds.named(trial.subject.offer)
    for what, raw in _ODD.items():
        trial.forget()
        trial.note(value=raw)
        try:
            kind.fields_of(raw, {}, DEFAULT_CONTRACT)
        except InvalidError as invalid:
            cause = invalid.__cause__
            is_said = isinstance(cause, ForeignError) and isinstance(cause.__cause__, ValueError)
            trial.demand(is_said, f"for {what}: {invalid.message}")


@law()
def _tiny_differences(trial: Trial[Part]) -> None:
    """Differences, in clusters if it takes them, give a p from 0 to 1 or none, the same each time."""
    claim = trial.subject.offer
    settings = {"confidence": 0.95, "resamples": 100, "seed": 0}
    for what, differences in _DIFFERENCES.items():
        codes = np.arange(len(differences)) // 2
        for clusters in (None, codes) if claim.declaration.takes_clusters else (None,):
            trial.forget()
            trial.note(differences=differences, clusters=None if clusters is None else clusters.tolist())
            first, second = (p_of(claim, np.asarray(differences), clusters, settings) for _ in range(2))
            trial.demand("failed" not in first[1], f"for {what} {first[1].partition(': ')[2]}")
            trial.demand(first == second, f"for {what} it returned {first[0]!r}, then {second[0]!r}")


@law()
def _tiny_gates(trial: Trial[Part]) -> None:
    """One score or several, beside those of a baseline if it compares, give a finding, the same each time."""
    claim = trial.subject.offer
    for (what, scores), number, better in itertools.product(_SCORES.items(), (0.0, 0.5), (True, False)):
        values = np.asarray(scores)
        baseline = values[::-1] if claim.declaration.is_change else None
        counts = {"n": len(scores), "undefined": 0, "missing": 1, "failed": 0}
        trial.forget()
        trial.note(scores=scores, number=number, higher_is_better=better)
        try:
            first, second = (
                found_by(claim, values, number, baseline=baseline, counts=counts, higher_is_better=better)
                for _ in range(2)
            )
        except ResultError as error:
            trial.fail(f"for {what} {str(error).partition(' failed: ')[2]}")
        trial.demand(first == second, f"for {what} it found {first!r}, then {second!r}")


@law()
def _tiny_rankings(trial: Trial[Part]) -> None:
    """
    Rankings of none, one and several results, also of equal ones, have a flag for each, the same each time.

    The metadata there have none of its fields: it keeps or drops such results, or raises ValueError, which says why.
    """
    name, catalog = trial.subject.name, trial.subject.catalog
    policy = with_filters(catalog.profile(Policy(filters=(name,))), catalog, by_id=False).policy  # type: ignore[arg-type]  # a text is read
    for ids in ([], ["a"], ["a", "b", "c"], ["a", "a", "b"], ["b", None, None], ["d#1", "d#2", "e#1", "d#3"]):
        scores, texts = [float(-rank) for rank in range(len(ids))], [f"text {each}" for each in ids]
        output = Output(ids, texts, scores, metadata=[{"no such field": rank} for rank in range(len(ids))])
        trial.forget()
        trial.note(ids=ids, scores=scores, texts=texts, metadata=output.metadata)
        try:
            first, second = (stays(policy, output, Sample("q", "text")) for _ in range(2))
        except FilterFailedError as error:
            if error.__cause__ is not None and isinstance(error.__cause__.__cause__, ValueError):
                continue
            trial.fail(str(error).partition(" failed: ")[2])
        trial.demand(first == second, f"it returned {first!r}, then {second!r}")


@law()
def _tiny_records(trial: Trial[Part]) -> None:
    """Records without values, and with values of every kind where it looks, are read or refused."""
    preset = trial.subject.offer.declaration
    shape = Shape(trial.subject.catalog, preset.name)
    paths = (path for places in (*preset.fields.values(), *preset.items.values()) for path in places)
    names = sorted({name for path in paths for name, _ in read_path(path)[:1]})
    for value in _VALUES:
        record = dict.fromkeys(names, value)
        read = trial.attempt(functools.partial(shape.sample, Record(record)), {"record": record})
        trial.attempt(functools.partial(read_sample, read, problems=[]), {"record": record}, "reading the sample")


@law(name="usable")
def _usable_profile(trial: Trial[Part]) -> None:
    """Everything that it names exists, and can be used as it says."""
    try:
        trial.subject.catalog.profile(trial.subject.name)
    except RankgaugeError as error:
        trial.fail(str(error))


@_usable_profile.checked_otherwise(None)
def _usable_set(trial: Trial[Part]) -> None:
    catalog = trial.subject.catalog
    try:
        metrics = metrics_of_sets([trial.subject.name], catalog, None)
        Engine(catalog=catalog).dataset([]).with_metrics(metrics).plan()
    except RankgaugeError as error:
        trial.fail(str(error))


@law()
def _described_options(trial: Trial[Part]) -> None:
    """It can be loaded and has a summary, its options can be added to a parser with a help, and each has a help."""
    declared = trial.attempt(functools.partial(load_command, trial.subject.offer), {}, "loading it")
    trial.demand(declared.summary, "it has no docstring, whose first line is its summary")
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("-h", "--help", help="Show this message and exit.")
    trial.attempt(functools.partial(declared.options, parser), {}, "adding the options")
    trial.attempt(parser.format_help, {}, "showing the help")
    reason = unusable_options(parser)
    trial.demand(not reason, reason)
    for action in parser._actions:  # noqa: SLF001  # there is no other way to all of them
        name = "/".join(action.option_strings) or action.dest
        trial.demand(action.help, f"{name} has no help")


@law()
def _checked_options(trial: Trial[Part]) -> None:
    """Its options have a schema, each is described, and one that there is not is refused."""
    options = trial.subject.offer.declaration.model
    schema = trial.attempt(options.model_json_schema, {}, "making the schema of its options")
    for name, field in schema.get("properties", {}).items():
        trial.demand(field.get("description"), f"{name} has no description")
    trial.demand(schema.get("additionalProperties") is False, "options that there are not are not refused")


@law()
def _observes(trial: Trial[Part]) -> None:
    """A run that starts, and one that ends with or without scores, can be observed."""
    for what, plan, result in _tiny_runs(trial):
        seen = result if trial.subject.name == "rankgauge_run_finished" else plan
        trial.attempt(functools.partial(trial.subject.offer, seen), {}, f"{what}, it")


PART_LAWS: Mapping[str, Laws] = MappingProxyType(
    {
        "reader": book(_tiny_files),
        "reporter": book(_tiny_results),
        "aggregate": book(_tiny_scores),
        "test": book(_tiny_differences),
        "gate kind": book(_tiny_gates),
        "gold kind": book(_odd_values),
        "filter": book(_tiny_rankings),
        "preset": book(_tiny_records),
        "profile": book(_usable_profile),
        "metric set": book(_usable_set),
        "report section": book(_tiny_sections),
        "command": book(_described_options),
        "system": book(_checked_options),
        "observer": book(_observes),
    }
)
"""The laws of each kind of part that is tried on tiny data, by name."""
