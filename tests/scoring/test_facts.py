"""Facts of single ranks, and of ground truth that was not found, where it is graded, repeated or a text."""

import pytest

from rankgauge import Catalog, Engine
from rankgauge.scoring.covered_spans import CoveredSpan
from rankgauge.scoring.details import arithmetic
from rankgauge.scoring.facts import RankFacts, SampleFacts, covered_stretch, matched_stretch

ENGINE = Engine(catalog=Catalog.discover(own_only=True))


def explained(gold, retrieved, asked, **options):
    samples = [{"id": "q", "expected_output": gold, "actual_output": {"retrieved": retrieved}}]
    (column,) = ENGINE.dataset(samples).with_metrics([asked]).run(details=True, **options).metrics.values()
    return column.details[0]


def test_any_gain_is_relevant_where_gains_are_added():
    found = explained({"relevant": {"a": 0.5, "b": 0.25}}, ["a"], "ndcg@1")["explanation"]
    assert [rank["relevant"] for rank in found["ranks"]] == [True]
    assert [(each["id"], each["grade"]) for each in found["missing"]] == [("b", 0.25)]


def test_a_missing_output_is_missing_where_any_gain_can_be_found():
    samples = [
        {"id": "p", "expected_output": {"a": 1}, "actual_output": ["a"]},
        {"id": "q", "expected_output": {"a": 0.5}},
    ]
    (column,) = ENGINE.dataset(samples).with_metrics(["ndcg@1"]).run().metrics.values()
    assert (column.status(0), column.status(1)) == ("scored", "missing")


def test_ranks_without_a_gold_item_are_left_out_of_details():
    assert explained(["a"], ["x", "a", "y"], "hit@3")["explanation"]["ranks"][0]["rank"] == 2


def test_ids_have_no_match_score():
    (rank,) = explained(["a"], ["a"], "hit@1")["explanation"]["ranks"]
    assert rank["match"] is None


TEN_CHARACTERS = [{"document": "d", "start": 0, "end": 10}]


def spans_of(*grades):
    """Return a span of five characters after the other with these grades."""
    return [{"document": "d", "start": 5 * at, "end": 5 * at + 5, "grade": grade} for at, grade in enumerate(grades)]


@pytest.mark.parametrize("grades", [(2, 1), (1, 2)])
def test_a_rank_has_the_highest_grade_of_what_it_holds(grades):
    gold = {"spans": spans_of(*grades)}
    (rank,) = explained(gold, TEN_CHARACTERS, "span-recall@1")["explanation"]["ranks"]
    assert (len(rank["gold"]), rank["grade"]) == (2, 2)


@pytest.mark.parametrize("grades", [(2, 1), (1, 2), (1, 1)])
def test_a_rank_is_relevant_where_one_of_what_it_holds_is(grades):
    gold = {"spans": spans_of(*grades)}
    (rank,) = explained(gold, TEN_CHARACTERS, "span-precision(rel=2)@1")["explanation"]["ranks"]
    assert (len(rank["gold"]), rank["relevant"]) == (2, 2 in grades)


def test_a_rank_that_covers_nothing_is_left_out():
    beside = {"document": "d", "start": 30, "end": 40}
    found = explained({"spans": spans_of(1)}, [beside, *TEN_CHARACTERS], "span-recall@2")["explanation"]["ranks"]
    assert [rank["rank"] for rank in found] == [2]


@pytest.mark.parametrize("texts", [("abcdefghij", "abcdefghiX"), ("abcdefghiX", "abcdefghij")])
def test_a_rank_has_the_highest_match_score_of_what_it_holds(texts):
    """Ten of ten characters of one text are those of the result, and nine of the other."""
    asked = "recall(gold=passages, matcher=fuzzy-chunk)@1"
    retrieved = [{"id": "c", "text": "abcdefghij"}]
    (rank,) = explained({"passages": list(texts)}, retrieved, asked)["explanation"]["ranks"]
    assert (len(rank["gold"]), rank["match"]) == (2, 1)


def test_only_a_text_that_holds_or_is_held_by_a_gold_text_is_matched():
    assert matched_stretch("two", ["one two three"]) == "two"
    assert matched_stretch("four", ["one two three"]) is None
    assert matched_stretch("four", ["one two", "three four"]) == "four"


def test_the_longest_marked_part_of_a_span_is_shown():
    span = CoveredSpan("d[0:9]", 0.5, (), "\u27e6a\u27e7 xyz \u27e6b c\u27e7")
    assert covered_stretch("a xyz b c", [span]) == "b c"
    assert covered_stretch("a", [CoveredSpan("d[0:9]", 0.5, (), None)]) is None


