"""
`ShardedSamples`: the evaluation of samples in shards, each of them wherever its samples are.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Iterable
from dataclasses import dataclass, field

from rankgauge.engine.evaluation import Evaluation
from rankgauge.engine.job import Job
from rankgauge.engine.manifest import make_manifest, resolved_config
from rankgauge.engine.metadata import weighing
from rankgauge.engine.run_options import RunOptions
from rankgauge.errors import MetricFailedError, NothingToEvaluateError, ResultError
from rankgauge.features.shards.shard_scores import ShardScores, fingerprint_of_gold, join_scores, shard_scores
from rankgauge.result import Result
from rankgauge.result.health import broken_metrics
from rankgauge.scoring.collect import Collector
from rankgauge.scoring.sighting import Sighting
from rankgauge.scoring.single import check_stream

__all__ = ["SampleShard", "ShardedSamples"]

_STEP = 256


@dataclass(frozen=True, slots=True)
class SampleShard:
    """
    What became of one shard of samples; it can be pickled, and takes nine bytes a sample and metric.

    Attributes:
        scores: The scores; None if no sample is evaluated.

        sighting: What the shard says about the whole, such as which kinds of ground truth there are.
    """

    scores: ShardScores | None = None
    sighting: Sighting = field(default_factory=Sighting)


@dataclass(frozen=True)
class ShardedSamples:
    """
    The evaluation of samples that are in several places, or too many for one.

    Call `shard` wherever the samples are, and `merge` what that returns::

        sharded = ShardedSamples(Engine().dataset([]).with_metrics(["recall@5"]))
        shards = [sharded.shard(samples) for samples in parts]  # in any process, in any order
        result = sharded.merge(shards)

    A metric such as recall takes the ids of the ground truth, or else its passages, whichever the data has. That is
    for all samples the same, so a shard may have to be evaluated again when others are known::

        if not sharded.agree(shards):
            sharded = sharded.knowing(shards)
            shards = [sharded.shard(samples) for samples in parts]

    Attributes:
        evaluation: Metrics, policy and everything else; its own samples are not used. It carries a lock if it is
            sent to, and a process with other plugins installed refuses to evaluate.

        known: What is known of samples in other shards.
    """

    evaluation: Evaluation
    known: Sighting = field(default_factory=Sighting)

    def __post_init__(self) -> None:
        """Refuse a plan that cannot be, or needs the whole data set, before any sample is read."""
        check_stream(self.evaluation.plan(), "an evaluation in shards")

    def shard(self, samples: Iterable[object]) -> SampleShard:
        """
        Evaluate some samples.

        Args:
            samples: Samples in the form of the dataset contract, with their outputs.

        Returns:
            What `merge` takes.

        Raises:
            PlanError: The metrics mean something else in this process.

            DataError: Samples that do not follow the contract, every problem at once.

            SampleRefusedError: The policy turns a sample into an error.
        """
        plan = self.evaluation.plan()
        given = list(samples)
        if not given:
            return SampleShard()
        data = self.evaluation.data._replace(source=given, outputs=None)
        job = Job(plan, data, RunOptions(is_part=True))
        collector = Collector(plan, sighting=self.known)
        try:
            for batch in job.batches(_STEP):
                collector.add(batch)
        except NothingToEvaluateError:  # none has an output, and the policy leaves such samples out
            return SampleShard()
        scored = collector.finish(require_gold=False, is_part=True)
        return SampleShard(shard_scores(scored, scored.gold_keys), collector.sighting)

    def agree(self, shards: Iterable[SampleShard]) -> bool:
        """
        Return whether shards were judged against the same kinds of ground truth.

        Args:
            shards: All of them.

        Returns:
            False if they have to be evaluated again, by what `knowing` returns.
        """
        shards = list(shards)
        there = _sighting(shards).targets
        wanted = [metric.target_of(there) for metric in self.evaluation.plan().metrics]
        return all(
            [column.target for column in shard.scores.columns] == wanted for shard in shards if shard.scores is not None
        )

    def knowing(self, shards: Iterable[SampleShard]) -> ShardedSamples:
        """
        Return the same evaluation, which knows what ground truth there is elsewhere.

        Args:
            shards: All of them.

        Returns:
            An evaluation whose shards agree.
        """
        return dataclasses.replace(self, known=self.known | _sighting(shards))

    def merge(self, shards: Iterable[SampleShard], *, name: str = "") -> Result:
        """
        Put shards together.

        Args:
            shards: All of them, in any order.

            name: What the manifest is to call the samples.

        Returns:
            Equal to what `Evaluation.run` returns for all samples at once, to the last bit, in order of their ids. It
            cannot read its data again, as `Result.explain` would.

        Raises:
            NothingToEvaluateError: There is no sample.

            MissingGoldError: No sample has the kind of ground truth that a metric needs.

            ResultError: A sample is in two shards, or shards do not `agree`.

            MetricFailedError: A metric failed for every sample; the rest is in its `result`.
        """
        shards = list(shards)
        scores = [shard.scores for shard in shards if shard.scores is not None]
        if not scores:
            raise NothingToEvaluateError("no shard has a sample to evaluate", [])
        if not self.agree(shards):
            msg = "the shards were judged against different kinds of ground truth; evaluate them again with knowing()"
            raise ResultError(msg)
        plan = self.evaluation.plan()
        notes = Collector(plan, sighting=_sighting(shards)).conclude()
        scored = join_scores(plan, scores, notes)
        policy = plan.profile.policy
        scored.notes.extend([*scored.flaws(policy), *scored.incomplete(policy)])
        dataset = {
            "name": name or None,
            "path": None,
            "fingerprint": fingerprint_of_gold(scored.sample_ids, scored.gold_keys),
            "limit": None,
        }
        outputs = {"from": "samples", "path": None, "fingerprint": None, "replaced_those_in_samples": 0}
        config = resolved_config(plan, self.evaluation.data._replace(source=[], outputs=None, name=name), None)
        manifest = make_manifest(plan, dataset, outputs) | {"config": config, "merged_from": len(scores)}
        result = weighing(self.evaluation)(Result.of(scored, manifest))
        if broken := broken_metrics({"": result}):
            raise MetricFailedError(broken, result)
        return result


def _sighting(shards: Iterable[SampleShard]) -> Sighting:
    """Return what shards have seen together, whatever their order."""
    found = [shard.sighting for shard in shards]
    together = functools.reduce(operator.or_, found, Sighting())
    looks = {unit: min(each.looks[unit] for each in found if unit in each.looks) for unit in together.looks}
    return dataclasses.replace(together, looks=looks)
