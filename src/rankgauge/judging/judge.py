"""
Judging: each sample's output, or a stage of it, against one kind of its ground truth; ids and labels are joined here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from types import MappingProxyType
from typing import cast

from rankgauge.catalog import ResolvedMatcher
from rankgauge.columns import encoded
from rankgauge.errors import did_you_mean
from rankgauge.judging.evidence import Evidence, IdsMet, Judge
from rankgauge.judging.judged_columns import JudgedLists
from rankgauge.judging.keeping import NOTHING, Keep, Keeper
from rankgauge.judging.outputs import Ranking, is_nameless, n_dropped, prepare, stands_as_given
from rankgauge.judging.ranking import JudgedBlock
from rankgauge.judging.target import BY_ID, Target
from rankgauge.judging.units import LOOKED_AT, met_as_parts, unit_rule
from rankgauge.policy import DEFAULT_CONTRACT, Profile
from rankgauge.samples import Expected, Fault, Nugget, Output, PlacedBlock, Sample
from rankgauge.samples.left_out import left_out

__all__ = ["IdJudge", "Judge", "StageJudge", "SupportJudge", "judge", "make_judge", "takes_blocks"]

_NOTHING: Mapping[str, float] = MappingProxyType({})


class IdJudge:
    """Judges a batch against its `relevant` gold."""

    def __init__(self, profile: Profile, *, unit: str | None = None, keep: Keep = NOTHING, looked: int = 0) -> None:
        self._rule = None if unit is None else unit_rule(unit)
        self._strict = None if self._rule is None else self._rule.checked(profile)
        self._profile = profile = profile if self._rule is None else self._rule.profile(profile)
        self._keeper = Keeper(keep, profile)
        self._lists = JudgedLists()
        self._faults: dict[int, str] = {}
        self._looks: tuple[str, str] | None = None
        self._parts: list[tuple[bool, ...]] = []
        self._to_look_at = LOOKED_AT - looked if self._rule is None else 0
        self._nameless: dict[int, int] = {}

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""
        lists = self._lists
        samples, prepared = self._prepared(samples)
        self._keeper.add(samples, prepared, judged="retrieved")
        for place, (sample, ranking) in enumerate(zip(samples, prepared, strict=True), len(lists.depth)):
            expected = sample.expected
            gold = expected.relevant or _NOTHING
            if isinstance(ranking, Fault):
                if gold:
                    self._faults[place] = ranking.reason
                ranking = None  # noqa: PLW2901  # what cannot be ranked is judged as if nothing were there
            ids = () if ranking is None else ranking.ids
            lists.depth.append(len(ids))
            lists.gold_count.append(len(gold))
            if expected.faults is not None and "relevant" in expected.faults:
                self._faults[place] = expected.faults["relevant"].reason
            if not gold:
                continue
            start = self._add_gold(place, expected, gold)
            if ranking is not None and ids:
                self._looks = self._looks or (ids[0] or "(no id)", next(iter(gold)))
                if None in ids:
                    self._nameless[place] = ids.index(None) + 1
                self._add_rows(place, ranking, gold, start)
                if not lists.row_sample:
                    self._look(ids, gold)

    def add_block(self, judged: JudgedBlock) -> None:
        """Take some more plain samples."""
        lists, found, first, more = self._lists, judged.found, len(self._lists.depth), judged.block.more
        starts = list(accumulate(judged.block.gold.counts, initial=len(lists.gold_grade))) if more else ()
        for place, expected in more.items():
            self._add_marks(first + place, starts[place], expected)
        lists.row_sample += (found.sample + first).tolist()
        lists.row_rank += found.rank.tolist()
        lists.row_gold += (found.gold + len(lists.gold_grade)).tolist()
        lists.gold_grade += judged.qrels.grades.tolist()
        lists.gold_count += judged.block.gold.counts
        lists.graded += [first + place for place in judged.block.graded]
        lists.depth += judged.depth.tolist()
        lists.n_dropped += sum(judged.block.retrieved.counts) - int(judged.depth.sum())
        if self._looks is None:
            self._looks = judged.looks
        if not lists.row_sample and len(self._parts) < self._to_look_at:
            for retrieved, gold in judged.both(self._to_look_at):
                self._look(retrieved, gold)

    def add_placed(self, block: PlacedBlock) -> None:
        """Judge some more samples, which have no relevant ids."""
        if self._rule is None and self._keeper.is_idle and is_nameless(block, self._profile.policy):
            self._lists.add_without_gold(block.counts)
        else:
            self.add(block.samples)

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        judged = self._lists.build(self._profile)
        return Evidence(
            self._keeper.shown_in(judged),
            self._faults,
            self._nameless,
            kept=self._keeper.kept(),
            ids=IdsMet(len(judged.rows.sample) > 0, self._looks, tuple(self._parts)),
            n_dropped=self._lists.n_dropped,
        )

    def _prepared(self, samples: Sequence[Sample]) -> tuple[Sequence[Sample], Sequence[Ranking | Fault | None]]:
        """Return the samples with the ids that are judged, and the ranking of each after policy."""
        if self._rule is None:
            prepared = prepare(samples, self._profile, by="id")
            self._lists.n_dropped += n_dropped(samples, prepared, self._profile, by="id")
            return samples, prepared
        rolled = [left_out(self._rule.sample(sample), self._profile.policy.excluded) for sample in samples]
        prepared = prepare(rolled, self._profile, by="id")
        if self._strict is not None:
            pairs = zip(prepare(samples, self._strict, by="id"), prepared, strict=True)
            prepared = [refused if isinstance(refused, Fault) else ranking for refused, ranking in pairs]
        return rolled, prepared

    def _look(self, retrieved: Sequence[str | None], gold: Iterable[str]) -> None:
        """Look whether ids that do not match are parts of documents, in the first samples only."""
        if len(self._parts) < self._to_look_at:
            self._parts.append(met_as_parts(retrieved, gold))

    def _add_gold(self, place: int, expected: Expected, gold: Mapping[str, float]) -> int:
        """Add a sample's ground truth; return the place of its first item in the batch."""
        lists = self._lists
        start = len(lists.gold_grade)
        lists.gold_grade += gold.values()
        if expected.graded:
            lists.graded.append(place)
        self._add_marks(place, start, expected)
        return start

    def _add_marks(self, place: int, start: int, expected: Expected) -> None:
        """Add what a sample's ground truth says of its items beside their gains."""
        lists, gold = self._lists, expected.relevant or ()
        if expected.intents is not None:
            lists.intents += [
                (start + at, place, encoded(name), expected.intents[name])
                for at, name in enumerate(gold)
                if name in expected.intents
            ]
        if expected.repeats is not None:
            lists.times |= {start + at: expected.repeats.get(name, 1) for at, name in enumerate(gold)}

    def _add_rows(self, place: int, ranking: Ranking, gold: Mapping[str, float], start: int) -> None:
        """Add one sample's judged rows, in order of rank."""
        lists, ids = self._lists, ranking.ids
        places: dict[str, int] | None = None
        at = 0
        for name in cast("Iterator[str]", filter(gold.__contains__, ids)):  # gold names no item without an id
            places = places or dict(zip(gold, range(start, start + len(gold)), strict=True))
            at = ids.index(name, at) + 1  # ids are in order of rank, and so are those that are found
            if ranking.repeated is not None and ranking.repeated[at - 1]:
                lists.row_idle.append(len(lists.row_sample))
            if ranking.ties is not None:
                lists.row_ties.append(ranking.ties[at - 1])
            lists.add_row(place, at, places[name])


