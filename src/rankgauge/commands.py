"""
The commands there are: rankgauge's own, and those that plugins declare as entry points of `rankgauge.commands`.

The name of an entry point is the command, its words joined by a dot: ``judge.run`` is ``rankgauge judge run``. So what
is listed, misspelled, claimed twice or disabled is known before anything of a plugin is imported.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from rankgauge.base.entry_points import EntryPoint, installed_points, normalized

__all__ = [
    "COMMANDS",
    "GROUP",
    "GROUPS",
    "PluginCommands",
    "disabled_plugins",
    "installed_commands",
    "no_plugins",
    "settled",
    "words",
]

GROUP = "rankgauge.commands"
"""The group of entry points whose names are commands."""

_PROJECT = "rankgauge"
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)?")

_OWN: Mapping[str, tuple[str, str]] = {
    "run": ("rankgauge.cli.scoring_options:RUN", "Evaluate a config or a data file."),
    "eval": ("rankgauge.cli.scoring_options:RUN", "The same as `run`."),
    "rescore": (
        "rankgauge.cli.scoring_options:RESCORE",
        "Score the outputs of a result folder again, without calling anything.",
    ),
    "validate": ("rankgauge.cli.scoring_options:VALIDATE", "Check a config, samples, or judgments and runs."),
    "init": (
        "rankgauge.cli.catalog_options:INIT",
        "Write a config, its schema for editors, and a tiny dataset to start from.",
    ),
    "trec": ("rankgauge.cli.scoring_options:TREC", "Evaluate TREC runs as trec_eval does."),
    "explain": ("rankgauge.cli.result_options:EXPLAIN", "Explain one score, rank by rank."),
    "funnel": ("rankgauge.cli.result_options:FUNNEL", "Show where a pipeline loses what is relevant, stage by stage."),
    "threshold": (
        "rankgauge.cli.result_options:THRESHOLD",
        "Choose the score below which a system should say nothing.",
    ),
    "report": ("rankgauge.cli.result_options:REPORT", "Write an HTML report of result folders."),
    "compare": ("rankgauge.cli.result_options:COMPARE", "Compare systems sample by sample: is NEW better than BASE?"),
    "power": ("rankgauge.cli.result_options:POWER", "How many questions show a difference of some size?"),
    "history.add": ("rankgauge.cli.result_options:HISTORY_ADD", "Add result folders to an index of results over time."),
    "history.list": ("rankgauge.cli.result_options:HISTORY_LIST", "List results over time."),
    "history.show": (
        "rankgauge.cli.result_options:HISTORY_SHOW",
        "Show each metric over time, with breaks and tested changes.",
    ),
    "history.html": ("rankgauge.cli.result_options:HISTORY_HTML", "Write the history as one HTML page."),
    "history.export": ("rankgauge.cli.result_options:HISTORY_EXPORT", "Write the history as a table."),
    "judge.queue": (
        "rankgauge.features.labels.label_options:JUDGE_QUEUE",
        "Queue the unjudged documents that can change a comparison most.",
    ),
    "judge.read": (
        "rankgauge.features.labels.label_options:JUDGE_READ",
        "Add the judgments of a queue to those that it was made for.",
    ),
    "gold.check": (
        "rankgauge.features.labels.label_options:GOLD_CHECK",
        "Check whether labels still hold for a corpus.",
    ),
    "gold.repair": (
        "rankgauge.features.labels.label_options:GOLD_REPAIR",
        "Write samples whose labels that moved have their new place.",
    ),
    "metrics.check": ("rankgauge.cli.catalog_options:METRICS_CHECK", "Check a metric against laws."),
    "metrics.number": ("rankgauge.cli.catalog_options:METRICS_NUMBER", "Check a published mean without its data."),
    "metrics.diff": ("rankgauge.cli.catalog_options:METRICS_DIFF", "Compare two profiles on one data file."),
    "metrics.list": ("rankgauge.cli.catalog_options:METRICS_LIST", "List every metric."),
    "metrics.show": ("rankgauge.cli.catalog_options:METRICS_SHOW", "Show one metric."),
    "matchers.list": ("rankgauge.cli.catalog_options:MATCHERS_LIST", "List every matcher."),
    "matchers.show": ("rankgauge.cli.catalog_options:MATCHERS_SHOW", "Show one matcher."),
    "matchers.try": ("rankgauge.cli.catalog_options:MATCHERS_TRY", "Try a matcher on two texts."),
    "plugins.list": (
        "rankgauge.cli.catalog_options:PLUGINS_LIST",
        "List every plugin, what it offers, and whether it works.",
    ),
    "plugins.check": ("rankgauge.cli.catalog_options:PLUGINS_CHECK", "Check that plugins can be used."),
    "plugins.lock": ("rankgauge.cli.catalog_options:PLUGINS_LOCK", "Write a lock file."),
    "doctor": (
        "rankgauge.cli.catalog_options:DOCTOR",
        "Show what is installed and what works, to paste into a report of a bug.",
    ),
}
"""rankgauge's own commands as entry points: the name, where its `Command` is, and its one line in listings."""

