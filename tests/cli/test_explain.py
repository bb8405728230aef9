"""`rankgauge explain`: of result folders and of runs, as text within a terminal and as JSON."""

import json
import math
import shutil
from pathlib import Path

import pytest

from rankgauge import Explanation

QRELS = "q1 0 d1 2\nq1 0 d9 1\nq1 0 d2 0\nq2 0 d1 1\nq3 0 d1 3\n"
RUN = "q1 Q0 d3 1 0.9 t\nq1 Q0 d1 2 0.7 t\nq1 Q0 d2 3 0.4 t\nq2 Q0 d5 1 1.0 t\nq8 Q0 d1 1 1.0 t\n"
KEYS = {"schema_version", *Explanation.__slots__}


@pytest.fixture
def of_run(rankgauge, write):
    """Return a function that explains a query of a run."""
    files = ("--qrels", write("qrels.txt", QRELS), "--run", write("mine.run", RUN))
    return lambda *arguments: rankgauge("explain", *files, *arguments)


@pytest.fixture
def folder(rankgauge, project):
    """Return a result folder with the recall and reciprocal rank of two samples."""
    assert rankgauge("run", project, "-o", "scores").code == 0
    return "scores"


def test_a_query_of_a_run_is_explained(of_run):
    """DCG is 2 / log2(3) = 1.2619, the ideal 2 + 1 / log2(3) = 2.6309."""
    done = of_run("q1", "-m", "ndcg_cut.2")

    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "ndcg@2 of q1: 0.4796"
    assert "   2  d1    0.7      2     2    0.6309  0.4796  0.4796" in lines
    assert "  d9  grade 1, not retrieved; the best ranking has it at 2" in lines
    assert "ndcg@2 = 2*0.6309 / 2.6309 (ideal DCG) = 0.4796" in lines
    assert "  cost most        without rank 1 (d3): 0.7602 (+0.2806)" in lines


def test_json_has_the_keys_of_an_explanation(of_run):
    found = of_run("q1", "-m", "ndcg@2", "--json").json

    assert set(found) == KEYS
    assert found["sample"] == "q1"
    assert [rank["id"] for rank in found["ranks"]] == ["d3", "d1"]
    assert found["score"] == pytest.approx(sum(rank["contribution"] for rank in found["ranks"]), abs=1e-12)
    assert [trial["rank"] for trial in found["without"]] == [1, 2]
    assert found["with_missing_on_top"][0]["id"] == "d9"


def test_intents_of_judgments_count_in_what_is_explained(rankgauge, write):
    """
    Two documents serve one intent each of the ideal's 1 + 1 / log2(3); c at rank 2 earns 1 / log2(3), which is 0.3869.

    Without intents a and c would be two relevant documents of one intent.
    """
    files = write("q.txt", "q2 1 a 1\nq2 2 c 1\n"), write("d.run", "q2 Q0 b 1 3 t\nq2 Q0 c 2 2 t\n")
    of_run = rankgauge("explain", "--qrels", files[0], "--run", files[1], "q2", "-m", "alpha_ndcg@5")
    assert of_run.out.splitlines()[0] == "alpha_ndcg@5 of q2: 0.3869"
    assert rankgauge("trec", *files, "-m", "alpha_ndcg@5", "-o", "saved").code == 0
    of_folder = rankgauge("explain", "saved", "q2")
    assert (of_folder.code, of_folder.out) == (0, of_run.out)


def test_options_of_trec_decide_how_it_is_judged(of_run):
    def ids(*options):
        return [rank["id"] for rank in of_run("q1", "-m", "P_3", "--json", *options).json["ranks"]]

    assert ids() == ["d3", "d1", "d2"]
    assert ids("-J") == ["d1", "d2"]
    assert ids("-M", "1") == ["d3"]
    assert ids("--policy", "order=given") == ["d3", "d1", "d2"]
    assert [gold["id"] for gold in of_run("q1", "-m", "AP", "--json").json["missing"]] == ["d9"]
    assert [gold["id"] for gold in of_run("q1", "-m", "AP", "-l", "2", "--json").json["missing"]] == []


def test_a_query_that_the_run_lacks_scores_0_and_says_so(of_run):
    done = of_run("q3", "-m", "AP")

    assert done.code == 0
    assert done.out.startswith("ap of q3: 0.0000 (missing)\n")
    assert "would help most  d1 at rank 1: 1.0000 (+1.0000)" in done.out


def test_the_highest_grade_is_that_of_all_judgments(of_run, rankgauge):
    """ERR of q1 at 2: (2**2 - 1) / 2**3 at rank 2, as the highest grade of all queries is 3."""
    assert of_run("q1", "-m", "err@2", "--json").json["score"] == 3 / 8 / 2


def test_columns_of_tables_are_named_as_for_trec(rankgauge, write):
    judged = write("j.csv", "qid,pid,label\nq1,d1,1\n")
    run = write("r.csv", "qid,pid,s\nq1,d1,0.5\n")
    columns = ("--columns", "query=qid,document=pid,grade=label,score=s")
    done = rankgauge("explain", "--qrels", judged, "--run", run, "q1", "-m", "RR", "--json", *columns)
    assert done.json["score"] == 1.0


