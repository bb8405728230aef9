"""`rankgauge compare`: runs, result folders, baselines and outputs files, and what it refuses."""

import csv
import io
import json

import pytest

from rankgauge import Result, evaluate, save_baseline

QUERIES = [f"q{place:02}" for place in range(12)]
QRELS = "".join(f"{query} 0 a 1\n" for query in QUERIES)
BASE = "".join(f"{query} Q0 {'a' if place < 3 else 'x'} 1 1 base\n" for place, query in enumerate(QUERIES))
GOOD = "".join(f"{query} Q0 {'a' if place < 10 else 'x'} 1 1 good\n" for place, query in enumerate(QUERIES))
# 7 of 12 queries are won and none is lost: p is 2 / 2**7, which is exact


@pytest.fixture
def files(write):
    return write("qrels.txt", QRELS), write("base.run", BASE), write("good.run", GOOD)


@pytest.fixture
def folders(files, tmp_path):
    """Return result folders of the two runs."""
    found = []
    for run in files[1:]:
        folder = tmp_path / run.removesuffix(".run")
        evaluate(str(files[0]), str(run), ["P@1", "AP"]).save(folder)
        found.append(folder)
    return found


def test_runs_are_compared_by_judgments(rankgauge, files):
    done = rankgauge("compare", "--qrels", files[0], "-m", "P@1", files[1], files[2])
    assert done.code == 0
    first, *rest = done.out.splitlines()
    assert first.startswith("good.run is better: p@1 +0.583, 95 % CI +0.256 to +0.911")
    assert any("0.0156" in line for line in rest)
    assert "note: only 7 of 12 pairs differ, so a sign-flip test cannot give p < 0.01562 here" in rest


def test_json_is_json_only(rankgauge, files):
    done = rankgauge("compare", "--qrels", files[0], "-m", "P@1", files[1], files[2], "--json", "--seed", "4")
    found = json.loads(done.out)
    assert (found["baseline"], found["seed"]) == ("base.run", 4)
    metric = found["comparisons"][0]["metrics"]["p@1"]
    assert (metric["p"], metric["wins"], metric["ties"], metric["losses"]) == (2 / 2**7, 7, 5, 0)
    assert metric["baseline_mean"] == 0.25


def test_queries_of_runs_are_weighed_by_a_file(rankgauge, files, write):
    """The base run finds queries 0 to 2, the new one 0 to 9; query 0 weighs 4, and the other eleven 1."""
    weights = write(
        "weights.txt", "".join(f"{query} {4 if place == 0 else 1}\n" for place, query in enumerate(QUERIES))
    )
    asked = ("compare", "--qrels", files[0], "-m", "P@1", *files[1:], "--weights", weights)
    metric = json.loads(rankgauge(*asked, "--json").out)["comparisons"][0]["metrics"]["p@1"]
    assert (metric["baseline_mean"], metric["mean"]) == (6 / 15, 13 / 15)


def test_weights_of_saved_results_are_those_that_they_have(rankgauge, folders, write):
    done = rankgauge("compare", *folders, "--weights", write("weights.txt", "q00 1\n"))
    assert done.code == 2
    assert "--weights is for what is scored now; results have the weights that they were saved with" in done.err


def test_options_of_trec_decide_how_runs_are_judged(rankgauge, files):
    done = rankgauge("compare", "--qrels", files[0], "-m", "P@1", "-l", "2", files[1], files[2], "--json")
    assert json.loads(done.out)["comparisons"][0]["metrics"]["p@1"]["baseline_mean"] == 0.0


def test_metrics_of_intents_see_the_intents_of_judgments(rankgauge, write):
    qrels = write("intents.txt", "q1 1 a 1\nq1 2 b 1\nq2 1 a 1\nq2 2 c 1\n")
    runs = write("one.run", "q1 Q0 a 1 1 t\nq2 Q0 c 1 1 t\n"), write("two.run", "q1 Q0 x 1 1 t\nq2 Q0 a 1 1 t\n")
    done = rankgauge("compare", "--qrels", qrels, *runs, "-m", "alpha_ndcg@5", "--json")
    alone = rankgauge("trec", qrels, runs[0], "-m", "alpha_ndcg@5", "--json").json
    found = done.json["comparisons"][0]["metrics"]["alpha_ndcg@5"]
    assert found["baseline_mean"] == alone["metrics"]["alpha_ndcg@5"]["mean"] == pytest.approx(0.61315, abs=1e-5)
    folders = [rankgauge("trec", qrels, run, "-m", "alpha_ndcg@5", "-o", run[:3]) and run[:3] for run in runs]
    again = rankgauge("compare", *folders, "--condensed", "--json")
    assert again.json["comparisons"][0]["metrics"]["alpha_ndcg@5"]["baseline_mean"] == found["baseline_mean"]


