"""Rankings: what a policy makes of an output before anything is judged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.judging.outputs import Ranking, prepare
from rankgauge.policy import Policy, Profile
from rankgauge.samples import Expected, Fault, Output, Sample


def prepared(ids, *, texts=None, scores=None, sample_id="self", key=None, grades=None, by_text=None, **options):
    """Return the ranking of one sample; judged by text where there are texts, unless *by_text* says otherwise."""
    sample = Sample(sample_id, expected=Expected(grades), output=Output(ids, texts, scores))
    chosen = Profile(name="test", policy=Policy(**options), duplicate_texts=key or "id")
    (ranking,) = prepare([sample], chosen, by="text" if (texts is not None if by_text is None else by_text) else "id")
    return ranking


def test_output_stays_as_it_is_when_nothing_repeats():
    found = prepared(["b", "a", "c"], texts=["B", "A", "C"], scores=[0.1, 0.9, 0.5])

    assert found == Ranking(["b", "a", "c"], ["B", "A", "C"], None)


def test_empty_output_is_an_empty_ranking():
    for options in ({}, {"order": "score"}, {"depth": 3}, {"judged_only": True, "duplicates": "error"}):
        found = prepared([], **options)
        assert list(found.ids) == []
        assert found.repeated is None


def test_order_given_ignores_scores():
    assert prepared(["b", "a"], scores=[0.1, 0.9], depth=5).ids == ["b", "a"]


def test_order_score_sorts_descending():
    found = prepared(["b", "a", "c"], texts=["B", "A", "C"], scores=[0.1, 0.9, 0.5], order="score")

    assert found == Ranking(["a", "c", "b"], ["A", "C", "B"], None, entries=[1, 2, 0])


def test_equal_scores_stand_by_id_descending_by_bytes():
    # In UTF-8, é (0xC3...) stands above z, and the astral 🔎 (0xF0...) above the private-use U+E000 (0xEE...).
    ids = ["a", "z", "é", "\ue000", "🔎", "Z"]

    found = prepared(ids, scores=[1.0] * 6, order="score")

    assert found.ids == ["🔎", "\ue000", "é", "z", "a", "Z"]


def test_integer_and_float_scores_compare_as_numbers():
    assert prepared(["a", "b", "c"], scores=[1, 2.5, -3], order="score").ids == ["b", "a", "c"]


@pytest.mark.parametrize("scores", [None, [1.0, None]])
def test_order_score_without_a_score_is_a_fault_that_names_the_place(scores):
    found = prepared(["a", "b"], scores=scores, order="score")

    assert isinstance(found, Fault)
    assert "order=score" in found.reason
    assert f"retrieved[{0 if scores is None else 1}]" in found.reason


def test_item_with_the_id_of_the_sample_is_dropped_on_request():
    assert prepared(["a", "self", "b"], exclude_self=True).ids == ["a", "b"]
    assert prepared(["a", "self", "b"]).ids == ["a", "self", "b"]


RANKING = ["a", "b", "a", "c", "b"]


@pytest.mark.parametrize(
    ("duplicates", "expected"),
    [
        ("first", ["a", "b", "c"]),
        ("last", ["a", "c", "b"]),
        ("best", ["a", "c", "b"]),  # the second a and the second b have the higher scores
        ("keep", ["a", "b", "a", "c", "b"]),
        ("credit-once", ["a", "b", "a", "c", "b"]),
    ],
)
def test_repeated_items(duplicates, expected):
    found = prepared(RANKING, scores=[0.1, 0.2, 0.9, 0.5, 0.3], duplicates=duplicates)

    assert expected == list(found.ids)


def test_texts_follow_the_items_that_stay():
    texts = ["A1", "B1", "A2", "C", "B2"]

    assert prepared(RANKING, texts=texts, duplicates="first").texts == ["A1", "B1", "C"]
    assert prepared(RANKING, texts=texts, duplicates="last").texts == ["A2", "C", "B2"]
    assert prepared(RANKING, texts=texts, duplicates="keep").texts == texts


def test_credit_once_flags_the_repeats():
    assert prepared(RANKING, duplicates="credit-once").repeated == [False, False, True, False, True]
    assert prepared(["a", "b"], duplicates="credit-once").repeated is None
    assert prepared(RANKING, duplicates="keep").repeated is None
    assert prepared(RANKING, duplicates="first").repeated is None


def test_best_of_equal_scores_is_the_earlier_one():
    assert prepared(["a", "b", "a"], texts=["1", "2", "3"], scores=[0.5, 0.9, 0.5], duplicates="best") == Ranking(
        ["a", "b"], ["1", "2"], entries=[0, 1]
    )


def test_best_needs_the_scores_of_what_repeats_and_of_nothing_else():
    found = prepared(["a", "b", "a"], scores=[0.5, 0.9, None], duplicates="best")

    assert isinstance(found, Fault)
    assert "'a'" in found.reason
    assert prepared(["a", "b", "a"], scores=[0.5, None, 0.9], duplicates="best").ids == ["b", "a"]
    assert isinstance(prepared(["a", "a"], duplicates="best"), Fault)
    assert prepared(["a", "b"], duplicates="best").ids == ["a", "b"]


def test_best_needs_no_scores_of_the_query_itself_where_that_is_dropped():
    ids, scores = ["self", "a", "self", "a"], [None, 0.5, None, 0.9]

    assert prepared(ids, scores=scores, duplicates="best", exclude_self=True).ids == ["a"]
    assert "'self' has none" in prepared(ids, scores=scores, duplicates="best").reason
    assert "'a' has none" in prepared(ids, scores=[0.1, 0.5, 0.2, None], duplicates="best", exclude_self=True).reason


def test_error_names_the_item_and_its_ranks():
    found = prepared(RANKING, duplicates="error")

    assert isinstance(found, Fault)
    assert "'a'" in found.reason
    assert "ranks 1, 3" in found.reason
    assert prepared(["a", "b"], duplicates="error").ids == ["a", "b"]


def test_repeats_are_settled_before_the_depth_is_cut():
    assert prepared(["a", "a", "b", "c"], depth=2).ids == ["a", "b"]
    found = prepared(["a", "b", "a", "c"], depth=3, duplicates="credit-once")
    assert (found.ids, found.repeated) == (["a", "b", "a"], [False, False, True])


def test_flags_are_gone_where_the_depth_cuts_the_repeat_off():
    assert prepared(["a", "b", "a"], depth=2, duplicates="credit-once").repeated is None


def test_sample_itself_is_dropped_before_repeats_and_depth():
    assert prepared(["self", "self", "a", "b", "c"], exclude_self=True, duplicates="error", depth=2).ids == ["a", "b"]


def test_repeats_are_settled_as_they_are_given_before_scores_order():
    given = {"texts": ["low", "mid", "high"], "scores": [0.1, 0.5, 0.9], "order": "score"}

    assert prepared(["a", "b", "a"], **given) == Ranking(["b", "a"], ["mid", "low"], entries=[1, 0])
    assert prepared(["a", "b", "a"], duplicates="last", **given) == Ranking(["a", "b"], ["high", "mid"], entries=[2, 1])
    assert prepared(["a", "b", "a"], duplicates="best", **given) == Ranking(["a", "b"], ["high", "mid"], entries=[2, 1])


def test_repeats_that_stay_are_flagged_by_their_order_of_scores():
    found = prepared(["a", "b", "a"], scores=[0.1, 0.5, 0.9], order="score", duplicates="credit-once")

    assert (["a", "b", "a"], [False, False, True]) == (found.ids, found.repeated)


def test_ties_may_stay_as_they_are_given():
    ids = ["a", "c", "b", "d"]

    assert ["d", "a", "c", "b"] == prepared(ids, scores=[1, 1, 1, 2], order="score", ties="given").ids
    assert ["d", "c", "b", "a"] == prepared(ids, scores=[1, 1, 1, 2], order="score", ties="docno").ids


def test_scores_are_compared_with_the_precision_asked_for():
    scores = [1.000000001, 1.0]

    assert ["a", "b"] == prepared(["a", "b"], scores=scores, order="score").ids
    assert ["b", "a"] == prepared(["a", "b"], scores=scores, order="score", score_dtype="float32").ids
    # Beyond the range of a C float both are infinite; below it both are 0.
    assert ["b", "a"] == prepared(["a", "b"], scores=[1e300, 1e200], order="score", score_dtype="float32").ids
    assert ["b", "a"] == prepared(["a", "b"], scores=[1e-300, 1e-320], order="score", score_dtype="float32").ids
    assert ["a", "b"] == prepared(["a", "b"], scores=[1e-300, 1e-320], order="score").ids


def test_average_tells_which_ranks_are_tied():
    found = prepared(["a", "b", "c", "d", "e"], scores=[3, 2, 2, 1, 1], order="score", ties="average")

    assert [(1, 1), (2, 3), (2, 3), (4, 5), (4, 5)] == found.ties
    assert [(1, 1), (2, 2)] == prepared(["a", "b"], scores=[2, 1], order="score", ties="average").ties
    assert prepared(["a", "b"], scores=[1, 1], ties="average").ties is None  # in the order given there are no ties
    assert prepared(["a", "b"], scores=[1, 1], order="score").ties is None


def test_average_counts_ranks_after_what_is_not_judged_was_dropped():
    options = {"order": "score", "ties": "average", "judged_only": True}

    assert [(1, 2), (1, 2)] == prepared(["a", "x", "b"], scores=[1, 1, 1], grades={"a": 1, "b": 1}, **options).ties


def test_error_refuses_a_tie_of_items_that_earn_differently():
    found = prepared(["a", "x", "b", "y"], scores=[2, 1, 1, 1], grades={"a": 1, "b": 1}, order="score", ties="error")

    assert isinstance(found, Fault)
    assert "document 'b' has the same score as documents that earn differently (ranks 2 to 4)" in found.reason
    assert "ties=error" in found.reason


def test_error_lets_ties_pass_that_do_not_matter():
    options = {"order": "score", "ties": "error"}

    assert ["b", "a", "c"] == prepared(["a", "b", "c"], scores=[1, 1, 0], grades={"a": 2, "b": 2}, **options).ids
    below = {"scores": [2, 1, 1], "grades": {"b": 1}, **options}
    assert ["a"] == prepared(["a", "b", "c"], depth=1, **below).ids
    assert isinstance(prepared(["a", "b", "c"], depth=2, **below), Fault)


def test_error_takes_grades_that_earn_nothing_for_equal():
    found = prepared(["a", "b", "c"], scores=[1, 1, 1], grades={"a": 0, "b": -1}, order="score", ties="error")

    assert ["c", "b", "a"] == found.ids


def test_error_refuses_every_tie_where_gains_are_not_known():
    assert isinstance(prepared(["a", "b"], scores=[1, 1], order="score", ties="error", by_text=True), Fault)


def test_judged_only_drops_what_the_gold_does_not_name_after_the_cut():
    assert prepared(["x", "a", "y", "b"], judged_only=True, grades={"a": 1.0, "b": 0.0}).ids == ["a", "b"]
    assert prepared(["x", "a", "y", "b"], judged_only=True, grades={"a": 1.0, "b": 1.0}, depth=2).ids == ["a"]


def test_judged_only_keeps_the_flags_of_repeats():
    found = prepared(["x", "a", "y", "a"], judged_only=True, grades={"a": 1.0}, duplicates="credit-once")

    assert (found.ids, found.repeated) == (["a", "a"], [False, True])


def test_depth_beyond_the_list_changes_nothing():
    assert prepared(["a", "b"], depth=10**9).ids == ["a", "b"]


def test_key_of_id_and_text_tells_chunks_of_one_document_apart():
    ids, texts = ["d", "d", "d"], ["one", "two", "one"]

    assert prepared(ids, texts=texts, key="id-and-text").texts == ["one", "two"]
    assert prepared(ids, texts=texts, key="id").texts == ["one"]
    assert prepared(ids, texts=texts, key="id-and-text", duplicates="credit-once").repeated == [False, False, True]


def test_items_without_an_id_are_the_same_only_by_text():
    ids, texts = [None, None, None], ["one", "two", "one"]

    assert prepared(ids, texts=texts, key="id-and-text").texts == ["one", "two"]
    # By id there is nothing to compare, so none repeats another.
    assert prepared(ids, texts=texts, key="id").texts == texts
    assert prepared(ids, texts=texts, key="id", duplicates="error").texts == texts


def test_items_with_neither_id_nor_text_never_repeat_each_other():
    assert prepared([None, None, "a"], texts=[None, None, "t"], key="id-and-text").ids == [None, None, "a"]


IDS = st.lists(st.sampled_from([*"abcde"]), max_size=10)


@given(ids=IDS)
def test_first_keeps_the_first_mention_of_each_id_in_order(ids):
    assert list(dict.fromkeys(ids)) == list(prepared(ids).ids)


@given(ids=IDS)
def test_last_is_first_seen_from_the_end(ids):
    assert list(dict.fromkeys(ids[::-1]))[::-1] == list(prepared(ids, duplicates="last").ids)


@given(ids=IDS, depth=st.integers(1, 5), duplicates=st.sampled_from(["first", "last", "credit-once", "keep"]))
def test_preparing_twice_is_preparing_once(ids, depth, duplicates):
    once = prepared(ids, depth=depth, duplicates=duplicates)
    twice = prepared(list(once.ids), depth=depth, duplicates=duplicates)

    assert list(once.ids) == list(twice.ids)
    assert once.repeated == twice.repeated
    assert len(once.ids) <= depth


def test_a_refused_item_without_an_id_is_called_so():
    found = prepared([None, None], texts=["one", "one"], key="id-and-text", duplicates="error")

    assert isinstance(found, Fault)
    assert found.reason.startswith("an item without an id is retrieved 2 times (ranks 1, 2)")