_NO_SUPPORT = (
    "the output has no 'support', which says how far its answer supports each nugget; emit {'answer': '...', "
    "'support': {ID or text: 'support'}}, or look for nuggets in the answer: (matcher=keyword)"
)


class SupportJudge:
    """Judges a batch against its nuggets, by the support that each output comes with; the answer is rank 1."""

    def __init__(self, profile: Profile, *, keep: Keep = NOTHING) -> None:
        self._profile = profile
        self._keeper = Keeper(keep, profile)
        self._lists = JudgedLists()
        self._faults: dict[int, str] = {}

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""
        lists = self._lists
        outputs = [sample.output if isinstance(sample.output, Output) else None for sample in samples]
        answers = [None if output is None else Ranking((None,), (output.answer,)) for output in outputs]
        self._keeper.add(samples, answers, judged="answer")
        for place, (sample, output) in enumerate(zip(samples, outputs, strict=True), len(lists.depth)):
            nuggets = sample.expected.nuggets or ()
            start = len(lists.gold_grade)
            lists.depth.append(0 if output is None else 1)
            lists.gold_count.append(len(nuggets))
            lists.gold_grade += [nugget.weight for nugget in nuggets]
            if output is None or not nuggets:
                continue
            if output.support is None:
                self._faults[place] = _NO_SUPPORT
            elif unknown := _unknown(output.support, nuggets):
                self._faults[place] = unknown
            else:
                self._add_rows(place, output.support, nuggets, start)

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        judged = self._keeper.shown_in(self._lists.build(self._profile, own_ranks=True))
        return Evidence(judged, self._faults, kept=self._keeper.kept())

    def _add_rows(self, place: int, support: Mapping[str, float], nuggets: Sequence[Nugget], start: int) -> None:
        lists = self._lists
        for at, nugget in enumerate(nuggets):
            found = max(support.get(name, 0.0) for name in (nugget.id, nugget.text) if name is not None)
            if found:
                lists.add_row(place, 1, start + at)
                lists.row_score.append(found)


