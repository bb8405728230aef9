"""
`rankgauge metrics diff`: one data file under two profiles, metric by metric, and why their numbers differ.

Which conventions apply to a sample is tried out, not guessed: the sample is scored again with each convention alone
taken from the other profile, in both directions; where that changes its score, the convention applies.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankgauge.cli.console import echo, print_json, remark
from rankgauge.cli.conventions import Convention, conventions_of
from rankgauge.cli.options import PROFILE_HELP, field_map, make_engine
from rankgauge.cli.typed import CUTOFF, FIELD, JSON, METRICS, OUTPUTS, taking
from rankgauge.errors import ParameterError, RankgaugeError, counted

if TYPE_CHECKING:
    from rankgauge.columns import Floats
    from rankgauge.engine.engine import Engine
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.engine.result import Result
    from rankgauge.planning.plan import Plan
    from rankgauge.policy import Profile
    from rankgauge.samples import Sample

__all__ = ["HELP", "diff_metrics"]

HELP = """\
Compare two profiles on one data file.

For each metric: both means, the conventions that differ, and the first samples whose value changes, with both values
and the conventions that change them. Without -m: every metric that the data has ground truth for. The exit code is 0,
whether they differ or not.
"""

_SAME = 1e-12

_Changes = dict[str, tuple[float | None, float | None]]
"""Both values of each sample where they differ; None where it does not count."""


@dataclass(frozen=True, slots=True)
class _Side:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """What was typed."""

    data: Annotated[Path, typer.Argument(help="The data file.", show_default=False)]
    profile: Annotated[list[str], typer.Option(metavar="NAME", help=f"{PROFILE_HELP} Give two.", show_default=False)]
    field: Annotated[list[str] | None, FIELD] = None
    metric: Annotated[list[str] | None, METRICS] = None
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A config file that declares matchers.", show_default=False)
    ] = None
    k: Annotated[int | None, CUTOFF] = None
    outputs: Annotated[Path | None, OUTPUTS] = None
    samples: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many changed samples to show for each metric.")
    ] = 5
    as_json: Annotated[bool, JSON] = False


@taking(_Options)
def diff_metrics(options: _Options) -> None:
    """Compare; see `HELP`."""
    data, profiles = options.data, options.profile
    if len(profiles) != 2:
        msg = f"give --profile twice, such as --profile remem --profile default; {len(profiles)} given"
        raise ParameterError(msg)
    engine = make_engine(options.config)
    wanted = options.metric or _fitting(engine, options)
    evaluations = [_evaluation(engine, options, name, wanted) for name in profiles]
    sides = [_ran(evaluation, name) for evaluation, name in zip(evaluations, profiles, strict=True)]
    changed = {name: _changed(name, sides) for name in sides[0].result.metrics}
    shown = {sample_id for changes in changed.values() for sample_id in list(changes)[: options.samples]}
    read = [_read(side.evaluation, shown) for side in sides]
    found = [_compared(name, sides, changes, options.samples, read) for name, changes in changed.items()]
    if options.as_json:
        print_json({"data": str(data), "profiles": profiles, "metrics": found})
        return
    first, second = (counted(len(side.result), "sample") for side in sides)
    lines = [f"{data}: {first if first == second else f'{first} and {second}'}, profiles {' and '.join(profiles)}"]
    for each in found:
        lines += ["", *_printed(each, profiles)]
    echo("\n".join(lines))


def _fitting(engine: Engine, options: _Options) -> list[str]:
    """Return the aliases of the metrics that some sample has both ground truth and output for."""
    from rankgauge.errors import NothingToEvaluateError
    from rankgauge.samples import GOLD_KINDS, Output

    kinds: set[str] = set()
    texts = answers = support = False
    for sample in _samples(_evaluation(engine, options, "default", ["retrieval-mrr"])):
        kinds.update(kind for kind in GOLD_KINDS if getattr(sample.expected, kind))
        if isinstance(sample.output, Output):
            texts = texts or sample.output.texts is not None
            answers = answers or sample.output.answer is not None
            support = support or sample.output.support is not None
    if not support:
        kinds.discard("nuggets")
    usable = {"retrieved": kinds if texts else kinds & {"relevant"}, "answer": kinds if answers else set()}
    fitting = [
        alias
        for alias, claim in engine.catalog.metrics.items()
        if usable[claim.declaration.judging.judges].intersection(claim.declaration.judging.gold)
        and _is_usable(engine, options, alias)
    ]
    if not fitting:
        msg = f"{options.data} has ground truth for no metric; name some with -m"
        raise NothingToEvaluateError(msg, [])
    return fitting


def _is_usable(engine: Engine, options: _Options, alias: str) -> bool:
    """Return whether a metric that nobody named can be planned; if not, say so and go on without it."""
    from rankgauge.errors import PlanError

    try:
        _evaluation(engine, options, "default", [alias]).plan()
    except PlanError as error:
        remark(f"left out: {error.problems[0].message}")
        return False
    return True


def _evaluation(engine: Engine, options: _Options, profile: str, metrics: Sequence[str]) -> Evaluation:
    # A lock holds runs to one meaning; here two are compared on purpose.
    evaluation = (
        dataclasses.replace(engine.dataset(options.data), lock=None).with_profile(profile).with_metrics(metrics)
    )
    evaluation = evaluation.with_fields(field_map(options.field))
    if options.k is not None:
        evaluation = evaluation.with_defaults(k=options.k, source="--k")
    return evaluation if options.outputs is None else evaluation.with_outputs(options.outputs)


def _ran(evaluation: Evaluation, profile: str) -> _Side:
    try:
        return _Side(evaluation, evaluation.plan(), evaluation.run())
    except RankgaugeError:
        remark(f"under the profile {profile}:")
        raise


def _samples(evaluation: Evaluation) -> Iterator[Sample]:
    """Yield the samples as an evaluation reads them, with their outputs."""
    from rankgauge.engine.job import Job, RunOptions
    from rankgauge.result import ResultValues

    return Job(evaluation.plan(), evaluation.data, RunOptions(), results=ResultValues).read()


def _read(evaluation: Evaluation, ids: Collection[str]) -> dict[str, Sample]:
    """Return the samples with some ids, of one reading of the data."""
    return {sample.id: sample for sample in _samples(evaluation) if sample.id in ids} if ids else {}


def _compared(
    name: str, sides: Sequence[_Side], changed: _Changes, most: int, read: Sequence[Mapping[str, Sample]]
) -> dict[str, Any]:
    """Return everything there is to say about one metric, with reasons for the first *most* changes."""
    columns = [side.result.metrics[name] for side in sides]
    infos = [column.info for column in columns]
    judged = [info.judged for info in infos]
    planned = [next(column for column in side.plan.metrics if column.name == name) for side in sides]
    conventions = conventions_of(planned, judged, [side.plan.profile for side in sides])
    shown = list(changed)[:most]
    applying = _applying(name, sides, conventions, shown, read)
    return {
        "metric": name,
        "means": [column.mean for column in columns],
        "counts": [column.n for column in columns],
        "expressions": [info.expression for info in infos],
        "fingerprints": [info.fingerprint for info in infos],
        "judged": judged,
        "conventions": [{"name": convention.name, "values": list(convention.values)} for convention in conventions],
        "changed": len(changed),
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


def _changed(name: str, sides: Sequence[_Side]) -> _Changes:
    """Return the samples whose value differs."""
    first, second = (
        dict(zip(side.result.sample_ids, _plain(side.result.metrics[name].values), strict=True)) for side in sides
    )
    both = {sample_id: (first.get(sample_id), second.get(sample_id)) for sample_id in {**first, **second}}
    return {sample_id: values for sample_id, values in both.items() if not _same(*values)}


def _applying(
    name: str,
    sides: Sequence[_Side],
    conventions: Sequence[Convention],
    shown: Sequence[str],
    read: Sequence[Mapping[str, Sample]],
) -> dict[str, set[str]]:
    """Return for each sample the names of the conventions that change its score alone."""
    found: dict[str, set[str]] = {sample_id: set() for sample_id in shown}
    for own, side in enumerate(sides):
        profile = side.plan.profile
        samples = [read[own][sample_id] for sample_id in shown if sample_id in read[own]]
        if (base := _values(name, side, profile, samples)) is None:
            continue
        trials = [
            ({each.name}, each.adopt(profile, 1 - own), samples) for each in conventions if each.adopt is not None
        ]
        reread = [read[1 - own].get(sample.id, sample) for sample in samples]
        if reread != samples:
            trials.append(({each.name for each in conventions if each.adopt is None}, profile, reread))
        for names, adopted, tried in trials:
            other = _values(name, side, adopted, tried) or base
            for sample, before, after in zip(samples, base, other, strict=True):
                if not _same(before, after):
                    found[sample.id] |= names
    return found


def _values(name: str, side: _Side, profile: Profile, samples: Sequence[Sample]) -> list[float | None] | None:
    """Return the values of one metric for some samples under a profile; None where that refuses them."""
    from rankgauge.scoring.collect import Collector

    try:
        plan = side.plan_under(profile)
        judged = side.result.metrics[name].info.judged.partition(" by ")[0]
        column = next(each for each in plan.metrics if each.name == name)
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
    from rankgauge.samples import Fault, Output

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


def _printed(found: Mapping[str, Any], profiles: Sequence[str]) -> list[str]:
    width = max(map(len, profiles))
    lines = [found["metric"]]
    for place, profile in enumerate(profiles):
        mean = _shown(found["means"][place])
        lines.append(f"  {profile:{width}}  {mean}  n={found['counts'][place]:,}  {found['expressions'][place]}")
    differing = "; ".join(f"{each['name']} {' / '.join(each['values'])}" for each in found["conventions"])
    first, second = found["fingerprints"]
    unnamed = "none" if first == second else f"none by name, but the definitions do (fingerprints {first} and {second})"
    lines.append(f"  conventions that differ: {differing or unnamed}")
    if not found["changed"]:
        return [*lines, "  no sample changes"]
    lines.append(f"  {counted(found['changed'], 'sample changes', 'samples change')}")
    for sample in found["samples"]:
        why = ", ".join(sample["conventions"]) or "several conventions together"
        facts = f" ({'; '.join(sample['facts'])})" if sample["facts"] else ""
        first, second = map(_shown, sample["values"])
        lines.append(f"    {sample['id']}: {first} / {second}  {why}{facts}")
    return lines


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"


def _plain(values: Floats) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def _same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=_SAME, abs_tol=_SAME)
