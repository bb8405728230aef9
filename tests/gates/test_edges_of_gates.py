"""Where a gate's reading, verdict or sentence turns into another: the case on the border, and those beside it."""

from __future__ import annotations

import dataclasses
import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from rankgauge import MetricSummary, Result, judge_gates, load_baseline, save_baseline
from rankgauge.errors import ParameterError, PlanError, ResultError
from rankgauge.gates.asked import Decision, ask_gates, key_of
from rankgauge.gates.ci_reports import github_annotations, junit_xml, pull_request_markdown
from rankgauge.gates.drop import Drop, baseline_of, changes_since
from rankgauge.gates.grammar import Bound, Defaults, Gate, MaxDrop, Where, read_gates
from rankgauge.gates.outcomes import GateOutcome, GateReport, baseline_line, gate_lines, headline, outcome_line
from rankgauge.gates.verdicts import flaw
from rankgauge.plugin.metric import WHOLE_RUN
from tables import rows

ROWS: list[dict[str, Any]] = [
    {"id": "q1", "expected_output": ["a"], "actual_output": ["a"], "metadata": {"tags": ["x"], "area": "law"}},
    {"id": "q2", "expected_output": ["a"], "actual_output": ["b"]},
    {"id": "q3", "expected_output": [], "actual_output": ["b"]},
]


@pytest.fixture(scope="module")
def hits(engine) -> Result:
    """Return hits at rank 1 of 1, 0 and none."""
    return engine.dataset(ROWS).with_metrics(["hit@1"]).with_cohorts("metadata.area").run()


def scored(template: Result, scores: list[float], ids: list[str] | None = None, **info: Any) -> Result:
    """Return a result with these scores of a metric from 0 to 1, unless *info* says otherwise."""
    values = np.array(scores)
    facts = dataclasses.replace(template["hit@1"].info, **info)
    column = MetricSummary(facts, values, np.isnan(values).astype(np.uint8))
    names = ids or [f"q{place}" for place in range(len(scores))]
    return Result(names, [()] * len(names), {facts.name: column}, template.manifest)


def judge(result: Result, gate: str | Gate, baseline: Result | None = None) -> GateOutcome:
    (outcome,) = judge_gates(result, [gate], baseline=baseline).outcomes
    return outcome


class TestReading:
    @pytest.mark.parametrize(
        ("written", "rule"),
        [
            ("a >= 0.6", Bound(0.6, "minimum")),
            ("a = 0.6", Bound(0.6, "better")),
            ({"metric": "a", "=": 0.6}, Bound(0.6, "better")),
            ({"metric": "a", "max": 0.6}, Bound(0.6, "maximum")),
        ],
    )
    def test_an_equals_sign_is_a_bound_where_it_has_a_side(self, written: object, rule: Bound) -> None:
        assert [gate.rule for gate in read_gates(written, defaults=Defaults(side="better"))] == [rule]

    @pytest.mark.parametrize(
        ("written", "message"),
        [
            ("a = inf", "the bound is a number, not 'inf'"),
            ("a = much", "the bound is a number, not 'much'"),
            ("a == 0.5", "'==' is not a sign of gates"),
            ("a > much", "'a > much' is not a gate"),
            ({"metric": "a", "==": 0.5}, "'==' is not a key of a gate"),
        ],
    )
    def test_it_needs_a_number_and_stands_alone(self, written: object, message: str) -> None:
        with pytest.raises(ParameterError, match=message):
            read_gates(written, defaults=Defaults(side="better"))

    @rows(
        ("entry", "message"),
        [
            ({"=": 0.5}, "'=' is not a key of a gate"),
            ({"min": 1, "dataset": 7}, "dataset is the name of a dataset, not 7"),
            ({"min": 1, "where": {"tags": ["legal"]}}, "where is one condition"),
            ({"min": 1, "where": {"tags": None}}, "where is one condition"),
            ({"min": 1, "where": ["tags"]}, "where is one condition"),
            ({"min": 1, "where": {7: "legal"}}, "where is one condition"),
            ({"min": 1, "of": ["q1", ""]}, "none of them empty"),
            ({"max_drop": 1, "confidence": "9%%"}, "confidence is a number, not '9%'"),
        ],
    )
    def test_what_a_mapping_cannot_hold_is_refused(self, entry: dict[str, Any], message: str) -> None:
        with pytest.raises(ParameterError, match=message):
            read_gates({"metric": "a", **entry})

    def test_tags_are_a_field_of_the_metadata(self) -> None:
        (gate,) = read_gates({"metric": "a", "min": 1, "where": {"metadata.tags": "legal"}})
        assert gate.where == Where("tags", "legal")

    def test_a_gate_that_is_written_twice_is_one(self) -> None:
        assert read_gates("a >= 1", origin="c.yaml:1") == read_gates("a >= 1.0", origin="c.yaml:2")

    def test_every_option_of_a_drop_is_written(self) -> None:
        text = "a max_drop 0.1 confidence 0.9 inconclusive pass common unchanged level warn"
        assert list(map(str, read_gates(text))) == [text]