@pytest.mark.parametrize(
    ("discounts", "divisor_is", "line"),
    [
        ((1 / 2, 1 / 3), "", "m = 1/2 + 1/3 = 0.8333"),
        ((1 / 2, 0.25), "", "m = 0.5 + 0.25 = 0.75"),
        ((0.01234567, 0.25), "", "m = 0.0123 + 0.25 = 0.2623"),
        ((-0.01234567, 0.25), "", "m = -0.0123 + 0.25 = 0.2377"),
        ((0.5000001, 1 / 3), "", "m = 0.5 + 0.3333 = 0.8333"),
        ((-0.00012346, 0.00012344), "", "m = -0.0001235 + 0.0001234 = -2e-08"),
        ((1 / 2, 1 / 3), "all", "m = (0.5 + 0.3333) / 1 (all) = 0.8333"),
    ],
)
def test_ranks_divide_only_where_each_does_and_nothing_else(discounts, divisor_is, line):
    ranks = tuple(
        RankFacts(
            rank=rank,
            id="a",
            score=None,
            grade=1,
            relevant=True,
            gold=(),
            text=None,
            match=None,
            gain=1.0,
            discount=discount,
        )
        for rank, discount in enumerate(discounts, 2)
    )
    assert arithmetic("m", SampleFacts(ranks, 3, (), 1.0, divisor_is), sum(discounts)) == line


def test_a_score_that_the_sum_says_already_is_written_once():
    (rank,) = explained(["a"], ["a"], "hit@1")["explanation"]["ranks"]
    assert rank["discount"] == 1
    assert explained(["a"], ["a"], "hit@1")["explanation"]["arithmetic"] == "hit@1 = 1"


def test_a_rank_that_holds_two_gold_texts_adds_both():
    texts = {"passages": ["one two", "three four"]}
    (rank,) = explained(texts, [{"id": "a", "text": "one two three four"}], "recall(gold=passages)@1")["explanation"][
        "ranks"
    ]
    assert [rank[name] for name in ("gain", "discount", "contribution", "total")] == [2, 1, 1, 1]


def test_ids_are_not_looked_for_in_texts():
    retrieved = [{"id": "a", "text": "a text with a"}]
    samples = [{"id": "q", "expected_output": ["a"], "actual_output": retrieved}]
    (rank,) = ENGINE.dataset(samples).with_metrics(["hit@1"]).run().explain("q", "hit@1").ranks
    assert (rank.text, rank.matched) == ("a text with a", None)


def test_a_sample_without_nuggets_has_none_that_are_missing():
    nuggets = {"nuggets": [{"name": "n1", "text": "one"}]}
    samples = [
        {"id": "p", "expected_output": nuggets, "actual_output": {"answer": "one"}},
        {"id": "q", "expected_output": ["a"], "actual_output": {"answer": "one"}},
    ]
    chosen = ENGINE.dataset(samples).with_metrics(["all_nuggets(matcher=contains)"])
    (column,) = chosen.run(details=True).metrics.values()
    assert column.details[1]["explanation"]["missing"] == []


def test_a_missing_output_has_no_sum():
    samples = [{"id": "p", "expected_output": ["a"], "actual_output": ["a"]}, {"id": "q", "expected_output": ["a"]}]
    (column,) = ENGINE.dataset(samples).with_metrics(["hit@1"]).run(details=True).metrics.values()
    assert (column.status(1), column.values[1]) == ("missing", 0.0)
    assert column.details[1]["explanation"]["arithmetic"] is None


def test_a_missing_output_is_undefined_where_no_grade_is_high_enough():
    samples = [
        {"id": "p", "expected_output": {"a": 2}, "actual_output": ["a"]},
        {"id": "q", "expected_output": {"a": 1}},
    ]
    (column,) = ENGINE.dataset(samples).with_metrics(["recall(rel=2)@1"]).run().metrics.values()
    assert (column.status(0), column.status(1)) == ("scored", "undefined")


def test_ranks_are_told_in_order_however_deep_a_gold_item_lies():
    retrieved = [f"d{rank}" for rank in range(1, 1101)]
    samples = [{"id": "q", "expected_output": ["d1024"], "actual_output": retrieved}]
    ranks = ENGINE.dataset(samples).with_metrics(["recall@1100"]).run().explain("q", "recall@1100").ranks
    assert [rank.rank for rank in ranks] == [*range(1, 101), 1024]
