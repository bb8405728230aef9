"""
`rankgauge compare --judgments --human`: runs that a model judged, and people in part.
"""

from __future__ import annotations

import argparse

from rankgauge.cli.console import print_json, report_width, show
from rankgauge.cli.conventions import Conventions, run_names
from rankgauge.cli.result_options import COMPARE_OPTIONS
from rankgauge.cli.shared_options import JUDGING, refuse, typed
from rankgauge.features.labels.human_judged import powered_by_plan
from rankgauge.features.labels.powered_lines import powered_lines

__all__ = ["compare_human_judged"]

_TAKEN = ("--metric", "--judgments", "--human", "--confidence", "--format", "--all-columns")
"""What can be asked of runs that people judged in part, beside how they are judged."""


def compare_human_judged(given: argparse.Namespace) -> int:
    """Print runs compared by many judgments of a model and few of people."""
    _check(given)
    conventions = Conventions.of(given)
    comparison = powered_by_plan(
        conventions.plan(conventions.specs(given.metric)),
        dict(zip(run_names(given.runs), given.runs, strict=True)),
        given.judgments,
        given.human,
        confidence=given.confidence,
        columns=conventions.columns,
    )
    if given.form == "json":
        print_json(comparison.to_dict())
    else:
        show(powered_lines(comparison, width=report_width()))
    return 0


def _check(given: argparse.Namespace) -> None:
    """Refuse one set of judgments without the other, and what does not go with them."""
    taken = {*_TAKEN, *typed(given, JUDGING)}
    idle = [name for name in typed(given, COMPARE_OPTIONS) if name not in taken][:1]
    other = given.form not in {"table", "json"}
    together = "--judgments, of a model, and --human, of people, are given together"
    refuse(
        (given.judgments is None or given.human is None, together),
        (idle, f"{''.join(idle)} does not go with --judgments and --human"),
        (not given.metric, "name the metrics to compare runs by, such as -m ndcg@10 -m P@10"),
        (other, f"judged by a model and people it is printed as table or json, not {given.form}"),
    )
