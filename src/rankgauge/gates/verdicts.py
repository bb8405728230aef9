"""
Verdicts of gates: what the scores of one or several datasets, and of a baseline, say of each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol

from rankgauge.comparison.pairing import PairedColumn
from rankgauge.errors import ParameterError, ResultError, counted, did_you_mean
from rankgauge.gates.drop import baseline_of, ids_changed, judge_drop, pair_with_baseline
from rankgauge.gates.grammar import Bound, Gate, MaxDrop, read_gates
from rankgauge.gates.outcomes import GateOutcome, GateReport
from rankgauge.plugin.metric import WHOLE_RUN
from rankgauge.result import MetricSummary, ResultValues
from rankgauge.stats.estimates import TIED

__all__ = ["MetricTraits", "flaw", "judge_gates", "judge_resolved", "resolved"]


class MetricTraits(Protocol):
    """What a gate has to know of its metric, before and after it was computed."""

    @property
    def range(self) -> tuple[float | None, float | None]:
        """Return the lowest and the highest value."""
        ...

    @property
    def higher_is_better(self) -> bool:
        """Return whether more is better."""
        ...

    @property
    def aggregate(self) -> str:
        """Return how samples become one number."""
        ...


def judge_gates(
    results: Mapping[str, ResultValues] | ResultValues,
    gates: Iterable[Gate | str | Mapping[str, Any]],
    *,
    baseline: Mapping[str, ResultValues] | ResultValues | None = None,
) -> GateReport:
    """
    Judge gates.

        report = judge_gates(result, ["ndcg@10 >= 0.6", {"metric": "recall@5", "max_drop": 0.02}], baseline=old)
        assert report.exit_code == 0

    Args:
        results: Results by dataset, or one result.

        gates: Gates in any form. Each holds for every dataset, unless it names one.

        baseline: What changes are judged against: results by dataset, as `rankgauge.load_baseline` returns them, or one
            result.

    Returns:
        One outcome for each gate and dataset.

    Raises:
        ParameterError: A gate that cannot be read, that names no column of the results or no dataset, or that no value
            can meet; or a gate on a change without a baseline.
    """
    results = {"": results} if isinstance(results, ResultValues) else results
    earlier = {"": baseline} if isinstance(baseline, ResultValues) else baseline
    read = [each for gate in gates for each in ([gate] if isinstance(gate, Gate) else read_gates(gate))]
    problems = []
    for gate in read:
        if gate.dataset and gate.dataset not in results:
            known = f"; there are {', '.join(results)}" if list(results) != [""] else ""
            problems.append(f"{gate}: no dataset {gate.dataset!r}{did_you_mean(gate.dataset, results)}{known}")
        if isinstance(gate.rule, MaxDrop) and earlier is None:
            problems.append(f"{gate}: a change is judged against a baseline, and none is given")
        for result in results.values():
            try:
                told = flaw(gate, gate.metric, result[gate.metric].info)
            except KeyError as error:
                told = str(error.args[0])
            problems += [f"{gate}: {told}"] if told else []
    if problems:
        raise ParameterError("; ".join(dict.fromkeys(problems)))
    by_dataset = {name: [gate for gate in read if gate.dataset in {"", name}] for name in results}
    return judge_resolved(results, by_dataset, earlier)


def judge_resolved(
    results: Mapping[str, ResultValues],
    gates: Mapping[str, Sequence[Gate]],
    baseline: Mapping[str, ResultValues] | None,
) -> GateReport:
    """Judge gates by dataset, each of which names a column of it and fits its metric."""
    changed = {} if baseline is None else ids_changed(results, baseline)
    if any(gates.values()):  # gates on metrics that are judged by text go on where ids changed
        by_id = {name for name in changed for gate in gates[name] if results[name][gate.metric].info.by_id}
        changed = {name: told for name, told in changed.items() if name in by_id}
    outcomes = [
        _outcome(gate, name, result, earlier, changed.get(name, ""))
        for name, result in results.items()
        for earlier in [None if baseline is None else baseline_of(name, baseline, results)]
        for gate in gates.get(name, ())
    ]
    return GateReport(tuple(outcomes), changed)


def resolved(gate: Gate, column: str, traits: MetricTraits) -> Gate:
    """Return a gate on a column, with a minimum or a maximum where it left that to the metric."""
    rule = gate.rule
    if isinstance(rule, Bound):
        side: Literal["minimum", "maximum"] = (
            "maximum" if rule.is_maximum(higher_is_better=traits.higher_is_better) else "minimum"
        )
        rule = Bound(rule.number, side)
    return replace(gate, metric=column, rule=rule)


def flaw(gate: Gate, column: str, traits: MetricTraits) -> str:
    """Return why a gate makes no sense for its metric; empty when it does."""
    rule, (low, high) = gate.rule, traits.range
    if traits.aggregate == WHOLE_RUN and (isinstance(rule, MaxDrop) or gate.per_sample):
        why = "there is no test of its difference" if isinstance(rule, MaxDrop) else "no sample has a value of its own"
        return f"{column!r} is one value of the whole run, so {why}; give it a bound"
    if isinstance(rule, MaxDrop):
        if traits.aggregate != "mean":
            return f"max_drop compares means, and {column!r} is a {traits.aggregate} over the samples"
        return ""
    is_maximum = rule.is_maximum(higher_is_better=traits.higher_is_better)
    if traits.aggregate not in {"mean", "geometric"} and not gate.per_sample:
        return ""  # only a mean lies where its values do
    if (is_maximum and low is not None and rule.number < low) or (
        not is_maximum and high is not None and rule.number > high
    ):
        spread = f"from {'-inf' if low is None else f'{low:g}'} to {'inf' if high is None else f'{high:g}'}"
        return f"no value of {column!r}, which ranges {spread}, can keep the bound {rule.number:g}"
    return ""


def _outcome(
    gate: Gate, dataset: str, result: ResultValues, baseline: ResultValues | None, changed: str
) -> GateOutcome:
    """Judge one gate on one dataset."""
    column = result[gate.metric]
    gate = resolved(gate, column.name, column.info)
    if changed and column.info.by_id:
        return GateOutcome(gate=gate, dataset=dataset, verdict="error", reason=changed.partition(":")[0])
    places, why = _places(gate, result)
    if why:
        return GateOutcome(gate=gate, dataset=dataset, verdict="error", reason=why)
    if len(places) < len(result):
        result = result.take(places)
        column = result.metrics[column.name]
    if isinstance(gate.rule, MaxDrop):
        return _of_change(gate, gate.rule, dataset, result, baseline)
    if gate.per_sample:
        return _of_each(gate, dataset, column, result.sample_ids)
    value = column.mean if column.n else None  # a sum over nothing is 0, which is not a value either
    return GateOutcome(
        gate=gate,
        dataset=dataset,
        verdict="pass" if _keeps(gate.rule, value) else "fail",
        value=value,
        aggregate=column.info.aggregate,
        counts=_counts(column),
        reason="" if value is not None else _without_value(column),
    )


def _of_change(
    gate: Gate, rule: MaxDrop, dataset: str, result: ResultValues, baseline: ResultValues | None
) -> GateOutcome:
    """Judge a gate on a change, by the mean or by each sample."""
    column = result.metrics[gate.metric]
    again = "save it again with --save-baseline"
    if baseline is None:
        reason = f"the baseline has no dataset {dataset!r}; {again}"
        return GateOutcome(gate=gate, dataset=dataset, verdict="error", reason=reason)
    try:
        pairs = pair_with_baseline(column, result, baseline)
    except ResultError as error:
        return GateOutcome(gate=gate, dataset=dataset, verdict="error", reason=f"{error}; {again}")
    higher = column.info.higher_is_better
    verdict, drop = judge_drop(rule, pairs, higher_is_better=higher)
    missed = _fallen(gate, rule, pairs, baseline, result) if gate.per_sample else ()
    return GateOutcome(
        gate=gate,
        dataset=dataset,
        verdict=verdict if not gate.per_sample else "fail" if missed else "pass",
        value=drop.value,
        counts={"n": drop.n},
        missed=missed,
        drop=drop,
    )


def _fallen(
    gate: Gate, rule: MaxDrop, pairs: PairedColumn, baseline: ResultValues, result: ResultValues
) -> tuple[tuple[str, float | None], ...]:
    """Return the samples that fell by more than the margin, with their differences; those named by id need a pair."""
    known = set(result.sample_ids)
    shared = [name for name in baseline.sample_ids if name in known]
    sign = 1.0 if pairs.info.higher_is_better else -1.0
    found: dict[str, float | None] = dict.fromkeys(gate.of)
    for name, before, difference in zip(shared, pairs.baseline.tolist(), pairs.differences.tolist(), strict=True):
        margin = rule.margin * abs(before) if rule.is_relative else rule.margin
        if math.isnan(difference):
            continue
        if sign * difference < -margin - TIED:
            found[name] = difference
        else:
            found.pop(name, None)
    return tuple(found.items())


def _of_each(gate: Gate, dataset: str, column: MetricSummary, ids: Sequence[str]) -> GateOutcome:
    """Judge a gate that each sample has to meet; one without a value misses it, unless it was not asked for by id."""
    values = [None if math.isnan(value) else value for value in column.values.tolist()]
    missed = [
        (name, value)
        for name, value in zip(ids, values, strict=True)
        if not _keeps(gate.rule, value) and (gate.of or value is not None)
    ]
    has_any = any(value is not None for value in values)
    return GateOutcome(
        gate=gate,
        dataset=dataset,
        verdict="pass" if has_any and not missed else "fail",
        value=column.mean if has_any else None,
        aggregate=column.info.aggregate,
        counts=_counts(column),
        reason="" if has_any else _without_value(column),
        missed=tuple(missed),
    )


def _keeps(rule: Bound | MaxDrop, value: float | None) -> bool:
    if value is None or isinstance(rule, MaxDrop):
        return False
    return rule.holds(value)


def _places(gate: Gate, result: ResultValues) -> tuple[list[int], str]:
    """Return the places of the samples that a gate is for, or why there are none."""
    places = list(range(len(result)))
    if gate.where is not None:
        name, wanted = gate.where
        label = wanted if name == "tags" else f"{name.removeprefix('metadata.')}={wanted}"
        places = [place for place in places if label in result.tags[place]]
        if not places:
            known = sorted({tag for tags in result.tags for tag in tags})
            listed = f"; there are {', '.join(known[:20])}" if known else "; no sample has a tag"
            return [], f"no sample has the tag {label!r}{did_you_mean(label, known)}{listed}"
    if gate.of:
        at = {result.sample_ids[place]: place for place in places}
        lost = [name for name in gate.of if name not in at]
        if lost:
            within = "" if gate.where is None else f" where {gate.where}"
            return [], f"there is no sample {lost[0]!r}{within}{did_you_mean(lost[0], at)}"
        places = [at[name] for name in gate.of]
    return places, ""


def _counts(column: MetricSummary) -> dict[str, int]:
    return {"n": column.n, "undefined": column.n_undefined, "missing": column.n_missing, "failed": column.n_failed}


def _without_value(column: MetricSummary) -> str:
    if column.failure:
        return column.failure
    n = len(column.values)
    first = next(iter(column.reasons.values()), "")
    told = "the only sample has no value" if n == 1 else f"none of the {counted(n, 'sample')} has a value"
    return f"{told}: {first}" if first else told