class TestBounds:
    @pytest.mark.parametrize(
        ("side", "higher_is_better", "is_maximum"),
        [("maximum", True, True), ("minimum", False, False), ("better", True, False), ("better", False, True)],
    )
    def test_the_better_side_is_a_maximum_where_lower_is_better(
        self, side: Any, *, higher_is_better: bool, is_maximum: bool
    ) -> None:
        assert Bound(0.5, side).is_maximum(higher_is_better=higher_is_better) == is_maximum

    def test_one_value_is_compared_as_it_reads(self) -> None:
        assert not Bound(0.3, "minimum").holds(0.29999999999999)
        assert not Bound(0.3, "maximum").holds(0.30000000000001)

    def test_a_sum_is_compared_as_one_value_and_not_as_a_mean_of_scores(self, hits: Result) -> None:
        """Three times 0.7 is 2.1; floats make it 2.0999999999999996."""
        assert judge(scored(hits, [0.7] * 3, aggregate="sum"), "hit@1 >= 2.1").verdict == "pass"

    @rows(
        ("gate", "aggregate", "values", "problem"),
        [
            ("m >= 1", "mean", (0, 1), ""),
            ("m >= 1.1", "mean", (0, 1), "no value of 'm', which ranges from 0 to 1, can keep the bound 1.1"),
            ("m >= 1.1", "geometric", (0, 1), "no value of 'm', which ranges from 0 to 1, can keep the bound 1.1"),
            ("m >= 1.1", "sum", (0, 1), ""),
            ("m >= 1.1 per_sample", "sum", (0, 1), "no value of 'm', which ranges from 0 to 1"),
            ("m <= -1", "mean", (None, 1), ""),
            ("m >= 7", "mean", (0, None), ""),
            ("m <= -1", "mean", (0, None), "no value of 'm', which ranges from 0 to inf, can keep the bound -1"),
            ("m >= 2", "mean", (None, 1), "no value of 'm', which ranges from -inf to 1, can keep the bound 2"),
            ("m >= 0", WHOLE_RUN, (0, 1), ""),
            ("m >= 0 per_sample", WHOLE_RUN, (0, 1), "so no sample has a value of its own; give it a bound"),
            ("m max_drop 0", WHOLE_RUN, (0, 1), "so there is no test of its difference; give it a bound"),
            ("m max_drop 0", "sum", (0, 1), "max_drop compares means, and 'm' is a sum over the samples"),
            ("m max_drop 0", "mean", (0, 1), ""),
        ],
    )
    def test_a_bound_that_no_value_can_keep_is_a_flaw(
        self, gate: str, aggregate: str, values: tuple[float | None, float | None], problem: str
    ) -> None:
        (read,) = read_gates(gate)
        traits: Any = SimpleNamespace(range=values, higher_is_better=True, aggregate=aggregate)
        told = flaw(read, "m", traits)
        assert problem in told
        assert bool(told) == bool(problem)


class TestVerdicts:
    @pytest.mark.parametrize(
        ("gate", "reason"),
        [
            ("hit@1 >= 0 where tags=y", "no sample has the tag 'y'; there are area=(none), area=law, x"),
            ("hit@1 >= 0 of nobody", "there is no sample 'nobody'"),
        ],
    )
    def test_a_selection_of_nothing_says_what_there_is(self, hits: Result, gate: str, reason: str) -> None:
        assert judge(hits, gate).reason == reason

    def test_without_any_tag_none_is_listed(self, hits: Result) -> None:
        assert judge(scored(hits, [0.5]), "hit@1 >= 0 where tags=y").reason == (
            "no sample has the tag 'y'; no sample has a tag"
        )

    def test_a_field_of_the_metadata_selects(self, hits: Result) -> None:
        assert judge(hits, "hit@1 >= 1 where metadata.area=law").counts["n"] == 1

    def test_a_sum_over_nothing_is_no_value(self, hits: Result) -> None:
        outcome = judge(scored(hits, [math.nan], aggregate="sum"), "hit@1 >= 0")
        assert (outcome.verdict, outcome.value) == ("fail", None)

    def test_several_samples_without_a_value_are_counted(self, hits: Result) -> None:
        reason = judge(scored(hits, [math.nan, math.nan]), "hit@1 >= 0").reason
        assert reason == "none of the 2 samples has a value"

    def test_an_unnamed_result_lists_no_datasets(self, hits: Result) -> None:
        with pytest.raises(ParameterError) as error:
            judge_gates(hits, ["hit@1 >= 0 dataset mine"])
        assert str(error.value).endswith("no dataset 'mine'")

    def test_what_is_no_result_is_refused_by_its_place(self, hits: Result) -> None:
        wrong: Any = {"a": 3}
        with pytest.raises(ParameterError, match="judge_gates takes results by name"):
            judge_gates(wrong, ["hit@1 >= 0"])
        with pytest.raises(ParameterError, match="baseline takes results by name"):
            judge_gates(hits, ["hit@1 >= 0"], baseline=wrong)

    @pytest.mark.parametrize(
        ("verdict", "rule", "status"),
        [
            ("fail", MaxDrop(0.1), "failed"),
            ("inconclusive", MaxDrop(0.1), "warned"),
            ("pass", MaxDrop(0.1), "passed"),
            ("error", MaxDrop(0.1, inconclusive="pass"), "error"),
            ("fail", MaxDrop(0.1, inconclusive="pass"), "failed"),
            ("fail", Bound(0.1, "minimum"), "failed"),
        ],
    )
    def test_what_is_open_is_treated_otherwise_than_what_failed(self, verdict: Any, rule: Any, status: str) -> None:
        assert GateOutcome(gate=Gate(metric="a", rule=rule), verdict=verdict).status == status

    def test_leaks_of_its_samples_explain_a_miss(self, hits: Result) -> None:
        leaks = [{"sample": sample, "rank": 1, "item": "x", "rule": "id x"} for sample in ("q0", "q9")]
        result = scored(hits, [0.0, 1.0], leaks=leaks)
        assert judge(result, "hit@1 >= 0.5").leaks == ()
        empty = scored(hits, [math.nan], leaks=leaks)
        assert judge(empty, "hit@1 >= 0 per_sample").leaks == ("q0: x at rank 1 (id x)",)
        missed = judge(result, "hit@1 >= 0.6")
        assert missed.leaks == ("q0: x at rank 1 (id x)",)
        assert headline(missed).endswith("(mean of n=2): q0: x at rank 1 (id x)")
        assert missed.to_dict()["leaks"] == ["q0: x at rank 1 (id x)"]
        assert headline(judge(result, "hit@1 >= 1 per_sample")).endswith("below the minimum 1: q0: x at rank 1 (id x)")

    @pytest.mark.parametrize(
        ("judges", "share"),
        [({"ann": 5}, ""), ({"ann": 5, "model:m": 2, "Model:n": 1}, "3 of 8 judgments are by model:m, Model:n, ")],
    )
    def test_judgments_of_models_need_somebody_who_vouches(
        self, hits: Result, judges: dict[str, int], share: str
    ) -> None:
        result = hits.with_manifest({"judged_by": {"judges": judges, "judgments": sum(judges.values())}})
        assert judge(result, "hit@1 >= 0").verdict == ("error" if share else "pass")
        allowed = result.with_manifest({"policy": {**hits.manifest["policy"], "unverified_judges": "allow"}})
        assert judge(allowed, "hit@1 >= 0").verdict == "pass"
        assert judge(result, "hit@1 >= 0").reason.startswith(share)

    def test_a_part_that_was_called_leaves_a_gate_open_or_decides_it(self, hits: Result) -> None:
        """The result has three samples."""
        key = key_of(read_gates("hit@1 >= 0.4")[0])
        decided = {"verdict": "fail", "after": 2, "of": 5, "level": 0.05}
        result = hits.with_manifest({"until": {"samples": 5, "gates": {key: decided}}})
        outcome = judge(result, "hit@1 >= 0.4")
        assert (outcome.verdict, outcome.to_dict()["decision"]) == ("fail", decided)
        assert judge(result, "hit@1 >= 0.3").decision == ("open", 3, 5, 0.0)
        assert judge(result, "hit@1 >= 0.3 per_sample").verdict == "fail"
        whole = hits.with_manifest({"until": {"samples": 3, "gates": {}}})
        assert judge(whole, "hit@1 >= 0.4").decision is None

    @pytest.mark.parametrize(("values", "lacks"), [((None, 1), "lowest"), ((0, None), "highest"), ((0, 1), "")])
    def test_a_gate_that_ends_a_run_needs_both_ends_of_the_range(self, values: Any, lacks: str) -> None:
        (gate,) = read_gates("m >= 0.5")
        traits: Any = SimpleNamespace(range=values, higher_is_better=True, aggregate="mean")
        told = flaw(dataclasses.replace(gate, until=True), "m", traits)
        why = f"'m' has no {lacks} value, so one sample may decide the mean"
        assert told == (f"'m >= 0.5' cannot end a run: {why}; judge it as a gate, over all samples" if lacks else "")

    def test_what_became_of_gates_cannot_be_changed(self, hits: Result) -> None:
        report = judge_gates(hits, ["hit@1 >= 0.4"])
        with pytest.raises(TypeError):
            report.outcomes[0].counts["n"] = 7
        with pytest.raises(TypeError):
            report.ids_changed["a"] = "b"
        drop = Drop(n=1, baseline=0.5, value=0.5, difference=0.0, margin=0.0, dropped={"undefined": 1})
        with pytest.raises(TypeError):
            drop.dropped["undefined"] = 7
        assert (report.exit_code, GateReport((), {"a": "the ids changed"}).exit_code) == (0, 2)


