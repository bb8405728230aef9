import math
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

from rankgauge import Engine, MetricSummary, Result, evaluate
from rankgauge.errors import ResultError
from tables import rows

NAN = float("nan")

# Reciprocal ranks: 1, 1/2, missing, failed, undefined, 1/4.
ROWS = (
    {"id": "q1", "expected_output": ["a"], "actual_output": ["a", "b"], "metadata": {"tags": ["x", "y"]}},
    {"id": "q2", "expected_output": ["a"], "actual_output": ["b", "a"], "metadata": {"tags": ["x"]}},
    {"id": "q3", "expected_output": ["a"], "metadata": {"tags": ["y"]}},
    {"id": "q4", "expected_output": ["a"], "actual_output": "[oops"},
    {"id": "q5", "expected_output": [], "actual_output": ["a"]},
    {"id": "q6", "expected_output": ["a"], "actual_output": ["b", "c", "d", "a"], "metadata": {"tags": ["z"]}},
)


@pytest.fixture(scope="module")
def result(engine):
    metrics = [
        "ndcg@10",
        "retrieval-recall-at-k",
        "P@1,2",
        "MRR",
        {"metric": "ndcg(gain=exponential)@10", "as": "my ndcg"},
        "ndcg",
        "P(rel=2)@5",
    ]
    return engine.dataset(ROWS).with_metrics(metrics).run()


class TestLookup:
    @rows(
        ("spelling", "name"),
        [
            ("ndcg@10", "ndcg@10"),
            ("nDCG@10", "ndcg@10"),
            ("NDCG@10", "ndcg@10"),
            ("ndcg_cut_10", "ndcg@10"),
            ("ndcg_at_10", "ndcg@10"),
            ("retrieval-ndcg-at-10", "ndcg@10"),
            ("retrieval-ndcg-at-k@10", "ndcg@10"),
            (" ndcg @ 10 ", "ndcg@10"),
            ("ndcg", "ndcg"),
            ("nDCG", "ndcg"),
            ("retrieval-recall-at-k", "retrieval-recall-at-k"),
            ("retrieval_recall_at_k", "retrieval-recall-at-k"),
            ("P@1", "p@1"),
            ("P_1", "p@1"),
            ("precision@1", "p@1"),
            ("retrieval-precision-at-2", "p@2"),
            ("P_2", "p@2"),
            ("MRR", "mrr"),
            ("RR", "mrr"),
            ("recip_rank", "mrr"),
            ("retrieval-mrr", "mrr"),
            ("my ndcg", "my ndcg"),
            ("my_ndcg", "my ndcg"),
            ("ndcg(gain=exponential)@10", "my ndcg"),
            ("nDCG(gain='exponential')@10", "my ndcg"),
            ("P(rel=2)@5", "p(rel=2)@5"),
            ("p_rel2_at_5", "p(rel=2)@5"),
        ],
    )
    def test_every_accepted_spelling_finds_its_column(self, result, spelling, name):
        found = {column.name: column for column in result.metrics.values()}
        assert spelling in result
        assert result[spelling] is next(column for key, column in found.items() if key.casefold() == name.casefold())

    def test_columns_stand_in_the_order_they_were_asked_for(self, result):
        assert [name.casefold() for name in result.metrics] == [
            "ndcg@10",
            "retrieval-recall-at-k",
            "p@1",
            "p@2",
            "mrr",
            "my ndcg",
            "ndcg",
            "p(rel=2)@5",
        ]

    def test_iterating_gives_the_names_of_the_columns_as_of_a_frame(self, result):
        assert list(result) == list(result.metrics)
        assert [result[name] for name in result] == list(result.metrics.values())

    @pytest.mark.parametrize("name", ["ndcg@5", "AP", "recall@5", "", "no such metric", "my", "P@3"])
    def test_what_was_not_computed_is_a_key_error_that_lists_the_columns(self, result, name):
        assert name not in result
        with pytest.raises(KeyError, match="there are ndcg@10"):
            result[name]

    def test_a_column_that_looks_alike_is_suggested(self, result):
        with pytest.raises(KeyError, match=r"did you mean 'ndcg@10'"):
            result["ndgc@10"]

    def test_a_key_that_is_no_string_is_no_column(self, result):
        assert 3 not in result

    def test_a_spelling_that_fits_several_columns_is_refused(self, engine):
        metrics = ["ndcg(gain=exponential)@5", "ndcg(ideal=gold)@5"]
        found = engine.dataset(ROWS).with_metrics(metrics).run()
        with pytest.raises(KeyError, match="may be any of"):
            found["ndcg@5"]

    def test_the_spelling_as_written_is_kept(self, result):
        assert "MRR" in result["retrieval-mrr"].info.spellings