def test_result_folders(rankgauge, folders):
    done = rankgauge("compare", *folders, "--json")
    (only,) = json.loads(done.out)["comparisons"]
    assert (only["run"], list(only["metrics"])) == ("good", list(Result.load(folders[0]).metrics))
    done = rankgauge("compare", *folders, "-m", "P_1", "--json")
    assert list(json.loads(done.out)["comparisons"][0]["metrics"]) == ["p@1"]


def test_a_baseline_file_against_a_result_folder(rankgauge, folders, tmp_path):
    path = tmp_path / "main.json"
    save_baseline({"runs": Result.load(folders[0])}, path)
    done = rankgauge("compare", path, folders[1], "-m", "P@1", "--json")
    assert json.loads(done.out)["baseline"] == "main.json"
    assert json.loads(done.out)["comparisons"][0]["metrics"]["p@1"]["wins"] == 7


def test_a_baseline_of_several_datasets_needs_a_name(rankgauge, folders, tmp_path):
    path = tmp_path / "main.json"
    save_baseline({"one": Result.load(folders[0]), "two": Result.load(folders[1])}, path)
    done = rankgauge("compare", path, folders[1])
    assert (done.code, done.err.count("name one with --dataset: one, two")) == (2, 1)
    done = rankgauge("compare", path, path, "--dataset", "tow")
    assert (done.code, done.err.count("has no dataset 'tow' (did you mean 'two'?)")) == (2, 1)
    assert rankgauge("compare", path, path, "--dataset", "two").code == 0


def test_outputs_files_of_a_config(rankgauge, write):
    rows = [{"id": query, "expected_output": ["a"], "metadata": {"source": query[:2]}} for query in QUERIES]
    write("samples.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    config = write(
        "config.yaml", "version: 1\ndatasets:\n  mine:\n    path: samples.jsonl\nmetrics:\n  use: [{metric: hit@1}]\n"
    )
    first = write("first.json", json.dumps({query: ["x"] for query in QUERIES}))
    second = write("second.json", json.dumps({query: ["a"] for query in QUERIES}))
    done = rankgauge("compare", "--config", config, first, second, "--json")
    assert json.loads(done.out)["comparisons"][0]["metrics"]["hit@1"]["p"] == 2 / 2**12
    done = rankgauge("compare", "--config", config, first, second, "--json", "--cluster", "source")
    assert (json.loads(done.out)["cluster"], done.code) == ("source", 0)
    assert json.loads(done.out)["comparisons"][0]["metrics"]["hit@1"]["p"] == 2 / 2**2
    done = rankgauge("compare", "--config", config, first, second, "--dataset", "mien")
    assert (done.code, done.err.count("has no dataset 'mien' (did you mean 'mine'?)")) == (2, 1)


