"""
Gates that end a run: how they are written, and what a result keeps of their decisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from rankgauge.gates.grammar import Gate, read_gates
from rankgauge.result import ResultValues

__all__ = ["UNTIL", "Decision", "UntilGates", "decision_of", "key_of", "until_gates"]

UntilGates = Iterable[Gate | str | Mapping[str, Any]] | Gate | str | Mapping[str, Any]
"""One gate or several, as they are written."""

UNTIL = "until"
"""Where a manifest has the decisions."""


class Decision(NamedTuple):
    """What the samples that were looked at, in random order, say of a gate over all of them."""

    verdict: Literal["pass", "fail", "open"]
    after: int  # how many samples were looked at
    of: int  # how many there are
    level: float  # the highest probability of a wrong decision


def until_gates(written: UntilGates, *, origin: str = "until") -> list[Gate]:
    """Read gates that end a run; raise `ParameterError` for what is no gate."""
    entries = [written] if isinstance(written, Gate | str | Mapping) else written
    gates = [[entry] if isinstance(entry, Gate) else read_gates(entry, origin=origin) for entry in entries]
    return [replace(gate, until=True) for several in gates for gate in several]


def key_of(gate: Gate) -> str:
    """Return what a manifest calls a gate on a column; what a miss does is of no interest there."""
    return str(replace(gate, dataset="", level="fail"))


def decision_of(gate: Gate, result: ResultValues) -> Decision | None:
    """Return what was decided of a gate on a column while a system was called; None where all samples were."""
    until = result.manifest.get(UNTIL)
    if not until:
        return None
    if (decision := until["gates"].get(key_of(gate))) is not None:
        return Decision(**decision)
    return Decision("open", len(result), until["samples"], 0.0) if len(result) < until["samples"] else None
