"""
`rankgauge validate`: check a config, its plugins and its data, and score nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankgauge.cli.console import remark
from rankgauge.cli.options import make_engine

__all__ = ["HELP", "validate"]

HELP = """\
Check a config file, the metrics and matchers it names, and the data of its datasets; score nothing.

Exit codes: 0 everything can be used, 2 something cannot.
"""


def validate(config: Annotated[Path, typer.Argument(help="The config file.", show_default=False)]) -> None:
    """Check; see `HELP`."""
    engine = make_engine(config)
    config_file = engine.config
    if config_file is not None:
        for name in config_file.config.matchers:
            engine.catalog.matcher(name)
        for name in config_file.config.metrics.sets:
            engine.dataset([]).with_metrics(config_file.metrics([name])).plan()
    evaluations = [engine.dataset(name) for name in engine.dataset_names]
    plans = [evaluation.plan() for evaluation in evaluations]
    for evaluation, plan in zip(evaluations, plans, strict=True):
        checked = evaluation.check()
        typer.echo(plan.describe())
        gold = ", ".join(f"{kind} {count:,}" for kind, count in checked.gold.items() if count)
        typer.echo(
            f"data: {checked.samples:,} samples; with ground truth: {gold or 'none'}; without output: "
            f"{checked.without_output:,}; with a malformed one: {checked.malformed:,}\n"
        )
        for note in checked.notes:
            remark(f"note: {note}")
    for fault in engine.catalog.faults:
        remark(f"plugin fault: {fault}")
    typer.echo(f"{config}: valid ({len(plans)} dataset{'s' if len(plans) != 1 else ''})")
