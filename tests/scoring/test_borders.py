"""Scoring where it turns into something else: cutoffs of single samples, nothing that fits, and what parts say."""

import numpy as np
import pytest

from rankgauge import Catalog, Engine
from rankgauge.errors import MetricFailedError
from rankgauge.plugin import Cutoff, Judged, JudgedSample, Scores, hookimpl, metric, run_metric, sample_metric
from rankgauge.scoring.covered_spans import CoveredSpan
from rankgauge.scoring.details import arithmetic
from rankgauge.scoring.facts import RankFacts, SampleFacts, covered_stretch
from rankgauge.scoring.score import LARGEST, Outcome

ENGINE = Engine(catalog=Catalog.discover(own_only=True))


def column(samples, asked, **options):
    (only,) = ENGINE.dataset(samples).with_metrics([asked]).run(**options).metrics.values()
    return only


def test_a_metric_that_fails_on_a_batch_gets_each_sample_with_its_own_cutoff():
    @metric("alone-at-k", range=(0, None))
    def alone(judged: Judged, *, k: Cutoff) -> Scores:
        """Return the cutoff, of one sample only, and nothing from 4 on."""
        if judged.n > 1:
            raise ValueError("one at a time")
        return np.broadcast_to(k, judged.n) + np.where(np.asarray(k) > 3, np.nan, 0.0)

    samples = [
        {"id": f"q{k}", "expected_output": ["a"], "actual_output": ["a"], "metadata": {"k": k}} for k in (3, 1, 2, 4)
    ]
    made = column(samples, alone)
    np.testing.assert_array_equal(made.values, [3, 1, 2, np.nan])
    assert [made.status(place) for place in range(4)] == ["scored", "scored", "scored", "undefined"]


def test_a_batch_sees_cutoffs_that_nobody_can_change():
    @metric("changer-at-k", range=(0, None))
    def changer(judged: Judged, *, k: Cutoff) -> Scores:
        """Set the cutoffs of all samples."""
        k[:] = 9
        return judged.found(k)

    samples = [{"id": f"q{k}", "expected_output": ["a"], "actual_output": ["a"], "metadata": {"k": k}} for k in (1, 2)]
    with pytest.raises(MetricFailedError, match="read-only"):
        column(samples, changer)


def test_a_score_of_the_largest_size_counts_beside_one_that_is_none():
    @metric("largest-at-k", range=(None, None))
    def largest(judged: Judged, *, k: Cutoff) -> Scores:
        """Return the largest score, or none."""
        return np.where(judged.found(k) > 0, LARGEST, np.nan)

    samples = [{"id": name, "expected_output": ["a"], "actual_output": [name]} for name in "ab"]
    made = column(samples, largest)
    assert (made.status(0), made.status(1), made.values[0]) == ("scored", "undefined", LARGEST)


def test_grades_that_are_all_below_0_infer_a_highest_of_0():
    samples = [{"id": "q", "expected_output": {"a": 0, "b": -1}, "actual_output": ["a"]}]
    (note,) = ENGINE.dataset(samples).with_metrics(["err@5"]).run().notes
    assert note == "err@5: max_grade was inferred from the data: 0"


def test_an_outcome_may_be_made_read_only():
    outcome = Outcome(np.zeros(1), np.zeros(1, dtype=np.uint8), {}).marked()
    assert [each.flags.writeable for each in (outcome.values, outcome.status)] == [False, False]


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


@pytest.mark.parametrize(("text", "answer"), [("no", "x y"), ("a z", "z")])
def test_the_answer_that_is_found_is_expected_or_else_the_first(text, answer):
    samples = [{"id": "q", "expected_output": {"answer": ["x y", "z"]}, "actual_output": [{"id": "a", "text": text}]}]
    assert column(samples, "answer-containment-at-k", details=True).details[0]["expected_span"] == answer


