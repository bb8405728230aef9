"""
Outputs of samples: their rankings after policy, by the columns that every road takes.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator, Sequence
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np

from rankgauge.columns import Flags, Floats, Ints, RankingBatch, Slices, encoded
from rankgauge.columns.judged_rows import first_of_each
from rankgauge.judging.ranking import earned, mixed_ties, relevance_of, settle, stand, tie_reason
from rankgauge.judging.ranks import Ranks, grouped, ranks_of
from rankgauge.policy import Policy, Profile
from rankgauge.samples import Fault, Output, Place, PlacedBlock, Sample
from rankgauge.samples.sample_values import Misplaced, lacks_key

__all__ = ["Identity", "Ranking", "copies", "is_nameless", "n_dropped", "prepare", "stands_as_given"]

Identity = Literal["id", "text", "place"]
"""What tells retrieved items apart: ids; or, as the profile says, texts; or texts and places in documents."""


class Ranking(NamedTuple):
    """A ranking as it is judged, rank 1 first."""

    ids: Sequence[str | None]  # one id for each rank; None for an item that has only a text
    texts: Sequence[str | None] | None  # one text for each rank; None when no item has one
    # whether each rank repeats an earlier item and so earns nothing; None when no rank does
    repeated: Sequence[bool] | None = None
    # the first and the last rank that each rank's item could take; None if ties are not averaged
    ties: Sequence[tuple[int, int]] | None = None
    # the place of each rank's item in the output, from 0; None if rank 1 is the first, and so on
    entries: Sequence[int] | None = None
    # where in a document each rank's item is; None if no item says
    places: Sequence[Place | Fault | Misplaced | None] | None = None

    def entry(self, rank: int) -> int:
        """Return the place in the output, from 0, of the item at a rank."""
        return rank - 1 if self.entries is None else self.entries[rank - 1]


def prepare(samples: Sequence[Sample], profile: Profile, *, by: Identity) -> list[Ranking | Fault | None]:
    """
    Return the ranking of each sample after policy, or why the policy cannot be applied; None if no output is.

    By id, two items are the same where their ids are; by text, as the profile says; by place, where id, text and place
    are. But by id it is not known what an item earns before it is judged, so that ``ties=error`` refuses every tie. An
    output that the policy leaves as it is takes a shortcut, which most outputs do.
    """
    policy, key = profile.policy, _key(profile, by)
    found: list[Ranking | Fault | None] = []
    rest: dict[int, tuple[Sample, Output]] = {}
    stands = stands_as_given(policy)
    for place, sample in enumerate(samples):
        output = sample.output
        if not isinstance(output, Output):
            found.append(None)
        elif not output.is_ranked:
            found.append(lacks_key("retrieved", output.unread))
        elif stands and (policy.duplicates == "keep" or not _repeats(output, key)):
            found.append(Ranking(output.ids, output.texts, places=output.places))
        elif policy.order == "score" and None in (scores := output.scores or [None] * len(output.ids)):
            reason = f"policy order=score needs a score for every item; retrieved[{scores.index(None)}] has none"
            found.append(Fault(reason))
        else:
            found.append(None)
            rest[place] = sample, output
    if rest:
        columns = _Columns(list(rest.values()), profile, key, by_id=by == "id")
        for place, ranking in zip(rest, columns.ranked(), strict=True):
            found[place] = ranking
    return found


def stands_as_given(policy: Policy) -> bool:
    """Return whether a policy leaves a ranking that repeats nothing as it is."""
    return policy.order == "given" and not policy.exclude_self and not policy.judged_only and policy.depth is None


def is_nameless(block: PlacedBlock, policy: Policy) -> bool:
    """Return whether no result of a block has an id or a text, by which one could repeat another or be found."""
    return block.items.ids is None and block.items.texts is None and stands_as_given(policy)


def _key(profile: Profile, by: Identity) -> str:
    return profile.duplicate_texts if by == "text" else by


def copies(output: Output, entry: int, profile: Profile, *, by: Identity) -> list[int]:
    """Return the places of all items of an output that stand for one of them under the policy, itself included."""
    keys = _keys(output, _key(profile, by))
    if profile.policy.duplicates not in {"first", "last", "best"} or keys[entry] is None:
        return [entry]
    return [place for place, key in enumerate(keys) if key == keys[entry]]


def n_dropped(
    samples: Sequence[Sample], rankings: Sequence[Ranking | Fault | None], profile: Profile, *, by: Identity
) -> int:
    """Return how many items of samples were dropped because they repeat another one."""
    if profile.policy.duplicates not in {"first", "last", "best"}:
        return 0
    dropped = 0
    for sample, ranking in zip(samples, rankings, strict=True):
        output = sample.output
        if not isinstance(output, Output) or output.searches is not None:
            continue  # several searches may well return the same
        if isinstance(ranking, Ranking) and len(ranking.ids) < len(output.ids):
            keys = [key for key in _keys(output, _key(profile, by)) if key is not None]
            dropped += len(keys) - len(set(keys))
    return dropped


def _repeats(output: Output, key: str) -> bool:
    """Return whether an output names an item twice."""
    columns = (output.ids, *((output.texts,) if key != "id" else ()), *((output.places,) if key == "place" else ()))
    if any(column is not None and len(set(column)) == len(column) for column in columns):
        return False
    keys = [each for each in _keys(output, key) if each is not None]
    return len(set(keys)) < len(keys)


def _keys(output: Output, key: str) -> Sequence[Hashable | None]:
    """Return what tells items apart; None for an item that is never the same as another."""
    if key == "id":
        return output.ids
    nothing = [None] * len(output.ids)
    parts = [output.ids, output.texts or nothing, *([output.places or nothing] if key == "place" else [])]
    nameless = (None,) * len(parts)
    return [None if names == nameless else names for names in zip(*parts, strict=True)]


class _Columns:
    """The outputs of some samples as one batch of rankings."""

    def __init__(self, samples: Sequence[tuple[Sample, Output]], profile: Profile, key: str, *, by_id: bool) -> None:
        self._samples = samples
        self._profile = profile
        self._by_id = by_id
        policy = profile.policy
        outputs = [output for _, output in samples]
        self._ids = list(chain.from_iterable(output.ids for output in outputs))
        documents = Slices.of(b"" if name is None else encoded(name) for name in self._ids)
        scores = np.zeros(len(self._ids))
        if policy.order == "score" or policy.duplicates == "best":
            listed = chain.from_iterable(output.scores or [None] * len(output.ids) for output in outputs)
            scores = np.array([np.nan if score is None else score for score in listed], dtype=np.float64)
        self._batch = RankingBatch(
            names=Slices.of(encoded(sample.id) for sample, _ in samples),
            lengths=np.array([len(output.ids) for output in outputs], dtype=np.int64),
            documents=documents,
            keys=documents.keys(),
            scores=scores,
        )
        numbers: dict[Hashable, int] = {}  # exact, where runs have hashes: an item without an id is like no other
        self._pairs = np.array(
            [
                numbers.setdefault((owner, at if name is None else name), len(numbers))
                for owner, output in enumerate(outputs)
                for at, name in enumerate(_keys(output, key))
            ],
            dtype=np.uint64,
        )

    def ranked(self) -> list[Ranking | Fault]:
        """Return the rankings, or why the policy cannot be applied."""
        policy = self._profile.policy
        faults: dict[int, str] = {}
        settled = settle(self._batch, self._pairs, policy, grouped)
        for owner, reason in settled.refused or ():
            faults.setdefault(owner, reason)
        owners = settled.batch.owners()
        rows = np.arange(len(self._ids))[settled.rows]
        ids = [self._ids[row] for row in rows.tolist()]
        ranks = ranks_of(settled.batch, np.arange(len(rows)), by_id=policy.ties != "given")
        if policy.order == "score" and policy.ties == "error":
            self._refuse_ties(faults, owners, ids, ranks)

        def judged() -> Flags:
            gold = [self._judged_ids(sample) for sample, _ in self._samples]
            named = zip((gold[owner] for owner in owners.tolist()), ids, strict=True)
            return np.fromiter((own is None or name in own for own, name in named), np.bool_, len(ids))

        kept, ranks, depth = stand(policy, owners, ranks, settled.batch.lengths, judged)
        order = np.lexsort((ranks.rank, owners[kept]))
        repeated = np.zeros(len(order), dtype=np.bool_)
        if policy.duplicates == "credit-once":
            pairs = settled.pairs[kept][order].view(np.int64)
            by_pair = np.argsort(pairs, kind="stable")
            repeated[by_pair] = ~first_of_each(pairs[by_pair])
        rankings = self._split(rows[kept][order], repeated, ranks.tie_first[order], ranks.tie_last[order], depth)
        return [Fault(faults[owner]) if owner in faults else each for owner, each in enumerate(rankings)]

    def _split(self, rows: Ints, repeated: Flags, low: Ints, high: Ints, depth: Ints) -> Iterator[Ranking]:
        """Yield the ranking of each output, from rows in order of output and rank."""
        texts = list(chain.from_iterable(output.texts or [None] * len(output.ids) for _, output in self._samples))
        places = list(chain.from_iterable(output.places or [None] * len(output.ids) for _, output in self._samples))
        carries_ties = self._profile.policy.settles_ties_late
        end = begin = 0
        for (_, output), length in zip(self._samples, depth.tolist(), strict=True):
            own = slice(end, end + length)
            end += length
            numbers = rows[own].tolist()
            yield Ranking(
                [self._ids[row] for row in numbers],
                None if output.texts is None else [texts[row] for row in numbers],
                repeated[own].tolist() if repeated[own].any() else None,
                list(zip(low[own].tolist(), high[own].tolist(), strict=True)) if carries_ties else None,
                [row - begin for row in numbers],
                None if output.places is None else [places[row] for row in numbers],
            )
            begin += len(output.ids)

    def _refuse_ties(self, faults: dict[int, str], owners: Ints, ids: Sequence[str | None], ranks: Ranks) -> None:
        earns: Floats | None = None
        if self._by_id:
            gold = [sample.expected.relevant or {} for sample, _ in self._samples]
            grades = (gold[owner].get(name, np.nan) for owner, name in zip(owners.tolist(), ids, strict=True))
            earns = earned(np.fromiter(grades, np.float64, len(ids)), relevance_of(self._profile))
        for row in mixed_ties(owners, ranks, earns, self._profile.policy.depth).tolist():
            reason = tie_reason(ids[row] or "", int(ranks.tie_first[row]), int(ranks.tie_last[row]))
            faults.setdefault(int(owners[row]), reason)

    def _judged_ids(self, sample: Sample) -> Container[str | None] | None:
        """Return the ids that count as judged; None if judging by text has no ids to go by, so that all stay."""
        gold = sample.expected.relevant
        if gold is None or self._profile.negatives == "judged":
            return None if gold is None and not self._by_id else gold or ()
        return {name for name, grade in gold.items() if grade >= 0}
