"""
`Result`: the scores of an evaluation, with everything that says what they mean and all that can be done with scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.frozen import FrozenMap, frozen, read_only, refuse_attribute
from rankgauge.errors import ParameterError, counted
from rankgauge.result.column_info import MetricInfo, find_column
from rankgauge.result.health import in_a_line, incomplete_because, with_status
from rankgauge.result.meaning import Origin, merged
from rankgauge.result.sample_rows import SampleError, SampleText, pandas_frame, score_frame, without_score
from rankgauge.result.summary import MetricSummary
from rankgauge.samples import KeptOutput
from rankgauge.scoring.score import FAILED, MISSING
from rankgauge.scoring.scored import Scored

if TYPE_CHECKING:
    import os

    import pandas as pd
    import polars as pl

    from rankgauge.catalog import Catalog
    from rankgauge.comparison import Comparison
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.explain import Explanation
    from rankgauge.explain.bounds import Bounds
    from rankgauge.gates.grammar import Gate
    from rankgauge.gates.outcomes import GateReport
    from rankgauge.result.query_weights import Weights
    from rankgauge.samples import Sample


__all__ = ["Result"]


T = TypeVar("T")
Lazy: TypeAlias = T | Callable[[], T]
"""A value, or what returns it when it is first needed."""

_OF_COLUMNS = frozenset({"_per_sample", "unscored"})
"""What is computed of the columns, cohorts and texts, and kept: a result with others computes it again."""


class Result:
    """
    The scores of an evaluation.

        result = evaluation.run()
        result["ndcg@10"].mean

    Iterating gives the names of its columns, and `len` its number of samples. Nothing of it can be changed.

    Attributes:
        sample_ids: The samples, in order.

        tags: The cohorts of each sample.

        metrics: The columns by name, in order.

        manifest: Versions, provenance, policy, expressions, and fingerprints of data and definitions.

        notes: Remarks on the data.

        gold_keys: A hash of what each sample was judged against, by which results are compared; None if unknown.
    """

    tags: tuple[tuple[str, ...], ...]
    metrics: FrozenMap[str, MetricSummary]
    notes: tuple[str, ...]
    texts: tuple[SampleText, ...] | None = None  # the question and top results of each sample, after `with_texts`
    listed: tuple[Explanation, ...] = ()  # what reports list, after `with_worst`
    origin: Origin | None = None  # what it came from, if it was computed in this process
    folder: Path | None = None  # the folder that it was loaded from
    catalog: Catalog | None = None  # what plugins offer where its data are read again; None for all that is installed
    _sample_ids: Lazy[Sequence[str]]
    _manifest: Lazy[Mapping[str, Any]]
    _gold_keys: Lazy[NDArray[np.uint64]] | None
    _settings: Callable[[], Mapping[str, Any]] | None = None

    def __init__(
        self,
        sample_ids: Lazy[Sequence[str]],
        tags: Sequence[tuple[str, ...]],
        metrics: Mapping[str, MetricSummary],
        manifest: Lazy[Mapping[str, Any]],
        notes: Sequence[str] = (),
        gold_keys: Lazy[NDArray[np.uint64]] | None = None,
    ) -> None:
        """Put a result together, as `Evaluation.run` does; a function is called when its value is first needed."""
        self._hold(_sample_ids=sample_ids, _manifest=manifest, _gold_keys=gold_keys)
        self._hold(tags=tuple(tags), metrics=FrozenMap(metrics), notes=tuple(notes))

    __setattr__ = __delattr__ = refuse_attribute

    def _hold(self, **values: object) -> None:
        vars(self).update(values)

    def _changed(self, **values: object) -> Self:
        """Return this result with other values of some attributes, which still knows where it came from."""
        result = object.__new__(type(self))
        result._hold(**{**{name: value for name, value in vars(self).items() if name not in _OF_COLUMNS}, **values})
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        # without what is computed again
        return type(self), (self.sample_ids, self.tags, self.metrics, self.manifest, self.notes, self.gold_keys)

    @classmethod
    def of(
        cls,
        scored: Scored,
        manifest: Lazy[Mapping[str, Any]],
        origin: Origin | None = None,
        gold_keys: Lazy[NDArray[np.uint64]] | None = None,
        settings: Callable[[], Mapping[str, Any]] | None = None,
        infos: Sequence[MetricInfo] | None = None,
    ) -> Self:
        """Return the result of a run; *gold_keys*, *settings* and *infos* are made of the others if not given."""
        if gold_keys is None:
            gold_keys = scored.gold_keys
        columns = map(MetricSummary.of, scored.metrics, infos or repeat(None))
        metrics = {column.name: column for column in columns}
        result = cls(scored.ids, scored.tags, metrics, manifest, scored.notes, gold_keys)
        result._hold(origin=origin, _settings=settings)
        return result

    @cached_property
    def sample_ids(self) -> tuple[str, ...]:
        """Return the samples, in order."""
        return tuple(self._sample_ids() if callable(self._sample_ids) else self._sample_ids)

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return `profile`, `policy`, `interrupted` and, of a run, `relevance`, without the rest of the manifest."""
        return frozen(self._settings()) if self._settings is not None else self.manifest

    @cached_property
    def manifest(self) -> FrozenMap[str, Any]:
        """Return versions, provenance, policy, expressions and fingerprints: JSON values, read-only at any depth."""
        manifest: FrozenMap[str, Any] = frozen(self._manifest() if callable(self._manifest) else self._manifest)
        return manifest

    @cached_property
    def gold_keys(self) -> NDArray[np.uint64] | None:
        """Return a hash of what each sample was judged against; shape (samples,), None if that is not known."""
        keys = self._gold_keys() if callable(self._gold_keys) else self._gold_keys
        return None if keys is None else read_only(keys)

    @cached_property
    def outputs(self) -> Mapping[str, KeptOutput]:
        """
        Return what the system under test returned, as it was kept.

        Returns:
            By sample id the output of each call, or why it failed, with its duration and number of attempts;
            ``run(outputs=result.outputs)`` scores them again. Empty if no system was called: the outputs are then
            in the files that the manifest names.

        Raises:
            DataError: The file in the result folder cannot be read.
        """
        calls: Mapping[str, KeptOutput] = FrozenMap() if self.origin is None else self.origin.calls
        if self.origin is None and self.folder and self.manifest.get("outputs", {}).get("from") == "sut":
            from rankgauge.io.output_files import OUTPUTS_FILE, read_kept  # most results have none

            calls = read_kept(self.folder / OUTPUTS_FILE)
        kept: FrozenMap[str, KeptOutput] = frozen(calls)
        return kept

    def __getitem__(self, name: object) -> MetricSummary:
        """
        Return a column by its name, its safe name, or any spelling of its metric.

        Args:
            name: For example ``ndcg@10``, ``nDCG@10``, ``ndcg_cut_10``, ``ndcg_at_10`` or ``retrieval-ndcg-at-10``; a
                `KeyError` says where no column has it, or several do.
        """
        return find_column(self.metrics, name)

    @property
    def leading(self) -> MetricSummary | None:
        """Return the first column with a score of each sample, else the first one; None without a column."""
        columns = list(self.metrics.values())
        return next((column for column in columns if column.rankings is None), columns[0] if columns else None)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns, which `in` and ``[]`` take; `len` counts samples."""
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.tags)

    def __contains__(self, name: object) -> bool:
        try:
            self[name]
        except KeyError:
            return False
        return True

    def __repr__(self) -> str:
        return in_a_line(self)

    @property
    def per_sample(self) -> pl.DataFrame:
        """
        Return the scores as a polars frame.

        Returns:
            One row a sample: `sample_id`, `tags`, then for each metric its value under the safe name (null if it
            does not count) and its status under ``<safe name>_status``; for a metric of whole runs also the ids that
            the sample gave it, under ``<safe name>_ids``. After `with_texts` also `input` and
            `retrieved`, a list of ``{id, text}``. Who changes the frame changes nothing of the result.
        """
        return self._per_sample.clone()  # of its columns only, which polars never changes in place

    @cached_property
    def _per_sample(self) -> pl.DataFrame:
        return score_frame(self.sample_ids, self.tags, self.metrics, self.texts)

    def to_pandas(self) -> pd.DataFrame:
        """
        Return `per_sample` as a pandas frame, NaN for a score that does not count; pyarrow is not needed.

        Raises:
            MissingExtraError: pandas is not installed: ``pip install 'rankgauge[pandas]'``.
        """
        return pandas_frame(self.per_sample)

    @cached_property
    def unscored(self) -> tuple[SampleError, ...]:
        """Return every pair of sample and metric without a score; one entry if all metrics say the same."""
        return tuple(without_score(self.sample_ids, list(self.metrics.values())))

    @property
    def errors(self) -> tuple[SampleError, ...]:
        """Return what went wrong: missing outputs, and failed outputs, systems and plugins."""
        return tuple(error for error in self.unscored if error.status in {"missing", "failed"})

    @property
    def n_unhealthy(self) -> int:
        """Return how many samples have a missing output or a failure."""
        return int(np.count_nonzero(with_status(self, MISSING) | with_status(self, FAILED)))

    @property
    def incomplete_because(self) -> str:
        """Return why the run is incomplete, in words; empty if it is complete."""
        return incomplete_because(self)

    @property
    def is_incomplete(self) -> bool:
        """Return whether more samples are missing or failed than the policy's `max_failed` allows."""
        return bool(self.incomplete_because)

    def by_tag(self) -> dict[str | None, Self]:
        """Return a result for each tag, sorted; samples with several tags count in each; None holds those without."""
        places: dict[str | None, list[int]] = {}
        for place, tags in enumerate(self.tags):
            for tag in tags or (None,):
                places.setdefault(tag, []).append(place)
        return {tag: self.take(places[tag]) for tag in sorted(places, key=lambda tag: (tag is None, tag or ""))}

    def take(self, places: Sequence[int]) -> Self:
        """Return the result over some of the samples, in the order of their *places*, which begin with 0."""
        keys, texts = self.gold_keys, self.texts
        return self._changed(
            sample_ids=tuple(self.sample_ids[place] for place in places),
            tags=tuple(self.tags[place] for place in places),
            metrics=FrozenMap((name, column.take(places)) for name, column in self.metrics.items()),
            gold_keys=None if keys is None else read_only(keys[[int(place) for place in places]]),
            texts=None if texts is None else tuple(texts[place] for place in places),
            listed=(),
        )

    @classmethod
    def merge(cls, results: Sequence[Result]) -> Self:
        """
        Join the results of parts of a data set.

        Args:
            results: Results with the same columns over different samples.

        Returns:
            One result, equal to the last bit to that of all samples in this order.

        Raises:
            ResultError: The list is empty, columns or definitions differ, or a sample is in two of them.
        """
        return cls(*merged(list(results)))

    def with_columns(self, columns: Iterable[MetricSummary]) -> Self:
        """Return a new result with other columns over the same samples."""
        return self._changed(metrics=FrozenMap((column.name, column) for column in columns))

    def with_tags(self, tags: Sequence[tuple[str, ...]], *, notes: Sequence[str] = ()) -> Self:
        """
        Return this result with other cohorts.

        Args:
            tags: Those of each sample, in order; an empty tuple for none. Another number is a `ParameterError`.

            notes: Further remarks on the data.
        """
        if len(tags) != len(self):
            raise ParameterError(f"with_tags takes the tags of each of {counted(len(self), 'sample')}, not {len(tags)}")
        return self._changed(tags=tuple(tags), notes=(*self.notes, *notes))

    def with_manifest(self, entries: Mapping[str, Any]) -> Self:
        """Return a new result whose manifest has other entries: JSON values, which replace those of the same name."""
        return self._changed(manifest=frozen({**self.manifest, **entries}), _settings=None)

    @classmethod
    def load(cls, directory: str | os.PathLike[str], *, catalog: Catalog | None = None) -> Self:
        """
        Read a result folder; the result equals the one that was saved.

        Args:
            directory: What `save` wrote.

            catalog: What plugins offer, for aggregates and for what reads data again; by default what is installed.

        Raises:
            ResultError: It is not a complete result folder.
        """
        from rankgauge.result.folder_reader import read_folder  # most results were not loaded

        stored = read_folder(Path(directory), catalog)
        result = cls(*stored[:-1])
        result._hold(texts=stored.texts, folder=Path(directory).absolute(), catalog=catalog)
        return result

    def read_with(self, catalog: Catalog) -> Self:
        """Return this result, whose data are read again with what a catalog offers."""
        return self._changed(catalog=catalog)

    def to_dict(self) -> dict[str, Any]:
        """
        Return everything that the result shows as one JSON object; as in a pickle, the data are not in it.

        Returns:
            What ``json.dumps(..., allow_nan=False)`` takes, described by `json_schema`; keys are only ever added. An
            input that is no JSON value is kept as its `repr`, and a text that is no Unicode is a `ResultError`.
        """
        from rankgauge.result.stored import stored_object  # most results are not stored

        return stored_object(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, catalog: Catalog | None = None) -> Self:
        """
        Return the result that `to_dict` wrote, equal to it.

        Args:
            data: What it returned, also after a round trip through JSON, in whatever order of keys.

            catalog: As for `load`.

        Raises:
            ResultError: It is not a stored result, is damaged, or was stored in the form of a later version.
        """
        from rankgauge.explain import Explanation
        from rankgauge.result.stored import read_object

        stored = read_object(data, catalog)
        result = cls(*stored[:-1])
        listed = tuple(map(Explanation.from_dict, data.get("worst", ())))
        result._hold(texts=stored.texts, listed=listed, catalog=catalog)
        return result

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema of what `to_dict` returns."""
        from rankgauge.result.stored import result_schema

        return result_schema()

    def save(self, directory: str | os.PathLike[str], *, keep_data: bool = False) -> Path:
        """
        Write a result folder, complete or not at all, and return it.

        Args:
            directory: Where; it must not exist, or be empty.

            keep_data: Whether to copy samples and outputs into the folder, to explain and score it again anywhere.

        Raises:
            ResultError: The folder has something in it or cannot be written, or the data cannot be kept.
        """
        from rankgauge.report import save_result

        return save_result(self, Path(directory), keep_data=keep_data)

    def compare(self, baseline: Result, **options: object) -> Comparison:
        """
        Compare this result with a baseline, sample by sample.

        Args:
            baseline: The result to compare with.

            options: Those of `rankgauge.compare`, such as ``metrics`` and ``cluster``, whose errors are raised.

        Returns:
            The comparison of ``"this"`` with ``"baseline"``, its baseline.
        """
        from rankgauge.engine.comparing import compare

        return compare({"baseline": baseline, "this": self}, **options)  # type: ignore[arg-type]  # said by `compare`

    def gate(
        self,
        gates: Iterable[Gate | str | Mapping[str, Any]] | Gate | str | Mapping[str, Any],
        *,
        baseline: Result | None = None,
        catalog: Catalog | None = None,
    ) -> GateReport:
        """
        Judge gates, such as ``"ndcg@10 >= 0.6"``; `rankgauge.judge_gates` takes several results.

        Returns:
            One outcome for each gate; ``report.exit_code`` is 0 if all hold. Arguments and errors are those of
            `rankgauge.judge_gates`.
        """
        from rankgauge.gates.verdicts import judge_gates

        return judge_gates(self, gates, baseline=baseline, catalog=catalog)

    def explain(self, sample: str, metric: str | None = None) -> Explanation:
        """
        Explain one score, read again: what each rank adds, what is missing, and what would change it.

        Args:
            sample: The sample or query.

            metric: The column, in any spelling; the first one by default.

        Raises:
            RankgaugeError: There is no such sample or column, or the data are not at hand, or have changed.
        """
        from rankgauge.engine.explaining import explain_result

        return explain_result(self, sample, metric)

    def worst(self, metric: str | None = None, n: int = 10) -> tuple[Explanation, ...]:
        """
        Explain the worst samples of a metric: the lowest scores, or the highest if less is better.

        The data are read again, as for `explain`, which also has what would change a score.

        Args:
            metric: The column, in any spelling; the first one by default.

            n: How many samples, at the most.

        Returns:
            Their explanations, worst first; samples that do not count are not among them.

        Raises:
            RankgaugeError: As `explain`, and for an *n* that is not a number of samples.
        """
        from rankgauge.engine.explaining import worst_samples

        return worst_samples(self, metric, n)

    def with_worst(self, metric: str | None = None, n: int = 10) -> Self:
        """
        Return this result with its worst samples listed in every report.

        Returns:
            A new result, whose saved folder has them in `report.md`. Arguments and errors are those of `worst`.
        """
        return self._changed(listed=self.worst(metric, n))

    def with_texts(self, top: int = 10) -> Self:
        """
        Return this result with the question and the top results of every sample beside its scores, read again.

        Returns:
            A new result; its frames, JSON lines and folders have the texts of *top* results at the most.

        Raises:
            RankgaugeError: As `explain`, and for a *top* that is not a number of results.
        """
        from rankgauge.engine.explaining import texts_of

        return self._changed(texts=texts_of(self, top))

    def evaluation(self, *, catalog: Catalog | None = None) -> Evaluation:
        """
        Return the evaluation that this result came from, with the outputs that were scored.

            again = Result.load("runs/dense").evaluation().with_metrics(["ndcg@5"]).run()

        Args:
            catalog: What plugins offer, for a result from a folder; by default everything that is installed.

        Returns:
            An evaluation of all samples of the data, also if the result is of the first ones only.

        Raises:
            ResultError: The result is of a run and judgments, or its data are not kept or have changed.
        """
        from rankgauge.engine.reopen import evaluation_of

        return evaluation_of(self, catalog=catalog)

    def samples(self, *, catalog: Catalog | None = None) -> Iterator[Sample]:
        """
        Yield the samples that were scored, each with the first of its outputs; the data are read again.

        Args:
            catalog: What plugins offer, for a result from a folder; by default everything that is installed.

        Raises:
            ResultError: As `evaluation`, or a column would mean something else with the plugins that there are.
        """
        from rankgauge.engine.reopen import samples_of

        return samples_of(self, catalog)

    def with_clusters(self, cluster: str | Mapping[str, object]) -> Result:
        """
        Return this result with standard errors and intervals of clusters, also in folders, reports and gates.

        Args:
            cluster: What samples share: a field of their metadata, for which the data are read again, or by sample id.

        Raises:
            ResultError: A sample has no cluster, or the data cannot be read again.
        """
        from rankgauge.engine.comparing import with_clusters

        return with_clusters(self, cluster)

    def with_weights(self, weights: Weights) -> Result:
        r"""
        Return this result with weights of samples, so that means are $\sum w x / \sum w$; sums stay as they are.

        Args:
            weights: A field of the metadata, the weight by sample id, or the `Path` of a file with both in each line.

        Raises:
            ResultError: A sample has no weight or what is none, all are 0, or the data cannot be read again.
        """
        from rankgauge.engine.comparing import with_weights

        return with_weights({"": self}, weights)[""]

    def bounds(self, *, grade: float | None = None, catalog: Catalog | None = None) -> dict[str, Bounds | None]:
        """
        Return the worst and the best case of each mean of a run, over everything that unjudged results might be.

        The retrieved documents without a judgment may get any grade from 0 to *grade*, each on its own, and for metrics
        that only ask whether a document is relevant, each may be. Documents that are not retrieved stay as they are, so
        that these are not bounds over all judgments, and queries that are not in the mean now stay out of it.

        Args:
            grade: The highest grade that a document may get; by default the highest in the judgments, or 1 for none.

            catalog: What plugins offer, for a result from a folder; by default everything that is installed.

        Returns:
            By column name; None if no bounds are known: they are for precision, hit, reciprocal rank, recall, F1,
            R-precision, AP, rank-biased precision, ERR, CG, DCG, and nDCG with an ideal over the ground truth.

        Raises:
            RankgaugeError: A grade below the highest in the judgments, a policy that leaves open at which rank unjudged
                documents are, a result of samples, or a run that cannot be read again.
        """
        from rankgauge.engine.reopen import bounds

        return bounds(self, grade=grade, catalog=catalog)

    def condensed(self, *, catalog: Catalog | None = None) -> Result:
        """
        Return the same evaluation over condensed lists: unjudged documents are dropped before ranks are counted.

        Systems that change places here owe their order to unjudged documents (Sakai, Alternatives to bpref, 2007).

        Returns:
            A result under the policy ``judged_only=true``; its columns have other fingerprints, so that it is compared
            only with results under that policy. The argument and errors are those of `bounds`.
        """
        from rankgauge.engine.reopen import condensed

        return condensed(self, catalog=catalog)

    def _repr_html_(self) -> str:
        from rankgauge.report.markdown import notebook_table

        return notebook_table(self)
