"""
What became of gates: values that reports lay out, and that say how a run ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rankgauge.frozen import freeze_fields
from rankgauge.gates.drop import Drop
from rankgauge.gates.grammar import Gate, MaxDrop

__all__ = ["GateOutcome", "GateReport", "Status"]

Status = Literal["passed", "failed", "warned", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOutcome:
    """
    What became of one gate on one dataset.

    Attributes:
        gate: The gate; its metric is the name of a column, if there is one.

        dataset: The dataset or run.

        verdict: `pass` or `fail`; `inconclusive` for a change that too few samples leave open; `error` where the gate
            does not fit the data, so that it cannot be judged.

        value: The aggregate over the samples that the gate is for; None where there is none.

        aggregate: How samples become one number: `mean`, `sum`, `geometric` or the name of a plugin's.

        counts: How many samples count (`n`), and how many are `undefined`, `missing` and `failed`.

        reason: Why there is no value, or no verdict.

        missed: With `per_sample`, the ids of the samples that miss the bound, with their values.

        drop: For a gate on a change, how the mean changed.
    """

    gate: Gate
    dataset: str = ""
    verdict: Literal["pass", "fail", "inconclusive", "error"]
    value: float | None = None
    aggregate: str = "mean"
    counts: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""
    missed: tuple[tuple[str, float | None], ...] = ()
    drop: Drop | None = None

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def status(self) -> Status:
        """Return what the verdict does to a run, after the gate's `level` and `inconclusive`."""
        rule = self.gate.rule
        effect = rule.inconclusive if self.verdict == "inconclusive" and isinstance(rule, MaxDrop) else "fail"
        if self.verdict == "error":
            return "error"
        if self.verdict == "pass" or effect == "pass":
            return "passed"
        return "warned" if "warn" in {effect, self.gate.level} else "failed"

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome in plain values, as reports hold it."""
        rule = self.gate.rule
        bound: dict[str, Any] = {"max_drop": str(rule)} if isinstance(rule, MaxDrop) else {rule.side: rule.number}
        return {
            "gate": str(self.gate),
            "dataset": self.dataset,
            "metric": self.gate.metric,
            **bound,
            "value": self.value,
            "aggregate": self.aggregate,
            **{name if name == "n" else f"n_{name}": count for name, count in self.counts.items()},
            "verdict": self.verdict,
            "status": self.status,
            "passed": self.verdict == "pass",
            "reason": self.reason,
            **({"missed": dict(self.missed)} if self.gate.per_sample else {}),
            **({} if self.drop is None else {"change": self.drop.to_dict()}),
        }


@dataclass(frozen=True, slots=True)
class GateReport:
    """
    What became of all gates.

    Attributes:
        outcomes: One outcome for each gate and dataset, in order.

        ids_changed: The datasets whose retrieved ids are new, so that nothing can be said of the ranking, with a
            sentence for each.
    """

    outcomes: tuple[GateOutcome, ...] = ()
    ids_changed: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        freeze_fields(self)

    def of(self, status: Status) -> tuple[GateOutcome, ...]:
        """Return the outcomes with a status."""
        return tuple(outcome for outcome in self.outcomes if outcome.status == status)

    @property
    def exit_code(self) -> int:
        """Return 2 where a gate cannot be judged or ids changed, 1 where one failed, else 0."""
        return 2 if self.ids_changed or self.of("error") else 1 if self.of("failed") else 0