class TestAggregates:
    """Over the reciprocal ranks 1, 1/2, 0 (missing), 0 (failed), none (undefined), 1/4."""

    def test_the_mean_counts_missing_and_failed_as_zero(self, result):
        assert result["MRR"].mean == 0.35  # 1.75 / 5

    def test_every_sample_is_accounted_for(self, result):
        column = result["MRR"]
        assert (column.n, column.n_undefined, column.n_missing, column.n_failed) == (5, 1, 1, 1)
        assert len(result) == 6

    def test_the_deviation_divides_by_one_less(self, result):
        # Squares about 0.35: 0.4225 + 0.0225 + 0.1225 + 0.1225 + 0.01 = 0.7; 0.7 / 4 = 0.175.
        assert result["MRR"].std == pytest.approx(0.175**0.5, rel=1e-12)

    def test_percentiles_are_interpolated(self, result):
        # In order: 0, 0, 1/4, 1/2, 1.
        column = result["MRR"]
        assert [column.percentile(p) for p in (0, 50, 75, 100)] == [0.0, 0.25, 0.5, 1.0]
        assert column.percentile(90) == pytest.approx(0.8, rel=1e-12)  # place 3.6
        with pytest.raises(ValueError, match="from 0 to 100"):
            column.percentile(101)

    def test_the_pass_rate_counts_values_that_reach_the_threshold(self, result):
        column = result["MRR"]
        assert (column.pass_rate(), column.pass_rate(0.25), column.pass_rate(1.5)) == (0.4, 0.6, 0.0)

    def test_values_keep_the_order_of_the_samples(self, result):
        np.testing.assert_array_equal([1.0, 0.5, 0.0, 0.0, NAN, 0.25], result["MRR"].values)

    def test_the_cutoff_is_told(self, result):
        assert (result["P@1"].k, result["retrieval-recall-at-k"].k, result["MRR"].k) == (1, 5, None)

    def test_a_column_prints_its_counts(self, result):
        assert repr(result["MRR"]) == "<mrr mean=0.3500 n=5 undefined=1 missing=1 failed=1>"

    def test_a_result_prints_its_means(self, result):
        assert repr(result).startswith("<Result of 6 samples, INCOMPLETE, 1 missing, 1 failed (q4: the output is a ")
        assert repr(result.take([0])).startswith("<Result of 1 sample: ndcg@10=")

    def test_nothing_has_no_mean(self, engine):
        rows = [{"id": "q", "expected_output": {"a": 0}, "actual_output": ["a"]}]
        column = engine.dataset(rows).with_metrics(["retrieval-recall-at-k"]).run()["retrieval-recall-at-k"]
        assert (column.mean, column.std, column.percentile(50), column.pass_rate()) == (None, None, None, None)
        assert "mean=none" in repr(column)
        assert sum(count for _, _, count in column.histogram()) == 0

    def test_the_histogram_has_ten_buckets_over_the_range_of_the_metric(self, result):
        found = result["MRR"].histogram()
        assert [count for _, _, count in found] == [2, 0, 1, 0, 0, 1, 0, 0, 0, 1]
        assert (found[0][0], found[-1][1]) == (0.0, 1.0)


class TestPerSample:
    def test_there_is_a_row_for_every_sample_and_two_columns_for_every_metric(self, engine):
        frame = engine.dataset(ROWS).with_metrics(["MRR", "P@1"]).run().per_sample
        assert frame.columns == ["sample_id", "tags", "mrr", "mrr_status", "p_at_1", "p_at_1_status"]
        assert frame.select("sample_id", "mrr", "mrr_status").rows() == [
            ("q1", 1.0, "scored"),
            ("q2", 0.5, "scored"),
            ("q3", 0.0, "missing"),
            ("q4", 0.0, "failed"),
            ("q5", None, "undefined"),
            ("q6", 0.25, "scored"),
        ]

    def test_it_never_holds_nan(self, result):
        frame = result.per_sample
        for name, dtype in frame.schema.items():
            if dtype == pl.Float64:
                assert frame[name].is_nan().sum() == 0

    def test_safe_names_that_meet_are_told_apart(self, engine):
        metrics = [{"metric": "MRR", "as": "a b"}, {"metric": "AP", "as": "a-b"}]
        result = engine.dataset(ROWS).with_metrics(metrics).run()
        assert result.per_sample.width == 6
        assert {result[name].info.safe_name for name in ("a b", "a-b")} == {"a_b", "a_b_2"}

    @pytest.mark.parametrize("name", ["sample_id", "tags", "x_status"])
    def test_a_column_never_takes_the_name_of_another(self, engine, tmp_path, name):
        metrics = [{"metric": "MRR", "as": "x"}, {"metric": "AP", "as": name}]
        result = engine.dataset(ROWS).with_metrics(metrics).run()
        assert result.per_sample.width == 6
        assert list(result.sample_ids) == result.per_sample["sample_id"].to_list()
        loaded = Result.load(result.save(tmp_path / "run"))
        np.testing.assert_array_equal(result[name].values, loaded[name].values)
        np.testing.assert_array_equal(result["x"].codes, loaded["x"].codes)


