"""
Gates for GitHub Actions: annotations as workflow commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankgauge.report.gates import headline
from rankgauge.visible import visible

if TYPE_CHECKING:
    from rankgauge.comparison.verdicts import GateOutcome, GateReport

__all__ = ["github_annotations"]

_MOST = 10
"""How many annotations GitHub shows of one step."""

_PLACE = re.compile(r"(?P<file>.+\.(?:ya?ml)):(?P<line>\d+)")


def github_annotations(report: GateReport) -> Iterator[str]:
    """Yield a line for each gate that failed, cannot be judged or warns, the worst first; at most ten."""
    outcomes = [*report.of("error"), *report.of("failed"), *report.of("warned")]
    several = len({outcome.dataset for outcome in report.outcomes}) > 1
    shown = outcomes if len(outcomes) <= _MOST else outcomes[: _MOST - 1]
    for outcome in shown:
        yield _command(outcome, headline(outcome, of_dataset=several))
    if len(outcomes) > len(shown):
        yield f"::error title=rankgauge::... and {len(outcomes) - len(shown):,} more gates; the log lists all of them"


def _command(outcome: GateOutcome, message: str) -> str:
    kind = "warning" if outcome.status == "warned" else "error"
    place = _PLACE.fullmatch(outcome.gate.origin)
    properties = {} if place is None else {"file": place["file"], "line": place["line"]}
    properties["title"] = f"rankgauge: {outcome.gate}"
    written = ",".join(f"{key}={_escaped(value, of_property=True)}" for key, value in properties.items())
    return f"::{kind} {written}::{_escaped(message)}"


def _escaped(text: str, *, of_property: bool = False) -> str:
    """Return a text that ends neither its line nor its property, and begins no other command."""
    text = visible(text).replace("%", "%25")
    return text.replace(":", "%3A").replace(",", "%2C") if of_property else text
