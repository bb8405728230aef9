"""Groups of queries: the same cohorts on every road, and tables, comparisons and gates by them."""

import json
from pathlib import Path

import pytest

from rankgauge import Engine, Result, compare, evaluate, judge_gates
from rankgauge.engine import workers
from rankgauge.errors import DataError
from rankgauge.report.markdown import markdown_report

QRELS = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}, "q4": {"a": 1}}
RUN = {"q1": {"a": 1.0}, "q2": {"x": 2.0, "a": 1.0}, "q3": {"a": 1.0}, "q4": {"x": 1.0}}
GROUPS = {"q1": "short", "q2": ["short", "legal"], "q3": "long", "q9": "long"}
# rr: q1 1, q2 1/2, q3 1, q4 0; short .75, legal .5, long 1, none 0
MEANS = {None: 0.0, "legal": 0.5, "long": 1.0, "short": 0.75}
NOTES = {
    "1 of 4 queries has no group in {}, such as 'q4'",
    "1 query of {} is not among those evaluated, such as 'q9'",
}


def means(result: Result) -> dict:
    return {tag: part["rr"].mean for tag, part in result.by_tag().items()}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    qrels = "".join(f"{query} 0 {doc} {grade}\n" for query, docs in QRELS.items() for doc, grade in docs.items())
    run = "".join(
        f"{query} Q0 {doc} {rank} {score} t\n"
        for query, docs in RUN.items()
        for rank, (doc, score) in enumerate(docs.items(), 1)
    )
    samples = "".join(
        json.dumps({"id": query, "expected_output": {"relevant": list(docs)}, "actual_output": list(RUN[query])}) + "\n"
        for query, docs in QRELS.items()
    )
    contents = {"qrels.txt": qrels, "run.txt": run, "samples.jsonl": samples, "groups.json": json.dumps(GROUPS)}
    for name, content in contents.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return {name.partition(".")[0]: tmp_path / name for name in contents}


def test_every_road_has_the_same_groups(files):
    paths = str(files["qrels"]), str(files["run"])
    by_file = evaluate(*paths, "rr", groups=files["groups"])
    evaluation = Engine().dataset(files["samples"]).with_metrics(["rr"]).with_cohorts(groups=files["groups"])
    of_judgments = Engine().dataset(files["qrels"]).with_metrics(["rr"]).with_outputs(files["run"])
    results = [
        evaluate(QRELS, RUN, "rr", groups=GROUPS),
        evaluate(QRELS, runs={"one": RUN, "two": RUN}, metrics="rr", groups=GROUPS)["two"],
        by_file,
        evaluation.run(),
        of_judgments.with_cohorts(groups=GROUPS).run(),
    ]
    for result in results:
        assert means(result) == MEANS
        source = "groups of 4 queries" if "groups of" in " ".join(result.notes) else str(files["groups"])
        assert {note.format(source) for note in NOTES} <= set(result.notes)
    assert by_file.manifest["groups"]["path"] == str(files["groups"])


@pytest.mark.usefixtures("process")
def test_two_workers_know_the_groups(files, monkeypatch):
    monkeypatch.setattr(workers, "ENOUGH", 1)
    evaluation = Engine().dataset(files["samples"]).with_metrics(["rr"]).with_cohorts(groups=files["groups"])
    assert means(evaluation.run(workers=2)) == MEANS


def test_groups_join_the_tags_and_cohorts_that_samples_have():
    sample = {
        "id": "q1",
        "expected_output": {"relevant": ["a"]},
        "actual_output": ["a"],
        "metadata": {"tags": ["faq"], "language": "de"},
    }
    evaluation = Engine().dataset([sample]).with_metrics(["rr"]).with_cohorts("metadata.language")
    assert evaluation.with_cohorts(groups={"q1": ["faq", "short"]}).run().tags == (("faq", "language=de", "short"),)
    grouped = evaluation.with_cohorts(groups={"q1": "short"})
    assert grouped.with_cohorts(["metadata.language"]).run().tags == (("faq", "language=de", "short"),)


def test_they_are_saved_and_kept_when_a_result_is_scored_again(files, tmp_path):
    evaluation = Engine().dataset(files["samples"]).with_metrics(["rr"]).with_cohorts(groups=files["groups"])
    evaluation.run().save(tmp_path / "samples")
    evaluate(str(files["qrels"]), str(files["run"]), "rr", groups=files["groups"]).save(tmp_path / "run")
    for name in ("samples", "run"):
        assert means(Result.load(tmp_path / name)) == MEANS
    again = type(evaluation).of_result(Result.load(tmp_path / "samples"))
    assert means(again.run()) == MEANS


def test_comparisons_reports_and_gates_are_by_group():
    queries = [f"q{place:02}" for place in range(20)]
    qrels = {query: {"a": 1} for query in queries}
    groups = {query: "even" if place % 2 == 0 else "odd" for place, query in enumerate(queries)}
    base = {query: {"a": 1.0} for query in queries}
    new = {query: {"a" if place % 2 else "x": 1.0} for place, query in enumerate(queries)}  # even ones are lost
    results = evaluate(qrels, runs={"base": base, "new": new}, metrics="hit@1", groups=groups)
    cohorts = compare(results)["new"]["hit@1"].cohorts
    assert {cohort.tag: cohort.difference for cohort in cohorts} == {"even": -1.0, "odd": 0.0}
    assert "| even | 10 | 0.0000 |" in markdown_report(results["new"])
    gates = [{"metric": "hit@1", "min": 0.9, "where": f"tags={tag}"} for tag in ("odd", "even")]
    assert [outcome.verdict for outcome in judge_gates(results["new"], gates).outcomes] == ["pass", "fail"]


def test_groups_of_other_queries_are_refused():
    with pytest.raises(DataError, match="no query of groups of 1 query was evaluated: it has 'x1', and the data have"):
        evaluate(QRELS, RUN, "rr", groups={"x1": "short"})
    evaluation = Engine().dataset([{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}]).with_metrics(["rr"])
    result = evaluation.with_cohorts(groups={"x1": "short"}).run()  # which may have been calls that were paid for
    assert "1 of 1 query has no group in groups of 1 query, such as 'q1'" in result.notes
