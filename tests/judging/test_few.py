"""A few queries in dictionaries, ranked one by one."""

from collections import defaultdict

import numpy as np
import pytest

from rankgauge.judging import RunCounts
from rankgauge.judging.few import FewQueries, takes_few
from rankgauge.policy import PROFILES, Policy
from tables import rows

TREC = PROFILES["trec10"]


def judged(qrels, run, profile=TREC):
    return FewQueries.of(qrels).judge(run, profile)


def test_a_pattern_has_the_grade_and_rank_of_each_judgment_as_listed():
    patterns, counts = judged({"q": {"a": 2, "b": 1, "c": 0}}, {"q": {"x": 3.0, "a": 1.0, "b": 2.0}})
    assert patterns == [(3, (2, 1, 0), (3, 2, 0))]
    assert counts == RunCounts(queries=1, matched=2, deepest=3)


def test_equal_scores_stand_by_id_descending():
    """Behind `y`, the ids d, b and a share ranks 2 to 4."""
    (pattern,), _ = judged({"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0, "d": 1.0, "y": 2.0, "b": 1.0}})
    assert pattern == (4, (1, 1), (4, 3))


def test_queries_count_as_tied_where_equal_scores_earn_differently():
    """In q2 both earn 1, in q3 the relevance of 2 is reached by neither, but grades above 0 are gains."""
    qrels = {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}, "q3": {"a": 2, "b": 1}, "q4": {"a": 0}}
    run = {query: {"a": 1.0, "b": 1.0, "z": 0.5} for query in qrels}
    assert judged(qrels, run)[1].tied == 2
    assert judged(qrels, run, TREC.adapted({}, 2.0))[1].tied == 2
    assert judged(qrels, run, TREC.adapted({}, 0.0))[1].tied == 3


def test_a_query_with_several_ties_counts_once():
    run = {"q": {"a": 2.0, "x": 2.0, "b": 1.0, "y": 1.0}}
    assert judged({"q": {"a": 1, "b": 1}}, run)[1] == RunCounts(queries=1, tied=1, matched=2, deepest=4)


def test_many_ties_are_left_to_columns():
    documents = [f"d{number}" for number in range(65)]
    run = {"q": dict.fromkeys(documents, 1.0)}
    assert judged({"q": dict.fromkeys(documents, 1)}, run) is None
    (pattern,), _ = judged({"q": dict.fromkeys(documents[1:], 1)}, run)
    assert sorted(pattern[2]) == [*range(1, 65)]  # d0 is last of all


def test_a_query_that_the_run_lacks_has_no_depth_and_others_of_the_run_are_counted():
    patterns, counts = judged({"q2": {"a": 1}, "q1": {"a": 1}}, {"q2": {}, "q3": {"a": 1.0}, "q4": {}})
    assert patterns == [(None, (1,), ()), (0, (1,), (0,))]
    assert counts == RunCounts(queries=2, missing=1, unjudged=2, lacks_gold=True)


def test_scores_may_be_those_of_numpy():
    (pattern,), _ = judged({"q": {"a": 1, "b": 1}}, {"q": {"a": np.float64(1.0), "x": 1.5, "b": np.float64(2.0)}})
    assert pattern == (3, (1, 1), (3, 1))


def test_queries_stand_in_byte_order():
    """A lone surrogate that stands for the byte 80 comes before é, whose first byte is c3."""
    assert FewQueries.of({name: {"a": 1} for name in ("é", "z", "\udc80", "B")}).names == ["B", "z", "\udc80", "é"]


def test_judgments_are_those_of_the_time_at_which_they_were_given():
    given = {"q": {"a": 1}}
    queries = FewQueries.of(given)
    given["q"]["b"] = 1
    assert queries.judgments == {"q": {"a": 1}}


@rows(
    "options",
    [
        *({"depth": 5}, {"ties": "given"}, {"order": "given"}, {"judged_only": True}, {"exclude_self": True}),
        *({"no_gold": "error"}, {"missing_output": "error"}, {"failed_output": "error"}),
    ],
)
def test_other_policies_are_left_to_columns(options):
    assert takes_few(TREC.policy)
    assert not takes_few(TREC.policy.with_options(options))
    assert not takes_few(Policy())


def test_dictionaries_and_grades_of_two_kinds_are_plain():
    mixed = {"q1": {"a": 1}, "q2": defaultdict(int, b=0.5)}
    assert FewQueries.of(mixed).judge({"q1": {"a": 1.0}, "q2": defaultdict(float, b=1.0)}, TREC)[0] == [
        (1, (1,), (1,)),
        (1, (0.5,), (1,)),
    ]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_not_finite_is_left_to_columns(number):
    assert FewQueries.of({"q": {"a": 1.0, "b": number}}) is None
    assert judged({"q": {"a": 1}}, {"q": {"a": 1.0, "b": number}}) is None


def test_a_hundred_queries_256_judgments_and_2048_results_are_few_and_one_more_is_not():
    def queries(count, size):
        return {f"q{number}": {f"d{place}": 1.0 for place in range(size)} for number in range(count)}

    assert FewQueries.of(queries(100, 2)) is not None
    assert FewQueries.of(queries(101, 2)) is None
    assert FewQueries.of(queries(1, 256)) is not None
    assert FewQueries.of(queries(1, 257)) is None
    one = {"q0": {"d0": 1}}
    assert judged(one, queries(200, 1)) is not None
    assert judged(one, queries(201, 1)) is None
    ranking = {f"d{place}": 1.0 / (place + 1) for place in range(2049)}
    assert judged(one, {"q0": ranking}) is None
    del ranking["d2048"]
    assert judged(one, {"q0": ranking})[0] == [(2048, (1,), (1,))]
