"""Bounds: against every way of judging the unjudged, one query for each."""

from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rankgauge import evaluate
from rankgauge.errors import ParameterError, PolicyError, ResultError

BINARY = [
    "P@1",
    "P@3",
    "hit@2",
    "RR",
    "recall@2",
    "f1@2",
    "Rprec",
    "AP",
    "map_cut_2",
    "ndcg_any@2",
    "ndcg_any",
    "P(rel=2)@2",
    "rbp(rel=1)",
    "rbp(rel=2, p=0.5)",
    "rbp(rel=2, k=2)",
    "rbp(rel=3)",
]
GRADED = [
    "ndcg@1",
    "ndcg@2",
    "ndcg@3",
    "ndcg",
    "ndcg(gain=exponential)@2",
    "ndcg(discount=log2-from-2)@3",
    "ndcg(ideal=gold)@2",
    "rbp",
    "rbp(p=0.5)",
    "rbp(k=2)",
    "err(max_grade=3)@3",
    "gm_map",
    "dcg@2",
    "dcg(gain=exponential)",
    "cg@3",
    "ndcg(gain=exponential)",
    "ndcg(gain=binary)@2",
    "ndcg(discount=rank)@3",
    "dcg(gain=binary)@3",
    "dcg(discount=rank)@2",
]
DOCUMENTS = "abcdef"
TOP = 3

judgments = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, TOP), min_size=1)
rankings = st.permutations(DOCUMENTS).flatmap(lambda ids: st.integers(0, 5).map(lambda n: ids[:n]))


def in_order(documents):
    return {name: float(-at) for at, name in enumerate(documents)}


def extremes(metric, known, ranking, grades, **options):
    """Return the lowest and the highest score over all ways of giving the unjudged results one of some grades."""
    unjudged = [name for name in ranking if known.get(name, -1) < 0]
    ways = list(product(grades, repeat=len(unjudged)))
    qrels = {f"q{at}": {**known, **dict(zip(unjudged, way, strict=True))} for at, way in enumerate(ways)}
    run = dict.fromkeys(qrels, in_order(ranking))
    (column,) = evaluate(qrels, run, metric, **options).metrics.values()
    return min(column.values), max(column.values)


def one_query(metric, known, ranking, **options):
    """Return the bounds of one query; another one is perfect whatever is judged, and has the top grade."""
    result = evaluate({"q": known, "top": {"z": TOP}}, {"q": in_order(ranking), "top": {"z": 1.0}}, metric, **options)
    (found,) = result.bounds().values()
    own = evaluate({"top": {"z": TOP}}, {"top": {"z": 1.0}}, metric, **options)
    (column,) = own.metrics.values()
    if result.metrics[column.name].info.aggregate == "geometric":
        return [max(value, 1e-5) ** 2 / column.values[0] for value in found]
    return [2 * value - column.values[0] for value in found]


@given(judgments, rankings, st.sampled_from([*BINARY, *GRADED]))
def test_bounds_are_the_extremes_over_all_grades(known, ranking, metric):
    """Three unjudged results and four grades are 64 ways; the worst and the best of these are the bounds."""
    assume(sum(known.get(name, -1) < 0 for name in ranking) <= 3)
    worst, best = extremes(metric, known, ranking, range(TOP + 1))
    if metric == "gm_map":
        worst, best = max(worst, 1e-5), max(best, 1e-5)
    assert one_query(metric, known, ranking) == pytest.approx([worst, best], abs=1e-9)


@given(judgments, rankings, st.sampled_from([*BINARY, "ndcg@2", "rbp", "dcg@2"]))
def test_a_negative_grade_that_counts_as_judged_is_not_varied(known, ranking, metric):
    """Under the default profile it is worth nothing, and judged: bounds are those of a grade of 0."""
    zero = {name: max(grade, 0) for name, grade in known.items()}
    options = {"profile": "default", "policy": {"order": "score", "no_gold": "zero"}}
    assume(any(grade > 0 for grade in known.values()))
    assert one_query(metric, known, ranking, **options) == one_query(metric, zero, ranking, **options)


@pytest.mark.parametrize("metric", ["P(rel=2)@2", "RR(rel=2)", "AP(rel=2)", "rbp(rel=2)", "recall(rel=2)@3"])
def test_no_bound_goes_beyond_where_no_grade_is_relevant(metric):
    """The highest grade is 1, so no judgment makes a result relevant from grade 2 on, until a higher one is given."""
    result = evaluate({"q": {"a": 1}}, {"q": in_order("xa")}, metric)
    ((worst, best),) = result.bounds().values()
    assert worst == best == 0.0
    ((worst, best),) = result.bounds(grade=2).values()
    assert worst == 0.0 < best


@given(judgments, rankings, st.sampled_from(["ndcg@2", "ndcg", "rbp", "err(max_grade=3)@3"]))
def test_grades_in_between_go_beyond_no_bound(known, ranking, metric):
    assume(sum(known.get(name, -1) < 0 for name in ranking) <= 2)
    worst, best = extremes(metric, known, ranking, [step / 2 for step in range(2 * TOP + 1)])
    low, high = one_query(metric, known, ranking)
    assert low <= worst + 1e-9
    assert best <= high + 1e-9


