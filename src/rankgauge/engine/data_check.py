"""
The check of a dataset: everything is read and judged, and nothing is scored.

`rankgauge validate` prints it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankgauge.base.frozen import FrozenMap
from rankgauge.engine.sample_score import DataCheck
from rankgauge.samples import GOLD_KINDS, Fault
from rankgauge.scoring.score import FAILED

if TYPE_CHECKING:
    from rankgauge.engine.job import Job

__all__ = ["check_data"]


def check_data(job: Job[Any], *, require_gold: bool) -> DataCheck:
    """Return what `Evaluation.check` found."""
    samples = without = malformed = 0
    failed: dict[str, str] = {}
    gold: dict[str, int] = dict.fromkeys(GOLD_KINDS, 0)
    for batch in job.batches(4096):
        job.collector.add(batch)
        samples += len(batch)
        without += sum(sample.output is None for sample in batch)
        faults = {sample.id: sample.output.reason for sample in batch if isinstance(sample.output, Fault)}
        malformed += len(faults)
        failed |= faults
        for kind in GOLD_KINDS:
            gold[kind] += sum(bool(getattr(sample.expected, kind)) for sample in batch)
    scored = job.collector.finish(require_gold=require_gold)
    for metric in scored.metrics if require_gold else ():
        status, reasons = metric.outcome.status, metric.outcome.reasons
        failed |= {scored.sample_ids[at]: why for at, why in reasons.items() if status[at] == FAILED}
    notes = tuple(job.collector.notes())
    return DataCheck(samples, without, malformed, FrozenMap(gold), notes, FrozenMap(failed))
