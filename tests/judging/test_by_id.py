"""Judging by id: a join of retrieved ids with the gold ids of each sample."""

from __future__ import annotations

import pytest

from rankgauge.columns import ANY_GRADE, POSITIVE
from rankgauge.judging import Keep, Target, judge
from rankgauge.policy import PROFILES, Policy, profile
from rankgauge.samples import Expected, Fault, Output, Sample, read_expected

TARGET = Target("relevant")


def sample(ids, gold, *, name="s", **more):
    output = ids if ids is None or isinstance(ids, Fault) else Output(ids, **more)
    return Sample(name, expected=read_expected(gold), output=output)


def evidence(*samples, policy="default"):
    return judge(samples, TARGET, profile(policy))


def rows(judged):
    columns = (judged.rows.sample, judged.rows.rank, judged.rows.grade, judged.rows.gold, judged.first)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_every_named_item_becomes_a_row_whatever_its_grade():
    judged = evidence(sample(["x", "nil", "a", "bad"], {"a": 2, "b": 1, "nil": 0, "bad": -1})).judged

    assert rows(judged) == [(0, 2, 0.0, 2, True), (0, 3, 2.0, 0, True), (0, 4, -1.0, 3, True)]
    assert judged.gold.grade.tolist() == [2.0, 1.0, 0.0, -1.0]
    assert judged.gold.rank.tolist() == [1, 2, 3, 4]
    assert judged.depth.tolist() == [4]
    assert judged.score.tolist() == [1.0, 1.0, 1.0]


def test_samples_are_joined_each_with_its_own_gold():
    judged = evidence(sample(["a", "b"], ["b"], name="1"), sample(["a", "b"], ["a"], name="2")).judged

    assert rows(judged) == [(0, 2, 1.0, 0, True), (1, 1, 1.0, 1, True)]
    assert judged.gold.sample.tolist() == [0, 1]


def test_ids_are_compared_as_given():
    gold = ["Doc 17", "é", "1"]

    assert rows(evidence(sample(["doc 17", "Doc  17", "e\u0301", "01"], gold)).judged) == []
    assert len(rows(evidence(sample(["é", "Doc 17", "1"], gold)).judged)) == 3


@pytest.mark.parametrize("ids", [[], None, Fault("broken")])
def test_sample_without_items_has_gold_rows_and_no_judged_rows(ids):
    judged = evidence(sample(ids, ["a", "b"])).judged

    assert rows(judged) == []
    assert judged.depth.tolist() == [0]
    assert judged.n_gold().tolist() == [2]


def test_samples_without_gold_keep_their_place():
    found = evidence(sample(["a"], ["a"]), sample(["a"], [], name="empty"), sample(["a"], ["a"], name="last"))

    assert (list(found.without_gold), found.has_gold) == ([1], True)
    assert found.judged.n_gold().tolist() == [1, 0, 1]
    assert found.judged.depth.tolist() == [1, 1, 1]
    assert [row[0] for row in rows(found.judged)] == [0, 2]


def test_gold_of_other_kinds_is_no_gold_here():
    found = evidence(Sample("s", expected=Expected(answer=("a",)), output=Output(["a"])))

    assert (list(found.without_gold), found.has_gold) == ([0], False)
    assert rows(found.judged) == []


def test_graded_says_whether_gains_were_given():
    judged = evidence(sample(["a"], ["a"]), sample(["a"], {"a": 1}, name="graded")).judged

    assert judged.graded.tolist() == [False, True]


def test_times_count_how_often_a_gold_id_was_listed():
    judged = evidence(sample([], ["a", "b", "a", "a"])).judged

    assert judged.times.tolist() == [3, 1]
    assert judged.gold.grade.tolist() == [1.0, 1.0]


def test_items_without_an_id_match_nothing_and_keep_their_rank():
    judged = evidence(sample([None, "a"], ["a"], texts=["t", None])).judged

    assert rows(judged) == [(0, 2, 1.0, 0, True)]


