"""
Differences between two profiles: for each metric the conventions that differ, and to which samples they apply.

Which conventions apply to a sample is tried out, not guessed: the sample is scored again with each convention alone
taken from the other profile, in both directions; if that changes its score, the convention applies.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from rankgauge.columns import Floats
from rankgauge.engine.evaluation import Evaluation
from rankgauge.engine.explaining import is_same
from rankgauge.engine.reopen import reading_job
from rankgauge.errors import RankgaugeError
from rankgauge.planning.plan import Plan, PlannedMetric
from rankgauge.policy import Profile, option_text
from rankgauge.result import Result
from rankgauge.samples import Fault, Output, Sample
from rankgauge.scoring.collect import Collector

__all__ = ["Side", "differences", "samples_of"]

_TRIED = 1_000
"""Of how many samples that change the reasons are tried, so that they can be counted."""

_Changes = dict[str, tuple[float | None, float | None]]
"""Both values of each sample if they differ; None if it does not count."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two evaluations, with its result."""

    evaluation: Evaluation
    plan: Plan
    result: Result
    plans: list[tuple[Profile, Plan]] = field(default_factory=list)

    def plan_under(self, profile: Profile) -> Plan:
        """Return the plan of all metrics under a profile, made once; metrics try the same conventions."""
        for known, plan in self.plans:  # a profile cannot be hashed, and there are a dozen
            if known == profile:
                return plan
        self.plans.append((profile, self.evaluation.with_profile(profile).plan()))
        return self.plans[-1][1]


def differences(sides: Sequence[Side], *, most: int) -> list[dict[str, Any]]:
    """Return everything there is to say about each metric, and list the first *most* samples that change."""
    changed = {name: _changed(name, sides) for name in sides[0].result.metrics}
    tried = {sample_id for changes in changed.values() for sample_id in list(changes)[: max(most, _TRIED)]}
    read = [_read(side.evaluation, tried) for side in sides]
    return [_compared(name, sides, changes, most, read) for name, changes in changed.items()]


def samples_of(evaluation: Evaluation) -> Iterator[Sample]:
    """Yield the samples as an evaluation reads them, with their outputs."""
    return reading_job(evaluation.plan(), evaluation.data).read()


def _read(evaluation: Evaluation, ids: Collection[str]) -> dict[str, Sample]:
    """Return the samples with some ids, of one reading of the data."""
    return {sample.id: sample for sample in samples_of(evaluation) if sample.id in ids} if ids else {}


def _compared(
    name: str, sides: Sequence[Side], changed: _Changes, most: int, read: Sequence[Mapping[str, Sample]]
) -> dict[str, Any]:
    """Return everything there is to say about one metric, with the first *most* changes."""
    columns = [side.result.metrics[name] for side in sides]
    infos = [column.info for column in columns]
    judged = [info.judged for info in infos]
    planned = [side.plan.column(name) for side in sides]
    conventions = _conventions(planned, judged, [side.plan.profile for side in sides])
    shown, tried = list(changed)[:most], list(changed)[: max(most, _TRIED)]
    applying = _applying(name, sides, conventions, tried, read)
    causes = Counter(cause for sample_id in tried for cause in applying[sample_id])
    gained = Counter(second for first, second in changed.values() if first is None and second is not None)
    return {
        "metric": name,
        "means": [column.mean for column in columns],
        "counts": [column.n for column in columns],
        "expressions": [info.expression for info in infos],
        "fingerprints": [info.fingerprint for info in infos],
        "judged": judged,
        "conventions": [{"name": convention.name, "values": list(convention.values)} for convention in conventions],
        "changed": len(changed),
        "tried": len(tried),
        "causes": [{"name": each.name, "samples": causes[each.name]} for each in conventions if causes[each.name]],
        "count_only_there": [{"value": value, "samples": gained[value]} for value in sorted(gained)],
        "count_only_here": sum(second is None for _, second in changed.values()),
        "samples": [
            {
                "id": sample_id,
                "values": list(changed[sample_id]),
                "conventions": [each.name for each in conventions if each.name in applying[sample_id]],
                "facts": _facts(read[1].get(sample_id) or read[0].get(sample_id), judged[1]),
            }
            for sample_id in shown
        ],
    }


