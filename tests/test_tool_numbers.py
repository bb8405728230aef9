"""Profiles of tools against what the tools themselves computed, and how names are read under them."""

from __future__ import annotations

import json
import math
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import rankgauge
from draws import in_thorough_suite, named, some
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.catalog.tool_profiles import tool_names, tool_of
from rankgauge.errors import PlanError, PolicyError
from tables import rows

TOOLS = Path(__file__).parent.parent / "docs/tools"
sys.path.insert(0, str(TOOLS))
import drawn  # noqa: E402  # a script of the documentation, which has no package

RECORDED = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (drawn.FOLDER / "recorded").glob("*.json")
}
CATALOG = Catalog.discover(own_only=True)
FLOAT32 = {"allrank", "xgboost", "torchmetrics", "ignite", "keras-rs", "tensorflow-ranking", "recbole"}
"""Tools that compute, or print, numbers with fewer digits."""
ROUNDED = {"beir", "mteb"}
"""Tools that round means to five places."""


@pytest.mark.parametrize("tool", [tool for tool in sorted(RECORDED) if named(tool)])
def test_profile_has_the_numbers_that_the_tool_computed(tool):
    """On every drawn case, and by the tool's own spelling of each measure."""
    by_data = defaultdict(list)
    for measure in RECORDED[tool]["measures"]:
        by_data[measure["data"], measure["labels"]].append(measure)
    compared = 0
    for (data, labels), measures in by_data.items():
        for place, case in enumerate(drawn.cases(data)):
            wanted = [each for each in measures if each["values"][place] is not None]
            if not wanted:
                continue
            asked = [each["spelling"].format(k=case.k) for each in wanted]
            qrels, run = drawn.judgments_and_run(case, data, labels)
            result = rankgauge.evaluate(qrels, run, asked, profile=tool, catalog=CATALOG)
            for name, each in zip(asked, wanted, strict=True):
                tolerance = 5.1e-6 if tool in ROUNDED else 3e-6 if tool in FLOAT32 else 1e-14
                value = each["values"][place]
                assert result[name].mean == pytest.approx(value, rel=tolerance, abs=tolerance), (name, data, place)
                compared += 1
    assert compared > 100


@rows("tool", some(tool_names(), of=5, first=1))
def test_names_of_ours_mean_what_the_tool_calls_it(tool):
    for measure in tool_of(tool).measures:
        if measure.refused or not measure.name or not measure.written:
            continue
        for written in measure.written:
            k = "{k}" in written
            plan = Engine(catalog=CATALOG).dataset([]).with_profile(tool)
            ours = f"{measure.name}@3" if k else measure.name
            both = plan.with_metrics([ours, written.format(k=3)]).plan()
            assert len({column.fingerprint for column in both.metrics}) == 1, (ours, written)


@rows("tool", some(tool_names(), of=5))
def test_what_a_profile_says_can_be_planned(tool):
    """Every expression of its file can be computed, and the file names a version."""
    found = tool_of(tool)
    assert found.version
    for measure in found.measures:
        assert measure.says
        for written in measure.written:
            spelling = written.format(k=7)
            if measure.refused:
                with pytest.raises(PlanError, match="under the profile of"):
                    rankgauge.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, [spelling], profile=tool, catalog=CATALOG)
            else:
                rankgauge.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, [spelling], profile=tool, catalog=CATALOG)


QRELS = {"a": {"x": 2, "y": 0, "z": 1}, "b": {"x": 0, "y": 0}}
RUN = {"a": {"x": 0.1, "y": 0.5, "z": 0.3}, "b": {"x": 1.0, "y": 2.0}}


def _mean(metric, profile, qrels=QRELS, run=RUN, **more):
    result = rankgauge.evaluate(qrels, run, [metric], profile=profile, catalog=CATALOG, **more)
    assert result[metric] is next(iter(result.metrics.values()))
    return result[metric].mean


