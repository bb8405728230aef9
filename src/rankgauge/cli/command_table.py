"""
The table of commands: the name of each, where it stands, and its one line in listings.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["COMMANDS", "GROUPS"]

COMMANDS: Mapping[str, tuple[str, str]] = {
    "run": ("run_command:RUN", "Evaluate a config or a data file."),
    "eval": ("run_command:RUN", "The same as `run`."),
    "rescore": ("run_command:RESCORE", "Score the outputs of a result folder again, without calling anything."),
    "validate": ("validate_command:VALIDATE", "Check a config, samples, or judgments and runs."),
    "init": ("init_command:INIT", "Write a config, its schema for editors, and a tiny dataset to start from."),
    "trec": ("trec_command:TREC", "Evaluate TREC runs as trec_eval does."),
    "explain": ("explain_command:EXPLAIN", "Explain one score, rank by rank."),
    "funnel": ("funnel_command:FUNNEL", "Show where a pipeline loses what is relevant, stage by stage."),
    "threshold": ("threshold_command:THRESHOLD", "Choose the score below which a system should say nothing."),
    "report": ("report_command:REPORT", "Write an HTML report of result folders."),
    "compare": ("compare_command:COMPARE", "Compare systems sample by sample: is NEW better than BASE?"),
    "power": ("power_command:POWER", "How many questions show a difference of some size?"),
    "history add": ("history_command:ADD", "Add result folders to an index of results over time."),
    "history list": ("history_command:LIST", "List results over time."),
    "history show": ("history_command:SHOW", "Show each metric over time, with breaks and tested changes."),
    "history html": ("history_command:HTML", "Write the history as one HTML page."),
    "history export": ("history_command:EXPORT", "Write the history as a table."),
    "judge queue": ("judge_command:QUEUE", "Queue the unjudged documents that can change a comparison most."),
    "judge read": ("judge_command:READ", "Add the judgments of a queue to those that it was made for."),
    "gold check": ("gold_command:CHECK", "Check whether labels still hold for a corpus."),
    "gold repair": ("gold_command:REPAIR", "Write samples whose labels that moved have their new place."),
    "metrics check": ("metrics_command:CHECK", "Check a metric against laws."),
    "metrics diff": ("diff_command:DIFF", "Compare two profiles on one data file."),
    "metrics list": ("metrics_command:LIST", "List every metric."),
    "metrics show": ("metrics_command:SHOW", "Show one metric."),
    "matchers list": ("matchers_command:LIST", "List every matcher."),
    "matchers show": ("matchers_command:SHOW", "Show one matcher."),
    "matchers try": ("matchers_command:TRY", "Try a matcher on two texts."),
    "plugins list": ("plugins_command:LIST", "List every plugin, what it offers, and whether it works."),
    "plugins check": ("plugins_command:CHECK", "Check that plugins can be used."),
    "plugins lock": ("plugins_command:LOCK", "Write a lock file."),
    "doctor": ("doctor_command:DOCTOR", "Show what is installed and what works, to paste into a report of a bug."),
}
"""Where each command stands, and its one line in listings; the table is all that the help of rankgauge itself loads."""

GROUPS: Mapping[str, str] = {
    "gold": "Check labels against a corpus, and repair those that moved.",
    "history": "Results over time: trends, breaks, and since when something is worse.",
    "judge": "Queue unjudged documents for a judge, and read the judgments back.",
    "metrics": "List, show, check and compare metrics.",
    "matchers": "List, show and try matchers.",
    "systems": "Load documents into engines, and try their options, by a plugin.",
    "traces": "Make samples of traces of pipelines, by a plugin.",
    "plugins": "List and check plugins, and lock what a config uses.",
}
"""What the commands of a group have in common."""
