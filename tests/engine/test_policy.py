"""What each option of the policy does to scores, worked out by hand."""

import dataclasses

import pytest

from rankgauge import Policy
from rankgauge.errors import NothingToEvaluateError, PolicyError, SampleRefusedError
from rankgauge.policy import PROFILES, profile
from tables import rows

METRICS = ("P@3", "recall@3", "MRR")


def sample(name="q", expected=("a", "c"), output=None, **metadata):
    record = {"id": name, "expected_output": expected, "metadata": metadata}
    return record if output is None else {**record, "actual_output": output}


def scored(*pairs):
    return [{"id": name, "score": score} for name, score in pairs]


@pytest.fixture(scope="session")
def run(engine):
    def run_policy(samples, *, metrics=METRICS, **options):
        return engine.dataset(samples).with_metrics(metrics).with_profile(Policy(**options)).run()

    return run_policy


@pytest.fixture(scope="session")
def scores(run):
    """Return the scores of one sample under a policy: precision and recall at 3, reciprocal rank."""

    def scores_of(output, expected=("a", "c"), name="q", **options):
        result = run([sample(name, expected, output)], **options)
        return tuple(result[metric].mean for metric in METRICS)

    return scores_of


class TestOrder:
    OUTPUT = scored(("b", 0.5), ("a", 0.9), ("c", 0.1), ("d", 0.7))

    def test_given_takes_items_as_they_come(self, scores):
        # b a c: two of three relevant, the first at rank 2.
        assert scores(self.OUTPUT, order="given") == (2 / 3, 1.0, 0.5)

    def test_score_sorts_descending(self, scores):
        # a d b: one of three relevant, one of two found, the first at rank 1.
        assert scores(self.OUTPUT, order="score") == (1 / 3, 0.5, 1.0)

    @pytest.mark.parametrize(
        ("output", "first"),
        [
            (scored(("a", 1.0), ("b", 1.0)), "b"),
            (scored(("b", 1.0), ("a", 1)), "b"),
            (scored(("doc10", 1.0), ("doc9", 1.0)), "doc9"),
            (scored(("Z", 0.0), ("a", -0.0)), "a"),
            # In UTF-8 é begins with 0xC3, z is 0x7A.
            (scored(("z", 1.0), ("é", 1.0)), "é"),
            # In UTF-8 U+FF5E begins with 0xEF, U+1F600 with 0xF0; in UTF-16 it would be the other way round.
            (scored(("\uff5e", 1.0), ("\U0001f600", 1.0)), "\U0001f600"),
        ],
    )
    def test_equal_scores_are_ordered_by_id_descending_by_bytes(self, scores, output, first):
        assert scores(output, [first], order="score")[2] == 1.0
        (second,) = {item["id"] for item in output} - {first}
        assert scores(output, [second], order="score")[2] == 0.5

    def test_score_needs_a_score_for_every_item(self, run):
        result = run([sample(output=[{"id": "a", "score": 1.0}, "b"])], order="score")
        (error,) = result.errors
        assert error.status == "failed"
        assert "retrieved[1] has none" in error.reason

    def test_score_needs_none_where_nothing_was_retrieved(self, scores):
        assert scores([], order="score") == (0.0, 0.0, 0.0)


