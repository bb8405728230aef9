"""
`LostSamples`: on which samples runs are worse by which metric, and from how many a relevant result left the cutoff.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankgauge.catalog.claims import Claim
from rankgauge.columns import Ints
from rankgauge.comparison.differences import Comparison, RunComparison
from rankgauge.comparison.estimate import settled
from rankgauge.comparison.pairing import Common, counterpart_of, pair_results
from rankgauge.features.html.ranked_lists import leaving
from rankgauge.features.html.report_data import Losses
from rankgauge.features.html.rereading import Reread, Within
from rankgauge.plugin.metric import Metric
from rankgauge.result import Result

__all__ = ["LostSamples"]


class _Lost(NamedTuple):
    """The samples on which a run is worse by one metric."""

    samples: Ints  # by their places in the baseline
    counterpart: str  # what the run calls the metric


@dataclass(frozen=True)
class LostSamples:
    """The samples on which runs are worse than the baseline, by each metric that looks for what is relevant."""

    baseline: str
    lost: Mapping[tuple[str, str], _Lost]  # by run and metric
    within: Mapping[str, Within]  # by run, what has to be read again of these samples

    @classmethod
    def of(
        cls, results: Mapping[str, Result], comparison: Comparison | None, metrics: Mapping[str, Claim[Metric]]
    ) -> LostSamples:
        """Return the samples that are lost, as the comparison counts them, by those of the *metrics* that are known."""
        pairs = () if comparison is None else comparison.comparisons
        baseline, first = next(iter(results.items()))
        lost: dict[tuple[str, str], _Lost] = {}
        for pair in pairs:
            if pair.baseline == baseline:
                names = [
                    name
                    for name, metric in pair.metrics.items()
                    if metric.losses and _seeks(metrics.get(first.metrics[name].info.alias))
                ]
                lost |= _lost(pair, first, results[pair.run], names) if names else {}
        wanted: dict[str, list[tuple[str, Ints]]] = {}
        for (run, name), each in lost.items():
            wanted.setdefault(baseline, []).append((name, each.samples))
            wanted.setdefault(run, []).append((each.counterpart, each.samples))
        return cls(baseline, lost, {run: _within(first.sample_ids, parts) for run, parts in wanted.items()})

    def reasons(self, reread: Mapping[str, Reread]) -> dict[tuple[str, str], Losses | None]:
        """Return why they are lost, by what was read again; None if a run was not."""
        return {(run, name): self._reason(reread, run, name) for run, name in self.lost}

    def _reason(self, reread: Mapping[str, Reread], run: str, name: str) -> Losses | None:
        if self.baseline not in reread or run not in reread:
            return None
        lost, first = self.lost[run, name], reread[self.baseline]
        left = leaving(first.within[name], reread[run].within[lost.counterpart], lost.samples)
        return Losses(len(lost.samples), left, first.lists.columns[name].k)


def _seeks(claim: Claim[Metric] | None) -> bool:
    """Return whether what a metric measures depends on where relevant results are."""
    if claim is None or claim.declaration.judging.judges != "retrieved":
        return False
    metric = claim.declaration
    is_sum = metric.explaining.contributions is not None
    return bool(metric.judging.uses_rel) or is_sum or "relevant-helps" in metric.laws


def _within(sample_ids: Sequence[str], parts: Sequence[tuple[str, Ints]]) -> Within:
    """Return what is wanted of the samples that any of some columns lost."""
    places = np.unique(np.concatenate([samples for _, samples in parts])).tolist()
    return Within(list(dict.fromkeys(name for name, _ in parts)), {sample_ids[place]: place for place in places})


def _lost(pair: RunComparison, first: Result, second: Result, names: Sequence[str]) -> dict[tuple[str, str], _Lost]:
    """Return what a run loses by some metrics, by its name and theirs."""
    is_changed = any(metric.dropped.get("other_ground_truth") for metric in pair.metrics.values())
    common: Common = "unchanged" if is_changed else "all"
    pairing = pair_results(first, second, names, common=common)
    places = {sample_id: place for place, sample_id in enumerate(first.sample_ids)}
    shared = np.array([places[sample_id] for sample_id in pairing.sample_ids], dtype=np.int64)
    lost = {}
    for name in names:
        column = pairing.columns[name]
        changes = settled(column.differences) * (1 if column.info.higher_is_better else -1)
        counterpart = counterpart_of(column.info, second)
        lost[pair.run, name] = _Lost(shared[changes < 0], name if counterpart is None else counterpart.name)
    return lost
