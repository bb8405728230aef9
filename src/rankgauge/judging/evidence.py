"""
Targets, evidence and gold keys: what is to be judged, a batch that was, and whether two results judged the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
import orjson

from rankgauge.base.frozen import read_only
from rankgauge.columns import Judged, Slices, Words, keys_of_gold
from rankgauge.errors import counted, listed
from rankgauge.judging.budgets import Budget, Fits
from rankgauge.judging.keeping import Keeper, Lack
from rankgauge.judging.outputs import Identity, Ranking
from rankgauge.judging.ranking import JudgedBlock, earns
from rankgauge.judging.text_doubts import Doubts
from rankgauge.judging.units import unit_rule
from rankgauge.policy import Profile
from rankgauge.samples import KINDS, Expected, GoldKind, Output, Sample
from rankgauge.samples.built_in_kinds import sets_of
from rankgauge.samples.sample_values import InvalidError
from rankgauge.samples.validity import read_moment

if TYPE_CHECKING:
    from rankgauge.plugin.gold_kinds import DeclaredGold

__all__ = ["Evidence", "GoldKeys", "Judge", "Leak", "TakesBlocks", "Target", "leaks_note", "untried_notes"]


class Leak(NamedTuple):
    """A retrieved item that must not be."""

    sample: str  # the id of the sample
    rank: int
    item: str  # its id, or what it says
    rule: str  # what forbids it

    def __str__(self) -> str:
        return f"{self.sample}: {self.item} at rank {self.rank} ({self.rule})"


_LEAKS_SHOWN = 5


def leaks_note(leaks: Sequence[Leak]) -> str:
    """Say what was retrieved that must not be: how much, for how many samples, and the first ones."""
    samples = len({leak.sample for leak in leaks})
    what = f"{counted(len(leaks), 'forbidden item')} retrieved for {counted(samples, 'sample')}"
    return f"{what}: {listed([str(leak) for leak in leaks], _LEAKS_SHOWN)}"


def untried_notes(untried: Iterable[str]) -> Iterator[str]:
    """Yield what no retrieved item of some samples has, by which something is forbidden for them."""
    for what, count in Counter(untried).most_common(_LEAKS_SHOWN):
        of = f"nothing that was retrieved for {counted(count, 'sample')} has {what}"
        yield f"{of}, by which something is forbidden there: leaks by it cannot be seen"


class Target(NamedTuple):
    """What is judged against what, and how; metrics with equal targets share one judging."""

    gold: str  # the kind of ground truth
    # whether the retrieved items are judged, or the generated answer
    judges: Literal["retrieved", "answer"] = "retrieved"
    # the matcher as written, for gold that is text; None for a join of ids, and for nuggets whose support the
    # output gives
    matcher: str | None = None
    unit: str | None = None  # what ids are rolled up to first; None for judging them as they are
    joint: bool = False  # whether what several results hold of a gold text or span adds up
    stage: str | None = None  # the stage of the pipeline whose ranking is judged; None for the whole output
    declared: DeclaredGold | None = None  # the kind of ground truth, or of what is in sets, where a plugin declares it
    members: str = ""  # where sets are judged, the kind of their items unless these are relevant ids

    @property
    def kind(self) -> GoldKind:
        """Return the declaration of the kind of ground truth."""
        return sets_of(self.members, self.declared) if self.members else self.declared or KINDS[self.gold]

    @property
    def of_items(self) -> Target:
        """Return what single items are judged against: those of the sets, where sets are judged."""
        return self._replace(gold=self.members or "relevant", members="") if self.gold == "sets" else self

    @property
    def wanted(self) -> str:
        """Return what the ground truth has to have, for messages."""
        return f"{self.gold} of {self.members}" if self.members else self.gold

    def texts_called(self, names: Sequence[str], expected: Expected) -> list[str]:
        """Return the texts that a matcher looks for of some gold items; their names where none does."""
        sets = {str(each): each for each in expected.sets_of(self.members)} if self.members else {}
        items = [item for name in names for item in (sets[name].ids() if name in sets else (name,))]
        return self.of_items.kind.texts_called(items, expected)

    @property
    def identity(self) -> Identity:
        """Return what tells retrieved items apart."""
        return self.kind.apart

    @property
    def by_text(self) -> bool:
        """Return whether results are compared with texts or places, rather than told apart by id."""
        return self.kind.compares

    @property
    def of_ranks(self) -> bool:
        """Return whether results are judged one by one, rather than whether there is anything at all."""
        return self.kind.of_ranks

    def lacks_text(self, rank: int) -> str:
        """Return why the item at a rank cannot be compared with ground truth: it has no id, text or place."""
        if self.identity == "id":
            what = "an id" if self.unit is None else f"an id, of which unit={self.unit} makes another,"
            hint = "give each its id, or judge texts: gold texts in `expected_output.passages`, and gold=passages"
            return f"judging by id needs {what} for every retrieved item; the item at rank {rank} has none ({hint})"
        if self.identity == "place":
            needed = "'document', 'start' and 'end' of every retrieved item, or its 'text' and that of every gold span"
            return f"judging by spans needs {needed}; the item at rank {rank} has neither"
        texts = "if yours are texts: --field retrieved=FIELD:text, or {text: ...} for each"
        ids = "if they are ids: ids in `expected_output.relevant`, or a text beside each"
        hint = f"a bare string is an id; {texts}; {ids}"
        return f"judging by text needs a text for every retrieved item; the item at rank {rank} has none ({hint})"

    def staged(self, sample: Sample) -> Sample:
        """Return a sample with the output that is judged: that of the stage."""
        if self.stage is None or not isinstance(sample.output, Output):
            return sample
        return sample._replace(output=sample.output.at(self.stage))

    def rolled(self, sample: Sample) -> Sample:
        """Return a sample with the ids that are judged."""
        return sample if self.unit is None else unit_rule(self.unit).sample(sample)

    def profile(self, profile: Profile) -> Profile:
        """Return the profile under which it is judged."""
        return profile if self.unit is None else unit_rule(self.unit).profile(profile)

    @property
    def key(self) -> str:
        """Return the key of an output that holds what is judged."""
        return "support" if self.by_support else self.judges

    @property
    def by_support(self) -> bool:
        """Return whether outputs themselves say how far they hold what is wanted."""
        return self.kind.has_support and self.matcher is None

    def __str__(self) -> str:
        return self._judged if self.stage is None else f"{self._judged}, at stage {self.stage}"

    @property
    def _judged(self) -> str:
        together = ", several results together" if self.joint else ""
        judged = "" if self.judges == "retrieved" else " of the generated answer"
        if words := self.kind.words:
            return words.format(judged=judged, matcher=self.matcher, together=together)
        joined = "the support that the output gives" if self.kind.has_support else "id"
        joined += "" if self.unit is None else f", unit {self.unit}"
        by = joined if self.matcher is None else f"text, matcher {self.matcher}{together}"
        return f"{self.gold}{judged} by {by}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A judged batch, of samples or of a run's queries."""

    judged: Judged  # the columns that metrics read
    without_gold: Sequence[int] = ()  # the samples that do not have this kind of ground truth at all
    # why a sample could not be judged, by its place in the batch
    faults: Mapping[int, str] = field(default_factory=dict)
    # what each sample retrieved, after policy, None where there is nothing; empty unless asked for
    rankings: Sequence[Ranking | None] = ()
    met: bool = False  # whether a retrieved id is a gold id, where ids are compared
    looks: tuple[str, str] | None = None  # one retrieved id and one gold id, of a sample that has both; for messages
    # what `met_as_parts` says of the first samples that have both, where no id is met
    parts: tuple[tuple[bool, ...], ...] = ()
    # the first rank whose item has no text, of samples that were judged by text without all of them; by id, the first
    # whose item has no id; by spans, the first whose item has neither a place nor a text that can be compared
    textless: Mapping[int, int] = field(default_factory=dict)
    doubts: Doubts | None = None  # what makes the matcher doubtful, of samples that were judged by text
    by_text: Evidence | None = None  # what holds if no place of retrieved items is taken; None where that is the same
    # what metrics asked to see and a sample lacks, by its place
    lacks: Mapping[int, Sequence[Lack]] = field(default_factory=dict)
    # how many ranks of each sample fit into each budget that was asked for
    fits: Mapping[Budget, Fits] = field(default_factory=dict)
    n_tied: int = 0  # of how many queries of a run the order of equal scores may change a score
    n_dropped: int = 0  # how many duplicates were dropped
    leaks: Sequence[tuple[int, Leak]] = ()  # what was retrieved of what is forbidden, each with its sample's place
    untried: Sequence[str] = ()  # what no retrieved item of a sample has that a rule on forbidden items looks at

    @classmethod
    def kept(
        cls,
        keeper: Keeper,
        judged: Judged,
        faults: Mapping[int, str],
        **others: Any,  # noqa: ANN401  # the rest of the attributes
    ) -> Evidence:
        """Return a judged batch of samples with what was kept of them."""
        if keeper.shown is not None:
            judged = replace(judged, shown=keeper.shown)
        kept: dict[str, Any] = {"rankings": keeper.rankings, "lacks": keeper.lacks, "fits": keeper.fits}
        without = np.flatnonzero(np.bincount(judged.gold.sample, minlength=judged.n) == 0).tolist()
        return cls(judged, without, faults, **kept, **others)

    def trusting(self) -> Evidence:
        """Return what holds for all the samples there are: without places, if these cannot be trusted."""
        is_distrusted = self.doubts is not None and bool(self.doubts.places.distrust)
        return self.by_text if is_distrusted and self.by_text is not None else self

    @property
    def has_gold(self) -> bool:
        """Return whether any sample has this kind of ground truth."""
        return len(self.without_gold) < self.judged.n

    def lacks_gold(self, left_out: Collection[int]) -> bool:
        """Return whether something that earns was not found for a sample, but for those at the places *left_out*."""
        judged = self.judged
        gold, found = judged.gold, judged.rows.where(judged.first)
        if left_out:
            counts = np.ones(judged.n, dtype=np.bool_)
            counts[list(left_out)] = False
            gold, found = gold.where(counts[gold.sample]), found.where(counts[found.sample])
        n_earning, n_found = (np.count_nonzero(earns(rows.grade, judged.relevance)) for rows in (gold, found))
        return bool(n_earning > n_found)