def _unknown(support: Mapping[str, float], nuggets: Sequence[Nugget]) -> str:
    """Return why the support cannot be that of these nuggets; empty if it can."""
    known = {name for nugget in nuggets for name in (nugget.id, nugget.text) if name is not None}
    for name in support:
        if name not in known:
            hint = did_you_mean(name, sorted(known))
            return f"the output's 'support' names {name!r}, which is no nugget of the ground truth{hint}"
    return ""


class StageJudge:
    """Hands what one stage retrieved to another judge; an output without that stage fails for its own sample."""

    def __init__(self, judge: Judge, target: Target) -> None:
        self._judge = judge
        self._target = target
        self._faults: dict[int, str] = {}
        self._n = 0

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""
        staged = list(map(self._target.staged, samples))
        for place, (sample, at_stage) in enumerate(zip(samples, staged, strict=True), self._n):
            if isinstance(sample.output, Output) and isinstance(at_stage.output, Fault):
                self._faults[place] = at_stage.output.reason
        self._n += len(samples)
        self._judge.add(staged)

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        return self._with_faults(self._judge.evidence())

    def _with_faults(self, evidence: Evidence) -> Evidence:
        without = set(evidence.without_gold)
        faults = {place: reason for place, reason in self._faults.items() if place not in without}
        others = None if evidence.without_places is None else self._with_faults(evidence.without_places)
        return replace(evidence, faults={**evidence.faults, **faults}, without_places=others)


def make_judge(
    target: Target, profile: Profile, matcher: ResolvedMatcher | None = None, *, keep: Keep = NOTHING, looked: int = 0
) -> Judge:
    """
    Make a judge for one batch; *matcher* is the one that the target names, None for a join; see `Doubts.looks`.

    What judges in other ways than by id is loaded where it is needed.
    """
    if target.stage is not None:
        whole = make_judge(target._replace(stage=None), profile, matcher, keep=keep, looked=looked)
        return StageJudge(whole, target)
    if target.gold == "sets":
        from rankgauge.judging.by_set import SetJudge

        return SetJudge(make_judge(target.of_items, profile, matcher, keep=keep, looked=looked), target, profile)
    if target.declared is not None and target.declared.judge is not None:
        from rankgauge.judging.by_declared import DeclaredJudge

        return DeclaredJudge(target, target.declared, profile, keep=keep)
    make = _by_id if matcher is None else _by_text
    return _MAKERS.get(target.gold, make)(target, profile, matcher, keep, looked)


