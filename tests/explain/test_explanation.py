"""One score, rank by rank, and what would change it; every number is worked out by hand."""

from __future__ import annotations

import json
from math import log2
from typing import Any

import numpy as np
import pytest

from rankgauge import Engine, Policy
from rankgauge.catalog import Catalog
from rankgauge.errors import ResultError
from rankgauge.explain import Explanation, MissingGold
from rankgauge.explain.one_score import Scorer, explain_sample
from rankgauge.plugin import Contributions, metric
from rankgauge.samples import read_sample
from tables import rows

CATALOG = Catalog.discover(own_only=True)
SECOND, THIRD = 1 / log2(3), 1 / 2
GRADED = {
    "id": "q1",
    "input": "which one?",
    "expected_output": {"relevant": {"d1": 2, "d9": 1, "d2": 0}},
    "actual_output": [{"id": "d3", "score": 9.0}, {"id": "d1", "score": 5.0}, {"id": "d2", "score": 5.0}],
}


def explain(wanted: Any, record: dict[str, Any], policy: str | Policy = "default") -> Explanation:
    plan = Engine(catalog=CATALOG).dataset([]).with_metrics([wanted]).with_profile(policy).plan()
    sample = read_sample(record, problems=[])
    assert sample is not None
    (column,) = plan.metrics
    return explain_sample(Scorer(plan, column, column.targets[0]), sample)


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-12)


def trials(found: Any) -> dict[Any, float | None]:
    return {each.id: each.score for each in found}


def test_every_rank_says_what_it_adds():
    ideal = 2 + SECOND
    explanation = explain("ndcg@3", GRADED)

    assert explanation.score == close(2 * SECOND / ideal)
    first, second, third = explanation.ranks
    assert (first.id, first.grade, first.relevant, first.gold, first.contribution) == ("d3", None, False, (), 0.0)
    assert (second.rank, second.id, second.score, second.grade, second.relevant) == (2, "d1", 5.0, 2.0, True)
    assert (second.gold, second.gain, second.discount) == (("d1",), 2.0, close(SECOND))
    assert (second.contribution, second.total) == (close(2 * SECOND / ideal), close(2 * SECOND / ideal))
    assert (third.id, third.grade, third.relevant, third.gold) == ("d2", 0.0, False, ("d2",))
    assert explanation.missing == (MissingGold(id="d9", grade=1.0, rank=None, ideal_rank=2),)
    assert explanation.arithmetic == "ndcg@3 = 2*0.6309 / 2.6309 (ideal DCG) = 0.4796"


def test_result_that_cost_most_and_gold_that_would_help_most():
    ideal = 2 + SECOND
    explanation = explain("ndcg@3", GRADED)

    assert trials(explanation.without) == {"d3": close(2 / ideal), "d1": 0.0, "d2": close(2 * SECOND / ideal)}
    assert trials(explanation.with_missing_on_top) == {"d9": close((1 + 2 * THIRD) / ideal)}
    assert explanation.cost_most == explanation.without[0]
    assert explanation.would_help_most == explanation.with_missing_on_top[0]
    assert explanation.change(explanation.without[0]) == close((2 - 2 * SECOND) / ideal)


@rows(
    ("wanted", "line"),
    [
        ("hit@3", "hit@3 = 1"),
        ("recall@3", "recall@3 = 1 / 2 (gold items) = 0.5"),
        ("P@3", "p@3 = 1 / 3 (ranks) = 0.3333"),
        ("MRR", "retrieval-mrr = 1/2 = 0.5"),
        ("AP", "retrieval-map = 0.5 / 2 (gold items) = 0.25"),
        ("ndcg@1", "ndcg@1 = 0 / 2 (ideal DCG) = 0"),
        ("rbp(p=0.5)", "retrieval-rbp(p=0.5) = 0.5 / 2 (weight of all ranks) = 0.25"),
        ("err(max_grade=2)@3", "err(max_grade=2)@3 = 0.75/2 = 0.375"),
        ("f1@3", None),
    ],
)
def test_arithmetic_is_one_line_that_adds_up(wanted, line):
    explanation = explain({"metric": wanted, "as": line.split(" = ")[0]} if line else wanted, GRADED)

    assert explanation.arithmetic == line


