"""
rankgauge as an evaluator of sentence-transformers: `RankgaugeEvaluator` in a training loop, or for one model.
"""

from __future__ import annotations

import csv
import logging
import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

import rankgauge
from rankgauge.errors import NothingToEvaluateError, ParameterError
from rankgauge_hosts.shared import MetricArgument

__all__ = ["RankgaugeEvaluator"]

logger = logging.getLogger(__name__)

_CUTOFFS = ("mrr_at_k", "ndcg_at_k", "accuracy_at_k", "precision_recall_at_k", "map_at_k")
"""The options of the library's evaluator that decide how deep it looks."""

RelevantDocs = Mapping[str, Collection[str] | Mapping[str, float]]
"""By query the ids of its relevant documents, or their grades by id."""


class RankgaugeEvaluator(InformationRetrievalEvaluator):
    """
    Metrics of rankgauge over what a model retrieves from a corpus.

    It encodes, compares and ranks as `InformationRetrievalEvaluator` does, equal scores by id, and takes its options.
    Scores are called as there, such as ``dev_cosine_ndcg@10``; the first metric is the `primary_metric`.

    Attributes:
        results: Of the last call, by similarity function the scores of each query, as a `rankgauge.Result` that can be
            compared with that of another model.
    """

    def __init__(
        self,
        queries: Mapping[str, Any],
        corpus: Mapping[str, Any],
        relevant_docs: RelevantDocs,
        metrics: MetricArgument | Sequence[MetricArgument],
        *,
        top_k: int = 100,
        profile: str = "trec10",
        k: int | None = None,
        policy: Mapping[str, Any] | None = None,
        **options: Any,  # noqa: ANN401  # those of the library
    ) -> None:
        """
        Take queries, corpus and judgments, and check the metrics.

        `profile`, `k` and `policy` are those of `rankgauge.evaluate`.

        Args:
            queries: The queries by id; those without relevant documents are left out.

            corpus: The documents by id.

            relevant_docs: By query the ids of its relevant documents, or their grades by id.

            metrics: One or several metrics over ids and grades.

            top_k: How many documents are retrieved for each query; at least the deepest cutoff.

            options: Those of `InformationRetrievalEvaluator`, such as `name`, `batch_size`, `corpus_chunk_size`,
                `truncate_dim`, `query_prompt` and `write_csv`, but for cutoffs.

        Raises:
            RankgaugeError: The metrics or the judgments cannot be used, or no query has a relevant document.
        """
        cutoffs = {name: [top_k] for name in _CUTOFFS}
        super().__init__(dict(queries), dict(corpus), dict(relevant_docs), **options, **cutoffs)
        name = f"_{self.name}" if self.name else ""
        self.csv_file = f"rankgauge_evaluation{name}_results.csv"
        self.results: dict[str, rankgauge.Result] = {}
        self._metrics, self._top_k = [metrics] if isinstance(metrics, str | Mapping) else list(metrics), top_k
        self._choices: dict[str, Any] = {"profile": profile, "k": k, "policy": {"ties": "given", **(policy or {})}}
        self._qrels = {query: _grades(relevant_docs[query]) for query in self.queries_ids}
        self._check()

    def __call__(
        self,
        model: Any,  # noqa: ANN401  # a model of the library
        output_path: str | None = None,
        epoch: int = -1,
        steps: int = -1,
        *args: Any,  # noqa: ANN401
        **kwargs: Any,  # noqa: ANN401
    ) -> dict[str, float]:
        """
        Score a model, and write a line into the CSV file of *output_path*, as the library's own evaluator does.

        Args:
            model: The model.

            output_path: The folder of the CSV file; None for none.

            epoch: The epoch of the training loop; -1 outside of it.

            steps: The steps in this epoch; -1 at its end.

        Returns:
            The value of each metric; NaN if it is undefined for every query.
        """
        if self._score_functions_from_model:
            self.score_functions = self._model_score_functions(model)
        self.score_function_names = sorted(self.score_functions)
        self.results = self.compute_all_metrics(model, *args, output_path=output_path, **kwargs)
        means = {
            (function, column.name): math.nan if column.mean is None else column.mean
            for function in self.score_function_names
            for column in self.results[function].metrics.values()
        }
        self.primary_metric = self._primary(means)
        if output_path is not None and self.write_csv:
            self.csv_headers = ["epoch", "steps", *map("-".join, means)]
            self._write_row(Path(output_path) / self.csv_file, [epoch, steps, *means.values()])
        named = {"_".join(name): mean for name, mean in means.items()}
        metrics: dict[str, float] = self.prefix_name_to_metrics(named, self.name)
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics

    def compute_metrics(self, queries_result_list: Sequence[Sequence[Mapping[str, Any]]]) -> rankgauge.Result:
        """Score what was retrieved for each query, best first; `compute_all_metrics` of the library calls it."""
        run = {
            query: {hit["corpus_id"]: hit["score"] for hit in hits}
            for query, hits in zip(self.queries_ids, queries_result_list, strict=True)
        }
        return rankgauge.evaluate(self._qrels, run, self._metrics, **self._choices)

    def output_scores(self, scores: rankgauge.Result) -> None:
        """Log the scores of one similarity function."""
        for column in scores.metrics.values():
            logger.info("%s: %s", column.name, "none" if column.mean is None else f"{column.mean:.4f}")

    def _check(self) -> None:
        """Score one document before any model is trained, so that mistakes show now."""
        if not self.queries_ids or not self.corpus_ids:
            problem = "there is no document, or relevant_docs names a document for none of the queries"
            raise NothingToEvaluateError("nothing can be evaluated:", [problem])
        found = {self.queries_ids[0]: {self.corpus_ids[0]: 1.0}}
        columns = rankgauge.evaluate(self._qrels, found, self._metrics, **self._choices).metrics.values()
        deepest = max((column.info.k[1] for column in columns if column.info.k is not None), default=0)
        if deepest > self._top_k < len(self.corpus_ids):
            raise ParameterError(
                f"metrics look at {deepest} results, and top_k={self._top_k} are retrieved; give top_k={deepest}"
            )
        self._leading = next(iter(columns))
        self.greater_is_better = self._leading.info.higher_is_better

    def _primary(self, means: Mapping[tuple[str, str], float]) -> str:
        """Return the score of the first metric: by the function that was chosen, or else by the best one."""
        name = self._leading.name
        if self.main_score_function is not None:
            return f"{self.main_score_function.value}_{name}"
        best = max if self.greater_is_better else min
        return f"{best(self.score_function_names, key=lambda function: means[function, name])}_{name}"

    def _write_row(self, path: Path, row: Sequence[float]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        if not is_new:
            with path.open(encoding="utf-8", newline="") as file:
                if next(csv.reader(file), []) != self.csv_headers:
                    logger.warning("%s has other columns, so nothing is added to it; give another name=", path)
                    return
        with path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([self.csv_headers, row] if is_new else [row])


def _grades(relevant: Collection[str] | Mapping[str, float]) -> Mapping[str, float]:
    return relevant if isinstance(relevant, Mapping) else dict.fromkeys(relevant, 1)
