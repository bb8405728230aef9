"""`--groups`: groups of queries for `trec`, `compare` and `run`, and the config key."""

import json

import pytest

QRELS = "q1 0 a 1\nq2 0 a 1\nq3 0 a 1\n"
RUN = "q1 Q0 a 1 1 t\nq2 Q0 x 1 2 t\nq2 Q0 a 2 1 t\nq3 Q0 x 1 1 t\n"
OTHER = "q1 Q0 a 1 1 t\nq2 Q0 a 1 2 t\nq3 Q0 x 1 1 t\n"
GROUPS = "qid,type\nq1,short\nq2,long\nq3,long\n"
# rr of the run: 1, 1/2, 0; short 1, long .25. Of the other one: 1, 1, 0; long .5


@pytest.fixture
def files(write):
    return [write("qrels.txt", QRELS), write("a.run", RUN), write("b.run", OTHER), write("groups.csv", GROUPS)]


def test_trec_prints_and_saves_groups(rankgauge, files, tmp_path):
    qrels, run, other, groups = files
    done = rankgauge("trec", qrels, run, "-m", "rr", "--groups", groups)
    assert "by cohort, rr: type=short 1.0000 (1), type=long 0.2500 (2)" in done.out.splitlines()
    whole = rankgauge("trec", qrels, run, "-m", "rr", "--groups", groups, "--all-columns").out
    assert "means by cohort" in whole
    assert "type=long" in whole
    several = rankgauge("trec", qrels, run, other, "-m", "rr", "--groups", groups).out.splitlines()
    assert "b.run: by cohort, rr: type=short 1.0000 (1), type=long 0.5000 (2)" in several
    found = json.loads(rankgauge("trec", qrels, run, "-m", "rr", "--groups", groups, "-f", "json").out)
    assert [(each["tag"], each["metrics"]["rr"]["mean"]) for each in found["cohorts"]] == [
        ("type=long", 0.25),
        ("type=short", 1.0),
    ]
    for name, file in (("one", run), ("two", other)):
        rankgauge("trec", qrels, file, "-m", "rr", "--groups", groups, "-o", tmp_path / name)
    by_tag = rankgauge("compare", tmp_path / "one", tmp_path / "two", "--all-columns").out
    assert "type=long" in by_tag


def test_compare_is_by_group_whatever_is_compared(rankgauge, files, write):
    qrels, run, other, groups = files
    scores = [
        write(
            name,
            "".join(f"recip_rank {query} {value}\n" for query, value in zip(("q1", "q2", "q3"), values, strict=True)),
        )
        for name, values in (("a.eval", (1, 0.5, 0)), ("b.eval", (1, 1, 0)))
    ]
    for given in (("--qrels", qrels, "-m", "rr", run, other), scores):
        done = json.loads(rankgauge("compare", *given, "--groups", groups, "--json").out)
        (metric,) = done["comparisons"][0]["metrics"].values()
        assert {each["tag"]: each["difference"] for each in metric["cohorts"]} == {"type=short": 0.0, "type=long": 0.25}


def test_run_takes_judgments_a_run_and_groups(rankgauge, files, write):
    qrels, run, _, groups = files
    how = ("--data", qrels, "--outputs", run, "-m", "rr")
    assert "type=long 0.2500 (2)" in rankgauge("run", *how, "--groups", groups).out
    inline = {"q1": "short", "q2": ["long"], "q3": ["long"]}
    for given, tag in ((json.dumps(groups), "type=long"), (json.dumps(inline), "long")):
        config = f"version: 1\ndatasets: {{d: {{path: {qrels}, outputs: {run}, groups: {given}}}}}\n"
        gates = f"gates: [{{metric: rr, max: 0.3, where: tags={tag}}}]\n"
        done = rankgauge("run", write("c.yaml", config + "metrics: {use: [rr]}\n" + gates))
        assert f"{tag} 0.2500 (2)" in done.out
        assert "the gate passed" in done.out
    by_column = f"version: 1\ndatasets: {{d: {{path: {qrels}, outputs: {run}, groups: {groups}}}}}\n"
    gates = "gates: [{metric: rr, max: 0.3, where: metadata.type=long}]\n"
    done = rankgauge("run", write("g.yaml", by_column + "metrics: {use: [rr]}\n" + gates))
    assert "the gate passed" in done.out
    assert "(none)" not in done.out  # no sample has such a field
    wrong = f"version: 1\ndatasets: {{d: {{path: {qrels}, groups: 7}}}}\nmetrics: {{use: [rr]}}\n"
    assert rankgauge("run", write("w.yaml", wrong)).code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Q", "A", "--also", "Q", "A", "-m", "rr", "--groups", "G"], "--groups names the queries of one dataset"),
        (["Q", "A", "--against", "B", "--groups", "G"], "--groups is for scores, and --against compares rankings"),
        (["Q", "A", "-m", "rr", "--groups", "Q"], "each line is the id of a query and its groups"),
        (["Q", "A", "-m", "rr", "--groups", "nowhere.tsv"], "nowhere.tsv"),
        (["Q", "A", "-m", "rr", "--groups", "X", "-o", "out"], "no query of"),
    ],
)
def test_what_cannot_be_grouped_is_refused(rankgauge, files, write, tmp_path, arguments, message):
    named = dict(zip("QABG", files, strict=True)) | {"X": write("x.tsv", "x1\tshort\n")}
    given = [",".join((named["Q"], named["A"])) if each == "PAIR" else named.get(each, each) for each in arguments]
    if "--also" in given:
        place = given.index("--also")
        given[place + 1 : place + 3] = [f"{named['Q']},{named['A']}"]
    done = rankgauge("trec", *given)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert not (tmp_path / "out").exists()