def test_a_result_without_an_id_is_told_by_its_rank():
    @metric("shows-at-k", gold="passages", joins=("top_k",))
    def shows(judged: Judged, *, k: Cutoff) -> Scores:
        """Return whether anything was found."""
        return judged.found(k) > 0

    retrieved = [{"text": "one"}, {"id": "b", "text": "two"}]
    samples = [{"id": "q", "expected_output": {"passages": ["one"]}, "actual_output": {"retrieved": retrieved}}]
    assert column(samples, shows, details=True).details[0]["top_k"] == ["#1", "b"]


def test_the_span_of_which_most_is_covered_is_shown():
    most, least = (CoveredSpan(gold, share, (), None, gold) for gold, share in (("alpha", 0.9), ("beta", 0.2)))
    for spans in ((most, least), (least, most)):
        assert covered_stretch("alpha beta", spans) == "alpha"


def test_covered_parts_of_gold_spans_are_marked_in_what_is_known_of_their_text():
    """The first span has no text of its own; a result whose text is as long as its place says what is covered."""

    def places(*each):
        return [
            {"document": "d", "start": start, "end": end, **({"text": text} if text else {})}
            for start, end, text in each
        ]

    retrieved = places(
        (5, 15, "abcdefghij"),
        (12, 14, "kl"),
        (16, 40, "m" * 14 + "uvwxyz" + "n" * 4),
        (12, 14, "edited"),
        (0, 40, None),
    )
    gold = {"spans": places((10, 20, None), (30, 36, "uvwxyz"))}
    samples = [{"id": "q", "expected_output": gold, "actual_output": {"retrieved": retrieved}}]
    ranks = ENGINE.dataset(samples).with_metrics(["span-recall@5"]).run().explain("q", "span-recall@5").ranks
    first, second = "d[10:20]", "d[30:36]"
    assert [
        [(span.gold, span.share, span.parts, span.text, span.matched) for span in rank.covers] for rank in ranks
    ] == [
        [(first, 0.5, ((10, 15),), "⟦fghij⟧…", "fghij")],
        [(first, 0.2, ((12, 14),), "…⟦kl⟧…", "kl")],
        [(first, 0.4, ((16, 20),), "…⟦mmmm⟧", "mmmm"), (second, 1.0, ((30, 36),), "⟦uvwxyz⟧", "uvwxyz")],
        [(first, 0.2, ((12, 14),), None, None)],
        [(first, 1.0, ((10, 20),), None, None), (second, 1.0, ((30, 36),), "⟦uvwxyz⟧", None)],
    ]
    assert [rank.matched for rank in ranks] == ["fghij", "kl", "uvwxyz", None, None]


def test_a_result_that_holds_two_gold_texts_names_both():
    gold, text = {"passages": ["one two", "three four"]}, {"id": "a", "text": "one two three four"}
    samples = [{"id": "q", "expected_output": gold, "actual_output": [text]}]
    (rank,) = column(samples, "recall(gold=passages)@1", details=True).details[0]["explanation"]["ranks"]
    assert (list(rank["gold"]), rank["gain"], rank["total"]) == (["one two", "three four"], 2, 1)


def test_a_forbidden_item_is_not_missing():
    gold = {"relevant": ["a"], "forbidden": [{"id": "x"}]}
    samples = [{"id": "q", "expected_output": gold, "actual_output": ["b"]}]
    for asked, missing in (("forbidden_count@3", 0), ("recall@3", 1)):
        assert len(column(samples, asked, details=True).details[0]["explanation"]["missing"]) == missing


def test_a_metric_of_whole_runs_sees_the_rankings_of_all_batches():
    @run_metric("runs-seen-at-k", range=(0, None))
    def seen(rankings, *, k: int) -> float:
        """Return how many rankings there are."""
        return float(len(rankings))

    samples = [{"id": f"q{n}", "expected_output": ["a"], "actual_output": ["a", "b"]} for n in range(3)]
    assert column(samples, seen, batch_size=1).mean == 3


