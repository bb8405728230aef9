"""Nuggets: TREC's RAG track by hand-worked values, where support is given and where a matcher finds it."""

from __future__ import annotations

import pytest

from rankgauge import Engine
from rankgauge.errors import DataError

NUGGETS = [
    {"id": "n1", "text": "Bern is the capital", "importance": "vital"},
    {"id": "n2", "text": "Bern lies on the Aare", "importance": "vital"},
    {"id": "n3", "text": "Bern has bears", "importance": "vital"},
    {"id": "n4", "text": "Bern was founded in 1191", "importance": "okay"},
    {"id": "n5", "text": "Bern is a heritage site", "importance": "okay"},
]
SUPPORT = {"n1": "support", "n2": "partial_support", "n3": "not_support", "n4": "partial_support", "n5": "support"}
"""Of the vital ones 1, 1/2 and 0; of the okay ones 1/2 and 1."""

VITAL = {nugget["text"] for nugget in NUGGETS[:3]}

BY_HAND = {
    "V": 1.5 / 3,
    "V_strict": 1 / 3,
    "A": 3 / 5,
    "A_strict": 2 / 5,
    "W": (1.5 + 0.5 * 1.5) / (3 + 0.5 * 2),
    "W_strict": (1 + 0.5 * 1) / (3 + 0.5 * 2),
}


def sample(nuggets=NUGGETS, support=SUPPORT, answer="About Bern."):
    return {"id": "q", "expected_output": {"nuggets": nuggets}, "actual_output": {"answer": answer, "support": support}}


@pytest.fixture
def scores(catalog):
    def score(one, *metrics, **options):
        evaluation = Engine(catalog=catalog).dataset([]).with_metrics(metrics or list(BY_HAND))
        return evaluation.score(one, **options)

    return score


@pytest.mark.parametrize("name", BY_HAND)
def test_support_that_is_given_counts_as_in_the_rag_track(scores, name):
    (found,) = scores(sample(), name).values()

    assert found.value == pytest.approx(BY_HAND[name], abs=1e-15)


@pytest.mark.parametrize(
    "support",
    [
        [{"id": name, "assignment": label} for name, label in SUPPORT.items()],
        [{"text": nugget["text"], "assignment": SUPPORT[nugget["id"]], "importance": "okay"} for nugget in NUGGETS],
        {nugget["text"]: SUPPORT[nugget["id"]] for nugget in NUGGETS},
        {name: label for name, label in SUPPORT.items() if label != "not_support"},
        {**SUPPORT, "n3": None},
    ],
    ids=["list of ids", "nugget file of the track", "by text", "unsupported left out", "null in a table"],
)
def test_every_form_of_support_says_the_same(scores, support):
    assert [found.value for found in scores(sample(support=support)).values()] == pytest.approx(list(BY_HAND.values()))


def test_matcher_looks_for_nuggets_in_the_answer(scores):
    answer = "As you know, BERN IS THE CAPITAL, and Bern was founded in 1191."
    found = scores(
        sample(support=None, answer=answer), *(f"{name}(matcher=keyword)" for name in ("V", "A_strict", "W"))
    )

    assert [each.value for each in found.values()] == pytest.approx([1 / 3, 2 / 5, 1.5 / 4])


def test_match_score_below_one_is_partial_support(scores):
    one = {
        "id": "q",
        "expected_output": {"nuggets": ["red green", "blue"]},
        "actual_output": {"answer": "red blue"},
    }
    by_tokens = {"metric": "all_nuggets", "matcher": "token-overlap(over=gold) >= 0.5"}

    assert scores(one, by_tokens, {**by_tokens, "strict": True, "as": "strict"})["strict"].value == 0.5
    assert next(iter(scores(one, by_tokens).values())).value == (0.5 + 1) / 2


def test_plain_strings_are_vital_nuggets(scores):
    found = scores(sample(nuggets=["a b", "c d"], support={"c d": "support"}))

    assert [each.value for each in found.values()] == [0.5] * 6


def test_without_a_vital_nugget_only_the_vital_share_is_undefined(scores):
    found = scores(sample(nuggets=NUGGETS[3:], support={"n5": "support"}), "V", "A", "W")

    assert [found[name].value for name in ("vital_nuggets", "all_nuggets", "weighted_nuggets")] == [None, 0.5, 0.5]
    assert found["vital_nuggets"].reason == "the ground truth has no vital nugget"


def test_missing_output_is_undefined_only_where_there_is_no_vital_nugget(catalog):
    rows = [
        {"id": "q1", "expected_output": {"nuggets": NUGGETS}, "actual_output": None},
        {"id": "q2", "expected_output": {"nuggets": NUGGETS[3:]}},
    ]
    result = Engine(catalog=catalog).dataset(rows).with_metrics(["V", "A"]).run()

    assert (result["V"].mean, result["V"].n) == (0.0, 1)
    assert (result["A"].mean, result["A"].n) == (0.0, 2)


