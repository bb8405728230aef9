"""
`RankgaugeEval`: the fixture's value, with which tests log rankings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from rankgauge.errors import RankgaugeError, counted

if TYPE_CHECKING:
    from rankgauge.features.pytest_plugin.logged_gates import Baseline, Scoring
    from rankgauge.result import Result
    from rankgauge.samples import Sample

__all__ = ["RankgaugeEval"]


class RankgaugeEval:
    """
    The samples that one test logs: what was retrieved, and what should have been.

    Attributes:
        test: The id of the test.
    """

    def __init__(self, test: str, scoring: Scoring) -> None:
        self.test = test
        self._scoring = scoring
        self._logged: dict[str, list[Mapping[str, Any]]] = {}

    def __len__(self) -> int:
        return len(self._logged)

    def __repr__(self) -> str:
        return f"<RankgaugeEval of {self.test}: {counted(len(self), 'sample')}>"

    @property
    def samples(self) -> tuple[Mapping[str, Any], ...]:
        """Return what was logged, in the form of the dataset contract; a later call for a sample has its `repeat`."""
        return tuple(record for calls in self._logged.values() for record in calls)

    def log(
        self,
        sample: str | Mapping[str, Any] | Sample,
        *,
        retrieved: Iterable[Any] | None = None,
        expected: object = None,
        answer: str | None = None,
        input: object = None,  # noqa: A002  # the dataset contract's word
        metadata: Mapping[str, Any] | None = None,
        repeat: int = 1,
    ) -> None:
        """
        Log one sample, or one of several calls for it.

        Args:
            sample: Its id, unique in the test; or a whole sample in the form of the dataset contract, with its
                `actual_output`, for which nothing else is given.

            retrieved: What was retrieved, rank 1 first: ids, or objects with `id`, `text` and `score`. None is a
                missing output, which is not the same as an empty ranking.

            expected: The ground truth in any form of `expected_output`: a list of ids, a map id -> gain, an answer, or
                the full form.

            answer: The answer that the system generated.

            input: What the system was asked, any JSON value.

            metadata: `k`, `tags`, `answerable`, `asked_at`, or anything else.

            repeat: Which call for this sample it is, from 1, where a system answers differently each time. The sample
                counts once, with the mean over its repeats.

        Raises:
            DataError: The sample does not follow the dataset contract, its id or repeat was logged in this test before,
                or a repeat differs from the first in more than its output. A malformed *retrieved* raises nothing: it
                is that sample's failed output.
        """
        __tracebackhide__ = True
        given = {"retrieved": retrieved, "expected": expected, "answer": answer, "input": input, "metadata": metadata}
        try:
            record = self._scoring.record_of(sample, given, self._logged, repeat)
        except RankgaugeError as error:
            raise error.with_traceback(None) from None  # what pytest shows is the line of the test
        self._logged.setdefault(record["id"], []).append(record)

    def result(self, metrics: Sequence[Any] | str = ()) -> Result:
        """
        Score what was logged so far.

        Args:
            metrics: Expressions such as ``ndcg@10``, mappings, or functions; by default those of the config given as
                `--rankgauge-config`.

        Returns:
            The scores, with everything that `rankgauge.Result` offers.

        Raises:
            RankgaugeError: A metric cannot be used, or there is nothing that it can score.
        """
        return self._scoring.result(self.samples, [metrics] if isinstance(metrics, str) else list(metrics))

    def check(
        self,
        *gates: str | Mapping[str, Any],
        metrics: Sequence[Any] = (),
        baseline: Baseline = None,
    ) -> None:
        """
        Fail the test on this line if what was logged so far misses a gate.

        Args:
            *gates: Texts such as ``ndcg@10 >= 0.42``, or maps from metrics to their bounds (minimums, or maximums
                if lower is better); with a *baseline* also changes, such as ``ndcg@10 not_worse 0.02``.

            metrics: Further metrics, such as functions or mappings with `as`, which gates name by their columns.

            baseline: What changes are judged against: a file of `save_baseline`, what `load_baseline` returns, or a
                result.

        Raises:
            RankgaugeError: A gate cannot be read, a metric cannot be used, or the baseline cannot be read.
        """
        __tracebackhide__ = True
        failure = self._scoring.failure(self.samples, gates, metrics=metrics, baseline=baseline)
        if failure:
            pytest.fail(failure)
