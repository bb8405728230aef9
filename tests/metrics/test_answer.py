"""Answers: containment in the retrieved texts, and exact match of the generated answer."""

from __future__ import annotations

import math
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Engine
from rankgauge.errors import PlanError
from rankgauge.judging import Target, judge
from rankgauge.metrics.answer import answer_containment, answer_exact_match, answer_f1
from rankgauge.plugin.metric import declared
from rankgauge.policy import PROFILES
from rankgauge.samples import Expected, Output, Sample
from tables import rows

CONTAINMENT, EXACT, F1 = "answer-containment-at-k", "answer-exact-match", "answer-f1"


def texts(*given):
    return [{"id": f"d{rank}", "text": text} for rank, text in enumerate(given, 1)]


TWO = texts("nothing here", "It is in Bern, as ever.")


@pytest.mark.parametrize(("k", "expected"), [(1, 0.0), (2, 1.0), (10**9, 1.0)])
def test_answer_counts_from_the_rank_of_its_text_on(score, k, expected):
    assert expected == score(CONTAINMENT, "in Bern", TWO, k=k).value


@rows(
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


def test_details_of_a_sample_without_answers_name_none(score):
    found = score(CONTAINMENT, {"relevant": ["d1"]}, TWO, k=1, details=True)

    assert (found.status, found.details["expected_span"]) == ("undefined", None)


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


@pytest.mark.parametrize("function", [answer_containment, answer_exact_match, answer_f1])
def test_range_is_declared_as_zero_to_one(function):
    assert declared(function).range == (0.0, 1.0)
    assert declared(function).higher_is_better


@rows(
    ("generated", "exact", "f1"),
    [
        ("The Eiffel Tower!", 1.0, 1.0),  # case, punctuation and articles do not count
        ("eiffel  tower", 1.0, 1.0),
        ("Tower, Eiffel", 0.0, 1.0),  # the same words
        ("the tower of Paris", 0.0, 2 * 1 / (3 + 2)),  # tower | tower, of, paris
        ("Eiffel Tower Tower", 0.0, 2 * 2 / (3 + 2)),  # a repeated word counts as often as both have it
        ("Louvre", 0.0, 0.0),
        ("Eiffel-Tower", 0.0, 0.0),  # punctuation goes without leaving a space
        ("", 0.0, 0.0),
    ],
)
def test_squad_forgives_case_punctuation_and_articles(score, generated, exact, f1):
    output = {"answer": generated}

    assert score({"metric": EXACT, "matcher": "squad"}, "the Eiffel Tower", output).value == exact
    assert score(F1, "the Eiffel Tower", output).value == pytest.approx(f1, abs=1e-15)


def test_f1_takes_the_nearest_of_several_accepted_answers(score):
    accepted = {"answer": ["New York", "New York City, USA", "NYC"]}

    assert score(F1, accepted, {"answer": "York City"}).value == pytest.approx(2 * 2 / (2 + 4))


@pytest.mark.parametrize(("gold", "generated", "expected"), [("A", "the", 1.0), ("A", "B", 0.0), ("B", "a", 0.0)])
def test_answers_of_which_normalization_leaves_nothing_are_equal(score, gold, generated, expected):
    assert score(F1, gold, {"answer": generated}).value == expected
    assert score({"metric": EXACT, "matcher": "squad"}, gold, {"answer": generated}).value == expected


def test_f1_by_another_matcher_is_its_highest_match_score(score):
    by_letters = {"metric": F1, "matcher": "edit-ratio >= 0.5"}

    assert score(by_letters, {"answer": ["colour", "hue"]}, {"answer": "color"}).value == pytest.approx(10 / 11)
    assert score(by_letters, "hue", {"answer": "color"}).value == 0.0


def test_f1_is_explained_by_the_nearest_answer(catalog):
    sample = {"id": "q", "expected_output": {"answer": ["x y", "x"]}, "actual_output": {"answer": "x z"}}
    found = Engine(catalog=catalog).dataset([sample]).with_metrics([F1]).run().explain("q", F1)

    assert found.score == pytest.approx(2 / 3)
    assert found.ranks[0].contribution == pytest.approx(2 / 3)
    assert found.notes == ()


def squad(generated, accepted):
    """SQuAD's F1 in other words: pair off equal words one by one."""
    best = 0.0
    for gold in accepted:
        words = [
            "".join(" " if c.isspace() else c for c in text.lower() if c not in string.punctuation).split()
            for text in (generated, gold)
        ]
        one, other = ([word for word in listed if word not in {"a", "an", "the"}] for listed in words)
        rest, common = list(other), 0
        for word in one:
            if word in rest:
                rest.remove(word)
                common += 1
        best = max(best, 2 * common / (len(one) + len(other)) if one or other else 1.0)
    return best


WORDS = st.lists(st.sampled_from(["the", "A", "an", "cat", "Cat.", "sat", "mat", "'mat'", "-"]), max_size=6)
PHRASES = WORDS.map(" ".join).filter(str.strip)


@given(generated=WORDS.map(" ".join), accepted=st.lists(PHRASES, min_size=1, max_size=3))
def test_f1_equals_its_plain_restatement(catalog, generated, accepted):
    sample = {"id": "q", "expected_output": {"answer": accepted}, "actual_output": {"answer": generated}}
    evaluation = Engine(catalog=catalog).dataset([]).with_metrics([F1])

    assert evaluation.score(sample)[F1].value == pytest.approx(squad(generated, accepted), abs=1e-15)