def test_sum_of_many_terms_is_cut_and_still_adds_up():
    names = [f"d{rank}" for rank in range(1, 16)]
    record = {"id": "q", "expected_output": names, "actual_output": names}

    assert explain("recall@15", record).arithmetic == (
        "recall@15 = (1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 3 (3 more)) / 15 (gold items) = 1"
    )


def test_gold_found_below_the_cutoff_says_where():
    explanation = explain("recall@1", {"id": "q", "expected_output": ["a", "b"], "actual_output": ["a", "x", "b"]})

    assert explanation.missing == (MissingGold(id="b", grade=1.0, rank=3, ideal_rank=2),)
    assert [rank.rank for rank in explanation.ranks] == [1]
    assert trials(explanation.with_missing_on_top) == {"b": 0.5}


def test_metric_that_is_no_sum_has_trials_all_the_same():
    explanation = explain("f1@2", {"id": "q", "expected_output": ["a", "b"], "actual_output": ["x", "a"]})

    assert explanation.arithmetic is None
    assert explanation.ranks[1].contribution is None
    assert explanation.score == 0.5
    assert trials(explanation.without) == {"x": 0.5, "a": 0.0}  # 2 * 1 / (2 + 2); k stays 2
    assert trials(explanation.with_missing_on_top) == {"b": 0.5}


def test_metric_for_which_less_is_better_is_helped_by_a_lower_score():
    record = {"id": "q", "expected_output": {"a": 1}, "actual_output": ["x", "a"]}
    explanation = explain("unj@1", record)

    assert explanation.score == 1.0
    assert explanation.cost_most == explanation.without[0]
    assert explanation.without[0].score == 0.0


def test_duplicates_go_with_the_result_that_stands_for_them():
    record = {"id": "q", "expected_output": ["a"], "actual_output": ["x", "a", "x", "a"]}

    assert trials(explain("P@2", record).without) == {"x": 0.5, "a": 0.0}
    kept = explain("P@4", record, Policy(duplicates="credit-once"))
    assert [trial.score for trial in kept.without] == [0.25, 0.25, 0.25, 0.25]  # the other copy is credited instead


def test_scores_decide_the_order_and_the_top_is_above_them():
    ranked = [{"id": "a", "score": -3.5}, {"id": "b", "score": 1e308}, {"id": "c", "score": 1e308}]
    record = {"id": "q", "expected_output": ["a", "z"], "actual_output": ranked}
    explanation = explain("MRR", record, Policy(order="score"))

    assert [rank.id for rank in explanation.ranks] == ["c", "b", "a"]  # ties: the id descending, as trec_eval
    assert [rank.score for rank in explanation.ranks] == [1e308, 1e308, -3.5]
    assert trials(explanation.without) == {"c": 0.5, "b": 0.5, "a": 0.0}
    assert trials(explanation.with_missing_on_top) == {"z": 1.0}


def test_texts_show_what_they_matched():
    record = {
        "id": "q",
        "expected_output": {"passages": ["Bern is the capital of Switzerland.", "It lies on the Aare."]},
        "actual_output": {"retrieved": [{"id": "c1", "text": "Zurich"}, {"text": "the capital of Switzerland"}]},
    }
    explanation = explain("recall(gold=passages)@2", record)
    first, second = explanation.ranks

    assert (first.id, first.text, first.match, first.gold) == ("c1", "Zurich", None, ())
    assert (second.id, second.match, second.gold) == (None, 23 / 29, ("Bern is the capital of Switzerland.",))
    assert [missing.id for missing in explanation.missing] == ["It lies on the Aare."]
    assert [trial.score for trial in explanation.without] == [0.5, 0.0]
    assert trials(explanation.with_missing_on_top) == {"It lies on the Aare.": 0.5}  # the capital moves below the cut


def test_answer_is_judged_as_the_only_rank():
    record = {"id": "q", "expected_output": "Bern", "actual_output": {"answer": "Zurich"}}
    explanation = explain("EM", record)

    assert [(rank.rank, rank.text) for rank in explanation.ranks] == [(1, "Zurich")]
    assert explanation.without == ()
    assert trials(explanation.with_missing_on_top) == {"Bern": 1.0}