def test_everything_relevant_is_not_the_best_case_of_average_precision():
    """
    One relevant document at rank 1, then one judged 0, then one unjudged.

    AP is 1 while the last is not relevant, and (1 + 2/3) / 2 = .833 if it is: the best case is the score itself.
    """
    result = evaluate({"q": {"a": 1, "n": 0}}, {"q": in_order("anx")}, "AP")
    ((worst, best),) = result.bounds().values()
    assert best == 1.0
    assert worst == pytest.approx((1 + 2 / 3) / 2, rel=1e-15)


def test_the_best_case_of_graded_ndcg_may_need_a_grade_in_between():
    """
    Grade 2 at rank 1, an unjudged result at rank 2, and a document of grade 1 that was not found; grades go to 3.

    With d = 1/log2(3): grade 0 gives 2/(2+d) = .760, 1 gives (2+d)/(2+d+.5) = .840, 2 gives (2+2d)/(2+2d+.5) = .867,
    and 3 gives (2+3d)/(3+2d+.5) = .818.
    """
    d = 0.6309297535714574
    result = evaluate({"q": {"a": 2, "b": 1}, "r": {"a": 3}}, {"q": in_order("ax"), "r": in_order("a")}, "ndcg")
    found = result.bounds()["ndcg"]
    assert found.best == pytest.approx(((2 + 2 * d) / (2.5 + 2 * d) + 1) / 2, rel=1e-12)
    assert found.worst == pytest.approx((2 / (2 + d) + 1) / 2, rel=1e-12)


def test_unjudged_results_below_the_cutoff_count_against_recall():
    """Found: one of one; two unjudged below the cutoff could make that one of three. Within it nothing is open."""
    result = evaluate({"q": {"a": 1, "n": 0}}, {"q": in_order("anxy")}, "recall@2")
    assert result.bounds()["recall@2"] == (pytest.approx(1 / 3, rel=1e-15), 1.0)


def test_a_higher_grade_may_be_given():
    result = evaluate({"q": {"a": 1}}, {"q": in_order("xa")}, "ndcg(gain=exponential)@2")
    (plain,), (wide,) = result.bounds().values(), result.bounds(grade=4).values()
    assert plain.best == wide.best == 1.0
    assert wide.worst == plain.worst
    with pytest.raises(ParameterError, match="the highest grade of a document is 1 in the judgments"):
        result.bounds(grade=0.5)


def test_judgments_without_anything_relevant_leave_room_for_it():
    result = evaluate({"q": {"a": 0}}, {"q": in_order("ax")}, ["P@2", "ndcg@2", "err@2", "rbp(p=0.5)"])
    found = result.bounds()
    assert [worst for worst, _ in found.values()] == [0.0] * 4
    second = 1 / 1.584962500721156  # nDCG of one relevant document at rank 2
    assert [best for _, best in found.values()][:2] == [0.5, pytest.approx(second, rel=1e-12)]


def test_the_scale_of_err_is_that_of_the_scores():
    """Grades go to 2, so that R(2) = 3/4: x at rank 1, then a, is 3/4 + (1/4)(3/4)/2; without x it is 3/8."""
    result = evaluate({"q": {"a": 2}}, {"q": in_order("xa")}, "err@2")
    (plain,), (wide,) = result.bounds().values(), result.bounds(grade=4).values()
    assert plain == wide == (0.375, 0.84375)


def test_queries_that_count_as_zero_stay_in_the_mean_and_the_others_out():
    """q has nothing relevant, m is missing from the run: under trec10 both count, and only q can become better."""
    qrels, run = {"a": {"x": 1}, "m": {"x": 1}, "q": {"x": 0}}, {"a": in_order("x"), "q": in_order("y")}
    assert list(evaluate(qrels, run, "RR").bounds().values()) == [(pytest.approx(1 / 3), pytest.approx(2 / 3))]
    assert list(evaluate(qrels, run, "RR", profile="default").bounds().values()) == [(0.5, 0.5)]


def test_bounds_do_not_depend_on_how_many_queries_are_laid_out_at_once(monkeypatch):
    qrels = {f"q{at:03d}": {"a": 1 + at % 3, "b": 0} for at in range(200)}
    run = {name: in_order("abcdefgh"[at % 5 : 3 + at % 6]) for at, name in enumerate(qrels)}
    result = evaluate(qrels, run, ["ndcg@3", "AP", "Rprec"])
    whole = result.bounds()
    monkeypatch.setattr("rankgauge.explain.bounds._AT_ONCE", 7)
    assert result.bounds() == whole


@pytest.mark.parametrize(
    "metric",
    ["bpref", "ndcg(ideal=retrieved)@2", "judged@5", "set_P", "ndcg(clamp=true)@2", "ndcg(ideal=gold-at-retrieved)@2"],
)
def test_no_bounds_are_known_for_other_metrics(metric):
    result = evaluate({"q": {"a": 1}}, {"q": in_order("xa")}, metric)
    assert list(result.bounds().values()) == [None]


@pytest.mark.parametrize(("option", "value"), [("judged_only", True), ("ties", "average"), ("duplicates", "keep")])
def test_policies_that_leave_no_unjudged_ranks(option, value):
    result = evaluate({"q": {"a": 1}}, {"q": in_order("xa")}, "RR", policy={option: value})
    with pytest.raises(PolicyError, match=option):
        result.bounds()


def test_results_of_samples_have_no_bounds(engine):
    result = engine.dataset([{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}]).with_metrics("MRR").run()
    with pytest.raises(ResultError, match="it is of samples, or from a baseline file"):
        result.bounds()