class Judge(Protocol):
    """Judges one batch: samples are added any number of times, then there is the evidence."""

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        ...


class TakesBlocks(Judge, Protocol):
    """A judge of what metrics that look at ids may fall back to, which takes plain samples many at once, too."""

    def add_block(self, judged: JudgedBlock) -> None:
        """Judge some more plain samples."""


_EMPTY: Mapping[str, float] = {}
_NO_KEYS: Words = read_only(np.empty(0, dtype=np.uint64))
_LATER = Expected._fields.index("faults")
"""From where on attributes of ground truth are hashed only if they are there, as they were added one by one."""
_NO_OTHERS = [None] * (_LATER - 2)


class GoldKeys:
    """Hashes what samples are judged against: relevant ids many samples at a time, and the rest of each."""

    def __init__(self) -> None:
        self._gold: list[Mapping[str, float]] = []
        self._rest: list[int] = []
        self._done: list[Words] = []

    def add(self, samples: Sequence[Sample]) -> None:
        """Take some more samples."""
        self._gold += [sample.expected.relevant or _EMPTY for sample in samples]
        self._rest += map(_rest, samples)

    def add_block(self, judged: JudgedBlock) -> None:
        """Take some more plain samples."""
        self.close()
        block, known = judged.block, {k: _plain(True, False, k) for k in set(judged.block.ks)}
        rest = np.array(list(map(known.__getitem__, block.ks)), dtype=np.uint64)
        rest[list(block.graded)] = [_plain(True, True, block.ks[place]) for place in block.graded]
        for place, expected in block.more.items():
            rest[place] = _rest(Sample(block.ids[place], expected=expected, k=block.ks[place]))
        self._done.append(judged.qrels.gold_keys ^ rest)

    def close(self) -> None:
        """Hash what was taken and let go of it."""
        if not self._gold:
            return
        lengths = np.fromiter(map(len, self._gold), np.int64, len(self._gold))
        ids = Slices.of_strings(list(chain.from_iterable(self._gold)))
        grades = np.fromiter((gain for gains in self._gold for gain in gains.values()), np.float64, len(ids.start))
        owners = np.repeat(np.arange(len(lengths)), lengths)
        relevant = keys_of_gold(ids.keys(), grades, owners, len(lengths))
        self._done.append(relevant ^ np.array(self._rest, dtype=np.uint64))
        self._gold, self._rest = [], []

    def add_keys(self, keys: Words) -> None:
        """Take the hashes of some more samples; what was added before is closed."""
        self._done.append(keys)

    def keys(self) -> Words:
        """Return a 64-bit hash of each sample's ground truth, flags and own cutoff; the same in every process."""
        self.close()
        return np.concatenate([_NO_KEYS, *self._done]) if self._done else _NO_KEYS


