"""
What several commands share: engines and policy options from what was typed.

Nothing here loads typer, which `rankgauge trec` does without.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.cli.streams import keep_stdout
from rankgauge.errors import ParameterError, RankgaugeError
from rankgauge.policy import PROFILES

if TYPE_CHECKING:
    import argparse

    from rankgauge.catalog import Catalog
    from rankgauge.engine.engine import Engine
    from rankgauge.io.field_names import FieldMap
    from rankgauge.planning.plan import Plan
    from rankgauge.planning.requests import MetricSpec

__all__ = [
    "BASELINE_HELP",
    "COLUMNS_HELP",
    "CUTOFF_HELP",
    "GATE_HELP",
    "JUNIT_HELP",
    "MARKDOWN_HELP",
    "POLICY_HELP",
    "PROFILE_HELP",
    "SAVE_BASELINE_HELP",
    "add_gate_options",
    "add_judging_options",
    "add_unjudged_options",
    "check_unjudged",
    "field_map",
    "is_config",
    "make_catalog",
    "make_engine",
    "plan_judging",
    "policy_options",
    "run_names",
    "table_columns",
]

COLUMNS_HELP = "Column names of tables, such as query=qid,document=pid,score=s."

BASELINE_HELP = "A baseline that gates on changes compare with."
CUTOFF_HELP = "Default cutoff, used when a metric has none."
GATE_HELP = "A gate, such as 'ndcg@10 >= 0.6' or 'ndcg@10 max_drop 0.01'. Repeatable."
JUNIT_HELP = "Write the gates as a JUnit report."
MARKDOWN_HELP = "Write gates and means as Markdown for a pull request."
POLICY_HELP = "A policy option, such as ties=average."
SAVE_BASELINE_HELP = "Save the scores as a baseline, to compare later runs with."
PROFILE_HELP = f"The conventions to use: {', '.join(PROFILES)}, or those of a config or plugin."


def make_catalog() -> Catalog:
    """Return what is installed and not disabled."""
    from rankgauge.catalog import Catalog

    keep_stdout()
    return Catalog.discover()


def make_engine(config: Path | None) -> Engine:
    """Return an engine, from a config file if one is given."""
    from rankgauge.engine.engine import Engine

    keep_stdout()
    if config is None:
        return Engine(catalog=make_catalog())
    return Engine.from_config(config)


def is_config(path: Path) -> bool:
    """Return whether a file is a config: YAML, but for a list of samples or a mapping that has them."""
    if path.suffix.lower() not in {".yaml", ".yml", ""}:
        return False
    from rankgauge.io.documents import decode_text
    from rankgauge.io.files import read_bytes
    from rankgauge.io.yaml_documents import read_yaml

    try:
        value = read_yaml(decode_text(read_bytes(path), str(path)), str(path)).value
    except (OSError, RankgaugeError):
        return True  # whoever reads it as a config says what is wrong
    return not isinstance(value, list) and not (isinstance(value, dict) and "samples" in value)


def policy_options(written: Sequence[str] | None, **others: object) -> Mapping[str, Any]:
    """Return policy options by name: those of `--policy`, and those with an option of their own unless None."""
    options: dict[str, Any] = {}
    for option in written or ():
        name, equals, value = option.partition("=")
        if not equals:
            msg = f"--policy is NAME=VALUE, such as order=score, not {option!r}"
            raise ParameterError(msg)
        from rankgauge.io.yaml_documents import read_yaml

        options[name.strip()] = read_yaml(value.strip(), "--policy").value
    return {**options, **{name: value for name, value in others.items() if value is not None}}


def add_gate_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `GateOptions` reads."""
    parser.add_argument("--gate", action="append", metavar="GATE", help=GATE_HELP)
    parser.add_argument("--baseline", type=Path, metavar="FILE", help=BASELINE_HELP)
    parser.add_argument("--save-baseline", type=Path, metavar="FILE", help=SAVE_BASELINE_HELP)
    parser.add_argument("--junit", type=Path, metavar="FILE", help=JUNIT_HELP)
    parser.add_argument("--markdown", type=Path, metavar="FILE", help=MARKDOWN_HELP)


def add_judging_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that decide how a run is judged, for commands that argparse reads."""
    add = parser.add_argument
    add("-l", "--relevance", type=float, metavar="GRADE", help="Lowest grade of a relevant document.")
    add("-J", "--judged-only", action="store_true", help="Drop unjudged documents before ranks are counted.")
    add("-M", "--depth", type=int, metavar="N", help="Use only the first N results of each query.")
    add("--profile", default="trec10", metavar="NAME", help=f"{PROFILE_HELP} [default: trec10]")
    add("--policy", action="append", metavar="NAME=VALUE", help=f"{POLICY_HELP} Repeatable.")
    add("-k", "--k", type=int, metavar="K", help=CUTOFF_HELP)
    add("--columns", metavar="NAME=COLUMN,...", help=COLUMNS_HELP)


def add_unjudged_options(parser: argparse.ArgumentParser, where: str) -> None:
    """Add what can be asked about unjudged documents of runs; *where* says which formats show it."""
    add = parser.add_argument
    add("--condensed", action="store_true", help=f"Also use rankings without unjudged documents, as -J does. ({where})")
    add("--bounds", action="store_true", help=f"Also print the worst and best case of each mean. ({where})")


def check_unjudged(given: argparse.Namespace, forms: Collection[str]) -> None:
    """Refuse to say anything about unjudged documents where there are none, or in a format that cannot."""
    wanted = [option for option in ("condensed", "bounds") if getattr(given, option)]
    if wanted and given.form not in forms:
        msg = f"--{wanted[0]} is for --format {', '.join(forms)}, not for {given.form}"
        raise ParameterError(msg)
    if wanted and given.judged_only:
        msg = f"--judged-only drops unjudged documents everywhere; leave out --{wanted[0]}"
        raise ParameterError(msg)


def plan_judging(metrics: Sequence[MetricSpec], given: argparse.Namespace, catalog: Catalog, **others: object) -> Plan:
    """Plan the evaluation of a run by what was typed for `add_judging_options`, and by other policy options."""
    from rankgauge.engine.runs import plan_run

    options = policy_options(given.policy, judged_only=given.judged_only or None, depth=given.depth, **others)
    return plan_run(metrics, profile=given.profile, policy=options, rel=given.relevance, k=given.k, catalog=catalog)


def table_columns(written: str | None) -> dict[str, str] | None:
    """Return column names by what they hold."""
    if written is None:
        return None
    pairs = [pair.partition("=") for pair in written.split(",")]
    if not all(equals and name.strip() and column.strip() for name, equals, column in pairs):
        msg = f"--columns is NAME=COLUMN, separated by commas, such as query=qid,document=pid; not {written!r}"
        raise ParameterError(msg)
    return {name.strip(): column.strip() for name, _, column in pairs}


def field_map(written: Sequence[str] | None) -> FieldMap:
    """Return where the data has each field, as `--field` says."""
    from rankgauge.io.field_names import read_field

    return {name: place for each in written or () for name, place in read_field(each).items()}


def run_names(runs: Sequence[str]) -> list[str]:
    """Return a name for each run: its file's name, or its path where names meet."""
    short = [Path(run).name for run in runs]
    names = [run if short.count(name) > 1 else name for run, name in zip(runs, short, strict=True)]
    if len(set(names)) < len(names):
        msg = f"{next(name for name in names if names.count(name) > 1)} is given twice"
        raise ParameterError(msg)
    return names