class TestDrops:
    SCORES = (0.4, 0.5, 0.6, 0.7, 0.5, 0.3)
    AFTER = (0.4, 0.5, 0.6, 0.7, 0.45, 0.3)  # one of six changed

    def judged(self, hits: Result, span: tuple[float | None, float | None], stretch: float = 1.0) -> Drop:
        before, after = (
            scored(hits, [stretch * value for value in values], range=span) for values in (self.SCORES, self.AFTER)
        )
        drop = judge(after, "hit@1 not_worse 0.5", before).drop
        assert drop is not None
        return drop

    def test_bets_are_in_the_unit_of_the_metric(self, hits: Result) -> None:
        """Three times as wide a range with three times as large scores is the same metric in another unit."""
        one, three = self.judged(hits, (-1, 0)), self.judged(hits, (-1, 2), 3.0)
        assert one.note == "only 1 of 6 scores changed, so that the bounds are those of bets"
        for bound in ("worst", "best"):
            assert getattr(three, bound) == pytest.approx(3 * getattr(one, bound), rel=1e-9)

    @pytest.mark.parametrize("span", [(0, None), (None, 1), (None, None)])
    def test_there_are_no_bets_on_a_range_without_ends(self, hits: Result, span: Any) -> None:
        assert self.judged(hits, span).note == "only 1 of 6 scores changed, so that the bounds are rough"

    def test_a_column_is_compared_with_that_of_its_name_among_equals(self, hits: Result) -> None:
        now = scored(hits, [0.5, 0.6, 0.7])
        same, other = now["hit@1"], scored(hits, [0.9, 0.9, 0.9], name="other", names=("other",))["other"]
        both = Result(now.sample_ids, now.tags, {"other": other, "hit@1": same}, now.manifest)
        alone = Result(now.sample_ids, now.tags, {"other": other}, now.manifest)
        unlike = scored(hits, [0.5, 0.6, 0.7], fingerprint="another")["hit@1"]
        one = Result(now.sample_ids, now.tags, {"hit@1": unlike, "other": other}, now.manifest)
        verdicts = [judge(now, "hit@1 max_drop 0", baseline).verdict for baseline in (both, alone, one)]
        assert verdicts == ["pass", "fail", "fail"]

    def test_a_share_of_a_mean_below_0_is_a_margin_above_0(self, hits: Result) -> None:
        drop = judge(scored(hits, [-0.4, -0.5]), "hit@1 max_drop 10%", scored(hits, [-0.4, -0.6])).drop
        assert drop is not None
        assert drop.margin == pytest.approx(0.05, rel=1e-12)

    def test_where_less_is_better_those_that_rose_fell(self, hits: Result) -> None:
        now, before = (scored(hits, values, higher_is_better=False) for values in ([0.5, 0.1], [0.2, 0.4]))
        (change,) = changes_since(now, before)
        assert change.fallen == (("q0", 0.2, 0.5),)

    def test_where_less_is_better_a_sample_may_rise_by_the_margin(self, hits: Result) -> None:
        now, before = (scored(hits, values, higher_is_better=False) for values in ([0.56, 0.1], [0.5, 0.5]))
        assert judge(now, "hit@1 max_drop 0.1 per_sample", before).missed == ()
        assert judge(now, "hit@1 max_drop 0.05 per_sample", before).missed == (("q0", pytest.approx(0.06)),)

    def test_one_sample_or_cluster_says_nothing_of_others(self, hits: Result) -> None:
        one, same = scored(hits, [0.5]), scored(hits, [0.5, 0.25]).with_clusters({"q0": "a", "q1": "a"})
        for result, what in ((one, "sample"), (same, "cluster")):
            drop = judge(result, "hit@1 max_drop 0", scored(hits, [0.75, 0.75][: len(result)])).drop
            assert drop is not None
            assert drop.note == f"one {what} says nothing of others"

    def test_the_ten_that_fell_most_are_named(self, hits: Result) -> None:
        """Eleven fall by 0.01 to 0.11; the first of them, by the least, is left out."""
        (change,) = changes_since(
            scored(hits, [0.5 - number / 100 for number in range(1, 12)]), scored(hits, [0.5] * 11)
        )
        assert [name for name, _, _ in change.fallen] == [f"q{number}" for number in range(10, 0, -1)]

    def test_scores_that_differ_by_rounding_did_not_change(self, hits: Result) -> None:
        """Differences up to 1e-12 are rounding."""
        for step, note in ((1e-12, "no score changed"), (2e-12, "every sample changed by the same, so that")):
            drop = judge(scored(hits, [step, step]), "hit@1 max_drop 0", scored(hits, [0.0, 0.0])).drop
            assert drop is not None
            assert drop.note.startswith(note)
        (change,) = changes_since(scored(hits, [0.0, 0.0]), scored(hits, [1e-12, 2e-12]))
        assert change.fallen == (("q1", 2e-12, 0.0),)

    def test_a_bound_at_the_margin_decides_nothing(self, hits: Result) -> None:
        before, fell = scored(hits, [0.5, 0.5, 0.5, 0.5]), scored(hits, [0.2, 0.1, 0.2, 0.1])
        drop = judge(fell, "hit@1 max_drop 0", before).drop
        assert drop is not None
        for bound, decided in ((drop.worst, "pass"), (drop.best, "fail")):
            verdicts = [
                judge(fell, f"hit@1 max_drop {margin!r}", before).verdict
                for margin in (math.nextafter(-bound, 0), -bound, math.nextafter(-bound, 1))
            ]
            other, beside = (0, 2) if decided == "pass" else (2, 0)
            assert (verdicts[other], verdicts[1], verdicts[beside]) == ("inconclusive", "inconclusive", decided)

    def test_clusters_widen_what_is_known_of_a_change(self, hits: Result) -> None:
        """
        Differences -0.1, 0, 0.1 and -0.2 in the clusters {0, 3} and {1, 2}.

        Deviations from -0.05 add up to -0.2 and 0.2, so that the squared error is 2 / 1 / 4**2 * 0.08 = 0.1**2. The
        quantiles of t with one degree of freedom are 6.3137515 at 95 % and 12.7062047 at 97.5 %. Of a deviation of
        0.1 * 2 ((1.6448536 + 0.8416212) * 0.2 / 0.1)**2 = 24.7 pairs are needed.
        """
        after = scored(hits, [0.4, 0.5, 0.6, 0.3]).with_clusters({"q0": 1, "q1": 2, "q2": 2, "q3": 1})
        before = scored(hits, [0.5] * 4)
        outcome = judge(after, "hit@1 max_drop 0.1", before)
        assert outcome.missed == ()
        assert outcome.drop is not None
        assert outcome.drop.worst == pytest.approx(-0.05 - 0.63137515, abs=1e-7)
        assert outcome.drop.needed == 25
        with pytest.raises(TypeError):
            outcome.drop.dropped["undefined"] = 7
        (change,) = changes_since(after, before)
        assert change.interval == pytest.approx((-0.05 - 1.27062047, -0.05 + 1.27062047), abs=1e-7)

    def test_a_baseline_belongs_to_its_name_or_its_data_or_the_only_result(self, hits: Result) -> None:
        def of(data: str | None) -> Result:
            manifest = {**hits.manifest, "dataset": None if data is None else {"fingerprint": data}}
            return Result(hits.sample_ids, hits.tags, hits.metrics, manifest)

        one, two, none = of("1"), of("2"), of(None)
        for name, baseline, results, expected in [
            ("a", {"a": two, "b": one}, {"a": one, "b": two}, two),
            ("c", {"a": two, "b": one}, {"c": one}, None),
            ("a", {"a": two}, {"a": one, "b": one}, two),  # the name counts before the data
            ("c", {"a": two}, {"c": one}, two),  # one for one
            ("c", {"a": one}, {"c": one, "d": two}, one),  # the same data
            ("d", {"a": one}, {"c": one, "d": two}, None),
            ("c", {"a": none}, {"c": none, "d": two}, None),  # what is not known is not the same
            ("c", {"a": one}, {"c": none, "d": two}, None),
        ]:
            assert baseline_of(name, baseline, results) is expected, (name, list(baseline), list(results))