def test_support_alone_is_an_output(scores):
    one = {"id": "q", "expected_output": {"nuggets": NUGGETS}, "actual_output": {"support": SUPPORT}}

    assert [found.value for found in scores(one).values()] == pytest.approx(list(BY_HAND.values()))


def test_messages_show_no_control_characters(scores):
    (found,) = scores(sample(support={"\x1b[31mn1": "support"}), "V").values()

    assert r"names '\x1b[31mn1'" in found.reason


def test_answer_without_support_is_a_failed_score_that_says_what_to_do(scores):
    (found,) = scores(sample(support=None), "V").values()

    assert (found.value, found.status) == (0.0, "failed")
    assert "has no 'support'" in found.reason
    assert "matcher=keyword" in found.reason


def test_support_for_an_unknown_nugget_is_a_failed_score(scores):
    (found,) = scores(sample(support={"Bern has baers": "support"}), "V").values()

    assert (found.value, found.status) == (0.0, "failed")
    assert "names 'Bern has baers', which is no nugget" in found.reason
    assert "did you mean 'Bern has bears'?" in found.reason


@pytest.mark.parametrize(
    ("support", "says"),
    [
        ({"n1": "yes"}, "support['n1'] must be support, partial_support, not_support"),
        ({"n1": 1}, "not the integer 1"),
        ("n1", "a map from a nugget's id or text"),
        ([{"assignment": "support"}], "support[0] needs the 'id' or the 'text'"),
        ([{"id": "n1", "assignment": "support"}] * 2, "assigned twice"),
    ],
)
def test_malformed_support_fails_its_sample(scores, support, says):
    (found,) = scores(sample(support=support), "V").values()

    assert found.status == "failed"
    assert says in found.reason


@pytest.mark.parametrize(
    ("nuggets", "place", "says"),
    [
        ("one", ".nuggets", "expected a list of nuggets"),
        ([1], ".nuggets[0]", "a nugget is a string, or an object"),
        ([{}], ".nuggets[0]", "needs a 'text' or an 'id'"),
        (["a", " "], ".nuggets[1].text", "not blank"),
        ([{"text": "a", "importance": "vitl"}], ".nuggets[0].importance", "did you mean"),
        (["a", "a"], ".nuggets[1]", "listed twice"),
        ([{"id": "a"}, {"id": "b", "text": "a"}], ".nuggets[1]", "listed twice"),
    ],
)
def test_malformed_nuggets_are_an_error_that_names_the_place(scores, nuggets, place, says):
    with pytest.raises(DataError, match="cannot score") as caught:
        scores(sample(nuggets=nuggets))

    assert f"expected_output{place}" in str(caught.value)
    assert says in str(caught.value)


def test_matcher_needs_the_text_of_every_nugget(scores):
    (found,) = scores(sample(nuggets=[{"id": "n1"}, "b"]), "A(matcher=keyword)").values()

    assert found.status == "failed"
    assert "no text" in found.reason


def test_details_count_nuggets(scores):
    (found,) = scores(sample(), "V", details=True).values()

    assert found.details == {"vital": 3, "okay": 2, "supported": 2, "partially_supported": 2}


@pytest.mark.parametrize("metric", ["V", "W_strict", "A(matcher=keyword)"])
def test_explanation_adds_up_and_tries_what_is_missing(catalog, metric):
    one = sample(answer="Bern has bears")
    result = Engine(catalog=catalog).dataset([one]).with_metrics([metric]).run()
    (name,) = result.metrics
    found = result.explain("q", name)

    assert found.ranks[0].contribution == pytest.approx(found.score)
    assert found.missing
    assert found.notes == ()
    assert all(trial.score > found.score for trial in found.with_missing_on_top if trial.id in VITAL)
    assert "nuggets of the generated answer by" in found.judged


def test_fields_map_a_nugget_file_of_the_track(catalog):
    row = {
        "qid": "2024-1",
        "answer_text": "About Bern.",
        "nuggets": [{**nugget, "assignment": SUPPORT[nugget["id"]]} for nugget in NUGGETS],
    }
    fields = {
        "id": "qid",
        "actual_output.answer": "answer_text",
        "expected_output.nuggets": "nuggets",
        "support": "nuggets",
    }
    result = Engine(catalog=catalog).dataset([row]).with_fields(fields).with_metrics(list(BY_HAND)).run()

    assert [column.mean for column in result.metrics.values()] == pytest.approx(list(BY_HAND.values()))