def test_a_query_is_explained_as_a_tool_counts_it(rankgauge, write):
    """A gain of 2 is worth 3 there: the document at rank 1 has gain 1 of 3 + 1 / log2(3) at best."""
    judged, run = write("q.txt", "q1 0 a 2\nq1 0 b 1\n"), write("r.txt", "q1 Q0 b 1 2.0 t\nq1 Q0 x 2 1.0 t\n")
    of = ("explain", "--qrels", judged, "--run", run, "q1", "-m", "ndcg@2", "--json")
    assert rankgauge(*of, "--as", "lightgbm").json["score"] == pytest.approx(1 / (3 + 1 / math.log2(3)))
    assert rankgauge(*of, "--profile", "lightgbm").json["score"] == rankgauge(*of, "--as", "lightgbm").json["score"]
    assert rankgauge(*of).json["score"] == pytest.approx(1 / (2 + 1 / math.log2(3)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Q3", "-m", "AP"), "no query 'Q3' (did you mean 'q3'?); the judgments have 3 queries, such as 'q1'"),
        (("q8", "-m", "AP"), "the run has it, but it is not judged"),
        (("q3", "-m", "AP", "--profile", "trec9"), "policy queries=intersection leaves it out"),
        (("q1",), "explaining a query of a run needs --metric"),
        (("q1", "-m", "P"), "-m P stands for 9 metrics (p@5, p@10, p@15, p@20, p@30, ...); name one"),
        (("q1", "-m", "apples"), "unknown metric 'apples'"),
        (("q1", "q2", "-m", "AP"), "give one query; 2 given: q1 q2"),
        (("q1", "-m", "AP", "--policy", "tie=docno"), "tie"),
    ],
)
def test_what_cannot_be_explained_of_a_run(of_run, arguments, message):
    done = of_run(*arguments)

    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_sample_of_a_folder_is_explained(rankgauge, folder):
    done = rankgauge("explain", folder, "q2")

    assert done.code == 0
    assert done.out.splitlines()[0] == "mrr of q2: 0.5000"
    assert "mrr = 1/2 = 0.5" in done.out
    assert set(rankgauge("explain", folder, "q2", "-m", "retrieval-recall-at-k", "--json").json) == KEYS


def test_a_folder_of_a_run_is_explained_alike(rankgauge, of_run):
    assert rankgauge("trec", "qrels.txt", "mine.run", "-m", "AP", "-m", "ndcg@2", "-o", "kept").code == 0
    alone = of_run("q1", "-m", "ndcg@2", "--json").json
    assert rankgauge("explain", "kept", "q1", "-m", "ndcg_cut_2", "--json").json == alone


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Q2",), "no sample 'Q2' (did you mean 'q2'?); the result has 2 samples, such as 'q1'"),
        (("q1", "-m", "ndcg@10"), "no column 'ndcg@10'"),
        ((), "give a result folder and a sample"),
        (("q1", "--profile", "remem"), "--profile is for a run (--qrels and --run)"),
        (("q1", "-J"), "--judged-only is for a run"),
    ],
)
def test_what_cannot_be_explained_of_a_folder(rankgauge, folder, arguments, message):
    done = rankgauge("explain", folder, *arguments)

    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_folder_of_several_datasets_names_them(rankgauge, folder):
    Path("all").mkdir()
    for name in ("a", "b"):
        shutil.copytree(folder, f"all/{name}")
    done = rankgauge("explain", "all", "q1")

    assert done.code == 2
    assert f"it holds several; name one: {Path('all/a')}, {Path('all/b')}" in done.err


def test_a_folder_whose_data_changed_is_refused(rankgauge, folder, write):
    write("samples.jsonl", [{"id": "q1", "expected_output": ["a"], "actual_output": ["b"]}])
    done = rankgauge("explain", folder, "q1")

    assert done.code == 2
    assert "samples.jsonl is not what the result was computed from" in done.err


def test_a_folder_whose_run_changed_is_refused(rankgauge, of_run, write):
    assert rankgauge("trec", "qrels.txt", "mine.run", "-m", "RR", "-o", "kept").code == 0
    write("mine.run", RUN.replace("d3 1 0.9", "d3 1 0.1"))
    done = rankgauge("explain", "kept", "q1")

    assert done.code == 2
    assert "is 1.0 now, and the result has 0.5: the data have changed since" in done.err


def test_a_folder_of_another_version_is_refused(rankgauge, folder, tmp_path):
    manifest = tmp_path / folder / "manifest.json"
    saved = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**saved, "schema_version": "rankgauge.result.v9"}), encoding="utf-8")
    done = rankgauge("explain", folder, "q1")

    assert done.code == 2
    assert "has the schema 'rankgauge.result.v9'; this version reads 'rankgauge.result.v1'" in done.err


@pytest.mark.parametrize("width", [60, 80, 120])
def test_hostile_and_long_texts_stay_within_the_terminal(rankgauge, write, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    evil = "\x1b[2J" + "very-long-name-" * 12
    sample = {
        "id": "q\x07" + "1" * 90,
        "input": {"question": "a question of many words " * 20},
        "expected_output": {"relevant": {evil: 2, "b\u202e" * 40: 1}, "passages": ["gold text \x1b]0;x " * 40]},
        "actual_output": [{"id": evil, "text": "some text \x1b[1m" * 30, "score": 1.0}, "x" * 200, "\u691c\u7d22" * 60],
    }
    write("samples.jsonl", [sample])
    metrics = ("-m", "ndcg@10", "-m", "recall(gold=passages)@10")
    assert rankgauge("run", "--data", "samples.jsonl", *metrics, "-o", "out", "--max-failed", "1").code == 0
    for metric in ("ndcg@10", "recall(gold=passages)@10"):
        done = rankgauge("explain", "out", sample["id"], "-m", metric)
        assert done.code == 0
        assert not [character for character in done.out if character != "\n" and not character.isprintable()]
        assert max(map(len, done.out.splitlines())) <= width


def test_help_shows_both_forms(rankgauge):
    done = rankgauge("explain", "--help")
    assert done.code == 0
    assert "RESULT_DIR SAMPLE" in done.out
    assert "--judged-only" in done.out