def _rest(sample: Sample) -> int:
    """Return a hash of everything else that a sample is judged by."""
    expected = sample.expected
    relevant, graded, *rest = expected[:_LATER]
    others: list[object] = [*rest, *(each for each in expected[_LATER:-1] if each is not None)]
    if expected.others is not None:
        others.append({name: gold.raw for name, gold in expected.others.items()})
    asked = (sample.metadata or {}).get("asked_at")
    if sample.answerable and others == _NO_OTHERS and asked is None:
        return _plain(relevant is not None, graded, sample.k)
    when = () if asked is None else (_when(asked),)
    return _hash(relevant is not None, graded, others, sample.answerable, sample.k, *when)


def _when(asked: object) -> float | str:
    """Return when a question was asked, equal for all ways to write it; as written where a `Sample` says no time."""
    try:
        return read_moment(asked, "").timestamp()
    except InvalidError:
        return str(asked)


@lru_cache(maxsize=1024)
def _plain(*facts: bool | int | None) -> int:
    """Return what `_rest` does where there are only relevant ids."""
    has_relevant, graded, k = facts
    return _hash(has_relevant, graded, _NO_OTHERS, True, k)


def _hash(*facts: object) -> int:
    try:
        data = orjson.dumps(facts, default=_in_json, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # half a surrogate pair, which UTF-8 cannot encode
        data = repr(facts).encode("utf-8", "backslashreplace")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def _in_json(value: Any) -> object:  # noqa: ANN401  # whatever ground truth holds
    """Return a named tuple or a mapping as JSON has it, so that dates in it are the texts that a JSON file has."""
    return dict(value) if isinstance(value, Mapping) else tuple(value)