@pytest.mark.parametrize(
    ("record", "status", "score", "helps"),
    [
        ({"expected_output": ["a"]}, "missing", 0.0, {"a": 1.0}),
        ({"expected_output": ["a"], "actual_output": 7}, "failed", 0.0, {}),
        ({"expected_output": {"a": 0}, "actual_output": ["a"]}, "undefined", None, {}),
    ],
)
def test_sample_without_a_score_says_why(record, status, score, helps):
    explanation = explain("hit@3", {"id": "q", **record})

    assert (explanation.status, explanation.score) == (status, score)
    assert explanation.reason
    assert trials(explanation.with_missing_on_top) == helps
    assert explanation.without == ()


def test_deep_ranking_keeps_every_rank_that_adds_something():
    names = [f"x{rank}" for rank in range(1, 300)]
    names[249] = "a"
    explanation = explain("MRR", {"id": "q", "expected_output": ["a"], "actual_output": names})

    assert explanation.n_ranks == 299
    assert [rank.rank for rank in explanation.ranks] == [*range(1, 101), 250]
    assert explanation.ranks[-1].total == explanation.score == 1 / 250
    assert len(explanation.without) == 101


@pytest.mark.parametrize("gain", [7.0, 1.000001])
def test_contributions_of_a_plugin_that_are_wrong_are_not_shown(gain):
    def wrong(judged, *, k):
        found = judged.finds(k)
        return Contributions(found, np.full(len(found.rank), gain))

    @metric("retrieval-mine-at-k", contributions=wrong)
    def mine(judged, *, k: int):
        """Find one."""
        return judged.found(k) / 1.0

    explanation = explain(mine, {"id": "q", "expected_output": ["a"], "actual_output": ["a"]})

    assert explanation.score == 1.0
    assert explanation.arithmetic is None
    assert f"add up to {gain}, not to its score 1.0" in explanation.notes[0]


@pytest.mark.parametrize(
    ("expectation", "line"), [("itself", "retrieval-mine-at-k = 1"), (lambda judged, *, k: judged.n_gold(), None)]
)
def test_ranks_add_to_a_score_of_tied_results_where_it_is_that_of_any_order(expectation, line):
    @metric("retrieval-mine-at-k", short=("mine",), expectation=expectation, contributions=ones)
    def mine(judged, *, k: int):
        """Find one."""
        return judged.found(k) / 1.0

    retrieved = [{"id": "a", "score": 2}, {"id": "b", "score": 2}]
    averaged = Policy(order="score", ties="average")
    record = {"id": "q", "expected_output": ["a"], "actual_output": retrieved}
    assert explain(mine, record, averaged).arithmetic == line


def ones(judged, *, k):
    found = judged.finds(k)
    return Contributions(found, np.ones(len(found.rank)))


def test_gains_of_a_rank_are_added_before_its_discount():
    def halves(judged, *, k):
        rows = judged.rows.until(k)
        return Contributions(rows, np.ones(len(rows.rank)), np.full(len(rows.rank), 0.5))

    @metric("retrieval-halves-at-k", gold="passages", contributions=halves)
    def half(judged, *, k: int):
        """Count a half for every text."""
        return np.bincount(judged.rows.until(k).sample, minlength=judged.n) / 2

    expected = {"passages": ["one two", "three four"]}
    record = {"id": "q", "expected_output": expected, "actual_output": [{"id": "a", "text": "one two three four"}]}
    (rank,) = explain(half, record).ranks
    assert (rank.gain, rank.discount, rank.contribution) == (2, 0.5, 1)


def test_a_metric_that_fails_on_a_change_has_no_score_there():
    @metric("retrieval-picky-at-k")
    def picky(judged, *, k: int):
        """Fail where fewer than two were retrieved."""
        if (judged.depth < 2).any():
            msg = "too few"
            raise ValueError(msg)
        return judged.found(k) / 1.0

    record = {"id": "q", "expected_output": ["a", "b"], "actual_output": ["x", "a"]}
    explanation = explain(picky, record)

    assert explanation.score == 1.0
    assert [trial.score for trial in explanation.without] == [None, None]
    assert explanation.cost_most is None
    assert trials(explanation.with_missing_on_top) == {"b": 2.0}