class TestIdsChanged:
    """The baseline retrieved four ids, of which both relevant ones."""

    @staticmethod
    def sketched(hits: Result, hashes: str, gold: int, found: int) -> Result:
        sketch = {"gold": gold, "found": found, "hashes": [f"{ord(one):016x}" for one in hashes]}
        return hits.with_manifest({"retrieved_ids": sketch})

    @pytest.mark.parametrize(
        ("before", "now", "changed"),
        [
            (("abcd", 2, 2), ("wxyz", 2, 0), True),
            (("abcd", 2, 2), ("", 2, 0), False),  # nothing retrieved is nothing new
            (("abcd", 2, 2), ("wxyz", 0, 0), False),  # no relevant id to find
            (("abcd", 0, 0), ("wxyz", 2, 0), False),
            (None, ("wxyz", 2, 0), False),
            (("abcd", 2, 2), None, False),
        ],
    )
    def test_what_cannot_be_known_is_not_claimed(self, hits: Result, before: Any, now: Any, *, changed: bool) -> None:
        earlier, result = (hits if facts is None else self.sketched(hits, *facts) for facts in (before, now))
        assert bool(judge_gates(result, ["hit@1 >= 0"], baseline=earlier).ids_changed) == changed

    def test_only_datasets_with_a_gate_on_ids_are_named(self, hits: Result) -> None:
        before, now = self.sketched(hits, "abcd", 2, 2), self.sketched(hits, "wxyz", 2, 0)
        report = judge_gates({"a": now, "b": now}, ["hit@1 >= 0 dataset a"], baseline={"a": before, "b": before})
        assert list(report.ids_changed) == ["a"]
        report = judge_gates({"a": now, "b": now}, [], baseline={"a": before, "b": before})
        assert list(report.ids_changed) == ["a", "b"]