class TestUnscored:
    def test_what_holds_for_every_metric_stands_once(self, engine):
        result = engine.dataset(ROWS).with_metrics(["MRR", "P@1"]).run()
        found = [(error.sample_id, error.metric, error.status) for error in result.unscored]
        assert found == [("q3", None, "missing"), ("q4", None, "failed"), ("q5", None, "undefined")]

    def test_errors_are_what_went_wrong_and_undefined_is_not(self, engine):
        result = engine.dataset(ROWS).with_metrics(["MRR"]).run()
        assert [(error.sample_id, error.status) for error in result.errors] == [("q3", "missing"), ("q4", "failed")]
        assert all(error.reason for error in result.errors)

    def test_what_holds_for_one_metric_names_it(self, engine):
        rows = [
            {"id": "q1", "expected_output": {"relevant": ["a"], "answer": "x"}, "actual_output": [{"id": "a"}]},
            {"id": "q2", "expected_output": ["a"], "actual_output": [{"id": "a", "text": "x"}]},
        ]
        result = engine.dataset(rows).with_metrics(["MRR", "answer-containment-at-k"]).run()
        found = [(error.sample_id, error.metric, error.status) for error in result.unscored]
        assert found == [
            ("q1", "answer-containment-at-k", "failed"),  # there is no text to look into
            ("q2", "answer-containment-at-k", "undefined"),
        ]
        assert result.n_unhealthy == 1

    def test_a_metric_that_fails_on_one_sample_spoils_no_other(self, engine):
        def picky(ranking, *, k: int) -> float:
            """Fail for rankings of four."""
            if ranking.depth == 4:
                msg = "four"
                raise ValueError(msg)
            return 1.0

        result = engine.dataset(ROWS).with_metrics([picky]).run()
        (column,) = result.metrics.values()
        assert [column.status(place) for place in (0, 1, 5)] == ["scored", "scored", "failed"]
        assert "ValueError: four" in column.reasons[5]


class TestCohorts:
    def test_each_tag_is_a_result_and_samples_with_several_count_in_each(self, result):
        cohorts = result.by_tag()
        assert list(cohorts) == ["x", "y", "z", None]
        assert {tag: cohort.sample_ids for tag, cohort in cohorts.items()} == {
            "x": ("q1", "q2"),
            "y": ("q1", "q3"),
            "z": ("q6",),
            None: ("q4", "q5"),
        }

    def test_aggregates_of_a_cohort_are_over_its_samples(self, result):
        cohorts = result.by_tag()
        assert {tag: cohort["MRR"].mean for tag, cohort in cohorts.items()} == {"x": 0.75, "y": 0.5, "z": 0.25, None: 0}
        assert (cohorts["y"]["MRR"].n_missing, cohorts[None]["MRR"].n_failed, cohorts[None]["MRR"].n) == (1, 1, 1)
        assert "not valid JSON" in cohorts[None]["MRR"].reasons[0]

    def test_without_tags_everything_is_one_cohort(self, engine):
        rows = [{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}]
        assert list(engine.dataset(rows).with_metrics(["MRR"]).run().by_tag()) == [None]

    def test_taking_samples_takes_their_statuses_and_reasons(self, result):
        taken = result.take([3, 0])
        assert taken.sample_ids == ("q4", "q1")
        assert [taken["MRR"].status(place) for place in (0, 1)] == ["failed", "scored"]
        assert list(taken["MRR"].reasons) == [0]

    def test_cohorts_agree_with_the_eval_harness(self, result):
        """Its report over four samples, the third of which one metric failed for."""
        info = result["MRR"].info
        scores = {"m1": [0.0, 0.5, 1.0, 0.25], "m2": [1.0, 0.49, NAN, 0.5]}
        columns = {}
        for name, values in scores.items():
            failed = np.isnan(values)
            reasons = {place: "it failed" for place in np.flatnonzero(failed).tolist()}  # noqa: C420  # told apart
            columns[name] = MetricSummary(info, np.array(values), np.where(failed, 3, 0).astype(np.uint8), reasons)
        whole = Result(["s1", "s2", "s3", "s4"], [("a", "b"), ("a",), (), ("b",)], columns, {})
        told = {
            tag: [
                len(cohort),
                *((column.mean, column.percentile(95), column.pass_rate()) for column in cohort.metrics.values()),
            ]
            for tag, cohort in whole.by_tag().items()
        }
        assert told == {
            "a": [2, (0.25, 0.475, 0.5), (0.745, pytest.approx(0.9745, rel=1e-12), 0.5)],
            "b": [2, (0.125, 0.2375, 0.0), (0.75, 0.975, 1.0)],
            None: [1, (1.0, 1.0, 1.0), (None, None, None)],  # the source shows zeros where everything failed
        }
        assert [error.sample_id for error in whole.errors] == ["s3"]


