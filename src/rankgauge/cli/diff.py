"""
`rankgauge metrics diff`: one data file under two profiles, metric by metric, and why their numbers differ.

Which conventions apply to a sample is found out, not guessed: the sample is scored again with each convention alone
taken over from the other profile, in both directions; where that changes its score, the convention applies.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankgauge.cli.console import remark
from rankgauge.cli.conventions import Convention, conventions_of
from rankgauge.cli.options import make_engine

if TYPE_CHECKING:
    from rankgauge.engine.engine import Engine
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.planning.plan import Plan
    from rankgauge.policy import Profile
    from rankgauge.result import Result
    from rankgauge.samples import Sample

__all__ = ["HELP", "diff_metrics"]

HELP = """\
Score one data file under two profiles (--profile, twice), and print for each metric both means, the conventions that
differ, and the first samples whose value changes, with both values and the conventions that apply to them.

Without -m: every metric that the data has ground truth for. The exit code is 0, whether they differ or not.
"""

_SAME = 1e-12

# A sample's id, and its value under each profile.
_Change = tuple[str, float | None, float | None]


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two evaluations, with what came out."""

    evaluation: Evaluation
    plan: Plan
    result: Result


def diff_metrics(
    data: Annotated[Path, typer.Argument(help="The data file.", show_default=False)],
    *,
    profile: Annotated[list[str], typer.Option(help="A profile; give two.", show_default=False)],
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", help="A metric, such as ndcg@10 or recall@1,5,10.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A config file whose matchers are known, too.", show_default=False)
    ] = None,
    k: Annotated[int | None, typer.Option(help="Default cutoff, used when a metric has none.")] = None,
    outputs: Annotated[Path | None, typer.Option(help="A file with the outputs to score.")] = None,
    samples: Annotated[int, typer.Option(min=0, help="How many changed samples to show for each metric.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare; see `HELP`."""
    if len(profile) != 2:
        msg = f"give --profile twice, such as --profile remem --profile default; {len(profile)} given"
        raise typer.BadParameter(msg)
    engine = make_engine(config)
    wanted = metric or _fitting(engine, data, outputs)
    evaluations = [_evaluation(engine, data, name, wanted, k, outputs) for name in profile]
    sides = [_ran(evaluation, name) for evaluation, name in zip(evaluations, profile, strict=True)]
    changed = {name: _changed(name, sides) for name in sides[0].result.metrics}
    shown = {sample_id for each in changed.values() for sample_id, _, _ in each[:samples]}
    read = [_read(side.evaluation, shown) for side in sides]
    found = [_compared(name, sides, each, each[:samples], read) for name, each in changed.items()]
    if as_json:
        import orjson

        report = {"data": str(data), "profiles": profile, "metrics": found}
        typer.echo(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode())
        return
    counts = [len(side.result) for side in sides]
    told = f"{counts[0]:,}" if counts[0] == counts[1] else f"{counts[0]:,} and {counts[1]:,}"
    lines = [f"{data}: {told} samples, profiles {profile[0]} and {profile[1]}"]
    for each in found:
        lines += ["", *_printed(each, profile)]
    typer.echo("\n".join(lines))


def _fitting(engine: Engine, data: Path, outputs: Path | None) -> list[str]:
    """Return the aliases of the metrics that some sample has both ground truth and output for."""
    from rankgauge.errors import NothingToEvaluateError
    from rankgauge.samples import GOLD_KINDS, Output

    kinds: set[str] = set()
    texts = answers = False
    for sample in _samples(_evaluation(engine, data, "default", ["retrieval-mrr"], None, outputs)):
        kinds.update(kind for kind in GOLD_KINDS if getattr(sample.expected, kind))
        if isinstance(sample.output, Output):
            texts = texts or sample.output.texts is not None
            answers = answers or sample.output.answer is not None
    usable = kinds if texts else kinds & {"relevant"}
    fitting = [
        alias
        for alias, claim in engine.catalog.metrics.items()
        if (usable if claim.declaration.judges == "retrieved" else kinds if answers else set())
        & set(claim.declaration.gold)
    ]
    fitting = [alias for alias in fitting if _is_usable(engine, data, alias)]
    if not fitting:
        msg = f"{data} has ground truth for no metric; name some with -m"
        raise NothingToEvaluateError(msg, [])
    return fitting


def _is_usable(engine: Engine, data: Path, alias: str) -> bool:
    """Return whether a metric that nobody named can be planned; say so when it cannot, and go on without it."""
    from rankgauge.errors import PlanError

    try:
        _evaluation(engine, data, "default", [alias], None, None).plan()
    except PlanError as error:
        remark(f"left out: {error.problems[0].message}")
        return False
    return True


def _evaluation(
    engine: Engine, data: Path, profile: str | Profile, metrics: Sequence[str], k: int | None, outputs: Path | None
) -> Evaluation:
    # A lock holds runs to one meaning; here two are compared on purpose.
    evaluation = dataclasses.replace(engine.dataset(data), lock=None).with_policy(profile).with_metrics(metrics)
    if k is not None:
        evaluation = evaluation.with_defaults(k=k, source="--k")
    return evaluation if outputs is None else evaluation.with_outputs(outputs)


def _ran(evaluation: Evaluation, profile: str) -> _Side:
    from rankgauge.errors import RankgaugeError

    try:
        return _Side(evaluation, evaluation.plan(), evaluation.run())
    except RankgaugeError:
        remark(f"under the profile {profile}:")
        raise


def _samples(evaluation: Evaluation) -> Iterator[Sample]:
    """Yield the samples as an evaluation reads them, with their outputs."""
    from rankgauge.engine.job import Job

    job = Job(evaluation.plan(), evaluation.data, details=False, limit=None, batch_size=4096)
    return (sample for batch in job.batches(4096) for sample in batch)


def _read(evaluation: Evaluation, ids: Collection[str]) -> dict[str, Sample]:
    """Return the samples with some ids, of one reading of the data."""
    return {sample.id: sample for sample in _samples(evaluation) if sample.id in ids} if ids else {}


def _compared(
    name: str,
    sides: Sequence[_Side],
    changed: Sequence[_Change],
    shown: Sequence[_Change],
    read: Sequence[Mapping[str, Sample]],
) -> dict[str, Any]:
    """Return everything there is to say about one metric."""
    columns = [side.result.metrics[name] for side in sides]
    planned = [next(column for column in side.plan.metrics if column.name == name) for side in sides]
    conventions = conventions_of(
        planned, [column.info.judged for column in columns], [side.plan.profile for side in sides]
    )
    reasons = _reasons(name, sides, conventions, [sample_id for sample_id, _, _ in shown], read) if shown else {}
    return {
        "metric": name,
        "means": [column.mean for column in columns],
        "counts": [column.n for column in columns],
        "expressions": [column.info.expression for column in columns],
        "fingerprints": [column.info.fingerprint for column in columns],
        "judged": [column.info.judged for column in columns],
        "conventions": [{"name": convention.name, "values": list(convention.values)} for convention in conventions],
        "changed": len(changed),
        "samples": [
            {"id": sample_id, "values": [first, second], **reasons[sample_id]} for sample_id, first, second in shown
        ],
    }


def _changed(name: str, sides: Sequence[_Side]) -> list[_Change]:
    """Return the samples whose value differs, with both values; None for a sample that does not count."""
    first, second = (
        dict(zip(side.result.sample_ids, side.result.metrics[name].values.tolist(), strict=True)) for side in sides
    )
    found = []
    for sample_id in dict.fromkeys((*first, *second)):
        values = (_plain(first.get(sample_id)), _plain(second.get(sample_id)))
        if not _same(*values):
            found.append((sample_id, *values))
    return found


def _reasons(
    name: str,
    sides: Sequence[_Side],
    conventions: Sequence[Convention],
    shown: Sequence[str],
    read: Sequence[Mapping[str, Sample]],
) -> dict[str, dict[str, Any]]:
    """Return for each sample which conventions change its score, and what is special about it."""
    found: dict[str, dict[str, Any]] = {}
    applying: dict[str, list[str]] = {sample_id: [] for sample_id in shown}
    for own, side in enumerate(sides):
        samples = [read[own][sample_id] for sample_id in shown if sample_id in read[own]]
        base = _values(name, side, side.plan.profile, samples)
        for convention in conventions:
            if convention.adopt is None or base is None:
                continue
            other = _values(name, side, convention.adopt(side.plan.profile, 1 - own), samples)
            for sample, before, after in zip(samples, base, other or base, strict=True):
                if not _same(before, after) and convention.name not in applying[sample.id]:
                    applying[sample.id].append(convention.name)
        reread = [read[1 - own].get(sample.id, sample) for sample in samples]
        other = _values(name, side, side.plan.profile, reread) if reread != samples else None
        for sample, before, after in zip(samples, base or (), other or base or (), strict=True):
            if not _same(before, after):
                applying[sample.id] += [each.name for each in conventions if each.adopt is None]
    for sample_id in shown:
        versions = [by_id.get(sample_id) for by_id in read]
        names = [convention.name for convention in conventions if convention.name in applying[sample_id]]
        facts = _facts(versions[1] or versions[0], sides[1].result.metrics[name].info.judged)
        found[sample_id] = {"conventions": names, "facts": facts}
    return found


def _values(name: str, side: _Side, profile: Profile, samples: Sequence[Sample]) -> list[float | None] | None:
    """Return the values of one metric for some samples under a profile; None where that refuses them."""
    from rankgauge.errors import RankgaugeError
    from rankgauge.scoring.collect import Collector

    try:
        plan = side.evaluation.with_policy(profile).plan()
        judged = side.result.metrics[name].info.judged.partition(" by ")[0]
        column = next(each for each in plan.metrics if each.name == name)
        # Against what the whole data was judged, whatever these few samples have.
        targets = tuple(target for target in column.targets if str(target).partition(" by ")[0] == judged)
        column = dataclasses.replace(column, targets=targets)
        collector = Collector(dataclasses.replace(plan, metrics=(column,)))
        collector.add(samples)
        scored = collector.finish(require_gold=False)
    except RankgaugeError:
        return None
    return [_plain(value) for value in scored.metrics[0].outcome.values.tolist()]


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
    lines.append(f"  {found['changed']:,} sample{'s change' if found['changed'] > 1 else ' changes'}")
    for sample in found["samples"]:
        why = ", ".join(sample["conventions"]) or "several conventions together"
        facts = f" ({'; '.join(sample['facts'])})" if sample["facts"] else ""
        first, second = map(_shown, sample["values"])
        lines.append(f"    {sample['id']}: {first} / {second}  {why}{facts}")
    return lines


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"


def _plain(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=_SAME, abs_tol=_SAME)
