"""Reading the data of a result again for a report: the lists that were scored, and what adds up to every score."""

from __future__ import annotations

import numpy as np
import pytest

import rankgauge
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.errors import ResultError
from rankgauge.features.html.rereading import TOP, reread

CATALOG = Catalog.discover(own_only=True)
METRICS = ["ndcg@10", "ndcg", "RR", "AP", "P@5", "recall@10", "hit@3", "err@10", "P(rel=2)@5", "bpref", "rbp"]


def drawn(seed: int = 0, queries: int = 60) -> tuple[dict, dict]:
    """Return judgments and a run with ties, unjudged documents, and a query that the run lacks."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for number in range(queries):
        pool = [f"d{each}" for each in range(60)]
        qrels[f"q{number}"] = {name: int(rng.integers(0, 4)) for name in rng.choice(pool, 12, replace=False)}
        order = rng.permutation(pool)[:40]
        run[f"q{number}"] = {name: float(rng.integers(0, 15)) for name in order}
    del run["q7"]
    return qrels, run


def items_of(lists, sample):
    items = lists.items
    return list(items.ids[items.starts[sample] : items.starts[sample + 1]])


def test_the_lists_of_a_run_are_ranked_as_they_were_scored():
    qrels, run = drawn()
    found = reread(rankgauge.evaluate(qrels, run, ["ndcg@10"], catalog=CATALOG), None, {}).lists
    lists = found.columns["ndcg@10"].lists

    for place, query in enumerate(found.sample_ids):
        # trec_eval's order: by score, then by document, both descending.
        best = sorted(run.get(query, {}).items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
        assert items_of(lists, place) == [name for name, _ in best[:TOP]]


@pytest.mark.parametrize("policy", [{}, {"ties": "given"}, {"judged_only": True}, {"depth": 7}])
def test_what_ranks_add_sums_to_every_score(policy):
    qrels, run = drawn()
    result = rankgauge.evaluate(qrels, run, METRICS, policy=policy, catalog=CATALOG)
    found = reread(result, None, {}).lists

    for name, facts in found.columns.items():
        total = np.zeros(len(result))
        np.add.at(total, facts.sums.sample, facts.sums.value)
        known = ~np.isnan(facts.sums.divisor)
        np.testing.assert_allclose(total[known], result.metrics[name].values[known], rtol=1e-9, err_msg=name)
        assert known.any() or name == "bpref"


def test_a_condensed_list_holds_judged_documents_only():
    qrels, run = drawn()
    result = rankgauge.evaluate(qrels, run, ["P@5"], policy={"judged_only": True}, catalog=CATALOG)
    found = reread(result, None, {}).lists
    lists = found.columns["p@5"].lists

    assert all(set(items_of(lists, place)) <= set(qrels[query]) for place, query in enumerate(found.sample_ids))
    assert any(items_of(lists, place) for place in range(len(result)))


def test_samples_and_runs_give_the_same_lists():
    qrels, run = drawn()
    samples = [
        {
            "id": query,
            "expected_output": {"relevant": grades},
            **({"actual_output": [{"id": d, "score": s} for d, s in run[query].items()]} if query in run else {}),
        }
        for query, grades in qrels.items()
    ]
    engine = Engine(catalog=CATALOG)
    of_samples = engine.dataset(samples).with_metrics(["ndcg@10"]).with_profile("trec10").run()
    of_run = rankgauge.evaluate(qrels, run, ["ndcg@10"], catalog=CATALOG)
    one, other = (reread(result, None, {}).lists for result in (of_samples, of_run))
    mine, its = (found.columns["ndcg@10"].lists for found in (one, other))

    places = {query: place for place, query in enumerate(other.sample_ids)}
    for place, query in enumerate(one.sample_ids):
        assert items_of(mine, place) == items_of(its, places[query])


def test_only_the_wanted_samples_are_kept_in_their_order():
    qrels, run = drawn()
    result = rankgauge.evaluate(qrels, run, ["RR"], catalog=CATALOG)
    every, some = reread(result, None, {}).lists, reread(result, ["q9", "q10"], {}).lists

    assert list(some.sample_ids) == ["q9", "q10"]
    place = list(every.sample_ids).index("q9")
    assert items_of(some.columns["rr"].lists, 0) == items_of(every.columns["rr"].lists, place)


def test_other_metrics_come_with_the_same_reading_and_those_that_cannot_be_are_left_out():
    qrels, run = drawn()
    result = rankgauge.evaluate(qrels, run, ["RR"], catalog=CATALOG)
    found = reread(result, None, {"precision": ["P@5", "P@10"], "texts": ["answer-containment-at-5"]}).others

    again = rankgauge.evaluate(qrels, run, ["P@5", "P@10"], catalog=CATALOG)
    assert [column.mean for column in found["precision"]] == [again["P@5"].mean, again["P@10"].mean]
    assert set(found) == {"precision"}


def test_data_that_give_other_scores_are_refused(tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("q 0 a 1\n", encoding="utf-8")
    run.write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\n", encoding="utf-8")
    result = rankgauge.evaluate(qrels, run, ["RR"], catalog=CATALOG)
    run.write_text("q Q0 b 1 2 t\nq Q0 a 2 1 t\n", encoding="utf-8")

    with pytest.raises(
        ResultError, match=r"'rr' of sample 'q' is 0.5 now, and the result has 1.0: the data have changed"
    ):
        reread(result, None, {})


def test_scores_that_differ_by_more_than_rounding_are_refused(tmp_path):
    """The relevant document moves from rank 1000 to 1001, which changes its reciprocal rank by a millionth."""
    run, names = tmp_path / "run", [f"x{number}" for number in range(1001)]
    names[999] = "a"
    run.write_text("".join(f"q Q0 {name} 0 {-at} t\n" for at, name in enumerate(names)), encoding="utf-8")
    result = rankgauge.evaluate({"q": {"a": 1}}, run, ["RR"], catalog=CATALOG)
    names[999:] = ["x999", "a"]
    run.write_text("".join(f"q Q0 {name} 0 {-at} t\n" for at, name in enumerate(names)), encoding="utf-8")

    with pytest.raises(ResultError, match="the data have changed"):
        reread(result, None, {})
