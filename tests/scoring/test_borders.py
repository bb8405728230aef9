"""Scoring where it turns into something else: cutoffs of single samples, nothing that fits, and what parts say."""

import numpy as np
import pytest

from rankgauge import Catalog, Engine
from rankgauge.judging import Target
from rankgauge.plugin import Cutoff, Judged, Scores, metric
from rankgauge.scoring.covered_spans import CoveredSpan
from rankgauge.scoring.facts import covered_stretch
from rankgauge.scoring.sighting import Sighting

ENGINE = Engine(catalog=Catalog.discover(own_only=True))


def column(samples, asked, **options):
    (only,) = ENGINE.dataset(samples).with_metrics([asked]).run(**options).metrics.values()
    return only


def test_a_metric_that_fails_on_a_batch_gets_each_sample_with_its_own_cutoff():
    @metric("alone-at-k", range=(0, None))
    def alone(judged: Judged, *, k: Cutoff) -> Scores:
        """Return the cutoff, of one sample only."""
        if judged.n > 1:
            raise ValueError("one at a time")
        return np.broadcast_to(k, judged.n).astype(float)

    samples = [
        {"id": f"q{k}", "expected_output": ["a"], "actual_output": ["a"], "metadata": {"k": k}} for k in (3, 1, 2)
    ]
    assert column(samples, alone).values.tolist() == [3, 1, 2]


def test_a_budget_into_which_nothing_fits_shows_no_rank():
    item = {"id": "a", "text": "one two three"}
    samples = [{"id": "q", "expected_output": ["a"], "actual_output": {"retrieved": [item]}}]
    for budget, found, ranks in ((2, 0, []), (3, 1, [1])):
        made = column(samples, f"recall(tokenizer=words)@{budget}tok", details=True)
        assert made.mean == found
        assert [rank["rank"] for rank in made.details[0]["explanation"]["ranks"]] == ranks


def test_ranks_are_relevant_as_the_metric_takes_it():
    """From grade 2 on where a metric counts relevant items, and by their gain where it adds gains."""
    samples = [{"id": "q", "expected_output": {"a": 1, "b": 2, "c": 0}, "actual_output": ["a", "b", "c"]}]
    for asked, flags in (("P(rel=2)@3", [False, True, False]), ("ndcg@3", [True, True, False])):
        ranks = column(samples, asked, details=True).details[0]["explanation"]["ranks"]
        assert [rank["relevant"] for rank in ranks] == flags


def test_a_single_sample_lacks_the_first_kind_of_ground_truth():
    sample = {"id": "q", "expected_output": {"answer": "x"}, "actual_output": ["a"]}
    (score,) = ENGINE.dataset([]).with_metrics(["recall@1"]).score(sample).values()
    assert score.reason == "the sample has no ground truth of the kind 'relevant'"


def test_the_first_answer_is_expected_where_none_is_found():
    samples = [{"id": "q", "expected_output": {"answer": ["x y", "z"]}, "actual_output": [{"id": "a", "text": "no"}]}]
    assert column(samples, "answer-containment-at-k", details=True).details[0]["expected_span"] == "x y"


def test_the_span_of_which_most_is_covered_is_shown():
    most, least = (CoveredSpan(gold, share, (), None, gold) for gold, share in (("alpha", 0.9), ("beta", 0.2)))
    for spans in ((most, least), (least, most)):
        assert covered_stretch("alpha beta", spans) == "alpha"


class TestSightings:
    ONE, TWO = Target("relevant"), Target("passages", matcher="passage")

    @pytest.mark.parametrize(
        ("one", "other", "both"),
        [
            ({"targets": {ONE}}, {"targets": {TWO}}, {"targets": {ONE, TWO}}),
            ({"met": True}, {}, {"met": True}),
            ({"looks": ("a", "b")}, {"looks": ("c", "d")}, {"looks": ("a", "b")}),
            ({}, {"looks": ("c", "d")}, {"looks": ("c", "d")}),
            ({"parts": ((True,),)}, {"parts": ((False,),)}, {"parts": ((True,), (False,))}),
            ({"refused": True}, {}, {"refused": True}),
            ({"keys": frozenset({"answer"})}, {"keys": frozenset({"support"})}, {"keys": {"answer", "support"}}),
            ({"keys": frozenset()}, {}, {"keys": frozenset()}),
            ({}, {"keys": frozenset({"support"})}, {"keys": {"support"}}),
            ({"is_filled": True}, {}, {"is_filled": True}),
            ({"stages": frozenset({"first"})}, {"stages": frozenset({"last"})}, {"stages": {"first", "last"}}),
            ({"rising": "here"}, {"rising": "there"}, {"rising": "here"}),
            ({}, {"rising": "there"}, {"rising": "there"}),
        ],
    )
    def test_parts_say_together_what_one_of_them_says(self, one, other, both):
        for facts in (one, other):
            if "targets" in facts:
                facts["targets"] = frozenset(facts["targets"])
        found = Sighting(**one) | Sighting(**other)
        usual = Sighting()
        for name in Sighting.__slots__:
            assert getattr(found, name) == both.get(name, getattr(usual, name)), name

    def test_a_rise_of_scores_is_told_with_its_ranks(self):
        retrieved = [{"id": name, "score": score} for name, score in (("a", 4), ("b", 3), ("c", 5))]
        samples = [{"id": "q", "expected_output": ["a"], "actual_output": retrieved}]
        (note,) = ENGINE.dataset(samples).with_metrics(["hit@1"]).run().notes
        assert note.startswith("scores rise along a ranking (sample 'q': 3 at rank 2, 5 at rank 3)")

    def test_nobody_looked_at_texts_that_nobody_doubts(self):
        assert Sighting().looked(self.TWO) == 0
        assert Sighting().looked(self.ONE) == 0
        assert Sighting(parts=((True,), (False,))).looked(self.ONE) == 2
