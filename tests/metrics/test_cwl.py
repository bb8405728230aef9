"""C/W/L measures: by hand, against a restatement, and against figures of cwl_eval."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings

from draws import draws
from oracle import reading
from oracle.strategies import cases, cutoffs
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.errors import PlanError
from tables import rows

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
GOLD = {"a": 3, "b": 1, "c": 0, "d": 2, "e": 1}
RANKING = ["x", "b", "a", "c", "d"]

CWL_EVAL = {
    "NERR8(max_grade=3)@10": 0.375,
    "NERR9(max_grade=3)@10": 0.2258064516129032,
    "NERR10(max_grade=3, p=0.8)": 0.3113772455089821,
    "NERR11(max_grade=3, goal=2)": 0.2631981637337415,
    "INST(max_grade=3, goal=2)": 0.21049636939726651,
    "INSQ(max_grade=3, goal=2)": 0.18218868476248773,
    "BPM(max_grade=3, goal=2)@10": 0.4,
    "SDCG(max_grade=3)@10": 0.21309544286797227,
}
"""What ir_measures 0.4.3 with cwl-eval 1.0.12 gives for `RANKING`, a score lower at each rank, and `GOLD`."""


def value(metric, gold=GOLD, ranking=RANKING, policy="default"):
    sample = {"id": "q", "expected_output": {"relevant": gold}, "actual_output": ranking}
    (only,) = ENGINE.dataset([]).with_metrics([metric]).with_profile(policy).score(sample).values()
    return only.value


@rows(("metric", "expected"), CWL_EVAL.items())
def test_figures_of_cwl_eval(metric, expected):
    assert value(metric) == pytest.approx(expected, rel=1e-12)


def test_scaled_dcg_worked_out_by_hand():
    # Ranks 2 and 3 hold gains 1/3 and 1; log2(3) = 1.585, log2(4) = 2.
    best = 1 + 1 / math.log2(3) + 1 / 2

    assert value("SDCG(max_grade=3)@3") == pytest.approx((1 / 3 / math.log2(3) + 1 / 2) / best, rel=1e-12)


def test_a_reader_stops_where_the_goal_is_reached():
    # Read are x, b and a, with 4/3 of the goal of 1.
    assert value("BPM(max_grade=3)@10") == pytest.approx((1 / 3 + 1) / 3, rel=1e-12)
    assert value("BPM(max_grade=3)@2") == pytest.approx((1 / 3) / 2, rel=1e-12)


def test_who_is_satisfied_at_once_reads_nothing_else():
    assert value("NERR8(max_grade=3)@10", ranking=["a", "b", "d"]) == 1.0


def test_grades_at_the_lowest_are_worth_nothing():
    assert value("SDCG(min_grade=1, max_grade=3)@2") == 0.0
    assert value("SDCG(min_grade=1, max_grade=3)@3") > 0.0


def test_the_highest_grade_is_inferred_from_all_samples():
    samples = [
        {"id": "low", "expected_output": {"relevant": {"a": 1}}, "actual_output": ["a"]},
        {"id": "high", "expected_output": {"relevant": {"a": 2}}, "actual_output": ["a"]},
    ]
    result = ENGINE.dataset(samples).with_metrics(["NERR8@1"]).run()

    assert result["NERR8@1"].values.tolist() == [0.5, 1.0]
    assert any("max_grade was inferred" in note for note in result.notes)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("INST(goal=0)", "goal"),
        ("INSQ(goal=-1)", "goal"),
        ("NERR10(p=1)", "probability"),
        ("SDCG(min_grade=2, max_grade=2)@3", "above min_grade"),
    ],
)
def test_parameters_out_of_bounds_are_refused(metric, message):
    with pytest.raises(PlanError, match=message):
        ENGINE.dataset([]).with_metrics([metric]).plan()


def test_a_grade_above_the_scale_counts_as_its_top():
    def scored(grade):
        sample = {"id": "q", "expected_output": {"relevant": {"a": grade, "b": 1}}, "actual_output": ["b", "a"]}
        (only,) = ENGINE.dataset([]).with_metrics(["INST(max_grade=2)"]).score(sample).values()
        return only

    assert scored(3) == scored(2)
    assert scored(3).status == "scored"


@pytest.mark.parametrize(
    ("metric", "continues"),
    [
        ("NERR10(max_grade=4)", reading.nerr10(0.9)),
        ("NERR11(max_grade=4, goal=1.5)", reading.nerr11(1.5)),
        ("INST(max_grade=4, goal=9)", reading.inst(9.0)),
        ("INSQ(max_grade=4)", reading.insq(1.0)),
    ],
)
@settings(max_examples=draws(40))
@given(case=cases())
def test_a_reader_without_a_cutoff_agrees(metric, continues, case):
    ranking, gold = case
    expected = reading.expected_gain(ranking, gold, continues, top=4.0)

    assert (None if expected is None else pytest.approx(expected, rel=1e-12)) == value(metric, gold, ranking)


@pytest.mark.parametrize(
    ("name", "continues"),
    [
        ("NERR8(max_grade=4)", reading.nerr8),
        ("NERR9(max_grade=4)", reading.nerr9),
        ("BPM(max_grade=4, goal=1.5)", reading.bpm(1.5)),
        ("SDCG(max_grade=4)", reading.sdcg),
    ],
)
@settings(max_examples=draws(40))
@given(case=cases(), k=cutoffs())
def test_a_reader_with_a_cutoff_agrees(name, continues, case, k):
    ranking, gold = case
    expected = reading.expected_gain(ranking, gold, continues, k=k, top=4.0)

    assert (None if expected is None else pytest.approx(expected, rel=1e-12)) == value(f"{name}@{k}", gold, ranking)


EXPECTATIONS = {
    ("model=nerr8", "@10"): (1.0, 2.6666666666666665, 2.666666666666667, 0.625),
    ("model=nerr9", "@10"): (0.38888888888888884, 1.7222222222222223, 1.7222222222222225, 0.7741935483870968),
    ("model=nerr10, p=0.8", ""): (0.6933333333333335, 2.2266666666666666, 2.2266666666666666, 0.688622754491018),
    ("model=nerr11, goal=2", ""): (0.5096296296296299, 1.9362962962962966, 1.9362962962962966, 0.7368018362662585),
    ("model=inst, goal=2", ""): (0.789155682096636, 3.7414691494182777, 3.7490952291279926, 0.5441761888554382),
    ("model=insq, goal=2", ""): (0.8244126989165962, 4.509350333872503, 4.525223097796884, 0.6329517858472012),
    ("model=bpm, goal=2", "@10"): (2.0, 5.0, 5.0, 0.37777777777777766),
    ("model=sdcg", "@10"): (0.9682117893468468, 4.543559338088344, 4.543559338088345, 0.5711601909662334),
    ("model=rbp, p=0.8", ""): (1.1797333333333335, 5.000000000000002, 5.000000000000002, 0.52768),
    ("model=precision", "@10"): (2.0, 10.0, 10.0, 0.6000000000000001),
}
"""What cwl-eval 1.0.12 gives for `RANKING` and `GOLD` as ETU, ETC, EI and the residual of EU, with costs of 1."""


@rows(("reader", "expected"), EXPECTATIONS.items())
def test_expectations_of_cwl_eval(reader, expected):
    params, at = reader
    names = ("ETU", "ETC", "expected_items", "EU_resid")

    found = [value(f"{name}({params}, max_grade=3){at}") for name in names]

    assert found == pytest.approx(list(expected), rel=1e-9)


def test_expectations_worked_out_by_hand():
    # A reader who goes on from each rank with 1/2 and stops at rank 3: stops with 1/2, 1/4, 1/4 at ranks 1, 2, 3.
    assert value("ETU(p=0.5, max_grade=3)@3") == pytest.approx(1 / 4 * 1 / 3 + 1 / 4 * 4 / 3)
    assert value("ETC(p=0.5, max_grade=3)@3") == pytest.approx(1 / 2 + 2 / 4 + 3 / 4)
    assert value("expected_items(p=0.5, max_grade=3)@3") == pytest.approx(1 + 1 / 2 + 1 / 4)
    # Only x, at rank 1, is unjudged; below the end nobody reads.
    assert value("EU_resid(p=0.5, max_grade=3)@3") == pytest.approx(1 / (1 + 1 / 2 + 1 / 4))


def test_a_reader_reads_also_where_nothing_is_relevant():
    gold = {"a": 0}

    assert value("ETC(model=precision, max_grade=3)@4", gold=gold, ranking=[]) == 4.0
    assert value("ETU(max_grade=3)", gold=gold) is None
    assert value("EU_resid(max_grade=3)", gold=gold, ranking=["a"]) > 0.8