def _changed(name: str, sides: Sequence[Side]) -> _Changes:
    """Return the samples whose value differs."""
    first, second = (
        dict(zip(side.result.sample_ids, _plain(side.result.metrics[name].values), strict=True)) for side in sides
    )
    both = {sample_id: (first.get(sample_id), second.get(sample_id)) for sample_id in {**first, **second}}
    return {sample_id: values for sample_id, values in both.items() if not is_same(*values)}


def _applying(
    name: str,
    sides: Sequence[Side],
    conventions: Sequence[_Convention],
    shown: Sequence[str],
    read: Sequence[Mapping[str, Sample]],
) -> dict[str, set[str]]:
    """Return for each sample the names of the conventions that change its score alone."""
    applying: dict[str, set[str]] = {sample_id: set() for sample_id in shown}
    for number, side in enumerate(sides):
        profile = side.plan.profile
        samples = [read[number][sample_id] for sample_id in shown if sample_id in read[number]]
        if (base := _values(name, side, profile, samples)) is None:
            continue
        trials = [
            ({each.name}, each.adopt(profile, 1 - number), samples) for each in conventions if each.adopt is not None
        ]
        reread = [read[1 - number].get(sample.id, sample) for sample in samples]
        if reread != samples:
            trials.append(({each.name for each in conventions if each.adopt is None}, profile, reread))
        for names, adopted, tried in trials:
            other = _values(name, side, adopted, tried) or base
            for sample, before, after in zip(samples, base, other, strict=True):
                if not is_same(before, after):
                    applying[sample.id] |= names
    return applying


def _values(name: str, side: Side, profile: Profile, samples: Sequence[Sample]) -> list[float | None] | None:
    """Return the values of one metric for some samples under a profile; None if that refuses them."""
    try:
        plan = side.plan_under(profile)
        judged = side.result.metrics[name].info.judged.partition(" by ")[0]
        column = plan.column(name)
        # Against what the whole data was judged, whatever these few samples have.
        targets = tuple(target for target in column.targets if str(target).partition(" by ")[0] == judged)
        collector = Collector(dataclasses.replace(plan, metrics=(dataclasses.replace(column, targets=targets),)))
        collector.add(samples)
        scored = collector.finish(require_gold=False)
    except RankgaugeError:
        return None
    return _plain(scored.metrics[0].outcome.values)


def _facts(sample: Sample | None, judged: str) -> list[str]:
    """Return what about a sample conventions treat differently."""
    if sample is None:
        return ["it takes no part under one of the profiles"]
    facts = [] if sample.answerable else ["it is declared unanswerable"]
    kind = judged.partition(" ")[0]
    gold = getattr(sample.expected, kind, None)
    if not gold:
        facts.append(f"it has no gold of the kind {kind}")
    elif isinstance(gold, Mapping) and all(gain <= 0 for gain in gold.values()):
        facts.append("no gold item has a gain above 0")
    if sample.output is None:
        facts.append("it has no output")
    elif isinstance(sample.output, Fault):
        facts.append(f"its output is malformed: {sample.output.reason}")
    elif isinstance(sample.output, Output):
        repeated = [(item, times) for item, times in Counter(sample.output.ids).items() if times > 1 and item]
        facts += [f"{item!r} is retrieved {times} times" for item, times in repeated[:1]]
        if isinstance(gold, Mapping) and (lost := [item for item in gold if item not in set(sample.output.ids)]):
            facts.append(f"{len(lost)} of {len(gold)} gold items were not retrieved")
    return facts


def _plain(values: Floats) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


