"""
What evaluations return besides results: the scores of one sample, and the counts of a dataset.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from rankgauge.base.frozen import FrozenMap, frozen
from rankgauge.errors import DataError, Problem
from rankgauge.planning.plan import Plan
from rankgauge.samples import GOLD_KINDS, Fault, Sample, SampleRules, read_sample
from rankgauge.scoring.score import FAILED, STATUSES
from rankgauge.scoring.single import SingleScorer

if TYPE_CHECKING:
    from rankgauge.engine.job import Job

__all__ = ["DataCheck", "Progress", "SampleScore", "checked", "read_single", "scores_of"]

Progress = Callable[[int, int | None], None]
"""Called with how many samples are done, and how many there are, if that is known."""


class SampleScore(NamedTuple):
    """
    One score of one sample.

    Attributes:
        value: What counts under the policy; None if nothing does.

        status: `scored`, `undefined`, `missing` or `failed`.

        reason: Why there is no score; empty for one that is `scored`.

        details: Facts behind the score, if they were asked for.
    """

    value: float | None
    status: str
    reason: str = ""
    details: Mapping[str, Any] | None = None

    def described(self, name: str) -> str:
        """
        Return a sentence about the score, for a host to show as its reason.

        Args:
            name: The column.

        Returns:
            For example ``ndcg@10 is 0.4471 (k 10)``, or why there is no score and what counts instead.
        """
        if self.status == "scored":
            facts = ", ".join(_short(self.details or {}))
            return f"{name} is {self.value:.4g}{f' ({facts})' if facts else ''}"
        counts = "nothing counts" if self.value is None else f"{self.value:.4g} counts"
        return f"{name} is {self.status}, {counts}: {self.reason}"


def _short(details: Mapping[str, Any]) -> Iterator[str]:
    """Yield the short facts behind a score."""
    for key, value in details.items():
        if isinstance(value, float):
            yield f"{key} {value:.4g}"
        elif value is not None and not isinstance(value, list | dict):
            yield f"{key} {value}"


class DataCheck(NamedTuple):
    """
    What a data set holds.

    Attributes:
        samples: How many samples.

        without_output: How many of them have no output.

        malformed: How many have one that cannot be read.

        gold: How many have each kind of ground truth.

        notes: What the user should know.

        failed: Why the output of a sample cannot be scored, by sample id; with metrics that need ground truth, also why
            one of them fails.
    """

    samples: int
    without_output: int
    malformed: int
    gold: Mapping[str, int]
    notes: tuple[str, ...]
    failed: Mapping[str, str] = MappingProxyType({})


def checked(job: Job, *, require_gold: bool) -> DataCheck:
    """Read and judge everything, and score nothing; see `Evaluation.check`."""
    samples = without_output = 0
    malformed: dict[str, str] = {}
    gold: dict[str, int] = dict.fromkeys(GOLD_KINDS, 0)
    for batch in job.batches(job.options.batch_size):
        job.collector.add(batch)
        samples += len(batch)
        without_output += sum(sample.output is None for sample in batch)
        malformed |= {sample.id: sample.output.reason for sample in batch if isinstance(sample.output, Fault)}
        for kind in GOLD_KINDS:
            gold[kind] += sum(bool(getattr(sample.expected, kind)) for sample in batch)
        for kind in chain.from_iterable(sample.expected.others or () for sample in batch):
            gold[kind] = gold.get(kind, 0) + 1
    scored = job.collector.finish(require_gold=require_gold)
    failed = dict(malformed)
    for outcome in (metric.outcome for metric in scored.metrics if require_gold):
        reasons = outcome.reasons.items()
        failed |= {scored.sample_ids[at]: reason for at, reason in reasons if outcome.status[at] == FAILED}
    notes = (*job.notes, *job.collector.notes())
    return DataCheck(samples, without_output, len(malformed), FrozenMap(gold), notes, FrozenMap(failed))


def scores_of(sample: Sample, scorer: SingleScorer, *, details: bool) -> dict[str, SampleScore]:
    """Score one sample, by column."""
    return {
        name: SampleScore(None if math.isnan(value) else value, STATUSES[status], reason, frozen(facts))
        for name, (value, status, reason, facts) in scorer.score(sample, details=details).items()
    }


def read_single(value: object, plan: Plan) -> Sample:
    """Return a sample in the form of the contract as one; raise `DataError` if it does not follow it."""
    problems: list[Problem] = []
    rules = SampleRules(plan.profile.contract, plan.catalog.gold_kinds, plan.needs_gold)
    sample = read_sample(value, rules, problems=problems)
    if sample is None:
        raise DataError("cannot score the sample:", problems)
    return sample
