"""
rankgauge's own commands, as a table: it is all that the help of rankgauge needs to know of them.

Commands of plugins are in `rankgauge.command_points`.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["COMMANDS", "GROUPS", "words"]

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
    "funnel": (
        "rankgauge.features.funnel.funnel_command:FUNNEL",
        "Show where a pipeline loses what is relevant, stage by stage.",
    ),
    "threshold": (
        "rankgauge.features.threshold.threshold_command:THRESHOLD",
        "Choose the score below which a system should say nothing.",
    ),
    "report": ("rankgauge.features.html.report_command:REPORT", "Write an HTML report of result folders."),
    "compare": ("rankgauge.cli.result_options:COMPARE", "Compare systems sample by sample: is NEW better than BASE?"),
    "power": ("rankgauge.cli.result_options:POWER", "How many questions show a difference of some size?"),
    "history.add": (
        "rankgauge.features.history.history_options:HISTORY_ADD",
        "Add result folders to an index of results over time.",
    ),
    "history.list": ("rankgauge.features.history.history_options:HISTORY_LIST", "List results over time."),
    "history.show": (
        "rankgauge.features.history.history_options:HISTORY_SHOW",
        "Show each metric over time, with breaks and tested changes.",
    ),
    "history.html": ("rankgauge.features.history.history_options:HISTORY_HTML", "Write the history as one HTML page."),
    "history.export": ("rankgauge.features.history.history_options:HISTORY_EXPORT", "Write the history as a table."),
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
    "gold.copies": (
        "rankgauge.features.labels.label_options:GOLD_COPIES",
        "Find documents of one corpus that are copies of those of another.",
    ),
    "gold.repair": (
        "rankgauge.features.labels.label_options:GOLD_REPAIR",
        "Write samples whose labels that moved have their new place.",
    ),
    "metrics.check": ("rankgauge.features.testing.check_options:METRICS_CHECK", "Check a metric against laws."),
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
    "plugins.check": ("rankgauge.features.testing.check_options:PLUGINS_CHECK", "Check that plugins can be used."),
    "plugins.lock": ("rankgauge.cli.catalog_options:PLUGINS_LOCK", "Write a lock file."),
    "help": (
        "rankgauge.cli.catalog_options:HELP",
        "Show the options of a command, or a group of them: rankgauge help run calls.",
    ),
    "doctor": (
        "rankgauge.cli.catalog_options:DOCTOR",
        "Show what is installed and what works, to paste into a report of a bug.",
    ),
}
"""rankgauge's own commands as entry points: the name, where its `Command` is, and its one line in listings."""

GROUPS: Mapping[str, str] = {
    "gold": "Check labels against a corpus, repair those that moved, and find copies.",
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