def test_outputs_of_a_data_file(rankgauge, write):
    """The samples have the outputs of BASE, 3 hits of 12; NEW hits 10; sample 0 weighs 4 and the others 1."""
    rows = [
        {
            "id": query,
            "expected_output": ["a"],
            "actual_output": ["a" if place < 3 else "x"],
            "metadata": {"weight": 4 if place == 0 else 1},
        }
        for place, query in enumerate(QUERIES)
    ]
    data = write("samples.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    found = {query: ["a" if place < 10 else "x"] for place, query in enumerate(QUERIES)}
    new = write("new.json", json.dumps(found))
    given = ("compare", "--data", data, data, new, "--json")
    metric = json.loads(rankgauge(*given, "-m", "hit@1").out)["comparisons"][0]["metrics"]["hit@1"]
    assert (metric["baseline_mean"], metric["mean"], metric["p"]) == (3 / 12, 10 / 12, 2 / 2**7)
    weighed = rankgauge(*given, "-m", "hit@1", "--weights", "weight", "--test", "bootstrap-bca")
    metric = json.loads(weighed.out)["comparisons"][0]["metrics"]["hit@1"]
    assert (metric["baseline_mean"], metric["mean"]) == (6 / 15, 13 / 15)
    gate = rankgauge(
        *given, "-m", "retrieval-hit-at-k", "-k", "1", "--gate", "hit@1 max_drop 0.01", "--profile", "haystack"
    )
    assert (gate.code, json.loads(gate.out)["comparisons"][0]["metrics"]["hit@1"]["mean"]) == (0, 10 / 12)


def test_records_of_another_tool_are_compared(rankgauge, write):
    """BASE finds none of both contexts, NEW one of them."""
    record = {"user_input": "who?", "reference_contexts": ["the first text", "the second text"]}
    data = write("gold.jsonl", json.dumps(record | {"retrieved_contexts": ["nothing of it"]}) + "\n")
    new = write("new.jsonl", json.dumps(record | {"retrieved_contexts": ["the first text"]}) + "\n")
    given = ("compare", "--data", data, "--preset", "ragas", "-m", "recall@5", data, new, "--json")
    metric = json.loads(rankgauge(*given).out)["comparisons"][0]["metrics"]["recall@5"]
    assert (metric["baseline_mean"], metric["mean"]) == (0, 1 / 2)


def test_ids_that_changed_are_told_beside_the_numbers(rankgauge, files, write):
    """All of ten relevant documents are lost, and no document of the new run was seen before."""
    moved = write("moved.run", GOOD.replace("Q0 ", "Q0 chunk-"))
    done = rankgauge("compare", "--qrels", files[0], "-m", "P@1", files[2], files[1], moved)
    assert (done.code, done.err.count("the ids changed, not the ranking")) == (0, 1)
    assert "moved.run: the ids changed, not the ranking: 100%" in done.err
    assert "moved.run is worse" in done.out
    for run in (files[2], moved):
        assert rankgauge("trec", files[0], run, "-m", "P@1", "--save-baseline", f"{run}.json").code == 0
    done = rankgauge("compare", f"{files[2]}.json", f"{moved}.json")
    assert "moved.run.json: the ids changed, not the ranking: 100%" in done.err


def test_the_same_run_twice_is_no_division_by_zero(rankgauge, files):
    done = rankgauge("compare", "--qrels", files[0], "-m", "P@1", files[1], files[1])
    assert done.code == 0
    assert done.out.startswith("base.run (2) and base.run score the same: p@1, 12 pairs\n")


def test_several_runs_and_all_pairs(rankgauge, files, write):
    third = write("third.run", BASE.replace("base", "third"))
    given = ("compare", "--qrels", files[0], "-m", "P@1", *files[1:], third, "--json")
    found = json.loads(rankgauge(*given, "--all-pairs").out)["comparisons"]
    assert [(each["baseline"], each["run"]) for each in found] == [
        ("base.run", "good.run"),
        ("base.run", "third.run"),
        ("good.run", "third.run"),
    ]
    assert len(json.loads(rankgauge(*given).out)["comparisons"]) == 2


def test_clusters_of_queries_come_from_a_file(rankgauge, files, write):
    clusters = write("clusters.txt", "".join(f"{query} c{place // 2}\n" for place, query in enumerate(QUERIES)))
    done = rankgauge("compare", "--qrels", files[0], "-m", "P@1", *files[1:], "--json", "--cluster", clusters)
    assert json.loads(done.out)["comparisons"][0]["metrics"]["p@1"]["p"] == 2 / 2**4
    bad = write("bad.txt", "q00 c1\n\nq01\n")
    done = rankgauge("compare", "--qrels", files[0], "-m", "P@1", *files[1:], "--cluster", bad)
    assert (done.code, done.err.count("bad.txt, line 3: it has no id and cluster")) == (2, 1)
    done = rankgauge("compare", "--qrels", files[0], "-m", "P@1", *files[1:], "--cluster", "source")
    assert (done.code, done.err.count("queries of a TREC run have no metadata")) == (2, 1)


@pytest.mark.parametrize("form", ["markdown", "csv", "latex"])
def test_other_formats(rankgauge, files, form):
    done = rankgauge("compare", "--qrels", files[0], "-m", "P@1", *files[1:], "-f", form)
    begin = {"markdown": "# Comparison with base.run\n", "csv": "run,baseline,metric,", "latex": "% p: sign-flip"}
    assert done.out.startswith(begin[form])
    if form == "csv":
        assert len(list(csv.reader(io.StringIO(done.out)))) == 2


def test_bits_are_the_same_again(rankgauge, files):
    given = ("compare", "--qrels", files[0], "-m", "P@1", *files[1:], "--json", "--test", "bootstrap-bca")
    assert rankgauge(*given, "--resamples", "999").out == rankgauge(*given, "--resamples", "999").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--qrels", "Q", "-m", "P@1", "BASE"], "takes two or more systems, and only BASE is given"),
        (["--qrels", "Q", "BASE", "GOOD"], "name the metrics to compare runs by, such as -m ndcg@10 -m AP"),
        (["--qrels", "Q", "--config", "C", "-m", "P@1", "BASE", "GOOD"], "give one of --qrels"),
        (["--data", "Q", "--config", "C", "-m", "P@1", "BASE", "GOOD"], "give one of --qrels"),
        (["--data", "Q", "BASE", "GOOD"], "name the metrics to compare outputs by, such as -m recall@5"),
        (["--data", "Q", "--dataset", "d", "-m", "P@1", "BASE", "GOOD"], "leave it out with --data"),
        (["--data", "Q", "-m", "P@1", "-M", "5", "BASE", "GOOD"], "--depth decides how TREC runs are judged"),
        (["--preset", "ragas", "BASE", "GOOD"], "--preset says how --data is written, and needs it"),
        (["--profile", "ragas", "BASE", "GOOD"], "needs --qrels or --data; a config has its own"),
        (["--qrels", "Q", "--dataset", "d", "-m", "P@1", "BASE", "GOOD"], "judgments are one dataset"),
        (
            ["BASE", "GOOD"],
            "is neither a result folder nor a baseline file (.json), and as scores of queries it cannot be read",
        ),
        (["nowhere", "nothing"], "nowhere does not exist"),
        (["-l", "2", "a", "b"], "--relevance decides how TREC runs are judged, and needs --qrels"),
        (["--test", "sign-flop", "a", "b"], "unknown test 'sign-flop' (did you mean 'sign-flip'?)"),
        (["--confidence", "95", "a", "b"], "confidence lies between 0 and 1, not at 95.0; write 0.95"),
        (["--resamples", "0", "a", "b"], "resamples is an integer of 1 or more, not 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(rankgauge, files, arguments, message):
    named = {"Q": files[0], "BASE": files[1], "GOOD": files[2]}
    done = rankgauge("compare", *(named.get(each, each) for each in arguments))
    assert done.code == 2
    assert message.replace("BASE", files[1]) in done.err
    assert done.out == ""


def test_results_of_other_judgments_are_refused(rankgauge, folders, files, write, tmp_path):
    other = write("other.txt", QRELS.replace("q00 0 a 1", "q00 0 b 1"))
    evaluate(str(other), str(files[2]), ["P@1"]).save(tmp_path / "other")
    done = rankgauge("compare", folders[0], tmp_path / "other", "-m", "P@1")
    assert (done.code, done.out) == (2, "")
    assert "cannot compare other with base: 1 of 12 samples were judged against different ground truth" in done.err
    assert "--common unchanged" in done.err


def test_samples_with_the_same_ground_truth_are_compared_and_gated_on_demand(
    rankgauge, folders, files, write, tmp_path
):
    other = write("other.txt", QRELS.replace("q00 0 a 1", "q00 0 b 1"))
    evaluate(str(other), str(files[2]), ["P@1"]).save(tmp_path / "other")
    unchanged = ("compare", folders[0], tmp_path / "other", "-m", "P@1", "--common", "unchanged")
    done = rankgauge(*unchanged, "--gate", "P@1 max_drop 1")
    assert done.code == 0, done.err
    assert "1 sample is left out: judged against other ground truth" in done.out
    found = rankgauge(*unchanged, "--gate", "P@1 max_drop 1", "--json").json
    (metric,) = found["comparisons"][0]["metrics"].values()
    assert (metric["n"], metric["dropped"]["other_ground_truth"]) == (11, 1)
    (gate,) = found["gates"]
    assert (gate["change"]["n"], gate["change"]["dropped"]) == (11, {"other_ground_truth": 1})
    assert gate["gate"] == "p@1 max_drop 1 common unchanged"


@pytest.fixture
def pushed_down(write):
    """Return judgments of ten queries, and two runs: of a and an unjudged x, one has x first and the other a."""
    qrels = write("pushed.qrels", "".join(f"{query} 0 a 1\n" for query in QUERIES))
    first, second = (
        write(f"{name}.run", "".join(f"{query} Q0 {doc} 1 {score} t\n" for query in QUERIES for doc, score in ranking))
        for name, ranking in (("x-first", (("x", 2), ("a", 1))), ("a-first", (("a", 2), ("x", 1))))
    )
    return "--qrels", qrels, first, second


def test_how_much_nobody_judged_stands_beside_every_comparison(rankgauge, pushed_down):
    done = rankgauge("compare", *pushed_down, "-m", "P@1", "-m", "RR")
    assert "unjudged@1: x-first.run 1.0000, a-first.run 0.0000" in done.out.splitlines()
    found = rankgauge("compare", *pushed_down, "-m", "RR", "--json").json
    assert list(found["comparisons"][0]["metrics"]) == ["rr"]
    assert found["unjudged"]["x-first.run"] == {"shares": {"unjudged@10": 0.5}, "bounds": {}}


def test_a_verdict_may_depend_on_unjudged_documents(rankgauge, pushed_down):
    """RR is 1/2 and 1; without x both are 1."""
    done = rankgauge("compare", *pushed_down, "-m", "RR", "--condensed", "--bounds")
    lines = done.out.splitlines()
    assert lines[0] == ("a-first.run against x-first.run depends on unjudged documents: rr +0.500; without them +0.000")
    assert [line.split()[:4] for line in lines if line.startswith("rr condensed")] == [
        ["rr", "condensed", "same", "1.0000"]
    ]
    assert "rr, worst to best case: x-first.run 0.5000 to 1.0000, a-first.run 1.0000 to 1.0000" in lines


def test_condensed_lists_in_markdown_and_csv(rankgauge, pushed_down):
    given = ("compare", *pushed_down, "-m", "RR", "--condensed", "--format")
    assert "| rr condensed | 1.0000 | 1.0000 |" in rankgauge(*given, "markdown").out
    rows = list(csv.DictReader(io.StringIO(rankgauge(*given, "csv").out)))
    assert [(row["metric"], row["verdict"]) for row in rows] == [
        ("rr", "depends on unjudged documents"),
        ("rr condensed", "same"),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--condensed", "-J"), "--judged-only drops unjudged documents everywhere; leave out --condensed"),
        (("--bounds", "--format", "latex"), "--bounds is for --format table, json, markdown, csv, not for latex"),
    ],
)
def test_unjudged_documents_that_cannot_be_told_of(rankgauge, pushed_down, options, message):
    done = rankgauge("compare", *pushed_down, "-m", "RR", *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_condensed_lists_of_result_folders_are_read_again(rankgauge, folders):
    done = rankgauge("compare", *folders, "-m", "P@1", "--condensed", "--json")
    assert done.code == 0
    assert done.json["comparisons"][0]["metrics"]["p@1"]["condensed"]["n"] == 12


def test_compare_says_what_share_is_unjudged_by_unit(rankgauge, tmp_path):
    """d1 and d2 are judged for q1, and d3 is not for q2: at rank 1 half are unjudged, as chunks all are."""
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1#3 1 2 t\nq1 Q0 d2#1 2 1 t\nq2 Q0 d3#1 1 1 t\n")
    (tmp_path / "b.run").write_text("q1 Q0 d2#3 1 2 t\nq2 Q0 d1#1 1 1 t\n")
    runs = tmp_path / "a.run", tmp_path / "b.run"
    done = rankgauge("compare", "--qrels", tmp_path / "qrels.txt", *runs, "-m", "P(unit=document)@1")
    assert "unjudged(unit=document)@1: a.run 0.5000, b.run 0.0000" in done.out
    assert "is judged" not in done.err
    done = rankgauge("compare", "--qrels", tmp_path / "qrels.txt", *runs, "-m", "P(unit=document)@1", "-m", "P@1")
    assert "unjudged@1: a.run 1.0000, b.run 1.0000" in done.out


def test_short_lists_leave_no_verdict_unless_they_are_allowed(rankgauge, write):
    """Ten of twelve questions have their document at rank 3, where the lists of the first system have ended."""

    def outputs(name, depth):
        items = [{"id": f"d{rank}", "text": "two words"} for rank in range(1, depth + 1)]
        return write(name, [{"id": f"q{at}", "actual_output": items} for at in range(12)])

    rows = [{"id": f"q{at}", "expected_output": ["d3" if at < 10 else "d1"]} for at in range(12)]
    write("data.jsonl", rows)
    text = "version: 1\ndatasets: {mine: {path: data.jsonl}}\nmetrics: {use: [recall@8tok]}\n"
    config, allowing = write("c.yaml", text), write("allowing.yaml", f"{text}short_lists: allow\n")
    runs = outputs("top.jsonl", 2), outputs("deep.jsonl", 9)
    gate = ["--gate", "recall@8tok max_drop 0.01", "--json"]

    def told(config, *more):
        found = rankgauge("compare", "--config", config, *runs, *gate, *more)
        verdict = found.json["comparisons"][0]["metrics"]["recall@8tok"]["verdict"]
        return found.code, verdict, "open" if "open   recall@8tok" in found.err else "ok"

    assert told(config) == (0, "depends on short lists", "open")
    assert told(config, "--short-lists", "allow") == (0, "better", "ok")
    assert told(allowing, "--short-lists", "open") == (0, "depends on short lists", "open")
    assert told(allowing) == (0, "better", "ok")
