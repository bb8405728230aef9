"""Thresholds: the lowest score that keeps a rate, what the other half says, and what a result has to have."""

import numpy as np
import pytest

from draws import in_thorough_suite
from rankgauge import Engine, threshold
from rankgauge.errors import ParameterError, ResultError
from rankgauge.features.threshold.threshold import threshold_lines

METRICS = ["false_answers", "false_abstentions", "top_score", "hit@1"]


def sample(number, score, *, answerable, hit=True, **metadata):
    retrieved = [] if score is None else [{"id": "d1" if hit else "d2", "score": score}]
    return {
        "id": f"q{number}",
        "expected_output": ["d1"] if answerable else [],
        "metadata": {"answerable": answerable, **metadata},
        "actual_output": {"retrieved": retrieved},
    }


def evaluated(samples, metrics=METRICS):
    return Engine().dataset(samples).with_metrics(metrics).run()


def separated(n=40):
    """Unanswerable questions have scores up to .4, answerable ones from .5 on."""
    return [
        sample(number, 0.5 + number / 1000 if number % 2 else 0.4 - number / 1000, answerable=bool(number % 2))
        for number in range(n)
    ]


@pytest.fixture(scope="module")
def result():
    return evaluated(separated())


def test_scores_that_separate_need_no_compromise(result):
    found = threshold(result, "hit@1")
    assert found.value is not None
    assert 0.4 < found.value <= 0.54
    assert (found.chosen.false_answers.value, found.reported.false_answers.value) == (0, 0)
    assert found.chosen.silenced.value == 0
    assert (found.chosen.false_answers.n, found.reported.false_answers.n) == (10, 10)


def test_it_is_the_lowest_score_that_keeps_the_rate():
    """Everything has one of ten scores in either kind; three false answers of ten are one too many at .2."""
    samples = [sample(number, number % 10, answerable=number >= 20) for number in range(40)]
    found = threshold(evaluated(samples), at_most=0.2)
    wrong = sum(number % 10 >= found.value for number in range(20))
    assert found.chosen.false_answers.value <= 0.2
    assert found.value in {7, 8, 9}
    assert found.chosen.false_answers.value * 10 + found.reported.false_answers.value * 10 == wrong


def test_where_no_score_keeps_it_nothing_is_to_be_said():
    samples = [sample(number, 0.5, answerable=number >= 20) for number in range(40)]
    found = threshold(evaluated(samples), at_most=0.1)
    assert (found.value, found.reported.silenced.value, found.reported.false_answers.value) == (None, 1, 0)
    first = next(iter(threshold_lines(found)))
    assert "would have to say nothing at all" in first.text
    assert first.role == "bad"


def test_a_rate_that_all_keep_silences_nothing():
    samples = [sample(number, None if number % 20 else 0.9, answerable=number >= 20) for number in range(40)]
    samples += [sample(100 + number, 0.1 * number, answerable=True) for number in range(1, 10)]
    found = threshold(evaluated(samples), at_most=0.5)
    assert found.value == min(
        value for value in (0.9, *(0.1 * number for number in range(1, 10))) if value >= found.value
    )
    assert found.reported.false_answers.value <= 0.1


def test_silence_counts_0_in_the_mean_of_the_metric():
    """Half of the answerable ones have the low scores of unanswerable ones, and are silenced with them."""
    samples = [sample(number, 0.1, answerable=False) for number in range(20)]
    samples += [sample(20 + number, 0.9 if number % 2 else 0.1, answerable=True) for number in range(40)]
    found = threshold(evaluated(samples), "hit@1", at_most=0.0)
    halves = found.chosen, found.reported
    assert found.value == 0.9
    assert sum(half.mean.value * half.mean.n for half in halves) == pytest.approx(20)
    assert [half.mean_before.value for half in halves] == [1, 1]


def test_risk_counts_false_answers_and_bad_ones():
    """Of 40 answers 20 are false and half of the others miss: a mean loss of 3/4, which equal scores leave."""
    samples = [sample(number, 0.5, answerable=number >= 20, hit=number % 2 > 0) for number in range(40)]
    result = evaluated(samples)
    assert threshold(result, "hit@1").mean_loss == threshold(result, "hit@1").risk_area == pytest.approx(0.75)
    assert threshold(result).mean_loss == 0.5
    assert threshold(result, "hit@1").calibration.error == pytest.approx(0.25)


@in_thorough_suite()
def test_the_other_half_is_not_flattered():
    """Scores tell nothing here: over many halves the rate reported lies near the one allowed, the chosen one below."""
    chance = np.random.default_rng(5)
    samples = [sample(number, float(chance.random()), answerable=number >= 200) for number in range(400)]
    result = evaluated(samples)
    found = [threshold(result, at_most=0.1, seed=seed) for seed in range(30)]
    assert max(each.chosen.false_answers.value for each in found) <= 0.1
    assert np.mean([each.reported.false_answers.value for each in found]) == pytest.approx(0.1, abs=0.02)
    assert len({each.value for each in found}) > 5


def test_the_same_seed_gives_the_same_halves(result):
    assert threshold(result, seed=4) == threshold(result, seed=4)


def test_clusters_are_not_split():
    samples = [sample(number, number % 7, answerable=number % 2 > 0, topic=f"t{number // 4}") for number in range(80)]
    result = evaluated(samples).with_clusters("topic")
    found = threshold(result, "hit@1")
    assert found.chosen.false_answers.n == found.reported.false_answers.n == 20
    assert found.chosen.false_answers.n % 2 == 0  # each cluster has two