def drop_line(rule: MaxDrop, verdict: Any, **facts: Any) -> str:
    drop = Drop(**{"n": 9, "baseline": 0.5, "value": 0.5, "difference": 0.0, "margin": 0.0, **facts})
    return headline(GateOutcome(gate=Gate(metric="m", rule=rule), verdict=verdict, drop=drop))


class TestSentences:
    @pytest.mark.parametrize(
        ("facts", "line"),
        [
            ({"difference": -1e-4, "value": 0.4999}, "0.4999 against 0.5000, -0.0001, beyond the margin 0 (n=9)"),
            (
                {"difference": -5e-5, "value": 0.49995},
                "0.49995000 against 0.50000000, -0.00005000, beyond the margin 0 (n=9)",
            ),
            ({"difference": -0.25, "value": 0.25}, "0.2500 against 0.5000, -0.2500, beyond the margin 0 (n=9)"),
            ({"margin": 1e-5}, "0.5000 against 0.5000, +0.0000, beyond the margin 1e-05 (n=9)"),
        ],
    )
    def test_a_change_has_as_many_digits_as_show_it(self, facts: dict[str, Any], line: str) -> None:
        assert drop_line(MaxDrop(0.0), "fail", **facts) == f"m: {line}"

    def test_a_note_and_what_is_left_out_stand_beside_n(self) -> None:
        line = drop_line(MaxDrop(0.0), "fail", dropped={"other_ground_truth": 2}, note="so it is")
        assert line.endswith("the margin 0 (n=9; so it is; 2 samples with other ground truth left out)")

    def test_a_share_says_what_it_is_in_the_unit_of_the_metric(self) -> None:
        rule = MaxDrop(0.02, is_relative=True)
        assert drop_line(rule, "pass", margin=0.01).endswith("within the margin 2% (0.01) (n=9)")

    @pytest.mark.parametrize(
        ("needed", "why"),
        [
            (None, "and no number of samples decides"),
            (9, "because the change lies close to the margin"),
            (10, "about 10 samples would decide"),
        ],
    )
    def test_what_is_open_says_how_many_samples_it_takes(self, needed: int | None, why: str) -> None:
        line = drop_line(MaxDrop(0.1), "inconclusive", margin=0.1, worst=-0.2, best=0.1, needed=needed)
        assert f"9 samples cannot tell, {why}; one-sided 95 % bounds: -0.2000 to +0.1000 " in line

    def test_bounds_are_shown_from_low_to_high_where_less_is_better(self) -> None:
        line = drop_line(MaxDrop(0.1), "inconclusive", margin=0.1, worst=0.2, best=-0.1)
        assert "allowed +0.1000: 9 samples cannot tell" in line
        assert "bounds: -0.1000 to +0.2000 " in line

    @pytest.mark.parametrize(
        ("gate", "line"),
        [
            ("hit@1 >= 0.25", "ok     hit@1: 0.5000 meets the minimum 0.25 (mean of n=2, 1 undefined)"),
            ("hit@1 <= 0.75", "ok     hit@1: 0.5000 meets the maximum 0.75 (mean of n=2, 1 undefined)"),
            ("hit@1 >= 0 where tags=x", "ok     hit@1 where tags=x: 1.0000 meets the minimum 0 (mean of n=1)"),
            ("hit@1 >= 0 per_sample of q1,q2", "ok     hit@1: all 2 samples meet the minimum 0"),
        ],
    )
    def test_a_bound_that_is_kept_shows_the_value(self, hits: Result, gate: str, line: str) -> None:
        lines = [(shown.text, shown.role) for shown in gate_lines(judge_gates({"mine": hits}, [gate]))]
        assert lines == [(line, "good"), ("the gate passed", "good")]

    def test_subjects_of_up_to_40_characters_make_a_column(self) -> None:
        (gate,) = read_gates("m >= 0.5")
        outcomes = [
            GateOutcome(gate=dataclasses.replace(gate, metric=name), verdict="pass", value=0.5, counts={"n": 1})
            for name in ("a", "b" * 40, "c" * 41)
        ]
        lines = list(gate_lines(GateReport(tuple(outcomes))))[:-1]
        assert [line.text.index(" 0.5000") for line in lines] == [len("ok     ") + 41] * 2 + [len("ok     ") + 42]

    def test_a_decision_says_how_many_samples_were_called(self) -> None:
        (gate,) = read_gates("m >= 0.25")
        decided = GateOutcome(
            gate=gate, verdict="pass", value=0.5, counts={"n": 2}, decision=Decision("pass", 2, 5, 0.05)
        )
        assert headline(decided) == (
            "m: the mean of all 5 samples meets the minimum 0.25, decided after 2 in random order: at most 5 % of such "
            "decisions are wrong; of those called, 0.5000 is the mean (n=2)"
        )
        missed = dataclasses.replace(decided, verdict="fail", decision=Decision("fail", 2, 5, 0.05))
        assert headline(missed).startswith("m: the mean of all 5 samples is below the minimum 0.25, decided after 2 ")
        for after, called in ((2, "2 of 5 samples were called"), (5, "all 5 samples were called")):
            decision = Decision("open", after, 5, 0.0)
            outcome = GateOutcome(gate=gate, verdict="pass", value=0.5, counts={"n": after}, decision=decision)
            assert headline(outcome) == f"m: 0.5000 meets the minimum 0.25 (mean of n={after}; {called})"

    def test_a_value_beside_its_bound_is_told_apart_from_it(self, hits: Result) -> None:
        result = scored(hits, [0.5, 0.49998])
        assert headline(judge(result, "hit@1 >= 0.5")) == ("hit@1: 0.49999 is below the minimum 0.5 (mean of n=2)")

    def test_a_success_is_rounded_to_its_bound(self) -> None:
        (gate,) = read_gates("m >= 0")
        outcome = GateOutcome(gate=gate, verdict="pass", value=-1e-12, counts={"n": 3})
        assert headline(outcome) == "m: 0.0000 meets the minimum 0 (mean of n=3)"

    def test_a_failure_is_never_rounded_to_its_bound(self) -> None:
        (gate,) = read_gates("m >= 0.5", defaults=Defaults())
        outcome = GateOutcome(gate=gate, verdict="fail", value=0.5 - 1e-13, counts={"n": 3})
        assert headline(outcome) == "m: 0.4999999999999 is below the minimum 0.5 (mean of n=3)"
        (gate,) = read_gates("m <= 0")
        outcome = GateOutcome(gate=gate, verdict="fail", value=1e-17, counts={"n": 3})
        assert headline(outcome) == "m: 1e-17 is above the maximum 0.0 (mean of n=3)"

    def test_samples_that_fell_say_by_how_much(self, hits: Result) -> None:
        """Of seven samples five are named."""
        ids = [f"q{place}" for place in range(7)]
        before, after = scored(hits, [1.0] * 6 + [math.nan], ids), scored(hits, [0.25] * 7, ids)
        line = headline(judge(after, f"hit@1 max_drop 0.5 per_sample of {','.join(['q6', *ids[:6]])}", before))
        assert line == (
            "hit@1: 7 of 7 samples fell by more than 0.5: q6 (no pair of scores), q0 (-0.7500), q1 (-0.7500), "
            "q2 (-0.7500), q3 (-0.7500) and 2 more"
        )

    @pytest.mark.parametrize(
        ("seconds", "ago"),
        [
            (59, "just now"),
            (60, "1 minute ago"),
            (3599, "59 minutes ago"),
            (3600, "1 hour ago"),
            (86399, "23 hours ago"),
            (86400, "1 day ago"),
        ],
    )
    def test_an_age_is_told_in_the_largest_unit_that_has_passed(self, hits: Result, seconds: int, ago: str) -> None:
        now = datetime(2024, 5, 6, 12, tzinfo=UTC)
        manifest = {"created_at": (now - timedelta(seconds=seconds)).isoformat(), "baseline": "b"}
        old = Result(hits.sample_ids, hits.tags, hits.metrics, manifest)
        assert baseline_line({"": old}, now=now) == f"baseline b: saved {ago}"

    def test_plain_values_say_everything(self, hits: Result) -> None:
        outcome = judge(hits, "hit@1 >= 1 per_sample of q1,q2,q3 level warn")
        assert outcome.to_dict() == {
            "gate": "hit@1 >= 1 of q1,q2,q3 per_sample level warn",
            "dataset": "",
            "metric": "hit@1",
            "minimum": 1.0,
            "rule": {"type": "bound", "number": 1.0, "side": "minimum"},
            "for_dataset": "",
            "where": None,
            "of": ["q1", "q2", "q3"],
            "per_sample": True,
            "level": "warn",
            "until": False,
            "origin": "",
            "by_numbers": None,
            "missed_ids": ["q2", "q3"],
            "value": 0.5,
            "aggregate": "mean",
            "n": 2,
            "n_undefined": 1,
            "n_missing": 0,
            "n_failed": 0,
            "verdict": "fail",
            "status": "warned",
            "passed": False,
            "reason": "",
            "missed": {"q2": 0.0, "q3": None},
        }
        plain = judge(hits, "hit@1 >= 0 of nobody").to_dict()
        assert (plain["reason"], "missed" in plain) == ("there is no sample 'nobody'", False)


