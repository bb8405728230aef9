"""
`ShardedRun`: the evaluation of a run in shards, each of them wherever its rows are.

Transport only: a shard takes the road of `evaluate`, and shards merge to the bits of one evaluation of all rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rankgauge.catalog import Catalog
from rankgauge.engine.excluded_runs import narrowed_run
from rankgauge.engine.manifest import make_manifest
from rankgauge.engine.runs import how_it_fits, judge_units, judgments_for, plan_run
from rankgauge.errors import MetricFailedError, PolicyError, ResultError, listed
from rankgauge.features.shards.shard_scores import ShardScores, fingerprint_of_gold, join_scores, shard_scores
from rankgauge.features.shards.totals import Totals
from rankgauge.io.open_sources import QrelsLike, RunLike, open_run
from rankgauge.judging import RunCounts
from rankgauge.judging.run import no_overlap
from rankgauge.pickling import itself
from rankgauge.planning.cutoffs import Conventions, DefaultK
from rankgauge.planning.lock import Lock, lock_for_sending
from rankgauge.planning.plan import Plan, make_plan
from rankgauge.planning.requests import MetricSpec, check_sendable, specs_of
from rankgauge.policy import Policy, Profile
from rankgauge.result import Result
from rankgauge.result.health import broken_metrics
from rankgauge.scoring.collect import Collector
from rankgauge.scoring.sighting import depth_notes
from rankgauge.scoring.single import check_stream

if TYPE_CHECKING:
    import polars as pl

__all__ = ["RunShard", "ShardedRun"]


@dataclass(frozen=True, slots=True)
class RunShard:
    """
    What became of one shard of a run; it can be pickled, and takes nine bytes a query and metric.

    Attributes:
        scores: The scores; None if no query of the shard is judged, and where they were added up.

        counts: How the shard fits its judgments.

        n_judged: How many of its queries are judged.

        n_judgments: How many judgments these have.

        looks: A query id of its run and one of its judgments, for messages; empty if there is none.

        totals: What the scores come to, if they were added up; then a shard takes some hundred bytes a metric.
    """

    scores: ShardScores | None = None
    counts: RunCounts = field(default_factory=RunCounts)
    n_judged: int = 0
    n_judgments: int = 0
    looks: tuple[str, str] = ("", "")
    totals: Totals | None = None


@dataclass(frozen=True)
class ShardedRun:
    """
    The evaluation of a run that is in several places, or too large for one.

    Make it with `plan`, call `shard` wherever the rows are, and `merge` what that returns::

        sharded = ShardedRun.plan(["ndcg@10", "AP"])
        shards = [sharded.shard(qrels, run) for qrels, run in parts]  # in any process, in any order
        result = sharded.merge(shards)

    A shard has all rows of its queries. Values of this class can be pickled; a process with other plugins installed
    refuses to evaluate, and names the difference.

    Attributes:
        catalog: What plugins offer; another process looks for the same distributions.

        metrics: The metrics as they were asked for.

        profile: The policy and the conventions.

        default_k: Default cutoff, used when a metric has none; None for the built-in one.

        lock: What the metrics mean where the evaluation was planned.
    """

    catalog: Catalog = field(repr=False)
    metrics: tuple[MetricSpec, ...]
    profile: Profile
    default_k: DefaultK | None
    lock: Lock = field(repr=False)

    __copy__ = __deepcopy__ = itself

    @classmethod
    def plan(
        cls,
        metrics: Sequence[MetricSpec] | MetricSpec,
        *,
        profile: str | Policy | Profile = "trec10",
        policy: Mapping[str, Any] | None = None,
        rel: float | None = None,
        k: int | None = None,
        catalog: Catalog | None = None,
        row_order: bool = True,
    ) -> Self:
        """
        Plan an evaluation; nothing is read.

        Args:
            metrics: As in `rankgauge.evaluate`.

            profile: As in `rankgauge.evaluate`.

            policy: As in `rankgauge.evaluate`.

            rel: As in `rankgauge.evaluate`.

            k: As in `rankgauge.evaluate`.

            catalog: As in `rankgauge.evaluate`.

            row_order: Whether the rows of a query come in an order that means something. If not, as in a table that is
                spread over machines, a policy under which the order decides about scores is refused.

        Returns:
            The evaluation.

        Raises:
            PlanError: Metrics that cannot be resolved, or that have to see the whole data set first.

            PolicyError: An unknown option, or without *row_order* one that depends on the order of rows.
        """
        plan = plan_run(metrics, profile=profile, policy=policy, rel=rel, k=k, catalog=catalog)
        check_stream(plan, "an evaluation in shards")
        if not row_order:
            _check_order(plan.profile.policy)
        default_k = None if k is None else DefaultK(k, "k")
        return cls(plan.catalog, specs_of(metrics), plan.profile, default_k, lock_for_sending(plan.metrics))

    def __reduce__(self) -> tuple[Any, ...]:
        check_sendable(self.metrics)
        values = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        return _unpacked, (type(self), values)

    @cached_property
    def _plan(self) -> Plan:
        """Plan again where it was sent to, under the lock of where it was planned."""
        conventions = Conventions(
            catalog=self.catalog, profile=self.profile, default_k=self.default_k or DefaultK(), by_id=True
        )
        return make_plan(self.metrics, conventions, locks=[self.lock])

    def shard(self, qrels: QrelsLike | None, run: RunLike, *, columns: Mapping[str, str] | None = None) -> RunShard:
        """
        Evaluate some queries.

        Args:
            qrels: Their judgments, in any form that `rankgauge.evaluate` takes; None if none of them is judged.

            run: All of their results, likewise.

            columns: As in `rankgauge.evaluate`.

        Returns:
            What `merge` takes. Queries that only one side has are counted, and judged queries without results scored as
            the policy says.

        Raises:
            PlanError: The metrics mean something else in this process.

            DataError: Judgments or results that cannot be used, every problem at once.

            SampleRefusedError: The policy turns a query into an error.
        """
        plan = self._plan
        source = narrowed_run(open_run(run, columns=columns, catalog=plan.catalog), plan.profile.policy)
        if qrels is None or (isinstance(qrels, Mapping) and not any(qrels.values())):
            names = [name for part in source.parts(1) for batch in part for name in batch.queries]
            looks = names[0].decode("utf-8", "backslashreplace") if names else ""
            return RunShard(counts=RunCounts(unjudged=len(set(names))), looks=(looks, ""))
        judgments = judgments_for(plan, qrels, columns)
        judged, evidence = judge_units(judgments, source, plan, require_overlap=False)
        counts = how_it_fits(plan, judged, evidence)
        facts = (judgments.n_queries, judgments.n_judgments, (judged.looks, judgments.query_names[0]))
        if not counts.queries:
            return RunShard(None, counts, *facts)
        collector = Collector(plan)
        collector.add_run([judgments.query_names[place] for place in judged.places.tolist()], evidence, judged.missing)
        scores = shard_scores(collector.finish(), judgments.gold_keys[judged.places])
        return RunShard(scores, counts, *facts)

    def scores(self, shard: RunShard) -> pl.DataFrame:
        """
        Return the scores of one shard.

        Args:
            shard: What `shard` returned.

        Returns:
            As `Result.per_sample`, in order of query ids; without rows if no query of the shard is judged.
        """
        scored = join_scores(self._plan, [] if shard.scores is None else [shard.scores], [])
        return Result.of(scored, {}).per_sample

    def added_up(self, shards: Iterable[RunShard]) -> RunShard:
        """
        Add up shards without keeping the score of each query, for what is too large even for that.

        Args:
            shards: Some shards, added up or not.

        Returns:
            One shard, for `merge_totals`.

        Raises:
            ParameterError: The aggregate of a metric is a plugin's, which needs every score.
        """
        shards = list(shards)
        totals = [shard.totals for shard in shards if shard.totals is not None]
        totals += [
            Totals.of(Result.of(join_scores(self._plan, [shard.scores], []), {}))
            for shard in shards
            if shard.scores is not None
        ]
        return RunShard(
            totals=Totals.merge(totals) if totals else None,
            counts=RunCounts.total(shard.counts for shard in shards),
            n_judged=sum(shard.n_judged for shard in shards),
            n_judgments=sum(shard.n_judgments for shard in shards),
            looks=_looks(shards),
        )

    def merge(self, shards: Iterable[RunShard], *, judgments: str = "", run: str = "") -> Result:
        """
        Put shards together.

        Args:
            shards: All of them, in any order; none that was added up.

            judgments: What the manifest is to call the judgments, such as a path or the name of a table.

            run: The same for the run.

        Returns:
            Equal to what `rankgauge.evaluate` returns for all rows at once, to the last bit. It cannot read its data
            again, as `Result.explain` would.

        Raises:
            NothingToEvaluateError: No query of the run is judged.

            ResultError: There is no shard, or a query is in two of them.

            MetricFailedError: A metric failed for every query; the rest is in its `result`.
        """
        shards = list(shards)
        if any(shard.totals is not None for shard in shards):
            raise ResultError("a shard was added up, so the scores of its queries are gone; use merge_totals()")
        notes = self._notes(shards, run)
        scored = join_scores(self._plan, [shard.scores for shard in shards if shard.scores is not None], notes)
        policy = self._plan.profile.policy
        scored.notes.extend([*scored.failures(policy), *scored.incomplete(policy)])
        fingerprint = fingerprint_of_gold(scored.sample_ids, scored.gold_keys)
        result = Result.of(scored, self._manifest(shards, judgments, run, fingerprint))
        if broken := broken_metrics({"": result}):
            raise MetricFailedError(broken, result)
        return result

    def merge_totals(self, shards: Iterable[RunShard], *, judgments: str = "", run: str = "") -> Totals:
        """
        Put shards together without the score of each query.

        Args:
            shards: As in `merge`; some or all of them added up.

            judgments: As in `merge`.

            run: As in `merge`.

        Returns:
            Means, counts and extremes to the last bit of those that `merge` finds.

        Raises:
            RankgaugeError: As `merge` and `added_up`; that a query is in two shards cannot be seen.
        """
        shards = list(shards)
        notes = self._notes(shards, run)
        whole = self.added_up(shards).totals
        manifest = self._manifest(shards, judgments, run, None)
        notes += () if whole is None else whole.notes
        totals = Totals(0 if whole is None else whole.n, {} if whole is None else whole.metrics, manifest, notes)
        if broken := [column.tried.reason for column in totals.metrics.values() if column.tried.reason]:
            raise MetricFailedError(broken, totals)
        return totals

    def _notes(self, shards: Sequence[RunShard], run: str) -> list[str]:
        """Return the notes on all shards; refuse none at all, and those of a run of which no query is judged."""
        if not shards:
            raise ResultError("there is nothing to merge")
        counts = RunCounts.total(shard.counts for shard in shards)
        if counts.queries == counts.missing:
            raise no_overlap(run or "the run", sum(shard.n_judged for shard in shards), *_looks(shards))
        policy = self._plan.profile.policy
        return [
            *([policy.idle] if policy.idle else []),
            *counts.notes(policy),
            *depth_notes(self._plan, counts.deepest, lambda _: counts.lacks_gold),
        ]

    def _manifest(
        self, shards: Sequence[RunShard], judgments: str, run: str, fingerprint: str | None
    ) -> dict[str, Any]:
        counts = RunCounts.total(shard.counts for shard in shards)
        dataset = {
            "name": Path(judgments).name or None,
            "path": judgments or None,
            "queries": sum(shard.n_judged for shard in shards),
            "judgments": sum(shard.n_judgments for shard in shards),
            "fingerprint": fingerprint,
        }
        outputs = {"from": "run", "path": run or None, "tag": None, **counts.facts(), "metadata": {}}
        return make_manifest(self._plan, dataset, outputs) | {
            "relevance": self._plan.profile.relevance,
            "files": {"qrels": None, "run": None, "columns": None},
            "merged_from": len(shards),
        }


def _looks(shards: Sequence[RunShard]) -> tuple[str, str]:
    """Return a query id of the run and one of the judgments, the same in any order of shards; empty for none."""
    run, judgments = (min((shard.looks[side] for shard in shards if shard.looks[side]), default="") for side in (0, 1))
    return run, judgments


def _unpacked(kind: type[ShardedRun], values: Mapping[str, Any]) -> ShardedRun:
    return kind(**values)


def _check_order(policy: Policy) -> None:
    """Raise `PolicyError` for options under which the order of rows decides about scores."""
    found = []
    if policy.order == "given":
        found.append("order=given (choose order=score)")
    elif policy.ties == "given":
        found.append("ties=given (choose docno, average or error)")
    if policy.duplicates in {"first", "last"}:
        found.append(f"duplicates={policy.duplicates} (choose best or error)")
    if found:
        msg = f"the rows have no order, and the policy depends on one: {listed(found)}; profile='trec10' does not"
        raise PolicyError(msg)
