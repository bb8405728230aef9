"""Answers: containment in the retrieved texts, and exact match of the generated answer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankgauge.errors import PlanError
from rankgauge.judging import Target, judge
from rankgauge.metrics.answer import answer_containment, answer_exact_match
from rankgauge.plugin.metric import declared
from rankgauge.policy import PROFILES
from rankgauge.samples import Expected, Output, Sample

CONTAINMENT, EXACT = "answer-containment-at-k", "answer-exact-match"


def texts(*given):
    return [{"id": f"d{rank}", "text": text} for rank, text in enumerate(given, 1)]


TWO = texts("nothing here", "It is in Bern, as ever.")


@pytest.mark.parametrize(("k", "expected"), [(1, 0.0), (2, 1.0), (10**9, 1.0)])
def test_answer_counts_from_the_rank_of_its_text_on(score, k, expected):
    assert expected == score(CONTAINMENT, "in Bern", TWO, k=k).value


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("New\u00a0  York\n\tis big", "new york"),  # runs of Unicode white space collapse
        ("New York", "\u2003new \u3000york\n"),  # on both sides, and are trimmed
        ("SHOUTED ANSWER", "shouted answer"),
        ("Die Straße", "die STRASSE"),  # casefolded: ß equals ss
        ("die STRASSE", "Straße"),
        ("\u03a3\u0391\u03a3", "\u03c3\u03b1\u03c2"),  # final sigma folds to sigma
        ("Party", "art"),  # there are no word boundaries
        ("x=1.5*y", "1.5*y"),  # nothing is a pattern
    ],
)
def test_white_space_and_case_make_no_difference(score, text, answer):
    assert score(CONTAINMENT, answer, texts(text), k=5).value == 1.0


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("newyork", "new york"),
        ("café", "cafe"),  # accents count
        ("cafe\u0301", "café"),  # compositions are not unified
        ("in", "in Bern"),  # the gold stands in the text, not the other way round
        ("", "a"),
    ],
)
def test_anything_else_makes_a_difference(score, text, answer):
    assert score(CONTAINMENT, answer, texts(text), k=5).value == 0.0


def test_case_counts_when_it_is_told_to(score):
    cased = {"metric": CONTAINMENT, "case_sensitive": True}

    assert score(cased, "bern", TWO, k=5).value == 0.0
    assert score(cased, "Bern,\n as", TWO, k=5).value == 1.0
    assert score(cased, "STRASSE", texts("Straße"), k=5).value == 0.0


def test_lowering_instead_of_folding_leaves_sharp_s_alone(score):
    lowered = {"metric": CONTAINMENT, "fold": "lower"}

    assert score(lowered, "strasse", texts("Straße"), k=5).value == 0.0
    assert score(lowered, "straße", texts("STRAßE"), k=5).value == 1.0
    assert score(CONTAINMENT, "strasse", texts("Straße"), k=5, policy="eval-harness").value == 0.0


def test_one_of_several_accepted_answers_is_enough(score):
    assert score(CONTAINMENT, {"answer": ["Zurich", "Bern"]}, TWO, k=5).value == 1.0
    assert score(CONTAINMENT, {"answer": ["Zurich", "Basel"]}, TWO, k=5).value == 0.0


def test_details_name_the_span_that_matched_and_its_rank(score):
    found = score(CONTAINMENT, {"answer": ["Zurich", "Bern"]}, TWO, k=5, details=True)

    assert found.details == {"k": 5, "expected_span": "Bern", "matched_rank": 2}


@pytest.mark.parametrize("k", [1, 5])
def test_details_without_a_match_name_the_first_answer_and_no_rank(score, k):
    found = score(CONTAINMENT, {"answer": ["Zurich", "Basel"]}, TWO, k=k, details=True)

    assert found.details == {"k": k, "expected_span": "Zurich", "matched_rank": None}


def test_details_of_a_match_below_the_cutoff_have_no_rank_and_the_first_answer(score):
    found = score(CONTAINMENT, {"answer": ["Zurich", "Bern"]}, TWO, k=1, details=True)

    assert found.details == {"k": 1, "expected_span": "Zurich", "matched_rank": None}


def test_item_without_text_fails_the_score_and_names_its_rank(score):
    found = score(CONTAINMENT, "Bern", [{"id": "d1", "text": "Basel"}, "d2"], k=5)

    assert (found.value, found.status) == (0.0, "failed")
    assert "rank 2" in found.reason


@pytest.mark.parametrize(("first", "k"), [("Bern", 5), ("Basel", 1)])
def test_item_without_text_is_no_failure_where_it_cannot_change_the_score(score, first, k):
    found = score(CONTAINMENT, "Bern", [{"id": "d1", "text": first}, "d2"], k=k)

    assert (found.value, found.status) == (float(first == "Bern"), "scored")


def test_item_without_text_is_an_empty_text_under_the_eval_harness_profile(score):
    found = score(CONTAINMENT, "Bern", '[{"id": "d1", "text": "Bern"}, "d2"]', k=5, policy="eval-harness")

    assert (found.value, found.status) == (1.0, "scored")


def test_texts_may_come_without_ids(score):
    assert score(CONTAINMENT, "Bern", [{"text": "x"}, {"text": "Bern"}], k=2).value == 1.0


def test_same_id_with_another_text_is_another_chunk(score):
    chunks = [{"id": "d", "text": "x"}, {"id": "d", "text": "Bern"}]

    assert score(CONTAINMENT, "Bern", chunks, k=2).value == 1.0


def test_same_id_and_text_frees_its_rank(score):
    chunks = [{"id": "d", "text": "x"}, {"id": "d", "text": "x"}, {"id": "d", "text": "Bern"}]

    assert score(CONTAINMENT, "Bern", chunks, k=2).value == 1.0


def test_empty_list_scores_zero(score):
    assert score(CONTAINMENT, "Bern", [], k=5).value == 0.0


@pytest.mark.parametrize("alias", [CONTAINMENT, EXACT])
@pytest.mark.parametrize("gold", [["doc-1"], {"answer": []}])
def test_sample_without_an_answer_in_the_gold_is_undefined(score, alias, gold):
    found = score(alias, gold, {"retrieved": texts("x"), "answer": "x"}, k=5)

    assert (found.value, found.status) == (None, "undefined")
    assert "'answer'" in found.reason


def test_cutoff_of_each_sample_is_its_own(catalog):
    output = Output(["d1", "d2"], ["x", "Bern"])
    samples = [Sample(name, expected=Expected(answer=("Bern",)), output=output) for name in "abc"]
    samples.append(Sample("d", expected=Expected(), output=output))
    target = Target("answer", "retrieved", "contains")
    batch = judge(samples, target, PROFILES["default"], catalog.matcher("contains")).judged

    scores = answer_containment(batch, k=np.array([1, 2, 10**9, 2])).tolist()

    assert scores[:3] == [0.0, 1.0, 1.0]
    assert math.isnan(scores[3])


@pytest.mark.parametrize(
    ("generated", "expected"),
    [("Bern", 1.0), ("Berne", 1.0), ("bern", 0.0), ("Bern ", 0.0), ("in Bern", 0.0), ("", 0.0)],
)
def test_exact_match_compares_character_by_character(score, generated, expected):
    output = {"retrieved": [], "answer": generated}

    assert expected == score(EXACT, {"answer": ["Bern", "Berne"]}, output).value


@pytest.mark.parametrize("output", [[], ["d1"], {"retrieved": ["d1"]}, {"retrieved": [], "answer": None}])
def test_absent_answer_is_a_failed_score(score, output):
    found = score(EXACT, "Bern", output)

    assert (found.value, found.status) == (0.0, "failed")
    assert "'answer'" in found.reason


def test_answer_alone_is_an_output(score):
    assert score(EXACT, "Bern", {"answer": "Bern"}).value == 1.0


def test_exact_match_with_another_matcher_is_as_tolerant_as_that(score):
    folded = {"metric": EXACT, "matcher": "folded"}

    assert score(folded, "new york", {"answer": " New\nYork"}).value == 1.0
    assert score(folded, "new york", {"answer": "New York City"}).value == 0.0


def test_exact_match_has_no_cutoff(score):
    with pytest.raises(PlanError, match="no cutoff"):
        score(f"{EXACT}@5", "Bern", {"answer": "Bern"})


def test_exact_match_has_no_details(score):
    assert score(EXACT, "Bern", {"answer": "Bern"}, details=True).details == {}


def test_exact_match_is_nan_without_gold(catalog):
    samples = [Sample("a", expected=Expected(), output=Output([], answer="x"))]
    batch = judge(samples, Target("answer", "answer", "exact"), PROFILES["default"], catalog.matcher("exact")).judged

    assert math.isnan(answer_exact_match(batch)[0])


@pytest.mark.parametrize("function", [answer_containment, answer_exact_match])
def test_range_is_declared_as_zero_to_one(function):
    assert declared(function).range == (0.0, 1.0)
    assert declared(function).higher_is_better