class TestReports:
    def test_junit_holds_why_ids_changed_where_that_is_the_error(self, hits: Result) -> None:
        (gate,) = read_gates("hit@1 >= 0.5")
        outcomes = (
            GateOutcome(gate=gate, dataset="a", verdict="error", reason="the ids changed"),
            GateOutcome(gate=gate, dataset="a", verdict="fail", value=0.25, counts={"n": 2}),
            GateOutcome(gate=gate, dataset="b", verdict="error", reason="no sample"),
            GateOutcome(gate=gate, verdict="pass", value=0.5, counts={"n": 2}),
        )
        report = GateReport(outcomes, {"a": "the ids changed, and why"})
        document = junit_xml(report, {})
        assert document.startswith(b"<?xml version='1.0' encoding='utf-8'?>\n<testsuites")
        assert b'\n  <testsuite name="a"' in document
        root = ET.fromstring(document)  # noqa: S314  # our own
        assert [suite.get("name") for suite in root] == ["a", "b", "rankgauge"]
        assert [case.get("classname") for case in root.iter("testcase")] == ["a", "a", "b", "rankgauge"]
        assert [(case[0].tag, case[0].get("message"), case[0].text) for case in root.iter("testcase") if len(case)] == [
            ("error", "hit@1: cannot be judged: the ids changed", "the ids changed, and why"),
            ("failure", *["hit@1: 0.2500 is below the minimum 0.5 (mean of n=2)"] * 2),
            ("error", *["hit@1: cannot be judged: no sample"] * 2),
        ]

    @pytest.mark.parametrize("dataset", [None, {}, {"fingerprint": "f00"}])
    def test_junit_says_what_was_computed(self, hits: Result, dataset: dict[str, Any] | None) -> None:
        manifest = {**hits.manifest, "dataset": dataset, "versions": None}
        result = Result(hits.sample_ids, hits.tags, hits.metrics, manifest, ["first", "second"])
        root = ET.fromstring(junit_xml(judge_gates({"m": result}, ["hit@1 >= 0"]), {"m": result}))  # noqa: S314
        assert {one.get("name"): one.get("value") for one in root.iter("property")} == {
            "rankgauge": "",
            "policy": "profile default, unmodified",
            "dataset fingerprint": (dataset or {}).get("fingerprint", ""),
            "samples": "3",
            "hit@1 interval": "0.0945 to 0.9055 (Wilson), 95 %",
            "hit@1 fingerprint": result["hit@1"].info.fingerprint,
            "note 1": "first",
            "note 2": "second",
        }

    @pytest.mark.parametrize(("n", "more"), [(10, 0), (11, 2)])
    def test_ten_annotations_fit(self, hits: Result, n: int, more: int) -> None:
        lines = list(github_annotations(judge_gates(hits, [f"hit@1 >= 0.{number}" for number in range(60, 60 + n)])))
        assert len(lines) == 10
        assert sum("more gates" in line for line in lines) == bool(more)
        assert f"... and {more} more gates" in lines[-1] or not more

    def test_annotations_name_the_dataset_where_there_are_several(self, hits: Result) -> None:
        one, two = (
            list(github_annotations(judge_gates(results, ["hit@1 >= 0.9"])))
            for results in ({"a": hits}, dict.fromkeys("ab", hits))
        )
        assert ["::a: hit@1" in line for line in (*one, two[0])] == [False, True]

    def test_a_pull_request_names_datasets_where_there_are_two(self, hits: Result) -> None:
        for results, shown in (({"a": hits}, "| hit@1: 0.5000"), ({"a": hits, "b": hits}, "| b: hit@1: 0.5000")):
            assert shown in pull_request_markdown(results, judge_gates(results, ["hit@1 >= 0.9"]))
        changed = GateReport((), {"b": "the ids changed"})
        assert "\nb: the ids changed\n" in pull_request_markdown({"a": hits, "b": hits}, changed)

    def test_without_an_outcome_it_is_named_by_its_data(self, hits: Result) -> None:
        text = pull_request_markdown({"mine": hits}, GateReport())
        assert text.startswith("## rankgauge: mine: 3 samples\n")
        assert "| gate |" not in text

    def test_one_interrupted_run_of_two_is_said(self, hits: Result) -> None:
        results = {"a": hits, "b": hits.with_manifest({"interrupted": True})}
        assert "The run was interrupted" in pull_request_markdown(results, None)
        assert "The run was interrupted" not in pull_request_markdown({"a": hits}, None)

    @pytest.mark.parametrize(
        ("manifest", "first", "line"),
        [
            ({}, "bm25", "baseline bm25"),
            ({"baseline": "main.json"}, "bm25", "baseline main.json"),
            ({"baseline": "main.json"}, "", "baseline main.json"),
            ({"baseline": "main.json", "commit": "0123"}, "bm25", "baseline main.json: commit 0123"),
            ({"commit": "0123"}, "", "baseline : commit 0123"),
        ],
    )
    def test_a_baseline_is_named_by_its_file_or_as_the_first_run(
        self, hits: Result, manifest: dict[str, str], first: str, line: str
    ) -> None:
        old = Result(hits.sample_ids, hits.tags, hits.metrics, manifest)
        assert pull_request_markdown({"a": hits}, None, {"a": old}, first=first).splitlines()[2] == line
        assert baseline_line({}) == "baseline "

    def test_a_pull_request_names_clusters(self, hits: Result) -> None:
        clustered = scored(hits, [0.5, 0.25, 0.75]).with_clusters({"q0": "a", "q1": "a", "q2": "b"})
        shown = "standard errors and intervals are those of 2 clusters by "
        assert shown in pull_request_markdown({"a": clustered}, None)
        assert shown not in pull_request_markdown({"a": hits}, None)
        documents = [junit_xml(judge_gates({"a": one}, ["hit@1 >= 0"]), {"a": one}) for one in (clustered, hits)]
        assert [shown.encode() in document for document in documents] == [True, False]


