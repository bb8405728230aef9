"""
The gates of a command: they and the baseline are read, then planned with the metrics, then judged.

Each step returns the next, so that their order can be read off: `AskedGates`, `PlannedGates`, `JudgedGates`.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rankgauge.base.plain_text import visible
from rankgauge.cli.console import complain, remark
from rankgauge.cli.gate_reports import JudgedGates
from rankgauge.errors import ConfigError, ParameterError, Problem, ResultError, counted, did_you_mean
from rankgauge.extensions import extension
from rankgauge.io.whole_files import obstacle

if TYPE_CHECKING:
    from rankgauge.comparison.pairing import Common
    from rankgauge.config import LoadedConfig
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.gates.asked import Planner
    from rankgauge.gates.grammar import Gate
    from rankgauge.gates.outcomes import GateReport
    from rankgauge.planning.requests import MetricSpec
    from rankgauge.result import Result


LAST_GOOD = "last-good"
"""The baseline that is the newest result in a history which met its gates."""

_OPTIONS = (
    "gate",
    "until",
    "sut",
    "baseline",
    "save_baseline",
    "junit",
    "markdown",
    "inconclusive",
    "history",
    "short_lists",
)
"""What can be typed about gates; no command has all of it."""


@dataclass(frozen=True, kw_only=True)
class AskedGates:
    """
    The gates that a command was given, before anything is planned.

    Attributes:
        given: What was typed; None for an option that the command does not have.

        gates: The gates of the config, then those that were typed.

        baseline: What changes are judged against; None if nothing was given, or the first one is only saved now.

        begins: Whether a history begins with this run, which has no baseline yet.
    """

    given: argparse.Namespace
    gates: tuple[Gate, ...]
    baseline: Mapping[str, Result] | None = None
    begins: bool = False

    @classmethod
    def of(cls, typed: argparse.Namespace, config: LoadedConfig | None = None) -> AskedGates:
        """Read gates and baseline, and look at the files to write; raise for whatever cannot be used."""
        given = _given(typed)
        gates = _read(given, config)
        _check_targets(given, gates, "--gate 'ndcg@10 >= 0.6', or `gates:` in the config")
        declared = None if config is None or config.config.baseline is None else config.file(config.config.baseline)
        try:
            return _with_baseline(given, gates, given.baseline or declared)
        except ResultError as error:
            if given.baseline is not None or config is None or declared is None or declared.exists():
                raise
            problem = Problem(str(error), *config.place("baseline"), "baseline")
            raise ConfigError(f"{config.path} cannot be used:", [problem]) from error

    @classmethod
    def of_comparison(cls, typed: argparse.Namespace) -> AskedGates:
        """Read the gates of a comparison, whose first result is the baseline."""
        given = _given(typed)
        gates = _read(given)
        if typed.common != "all":
            changed: dict[str, Any] = {"common": typed.common}  # which a bound does not have
            gates = [replace(gate, rule=replace(gate.rule, **changed)) if gate.is_change else gate for gate in gates]
        _check_targets(given, gates, "--gate 'ndcg@10 max_drop 0.01'")
        return cls(given=given, gates=tuple(gates))

    @property
    def wants_ids(self) -> bool:
        """Return whether results need a sketch of their ids."""
        return self.baseline is not None or self.given.save_baseline is not None

    def widened(self, evaluation: Evaluation, dataset: str) -> tuple[Evaluation, tuple[Gate, ...]]:
        """Return an evaluation that computes what the gates of a dataset need, too, and these gates."""
        gates, specs = self._ask(dataset, evaluation.metrics, _planner(evaluation))
        return _with_cohorts(evaluation, specs, gates), gates

    def planned(self, gates: Mapping[str, tuple[Gate, ...]], known: Collection[str]) -> PlannedGates:
        """
        Return the gates of each dataset as they are to be judged.

        Gates on datasets that are not *known* are refused; those of datasets that are left out are said.
        """
        problems = [
            Problem(
                f"{gate.origin}: no dataset {gate.dataset!r}{did_you_mean(gate.dataset, known)}; there are "
                f"{', '.join(known)}"
            )
            for gate in self.gates
            if gate.dataset and gate.dataset not in known
        ]
        if problems:
            raise ConfigError("the gates cannot be used:", problems)
        if self.baseline is not None and len(self.baseline) != 1:
            changes = {name for name, of in gates.items() if any(gate.is_change for gate in of)}
            for name in sorted(changes - self.baseline.keys()):
                path = next(iter(self.baseline.values())).manifest["baseline"] if self.baseline else ""
                hint = f"{did_you_mean(name, self.baseline)}; write it again with --save-baseline {path}"
                raise ParameterError(f"the baseline {path} has no dataset {name!r}{hint}")
        left = sum(bool(gate.dataset) and gate.dataset not in gates for gate in self.gates)
        if left:
            remark(f"{counted(left, 'gate')} not judged, because the dataset is not evaluated")
        return PlannedGates(self, gates)

    def of_runs(
        self, runs: Sequence[str], specs: Sequence[MetricSpec], plan: Planner
    ) -> tuple[PlannedGates, tuple[MetricSpec, ...]]:
        """Return the gates of several runs, and the metrics of all, which one plan evaluates."""
        wanted = list(specs)
        gates = {}
        for run in runs:
            gates[run], needed = self._ask(run, specs, plan)
            wanted += [spec for spec in needed if spec not in wanted]  # a mapping has no hash
        return self.planned(gates, runs), tuple(wanted)

    def of_outputs(self, runs: Sequence[str], evaluation: Evaluation) -> tuple[PlannedGates, Evaluation]:
        """Return the gates of several outputs of one dataset, and the evaluation of all metrics that they need."""
        planned, specs = self.of_runs(runs, evaluation.metrics, _planner(evaluation))
        return planned, _with_cohorts(evaluation, specs, planned.gates[runs[0]])

    def of_results(self) -> PlannedGates:
        """Return the gates of results that are there already, whose columns are looked up when they are judged."""
        return PlannedGates(self, {})

    def _ask(
        self, dataset: str, specs: Sequence[MetricSpec], plan: Planner
    ) -> tuple[tuple[Gate, ...], tuple[MetricSpec, ...]]:
        """Return the gates of a dataset, and its metrics with those that the gates need."""
        if not self.gates:
            return (), tuple(specs)
        from rankgauge.gates.asked import ask_gates

        asked = ask_gates([gate for gate in self.gates if gate.dataset in {"", dataset}], specs, plan)
        return asked.gates, asked.specs


class PlannedGates(NamedTuple):
    """
    The gates of a command by dataset, with columns that are computed for them.

    Attributes:
        asked: As they were given.

        gates: Those of each dataset; empty for results that are there already.
    """

    asked: AskedGates
    gates: Mapping[str, tuple[Gate, ...]]

    def until(self, dataset: str) -> list[Gate]:
        """Return the gates of a dataset that end the calls of a system under test once they are decided."""
        return [gate for gate in self.gates.get(dataset, ()) if gate.until]

    def unjudged(self) -> JudgedGates:
        """Return what happens to gates if a run ends before they are judged."""
        asked = self.asked
        is_limited = any(getattr(gate.rule, "common", "all") == "unchanged" for gate in asked.gates)
        common: Common = "unchanged" if is_limited else "all"
        return JudgedGates(given=asked.given, baseline=asked.baseline, begins=asked.begins, common=common)

    def judge(self, results: Mapping[str, Result]) -> JudgedGates:
        """Judge the gates, unless a run was interrupted."""
        if any(result.settings.get("interrupted") for result in results.values()):
            if self.asked.gates:
                complain("the run was interrupted, so its gates were not judged")
            return self.unjudged()
        if not (self.asked.gates or self.asked.baseline is not None):
            return self.unjudged()
        from rankgauge.gates.verdicts import judge_resolved

        gates = {name: self.gates.get(name, ()) for name in results}
        return self._written(judge_resolved(results, gates, self.asked.baseline), results, self.asked.baseline)

    def judge_against_first(self, results: Mapping[str, Result]) -> JudgedGates:
        """
        Judge the gates of every result but the first, which is their baseline.

        Without gates, changed ids are a warning only: the documents may differ on purpose.
        """
        first, *others = results
        baseline = dict.fromkeys(others, results[first])
        rest = {name: results[name] for name in others}
        if not self.asked.gates:
            from rankgauge.gates.drop import ids_changed

            for name, why in ids_changed(rest, baseline).items():
                remark(visible(f"{name}: {why}"))
            return self.unjudged()
        from rankgauge.gates.verdicts import judge_gates, judge_resolved

        if self.gates:
            report = judge_resolved(rest, self.gates, baseline)
        else:
            report = judge_gates(rest, self.asked.gates, baseline=baseline)
        return self._written(report, rest, baseline, first)

    def _written(
        self, report: GateReport, results: Mapping[str, Result], baseline: Mapping[str, Result] | None, first: str = ""
    ) -> JudgedGates:
        """Return judged gates, whose report is written if it was asked for."""
        shows_names = bool(first) or len(self.gates) > 1
        judged = replace(self.unjudged(), baseline=baseline, report=report, first=first, shows_names=shows_names)
        judged.write_reports(results)
        return judged


def _planner(evaluation: Evaluation) -> Planner:
    """Return what plans metrics of an evaluation."""
    return lambda specs: evaluation.with_metrics(specs).plan().metrics


def _with_cohorts(evaluation: Evaluation, specs: Sequence[MetricSpec], gates: Sequence[Gate]) -> Evaluation:
    """Return an evaluation of some metrics, with the cohorts by which gates select."""
    named = dict.fromkeys(gate.where.field for gate in gates if gate.where is not None)
    groups = evaluation.data.groups
    fields = [name for name in named if name.startswith("metadata.") and name != "metadata.tags"]
    fields = [name for name in fields if groups is None or not groups.has_values_of(name.removeprefix("metadata."))]
    if fields:
        evaluation = evaluation.with_cohorts([*evaluation.data.cohorts, *fields])
    return evaluation if specs == evaluation.metrics else evaluation.with_metrics(specs)


def _with_baseline(given: argparse.Namespace, gates: Sequence[Gate], path: Path | None) -> AskedGates:
    """Return gates with the baseline of a file, of a history, or none if this run becomes it."""
    if path is None:
        if changes := [gate for gate in gates if gate.is_change]:
            hint = "give --baseline FILE, or `baseline:` in the config; --save-baseline FILE writes one"
            raise ParameterError(f"{changes[0].origin}: {changes[0]} needs a baseline; {hint}")
        return AskedGates(given=given, gates=tuple(gates))
    if path.name == LAST_GOOD and not path.exists():
        if earlier := extension("last good result")(given.history):
            return AskedGates(given=given, gates=tuple(gates), baseline=earlier)
        left = _without_changes(gates, "no result in the history has passed its gates yet")
        return AskedGates(given=given, gates=left, begins=True)
    target = given.save_baseline
    if not path.exists() and target is not None and target.absolute() == path.absolute():
        return AskedGates(given=given, gates=_without_changes(gates, "no baseline yet"))
    from rankgauge.gates.baseline import load_baseline

    return AskedGates(given=given, gates=tuple(gates), baseline=load_baseline(path))


def _without_changes(gates: Sequence[Gate], why: str) -> tuple[Gate, ...]:
    """Return the gates of a first run, which becomes the baseline of later ones: all but those on changes."""
    left = tuple(gate for gate in gates if not gate.is_change)
    if n := len(gates) - len(left):
        remark(f"{why}: {counted(n, 'gate')} on changes not judged; this run becomes the baseline")
    return left


def _given(typed: argparse.Namespace) -> argparse.Namespace:
    return argparse.Namespace(**{name: getattr(typed, name, None) for name in _OPTIONS})


def _read(given: argparse.Namespace, config: LoadedConfig | None = None) -> list[Gate]:
    """Return the gates of a config, and those that were typed; what is typed for all gates beats the config."""
    declared = [] if config is None else [*config.config.gates, *config.config.until]
    if not (given.gate or given.until or declared):
        return []
    from rankgauge.catalog import Catalog
    from rankgauge.gates.asked import until_gates
    from rankgauge.gates.grammar import Defaults, read_gates

    inconclusive, short_lists = (
        (None, None) if config is None else (config.config.inconclusive, config.config.short_lists)
    )
    catalog = Catalog.discover(disable=() if config is None else config.config.plugins.disable)
    defaults = Defaults(
        given.inconclusive or inconclusive or "fell", given.short_lists or short_lists or "open", catalog=catalog
    )
    gates = [] if config is None else config.gates(defaults.inconclusive, defaults.short_lists)
    gates += [gate for text in given.gate or () for gate in read_gates(text, origin="--gate", defaults=defaults)]
    gates += until_gates(given.until or (), origin="--until")
    return gates if given.sut else [replace(gate, until=False) for gate in gates]  # nothing is called that could end


def _check_targets(given: argparse.Namespace, gates: Sequence[Gate], example: str) -> None:
    """Refuse a report on gates if there are none, and files that cannot be written, before anything is computed."""
    if given.junit is not None and not gates:
        raise ParameterError(f"--junit reports on gates, and there are none; give {example}")
    for name in ("junit", "markdown", "save_baseline", "history"):
        path = getattr(given, name)
        if path is not None and (why := obstacle(path)):
            raise ParameterError(f"--{name.replace('_', '-')} {path} cannot be written: {why}")