class TestDuplicates:
    OUTPUT = ("a", "b", "a", "c")

    @pytest.mark.parametrize(
        ("duplicates", "expected"),
        [
            ("first", (2 / 3, 1.0, 1.0)),  # a b c
            ("last", (2 / 3, 1.0, 0.5)),  # b a c
            ("credit-once", (1 / 3, 0.5, 1.0)),  # a b (a) | c: the second a keeps its rank and earns nothing
            ("keep", (2 / 3, 0.5, 1.0)),  # a b a | c: both a count for precision, one for recall
        ],
    )
    def test_a_repeated_item(self, scores, duplicates, expected):
        assert expected == scores(self.OUTPUT, duplicates=duplicates)

    @pytest.mark.parametrize(
        ("first", "second", "expected"),
        [
            (0.9, 0.2, (2 / 3, 1.0, 1.0)),  # the first is better: a b c
            (0.2, 0.9, (2 / 3, 1.0, 0.5)),  # the second is: b a c
            (0.5, 0.5, (2 / 3, 1.0, 1.0)),  # equal: the first stays
        ],
    )
    def test_the_best_one_stays_where_it_is(self, scores, first, second, expected):
        output = scored(("a", first), ("b", 0.4), ("a", second), ("c", 0.1))
        assert expected == scores(output, duplicates="best")

    def test_best_needs_scores(self, run):
        (error,) = run([sample(output=self.OUTPUT)], duplicates="best").errors
        assert "duplicates=best needs a score" in error.reason

    def test_best_needs_none_where_nothing_is_repeated(self, scores):
        assert scores(["b", "a"], duplicates="best") == (1 / 3, 0.5, 0.5)

    def test_error_refuses_the_sample_and_says_where(self, run):
        result = run([sample(output=self.OUTPUT), sample("r", output=["a"])], duplicates="error")
        (error,) = result.errors
        assert (error.sample_id, error.status) == ("q", "failed")
        assert "'a' is retrieved 2 times (ranks 1, 3)" in error.reason
        assert result["MRR"].mean == 0.5  # 0 for the failure, 1 for the other

    @pytest.mark.parametrize("duplicates", ["first", "last", "best", "credit-once", "error"])
    def test_a_ranking_without_repeats_is_never_touched(self, scores, duplicates):
        output = scored(("b", 0.1), ("a", 0.2), ("c", 0.3))
        assert scores(output, duplicates=duplicates) == (2 / 3, 1.0, 0.5)

    def test_an_item_repeated_three_times_stays_once(self, scores):
        output = scored(("a", 0.1), ("a", 0.9), ("b", 0.5), ("a", 0.3))
        # first: a b; last: b a; best: a b
        found = [scores(output, ["b"], duplicates=each)[2] for each in ("first", "last", "best")]
        assert found == [0.5, 1.0, 0.5]

    def test_keep_lets_scores_pass_one_and_no_other_does(self, run):
        output = ["a", "a", "a", "c"]
        found = {
            duplicates: run([sample(output=output)], metrics=["Rprec", "AP"], duplicates=duplicates)["AP"].mean
            for duplicates in ("first", "last", "credit-once", "keep")
        }
        # Two relevant. first: a c, (1/1 + 2/2) / 2 = 1; last: the same; credit-once: (1/1 + 2/4) / 2 = 0.75.
        assert (found["first"], found["last"], found["credit-once"]) == (1.0, 1.0, 0.75)
        assert found["keep"] >= found["first"]

    def test_integer_and_text_ids_are_the_same_item(self, scores):
        assert scores([7, "7", "a"], ["a"], duplicates="first")[2] == 0.5


class TestDepthJudgedOnlyExcludeSelf:
    def test_depth_cuts_every_ranking(self, scores):
        assert scores(["b", "a", "c"], depth=None) == (2 / 3, 1.0, 0.5)
        assert scores(["b", "a", "c"], depth=2) == (1 / 3, 0.5, 0.5)
        assert scores(["b", "a", "c"], depth=1) == (0.0, 0.0, 0.0)

    def test_depth_counts_after_repeated_items_are_dropped(self, scores):
        assert scores(["b", "b", "a"], depth=2) == (1 / 3, 0.5, 0.5)

    def test_judged_only_drops_what_the_ground_truth_does_not_name(self, scores):
        # b and d are not judged, x is, as irrelevant: x a c.
        output, gold = ["b", "x", "d", "a", "c"], {"a": 1, "c": 2, "x": 0}
        assert scores(output, gold) == (0.0, 0.0, 0.25)
        assert scores(output, gold, judged_only=True) == (2 / 3, 1.0, 0.5)

    def test_judged_only_counts_behind_the_cut_at_depth(self, scores):
        assert scores(["b", "a", "c"], judged_only=True, depth=2) == (1 / 3, 0.5, 1.0)

    def test_exclude_self_drops_the_sample_from_its_own_ranking(self, scores):
        assert scores(["q", "a", "c"]) == (2 / 3, 1.0, 0.5)
        assert scores(["q", "a", "c"], exclude_self=True) == (2 / 3, 1.0, 1.0)

    def test_exclude_self_frees_the_place_for_another_within_the_depth(self, scores):
        assert scores(["q", "a", "c"], exclude_self=True, depth=2) == (2 / 3, 1.0, 1.0)

    def test_everything_may_be_dropped(self, scores):
        assert scores(["q", "q"], exclude_self=True, judged_only=True) == (0.0, 0.0, 0.0)


