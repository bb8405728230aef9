"""
How every report writes scores, means, cutoffs and the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import orjson

from rankgauge.base.plain_text import visible
from rankgauge.errors import ParameterError, counted, listed
from rankgauge.judging.budgets import in_words
from rankgauge.policy import PROFILES, option_text
from rankgauge.result import MetricSummary, Result
from rankgauge.result.column_info import ListEnds
from rankgauge.result.health import incomplete_value
from rankgauge.result.label_doubts import LABEL_DOUBTS, LabelDoubts
from rankgauge.stats.estimates import FEW_CLUSTERS, effective_size

__all__ = [
    "ERRORS",
    "FACTS",
    "INTERVALS",
    "Further",
    "calls_line",
    "check_results",
    "column_lines",
    "dataset_name",
    "doubt_lines",
    "ends_text",
    "error_line",
    "errors",
    "facts",
    "interval_methods",
    "interval_text",
    "json_text",
    "largest",
    "listed_cohorts",
    "mean",
    "number",
    "policy_line",
    "policy_options",
    "score",
    "short_lists_lines",
    "tag_name",
]

ERRORS = ("se", "low", "high")
"""What tables tell of how far a mean can be trusted."""

ERROR_LINES = {
    "se": "se: standard error of the mean, std / sqrt(n), where std divides by n - 1",
    "low": "low, high: its 95 % interval",
}
"""What the columns mean, by the first of each."""

INTERVALS: Mapping[str, str] = MappingProxyType(
    {"t": "Student's t", "wilson": "Wilson", "clopper-pearson": "Clopper-Pearson", "betting": "betting"}
)
"""What an interval is called, by its method."""

FACTS = ("mean", *ERRORS, "n", "k", "undefined", "missing", "failed", "std", "p50", "p95")
"""What tables tell of a column."""

Further = Mapping[str, Mapping[str, float | None]]
"""For each column its further means: `condensed`, `worst` and `best`, those that were asked for."""

_MOST_COHORTS = 20

_Item = TypeVar("_Item")


def number(value: float | None) -> str:
    """Return a number with four digits; a dash if there is none."""
    return "-" if value is None or value != value else f"{value:.4f}"  # noqa: PLR0124  # NaN


def score(column: MetricSummary, value: float | None) -> str:
    """Return a score of a column: a number, without digits if the column counts something."""
    is_count = column.info.aggregate == "sum" and value is not None and value == int(value)
    return f"{value:,.0f}" if is_count else number(value)


def mean(column: MetricSummary) -> str:
    """Return the aggregate of a column."""
    return score(column, column.mean)


def facts(column: MetricSummary) -> dict[str, str]:
    """Return the `FACTS` of a column as tables write them; of a cutoff that differs, the lowest and the highest."""
    k = "-" if column.k is None else "-".join(map(str, column.k if isinstance(column.k, tuple) else [column.k]))
    n, *flaws = (f"{count:,}" for count in column.counts.values())
    spread = map(number, (column.std, column.percentile(50), column.percentile(95)))
    return dict(zip(FACTS, (mean(column), *errors(column).values(), n, k, *flaws, *spread), strict=True))


def errors(column: MetricSummary) -> dict[str, str]:
    """Return the `ERRORS` of a column as tables write them; dashes if there are none."""
    interval = column.interval() or (None, None)
    return dict(zip(ERRORS, map(number, (column.standard_error, *interval)), strict=True))


def error_line(columns: Iterable[MetricSummary], kept: Sequence[str] = ERRORS) -> str:
    """Return what the `ERRORS` that a table has kept are, and which intervals they are; empty if it has none."""
    columns = list(columns)
    methods = interval_methods(columns)
    lines = {**ERROR_LINES, "low": f"{ERROR_LINES['low']}{methods and f' ({methods})'}"}
    if any(column.clusters is not None for column in columns):
        lines["se"] = "se: standard error of the mean, by clusters"
    return "; ".join(line for heading, line in lines.items() if heading in kept)


def interval_methods(columns: Iterable[MetricSummary]) -> str:
    """Say which intervals columns have: ``Wilson``, or ``Wilson: hit@5; Student's t: ndcg@10``."""
    named: dict[str, list[str]] = {}
    for column in columns:
        known = column.interval_found()
        if known is not None:
            named.setdefault(INTERVALS[known.method], []).append(visible(column.name))
    return (
        next(iter(named)) if len(named) == 1 else "; ".join(f"{method}: {listed(of)}" for method, of in named.items())
    )


def interval_text(column: MetricSummary) -> str:
    """Return the 95 % interval of a mean with its method: ``0.6915 to 1.0000 (Wilson)``; a dash if there is none."""
    known = column.interval_found()
    return "-" if known is None else f"{number(known.low)} to {number(known.high)} ({INTERVALS[known.method]})"


