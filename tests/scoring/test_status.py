"""Which of several reasons a sample without a score gets: the rules in their order."""

import contextlib
from collections import deque
from typing import Any

import numpy as np
import pytest

from rankgauge import Engine
from rankgauge.plugin import Judged, JudgedSample, metric, sample_metric

GOLD = {"relevant": ["a"]}
OUTPUT = ["a", "b"]
MALFORMED = {"retrieved": 5}


class Several(list):
    """A list of another class."""


@sample_metric("picky")
def picky(ranking: JudgedSample) -> float | None:
    """Have no value for any ranking."""


@sample_metric("broken")
def broken(ranking: JudgedSample) -> float | None:
    """Fail on every ranking."""
    raise ValueError("broken")


def scored(metric, *, expected=GOLD, output=OUTPUT, **metadata):
    samples = [
        {"id": "q1", "expected_output": expected, "actual_output": output, "metadata": metadata},
        {"id": "q2", "expected_output": GOLD, "actual_output": OUTPUT},
    ]
    column = next(iter(Engine().dataset(samples).with_metrics([metric]).run().metrics.values()))
    return column.status(0), column.reasons.get(0)


UNANSWERABLE = ("undefined", "the sample is declared unanswerable (metadata.answerable: false)")
MISSING = ("missing", "there is no output for this sample")
WITHOUT_GOLD = ("undefined", "the sample has no ground truth of the kind 'relevant'")


@pytest.mark.parametrize(
    ("sample", "outcome"),
    [
        ({"answerable": False, "output": None, "expected": {"answer": "x"}}, UNANSWERABLE),
        ({"answerable": False, "output": MALFORMED}, UNANSWERABLE),
        ({"output": None}, MISSING),
        ({"output": None, "expected": {"answer": "x"}}, WITHOUT_GOLD),
        ({"output": MALFORMED, "expected": {"answer": "x"}}, WITHOUT_GOLD),
        ({"expected": {"answer": "x"}}, WITHOUT_GOLD),
        ({"expected": {"relevant": {"a": 0}}}, ("undefined", "the ground truth has no relevant item")),
        ({}, ("scored", None)),
    ],
)
def test_the_first_rule_that_holds_decides(sample, outcome):
    assert outcome == scored("P@2", **sample)


def test_a_malformed_output_fails_its_sample():
    status, reason = scored("P@2", output=MALFORMED)
    assert ("failed", True) == (status, reason.startswith("the output must be a list, or an object with"))


def test_a_missing_output_comes_before_the_failure_of_the_metric():
    assert MISSING == scored(broken, output=None)


def test_ground_truth_without_a_relevant_item_comes_before_the_failure_of_the_metric():
    assert ("undefined", "the ground truth has no relevant item") == scored(broken, expected={"relevant": {"a": 0}})


def test_a_failure_of_the_metric_comes_before_having_no_value():
    status, reason = scored(broken)
    assert ("failed", True) == (status, reason.startswith("metric 'broken' (by "))


def test_a_metric_may_have_no_value_for_a_ranking():
    assert ("undefined", "the metric has no value for this ranking") == scored(picky)


def test_reasons_come_in_order_of_samples_whatever_they_are():
    samples = [
        {"id": "q1", "expected_output": GOLD},
        {"id": "q2", "expected_output": {"answer": "x"}, "actual_output": OUTPUT},
        {"id": "q3", "expected_output": GOLD, "actual_output": OUTPUT},
        {"id": "q4", "expected_output": GOLD, "actual_output": MALFORMED},
        {"id": "q5", "expected_output": {"relevant": {"a": 0}}, "actual_output": OUTPUT},
    ]
    column = Engine().dataset(samples).with_metrics(["P@2"]).run()["P@2"]
    assert [0, 1, 3, 4] == list(column.reasons)


MASKED = np.ma.MaskedArray([1, 0], mask=[True, False])


@metric("masked-scores")
def masked_scores(judged: Judged) -> Any:
    """Have no score for the first sample of two, by a mask over whole numbers."""
    return MASKED[: judged.n]


@metric("masked-definition", defined=lambda _: MASKED)
def masked_definition(judged: Judged) -> Any:
    """Have no score for any sample, and one is not even defined."""
    return np.full(judged.n, np.nan)


def test_a_masked_score_is_none():
    assert ("undefined", "the metric has no value for this ranking") == scored(masked_scores)
    samples = [{"id": name, "expected_output": GOLD, "actual_output": OUTPUT} for name in ("q1", "q2")]
    assert Engine().dataset(samples).with_metrics([masked_scores]).run()["masked-scores"].mean == 0.0


def test_a_masked_definition_defines_nothing():
    assert scored(masked_definition)[0] == "undefined"


def test_a_metric_cannot_change_the_data_of_its_caller():
    given = {"lists": Several([1]), "queue": deque([1]), "bytes": bytearray(b"x"), "array": np.ones(1), "set": {1}}

    @sample_metric("changer", needs=("metadata", "input"))
    def changer(ranking: JudgedSample) -> float:
        """Change all that can be changed."""
        for kept in (ranking.seen.metadata, ranking.seen.input):
            for change in (kept["lists"].append, kept["queue"].append):
                with contextlib.suppress(TypeError):
                    change(2)
            with contextlib.suppress(TypeError):
                kept["bytes"][0] = 0
            with contextlib.suppress(ValueError):
                kept["array"][0] = 0.0
        return 1.0

    sample = {"id": "q", "input": given, "expected_output": GOLD, "actual_output": OUTPUT, "metadata": given}
    assert Engine().dataset([sample]).with_metrics([changer]).run()["changer"].mean == 1.0
    assert (given["lists"], given["queue"], given["bytes"]) == ([1], deque([1]), b"x")
    given["array"][0] += 1.0  # the caller can change it as before
    assert given["array"].tolist() == [2.0]