GROUPS: Mapping[str, str] = {
    "gold": "Check labels against a corpus, and repair those that moved.",
    "history": "Results over time: trends, breaks, and since when something is worse.",
    "judge": "Queue unjudged documents for a judge, and read the judgments back.",
    "metrics": "List, show, check and compare metrics.",
    "matchers": "List, show and try matchers.",
    "plugins": "List and check plugins, and lock what a config uses.",
}
"""What the commands of our groups have in common."""


def words(name: str) -> str:
    """Return the name of an entry point as it is typed."""
    return name.replace(".", " ")


COMMANDS: Mapping[str, tuple[str, str]] = {words(name): entry for name, entry in _OWN.items()}
"""rankgauge's own commands as they are typed: where each `Command` is, and its one line in listings."""


class PluginCommands(NamedTuple):
    """
    The commands of plugins.

    Attributes:
        usable: Those that can be run, as they are typed.

        faults: What is wrong with others: each with its entry point, which may be there several times.

        disabled: Those of distributions that are disabled, as they are typed.
    """

    usable: Mapping[str, EntryPoint]
    faults: tuple[tuple[EntryPoint, str], ...]
    disabled: Mapping[str, EntryPoint]

    @property
    def groups(self) -> dict[str, str]:
        """Return the groups that only plugins have, each with its one line in listings."""
        found: dict[str, list[EntryPoint]] = {}
        for name, point in self.usable.items():
            group, space, _ = name.partition(" ")
            if space and group not in GROUPS:
                found.setdefault(group, []).append(point)
        return {
            group: f"Commands of {' and '.join(dict.fromkeys(point.distribution for point in points))}: "
            f"{', '.join(point.name.partition('.')[2] for point in points)}."
            for group, points in found.items()
        }


def disabled_plugins() -> list[str]:
    """Return the distributions that RANKGAUGE_DISABLE_PLUGINS lists, separated by commas."""
    return [name.strip() for name in os.environ.get("RANKGAUGE_DISABLE_PLUGINS", "").split(",") if name.strip()]


def no_plugins() -> bool:
    """Return whether RANKGAUGE_NO_PLUGINS disables every plugin except rankgauge's own."""
    return os.environ.get("RANKGAUGE_NO_PLUGINS", "") not in {"", "0"}


def installed_commands() -> PluginCommands:
    """Return the commands of the plugins that are installed, as the environment allows them."""
    off, none = set(map(normalized, disabled_plugins())), no_plugins()
    points, _ = installed_points((GROUP,))
    return settled(points, lambda point: none or point.distribution in off)


def settled(points: Iterable[EntryPoint], is_off: Callable[[EntryPoint], bool]) -> PluginCommands:
    """Return which of some entry points are commands that can be run, and what is wrong with the others."""
    claims: dict[str, list[EntryPoint]] = {}
    disabled = {}
    for point in sorted(points):
        if point.distribution == _PROJECT:
            continue
        if is_off(point):
            disabled[words(point.name)] = point
        else:
            claims.setdefault(words(point.name), []).append(point)
    faults = {name: fault for name, own in claims.items() if (fault := _fault(name, own, claims))}
    usable = {name: own[0] for name, own in claims.items() if name not in faults}
    told = tuple((point, fault) for name, fault in faults.items() for point in claims[name])
    return PluginCommands(usable, told, disabled)


def _fault(name: str, own: list[EntryPoint], claims: Mapping[str, list[EntryPoint]]) -> str:
    """Return why a command cannot be run; nothing if it can."""
    group, space, _ = name.partition(" ")
    who = "; ".join(map(str, own))
    if _NAME.fullmatch(own[0].name) is None:
        form = "one word, or a group and a word joined by a dot, in lower-case letters, digits and hyphens"
        return f"{own[0].name!r} is not the name of a command ({who}); write {form}, such as 'judge.run'"
    if name in COMMANDS or name in GROUPS:
        kind = "command" if name in COMMANDS else "group"
        return f"{kind} {name!r} is built in and cannot be replaced ({who}); choose another name"
    if space and group in COMMANDS:
        return f"command {name!r} has no place, because {group!r} is a built-in command ({who}); choose another name"
    rivals = [*own, *_meeting(name, claims)]
    if len(rivals) > 1:
        listed = "; ".join(map(str, rivals))
        many = len({point.distribution for point in rivals}) > 1
        who = f"{len(rivals)} {'plugins' if many else 'entry points'}"
        return f"command {name!r} is claimed by {who}, so it works for none of them: {listed}"
    return ""


def _meeting(name: str, claims: Mapping[str, list[EntryPoint]]) -> Iterator[EntryPoint]:
    """Yield the commands in the group that has the name of a command, and the command with that of a group."""
    group, space, _ = name.partition(" ")
    for other, points in claims.items():
        if (other == group) if space else other.startswith(f"{name} "):
            yield from points