@pytest.mark.parametrize("spelling", ["ndcg@2", "nDCG@2", "ndcg_cut_2", "retrieval-ndcg-at-2", " ndcg@2 "])
def test_a_query_without_relevant_rows_counts_1_where_the_tool_counts_it_so(spelling):
    # ranks y, z, x: z at rank 2 has the gain 2**1 - 1; the ideal is x (3) and then z (1)
    of_a = (1 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert _mean(spelling, "lightgbm") == pytest.approx((of_a + 1) / 2, rel=1e-14)


def test_a_spelling_of_the_tool_comes_before_ours():
    of_a = (1 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert _mean("ndcg@2-", "xgboost") == pytest.approx(of_a / 2, rel=1e-14)
    assert _mean("NDCG: type = Exp; top=2", "catboost") == pytest.approx((of_a + 1) / 2, rel=1e-14)
    assert _mean("NDCG:type=Exp;top=2", "catboost") == _mean("NDCG:top=2;type=Exp", "catboost")


def test_what_is_said_explicitly_comes_before_what_the_tool_does():
    of_a = (1 / math.log2(3)) / (2 + 1 / math.log2(3))
    assert _mean("ndcg(gain=linear)@2", "lightgbm") == pytest.approx((of_a + 1) / 2, rel=1e-14)
    assert _mean("ndcg(gain=linear, undefined=0)@2", "lightgbm") == pytest.approx(of_a / 2, rel=1e-14)


def test_a_missing_output_never_counts_as_the_best_value():
    """Neither with ground truth nor without."""
    qrels = {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 0}, "d": {"x": 0}}
    run = {"a": {"x": 1.0}, "c": {"x": 1.0}}
    result = rankgauge.evaluate(qrels, run, ["ndcg@2"], profile="lightgbm", catalog=CATALOG)
    column = result["ndcg@2"]
    assert dict(zip(result.sample_ids, column.values.tolist(), strict=True)) == {"a": 1.0, "b": 0.0, "c": 1.0, "d": 0.0}
    assert column.counts == {"n": 4, "undefined": 1, "missing": 2, "failed": 0}
    by_policy = rankgauge.evaluate(qrels, run, ["ndcg@2"], policy={"no_gold": "one"}, catalog=CATALOG)["ndcg@2"]
    assert by_policy.values.tolist() == column.values.tolist()


def test_one_is_the_best_value_also_where_less_is_better():
    qrels = {"a": {"x": 1}, "b": {"x": 0}}
    run = {"a": {"x": 1.0}, "b": {"x": 1.0}}
    result = rankgauge.evaluate(qrels, run, ["first_rank", "recall@1"], policy={"no_gold": "one"}, catalog=CATALOG)
    assert result["first_rank"].values.tolist() == [1.0, 1.0]
    assert result["recall@1"].values.tolist() == [1.0, 1.0]


def test_an_output_without_results_does_not_count_as_the_best_value():
    """A metric that is undefined because nothing was retrieved, and not for lack of ground truth."""
    sample = {"id": "q", "expected_output": {"relevant": {"x": 1}}, "actual_output": {"retrieved": []}}
    result = Engine(catalog=CATALOG).dataset([sample]).with_metrics(["judged@3"]).with_profile(no_gold="one").run()
    assert result["judged@3"].mean is None


def test_a_measure_that_nothing_here_computes_is_refused_with_the_reason():
    with pytest.raises(PlanError, match=r"counts the rest of the catalogue, which a ranking does not have"):
        _mean("AUC", "implicit")


def test_a_profile_of_a_tool_cannot_be_replaced():
    with pytest.raises(PolicyError, match="'lightgbm' is built in"):
        CATALOG.with_profiles({"lightgbm": {"extends": "default"}})


def test_a_name_that_the_tool_lacks_is_ours_and_says_so():
    result = rankgauge.evaluate(QRELS, RUN, ["RR@2", "ndcg@2"], profile="lightgbm", catalog=CATALOG)
    assert result["RR@2"].mean == 0.5
    assert [note for note in result.notes if "LightGBM" in note] == [
        "LightGBM has no rr@2: this is rankgauge's own, under the conventions of the profile lightgbm"
    ]


def test_one_tool_is_read_at_a_time(monkeypatch):
    """Profiles of tools cost nothing unless one is asked for."""
    from rankgauge.catalog import tool_profiles

    asked = []
    real = tool_profiles._document
    monkeypatch.setattr(tool_profiles, "_document", lambda name: asked.append(name) or real(name))
    Catalog.discover(own_only=True).profile("trec10")
    assert asked == []
    Catalog.discover(own_only=True).profile("xgboost")
    assert set(asked) == {"xgboost"}


TIED_QRELS = {"q": {"a": 2, "b": 0, "c": 1, "e": -1}}
TIED_RUN = {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "e": 1.0, "u": 1.0, "z": 0.5}}


