"""
Judging whether results were valid when the question was asked: by what the ground truth says of them, or they do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rankgauge.judging.evidence import Evidence
from rankgauge.judging.judged_columns import JudgedLists
from rankgauge.judging.keeping import NOTHING, Keep, Keeper
from rankgauge.judging.outputs import Ranking, prepare
from rankgauge.policy import Profile
from rankgauge.samples import Output, Sample
from rankgauge.samples.sample_values import InvalidError
from rankgauge.samples.validity import Validity, read_moment, read_validity

__all__ = ["ValidityJudge"]


class ValidityJudge:
    """
    Judges a batch by `metadata.asked_at`: gold is, of grade 1, what was not valid then, and, of grade 0, what was.

    A result without known dates of validity has no row.
    """

    def __init__(self, profile: Profile, *, keep: Keep = NOTHING) -> None:
        # under `judged_only` what is neither relevant nor judged would not be looked at
        self._profile = profile = replace(profile, policy=replace(profile.policy, judged_only=False))
        self._keeper = Keeper(keep, profile)
        self._lists = JudgedLists()
        self._faults: dict[int, str] = {}

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""
        prepared = prepare(samples, self._profile, by="id")
        self._keeper.add(samples, prepared, judged="retrieved")
        for place, (sample, ranking) in enumerate(zip(samples, prepared, strict=True), len(self._lists.depth)):
            asked = (sample.metadata or {}).get("asked_at")
            start = len(self._lists.gold_grade)
            ranked, fault = self._lists.add_sample(ranking, () if asked is None else (1.0, 0.0))
            if fault is not None:
                self._faults[place] = fault.reason
            if asked is None or ranked is None or not isinstance(sample.output, Output):
                continue
            try:
                moment, rows = read_moment(asked, "metadata.asked_at"), list(_known(sample, sample.output, ranked))
            except InvalidError as invalid:
                self._faults[place] = f"{invalid.path}: {invalid.message}"
                continue
            for rank, validity in rows:
                if ranked.ties is not None:
                    self._lists.row_ties.append(ranked.ties[rank - 1])
                self._lists.add_row(place, rank, start + validity.holds(moment))

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        judged = self._keeper.shown_in(self._lists.build(self._profile))
        return Evidence(judged, self._faults, kept=self._keeper.kept())


def _known(sample: Sample, output: Output, ranking: Ranking) -> Iterator[tuple[int, Validity]]:
    """Yield the rank and the validity of each result whose validity is known; ground truth beats the result."""
    told = sample.expected.metadata or {}
    gold = {name: found for name, known in told.items() if (found := read_validity(known, f"expected_output {name!r}"))}
    metadata: Sequence[Mapping[str, object] | None] = output.metadata or [None] * len(output.ids)
    for rank, name in enumerate(ranking.ids, 1):
        entry = ranking.entry(rank)
        validity = gold.get(name or "") or read_validity(metadata[entry] or {}, f"retrieved[{entry}].metadata")
        if validity is not None:
            yield rank, validity
