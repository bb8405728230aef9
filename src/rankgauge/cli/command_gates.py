"""
The gates of a command: they and the baseline are read before anything is computed, judged and shown after.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from rankgauge.base.plain_text import visible
from rankgauge.cli.console import complain, remark, show
from rankgauge.errors import ConfigError, ParameterError, Problem, ResultError, counted, did_you_mean
from rankgauge.extensions import extension
from rankgauge.io.whole_files import obstacle, replace_file

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


@dataclass(kw_only=True)
class Gating:
    """
    The gates of one command.

    Attributes:
        given: What was typed; None for an option that the command does not have.

        gates: The gates of the config, then those that were typed.

        baseline: What changes are judged against; None where nothing was given, or the first one is only saved now.

        report: What became of the gates; None before `judge`, and where there was nothing to judge.

        first: The name of the result that the others are compared with; empty where the baseline is a file.
    """

    given: argparse.Namespace
    gates: list[Gate]
    baseline: Mapping[str, Result] | None = None
    report: GateReport | None = None
    first: str = ""
    _asked: dict[str, tuple[Gate, ...]] = field(default_factory=dict)
    _begins: bool = False  # whether a history begins with this run, which has no baseline yet

    @classmethod
    def of(cls, typed: argparse.Namespace, config: LoadedConfig | None = None) -> Gating:
        """Read gates and baseline, and look at the files to write; raise for whatever cannot be used."""
        given = _given(typed)
        gates = _read(given, config)
        _check_targets(given, gates, "--gate 'ndcg@10 >= 0.6', or `gates:` in the config")
        declared = None if config is None or config.config.baseline is None else config.file(config.config.baseline)
        gating = cls(given=given, gates=gates)
        try:
            gating._read_baseline(given.baseline or declared)
        except ResultError as error:
            if given.baseline is not None or config is None or declared is None or declared.exists():
                raise
            problem = Problem(str(error), *config.place("baseline"), "baseline")
            raise ConfigError(f"{config.path} cannot be used:", [problem]) from error
        return gating

    @classmethod
    def of_comparison(cls, typed: argparse.Namespace) -> Gating:
        """Read the gates of a comparison, whose first result is the baseline."""
        given = _given(typed)
        gates = _read(given)
        if typed.common != "all":
            changed: dict[str, Any] = {"common": typed.common}  # which a bound does not have
            gates = [replace(gate, rule=replace(gate.rule, **changed)) if gate.is_change else gate for gate in gates]
        _check_targets(given, gates, "--gate 'ndcg@10 max_drop 0.01'")
        return cls(given=given, gates=gates)

    @property
    def wants_ids(self) -> bool:
        """Return whether results need a sketch of their ids."""
        return self.baseline is not None or self.given.save_baseline is not None

    def check_datasets(self, known: Collection[str]) -> None:
        """Refuse gates on datasets that do not exist; say which gates are not judged because theirs is left out."""
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
            changes = {name for name, gates in self._asked.items() if any(gate.is_change for gate in gates)}
            for name in sorted(changes - self.baseline.keys()):
                path = next(iter(self.baseline.values())).manifest["baseline"] if self.baseline else ""
                hint = f"{did_you_mean(name, self.baseline)}; write it again with --save-baseline {path}"
                raise ParameterError(f"the baseline {path} has no dataset {name!r}{hint}")
        left = sum(bool(gate.dataset) and gate.dataset not in self._asked for gate in self.gates)
        if left:
            remark(f"{counted(left, 'gate')} not judged, because the dataset is not evaluated")

    def ask(self, dataset: str, specs: Sequence[MetricSpec], plan: Planner) -> tuple[MetricSpec, ...]:
        """Return the metrics of a dataset with those that its gates need."""
        if not self.gates:
            return tuple(specs)
        from rankgauge.gates.asked import ask_gates

        asked = ask_gates([gate for gate in self.gates if gate.dataset in {"", dataset}], specs, plan)
        self._asked[dataset] = asked.gates
        return asked.specs

    def until(self, dataset: str) -> list[Gate]:
        """Return the gates of a dataset that end the calls of a system under test once they are decided."""
        return [gate for gate in self._asked.get(dataset, ()) if gate.until]

    @property
    def exit_code(self) -> int:
        """Return how the command ends, where all samples were scored."""
        return 0 if self.report is None else self.report.exit_code

    def widened(self, evaluation: Evaluation, dataset: str) -> Evaluation:
        """Return an evaluation that computes what the gates of a dataset need, too."""
        asked = self.ask(dataset, evaluation.metrics, lambda specs: evaluation.with_metrics(specs).plan().metrics)
        return self.asking(evaluation, asked, dataset)

    def asking(self, evaluation: Evaluation, asked: Sequence[MetricSpec], dataset: str) -> Evaluation:
        """Return an evaluation of the metrics that were *asked*, with cohorts by which gates of the dataset select."""
        named = dict.fromkeys(gate.where.field for gate in self._asked.get(dataset, ()) if gate.where is not None)
        if fields := [name for name in named if name.startswith("metadata.") and name != "metadata.tags"]:
            evaluation = evaluation.with_cohorts([*evaluation.data.cohorts, *fields])
        return evaluation if asked == evaluation.metrics else evaluation.with_metrics(asked)

    def ask_runs(self, runs: Sequence[str], specs: Sequence[MetricSpec], plan: Planner) -> tuple[MetricSpec, ...]:
        """Return the metrics of several runs, which are all evaluated by one plan, with those that any gate needs."""
        asked: list[MetricSpec] = []
        for run in runs:
            asked += [spec for spec in self.ask(run, specs, plan) if spec not in asked]  # a mapping has no hash
        self.check_datasets(runs)
        return tuple(asked)

    def judge(self, results: Mapping[str, Result]) -> bool:
        """Judge the gates, unless a run was interrupted; return whether the numbers may be shown."""
        if any(result.settings.get("interrupted") for result in results.values()):
            if self.gates:
                complain("the run was interrupted, so its gates were not judged")
            return True
        if not (self.gates or self.baseline is not None):
            return True
        from rankgauge.gates.verdicts import judge_resolved

        gates = {name: self._asked.get(name, ()) for name in results}
        return self._reported(judge_resolved(results, gates, self.baseline), results)

    def judge_against_first(self, results: Mapping[str, Result]) -> bool:
        """
        Judge the gates of every result but the first, which is their baseline; return as `judge`.

        Without gates, changed ids are a warning only: the documents may differ on purpose.
        """
        first, *others = results
        baseline = dict.fromkeys(others, results[first])
        rest = {name: results[name] for name in others}
        if not self.gates:
            from rankgauge.gates.drop import ids_changed

            for name, why in ids_changed(rest, baseline).items():
                remark(visible(f"{name}: {why}"))
            return True
        from rankgauge.gates.verdicts import judge_gates, judge_resolved

        self.first, self.baseline = first, baseline
        if self._asked:
            return self._reported(judge_resolved(rest, self._asked, self.baseline), rest)
        return self._reported(judge_gates(rest, self.gates, baseline=self.baseline), rest)

    def _reported(self, report: GateReport, results: Mapping[str, Result]) -> bool:
        """Keep a report and write it where it was asked for."""
        self.report = report
        if self.given.junit is not None:
            from rankgauge.gates.ci_reports import junit_xml

            _write(self.given.junit, junit_xml(report, results))
        self._tell_github(report, results)
        return not report.ids_changed

    def added(self, reports: Mapping[str, str], form: str) -> Mapping[str, str]:
        """Return reports by dataset, those in JSON with their gates."""
        if form != "json" or self.report is None or not self.report.outcomes:
            return reports
        outcomes = self.report.outcomes
        gates = {name: [outcome.to_dict() for outcome in outcomes if outcome.dataset == name] for name in reports}
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        return {
            name: orjson.dumps({**orjson.loads(text), "gates": gates[name]}, option=options).decode()
            for name, text in reports.items()
        }

    def save(self, results: Mapping[str, Result]) -> None:
        """Write the Markdown summary, and the baseline where it was asked for and all samples were scored."""
        if self.given.markdown is not None:
            _write(self.given.markdown, self._markdown(results).encode())
        path = self.given.save_baseline
        if path is None:
            return
        from rankgauge.result.wording import partial_line

        if any(result.is_incomplete or partial_line(result) for result in results.values()) or (
            self.report is not None and self.report.ids_changed
        ):
            remark(f"the baseline {path} was not saved, because this run is not one to compare with")
            return
        from rankgauge.gates.baseline import save_baseline

        save_baseline(results, path)
        remark(f"saved the baseline {path}")

    def remember(self, saved: Sequence[Path], results: Mapping[str, Result]) -> None:
        """Add the results that were saved to the history that was named, with what became of their gates."""
        if self.given.history is not None:
            extension("results over time")(self.given.history, saved, results, self.report, begins=self._begins)

    def tell(self, form: str) -> None:
        """Show the verdicts line by line: beside a table on stdout, beside other formats on stderr."""
        report = self.report
        if report is None:
            return
        from rankgauge.gates.outcomes import baseline_line, gate_lines

        if self.baseline is not None and "baseline" in next(iter(self.baseline.values())).manifest:
            remark(visible(baseline_line(self.baseline)))
        for name, why in report.ids_changed.items():
            complain(visible(f"{name}: {why}" if self.first or len(self._asked) > 1 else why))
        if report.outcomes:
            lines = list(gate_lines(report))
            show(lines) if form == "table" else remark("\n".join(line.text for line in lines))

    def _read_baseline(self, path: Path | None) -> None:
        if path is None:
            if changes := [gate for gate in self.gates if gate.is_change]:
                hint = "give --baseline FILE, or `baseline:` in the config; --save-baseline FILE writes one"
                raise ParameterError(f"{changes[0].origin}: {changes[0]} needs a baseline; {hint}")
            return
        if path.name == LAST_GOOD and not path.exists():
            self.baseline = extension("last good result")(self.given.history) or None
            self._begins = self.baseline is None
            if self._begins:
                self._without_changes("no result in the history has passed its gates yet")
            return
        target = self.given.save_baseline
        if not path.exists() and target is not None and target.absolute() == path.absolute():
            self._without_changes("no baseline yet")
            return
        from rankgauge.gates.baseline import load_baseline

        self.baseline = load_baseline(path)

    def _without_changes(self, why: str) -> None:
        """Leave out the gates on changes of the first run, which becomes the baseline of later ones."""
        before = len(self.gates)
        self.gates = [gate for gate in self.gates if not gate.is_change]
        if left := before - len(self.gates):
            remark(f"{why}: {counted(left, 'gate')} on changes not judged; this run becomes the baseline")

    def _markdown(self, results: Mapping[str, Result]) -> str:
        from rankgauge.gates.ci_reports import pull_request_markdown

        changes = {}
        if self.baseline is not None:
            from rankgauge.gates.drop import baseline_of, changes_since

            earlier = {name: baseline_of(name, self.baseline, results) for name in results}
            is_limited = any(getattr(gate.rule, "common", "all") == "unchanged" for gate in self.gates)
            common: Common = "unchanged" if is_limited else "all"
            known = {name: old for name, old in earlier.items() if old is not None}
            changes = {name: changes_since(results[name], old, common) for name, old in known.items()}
        return pull_request_markdown(results, self.report, self.baseline, changes, first=self.first)

    def _tell_github(self, report: GateReport, results: Mapping[str, Result]) -> None:
        """Annotate the run, and add to its summary page, where this is a job of GitHub Actions."""
        if not os.environ.get("GITHUB_ACTIONS"):
            return
        from rankgauge.gates.ci_reports import github_annotations

        for line in github_annotations(report):
            remark(line, is_command=True)
        page = os.environ.get("GITHUB_STEP_SUMMARY")
        if page:
            data = self._markdown(results).encode()
            try:
                with Path(page).open("ab") as file:
                    file.write(data)
            except OSError as error:
                remark(f"the step summary cannot be written: {error.strerror or error}")


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, data)


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
    """Refuse a report on gates where there are none, and files that cannot be written, before anything is computed."""
    if given.junit is not None and not gates:
        raise ParameterError(f"--junit reports on gates, and there are none; give {example}")
    for name in ("junit", "markdown", "save_baseline", "history"):
        path = getattr(given, name)
        if path is not None and (why := obstacle(path)):
            raise ParameterError(f"--{name.replace('_', '-')} {path} cannot be written: {why}")