@pytest.mark.parametrize(("retrieved", "count"), [("aab", "1 retrieved item was"), ("aabb", "2 retrieved items were")])
def test_repeats_within_a_sample_are_counted(retrieved, count):
    samples = [{"id": "q", "expected_output": ["a"], "actual_output": list(retrieved)}]
    (note,) = ENGINE.dataset(samples).with_metrics(["hit@1", "recall@2"]).run().notes
    assert note.startswith(f"{count} dropped before the cutoff as repeats within a sample (policy duplicates=first; ")


def test_a_metric_that_declares_no_contributions_has_nothing_to_say_of_them():
    @metric("plain-at-k")
    def plain(judged: Judged, *, k: Cutoff) -> Scores:
        """Return the share of gold items that were found."""
        return judged.found(k) / judged.n_gold()

    samples = [{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}]
    assert ENGINE.dataset(samples).with_metrics([plain]).run().explain("q", "plain-at-k").notes == ()


@sample_metric("valueless")
def valueless(ranking: JudgedSample) -> float | None:
    """Have no value for any ranking."""


@pytest.mark.parametrize(
    ("gold", "output", "value"),
    [(["a"], ["a"], np.nan), ({"a": 1, "b": 1}, ["a"], np.nan), ([], ["a"], 0), (["a"], [], 0)],
)
def test_only_a_sample_without_ground_truth_or_results_counts_as_zero(gold, output, value):
    """Policy no_gold=zero says nothing of a ranking that a metric has no value for."""
    samples = [
        {"id": "q", "expected_output": gold, "actual_output": output},
        {"id": "p", "expected_output": ["a"], "actual_output": ["a"]},
    ]
    (made,) = ENGINE.dataset(samples).with_metrics([valueless]).with_profile(no_gold="zero").run().metrics.values()
    assert made.status(0) == "undefined"
    np.testing.assert_array_equal(made.values, [value, np.nan])


class GradeSums:
    """A plugin with a metric that sees grades."""

    @hookimpl
    def rankgauge_metrics(self):
        def grades(judged: Judged, *, k: Cutoff) -> Scores:
            """Return the sum of the relevant grades that were found."""
            rows = judged.rows.until(k)
            return np.bincount(rows.sample, judged.relevance.of(rows.grade) * rows.grade, judged.n)

        return [metric("graded-sum-at-k", range=(0, None))(grades)]


def test_a_threshold_of_relevance_leaves_grades_as_they_are():
    engine = Engine(catalog=Catalog.discover(own_only=True, plugins={"sums": GradeSums()}))
    samples = [{"id": "q", "expected_output": {"a": 3, "b": 1}, "actual_output": ["a", "b"]}]
    result = engine.dataset(samples).with_metrics(["graded-sum-at-k(rel=2)@2"]).run()
    assert [made.mean for made in result.metrics.values()] == [3]


def test_a_text_that_is_lacking_can_change_a_score_without_a_best_one():
    retrieved = [{"id": "a", "text": "one"}, {"id": "b"}]
    samples = [{"id": "q", "expected_output": {"passages": ["one"]}, "actual_output": {"retrieved": retrieved}}]
    assert column(samples, "dcg(gold=passages)@2").status(0) == "failed"
    assert column(samples, "hit(gold=passages)@2").mean == 1


def test_what_describes_an_output_counts_nothing_of_a_missing_one():
    @metric("describing-at-k", range=(1, None), describes=True)
    def describing(judged: Judged, *, k: Cutoff) -> Scores:
        """Return how many results there are, and nothing for none."""
        return np.where(judged.depth > 0, judged.depth, np.nan)

    samples = [{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}, {"id": "p", "expected_output": ["a"]}]
    assert column(samples, describing).values.tolist() == [1, 0]


