"""
The plugin: kinds of systems, and commands that load and tune them. What these need is imported when they run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from rankgauge.arguments import add_json, inner_share, path, share, whole_number
from rankgauge.plugin import Console, command, hookimpl, system
from rankgauge_systems.kinds import KINDS, made

__all__ = ["rankgauge_systems", "systems_check", "systems_index", "systems_sweep"]

RANKGAUGE_API = (1, 0)


def _kind(name: str) -> Callable[..., Callable[[Any], object]]:
    def factory(options: Any) -> Callable[[Any], object]:  # noqa: ANN401  # the options of the kind
        return made(name, options)

    factory.__doc__ = KINDS[name].about
    factory.__name__ = factory.__qualname__ = name
    return system(name, options=lambda: KINDS[name].options)(factory)


@hookimpl
def rankgauge_systems() -> Sequence[Callable[..., Callable[[Any], object]]]:
    """Return the kinds of systems."""
    return [_kind(name) for name in KINDS]


def _index_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("config", metavar="CONFIG", type=path, help="A config with a system.")
    add("corpus", metavar="CORPUS", type=path, help="The documents: a file of rows with id and text, or a folder.")
    add_json(parser)


@command(options=_index_options, usage="[OPTIONS] CONFIG CORPUS")
def systems_index(given: argparse.Namespace, console: Console) -> int:
    """
    Load documents into the system of a config, for a try.

    What the system has in that table, collection or index is replaced. All searches of a pipeline are loaded.

    Exit codes: 0 done, 2 usage, a config or corpus that cannot be read, or a system that cannot be loaded.
    """
    from rankgauge_systems.index_command import index  # noqa: PLC0415  # see above

    return index(given, console)


def _check_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("config", metavar="CONFIG", type=path, help="A config with an engine.")
    recall = "The least recall of an exact search at depth 10, by vectors. [default: %(default)s]"
    add("--recall", type=share, default=0.9, metavar="SHARE", help=recall)
    add_json(parser)


@command(options=_check_options, usage="[OPTIONS] CONFIG")
def systems_check(given: argparse.Namespace, console: Console) -> int:
    """
    Ask the engine of a config what evaluators have to know of it.

    Loads documents of our own with the config's options, in a folder, table, collection or index of their own that is
    removed in the end, and prints what holds: direction and range of scores, ties, more results than there are
    documents, zeros, the same answers when asked again, after reopening and in another process, and recall of exact
    search by depth.

    Exit codes: 0 nothing spoils a comparison, 1 something does, 2 usage, a config or system that cannot be used.
    """
    from rankgauge_systems.check_command import check  # noqa: PLC0415  # see above

    return check(given, console)


def _sweep_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("config", metavar="CONFIG", type=path, help="A config with a system, and options to try under `sweep`.")
    add("-o", "--output", required=True, type=path, metavar="FOLDER", help="A folder for a result of each point.")
    add("--dataset", metavar="NAME", help="The dataset of a config that has several.")
    add("-m", "--metric", action="append", metavar="METRIC", help="A metric, instead of the config's. Repeatable.")
    cost = "The column that quality is weighed against. [default: %(default)s]"
    add("--cost", default="latency_p95", metavar="METRIC", help=cost)
    holdout = "Choose the best point on a part of the questions, and report it on the rest."
    add("--holdout", action="store_true", help=holdout)
    part = "The part on which the best one is chosen, with --holdout. [default: 0.5]"
    add("--choose-on", type=inner_share, metavar="SHARE", help=part)
    exact = "Also search exactly, and say which share of that each point finds (`exact: true`)."
    add("--exact", action="store_true", help=exact)
    add("--seed", type=whole_number(0), metavar="N", help="Of the parts of --holdout. [default: 0]")
    add_json(parser)

    add = parser.add_argument_group("calls").add_argument
    add("--concurrency", type=whole_number(1), default=8, metavar="N", help="Calls at a time. [default: %(default)s]")
    add("--timeout", type=float, metavar="SECONDS", help="For each call. [default: none]")
    add("--retries", type=whole_number(0), default=0, metavar="N", help="Tries of a call that failed. [default: 0]")
    add("--limit", type=whole_number(1), metavar="N", help="Only the first N samples.")


@command(options=_sweep_options, usage="[OPTIONS] -o FOLDER CONFIG")
def systems_sweep(given: argparse.Namespace, console: Console) -> int:
    """
    Try options of the system of a config.

    Scores every point of `sweep` in the config, a grid or a list of options, and saves a result of each below FOLDER.
    Points that are there already are read, so that a sweep that ended early goes on with the same command. Shows each
    with its intervals, and which ones no other beats in both quality and cost.

    Exit codes: 0 done, 2 usage, a config that cannot be used, or a system that cannot be called, 3 interrupted, or a
    point has more failed calls than the policy allows.
    """
    from rankgauge_systems.sweep_command import sweep  # noqa: PLC0415  # see above

    return sweep(given, console)