class TestAsked:
    @pytest.mark.parametrize(
        ("origin", "where"),
        [("c.yaml:12", "c.yaml:12: "), ("--gate", "--gate: "), ("a:b", "a:b: "), ("12", "12: ")],
    )
    def test_what_a_caller_refuses_is_a_problem_where_the_gate_stands(self, engine, origin: str, where: str) -> None:
        gates = read_gates("hit@1 >= 0.5", origin=origin)
        with pytest.raises(PlanError) as error:
            ask_gates(
                gates,
                (),
                lambda specs: engine.dataset([]).with_metrics(specs).plan().metrics,
                check=lambda gate, column, _: f"no {gate} for {column}",
            )
        (problem,) = error.value.problems
        assert str(problem) == f"{where}no hit@1 >= 0.5 for hit@1"
        assert (problem.line, problem.file) == ((12, "c.yaml") if origin == "c.yaml:12" else (None, origin))

    def test_a_gate_may_name_a_column_as_it_was_called(self, engine) -> None:
        specs = engine.dataset([]).with_metrics([{"metric": "recall@5", "as": "mine"}]).metrics
        asked = ask_gates(
            read_gates("mine >= 0.5"), specs, lambda specs: engine.dataset([]).with_metrics(specs).plan().metrics
        )
        assert (asked.specs, [str(gate) for gate in asked.gates]) == (tuple(specs), ["mine >= 0.5"])

    def test_a_column_of_a_gate_may_not_have_the_name_of_another(self, engine) -> None:
        specs = engine.dataset([]).with_metrics([{"metric": "recall@5", "as": "p@1"}]).metrics
        with pytest.raises(PlanError, match="'p@1'"):
            ask_gates(
                read_gates("P@1 >= 0.5"),
                specs,
                lambda specs: engine.dataset([]).with_metrics(specs).plan().metrics,
            )