def test_json_has_its_keys():
    found = explain("ndcg@3", GRADED).to_dict()

    assert set(found) == {"schema_version", *Explanation.__slots__}
    assert {"rank", "id", "grade", "contribution"} <= set(found["ranks"][0])
    assert found["without"][1] == {"rank": 2, "id": "d1", "score": 0.0}
    assert found["with_missing_on_top"][0]["id"] == "d9"


SPANNED = {
    "id": "q",
    "expected_output": {"spans": [{"document": "doc", "start": 10, "end": 30, "text": "an oven and its pump"}]},
    "actual_output": {
        "retrieved": [{"id": "c", "document": "doc", "start": 0, "end": 22, "text": "0123456789an oven and "}]
    },
}
"""A result that covers 12 of 20 characters."""


@pytest.mark.parametrize(
    ("metric", "sample"),
    [
        ("ndcg@3", GRADED),
        ("AP", {**GRADED, "input": {"question": ["What?", None, 1.5]}}),
        ("MRR", {"id": "q2", "expected_output": ["a"]}),
        ("recall@5", SPANNED),
        ("recall@7tok", {**GRADED, "actual_output": [{"id": "d1", "text": "one two"}, {"id": "d9", "text": "three"}]}),
    ],
)
def test_an_explanation_is_equal_after_a_round_trip_through_json(metric, sample):
    explanation = explain(metric, sample)
    found = Explanation.from_dict(json.loads(json.dumps(explanation.to_dict(), allow_nan=False, sort_keys=True)))
    assert found == explanation
    assert str(found) == str(explanation)
    assert found.to_dict() == explanation.to_dict()


def test_a_key_of_a_later_version_is_no_obstacle():
    explanation = explain("ndcg@3", GRADED)
    stored = explanation.to_dict()
    stored["ranks"][0]["hue"] = stored["hue"] = "blue"
    assert Explanation.from_dict(stored) == explanation


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"schema_version": "rankgauge.explanation.v2"},
            "has the schema 'rankgauge.explanation.v2'; this version reads",
        ),
        ({"score": "1"}, "'score' of the explanation cannot be '1'"),
        ({"judges": "nobody"}, "'judges' of the explanation cannot be 'nobody'"),
        ({"ranks": [{"rank": 1}]}, "'ranks' of the explanation lacks 'id', 'score'"),
        ({"without": {}}, "'without' of the explanation cannot be {}"),
    ],
)
def test_what_is_no_explanation_is_refused(change, said):
    with pytest.raises(ResultError, match=said):
        Explanation.from_dict(explain("ndcg@3", GRADED).to_dict() | change)


def test_explanation_is_a_line_in_a_session_and_a_table_in_print():
    explanation = explain("ndcg@3", GRADED)
    assert repr(explanation) == "<Explanation of 'q1': ndcg@3=0.4796, 3 ranks, 1 missing>"
    first, *rest = str(explanation).splitlines()
    assert first == "ndcg@3 of q1: 0.4796"
    assert "ndcg@3 = 2*0.6309 / 2.6309 (ideal DCG) = 0.4796" in rest
    without = explain("MRR", {"id": "q2", "expected_output": ["a"]}, Policy(missing_output="exclude"))
    assert repr(without) == "<Explanation of 'q2': mrr=none, 0 ranks, 1 missing>"


def test_an_answer_has_no_score_of_a_retriever():
    retrieved = [{"id": "c1", "text": "in Paris", "score": 0.87}]
    record = {
        "id": "q1",
        "expected_output": {"answer": "Paris"},
        "actual_output": {"retrieved": retrieved, "answer": "Paris"},
    }

    (rank,) = explain("answer-exact-match", record).ranks
    assert (rank.text, rank.score) == ("Paris", None)


def test_what_a_whole_output_says_is_told_without_judging_its_ranks():
    record = {"id": "q", "metadata": {"answerable": False}, "expected_output": {}, "actual_output": ["a", "b"]}
    found = explain("false_answers", record)
    assert (found.score, found.by_text) == (1.0, False)
    assert [(rank.id, rank.grade, rank.gold, rank.match) for rank in found.ranks] == [
        ("a", None, (), None),
        ("b", None, (), None),
    ]


