"""
`LostSamples`: on which samples a run is worse by its first metric, and from how many a relevant result left the cutoff.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rankgauge.comparison.differences import Comparison
from rankgauge.comparison.estimate import settled
from rankgauge.comparison.pairing import Common, counterpart_of, pair_results
from rankgauge.engine.rereading import Reread, Within
from rankgauge.explain.ranked_lists import leaving
from rankgauge.report.html.report_data import Losses
from rankgauge.result import ResultValues

__all__ = ["LostSamples"]


@dataclass(frozen=True)
class LostSamples:
    """The samples on which the first run that is compared is worse, by its first metric."""

    baseline: str
    run: str
    within: Mapping[str, Within]  # by run, what has to be read again of these samples

    @classmethod
    def of(cls, results: Mapping[str, ResultValues], comparison: Comparison | None) -> LostSamples | None:
        """Return the samples that are lost, as the comparison counts them; None where there is none."""
        pair = None if comparison is None else comparison.comparisons[0]
        metric = None if pair is None else next(iter(pair.metrics.values()), None)
        if pair is None or metric is None or not metric.losses:
            return None
        first, second = results[pair.baseline], results[pair.run]
        common: Common = "unchanged" if metric.dropped.get("other_ground_truth") else "all"
        pairing = pair_results(first, second, [metric.name], common=common)
        column = pairing.columns[metric.name]
        changes = settled(column.differences) * (1 if metric.higher_is_better else -1)
        lost = [pairing.sample_ids[place] for place in np.flatnonzero(changes < 0).tolist()]
        numbers = {sample_id: number for number, sample_id in enumerate(lost)}
        counterpart = counterpart_of(column.info, second)
        names = {pair.baseline: metric.name, pair.run: metric.name if counterpart is None else counterpart.name}
        return cls(pair.baseline, pair.run, {run: Within(name, numbers) for run, name in names.items()})

    def reasons(self, reread: Mapping[str, Reread]) -> Losses | None:
        """Return why they are lost, by what was read again; None where a run was not."""
        before, after = (reread[run].within if run in reread else None for run in (self.baseline, self.run))
        if before is None or after is None:
            return None
        column, numbers = self.within[self.baseline]
        return Losses(len(numbers), leaving(before, after), reread[self.baseline].lists.columns[column].k)