class TestSaved:
    def test_a_place_that_is_no_folder_is_said_as_the_system_does(self, hits: Result, tmp_path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(ResultError, match=r"b\.json: (File exists|Not a directory); nothing was written"):
            save_baseline({"a": hits}, tmp_path / "file" / "b.json")

    def test_each_column_keeps_its_statuses(self, engine, tmp_path) -> None:
        """A sample with ground truth that is not relevant has no reciprocal rank, and a share of judged results."""
        rows = [*ROWS[:2], {"id": "q3", "expected_output": {"b": 0}, "actual_output": ["b"]}]
        result = engine.dataset(rows).with_metrics(["MRR", "judged@1"]).run()
        loaded = load_baseline(save_baseline({"a": result}, tmp_path / "new/deep/b.json"))["a"]
        assert [column.status(2) for column in loaded.metrics.values()] == ["undefined", "scored"]
        for name, column in result.metrics.items():
            assert [loaded[name].status(at) for at in range(3)] == [column.status(at) for at in range(3)]
        assert loaded.manifest["interrupted"] is False
        assert list(load_baseline(save_baseline({"a": loaded}, tmp_path / "new/deep/b.json"))) == ["a"]

    def test_ground_truth_is_known_of_all_samples_or_of_none(self, hits: Result, tmp_path) -> None:
        path = save_baseline({"a": hits}, tmp_path / "b.json")
        assert load_baseline(path)["a"].gold_keys is not None
        document = json.loads(path.read_text(encoding="utf-8"))
        del document["datasets"]["a"]["samples"][1]["gold"]
        path.write_text(json.dumps(document), encoding="utf-8")
        assert load_baseline(path)["a"].gold_keys is None

    def test_folders_are_named_by_their_data_while_that_names_one(self, hits: Result, tmp_path, monkeypatch) -> None:
        for folder, dataset in (("one", {"name": "mine"}), ("two", {"name": "mine"}), ("zero", {})):
            hits.with_manifest({"dataset": dataset}).save(tmp_path / folder)
        monkeypatch.setattr(Path, "iterdir", lambda folder: (folder / name for name in ("zero", "two", "one")))
        assert list(load_baseline(tmp_path)) == ["mine", "two", "zero"]

    @pytest.mark.parametrize("dataset", [None, {"name": "mine", "path": "/home/somebody/mine.jsonl"}])
    def test_data_are_saved_without_their_path(self, hits: Result, tmp_path, dataset: dict[str, str] | None) -> None:
        path = save_baseline({"a": hits.with_manifest({"dataset": dataset})}, tmp_path / "b.json")
        assert load_baseline(path)["a"].manifest["dataset"] == ({"name": "mine"} if dataset else {})

    def test_hashes_stand_in_lines_that_end_where_a_hash_ends_in_0(self, hits: Result, tmp_path) -> None:
        hashes = [f"{number:016x}" for number in (0x01, 0x10, 0x101, 0x1F0, 0x200, 0x202)]
        sketch = {"gold": 2, "found": 1, "hashes": hashes}
        path = save_baseline({"a": hits.with_manifest({"retrieved_ids": sketch})}, tmp_path / "b.json")
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith('"0000')]
        assert [line.count('"0000') for line in lines] == [2, 2, 1, 1]

    def test_a_tokenizer_of_a_budget_is_saved_without_its_file(self, hits: Result, tmp_path) -> None:
        provider = {"distribution": "other", "version": "1", "file": "/home/somebody/tokens.py", "line": 7}
        budget = {"amount": 100, "unit": "tok", "tokenizer": "words", "provider": provider, "partial": False}
        for given, kept in ((provider, {**provider, "file": "", "line": 0}), (None, None)):
            result = scored(hits, [0.5], budget={**budget, "provider": given})
            path = save_baseline({"a": result}, tmp_path / "b.json")
            (metric,) = json.loads(path.read_text(encoding="utf-8"))["datasets"]["a"]["metrics"]
            assert metric["budget"] == {**budget, "provider": kept}


def test_a_line_and_a_headline_differ_by_their_first_word(hits: Result) -> None:
    outcome = judge(hits, "hit@1 >= 0.9")
    assert outcome_line(outcome) == f"MISSED {headline(outcome)}"