def test_the_line_has_the_whole_threshold():
    """Scores that differ in the ninth digit only: a rounded threshold would let the unanswerable ones in."""
    low, high = 0.123456781, 0.123456789
    samples = [sample(number, high if number % 2 else low, answerable=bool(number % 2)) for number in range(40)]
    found = threshold(evaluated(samples), at_most=0.0004)
    first = next(iter(threshold_lines(found)))
    assert "at most 0.04 % false answers: say nothing below 0.123456789; on the other half that holds" in first.text
    assert first.role == "good"


class TestMistakes:
    @in_thorough_suite()
    def test_clusters_that_leave_nothing_to_choose_by(self):
        """One cluster has all unanswerable questions, and some seeds leave it to the other half."""
        samples = [sample(number, 0.5, answerable=number < 20, topic=f"t{number // 20}") for number in range(40)]
        result = evaluated(samples).with_clusters("topic")
        told = set()
        for seed in range(12):
            try:
                told.add(threshold(result, seed=seed).chosen.false_answers.n)
            except ResultError as error:
                told.add(str(error).partition(",")[0])
        assert told == {20, "the half that chooses has no unanswerable question"}

    def test_a_metric_that_there_is_not(self, result):
        with pytest.raises(ParameterError, match=r"no column 'recall@7'.*; there are false_answers"):
            threshold(result, "recall@7")

    @pytest.mark.parametrize("seed", [-1, 1 << 128])
    def test_a_seed_out_of_bounds(self, result, seed):
        with pytest.raises(ParameterError, match=r"seed is an integer of 0 or more and below 2\*\*128"):
            threshold(result, seed=seed)

    def test_columns_that_are_missing_are_named(self):
        with pytest.raises(ResultError, match=r"run it with -m false_abstentions -m top_score"):
            threshold(evaluated(separated(), ["false_answers"]))

    @pytest.mark.parametrize(("kept", "words"), [(True, "0 unanswerable questions"), (False, "0 answerable questions")])
    def test_questions_of_both_kinds_are_needed(self, kept, words):
        samples = [each for each in separated() if each["metadata"]["answerable"] == kept]
        with pytest.raises(ResultError, match=words):
            threshold(evaluated(samples, METRICS[:3]))

    def test_ten_questions_of_each_kind_are_enough_and_nine_are_not(self):
        assert threshold(evaluated(separated(20))).reported.false_answers.n == 5
        with pytest.raises(ResultError, match=r"^9 answerable questions .* needs 10 at least$"):
            threshold(evaluated(separated(19)))

    def test_an_answer_without_a_score_is_named(self):
        samples = separated()
        samples[7]["actual_output"] = ["d1"]
        with pytest.raises(ResultError, match="1 question answered without a score, such as 'q7'"):
            threshold(evaluated(samples))

    def test_a_metric_that_is_no_quality_is_refused(self, result):
        with pytest.raises(ParameterError, match="top_score does not say how good"):
            threshold(result, "top_score")

    @pytest.mark.parametrize("options", [{"at_most": -0.1}, {"at_most": 1.0}, {"confidence": 1.0}])
    def test_shares_lie_within_their_range(self, result, options):
        with pytest.raises(ParameterError):
            threshold(result, **options)


class TestScoresThatAreDistances:
    """Answerable questions have distances up to .4, unanswerable ones from .5 on: the lowest are the best."""

    SAMPLES = tuple(
        sample(number, 0.4 - number / 1000 if number % 2 else 0.5 + number / 1000, answerable=bool(number % 2))
        for number in range(40)
    )

    @pytest.mark.parametrize("metric", [None, "hit@1"])
    @pytest.mark.parametrize("at_most", [0.0, 0.05, 0.2])
    def test_never_make_a_threshold_that_holds(self, metric, at_most):
        found = threshold(evaluated(self.SAMPLES), metric, at_most=at_most)
        assert found.is_reversed
        assert found.reported.silenced.value == 1
        lines = list(threshold_lines(found))
        assert [line.role for line in lines[:2]] == ["bad", "bad"]
        assert "holds" not in lines[0].text
        assert "are they distances?" in lines[1].text

    def test_negated_ones_do(self, result):
        turned = [
            {
                **each,
                "actual_output": {
                    "retrieved": [{"id": "d1", "score": -each["actual_output"]["retrieved"][0]["score"]}]
                },
            }
            for each in self.SAMPLES
        ]
        found = threshold(evaluated(turned), "hit@1")
        assert not found.is_reversed
        assert "holds: 0.0%" in next(iter(threshold_lines(found))).text

    def test_are_told_where_they_overlap(self):
        """Every tenth unanswerable question is close, every tenth answerable one far."""
        samples = [
            sample(
                number,
                0.2 + number / 1000 if (number % 10 == 0) != (number % 2 > 0) else 0.7,
                answerable=number % 2 > 0,
            )
            for number in range(200)
        ]
        found = threshold(evaluated(samples), "hit@1")
        assert found.is_reversed

    def test_scores_that_tell_nothing_are_no_distances(self, result):
        chance = np.random.default_rng(3)
        samples = [sample(number, float(chance.random()), answerable=number % 2 > 0) for number in range(200)]
        assert not threshold(evaluated(samples), "hit@1").is_reversed
        equal = [sample(number, 0.5, answerable=number % 2 > 0) for number in range(40)]
        assert not threshold(evaluated(equal), "hit@1").is_reversed
        assert not threshold(result, "hit@1").is_reversed