def _held(*gold: str, k: int) -> Explanation:
    retrieved = [{"id": f"r{rank}", "text": text} for rank, text in enumerate(gold, 1)]
    record = {"id": "q", "expected_output": {"passages": ["aa", "bb", "cc"]}, "actual_output": {"retrieved": retrieved}}
    plan = Engine(catalog=CATALOG).dataset([]).with_metrics([f"ndcg(gold=passages, matcher=contains)@{k}"]).plan()
    sample = read_sample(record, problems=[])
    assert sample is not None
    (column,) = plan.metrics
    return explain_sample(Scorer(plan, column, column.targets[0]), sample)


def test_result_that_holds_several_says_which_own_ranks_set_what_it_adds():
    # Rank 2 holds two of three items, which take the ranks 2 and 3; that of rank 3 goes down to 4.
    ideal = 1 + SECOND + THIRD
    explanation = _held("x", "aa bb", "cc", k=5)

    assert [rank.own_ranks for rank in explanation.ranks] == [(), (2, 3), (4,)]
    assert [rank.gain for rank in explanation.ranks] == [0, 2, 1]
    assert explanation.ranks[1].discount == close((SECOND + THIRD) / 2)
    assert explanation.ranks[1].contribution == close((SECOND + THIRD) / ideal)
    assert explanation.ranks[2].total == close((SECOND + THIRD + 1 / log2(5)) / ideal) == close(explanation.score)
    header, _, _, second, *_ = str(explanation).split("\n\n")[1].splitlines()
    assert header.split() == ["rank", "id", "match", "grade", "own", "rank", "gain", "discount", "adds", "total"]
    assert second.split()[:5] == ["2", "r2", "1", "1", "2-3"]


def test_own_rank_beyond_the_cutoff_is_told():
    explanation = _held("x", "aa bb cc", k=3)

    assert [rank.own_ranks for rank in explanation.ranks] == [(), (2, 3, None)]
    assert explanation.missing == ()
    assert "2-3, beyond" in str(explanation)


def test_ranking_whose_results_hold_one_item_each_has_no_own_ranks():
    explanation = _held("x", "aa", "bb", k=3)

    assert [rank.own_ranks for rank in explanation.ranks] == [(), (), ()]
    assert "own rank" not in str(explanation)


class TestNamesOfPassages:
    OVEN = "The oven in the small kitchen has to be cleaned once a week."
    PUMP = "The pump behind the mill fills both tanks before sunrise."

    @pytest.mark.parametrize(
        ("ids", "found", "missing"),
        [
            (("oven", "pump"), "oven", "pump"),
            (("oven", None), "oven", PUMP),
            (("same", "same"), OVEN, PUMP),  # a name that two have tells neither from the other
        ],
    )
    def test_an_id_is_the_name_of_a_passage_if_no_other_one_has_it(self, ids, found, missing):
        passages = [{"text": text, "id": name} for text, name in zip((self.OVEN, self.PUMP), ids, strict=True)]
        told = explain(
            "recall(gold=passages)@2",
            {
                "id": "q1",
                "expected_output": {"passages": passages},
                "actual_output": {"retrieved": [{"text": "Ferries sail at noon."}, {"text": self.OVEN}]},
            },
        )
        assert told.score == 0.5
        assert [list(rank.gold) for rank in told.ranks] == [[], [found]]
        assert [each.id for each in told.missing] == [missing]


def test_passages_that_are_called_by_ids_are_found_and_tried_by_their_texts():
    tall, ships = "the lighthouse on the cape is forty one metres tall", "ships pass the reef at night with a pilot"
    gold = {"passages": [{"text": tall, "id": "p1"}, {"text": ships, "id": "p2"}]}
    retrieved = [{"text": f"1887: {ships}"}, {"text": "nothing"}]
    record = {"id": "q", "expected_output": gold, "actual_output": {"retrieved": retrieved}}
    explanation = explain("recall(gold=passages)@2", record)

    assert [(held.gold, held.matched) for held in explanation.ranks] == [(("p2",), ships), ((), None)]
    assert trials(explanation.with_missing_on_top) == {"p1": 1}