class TestTies:
    @rows(
        ("ties", "metric", "expected"),
        [
            ("worst", "RR", 1 / 4),  # e, then b and u, then c, then a
            ("best", "RR", 1.0),  # a, c, then b and u, then e
            ("worst", "dcg@5", 1 / math.log2(5) + 2 / math.log2(6)),
            ("best", "dcg@5", 2 + 1 / math.log2(3)),
            ("worst", "recall@4", 1 / 2),
            ("best", "AP", 1.0),
            ("worst", "bpref", (0 + 0) / 2),
            ("best", "bpref", 1.0),
        ],
    )
    def test_grades_settle_ties(self, ties, metric, expected):
        policy = {"order": "score", "ties": ties}
        found = _mean(metric, "trec10", TIED_QRELS, TIED_RUN, policy=policy)
        assert found == pytest.approx(expected, rel=1e-14)

    @pytest.mark.parametrize("ties", ["worst", "best"])
    def test_every_road_says_the_same(self, ties):
        sample = {
            "id": "q",
            "expected_output": {"relevant": TIED_QRELS["q"]},
            "actual_output": {"retrieved": [{"id": name, "score": score} for name, score in TIED_RUN["q"].items()]},
        }
        evaluation = Engine(catalog=CATALOG).dataset([sample]).with_metrics(["ndcg@4", "AP", "AUC"])
        of_sample = evaluation.with_profile("trec10", ties=ties).run()
        of_run = rankgauge.evaluate(TIED_QRELS, TIED_RUN, ["ndcg@4", "AP", "AUC"], policy={"ties": ties})
        assert [of_sample[name].mean for name in of_run.metrics] == [column.mean for column in of_run.metrics.values()]

    @in_thorough_suite()
    def test_worst_and_best_hold_every_order_between_them(self):
        for place, case in enumerate(drawn.cases("ties")):
            qrels, run = drawn.judgments_and_run(case, "ties", "grades")
            names = ["ndcg@3", "AP", "RR", "recall@2"]
            worst, given, best = (
                rankgauge.evaluate(qrels, run, names, policy={"ties": ties}, catalog=CATALOG)
                for ties in ("worst", "given", "best")
            )
            for name in names:
                assert worst[name].mean - 1e-12 <= given[name].mean <= best[name].mean + 1e-12, (place, name)

    def test_judging_by_text_has_no_grades_to_settle_ties_by(self):
        evaluation = Engine(catalog=CATALOG).dataset([]).with_metrics(["recall(gold=passages)@3"])
        with pytest.raises(PlanError, match="policy ties=worst settles ties by the grades of ids"):
            evaluation.with_profile("trec10", ties="worst").plan()

    def test_a_depth_that_could_part_a_tie_is_refused(self):
        with pytest.raises(PolicyError, match="ties=worst knows no order if depth cuts"):
            _mean("RR", "trec10", policy={"ties": "worst", "depth": 2})


class TestParametersOfTheEngine:
    @pytest.mark.parametrize(
        ("metric", "message"),
        [
            ("ndcg(undefined=2)@3", "from 0 to 1, not 2"),
            ("ndcg(undefined=yes)@3", "from 0 to 1, not 'yes'"),
            ("num_ret(undefined=1)", "leave undefined=1 out"),
            ("ndcg(missing=never)@3", "missing of .* is zero or exclude, not 'never'"),
            ("ndcg(score_above=low)@3", "is a score, such as 0, not 'low'"),
            ("ndcg(ties=average)@3", "where the policy settles ties by grade"),
        ],
    )
    def test_a_value_that_cannot_be_is_refused(self, metric, message):
        with pytest.raises(PlanError, match=message):
            _mean(metric, "trec10")

    def test_results_with_no_score_above_the_bound_are_not_relevant(self):
        qrels = {"q": {"a": 1, "b": 1, "c": 1}}
        run = {"q": {"a": 2.0, "x": 1.0, "b": 0.0, "c": -1.0}}
        assert _mean("recall(score_above=0)@4", "trec10", qrels, run) == pytest.approx(1 / 3)
        assert _mean("recall(score_above=-0.5)@4", "trec10", qrels, run) == pytest.approx(2 / 3)
        assert _mean("P(score_above=0)@4", "trec10", qrels, run) == 1 / 4

    def test_missing_outputs_are_left_out_of_one_metric(self):
        qrels, run = {"a": {"x": 1}, "b": {"x": 1}}, {"a": {"x": 1.0}}
        result = rankgauge.evaluate(qrels, run, ["RR", "RR(missing=exclude)"], catalog=CATALOG)
        assert [column.mean for column in result.metrics.values()] == [0.5, 1.0]

    def test_a_query_that_is_left_out_without_output_is_so_whatever_its_judgments(self):
        """BEIR leaves out queries that the run lacks, and counts 0 those with nothing relevant that it has."""
        qrels = {"a": {"x": 1}, "b": {"x": 0}, "c": {"x": 0}}
        column = rankgauge.evaluate(qrels, {"a": {"x": 1.0}, "c": {"x": 1.0}}, ["ndcg@3"], profile="beir")["ndcg@3"]
        assert (column.mean, column.counts) == (0.5, {"n": 2, "undefined": 1, "missing": 1, "failed": 0})