def test_a_budget_tells_of_samples_with_an_output_how_many_ranks_fit():
    item = {"id": "a", "text": "one two"}
    outputs = [{"retrieved": [item]}, {"retrieved": [{"id": "a"}]}, None]
    samples = [{"id": f"q{n}", "expected_output": ["a"], "actual_output": each} for n, each in enumerate(outputs)]
    assert column(samples, "recall(tokenizer=words)@2tok").info.fitted == {"1": 1}


def test_arithmetic_writes_discounts_of_0_and_divides_whole_sums():
    """The sums are 2 * 0 at rank 1 alone, 1 + 1 by 4, and 12 * 1 with 1 * 0 for the rest."""

    def rank(number, gain, discount):
        return RankFacts(
            rank=number,
            id="a",
            score=None,
            grade=1,
            relevant=True,
            gold=(),
            text=None,
            match=None,
            gain=gain,
            discount=discount,
        )

    assert arithmetic("m", SampleFacts((rank(1, 2.0, 0.0),), 1, (), 1.0), 0.0) == "m = 2*0 = 0"
    halves = (rank(1, 1.0, 1.0), rank(2, 1.0, 1.0))
    assert arithmetic("m", SampleFacts(halves, 2, (), 4.0), 0.5) == "m = (1 + 1) / 4 = 0.5"
    thirteen = (*(rank(number, 1.0, 1.0) for number in range(1, 13)), rank(13, 1.0, 0.0))
    ones = " + ".join(["1"] * 12)
    assert arithmetic("m", SampleFacts(thirteen, 13, (), 1.0), 12.0) == f"m = {ones} + 0 (1 more) = 12"


def test_the_stretch_that_a_gold_text_matches_is_shown():
    samples = [
        {
            "id": "q",
            "expected_output": {"passages": ["one two"]},
            "actual_output": {"retrieved": [{"id": "a", "text": "zero one two three"}]},
        }
    ]
    asked = "recall(gold=passages)@1"
    (rank,) = ENGINE.dataset(samples).with_metrics([asked]).run().explain("q", asked).ranks
    assert rank.matched == "one two"


def test_a_shorter_text_of_a_span_is_marked_in_proportion():
    """Four of ten characters are covered: two of five."""
    gold = {"spans": [{"document": "d", "start": 10, "end": 20, "text": "abcde"}]}
    retrieved = [{"document": "d", "start": 8, "end": 14}]
    samples = [{"id": "q", "expected_output": gold, "actual_output": {"retrieved": retrieved}}]
    (rank,) = ENGINE.dataset(samples).with_metrics(["span-recall@5"]).run().explain("q", "span-recall@5").ranks
    assert [span.text for span in rank.covers] == ["⟦ab⟧cde"]


@pytest.mark.parametrize(("grade", "notes"), [(4, 0), (5, 1)])
def test_only_grades_above_a_scale_are_noted(grade, notes):
    samples = [{"id": "q", "expected_output": {"a": grade}, "actual_output": ["a"]}]
    assert len(ENGINE.dataset(samples).with_metrics(["err(max_grade=4)@5"]).run().notes) == notes


def test_a_mean_over_orders_of_ties_is_no_sum_over_ranks():
    retrieved = [{"id": "a", "score": 1}, {"id": "b", "score": 1}]
    samples = [{"id": "q", "expected_output": ["a"], "actual_output": retrieved}]
    dataset = ENGINE.dataset(samples).with_metrics(["MRR@2"]).with_profile(order="score", ties="average")
    explanation = dataset.run().explain("q", "MRR@2")
    assert (explanation.score, explanation.arithmetic, explanation.notes) == (0.75, None, ())


def test_two_batches_have_the_scores_of_both():
    samples = [{"id": f"q{n}", "expected_output": ["a"], "actual_output": ["ba"[n]]} for n in range(2)]
    assert column(samples, "hit@1", batch_size=1).values.tolist() == [0, 1]
