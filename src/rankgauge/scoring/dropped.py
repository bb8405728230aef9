"""
What a policy leaves out of a ranking before it is cut: how many results, and at which rank missing gold items stood.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from rankgauge.catalog import ResolvedMatcher
from rankgauge.columns import Judged
from rankgauge.errors import counted
from rankgauge.judging import Keep, Target, judge
from rankgauge.judging.filtered import dropped_of
from rankgauge.judging.outputs import Ranking
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.policy import Policy
from rankgauge.samples import Output, Sample
from rankgauge.scoring.facts import MissingGold, gold_names

__all__ = ["Dropped", "dropped_gold", "dropped_notes", "drops", "with_dropped"]


class Dropped(NamedTuple):
    """A result that a policy drops, and that holds a gold item which no other finds."""

    rank: int  # in the ranking before anything was dropped
    step: str  # what drops it, such as ``policy depth=10``


class _Whole(NamedTuple):
    """A sample with everything that was retrieved for it, and what a policy drops of that."""

    sample: Sample
    steps: Mapping[int, str]  # by the place of a result, the step that drops it


def dropped_notes(sample: Sample, policy: Policy) -> Iterator[str]:
    """Yield how many results each step of a policy drops."""
    whole = _whole(sample, policy)
    if whole is None:
        return
    for step, count in Counter(whole.steps.values()).items():
        yield f"{step} drops {count:,} of {counted(len(_ids(whole.sample)), 'result')}"


def drops(policy: Policy) -> bool:
    """Return whether a policy may leave out results, whatever is retrieved."""
    cuts = policy.exclude_self or policy.depth is not None
    return bool(policy.filters) or policy.excluded is not None or cuts


def with_dropped(
    plan: Plan,
    column: PlannedMetric,
    target: Target,
    samples: Sequence[Sample],
    missing: Sequence[Sequence[MissingGold]],
) -> list[tuple[MissingGold, ...]]:
    """Return the missing gold items of some samples, with the rank that each had before a step dropped its result."""
    found = list(map(tuple, missing))
    wanted = [place for place, gold in enumerate(missing) if any(each.rank is None for each in gold)]
    chosen = [samples[place] for place in wanted]
    lost = dropped_gold(plan, target, column.matchers.get(target), chosen)
    for place, sample, gold in zip(wanted, chosen, lost, strict=False):
        names = gold_names(target.staged(sample), target._replace(stage=None)) if gold else ()
        by_name = {names[at]: each for at, each in gold.items()}
        found[place] = tuple(_explained(each, by_name.get(each.id)) for each in missing[place])
    return found


def dropped_gold(
    plan: Plan, target: Target, matcher: ResolvedMatcher | None, samples: Sequence[Sample]
) -> list[dict[int, Dropped]]:
    """
    Return for each sample its gold items that a dropped result holds, by their places in the ground truth, from 0.

    An item that is found in spite of it is among them, too. Nothing is returned for a policy that drops nothing.
    """
    policy = plan.profile.policy
    if not drops(policy) or target.judges == "answer":
        return []
    judged = target._replace(stage=None)
    wholes = {
        place: whole
        for place, sample in enumerate(map(target.staged, samples))
        if (whole := _whole(sample, policy)) is not None
    }
    everything = plan.profile.adapted({"exclude_self": False, "depth": None, "judged_only": False})
    given = [whole.sample for whole in wholes.values()]
    evidence = judge(given, judged, everything, matcher, keep=Keep(rankings=True))
    found: list[dict[int, Dropped]] = [{} for _ in samples]
    for at, (place, whole) in enumerate(wholes.items()):
        ranking = evidence.kept.rankings[at]
        if isinstance(ranking, Ranking):
            steps = list(_steps(whole, ranking, judged, policy))
            for gold, ranks in _holding(evidence.judged, at).items():
                rank = next((rank for rank in ranks if steps[rank - 1]), None)
                if rank is not None:
                    found[place][gold] = Dropped(rank, steps[rank - 1])
    return found


def _whole(sample: Sample, policy: Policy) -> _Whole | None:
    """Return a sample with everything that was retrieved; None if that is not known."""
    output = sample.output
    if not isinstance(output, Output):
        return None
    whole = output if output.whole is None else output.whole
    if output.places is None:  # they are not taken
        whole = whole._replace(places=None)
    given = sample._replace(output=whole)
    return _Whole(given, {} if output.whole is None else dropped_of(given, policy))


def _ids(sample: Sample) -> Sequence[str | None]:
    return sample.output.ids if isinstance(sample.output, Output) else ()


def _holding(judged: Judged, sample: int) -> dict[int, list[int]]:
    """Return the ranks that hold each gold item of a sample, numbered as it is named, down to the one that finds it."""
    first = judged.finds()
    of_sample = first.sample == sample
    found = dict(zip(first.gold[of_sample].tolist(), first.rank[of_sample].tolist(), strict=True))
    table = judged.rows if judged.parts is None else judged.parts
    own = table.sample == sample
    pairs = {*zip(table.gold[own].tolist(), table.rank[own].tolist(), strict=True), *found.items()}
    held: dict[int, list[int]] = {}
    for gold, rank in sorted(pairs):
        if gold in found and rank <= found[gold]:
            held.setdefault(int(judged.gold.rank[gold]) - 1, []).append(rank)
    return held


def _steps(whole: _Whole, ranking: Ranking, target: Target, policy: Policy) -> Iterator[str]:
    """Yield the step that drops the result at each rank; empty if none does."""
    own = policy.exclude_self
    ids = _ids(target.rolled(whole.sample))
    n_left = 0
    for rank in range(1, len(ranking.ids) + 1):
        entry = ranking.entry(rank)
        step = whole.steps.get(entry) or ("policy exclude_self" if own and ids[entry] == whole.sample.id else "")
        n_left += not step
        is_deep = not step and policy.depth is not None and n_left > policy.depth
        yield f"policy depth={policy.depth}" if is_deep else step


def _explained(gold: MissingGold, dropped: Dropped | None) -> MissingGold:
    """Return a missing gold item with the result that was dropped, unless it is found below the cutoff."""
    if gold.rank is not None or dropped is None:
        return gold
    return replace(gold, retrieved_rank=dropped.rank, dropped_by=dropped.step)