class TestOptionsOfMetrics:
    @rows(
        ("metric", "expected"),
        [
            # relevant a (grade 2), c (1) and three that are not retrieved; the ranking is x, c, a
            ("AP(denominator=k)@2", (1 / 2) / 2),
            ("AP(denominator=k)@10", (1 / 2 + 2 / 3) / 10),
            ("AP(denominator=k)", (1 / 2 + 2 / 3) / 5),
            ("AP(denominator=at-most-retrieved)@2", (1 / 2) / 2),
            ("AP(denominator=at-most-retrieved)@10", (1 / 2 + 2 / 3) / 3),
            ("P(denominator=retrieved)@10", 2 / 3),
            ("P(denominator=retrieved)@2", 1 / 2),
            ("Rprec@2", 1 / 5),
            ("Rprec", 2 / 5),
            ("RR(wanted=highest)", 1 / 3),
            ("RR(wanted=highest)@2", 0.0),
            ("dcg(discount=rank)@3", 1 / 2 + 2 / 3),
            ("dcg(gain=binary)@3", 1 / math.log2(3) + 1 / 2),
            ("ndcg(gain=binary)@3", (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3) + 1 / 2)),
            ("ndcg(discount=rank)@2", (1 / 2) / (2 + 1 / 2)),
            ("ndcg(ideal=undiscounted, discount=rank, gain=binary)", (1 / 2 + 1 / 3) / 5),
            ("ndcg(ideal=undiscounted)@2", (1 / math.log2(3)) / 6),
            ("tied_ndcg(gain=binary)@3", (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3) + 1 / 2)),
            ("rbp(p=0.5, normalize=true)", (0.5 * 0.5 + 1 * 0.25) / (1 + 0.5 * 0.5 + 0.5 * 0.25)),
        ],
    )
    def test_values_worked_out_by_hand(self, metric, expected):
        qrels = {"q": {"a": 2, "c": 1, "n1": 1, "n2": 1, "n3": 1}}
        assert _mean(metric, "trec10", qrels, {"q": {"x": 3.0, "c": 2.0, "a": 1.0}}) == pytest.approx(expected)

    def test_probabilities_as_labels(self):
        qrels, run = {"q": {"a": 0.5, "b": 0.25, "c": 0.0}}, {"q": {"b": 3.0, "c": 2.0, "a": 1.0}}
        err = 0.25 + 0.75 * 0.5 / 3
        pfound = 0.25 + 0.75 * 0.5 * 0.85**2
        assert _mean("err(labels=probabilities, max_grade=1)@3", "default", qrels, run) == pytest.approx(err)
        assert _mean("PFound@3", "catboost", qrels, run) == pytest.approx(pfound)
        assert _mean("PFound(going_on=0.5)", "catboost", qrels, run) == pytest.approx(0.25 + 0.75 * 0.5 * 0.25)

    @pytest.mark.parametrize(("run", "expected"), [("ab", 1.0), ("xy", 0.0), ("ax", 1.0), ("xa", 0.0)])
    def test_auc_of_results_without_pairs(self, run, expected):
        ranked = {"q": {name: float(-place) for place, name in enumerate(run)}}
        assert _mean("AUC(pairless=by-hits)", "trec10", {"q": {"a": 1, "b": 1}}, ranked) == expected

    def test_r_precision_over_rankings_with_a_hit(self):
        qrels = {"a": {"x": 1, "y": 1}, "b": {"x": 1}}
        run = {"a": {"x": 2.0, "n": 1.0}, "b": {"n": 1.0}}
        assert _mean("Rprec", "trec10", qrels, run) == 1 / 4
        assert _mean("Rprec(misses=left-out)", "trec10", qrels, run) == 1 / 2


def test_a_profile_that_is_held_to_its_package_has_recordings_of_that_version():
    for tool in tool_names():
        found = tool_of(tool)
        assert (found.held == "package") == (tool in RECORDED), tool
        if tool in RECORDED:
            assert RECORDED[tool]["versions"] == {found.package: found.version}, tool