@pytest.mark.parametrize(
    ("duplicates", "expected", "counts"),
    [
        ("first", [(0, 1, 1.0, 0, True), (0, 3, 1.0, 1, True)], False),  # a x b
        ("last", [(0, 2, 1.0, 0, True), (0, 3, 1.0, 1, True)], False),  # x a b
        ("credit-once", [(0, 1, 1.0, 0, True), (0, 3, 1.0, 0, False), (0, 4, 1.0, 1, True)], False),  # a x - b
        ("keep", [(0, 1, 1.0, 0, True), (0, 3, 1.0, 0, False), (0, 4, 1.0, 1, True)], True),
    ],
)
def test_repeats_under_each_policy(duplicates, expected, counts):
    judged = evidence(sample(["a", "x", "a", "b"], ["a", "b"]), policy=Policy(duplicates=duplicates)).judged

    assert expected == rows(judged)
    assert counts == judged.counts_repeats


def test_repeat_under_credit_once_is_judged_and_earns_nothing():
    judged = evidence(sample(["a", "a"], {"a": 1}), policy=Policy(duplicates="credit-once")).judged

    assert judged.earns.tolist() == [True, False]
    assert judged.judged_ranks().tolist() == [2]
    assert judged.relevant_ranks().tolist() == [1]


def test_depth_counts_repeats_only_where_they_keep_their_rank():
    repeated = sample(["a", "a", "a"], ["a"])

    assert evidence(repeated).judged.depth.tolist() == [1]
    assert evidence(repeated, policy=Policy(duplicates="credit-once")).judged.depth.tolist() == [3]


def test_ranking_that_the_policy_refuses_is_a_fault_of_its_sample_only():
    found = evidence(sample(["a", "a"], ["a"]), sample(["a"], ["a"], name="2"), policy=Policy(duplicates="error"))

    assert list(found.faults) == [0]
    assert "duplicates=error" in found.faults[0]
    assert [row[0] for row in rows(found.judged)] == [1]


def test_refused_ranking_of_a_sample_without_gold_is_no_fault():
    assert evidence(sample(["a", "a"], []), policy=Policy(duplicates="error")).faults == {}


def test_profile_decides_what_is_relevant():
    zero = sample(["nil"], {"nil": 0})

    assert evidence(zero).judged.relevance == POSITIVE
    assert evidence(zero, policy="eval-harness").judged.relevance == ANY_GRADE
    assert evidence(zero).judged.found().tolist() == [0]
    assert evidence(zero, policy="eval-harness").judged.found().tolist() == [1]


def test_judged_only_closes_the_gaps():
    judged = evidence(sample(["x", "nil", "y", "a"], {"a": 1, "nil": 0}), policy=Policy(judged_only=True)).judged

    assert [(rank, grade) for _, rank, grade, _, _ in rows(judged)] == [(1, 0.0), (2, 1.0)]
    assert judged.depth.tolist() == [2]


def test_rankings_are_kept_on_request_only():
    samples = [sample(["a", "a", "x"], ["a"]), sample(None, ["a"], name="2"), sample(["x"], [], name="3")]

    kept = judge(samples, TARGET, PROFILES["default"], keep=Keep(rankings=True)).kept.rankings

    assert [ranking and list(ranking.ids) for ranking in kept] == [["a", "x"], None, ["x"]]
    assert list(judge(samples, TARGET, PROFILES["default"]).kept.rankings) == []


def test_looks_show_one_id_of_each_side():
    assert evidence(sample([], ["a"]), sample(["chunk_17"], ["Doc 17"], name="2")).ids.looks == ("chunk_17", "Doc 17")
    assert evidence(sample([], ["a"])).ids.looks is None


def test_fault_in_the_gold_is_a_fault_of_the_sample():
    faults = {"relevant": Fault("no ids"), "answer": Fault("no text")}
    broken = Sample("s", expected=Expected(faults=faults), output=Output(["a"]))
    elsewhere = Sample("t", expected=Expected(faults={"answer": Fault("no text")}), output=Output(["a"]))

    assert evidence(broken, elsewhere).faults == {0: "no ids"}


def test_batch_without_samples_is_empty():
    assert evidence().judged.n == 0


def test_target_says_what_is_judged_against_what():
    assert str(TARGET) == "relevant by id"
    assert str(Target("answer", "retrieved", "contains")) == "answer by text, matcher contains"
    assert str(Target("answer", "answer", "exact")) == "answer of the generated answer by text, matcher exact"