_Set = Callable[[Profile, str, Any], Profile]


@dataclass(frozen=True, slots=True)
class _Convention:
    """Something that two profiles do differently: its name and each one's value."""

    name: str
    values: tuple[str, str]
    adopt: Callable[[Profile, int], Profile] | None
    """Gives a profile the value of the first or the second one; None if the data would have to be read again."""


def _conventions(
    planned: Sequence[PlannedMetric], judged: Sequence[str], profiles: Sequence[Profile]
) -> list[_Convention]:
    """Return the conventions that differ for a metric, from each profile's plan of it and what it judged."""
    alias = planned[0].metric.alias

    def set_parameter(profile: Profile, name: str, value: Any) -> Profile:  # noqa: ANN401  # of any parameter
        changed = MappingProxyType({**profile.parameters.get(alias, {}), name: value})
        return dataclasses.replace(profile, parameters=MappingProxyType({**profile.parameters, alias: changed}))

    def all_of_them() -> Iterator[_Convention | None]:
        if planned[0].metric.alias == planned[1].metric.alias:
            for parameter in planned[0].metric.parameters:
                values = [column.params.get(parameter.name, parameter.default) for column in planned]
                yield _convention(parameter.name, values, set_parameter)
        else:  # a tool's measure may be another metric
            yield _convention("measure", [column.metric.alias for column in planned])
        yield _convention("aggregate", [column.metric.aggregate for column in planned])
        yield _convention("undefined", [column.overrides.undefined for column in planned], _set_undefined)
        yield _convention("missing", [column.overrides.missing for column in planned], _set_missing)
        yield _convention("score_above", [column.overrides.score_above for column in planned])
        matchers = [_matcher_of(column, target) for column, target in zip(planned, judged, strict=True)]
        if None in matchers:
            yield _convention("judged", judged)
        else:
            yield _convention("matcher", matchers, set_parameter) or _convention("judged", judged)
        policies, contracts = [each.policy for each in profiles], [each.contract for each in profiles]
        for option in dataclasses.fields(policies[0]):
            if option.name != "max_failed":
                values = [getattr(policy, option.name) for policy in policies]
                yield _convention(option.name, values, None if option.name == "queries" else _set_option)
        for name in ("relevance", "duplicate_texts", "missing_texts", "own_ranks"):
            yield _convention(name, [getattr(profile, name) for profile in profiles], _set_field)
        for name in contracts[0]._fields:
            yield _convention(name, [getattr(contract, name) for contract in contracts])

    return [convention for convention in all_of_them() if convention is not None]


def _convention(name: str, values: Sequence[Any], change: _Set | None = None) -> _Convention | None:
    """Return a convention if its values differ; *change* sets it in a profile."""
    first, second = values
    if first == second:
        return None
    adopt = None if change is None else lambda profile, side: change(profile, name, values[side])
    return _Convention(name, (option_text(first), option_text(second)), adopt)


def _set_option(profile: Profile, name: str, value: Any) -> Profile:  # noqa: ANN401  # of any option
    return profile.adapted({name: value})


def _set_undefined(profile: Profile, _: str, value: float | None) -> Profile:
    """Return a profile that counts samples without ground truth as a tool counts what is undefined."""
    rules = {None: "undefined", 0.0: "zero", 1.0: "one"}
    return profile.adapted({"no_gold": rules[value]}) if value in rules else profile


def _set_missing(profile: Profile, _: str, value: str | None) -> Profile:
    return profile if value is None else profile.adapted({"missing_output": value})


def _set_field(profile: Profile, name: str, value: Any) -> Profile:  # noqa: ANN401  # of any field
    return dataclasses.replace(profile, **{name: value})


def _matcher_of(column: PlannedMetric, judged: str) -> str | None:
    for target, matcher in column.matchers.items():
        if str(target) == judged:
            return matcher.name or str(matcher.matcher)
    return None
