"""
`ResultValues`: the columns of an evaluation with everything that says what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.frozen import FrozenMap, frozen, read_only, refuse_attribute
from rankgauge.base.plain_text import visible
from rankgauge.errors import ParameterError, counted, listed
from rankgauge.result.column_info import MetricInfo, find_column
from rankgauge.result.meaning import Origin, Part, concatenated, merged_ids, merged_manifest
from rankgauge.result.sample_rows import SampleError, SampleText, pandas_frame, score_frame, without_score
from rankgauge.result.summary import MetricSummary
from rankgauge.samples import KeptOutput
from rankgauge.scoring.score import FAILED, MISSING
from rankgauge.scoring.scored import Scored, without_worst

if TYPE_CHECKING:
    import os

    import pandas as pd
    import polars as pl


__all__ = ["ResultValues", "broken_metrics", "check_results"]


GoldKeys = NDArray[np.uint64] | Callable[[], NDArray[np.uint64]] | None
Manifest = Mapping[str, Any] | Callable[[], Mapping[str, Any]]


class ResultValues:
    """The scores of an evaluation as read-only values, on which a `rankgauge.Result` is built; see there."""

    tags: tuple[tuple[str, ...], ...]  # the cohorts of each sample
    metrics: FrozenMap[str, MetricSummary]  # the columns by name, in order
    notes: tuple[str, ...]  # remarks on the data
    _sample_ids: Sequence[str] | Callable[[], Sequence[str]]
    _manifest: Manifest
    _gold_keys: GoldKeys
    _settings: Callable[[], Mapping[str, Any]] | None = None
    _origin: Origin | None = None
    _folder: Path | None = None
    _listed: tuple[Any, ...] = ()  # explanations, whose type stands in a higher room
    _texts: tuple[SampleText, ...] | None = None

    def __init__(
        self,
        sample_ids: Sequence[str] | Callable[[], Sequence[str]],
        tags: Sequence[tuple[str, ...]],
        metrics: Mapping[str, MetricSummary],
        manifest: Manifest,
        notes: Sequence[str] = (),
        gold_keys: GoldKeys = None,
    ) -> None:
        """Put a result together, as `Evaluation.run` does; a function is called when its value is first needed."""
        vars(self).update(_sample_ids=sample_ids, _manifest=manifest, _gold_keys=gold_keys)
        vars(self).update(tags=tuple(tags), metrics=FrozenMap(metrics), notes=tuple(notes))

    __setattr__ = __delattr__ = refuse_attribute

    def __reduce__(self) -> tuple[Any, ...]:
        # without what is cached
        return type(self), (self.sample_ids, self.tags, self.metrics, self.manifest, self.notes, self.gold_keys)

    @classmethod
    def of(
        cls,
        scored: Scored,
        manifest: Manifest,
        origin: Origin | None = None,
        gold_keys: GoldKeys = None,
        settings: Callable[[], Mapping[str, Any]] | None = None,
        infos: Sequence[MetricInfo] | None = None,
    ) -> Self:
        """Return the result of a run; *gold_keys*, *settings* and *infos* are made of the others where not given."""
        if gold_keys is None:
            gold_keys = scored.gold_keys
        columns = map(MetricSummary.of, scored.metrics, infos or repeat(None))
        metrics = {column.name: column for column in columns}
        result = cls(scored.ids, scored.tags, metrics, manifest, scored.notes, gold_keys)
        vars(result).update(_origin=origin, _settings=settings)
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
        """Return a hash of what each sample was judged against; shape (samples,), None where that is not known."""
        keys = self._gold_keys() if callable(self._gold_keys) else self._gold_keys
        return None if keys is None else read_only(keys)

    @property
    def origin(self) -> Origin | None:
        """Return what it came from, where it was computed in this process; None where it was loaded or merged."""
        return self._origin

    @property
    def folder(self) -> Path | None:
        """Return the folder that it was loaded from; None where it was computed in this process."""
        return self._folder

    @cached_property
    def outputs(self) -> Mapping[str, KeptOutput]:
        """
        Return what the system under test returned, as it was kept.

        Returns:
            By sample id the output of each call, or why it failed, with its duration and number of attempts;
            ``run(outputs=result.outputs)`` scores them again. Empty where no system was called: the outputs are then
            in the files that the manifest names.

        Raises:
            DataError: The file in the result folder cannot be read.
        """
        calls: Mapping[str, KeptOutput] = FrozenMap() if self._origin is None else self._origin.calls
        if self._origin is None and self._folder and self.manifest.get("outputs", {}).get("from") == "sut":
            from rankgauge.io.output_files import OUTPUTS_FILE, read_kept  # most results have none

            calls = read_kept(self._folder / OUTPUTS_FILE)
        kept: FrozenMap[str, KeptOutput] = frozen(calls)
        return kept

    def __getitem__(self, name: object) -> MetricSummary:
        """
        Return a column by its name, its safe name, or any spelling of its metric.

        Args:
            name: For example ``ndcg@10``, ``nDCG@10``, ``ndcg_cut_10``, ``ndcg_at_10`` or ``retrieval-ndcg-at-10``.

        Returns:
            The column.

        Raises:
            KeyError: No column has this name, or several do.
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
        health = ", ".join(filter(None, ["INCOMPLETE" if self.is_incomplete else "", self.unhealthy]))
        why = visible(" ".join(self.first_fault.split()))
        why = f" ({why[:_SHOWN]}{'...' if len(why) > _SHOWN else ''})" if why else ""
        said = f", {health}{why}" if health else ""
        differ = len({column.n_failed for column in self.metrics.values()}) > 1
        columns = [
            f"{name}={_mean_text(column, counts=differ)}{' (incomplete)' if self.incomplete_value(column) else ''}"
            for name, column in self.metrics.items()
        ]
        return f"<Result of {counted(len(self), 'sample')}{said}: {listed(columns)}>"

    @property
    def per_sample(self) -> pl.DataFrame:
        """
        Return the scores as a polars frame.

        Returns:
            One row a sample: `sample_id`, `tags`, then for each metric its value under the safe name (null where it
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
        Return the scores as a pandas frame; pyarrow is not needed.

        Returns:
            The rows and columns of `per_sample`; a score that does not count is NaN.

        Raises:
            MissingExtraError: pandas is not installed: ``pip install 'rankgauge[pandas]'``.
        """
        return pandas_frame(self.per_sample)

    @cached_property
    def unscored(self) -> tuple[SampleError, ...]:
        """Return every pair of sample and metric without a score; one entry where all metrics say the same."""
        return tuple(without_score(self.sample_ids, list(self.metrics.values())))

    @property
    def errors(self) -> tuple[SampleError, ...]:
        """Return what went wrong: missing outputs, and failed outputs, systems and plugins."""
        return tuple(error for error in self.unscored if error.status in {"missing", "failed"})

    @property
    def n_unhealthy(self) -> int:
        """Return how many samples have a missing output or a failure."""
        return int(np.count_nonzero(self._with_code(MISSING) | self._with_code(FAILED)))

    def _with_code(self, code: int) -> NDArray[np.bool_]:
        """Return which samples have a status in any column; shape (samples,)."""
        found = np.zeros(len(self), dtype=np.bool_)
        for column in self.metrics.values():
            found |= column.codes == code
        return found

    @property
    def unhealthy(self) -> str:
        """Return how many samples are missing, and how many failed for any metric, in words; empty for none."""
        failed = self._with_code(FAILED)
        counts = {"missing": self._with_code(MISSING) & ~failed, "failed": failed}
        return ", ".join(f"{np.count_nonzero(found):,} {word}" for word, found in counts.items() if found.any())

    @property
    def first_fault(self) -> str:
        """Return what went wrong first: the first failure, or else the first sample that is missing."""
        for code in (FAILED, MISSING):
            for column in self.metrics.values():
                for place, reason in column.reasons.items():
                    if column.codes[place] == code:
                        return f"{self.sample_ids[place]}: {reason}"
        return ""

    @property
    def is_incomplete(self) -> bool:
        """Return whether more samples are missing or failed than the policy's `max_failed` allows."""
        return bool(self.incomplete_because)

    @property
    def incomplete_because(self) -> str:
        """Return why the run is incomplete, in words; empty where it is not."""
        if self.settings.get("interrupted"):
            return f"the run was interrupted after {counted(len(self), 'sample')}"
        n, allowed = self.n_unhealthy, float(self.settings.get("policy", {}).get("max_failed", 0.0))
        if not n or n / len(self) <= allowed:
            return ""
        of = f"{n:,} of {counted(len(self), 'sample')} {'is' if n == 1 else 'are'}"
        return f"the run is incomplete: {of} missing or failed, and max_failed allows {100 * allowed:.10g} %"

    def incomplete_value(self, column: MetricSummary) -> str:
        """Return why the value of a column is incomplete, though the run may not be; empty where it is not."""
        if not column.info.lacks_worst:
            return ""
        policy = self.settings.get("policy", {})
        counts = {"missing_output": column.n_missing, "failed_output": column.n_failed}
        n = sum(count for rule, count in counts.items() if policy.get(rule, "zero") == "zero")
        return without_worst(n, len(self)) if n else ""

    def by_tag(self) -> dict[str | None, Self]:
        """
        Split the result by cohort.

        Returns:
            One result for each tag, sorted; samples with several tags count in each; None holds those without.
        """
        places: dict[str | None, list[int]] = {}
        for place, tags in enumerate(self.tags):
            for tag in tags or (None,):
                places.setdefault(tag, []).append(place)
        return {tag: self.take(places[tag]) for tag in sorted(places, key=lambda tag: (tag is None, tag or ""))}

    def take(self, places: Sequence[int]) -> Self:
        """
        Return the result over some of the samples.

        Args:
            places: Which samples, from 0.

        Returns:
            A new result with the same columns.
        """
        taken = ResultValues(
            [self.sample_ids[place] for place in places],
            [self.tags[place] for place in places],
            {name: column.take(places) for name, column in self.metrics.items()},
            self.manifest,
            self.notes,
            None if self.gold_keys is None else self.gold_keys[[int(place) for place in places]],
        )
        return self.holding(taken, _origin=self._origin, _folder=self._folder)

    @classmethod
    def merge(cls, results: Sequence[ResultValues]) -> Self:
        """
        Join the results of parts of a data set.

        Args:
            results: Results with the same columns over different samples.

        Returns:
            One result, equal to the last bit to that of one run over all samples in this order.

        Raises:
            ResultError: The list is empty, columns or definitions differ, or a sample is in two of them.
        """
        results = list(results)
        parts = [Part(result.metrics, result.manifest) for result in results]
        ids = merged_ids(parts, [result.sample_ids for result in results])
        columns = zip(*(result.metrics.values() for result in results), strict=True)
        metrics = {name: concatenated(same) for name, same in zip(results[0].metrics, columns, strict=True)}
        notes = dict.fromkeys(note for result in results for note in result.notes)
        tags = [tags for result in results for tags in result.tags]
        keys = [result.gold_keys for result in results if result.gold_keys is not None]
        gold_keys = np.concatenate(keys) if len(keys) == len(results) else None
        return cls(ids, tags, metrics, merged_manifest([part.manifest for part in parts]), list(notes), gold_keys)

    def with_columns(self, columns: Iterable[MetricSummary]) -> Self:
        """Return a new result with other columns over the same samples."""
        result = self.holding(self, metrics=FrozenMap((column.name, column) for column in columns))
        for cached in ("_per_sample", "unscored"):
            vars(result).pop(cached, None)
        return result

    def with_manifest(self, entries: Mapping[str, Any]) -> Self:
        """Return a new result whose manifest has other entries: JSON values, which replace those of the same name."""
        return self.holding(self, manifest=frozen({**self.manifest, **entries}), _settings=None)

    @classmethod
    def holding(cls, values: ResultValues, **changes: object) -> Self:
        """Return a result with the values of another one, which keeps where they came from."""
        result = object.__new__(cls)
        vars(result).update(vars(values), **changes)
        return result

    @property
    def texts(self) -> tuple[SampleText, ...] | None:
        """Return the question and top results of each sample, in order; None where `with_texts` was not called."""
        return self._texts

    @property
    def listed(self) -> tuple[Any, ...]:
        """Return the explanations that reports list, which `Result.with_worst` chose; empty where it was not called."""
        return self._listed

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Self:
        """
        Read a result folder.

        Args:
            directory: What `save` wrote.

        Returns:
            The result, equal to the one that was saved.

        Raises:
            ResultError: It is not a complete result folder.
        """
        from rankgauge.result.folder_reader import read_folder  # most results were not loaded

        result = cls(*read_folder(Path(directory)))
        vars(result)["_folder"] = Path(directory).absolute()
        return result


_SHOWN = 160
"""How many characters of the first reason a result shows of itself."""


def _mean_text(column: MetricSummary, *, counts: bool) -> str:
    """Return the mean, and with *counts* how many samples failed; what failed for every sample has no mean."""
    if column.broken:
        return "failed"
    mean = "none" if column.mean is None else f"{column.mean:.4f}"
    return f"{mean} ({column.n_failed:,} failed)" if counts and column.n_failed else mean


def broken_metrics(results: Mapping[str, ResultValues]) -> list[str]:
    """Return why metrics failed for every sample, a line for each, with the name of its result if there are several."""
    return [
        f"{f'{run}: ' if len(results) > 1 else ''}{column.broken}"
        for run, result in results.items()
        for column in result.metrics.values()
        if column.broken
    ]


def check_results(function: str, results: object) -> None:
    """Refuse what is no mapping of results by name, given to a public function."""
    if not isinstance(results, Mapping) or not all(isinstance(result, ResultValues) for result in results.values()):
        raise ParameterError(f"{function} takes results by name, such as {{'bm25': first, 'rrf': second}}")
