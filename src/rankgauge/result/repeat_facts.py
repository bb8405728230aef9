"""
Facts of repeated runs: how far a system agrees with itself, and what more repeats or more samples would buy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankgauge.base.frozen import plain_fields
from rankgauge.base.plain_text import visible
from rankgauge.errors import counted, listed
from rankgauge.result.result import Result
from rankgauge.result.summary import MetricSummary
from rankgauge.stats.repeats import pass_rates, unstable, variance_parts

__all__ = ["Budget", "PassRate", "RepeatFacts", "repeat_facts", "repeat_lines"]

_LISTED = 5


class PassRate(NamedTuple):
    """Of a metric of 0 and 1: the probability that some of k repeats pass, and that all do."""

    k: int
    some: float
    every: float


class Budget(NamedTuple):
    """What so many calls would buy: each of some samples called some times, and the standard error of the mean."""

    what: str
    samples: int
    repeats: int
    calls: int
    standard_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatFacts:
    """
    How the repeats of one metric vary.

    Attributes:
        repeats: How many there are of a sample at the most.

        between: Variance between the true means of samples; None if it cannot be estimated.

        within: Variance between the repeats of one sample; None as `between`.

        unstable: The samples whose repeats differ, those that vary most first; of 0/1 metrics those that flip.

        passes: pass@k and pass^k, if all scores are 0 or 1; empty otherwise.

        budgets: Standard errors now and with more repeats or samples; empty if `between` is None.
    """

    repeats: int
    between: float | None
    within: float | None
    unstable: tuple[str, ...]
    passes: tuple[PassRate, ...]
    budgets: tuple[Budget, ...]

    @property
    def share_within(self) -> float | None:
        """Return which share of the variance of one call comes from the system's own variation."""
        if self.between is None or self.within is None or not self.between + self.within:
            return None
        return self.within / (self.between + self.within)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        passes = [{"k": k, "pass@k": some, "pass^k": every} for k, some, every in self.passes]
        budgets = [budget._asdict() for budget in self.budgets]
        return {**plain_fields(self), "passes": passes, "budgets": budgets, "share_within": self.share_within}


def repeat_facts(column: MetricSummary, sample_ids: tuple[str, ...]) -> RepeatFacts | None:
    """Return how the repeats of a column vary; None if there are none."""
    if column.repeats is None:
        return None
    values = column.repeats
    known = values[~np.isnan(values)]
    is_binary = bool(len(known)) and bool(np.isin(known, (0.0, 1.0)).all())
    parts = variance_parts(values)
    return RepeatFacts(
        repeats=values.shape[1],
        between=None if parts is None else parts.between,
        within=None if parts is None else parts.within,
        unstable=tuple(sample_ids[place] for place in unstable(values).tolist()),
        passes=tuple(PassRate(*rate) for rate in pass_rates(values)) if is_binary else (),
        budgets=() if parts is None else tuple(_budgets(parts.standard_error, column.n, values.shape[1])),
    )


def _budgets(error: Any, samples: int, repeats: int) -> Iterator[Budget]:  # noqa: ANN401  # `standard_error`
    """Yield what is, and what twice the calls or as many calls would buy."""
    plans = (
        ("now", samples, repeats),
        ("twice the repeats", samples, 2 * repeats),
        ("twice the samples", 2 * samples, repeats),
        ("as many calls, each of another sample", samples * repeats, 1),
    )
    for what, n, r in plans:
        yield Budget(what, n, r, n * r, error(n, r))


def repeat_lines(result: Result) -> Iterator[str]:
    """Yield what every report says of the repeats of a result, metric by metric; nothing of one without repeats."""
    for name, column in result.metrics.items():
        facts = repeat_facts(column, result.sample_ids)
        if facts is None:
            continue
        own = visible(name)
        flips = "flip between 0 and 1" if facts.passes else "do not always score the same"
        if facts.unstable:
            shown = ", ".join(map(visible, facts.unstable[:_LISTED]))
            more = ", ..." if len(facts.unstable) > _LISTED else ""
            of = f"{len(facts.unstable):,} of {counted(len(result), 'sample')} {flips}: {shown}{more}"
        else:
            of = f"every sample scores the same in all of {facts.repeats} repeats"
        yield f"{own}: {of}"
        if facts.share_within is not None:
            now, *others = facts.budgets
            bought = listed([f"{each.standard_error:.4f} with {each.what} ({each.calls:,} calls)" for each in others])
            yield (
                f"{own}: {facts.share_within:.0%} of the variance of a call lies between repeats, the rest between "
                f"samples; se {now.standard_error:.4f} with {now.calls:,} calls, {bought}"
            )
        if facts.passes:
            rates = ", ".join(f"k={k} {some:.4f}/{every:.4f}" for k, some, every in facts.passes)
            yield f"{own}: pass@k/pass^k (some or all of k repeats score 1): {rates}"