def test_parts_that_count_other_queries_are_not_merged():
    """Their fingerprints are the same, because no sample's score differs; their means would."""
    samples = [{"id": "a", "expected_output": ["x"], "actual_output": ["x"]}]
    evaluation = Engine().dataset(samples).with_metrics(["RR"])
    other = Engine().dataset([{**samples[0], "id": "b"}]).with_metrics(["RR"]).with_profile(queries="intersection")
    with pytest.raises(ResultError, match="queries=judged and another queries=intersection"):
        Result.merge([evaluation.run(), other.run()])


class TestStandardErrors:
    """How far a mean can be trusted: 0, 0, 1/2 and 1 have the variance 0.6875 / 3."""

    QRELS: ClassVar = {f"q{place}": {"a": 1} for place in range(4)}
    RUN: ClassVar = {"q0": {"x": 1}, "q1": {"x": 1}, "q2": {"x": 2, "a": 1}, "q3": {"a": 1}}

    def test_a_mean_has_a_standard_error_and_an_interval(self):
        column = evaluate(self.QRELS, self.RUN, "RR")["RR"]
        error = math.sqrt(0.6875 / 3 / 4)
        assert column.standard_error == pytest.approx(error, rel=1e-14)
        low, high = column.interval(0.5)  # t(.75, 3) is 0.7648923
        assert (low, high) == (pytest.approx(0.375 - 0.7648923 * error), pytest.approx(0.375 + 0.7648923 * error))

    def test_an_interval_stays_in_the_range_of_the_metric(self):
        assert evaluate(self.QRELS, self.RUN, "RR")["RR"].interval() == (0.0, 1.0)

    def test_equal_scores_have_an_interval_where_they_are_0_or_1(self):
        column = evaluate(self.QRELS, self.QRELS, "RR")["RR"]  # Wilson's lower end is n / (n + z**2)
        assert (column.standard_error, column.interval()) == (0.0, (pytest.approx(4 / (4 + 3.841458821)), 1.0))
        half = evaluate(self.QRELS, {name: {"x": 2, "a": 1} for name in self.QRELS}, "RR")["RR"]
        assert (half.mean, half.standard_error, half.interval()) == (0.5, 0.0, None)

    def test_one_score_has_no_standard_error(self):
        column = evaluate({"q0": {"a": 1}}, {"q0": {"a": 1}}, "RR")["RR"]
        assert (column.standard_error, column.interval()) == (None, (pytest.approx(1 / (1 + 3.841458821)), 1.0))

    def test_a_sum_has_no_standard_error(self):
        column = evaluate(self.QRELS, self.RUN, "num_rel_ret")["num_rel_ret"]
        assert (column.estimate, column.standard_error, column.interval()) == (None, None, None)


@pytest.mark.parametrize(("made", "why"), [(False, "there is no such folder"), (True, "it has no manifest.json")])
def test_a_folder_that_is_not_there_or_empty_is_told_apart(tmp_path, made, why):
    folder = tmp_path / "kept"
    if made:
        folder.mkdir()
    with pytest.raises(ResultError, match=f"kept is not a complete result folder: {why}"):
        Result.load(folder)