def column_lines(result: Result) -> Iterator[str]:
    """Yield what to know of columns: which are no means, what failed, what fits a budget, which places are taken."""
    columns = [(visible(name), column) for name, column in result.metrics.items()]
    if whole := [name for name, column in columns if column.rankings is not None]:
        are = "is one value of the whole run and no mean"
        are = are if len(whole) == 1 else "are values of the whole run and no means"
        yield f"{listed(whole)} {are}; n counts rankings"
    for name, column in columns:
        if column.info.aggregate_provider is not None:
            yield f'{name}: the column "mean" shows the {visible(column.info.aggregate)}'
        if column.denominators is not None:
            yield f'{name}: the column "mean" shows the pooled mean, all numerators over all denominators'
    yield from (f"{name}: {visible(column.failure)}" for name, column in columns if column.failure)
    yield from (f"{name}: {why}" for name, column in columns if (why := incomplete_value(result, column)))
    for name, column in columns:
        if column.info.budget is not None:
            yield f"{name}: a budget of {_budget(column, column.info.budget)}"
    if any(column.repeats is not None for _, column in columns):
        from rankgauge.result.repeat_facts import repeat_lines

        yield from repeat_lines(result)
    yield from _place_lines(result)


def _place_lines(result: Result) -> Iterator[str]:
    """Yield how many places of retrieved items were taken; nothing if no item gives one."""
    for stage, counts in (result.manifest.get("places") or {}).items():
        kinds = {kind: n for kind, n in counts.items() if kind != "trusted"}
        if sum(kinds.values()) > kinds["missing"]:
            where = f" at stage {visible(stage)}" if stage else ""
            found = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items())
            ignored = "" if counts["trusted"] else "; none of them is used, see the notes"
            yield f"places of retrieved items{where}: {found}{ignored}"


def _budget(column: MetricSummary, budget: Mapping[str, Any]) -> str:
    """Return a budget, and how many results of a sample fit into it."""
    *size, partial = (budget[fact] for fact in ("amount", "unit", "tokenizer", "partial"))
    words = visible(in_words(*size, partial=partial))
    if column.fitted is None:
        return f"{words}; no sample has texts to fit into it"
    low, median, high = column.fitted
    samples = column.info.fitted or {}
    none, n = samples.get("0", 0), sum(samples.values())
    spread = f"{low:,} to {high:,}" if low != high else f"{low:,} for each sample"
    ends = column.info.list_ends
    ended = "" if ends is None or not ends.ended else f"; {ends_text(ends)}"
    empty = f"; nothing fits for {none:,} of {counted(n, 'sample')}" if none else ""
    return f"{words}; results that fit: median {median:g}, {spread}{empty}{ended}"


def ends_text(ends: ListEnds) -> str:
    """Say how many rankings ended before a budget: ``31 of 40 rankings ended before it, at a median of 400 tokens``."""
    if ends.at is None:
        return f"none of {counted(ends.n, 'ranking')} ended before it"
    at = in_words(round(ends.at), ends.unit, None, partial=False)
    return f"{ends.ended:,} of {counted(ends.n, 'ranking')} ended before it, at {'a median of ' * (ends.ended > 1)}{at}"


def short_lists_lines(result: Result) -> Iterator[str]:
    """Yield for each budget that more than a tenth of the rankings do not fill, that this limits the score."""
    for name, column in result.metrics.items():
        ends = column.info.list_ends
        if ends is not None and ends.are_short:
            room = f"in {ends.short:,} another result would have fitted"
            limits = "so that the score also depends on how many results were retrieved"
            yield visible(f"{name}: a budget of {ends.budget}, and {ends_text(ends)}; {room}, {limits}")


def dataset_name(result: Result) -> str:
    """Return what the data of a result is called."""
    return str((result.manifest.get("dataset") or {}).get("name") or "samples given in Python")


def tag_name(tag: str | None) -> str:
    """Return a tag as tables write it; None is for samples without any."""
    return "(untagged)" if tag is None else visible(tag)


def largest(items: Sequence[_Item], size: Callable[[_Item], int]) -> tuple[list[_Item], list[_Item]]:
    """Part items into as many of the largest as a table lists, in their order, and the others, the largest first."""
    by_size = sorted(range(len(items)), key=lambda at: -size(items[at]))
    return [items[at] for at in sorted(by_size[:_MOST_COHORTS])], [items[at] for at in by_size[_MOST_COHORTS:]]


