"""
How every report writes scores, means, cutoffs and the policy.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from rankgauge.base.plain_text import visible
from rankgauge.errors import counted, listed
from rankgauge.judging.keeping import in_words
from rankgauge.policy import PROFILES, option_text

if TYPE_CHECKING:
    from rankgauge.result import MetricSummary, ResultValues

__all__ = [
    "ERRORS",
    "ERROR_LINE",
    "FACTS",
    "calls_line",
    "counts",
    "errors",
    "facts",
    "listed_cohorts",
    "mean",
    "number",
    "policy_line",
    "policy_options",
    "score",
]

ERRORS = ("se", "low", "high")
"""What tables tell of how far a mean can be trusted."""

ERROR_LINE = "se: standard error of the mean, std / sqrt(n), where std divides by n - 1; low, high: its 95 % interval"

FACTS = ("mean", *ERRORS, "n", "k", "undefined", "missing", "failed", "std", "p50", "p95")
"""What tables tell of a column."""

_MOST_COHORTS = 20


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


def counts(column: MetricSummary) -> dict[str, int]:
    """Return how many samples of a column count, and how many are undefined, missing and failed."""
    return {"n": column.n, "undefined": column.n_undefined, "missing": column.n_missing, "failed": column.n_failed}


def facts(column: MetricSummary) -> dict[str, str]:
    """Return the `FACTS` of a column as tables write them; of a cutoff that differs, the lowest and the highest."""
    k = column.k
    spread = "-" if k is None else f"{k[0]}-{k[1]}" if isinstance(k, tuple) else str(k)
    n, *flaws = (f"{count:,}" for count in counts(column).values())
    trust = errors(column).values()
    numbers = map(number, (column.std, column.percentile(50), column.percentile(95)))
    return dict(zip(FACTS, (mean(column), *trust, n, spread, *flaws, *numbers), strict=True))


def column_lines(result: ResultValues) -> list[str]:
    """Return what to know of single columns: which are no means, what failed, and how many results fit a budget."""
    whole = [visible(name) for name, column in result.metrics.items() if column.rankings is not None]
    are = "is one value of the whole run and no mean" if len(whole) == 1 else "are values of the whole run and no means"
    lines = [f"{listed(whole)} {are}; n counts rankings"] if whole else []
    lines += [
        f"{visible(name)}: what stands under mean is the {visible(column.info.aggregate)} of its scores"
        for name, column in result.metrics.items()
        if column.info.aggregate_provider is not None
    ]
    lines += [
        f"{visible(name)}: {visible(column.failure)}" for name, column in result.metrics.items() if column.failure
    ]
    for name, column in result.metrics.items():
        if column.info.budget is None:
            continue
        given = (column.info.budget[fact] for fact in ("amount", "unit", "tokenizer"))
        budget = f"{visible(name)}: a budget of {visible(in_words(*given, partial=column.info.budget['partial']))}"
        if column.fitted is None:
            lines.append(f"{budget}; no sample has texts to fit into it")
            continue
        low, median, high = column.fitted
        samples = column.info.fitted or {}
        none, n = samples.get("0", 0), sum(samples.values())
        spread = f"{low:,} to {high:,}" if low != high else f"{low:,} for each sample"
        empty = f"; nothing fits for {none:,} of {counted(n, 'sample')}" if none else ""
        lines.append(f"{budget}; results that fit: median {median:g}, {spread}{empty}")
    return lines


def errors(column: MetricSummary) -> dict[str, str]:
    """Return the `ERRORS` of a column as tables write them; dashes where there are none."""
    low, high = column.interval() or (None, None)
    return dict(zip(ERRORS, map(number, (column.standard_error, low, high)), strict=True))


def listed_cohorts(result: ResultValues) -> tuple[list[tuple[str, ResultValues]], str]:
    """Return the cohorts that a table lists, the largest where there are many, and a sentence on the others."""
    cohorts = [("(untagged)" if tag is None else visible(tag), cohort) for tag, cohort in result.by_tag().items()]
    if len(cohorts) <= _MOST_COHORTS:
        return cohorts, ""
    by_size = sorted(range(len(cohorts)), key=lambda place: (-len(cohorts[place][1]), place))
    kept, left = sorted(by_size[:_MOST_COHORTS]), by_size[_MOST_COHORTS:]
    largest = len(cohorts[left[0]][1])
    size = f"{counted(largest, 'sample')}{' or fewer' if largest > 1 else ''}"
    told = f"{counted(len(left), 'more cohort')} of {size}; the JSON report has all {len(cohorts):,}"
    return [cohorts[place] for place in kept], told


def calls_line(result: ResultValues) -> str:
    """Return how often a system under test was called, and how long that took; empty where none was."""
    outputs = result.manifest.get("outputs") or {}
    calls = outputs.get("calls")
    if not calls:
        return ""
    line = f"{counted(calls['n'], 'call')} of {visible(outputs['sut'])}: {calls['failed']:,} failed"
    if calls["retries"]:
        line += f", {counted(calls['retries'], 'retry', 'retries')}"
    seconds = calls["seconds"]
    if seconds["p50"] is None:
        return line
    return f"{line}; seconds a call: p50 {seconds['p50']:.3g}, p95 {seconds['p95']:.3g}"


def policy_line(result: ResultValues) -> str:
    """Return the profile, and the policy options that differ from it."""
    name = result.settings.get("profile", "default")
    known = PROFILES.get(name)
    usual: dict[str, Any] = {} if known is None else {**dataclasses.asdict(known.policy), "relevance": known.relevance}
    options = policy_options(result)
    changed = [f"{option}={text}" for option, text in options.items() if text != _text(usual.get(option, ...))]
    return f"profile {name}; policy: {' '.join(changed)}" if changed else f"profile {name}, no policy option changed"


def policy_options(result: ResultValues) -> dict[str, str]:
    """Return every policy option as configs write it; of a TREC run also the lowest relevant grade."""
    options = dict(result.settings.get("policy") or {})
    if "relevance" in result.settings:
        options["relevance"] = result.settings["relevance"]
    return {option: _text(value) for option, value in options.items()}


def _text(value: object) -> str:
    """Return an option as configs write it, a whole number without a decimal point."""
    return option_text(int(value) if isinstance(value, float) and value.is_integer() else value)
