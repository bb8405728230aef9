"""
What several commands share: engines and policy options from what was typed.

Nothing here loads typer, which `rankgauge trec` does without.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.cli.streams import keep_stdout
from rankgauge.errors import ParameterError
from rankgauge.policy import PROFILES

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog
    from rankgauge.engine.engine import Engine

__all__ = [
    "COLUMNS_HELP",
    "CUTOFF_HELP",
    "POLICY_HELP",
    "PROFILE_HELP",
    "make_catalog",
    "make_engine",
    "policy_options",
    "run_names",
    "table_columns",
]

COLUMNS_HELP = "Column names of tables, such as query=qid,document=pid,score=s."

CUTOFF_HELP = "Default cutoff, used when a metric has none."
POLICY_HELP = "A policy option, such as ties=average."
PROFILE_HELP = f"The conventions to use: {', '.join(PROFILES)}."


def make_catalog(own: Collection[str] | None = None) -> Catalog:
    """Return what is installed and not disabled; of rankgauge's own plugins all, or only *own*, such as `metrics`."""
    from rankgauge.catalog import Catalog
    from rankgauge.catalog.environment import disabled_plugins, no_plugins

    keep_stdout()
    return Catalog.discover(disable=disabled_plugins(), own_only=no_plugins(), own=own)


def make_engine(config: Path | None) -> Engine:
    """Return an engine, from a config file if one is given."""
    from rankgauge.catalog.environment import disabled_plugins, no_plugins
    from rankgauge.engine.engine import Engine

    keep_stdout()
    if config is None:
        return Engine(catalog=make_catalog())
    return Engine.from_config(config, disable=disabled_plugins(), own_only=no_plugins())


def policy_options(written: Sequence[str] | None, **others: object) -> Mapping[str, Any]:
    """Return policy options by name: those of `--policy`, and those with an option of their own unless None."""
    options: dict[str, Any] = {}
    for option in written or ():
        name, equals, value = option.partition("=")
        if not equals:
            msg = f"--policy is NAME=VALUE, such as order=score, not {option!r}"
            raise ParameterError(msg)
        from rankgauge.io.documents import read_yaml

        options[name.strip()] = read_yaml(value.strip(), "--policy").value
    return {**options, **{name: value for name, value in others.items() if value is not None}}


def table_columns(written: str | None) -> dict[str, str] | None:
    """Return column names by what they hold."""
    if written is None:
        return None
    pairs = [pair.partition("=") for pair in written.split(",")]
    if not all(equals and name.strip() and column.strip() for name, equals, column in pairs):
        msg = f"--columns is NAME=COLUMN, separated by commas, such as query=qid,document=pid; not {written!r}"
        raise ParameterError(msg)
    return {name.strip(): column.strip() for name, _, column in pairs}


def run_names(runs: Sequence[str]) -> list[str]:
    """Return a name for each run: its file's name, or its path where names meet."""
    short = [Path(run).name for run in runs]
    names = [run if short.count(name) > 1 else name for run, name in zip(runs, short, strict=True)]
    if len(set(names)) < len(names):
        msg = f"{next(name for name in names if names.count(name) > 1)} is given twice"
        raise ParameterError(msg)
    return names
