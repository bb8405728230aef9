"""
How every report writes scores, means, cutoffs and the policy.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from rankgauge.policy import PROFILES, option_text

if TYPE_CHECKING:
    from rankgauge.result import MetricSummary, Result

__all__ = ["cutoff", "mean", "number", "policy_line", "policy_options", "score"]


def number(value: float | None) -> str:
    """Return a number with four digits; a dash where there is none."""
    return "-" if value is None or value != value else f"{value:.4f}"  # noqa: PLR0124  # NaN


def score(column: MetricSummary, value: float | None) -> str:
    """Return a score of a column: a number, without digits where the column counts something."""
    is_count = column.info.aggregate == "sum" and value is not None and value == int(value)
    return f"{value:,.0f}" if is_count else number(value)


def mean(column: MetricSummary) -> str:
    """Return the aggregate of a column."""
    return score(column, column.mean)


def cutoff(column: MetricSummary) -> str:
    """Return a column's cutoff, or the lowest and the highest; a dash where there is none."""
    k = column.k
    return "-" if k is None else f"{k[0]}-{k[1]}" if isinstance(k, tuple) else str(k)


def policy_line(result: Result) -> str:
    """Return the profile, and the policy options that differ from it."""
    name = result.manifest.get("profile", "default")
    known = PROFILES.get(name)
    usual: dict[str, Any] = {} if known is None else {**dataclasses.asdict(known.policy), "relevance": known.relevance}
    options = policy_options(result)
    changed = [f"{option}={text}" for option, text in options.items() if text != _text(usual.get(option, ...))]
    return f"profile {name}; policy: {' '.join(changed)}" if changed else f"profile {name}, policy as is"


def policy_options(result: Result) -> dict[str, str]:
    """Return every policy option as configs write it; of a TREC run also the lowest relevant grade."""
    options = dict(result.manifest.get("policy") or {})
    if "relevance" in result.manifest:
        options["relevance"] = result.manifest["relevance"]
    return {option: _text(value) for option, value in options.items()}


def _text(value: object) -> str:
    """Return an option as configs write it, a whole number without a decimal point."""
    return option_text(int(value) if isinstance(value, float) and value.is_integer() else value)
