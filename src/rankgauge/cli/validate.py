"""
`rankgauge validate`: check a config, its plugins and its data, or judgments and runs, and score nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankgauge.cli.console import remark
from rankgauge.cli.options import make_engine
from rankgauge.errors import ConfigError, NothingToEvaluateError, Problem, RankgaugeError

if TYPE_CHECKING:
    from rankgauge.engine.engine import Engine
    from rankgauge.engine.evaluation import Evaluation

__all__ = ["HELP", "validate"]

HELP = """\
Check a config and its data, or TREC judgments and runs; score nothing.

With one FILE: check a config file, the metrics and matchers it names, and the data of its datasets. Everything that is
wrong is reported together. Exit codes: 0 everything can be used, 2 something cannot, 4 there is nothing to evaluate.

With two or more, QRELS RUN [RUN ...]: check whether queries and documents of the runs are those that are judged, and
whether scores, ranks, equal scores, repeated documents and grades are what they should be. `-` is standard input. Exit
codes: 0 no error, 1 a check failed, 2 a file cannot be read.
"""


def validate(
    files: Annotated[
        list[Path], typer.Argument(metavar="CONFIG | QRELS RUN...", help="What to check.", show_default=False)
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON; of runs.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for warnings, too; of runs.")] = False,
    rel: Annotated[
        float | None, typer.Option(help="The grade from which on a document is relevant; of runs.  [default: 1]")
    ] = None,
) -> None:
    """Check; see `HELP`."""
    qrels, *runs = files
    if runs:
        from rankgauge.cli.preflight import check_runs

        check_runs(qrels, runs, rel=1.0 if rel is None else rel, as_json=as_json, strict=strict)
        return
    given = [name for name, value in (("--json", as_json), ("--strict", strict), ("--rel", rel is not None)) if value]
    if given:
        msg = f"{given[0]} is for judgments and runs: rankgauge validate QRELS RUN"
        raise typer.BadParameter(msg)
    _validate_config(qrels)


def _validate_config(config: Path) -> None:
    engine = make_engine(config)
    problems = _Problems(config)
    _check_declared(engine, problems)
    told = [line for name in engine.dataset_names for line in _check_dataset(engine.dataset(name), problems)]
    problems.settle()
    for fault in engine.catalog.faults:
        remark(f"plugin fault: {fault}")
    count = len(engine.dataset_names)
    typer.echo("\n".join([*told, f"{config}: valid ({count} dataset{'s' if count != 1 else ''})"]))


class _Problems:
    """Everything that is wrong, each thing once."""

    def __init__(self, config: Path) -> None:
        self.config = config
        self.found: dict[str, Problem] = {}

    @contextmanager
    def collected(self, line: int | None = None) -> Iterator[None]:
        """Keep what goes wrong inside, so that checking can go on."""
        try:
            yield
        except NothingToEvaluateError:
            raise
        except RankgaugeError as error:
            several = getattr(error, "problems", None) or (Problem(str(error), str(self.config), line),)
            self.found.update({str(problem): problem for problem in several})

    def settle(self) -> None:
        """Raise what was kept."""
        if self.found:
            count = len(self.found)
            msg = f"{self.config} cannot be used ({count} problem{'s' if count > 1 else ''}):"
            raise ConfigError(msg, list(self.found.values()))


def _check_declared(engine: Engine, problems: _Problems) -> None:
    """Check matchers and metric sets, those that no dataset uses included."""
    loaded = engine.config
    if loaded is None:
        return
    for name in loaded.config.matchers:
        with problems.collected(loaded.lines.get(("matchers", name))):
            engine.catalog.matcher(name)
    for name in loaded.config.metrics.sets:
        with problems.collected():
            engine.dataset([]).with_metrics(loaded.metrics([name])).plan()


def _check_dataset(evaluation: Evaluation, problems: _Problems) -> Iterator[str]:
    """Check the plan and the data of one dataset; yield what is to be told of them."""
    with problems.collected():
        yield evaluation.plan().describe()
    with problems.collected():
        # With other metrics the data can be read even where the config's cannot be planned.
        readable = evaluation.with_metrics(["judged@1"]) if problems.found else evaluation
        checked = readable.check(require_gold=not problems.found)
        gold = ", ".join(f"{kind} {count:,}" for kind, count in checked.gold.items() if count)
        yield (
            f"data: {checked.samples:,} samples; with ground truth: {gold or 'none'}; without output: "
            f"{checked.without_output:,}; with a malformed one: {checked.malformed:,}\n"
        )
        for note in checked.notes:
            remark(f"note: {note}")
