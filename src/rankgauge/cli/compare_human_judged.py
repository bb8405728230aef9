"""
`rankgauge compare --judgments --human`: runs that a model judged, and people in part.
"""

from __future__ import annotations

import argparse

from rankgauge.cli.console import print_json, report_width, show
from rankgauge.errors import ParameterError

__all__ = ["compare_human_judged", "is_human_judged"]

_IDLE = {
    "--qrels": "qrels",
    "--config": "config",
    "--dataset": "dataset",
    "--all-pairs": "all_pairs",
    "--cluster": "cluster",
    "--condensed": "condensed",
    "--bounds": "bounds",
    "--interval": "interval",
    "--matters": "matters",
    "--html": "html",
    "--texts": "texts",
    "--queries": "queries",
    "--gate": "gate",
    "--junit": "junit",
    "--markdown": "markdown",
    "--inconclusive": "inconclusive",
    "--test": "test",
    "--resamples": "resamples",
    "--seed": "seed",
    "--common": "common",
}
"""Options of `compare` that say nothing here, by what parsing calls them."""

_DEFAULTS = {"test": "sign-flip", "resamples": 100_000, "common": "all"}
"""What those are that have a default."""


def is_human_judged(given: argparse.Namespace) -> bool:
    """Return whether two sets of judgments were typed; refuse one without the other, and what does not go with them."""
    if given.judgments is None and given.human is None:
        return False
    if given.judgments is None or given.human is None:
        raise ParameterError("--judgments, of a model, and --human, of people, are given together")
    typed = [
        option
        for option, name in _IDLE.items()
        if getattr(given, name) not in (None, False, 0, [], _DEFAULTS.get(name))
    ]
    if typed:
        raise ParameterError(f"{typed[0]} does not go with --judgments and --human")
    if not given.metric:
        raise ParameterError("name the metrics to compare runs by, such as -m ndcg@10 -m P@10")
    if given.form not in {"table", "json"}:
        raise ParameterError(f"judged by a model and people it is printed as table or json, not {given.form}")
    return True


def compare_human_judged(given: argparse.Namespace) -> int:
    """Print runs compared by many judgments of a model and few of people."""
    from rankgauge.cli.conventions import Conventions, run_names
    from rankgauge.engine.human_judged import powered_by_plan
    from rankgauge.powered.powered_lines import powered_lines

    conventions = Conventions.of(given)
    specs = [measure.spec for measure in conventions.measures(given.metric) if measure.spec is not None]
    found = powered_by_plan(
        conventions.plan(specs),
        dict(zip(run_names(given.runs), given.runs, strict=True)),
        given.judgments,
        given.human,
        confidence=given.confidence,
        columns=conventions.columns,
    )
    if given.form == "json":
        print_json(found.to_dict())
    else:
        show(powered_lines(found, width=report_width()))
    return 0
