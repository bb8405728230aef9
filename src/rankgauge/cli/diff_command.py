"""
`rankgauge metrics diff`: one data file under two profiles, metric by metric, and why their numbers differ.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rankgauge.cli.console import print_answer, remark
from rankgauge.cli.conventions import described, make_engine
from rankgauge.engine.engine import Engine
from rankgauge.engine.evaluation import Evaluation
from rankgauge.engine.profile_differences import Side, differences, samples_of
from rankgauge.errors import NothingToEvaluateError, ParameterError, PlanError, RankgaugeError, counted
from rankgauge.samples import GOLD_KINDS, Output


def execute_diff(given: argparse.Namespace) -> int:
    """Print how two profiles differ on a data file."""
    if len(given.profile) != 2:
        given_profiles = f"{len(given.profile)} given"
        raise ParameterError(f"give --profile twice, such as --profile remem --profile default; {given_profiles}")

    engine = make_engine(given.config)
    wanted = given.metric or _fitting(engine, given)
    sides = [_scored(_evaluation(engine, given, name, wanted), name) for name in given.profile]
    metrics = differences(sides, most=given.samples)
    first, second = (counted(len(side.result), "sample") for side in sides)
    samples = first if first == second else f"{first} and {second}"
    lines = [f"{given.data}: {samples}, profiles {' and '.join(given.profile)}"]
    for metric in metrics:
        lines += ["", *_printed(metric, given.profile)]
    facts = {"data": str(given.data), "profiles": given.profile, "metrics": metrics}
    return print_answer(given, facts, "\n".join(lines))


def _fitting(engine: Engine, given: argparse.Namespace) -> list[str]:
    """Return the aliases of the metrics that some sample has both ground truth and output for."""
    kinds: set[str] = set()
    texts = answers = support = places = False
    for sample in samples_of(_evaluation(engine, given, "default", ["retrieval-mrr"])):
        kinds.update(kind for kind in GOLD_KINDS if getattr(sample.expected, kind))
        if isinstance(sample.output, Output):
            texts = texts or sample.output.texts is not None
            places = places or sample.output.places is not None
            answers = answers or sample.output.answer is not None
            support = support or sample.output.support is not None
    if not support:
        kinds.discard("nuggets")
    usable = {
        "retrieved": kinds if texts else kinds & {"relevant", "sets", *(["spans"] if places else [])},
        "answer": kinds if answers else set(),
    }
    fitting = [
        alias
        for alias, claim in engine.catalog.metrics.items()
        if usable[(metric := claim.declaration).judging.judges].intersection(metric.gold)
        and _is_usable(engine, given, alias)
    ]
    if not fitting:
        raise NothingToEvaluateError(f"{given.data} has ground truth for no metric; name some with -m", [])
    return fitting


def _is_usable(engine: Engine, given: argparse.Namespace, alias: str) -> bool:
    """Return whether a metric that nobody named can be planned; if not, say so and go on without it."""
    try:
        _evaluation(engine, given, "default", [alias]).plan()
    except PlanError as error:
        remark(f"left out: {error.problems[0].message}")
        return False
    return True


def _evaluation(engine: Engine, given: argparse.Namespace, profile: str, metrics: Sequence[str]) -> Evaluation:

    # A lock holds runs to one meaning; here two are compared on purpose.
    evaluation = replace(engine.dataset(given.data), lock=None).with_profile(profile).with_metrics(metrics)
    evaluation = described(evaluation, given)
    if given.k is not None:
        evaluation = evaluation.with_defaults(k=given.k, source="--k")
    return evaluation if given.outputs is None else evaluation.with_outputs(given.outputs)


def _scored(evaluation: Evaluation, profile: str) -> Side:
    """Return the side of a profile; its name goes before whatever is wrong."""
    try:
        return Side(evaluation, evaluation.plan(), evaluation.run())
    except RankgaugeError:
        remark(f"under the profile {profile}:")
        raise


def _printed(difference: Mapping[str, Any], profiles: Sequence[str]) -> list[str]:
    width = max(map(len, profiles))
    lines = [difference["metric"]]
    for place, profile in enumerate(profiles):
        mean = _shown(difference["means"][place])
        lines.append(
            f"  {profile:{width}}  {mean}  n={difference['counts'][place]:,}  {difference['expressions'][place]}"
        )
    differing = "; ".join(
        f"{convention['name']} {' / '.join(convention['values'])}" for convention in difference["conventions"]
    )
    first, second = difference["fingerprints"]
    unnamed = "none" if first == second else f"none by name, but the definitions do (fingerprints {first} and {second})"
    lines.append(f"  conventions that differ: {differing or unnamed}")
    if not difference["changed"]:
        return [*lines, "  no sample changes"]
    lines.append(f"  {counted(difference['changed'], 'sample changes', 'samples change')}")
    for sample in difference["samples"]:
        why = ", ".join(sample["conventions"]) or "several conventions together"
        facts = f" ({'; '.join(sample['facts'])})" if sample["facts"] else ""
        first, second = map(_shown, sample["values"])
        lines.append(f"    {sample['id']}: {first} / {second}  {why}{facts}")
    return lines


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"