def _by_id(target: Target, profile: Profile, _: ResolvedMatcher | None, keep: Keep, looked: int) -> Judge:
    return IdJudge(profile, unit=target.unit, keep=keep, looked=looked)


def _by_text(target: Target, profile: Profile, matcher: ResolvedMatcher | None, keep: Keep, looked: int) -> Judge:
    from rankgauge.judging.by_text import TextJudge

    return TextJudge(target, profile, _needed(matcher, target), keep=keep, looked=looked)


def _by_support(target: Target, profile: Profile, matcher: ResolvedMatcher | None, keep: Keep, looked: int) -> Judge:
    if matcher is None:
        return SupportJudge(profile, keep=keep)
    return _by_text(target, profile, matcher, keep, looked)


def _by_answerable(_: Target, profile: Profile, __: ResolvedMatcher | None, keep: Keep, ___: int) -> Judge:
    from rankgauge.judging.by_answerable import AnswerableJudge

    return AnswerableJudge(profile, keep=keep)


def _by_validity(_: Target, profile: Profile, __: ResolvedMatcher | None, keep: Keep, ___: int) -> Judge:
    from rankgauge.judging.by_validity import ValidityJudge

    return ValidityJudge(profile, keep=keep)


def _by_forbidden(target: Target, profile: Profile, matcher: ResolvedMatcher | None, keep: Keep, _: int) -> Judge:
    from rankgauge.judging.by_forbidden import ForbiddenJudge

    return ForbiddenJudge(profile, _needed(matcher, target), keep=keep)


def _by_span(target: Target, profile: Profile, _: ResolvedMatcher | None, keep: Keep, __: int) -> Judge:
    from rankgauge.judging.by_span import SpanJudge
    from rankgauge.judging.trusted_places import PlaceJudge

    return PlaceJudge(lambda: SpanJudge(profile, keep=keep, joint=target.joint), checks=profile.places == "checked")


def _needed(matcher: ResolvedMatcher | None, target: Target) -> ResolvedMatcher:
    if matcher is None:
        raise TypeError(f"judging {target.gold} needs a matcher")
    return matcher


_MAKERS: Mapping[str, Callable[[Target, Profile, ResolvedMatcher | None, Keep, int], Judge]] = {
    "nuggets": _by_support,
    "answerable": _by_answerable,
    "asked_at": _by_validity,
    "forbidden": _by_forbidden,
    "spans": _by_span,
}
"""What makes the judge of a kind of ground truth; the others are judged by text where there is a matcher, or by id."""


def takes_blocks(targets: Iterable[Sequence[Target]], profile: Profile) -> bool:
    """Return whether plain samples may be judged as blocks: by id first, under a policy that keeps order and items."""
    policy = profile.policy
    stays = stands_as_given(policy) and policy.excluded is None and not policy.filters
    is_plain = stays and policy.duplicates == "first" and profile.contract == DEFAULT_CONTRACT
    return is_plain and all(
        first == BY_ID and all(other.kind.takes_blocks for other in others) for first, *others in targets
    )


def judge(
    samples: Sequence[Sample],
    target: Target,
    profile: Profile,
    matcher: ResolvedMatcher | None = None,
    *,
    keep: Keep = NOTHING,
) -> Evidence:
    """Judge a batch in one step; samples that cannot be judged have no rows, and are among the faults."""
    judging = make_judge(target, profile, matcher, keep=keep)
    judging.add(samples)
    return judging.evidence()
