"""Gates on changes: three verdicts by bounds worked out by hand, and everything that leaves no bounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from rankgauge import MetricSummary, Result, evaluate, judge_gates
from rankgauge.errors import ParameterError
from rankgauge.gates.ci_reports import pull_request_markdown
from rankgauge.gates.drop import changes_since
from rankgauge.gates.outcomes import GateOutcome, outcome_line

NAN = float("nan")


@pytest.fixture
def scored(engine):
    """Return a function that makes a result with given scores of one metric."""
    row = {"id": "q", "expected_output": ["a"], "actual_output": ["a"]}
    template = engine.dataset([row]).with_metrics(["ndcg@10", "num_ret"]).run()

    def make(
        values: Sequence[float] | Mapping[str, float], tags: Sequence[tuple[str, ...]] | None = None, **info: Any
    ) -> Result:
        by_id = values if isinstance(values, Mapping) else {f"q{place}": value for place, value in enumerate(values)}
        own = dataclasses.replace(template["ndcg@10"].info, **info)
        scores = np.array(list(by_id.values()), dtype=np.float64)
        codes = np.where(np.isnan(scores), 1, 0).astype(np.uint8)
        column = MetricSummary(own, scores, codes)
        return Result(list(by_id), tags or [()] * len(by_id), {"ndcg@10": column}, template.manifest)

    return make


def judge(baseline: Result, result: Result, gate: str | dict[str, Any]) -> GateOutcome:
    (outcome,) = judge_gates(result, [gate], baseline=baseline).outcomes
    return outcome


class TestBounds:
    """
    Four differences of -0.1, 0, 0.1 and -0.2: mean -0.05, deviation sqrt(0.05 / 3), standard error 0.0645497.

    The 95 % quantile of t with three degrees of freedom is 2.3533634, so that the bounds are -0.2019090 and 0.1019090.
    """

    BEFORE = (0.5, 0.5, 0.5, 0.5)
    AFTER = (0.4, 0.5, 0.6, 0.3)

    @pytest.mark.parametrize(
        ("margin", "verdict"),
        [
            ("0.202", "pass"),
            ("0.2019", "inconclusive"),
            ("0.06", "inconclusive"),
            ("0.01", "inconclusive"),
            ("0", "inconclusive"),
            ("40.4%", "pass"),  # of the baseline's 0.5
            ("40.3%", "inconclusive"),
        ],
    )
    def test_a_drop_is_within_the_margin_if_its_worst_bound_is(self, scored, margin: str, verdict: str) -> None:
        outcome = judge(scored(self.BEFORE), scored(self.AFTER), f"ndcg@10 max_drop {margin}")
        assert outcome.verdict == verdict
        assert outcome.drop is not None
        assert (outcome.drop.n, outcome.drop.baseline) == (4, 0.5)
        assert outcome.drop.difference == pytest.approx(-0.05, rel=1e-12)
        assert outcome.drop.worst == pytest.approx(-0.2019090, abs=1e-7)
        assert outcome.drop.best == pytest.approx(0.1019090, abs=1e-7)

    def test_it_is_beyond_the_margin_if_its_best_bound_is(self, scored) -> None:
        """Differences -0.5, -0.6, -0.5, -0.6: standard error 1/30 / sqrt(4/3), best bound -0.4820638."""
        before, after = scored([0.9] * 4), scored([0.4, 0.3, 0.4, 0.3])
        assert judge(before, after, "ndcg@10 max_drop 0.482").verdict == "fail"
        assert judge(before, after, "ndcg@10 max_drop 0.4821").verdict == "inconclusive"

    def test_confidence_is_one_sided(self, scored) -> None:
        """The 90 % quantile is 1.6377444: worst bound -0.1557158."""
        gate = {"metric": "ndcg@10", "max_drop": 0.156, "confidence": 0.9}
        assert judge(scored(self.BEFORE), scored(self.AFTER), gate).verdict == "pass"
        assert judge(scored(self.BEFORE), scored(self.AFTER), {**gate, "max_drop": 0.155}).verdict == "inconclusive"

    def test_what_is_inconclusive_says_how_many_samples_would_decide(self, scored) -> None:
        """((1.6448536 + 0.8416212) * 0.1290994 / 0.1)**2 = 10.3; at a margin of 0 no number does."""
        outcome = judge(scored(self.BEFORE), scored(self.AFTER), "ndcg@10 max_drop 0.1")
        assert outcome.drop is not None
        assert outcome.drop.needed == 11
        assert "about 11 samples would decide" in outcome_line(outcome)
        outcome = judge(scored(self.BEFORE), scored(self.AFTER), "ndcg@10 max_drop 0")
        assert outcome.drop is not None
        assert outcome.drop.needed is None

    def test_a_drop_is_a_change_for_the_worse(self, scored) -> None:
        def worse(values: Sequence[float]) -> Result:
            return scored(values, higher_is_better=False)

        assert judge(worse([0.1] * 4), worse([0.6, 0.7, 0.6, 0.7]), "ndcg@10 max_drop 0.4").verdict == "fail"
        outcome = judge(worse(self.BEFORE), worse(self.AFTER), "ndcg@10 max_drop 0.102")
        assert outcome.verdict == "pass"
        assert outcome.drop is not None
        assert outcome.drop.worst == pytest.approx(0.1019090, abs=1e-7)


class TestStatus:
    @pytest.mark.parametrize(
        ("options", "status", "code"),
        [
            ("", "warned", 0),
            ("inconclusive pass", "passed", 0),
            ("inconclusive fail", "failed", 1),
            ("require proof", "failed", 1),
            ("require proof level warn", "warned", 0),
        ],
    )
    def test_inconclusive_does_what_the_gate_says(self, scored, options: str, status: str, code: int) -> None:
        before, after = scored(TestBounds.BEFORE), scored(TestBounds.AFTER)
        report = judge_gates(after, [f"ndcg@10 max_drop 0.01 {options}"], baseline=before)
        assert (report.outcomes[0].verdict, report.outcomes[0].status) == ("inconclusive", status)
        assert report.exit_code == code

    def test_the_plain_values_hold_the_change(self, scored) -> None:
        outcome = judge(scored(TestBounds.BEFORE), scored(TestBounds.AFTER), "ndcg@10 max_drop 2%")
        plain = outcome.to_dict()
        assert (plain["max_drop"], plain["verdict"], plain["n"]) == ("2%", "inconclusive", 4)
        assert plain["change"]["margin"] == pytest.approx(0.01)
        assert set(plain["change"]["bounds"]) == {"worst", "best"}

    def test_lines_say_what_was_and_how_sure_it_is(self, scored) -> None:
        before, after = scored(TestBounds.BEFORE), scored(TestBounds.AFTER)
        bounds = "one-sided 95 % bounds: -0.2019 to +0.1019 (n=4; only 3 of 4 scores changed, so "
        assert outcome_line(judge(before, after, "ndcg@10 max_drop 0.3")).startswith(
            f"ok     ndcg@10: 0.4500 against 0.5000, -0.0500, within the margin 0.3: {bounds}"
        )
        assert outcome_line(judge(before, after, "ndcg@10 max_drop 2%")).startswith(
            "open   ndcg@10: 0.4500 against 0.5000, observed -0.0500, allowed -0.0100 (2%): 4 samples cannot tell, "
            "nor whether it fell at all (one-sided p 0.3750), "
            f"about 65 samples would decide; {bounds}"
        )

    def test_a_drop_beyond_its_margin_is_counted_from_there(self, scored) -> None:
        """
        Of 16 samples 8 fall by .32 and 8 by 0: a mean of -.16 and a standard deviation of .32 sqrt(4 / 15) = .16525.

        The bounds are -.16 -+ 1.75305 * .16525 / 4, so that -.10 lies within. ((1.6448536 + .8416212) * .16525 /
        .06)**2 = 46.9, where the margin alone would give 16.9.
        """
        before, after = scored([0.5] * 16), scored([0.18] * 8 + [0.5] * 8)
        outcome = judge(before, after, "ndcg@10 max_drop 0.10")
        assert outcome.verdict == "inconclusive"
        assert outcome.drop is not None
        assert outcome.drop.needed == 47
        line = outcome_line(outcome)
        assert (
            "by about 0.1600 (one-sided p 0.0039); whether by more than the margin 0.1 is open, about 47 samples"
            in line
        )

    def test_where_lower_is_better_a_rise_is_allowed(self, scored) -> None:
        before = scored([0.5] * 16, higher_is_better=False)
        after = scored([0.82] * 8 + [0.5] * 8, higher_is_better=False)
        line = outcome_line(judge(before, after, "ndcg@10 max_drop 0.10"))
        assert (
            "rose for certain, by about 0.1600 (one-sided p 0.0039); whether by more than the margin 0.1 is open"
            in line
        )

    @pytest.mark.parametrize(
        ("given", "written", "status"), [("fail", "", "failed"), ("fail", "warn", "warned"), ("pass", "", "passed")]
    )
    def test_one_default_for_all_gates_leaves_those_that_say_themselves(
        self, scored, given: str, written: str, status: str
    ) -> None:
        gate = f"ndcg@10 max_drop 0.01 inconclusive {written}" if written else "ndcg@10 max_drop 0.01"
        before, after = scored(TestBounds.BEFORE), scored(TestBounds.AFTER)
        report = judge_gates(after, [gate], baseline=before, inconclusive=given)
        assert report.outcomes[0].status == status
        with pytest.raises(ParameterError, match="inconclusive is fell, fail, warn, pass, not 'red'"):
            judge_gates(after, [gate], baseline=before, inconclusive="red")


@pytest.mark.parametrize(("changed", "is_rough"), [(9, True), (10, False)])
def test_bounds_are_rough_where_fewer_than_ten_scores_changed(scored, changed: int, *, is_rough: bool) -> None:
    before, after = scored([0.5] * 12), scored([0.5 + 0.01 * (place + 1) * (place < changed) for place in range(12)])
    outcome = judge(before, after, "ndcg@10 max_drop 0.1")
    assert outcome.drop is not None
    assert outcome.drop.note == ("only 9 of 12 scores changed, so that the bounds are rough" if is_rough else "")


class TestWithoutBounds:
    def test_where_nothing_changed_it_passes(self, scored) -> None:
        outcome = judge(scored([0.5, 0.7]), scored([0.5, 0.7 + 1e-15]), "ndcg@10 max_drop 0 require proof")
        assert outcome.verdict == "pass"
        assert outcome.drop is not None
        assert outcome.drop.difference == 0.0
        assert "no score changed" in outcome_line(outcome)

    def test_where_all_changed_by_the_same_the_mean_decides(self, scored) -> None:
        before, after = scored([0.5, 0.75, 1.0]), scored([0.25, 0.5, 0.75])
        assert judge(before, after, "ndcg@10 max_drop 0.25").verdict == "pass"
        assert judge(before, after, "ndcg@10 max_drop 0.24").verdict == "fail"

    def test_rounding_does_not_decide(self, scored) -> None:
        """0.7 - 0.8 is -0.1 and a little less in binary."""
        assert judge(scored([0.8] * 3), scored([0.7] * 3), "ndcg@10 max_drop 0.1").verdict == "pass"

    def test_one_sample_decides_nothing(self, scored) -> None:
        assert judge(scored([0.9]), scored([0.1]), "ndcg@10 max_drop 0.1").verdict == "inconclusive"
        assert judge(scored([0.9]), scored([0.9]), "ndcg@10 max_drop 0.1").verdict == "pass"


class TestPairs:
    def test_only_samples_with_a_score_in_both_are_compared(self, scored) -> None:
        before = scored({"a": 0.5, "b": 0.5, "c": 0.5, "d": NAN})
        after = scored({"b": 0.5, "c": 0.5, "d": 0.9, "e": 0.0})
        outcome = judge(before, after, "ndcg@10 max_drop 0.1")
        assert outcome.drop is not None
        assert outcome.drop.n == 2
        dropped = outcome.drop.to_dict()["dropped"]
        assert dropped == {"only_in_baseline": 1, "only_in_run": 1, "undefined_in_one": 1}

    def test_a_tag_selects_pairs(self, scored) -> None:
        tags = [("legal",), ("legal",), (), ()]
        before, after = scored([0.5] * 4), scored([0.5, 0.5, 0.1, 0.2], tags)
        outcome = judge(before, after, "ndcg@10 max_drop 0 where tags=legal")
        assert outcome.verdict == "pass"

    def test_the_column_may_have_another_name_in_the_baseline(self, scored) -> None:
        before, after = scored([0.5] * 3), scored([0.5] * 3)
        renamed = dataclasses.replace(before["ndcg@10"].info, name="mine")
        column = MetricSummary(renamed, before["ndcg@10"].values, before["ndcg@10"].codes)
        older = Result(before.sample_ids, before.tags, {"mine": column}, before.manifest)
        assert judge(older, after, "ndcg@10 max_drop 0").verdict == "pass"

    @pytest.mark.parametrize(
        ("info", "reason"),
        [
            ({"fingerprint": "other", "version": "2"}, "does not mean the same in both"),
            ({"fingerprint": "other", "name": "else", "names": ("else",), "spellings": ()}, "save it again with"),
        ],
    )
    def test_a_baseline_of_another_definition_is_refused(self, scored, info: dict[str, Any], reason: str) -> None:
        before = scored([0.5] * 3)
        column = before["ndcg@10"]
        changed = MetricSummary(dataclasses.replace(column.info, **info), column.values, column.codes)
        older = Result(before.sample_ids, before.tags, {changed.name: changed}, before.manifest)
        outcome = judge(older, scored([0.5] * 3), "ndcg@10 max_drop 0")
        assert outcome.verdict == "error"
        assert reason in outcome.reason
        assert "--save-baseline" in outcome.reason

    def test_without_a_common_sample_it_cannot_be_judged(self, scored) -> None:
        outcome = judge(scored({"a": 0.5}), scored({"b": 0.5}), "ndcg@10 max_drop 0")
        assert (outcome.verdict, outcome.status) == ("error", "error")
        assert "no sample in common" in outcome.reason

    def test_a_dataset_that_the_baseline_lacks_cannot_be_judged(self, scored) -> None:
        one = scored([0.5])
        report = judge_gates({"c": one}, ["ndcg@10 max_drop 0"], baseline={"a": one, "b": one})
        assert report.outcomes[0].reason == "the baseline has no dataset 'c'; save it again with --save-baseline"


def test_changes_since_a_baseline_list_what_fell_most(scored) -> None:
    """Differences -0.3, 0.1 and 0: mean -1/15; the two-sided bounds follow from the deviation 0.2081666."""
    (change,) = changes_since(scored([0.2, 0.6, 0.5]), scored([0.5, 0.5, 0.5]))
    assert (change.column, change.n, change.baseline) == ("ndcg@10", 3, 0.5)
    assert change.difference == pytest.approx(-0.2 / 3, rel=1e-12)
    assert change.fallen == (("q0", 0.5, 0.2),)
    assert change.interval is not None
    half = 4.3026527 * 0.2081666 / 3**0.5  # the 97.5 % quantile of t with two degrees of freedom
    assert change.interval == pytest.approx((-0.2 / 3 - half, -0.2 / 3 + half), abs=1e-6)
    text = pull_request_markdown({"mine": scored([0.2, 0.6, 0.5])}, None, None, {"mine": [change]})
    assert "| ndcg@10 | 0.5000 | 0.4333 | -0.0667 | -0.5838 to +0.4504 | 3 |" in text
    assert "<details><summary>ndcg@10: what got worse most</summary>" in text


class TestPerSample:
    def test_no_sample_may_fall_by_more_than_the_margin(self, scored) -> None:
        before, after = scored([0.5, 0.5, 1.0, NAN]), scored([0.4, 0.3, 0.9, 0.0])
        outcome = judge(before, after, "ndcg@10 max_drop 0.1 per_sample")
        assert outcome.verdict == "fail"
        assert [name for name, _ in outcome.missed] == ["q1"]
        assert "1 of 3 samples fell by more than 0.1: q1 (-0.2000)" in outcome_line(outcome)
        outcome = judge(before, after, "ndcg@10 max_drop 15% per_sample")
        assert [name for name, _ in outcome.missed] == ["q0", "q1"]
        assert judge(before, after, "ndcg@10 max_drop 0.2 per_sample").verdict == "pass"

    def test_a_relative_margin_of_a_score_below_0_is_as_wide(self, scored) -> None:
        """A tenth of -0.5 is 0.05."""
        before, after = scored([-0.5, 0.5]), scored([-0.54, 0.5])
        assert judge(before, after, "ndcg@10 max_drop 10% per_sample").verdict == "pass"
        assert judge(before, after, "ndcg@10 max_drop 7% per_sample").missed == (("q0", pytest.approx(-0.04)),)

    def test_rounding_makes_no_sample_fall_beyond_the_margin(self, scored) -> None:
        """0.7 - 0.8 is -0.1 and a little less in binary."""
        assert judge(scored([0.8, 0.5]), scored([0.7, 0.5]), "ndcg@10 max_drop 0.1 per_sample").verdict == "pass"

    def test_of_samples_named_by_id_each_needs_a_pair(self, scored) -> None:
        before, after = scored([0.5, 0.5, NAN]), scored([0.5, 0.3, 0.9])
        outcome = judge(before, after, "ndcg@10 max_drop 0.3 per_sample of q0,q2")
        assert outcome.missed == (("q2", None),)
        assert judge(before, after, "ndcg@10 max_drop 0.3 per_sample of q0,q1").verdict == "pass"


class TestEditedGold:
    """Four queries, of which one was judged anew."""

    BEFORE = evaluate({f"q{n}": {"a": 1} for n in range(4)}, {f"q{n}": {"a": 2, "b": 1} for n in range(4)}, "P@1")
    AFTER = evaluate(
        {f"q{n}": {"b" if n == 1 else "a": 1} for n in range(4)}, {f"q{n}": {"a": 2, "b": 1} for n in range(4)}, "P@1"
    )

    def test_a_gate_cannot_be_judged_unless_it_asks_for_unchanged_samples(self) -> None:
        outcome = judge(self.BEFORE, self.AFTER, "P@1 max_drop 0.1")
        assert outcome.verdict == "error"
        assert "1 of 4 samples were judged against different ground truth" in outcome.reason
        assert "in a gate, common: unchanged" in outcome.reason

    @pytest.mark.parametrize(
        "gate", ["P@1 max_drop 0.1 common unchanged", {"metric": "P@1", "max_drop": 0.1, "common": "unchanged"}]
    )
    def test_a_gate_on_unchanged_samples_says_how_many_it_leaves_out(self, gate) -> None:
        outcome = judge(self.BEFORE, self.AFTER, gate)
        assert (outcome.verdict, outcome.counts["n"], str(outcome.gate)) == (
            "pass",
            3,
            "p@1 max_drop 0.1 common unchanged",
        )
        assert "1 sample with other ground truth left out" in outcome_line(outcome)

    def test_what_changed_is_listed_for_the_same_samples(self) -> None:
        assert changes_since(self.AFTER, self.BEFORE) == ()
        (change,) = changes_since(self.AFTER, self.BEFORE, "unchanged")
        assert (change.n, change.difference) == (3, 0.0)

    def test_a_bound_does_not_ask_for_unchanged_samples(self) -> None:
        with pytest.raises(ParameterError, match="'common' belongs to max_drop"):
            judge(self.BEFORE, self.AFTER, "P@1 >= 0.1 common unchanged")
