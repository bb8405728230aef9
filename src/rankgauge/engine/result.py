"""
`Result`: the scores of an evaluation as users hold them, with everything that can be done with scores.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rankgauge.result import ResultValues

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog
    from rankgauge.comparison import Comparison
    from rankgauge.explain import Explanation
    from rankgauge.explain.bounds import Bounds
    from rankgauge.gates.grammar import Gate
    from rankgauge.gates.outcomes import GateReport
    from rankgauge.samples import Sample

__all__ = ["Result"]


class Result(ResultValues):
    """
    The scores of an evaluation.

        result = evaluation.run()
        result["ndcg@10"].mean

    Iterating gives the names of its columns, as of a data frame, and `len` its number of samples. Nothing of it can be
    changed. To the values of `ResultValues` it adds what needs data, reports or another result.

    Attributes:
        sample_ids: The samples, in order.

        tags: The cohorts of each sample.

        metrics: The columns by name, in order.

        manifest: Versions, provenance, policy, expressions, and fingerprints of data and definitions.

        notes: Remarks on the data.

        gold_keys: A hash of what each sample was judged against, by which results are compared; None where unknown.
    """

    def save(self, directory: str | os.PathLike[str], *, keep_data: bool = False) -> Path:
        """
        Write a result folder; it is complete or absent.

        Args:
            directory: Where; it must not exist, or be empty.

            keep_data: Whether to copy samples and outputs into the folder, so that it can be explained and scored again
                wherever it is.

        Returns:
            The folder.

        Raises:
            ResultError: The folder has something in it or cannot be written, or the data cannot be kept.
        """
        from rankgauge.report import save_result

        return save_result(self, Path(directory), keep_data=keep_data)

    def compare(self, baseline: ResultValues, **options: object) -> Comparison:
        """
        Compare this result with a baseline, sample by sample.

        Args:
            baseline: The result to compare with.

            options: Those of `rankgauge.compare`, such as ``metrics`` and ``cluster``.

        Returns:
            The comparison of ``"this"`` with ``"baseline"``, its baseline.

        Raises:
            ResultError: As `rankgauge.compare`.

            ParameterError: As `rankgauge.compare`.
        """
        from rankgauge.engine.comparing import compare

        return compare({"baseline": baseline, "this": self}, **options)  # type: ignore[arg-type]  # said by `compare`

    def gate(
        self,
        gates: Iterable[Gate | str | Mapping[str, Any]] | Gate | str | Mapping[str, Any],
        *,
        baseline: ResultValues | None = None,
    ) -> GateReport:
        """
        Judge gates, such as ``"ndcg@10 >= 0.6"``; `rankgauge.judge_gates` takes several results.

        Args:
            gates: One gate or several, in any form.

            baseline: What changes are judged against.

        Returns:
            One outcome for each gate; ``report.exit_code`` is 0 where all hold.

        Raises:
            ParameterError: As `rankgauge.judge_gates`.
        """
        from rankgauge.gates.verdicts import judge_gates

        return judge_gates(self, gates, baseline=baseline)

    def explain(self, sample: str, metric: str | None = None) -> Explanation:
        """
        Explain one score: what each rank adds, what is missing, and what would change it.

        The data are read again from where the result came from, and have to give the same score.

        Args:
            sample: The sample or query.

            metric: The column, in any spelling; the first one by default.

        Returns:
            The explanation.

        Raises:
            ResultError: There is no such sample or column, or the data have changed or were not kept.

            DataError: A data file cannot be read.
        """
        from rankgauge.engine.explaining import explain_result

        return explain_result(self, sample, metric)

    def worst(self, metric: str | None = None, n: int = 10) -> tuple[Explanation, ...]:
        """
        Explain the worst samples of a metric: the lowest scores, or the highest where less is better.

        The data are read again, as for `explain`; what would change a score is left out, `explain` has it.

        Args:
            metric: The column, in any spelling; the first one by default.

            n: How many samples, at the most.

        Returns:
            Their explanations, worst first; samples that do not count are not among them.

        Raises:
            ResultError: As `explain`.

            DataError: As `explain`.

            ParameterError: *n* is not a number of samples.
        """
        from rankgauge.engine.explaining import worst_samples

        return worst_samples(self, metric, n)

    def with_worst(self, metric: str | None = None, n: int = 10) -> Self:
        """
        Return this result with its worst samples listed in every report.

        Args:
            metric: As in `worst`.

            n: As in `worst`.

        Returns:
            A new result; a folder that is saved from it has them in `report.md`.

        Raises:
            RankgaugeError: As `worst`.
        """
        return self.holding(self, _listed=self.worst(metric, n))

    def with_texts(self, top: int = 10) -> Self:
        """
        Return this result with the question and the top results of every sample beside its scores.

        The data are read again, as for `explain`.

        Args:
            top: How many results, at the most.

        Returns:
            A new result; its frames, JSON lines and folders have the texts.

        Raises:
            RankgaugeError: As `explain`, and where *top* is not a number of results.
        """
        from rankgauge.engine.explaining import texts_of

        result = self.holding(self, _texts=texts_of(self, top))
        vars(result).pop("_per_sample", None)  # the frame without texts
        return result

    def samples(self, *, catalog: Catalog | None = None) -> Iterator[Sample]:
        """
        Yield the samples that were scored, with their outputs; the data are read again.

        Args:
            catalog: What plugins offer, for a result from a folder; by default everything that is installed.

        Returns:
            The samples in the order of the data, each with the first of its outputs where a system was called several
            times.

        Raises:
            ResultError: The result is of a run and judgments; or its data are not kept or have changed; or a column
                would mean something else with the plugins that are installed.
        """
        from rankgauge.engine.reopen import samples_of

        return samples_of(self, catalog)

    def with_clusters(self, cluster: str | Mapping[str, object]) -> Self:
        """
        Return this result with standard errors and intervals of clusters, where samples are not independent.

        Args:
            cluster: What samples share that are not independent: a field of their metadata, for which the data are read
                again, or the cluster by sample id.

        Returns:
            A new result with the same scores; folders, reports and gates on changes go by the clusters.

        Raises:
            ResultError: A sample has no cluster, or the data cannot be read again.
        """
        from rankgauge.comparison.clusters import clustered
        from rankgauge.engine.comparing import named_clusters

        named, clusters = named_clusters({"": self}, cluster)
        return clustered(self, clusters or {}, named)

    def bounds(self, *, grade: float | None = None, catalog: Catalog | None = None) -> dict[str, Bounds | None]:
        """
        Return the worst and the best case of each mean of a run, over everything that unjudged results might be.

        The retrieved documents that nobody judged may get any grade from 0 to *grade*, each on its own, and for metrics
        that only ask whether a document is relevant, each may be. Documents that the run does not retrieve stay as they
        are, so that these are not bounds over all judgments. Queries that are not in the mean now, such as one without
        a relevant document where these are left out, stay out of it.

        Args:
            grade: The highest grade that a document may get; by default the highest in the judgments, or 1 if they find
                nothing relevant.

            catalog: What plugins offer, for a result from a folder; by default everything that is installed.

        Returns:
            By column name; None for a metric for which no bounds are known: they are for precision, hit, reciprocal
            rank, recall, F1, R-precision, average precision, rank-biased precision, ERR, CG, DCG, and nDCG with an
            ideal over the ground truth.

        Raises:
            ParameterError: A grade below the highest in the judgments.

            PolicyError: A policy that leaves open which unjudged document stands at which rank.

            ResultError: The result is of samples, or its run cannot be read again.
        """
        from rankgauge.engine.reopen import bounds

        return bounds(self, grade=grade, catalog=catalog)

    def condensed(self, *, catalog: Catalog | None = None) -> Self:
        """
        Return the same evaluation over condensed lists: unjudged documents are dropped before ranks are counted.

        Sakai, Alternatives to bpref, SIGIR 2007. Two systems that change places here owe their order to unjudged
        documents.

        Args:
            catalog: As in `bounds`.

        Returns:
            A result under the policy ``judged_only=true``; its columns have other fingerprints, so that it is compared
            only with results under that policy.

        Raises:
            ResultError: The result is of samples, or its run cannot be read again.
        """
        from rankgauge.engine.reopen import condensed

        return self.holding(condensed(self, catalog=catalog))

    def _repr_html_(self) -> str:
        from rankgauge.report.markdown import notebook_table

        return notebook_table(self)
