"""Which of several reasons a sample without a score gets: the rules in their order."""

import contextlib
from collections import deque
from typing import Any

import numpy as np
import pytest

from rankgauge import Engine, Policy
from rankgauge.catalog import Catalog
from rankgauge.errors import MetricFailedError, SampleRefusedError
from rankgauge.plugin import (
    Judged,
    JudgedSample,
    Scores,
    aggregate,
    comparer,
    hookimpl,
    metric,
    run_metric,
    sample_metric,
    tokenizer,
)
from rankgauge.samples import read_sample
from rankgauge.scoring.collect import Collector
from rankgauge.scoring.score import SCORED, UNDEFINED
from tables import rows

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


@rows(
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
    with pytest.raises(MetricFailedError) as failed:
        scored(broken)
    column = failed.value.result["broken"]
    assert ("failed", True) == (column.status(0), column.reasons[0].startswith("metric 'broken' (by "))


def test_a_metric_may_have_no_value_for_a_ranking():
    assert ("undefined", "the metric has no value for this ranking") == scored(picky)


@metric("boundless", defined=lambda judged: np.ones(judged.n, dtype=bool))
def boundless(judged: Judged) -> Scores:
    """Take every ground truth, and have no value for any ranking."""
    return np.full(judged.n, np.nan)


@pytest.mark.parametrize(("grade", "values"), [(0, [0.0]), (1, [])])
def test_what_counts_as_lacking_ground_truth_has_no_grade_above_zero(grade, values):
    sample = {"id": "q", "expected_output": {"relevant": {"a": grade}}, "actual_output": ["a"]}
    chosen = Engine().dataset([sample]).with_profile(no_gold="zero").with_metrics([boundless])
    column = chosen.run()["boundless"]
    assert column.values[~np.isnan(column.values)].tolist() == values


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


@sample_metric("masked-sample")
def masked_sample(ranking: JudgedSample) -> Any:
    """Have no score for any ranking."""
    return np.ma.masked


@run_metric("masked-run")
def masked_run(rankings: Any) -> Any:
    """Have no value for any run."""
    return np.ma.MaskedArray(0.5, mask=True)


@aggregate("masked-mean")
def masked_mean(values: Any) -> Any:
    """Return what a mean over masked scores is."""
    return np.ma.MaskedArray(values, mask=True).mean()


@tokenizer("masked-count")
def masked_count(text: str) -> Any:
    """Count nothing."""
    return np.ma.masked


def masked_blocks(retrieved: Any, gold: Any) -> Any:
    return [
        np.ma.MaskedArray(np.ones((len(own), len(other))), mask=True)
        for own, other in zip(retrieved, gold, strict=True)
    ]


@comparer("masked-alone")
def masked_alone(retrieved: Any, gold: Any) -> Any:
    """Say of no pair how alike it is."""
    return masked_blocks([retrieved], [gold])[0]


@comparer("masked-batch", batch=masked_blocks)
def masked_batch(retrieved: Any, gold: Any) -> Any:
    """Say of no pair how alike it is, for many samples at once."""
    return masked_alone(retrieved, gold)


class Masking:
    @hookimpl
    def rankgauge_comparers(self):
        return [masked_alone, masked_batch]

    @hookimpl
    def rankgauge_aggregates(self):
        return [masked_mean]

    @hookimpl
    def rankgauge_tokenizers(self):
        return [masked_count]


def masked(metric, **matchers):
    sample = {"id": "q", "expected_output": {"passages": ["one"]}, "actual_output": {"retrieved": [{"text": "one"}]}}
    engine = Engine(catalog=Catalog.discover(own_only=True, plugins={"masking": Masking()}))
    (column,) = engine.dataset([sample]).with_metrics([metric]).with_matchers(matchers).run().metrics.values()
    return column


def test_what_is_masked_counts_nowhere():
    assert scored(masked_sample) == ("undefined", "the metric has no value for this ranking")
    assert masked(masked_run).mean is None
    assert masked("recall(aggregate=masked-mean)@1").mean is None
    for name in ("masked-alone", "masked-batch"):
        column = masked("recall@1", passages=f"lower > {name}")
        assert column.counts["failed"] == 1
        assert "not from 0 to 1; masked ones are not, either" in column.reasons[0]
    assert "returned masked for a text" in masked("recall(tokenizer=masked-count)@5tok").reasons[0]


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


@metric("needy", needs="ids")
def needy(judged: Judged) -> Scores:
    """Count the results of each sample by their ids."""
    return np.array([float(len(seen.ids)) for seen in judged.seen])


@metric("curious")
def curious(judged: Judged) -> Scores:
    """Look at ids without having asked for them."""
    return np.array([float(len(seen.ids)) for seen in judged.seen])


def test_a_metric_sees_nothing_that_only_another_one_asked_for():
    sample = {"id": "q", "expected_output": GOLD, "actual_output": OUTPUT}
    alone, beside = (
        Engine().dataset([sample]).with_metrics(metrics).run()["curious"] for metrics in ([curious], [needy, curious])
    )
    assert (beside.status(0), beside.reasons) == (alone.status(0), alone.reasons)
    assert alone.status(0) == "failed"


@metric("fails-always")
def fails_always(judged: Judged) -> Scores:
    """Fail for every sample."""
    raise ValueError("no")


def test_failures_of_a_run_say_what_they_count_as():
    plan = Engine().dataset([]).with_metrics([fails_always]).plan()
    collector = Collector(plan)
    collector.add([read_sample({"id": "q", "expected_output": GOLD, "actual_output": OUTPUT}, problems=[])])
    scored = collector.finish()
    (zero,), (left_out,) = (scored.failures(Policy(failed_output=rule)) for rule in ("zero", "exclude"))
    assert "counted as the worst score" in zero
    assert "left out of the mean" in left_out


UNANSWERED = {"id": "q2", "expected_output": {"relevant": ["a"]}, "metadata": {"answerable": False}}


def test_a_question_that_has_no_answer_is_not_refused_in_any_batch():
    plan = Engine().dataset([]).with_profile(no_gold="error").with_metrics(["hit@1"]).plan()
    for size in (1, 2):
        collector = Collector(plan, batch_size=size)
        for record in ({"id": "q1", "expected_output": GOLD}, UNANSWERED):
            collector.add([read_sample({**record, "actual_output": OUTPUT}, problems=[])])
        assert collector.finish().metrics[0].outcome.status.tolist() == [SCORED, UNDEFINED]


def test_a_missing_output_is_refused_where_unanswerable_questions_count():
    gold = {"relevant": ["a"], "forbidden": ["b"]}
    samples = [{**UNANSWERED, "expected_output": gold}, {"id": "q1", "expected_output": gold, "actual_output": OUTPUT}]
    chosen = Engine().dataset(samples).with_profile(missing_output="error").with_metrics(["leaks@1"])
    with pytest.raises(SampleRefusedError, match="there is no output for this sample"):
        chosen.run()


def test_a_refused_sample_has_its_first_reason():
    samples = [{"id": "q1", "expected_output": GOLD}, {"id": "q2", "expected_output": GOLD, "actual_output": OUTPUT}]
    chosen = Engine().dataset(samples).with_profile(missing_output="error").with_metrics(["hit@1", "recall@1"])
    with pytest.raises(SampleRefusedError, match="metric 'hit@1'") as refused:
        chosen.run()
    assert "recall@1" not in str(refused.value)


@metric("graded-sum", uses_rel="binary")
def graded_sum(judged: Judged) -> Scores:
    """Add the grades of what was found."""
    return np.bincount(judged.rows.sample, weights=judged.rows.grade, minlength=judged.n)


class Summing:
    @hookimpl
    def rankgauge_metrics(self):
        return [graded_sum]


@pytest.mark.parametrize(("asked", "value"), [("graded-sum", 4.0), ("graded-sum(rel=2)", 1.0)])
def test_a_metric_that_asks_for_two_grades_sees_no_others_from_a_threshold_on(asked, value):
    sample = {"id": "q", "expected_output": {"relevant": {"a": 3, "b": 1}}, "actual_output": OUTPUT}
    engine = Engine(catalog=Catalog.discover(own_only=True, plugins={"summing": Summing()}))
    (column,) = engine.dataset([sample]).with_metrics([asked]).run().metrics.values()
    assert column.values.tolist() == [value]


def test_rules_that_nothing_could_break_are_told_beside_other_metrics():
    expected = {"relevant": ["a"], "forbidden": [{"metadata": {"tenant": "other"}}]}
    sample = {"id": "q", "expected_output": expected, "actual_output": OUTPUT}
    notes = Engine().dataset([sample]).with_metrics(["hit@1", "leaks@1"]).run().notes
    assert any("leaks by it cannot be seen" in note for note in notes)