def listed_cohorts(result: Result) -> tuple[list[tuple[str, Result]], str]:
    """Return the cohorts that a table lists, the largest if there are many, and a sentence on the others."""
    cohorts = [(tag_name(tag), cohort) for tag, cohort in result.by_tag().items()]
    kept, left = largest(cohorts, lambda cohort: len(cohort[1]))
    if not left:
        return kept, ""
    most = len(left[0][1])
    size = f"{counted(most, 'sample')}{' or fewer' if most > 1 else ''}"
    return kept, f"{counted(len(left), 'more cohort')} of {size}; the JSON report has all {len(cohorts):,}"


def doubt_lines(result: Result) -> Iterator[str]:
    """Yield which labels rankings speak against, and how many each sign does, if that was asked for."""
    found = result.manifest.get(LABEL_DOUBTS)
    if found is not None:
        yield from LabelDoubts.from_dict(found).lines()


def calls_line(result: Result) -> str:
    """Return how often a system under test was called, and how long that took; empty if none was."""
    outputs = result.manifest.get("outputs") or {}
    calls = outputs.get("calls")
    if not calls:
        return ""
    line = f"{counted(calls['n'], 'call')} of {visible(outputs['sut'])}: {calls['failed']:,} failed"
    if saved := (result.manifest.get("until") or {}).get("saved"):
        line += f", {saved:,} saved by stopping early"
    if calls["retries"]:
        line += f", {counted(calls['retries'], 'retry', 'retries')}"
    seconds = calls["seconds"]
    if seconds["p50"] is None:
        return line
    return f"{line}; seconds a call: p50 {seconds['p50']:.3g}, p95 {seconds['p95']:.3g}"


def partial_line(result: Result) -> str:
    """Say, after a blank, why a result has not all samples of its data; empty if it has."""
    if result.manifest.get("interrupted"):
        return " The run was interrupted; only these samples were done."
    until = result.manifest.get("until") or {}
    if not until.get("saved"):
        return ""
    n, called = counted(until["samples"], "sample"), f"{len(result):,}"
    return f" The run stopped early, when its gates were decided: {called} of {n} were called, in random order."


def weights_line(result: Result) -> str:
    """Say that samples count differently in means, and which columns are no means; empty if all count the same."""
    columns = result.metrics.values()
    weights = next((column.weights for column in columns if column.weights is not None), None)
    if weights is None:
        return ""
    kept = weights[weights > 0]
    size = effective_size(kept) if len(kept) else 0.0
    zero = len(weights) - len(kept)
    none = f", {zero:,} of them for nothing" if zero else ""
    plain = [column.name for column in columns if column.weights is None]
    others = f"; {listed(plain)} {'is no mean and has' if len(plain) == 1 else 'are no means and have'} no weights"
    by = visible((result.manifest.get("weights") or {}).get("by") or "weights")
    return (
        f"means are weighted by {by}: {counted(len(weights), 'sample')}{none}, as many as {size:.4g} of one weight"
        f"{others if plain else ''}"
    )


def cluster_line(result: Result) -> str:
    """Say which samples are not independent; empty if all are."""
    known = result.manifest.get("cluster")
    if not known:
        return ""
    few = f"; below {FEW_CLUSTERS}, intervals tend to be too narrow" if known["n"] < FEW_CLUSTERS else ""
    return f"standard errors and intervals are those of {counted(known['n'], 'cluster')} by {visible(known['by'])}{few}"


def policy_line(result: Result) -> str:
    """Return the profile, and the policy options that differ from it."""
    name = result.settings.get("profile", "default")
    known = PROFILES.get(name)
    usual: dict[str, Any] = {} if known is None else {**known.policy.plain(), "relevance": known.relevance}
    options = policy_options(result)
    changed = [f"{option}={text}" for option, text in options.items() if text != _text(usual.get(option, ...))]
    return f"profile {name}; policy: {' '.join(changed)}" if changed else f"profile {name}, unmodified"


def policy_options(result: Result) -> dict[str, str]:
    """Return every policy option as configs write it; of a TREC run also the lowest relevant grade."""
    options = dict(result.settings.get("policy") or {})
    if "relevance" in result.settings:
        options["relevance"] = result.settings["relevance"]
    return {option: _text(value) for option, value in options.items()}


def _text(value: object) -> str:
    """Return an option as configs write it, a whole number without a decimal point."""
    return option_text(int(value) if isinstance(value, float) and value.is_integer() else value)


def json_text(value: object) -> str:
    """Return JSON for people: indented, and ended by a line feed."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def check_results(function: str, results: object) -> None:
    """Refuse what is no mapping of results by name, given to a public function."""
    if not isinstance(results, Mapping) or not all(isinstance(result, Result) for result in results.values()):
        raise ParameterError(f"{function} takes results by name, such as {{'bm25': first, 'rrf': second}}")