class TestNoGold:
    SAMPLES = (sample("q1", ["a"], ["a"]), sample("q2", [], ["a"]))

    @pytest.mark.parametrize(("no_gold", "mean", "n"), [("undefined", 1.0, 1), ("zero", 0.5, 2)])
    def test_it_is_out_of_the_mean_or_a_zero_and_always_counted(self, run, no_gold, mean, n):
        column = run(self.SAMPLES, no_gold=no_gold)["MRR"]
        assert (mean, n, 1) == (column.mean, column.n, column.n_undefined)
        assert column.status(1) == "undefined"
        assert "no ground truth" in column.reasons[1]

    def test_error_refuses_the_run_and_names_sample_metric_and_policy(self, run):
        with pytest.raises(SampleRefusedError) as caught:
            run(self.SAMPLES, no_gold="error")
        (problem,) = caught.value.problems
        assert problem.sample == "q2"
        assert "no_gold=error" in problem.message

    def test_no_relevant_item_is_no_gold_for_recall_and_still_a_judgment(self, run):
        samples = [sample("q1", {"x": 0}, ["x"]), sample("q2", ["a"], ["a"])]
        column = run(samples)["recall@3"]
        assert (column.mean, column.n_undefined, column.status(0)) == (1.0, 1, "undefined")

    def test_it_is_no_failure(self, run):
        result = run(self.SAMPLES)
        assert result.is_incomplete is False
        assert result.errors == ()
        assert len(result.unscored) == 1

    def test_a_sample_without_gold_and_without_output_is_undefined(self, run):
        result = run([sample("q1", ["a"], ["a"]), sample("q2", [])])
        assert result["MRR"].status(1) == "undefined"
        assert result.is_incomplete is False


class TestMissingAndFailed:
    MISSING = (sample("q1", ["a"], ["a"]), sample("q2", ["a"]))
    FAILED = (sample("q1", ["a"], ["a"]), sample("q2", ["a"], "[oops"))

    @pytest.mark.parametrize(("rule", "mean", "n"), [("zero", 0.5, 2), ("exclude", 1.0, 1)])
    def test_a_missing_output_is_a_zero_or_left_out_and_always_counted(self, run, rule, mean, n):
        column = run(self.MISSING, missing_output=rule)["MRR"]
        assert (mean, n, 1, 0) == (column.mean, column.n, column.n_missing, column.n_failed)
        assert column.status(1) == "missing"

    @pytest.mark.parametrize(("rule", "mean", "n"), [("zero", 0.5, 2), ("exclude", 1.0, 1)])
    def test_a_failed_output_is_a_zero_or_left_out_and_always_counted(self, run, rule, mean, n):
        column = run(self.FAILED, failed_output=rule)["MRR"]
        assert (mean, n, 0, 1) == (column.mean, column.n, column.n_missing, column.n_failed)
        assert column.status(1) == "failed"

    def test_each_option_leaves_the_other_alone(self, run):
        assert run(self.MISSING, failed_output="exclude")["MRR"].n == 2
        assert run(self.FAILED, missing_output="exclude")["MRR"].n == 2

    @pytest.mark.parametrize(
        ("samples", "option"), [(MISSING, "missing_output"), (FAILED, "failed_output")], ids=["missing", "failed"]
    )
    def test_error_refuses_the_run(self, run, samples, option):
        with pytest.raises(SampleRefusedError, match=f"{option}=error") as caught:
            run(samples, **{option: "error"})
        assert [problem.sample for problem in caught.value.problems] == ["q2"]

    def test_all_refused_samples_are_reported_together(self, run):
        samples = [sample(f"q{n}", ["a"]) for n in range(3)]
        with pytest.raises(SampleRefusedError) as caught:
            run(samples, missing_output="error")
        assert [problem.sample for problem in caught.value.problems] == ["q0", "q1", "q2"]

    def test_an_empty_ranking_is_a_score_of_zero_and_not_missing(self, run):
        column = run([sample("q", ["a"], [])])["MRR"]
        assert (column.mean, column.n_missing, column.status(0)) == (0.0, 0, "scored")


