"""Evaluating a few queries in a loop."""

import rankgauge
from rankgauge.engine.reopen import run_evaluation_of
from roads.road import in_columns

QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
RUN = {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"x": 2.0, "a": 1.0}}


def test_the_manifest_is_of_the_judgments_as_they_were(catalog):
    qrels = {query: dict(judged) for query, judged in QRELS.items()}
    result = rankgauge.evaluate(qrels, RUN, "RR", catalog=catalog)
    qrels["q1"]["c"] = 1
    qrels["q3"] = {"a": 1}
    expected = in_columns(QRELS, RUN, "RR", catalog=catalog).manifest["dataset"]
    assert result.manifest["dataset"] == expected
    assert run_evaluation_of(result).qrels.n_queries == 2


def test_results_of_other_sizes_say_of_how_many_samples_they_are(catalog):
    for size in (1, 2, 1):
        qrels = dict(list(QRELS.items())[:size])
        info = rankgauge.evaluate(qrels, RUN, "P@2", catalog=catalog)["P@2"].info
        assert info.k_sources == {"pinned": size}


def test_several_runs_are_evaluated_against_the_same_judgments(catalog):
    """The second run has only `x` on top of q1."""
    other = {"q1": {"x": 2.0, "a": 1.0}, "q2": {"a": 1.0}}
    results = rankgauge.evaluate(QRELS, runs={"base": RUN, "new": other}, metrics=["RR", "P@1"], catalog=catalog)
    assert {name: result["RR"].values.tolist() for name, result in results.items()} == {
        "base": [1.0, 0.5],
        "new": [0.5, 1.0],
    }
    assert [result["P@1"].mean for result in results.values()] == [0.5, 0.5]


def test_a_few_queries_are_explained_and_compared(catalog):
    results = rankgauge.evaluate(QRELS, runs={"base": RUN, "new": RUN}, metrics="AP", catalog=catalog)
    assert rankgauge.compare(results, baseline="base")["new"]["ap"].difference == 0.0
    assert results["base"].explain("q1").score == results["base"]["AP"].values[0]
