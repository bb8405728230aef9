"""Condensed lists: what is left when unjudged documents are dropped."""

from rankgauge import Result, evaluate


def in_order(documents):
    return {name: float(-at) for at, name in enumerate(documents)}


def test_unjudged_documents_do_not_push_others_down():
    """x and y are unjudged, so that a moves from rank 3 to 1; n was judged and stays in its way for r."""
    qrels = {"q": {"a": 1}, "r": {"a": 1, "n": 0, "p": -1}}
    result = evaluate(qrels, {"q": in_order("xya"), "r": in_order("npa")}, ["RR", "P@1"])
    found = result.condensed()
    assert found["RR"].values.tolist() == [1.0, 0.5]
    assert found["P@1"].values.tolist() == [1.0, 0.0]
    assert found.sample_ids == result.sample_ids


def test_they_mean_what_the_policy_judged_only_means():
    qrels, run = {"q": {"a": 1}}, {"q": in_order("xa")}
    found = evaluate(qrels, run, ["ndcg@5", "AP"]).condensed()
    asked = evaluate(qrels, run, ["ndcg@5", "AP"], policy={"judged_only": True})
    assert {name: column.info.fingerprint for name, column in found.metrics.items()} == {
        name: column.info.fingerprint for name, column in asked.metrics.items()
    }
    assert found.manifest["policy"] == asked.manifest["policy"]


def test_a_saved_result_finds_its_run_again(tmp_path):
    (tmp_path / "qrels.txt").write_text("q 0 a 1\n", encoding="utf-8")
    (tmp_path / "run.txt").write_text("q Q0 x 1 2 t\nq Q0 a 2 1 t\n", encoding="utf-8")
    evaluate(tmp_path / "qrels.txt", tmp_path / "run.txt", "RR").save(tmp_path / "saved")
    assert Result.load(tmp_path / "saved").condensed()["RR"].mean == 1.0