class TestMaxFailed:
    def test_any_missing_or_failed_output_makes_a_run_incomplete_by_default(self, run):
        assert run([sample("q1", ["a"], ["a"])]).is_incomplete is False
        assert run([sample("q1", ["a"], ["a"]), sample("q2", ["a"])]).is_incomplete is True
        assert run([sample("q1", ["a"], ["a"]), sample("q2", ["a"], "[oops")]).is_incomplete is True

    @pytest.mark.parametrize(("allowed", "incomplete"), [(0.49, True), (0.5, False), (1.0, False)])
    def test_missing_and_failed_count_together(self, run, allowed, incomplete):
        # One of four is missing, one has failed: a share of 0.5.
        samples = [sample(f"q{n}", ["a"], ["a"]) for n in range(2)] + [sample("m", ["a"]), sample("f", ["a"], "[oops")]
        result = run(samples, max_failed=allowed)
        assert result.n_unhealthy == 2
        assert incomplete is result.is_incomplete

    @pytest.mark.parametrize("rule", ["zero", "exclude"])
    def test_what_is_left_out_of_the_mean_still_counts(self, run, rule):
        samples = [sample("q1", ["a"], ["a"]), sample("q2", ["a"])]
        assert run(samples, missing_output=rule).is_incomplete is True

    @pytest.mark.parametrize(("failed", "of", "allowed"), [(29, 100, 0.29), (57, 100, 0.57), (7, 25, 0.28)])
    def test_a_share_that_is_just_reached_is_allowed(self, run, failed, of, allowed):
        # 0.29 * 100 is 28.999999999999996 in binary, but 29 / 100 is no more than 0.29.
        samples = [sample(f"q{n}", ["a"], None if n < failed else ["a"]) for n in range(of)]
        assert run(samples, max_failed=allowed).is_incomplete is False

    def test_one_more_than_the_share_is_not(self, run):
        samples = [sample(f"q{n}", ["a"], None if n < 30 else ["a"]) for n in range(100)]
        assert run(samples, max_failed=0.29).is_incomplete is True

    def test_a_failure_of_one_metric_counts_its_sample_once(self, engine):
        def fragile(ranking, *, k: int) -> float:
            """Fail always."""
            msg = "bug"
            raise ZeroDivisionError(msg)

        rows = [sample("q1", ["a"], ["a"]), sample("q2", ["a"])]
        result = engine.dataset(rows).with_metrics(["MRR", fragile]).run()
        assert result.n_unhealthy == 2


class TestQueries:
    SAMPLES = (sample("q1", ["a"], ["a"]), sample("q2", ["a"]), sample("q3", ["a"], "[oops"))

    def test_judged_evaluates_every_sample(self, run):
        result = run(self.SAMPLES)
        assert (len(result), result["MRR"].mean) == (3, pytest.approx(1 / 3, rel=1e-12))

    def test_intersection_leaves_out_samples_without_output_and_keeps_failed_ones(self, run):
        result = run(self.SAMPLES, queries="intersection")
        assert result.sample_ids == ("q1", "q3")
        assert (result["MRR"].mean, result["MRR"].n_missing, result["MRR"].n_failed) == (0.5, 0, 1)

    def test_intersection_ignores_outputs_for_unknown_samples(self, engine):
        evaluation = engine.dataset(self.SAMPLES).with_metrics(["MRR"]).with_profile(queries="intersection")
        result = evaluation.run(outputs={"q2": ["b", "a"], "other": ["a"]})
        assert dict(zip(result.sample_ids, result["MRR"].values.tolist(), strict=True)) == {
            "q1": 1.0,
            "q2": 0.5,
            "q3": 0.0,
        }

    def test_an_empty_intersection_is_nothing_to_evaluate(self, run):
        with pytest.raises(NothingToEvaluateError):
            run([sample("q1", ["a"]), sample("q2", ["a"])], queries="intersection")


