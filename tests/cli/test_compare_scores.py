"""`rankgauge compare` of scores that other tools wrote."""

import json

import pytest

QUERIES = [f"q{place:02}" for place in range(12)]


def trec_eval(hits: int) -> str:
    lines = [f"map\t{query}\t{float(place < hits):.4f}\n" for place, query in enumerate(QUERIES)]
    return "".join([*lines, f"map\tall\t{hits / 12:.4f}\n"])


@pytest.fixture
def files(write):
    """Seven of twelve queries are won and none is lost: p is 2 / 2**7."""
    return write("base.trec_eval", trec_eval(3)), write("good.trec_eval", trec_eval(10))


def test_files_of_trec_eval_are_compared(rankgauge, files):
    done = rankgauge("compare", *files, "--json")
    assert done.code == 0
    found = json.loads(done.out)["comparisons"][0]
    assert (found["metrics"]["map"]["p"], found["metrics"]["map"]["verdict"]) == (2 / 2**7, "better")
    assert any("nothing checks that they were computed alike" in note for note in found["notes"])


def test_one_file_may_have_all_systems(rankgauge, write):
    rows = [f"{name},{q},map,{value}\n" for name, value in (("bm25", 0.25), ("dense", 0.5)) for q in QUERIES]
    frame = write("pt.csv", "".join(["name,qid,measure,value\n", *rows]))
    assert rankgauge("compare", frame).out.startswith("dense is better: map")
    assert "only pt.csv is given" in rankgauge("compare", frame, "--dataset", "bm25").err
    other = write("other.csv", "".join(["qid,map\n", *(f"{q},0.75\n" for q in QUERIES)]))
    assert "other.csv against bm25" in rankgauge("compare", frame, other).out
    twice = rankgauge("compare", frame, write("again.csv", "".join(["name,qid,measure,value\n", *rows])))
    assert "again.csv: dense against bm25" in twice.out


def test_options_decide_what_a_file_does_not_say(rankgauge, write):
    lines = [write(f"{name}.txt", f"ndcg@10 AP {value}\n") for name, value in (("a", 0.5), ("b", 0.25))]
    refused = rankgauge("compare", *lines)
    assert refused.code == 2
    assert "say what they are with --columns query,measure,value or --columns measure,query,value" in refused.err
    assert "ap " in rankgauge("compare", *lines, "--columns", "query,measure,value").out
    assert "ndcg@10 " in rankgauge("compare", *lines, "--columns", "measure,query,value").out
    tables = [write(f"{name}.csv", f"frage,map,ms\nq1,0.5,{value}\nq2,0.5,1\n") for name, value in (("c", 1), ("d", 2))]
    done = rankgauge("compare", *tables, "--columns", "query=frage", "--better", "ms=lower")
    assert "no clear difference in ms" in done.out
    assert "ms is no measure that rankgauge knows" in rankgauge("compare", *tables, "--columns", "query=frage").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["BASE", "GOOD", "--better", "ms"], "--better is MEASURE=higher or MEASURE=lower, not 'ms'"),
        (["BASE", "GOOD", "--better", "ms=up"], "ms is better higher or lower, not 'up'"),
        (["BASE", "GOOD", "--qrels", "Q", "-m", "AP", "--better", "ms=lower"], "--better is for scores of other tools"),
        (["BASE", "GOOD", "-l", "2"], "--relevance decides how TREC runs are judged, and needs --qrels"),
        (["BASE"], "comparing takes two or more systems, and only base.trec_eval is given"),
        (["BASE", "GOOD", "--common", "unchanged"], "which ground truth is unchanged is not known"),
        (["BASE", "GOOD", "--condensed"], "it is of samples, or from a baseline file"),
    ],
)
def test_what_does_not_go_together_is_refused(rankgauge, files, arguments, message):
    named = {"BASE": files[0], "GOOD": files[1]}
    done = rankgauge("compare", *(named.get(each, each) for each in arguments))
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_gates_and_power_take_them(rankgauge, files):
    done = rankgauge("compare", files[1], files[0], "--gate", "map max_drop 0.1")
    assert done.code == 1
    done = rankgauge("power", *files)
    assert (done.code, done.out.splitlines()[0]) == (0, "questions needed to show a difference of")


def test_a_gate_on_a_run_says_that_its_baseline_is_of_another_tool(rankgauge, write, files):
    qrels = write("qrels.txt", "".join(f"{query} 0 a 1\n" for query in QUERIES))
    run = write("new.run", "".join(f"{query} Q0 {'a' if at < 11 else 'x'} 1 1 t\n" for at, query in enumerate(QUERIES)))
    done = rankgauge("trec", qrels, run, "-m", "AP", "--gate", "AP max_drop 0.02", "--baseline", files[1])
    assert done.code == 0
    assert "scores of another tool, whose judgments, policy and version are not recorded" in done.err