class TestUnanswerable:
    SAMPLES = (sample("q1", ["a"], ["a"]), sample("q2", ["a"], ["a"], answerable=False))

    def test_it_is_undefined_with_that_reason(self, run):
        column = run(self.SAMPLES)["MRR"]
        assert (column.mean, column.n, column.n_undefined) == (1.0, 1, 1)
        assert "unanswerable" in column.reasons[1]

    @pytest.mark.parametrize("no_gold", ["undefined", "zero", "error"])
    def test_no_policy_makes_it_count_or_refuses_it(self, run, no_gold):
        column = run(self.SAMPLES, no_gold=no_gold)["MRR"]
        assert (column.mean, column.n) == (1.0, 1)

    def test_a_missing_output_of_it_is_no_failure(self, run):
        samples = [sample("q1", ["a"], ["a"]), sample("q2", ["a"], answerable=False)]
        result = run(samples, missing_output="error")
        assert result["MRR"].status(1) == "undefined"
        assert result.is_incomplete is False

    def test_true_changes_nothing(self, run):
        assert run([sample("q", ["a"], ["a"], answerable=True)])["MRR"].n == 1


class TestPolicyValues:
    def test_the_defaults_are_those_of_the_design(self):
        assert dataclasses.asdict(Policy()) == {
            "order": "given",
            "ties": "docno",
            "score_dtype": "float64",
            "duplicates": "first",
            "no_gold": "undefined",
            "missing_output": "zero",
            "failed_output": "zero",
            "max_failed": 0.0,
            "queries": "judged",
            "depth": None,
            "judged_only": False,
            "exclude_self": False,
            "excluded": None,
            "filters": (),
            "interval": "standard",
            "unverified_judges": "refuse",
            "abstains": (),
        }

    @rows(
        "options",
        [
            {"order": "best"},
            {"duplicates": None},
            {"no_gold": "skip"},
            {"missing_output": True},
            {"failed_output": "ignore"},
            {"queries": "all"},
            {"max_failed": -0.1},
            {"max_failed": 1.1},
            {"max_failed": True},
            {"max_failed": "0"},
            {"max_failed": float("nan")},
            {"depth": 0},
            {"depth": 2.0},
            {"depth": True},
            {"judged_only": 1},
            {"exclude_self": "no"},
        ],
        ids=str,
    )
    def test_a_value_that_an_option_does_not_take_is_refused_by_name(self, options):
        (name,) = options
        with pytest.raises(PolicyError, match=f"'{name}'"):
            Policy(**options)

    def test_an_unknown_option_is_refused_with_a_suggestion(self):
        with pytest.raises(PolicyError, match=r"unknown policy option 'duplicate' \(did you mean 'duplicates'\?\)"):
            Policy().with_options({"duplicate": "keep"})

    def test_it_prints_every_option(self):
        assert str(Policy(depth=7, judged_only=True)) == (
            "order=given ties=docno score_dtype=float64 duplicates=first no_gold=undefined missing_output=zero "
            "failed_output=zero max_failed=0.0 "
            "queries=judged depth=7 judged_only=true exclude_self=false interval=standard unverified_judges=refuse"
        )

    def test_a_policy_stands_for_the_default_profile_with_it(self):
        chosen = profile(Policy(depth=3))
        assert dataclasses.replace(PROFILES["default"], policy=Policy(depth=3)) == chosen
        assert PROFILES["eval-harness"] is profile("eval-harness")
