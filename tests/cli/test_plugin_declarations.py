"""What plugins declare, asked for on the command line: tests of a difference, kinds of gates, filters of rankings."""

import json

import pytest

from cli.conftest import CONFIG, SAMPLES
from cli.test_explain import QRELS, RUN
from comparison.test_plugin_tests import NEW, OLD, SIGN_TEST
from gates.test_kinds import MEDIAN
from judging.test_filtered import OTHERS, PAGES, SAMPLE


@pytest.fixture(autouse=True)
def _with_plugins(monkeypatch):
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS")


@pytest.fixture
def folders(tmp_path):
    OLD.save(tmp_path / "old")
    NEW.save(tmp_path / "new")
    return str(tmp_path / "old"), str(tmp_path / "new")


def test_it_is_asked_for_on_the_command_line_and_named_in_the_report(installed, rankgauge, folders):
    installed.add("sign-tests", SIGN_TEST, version="1.5")
    done = rankgauge("compare", *folders, "--test", "sign", "-m", "P@1", "--all-columns")
    assert done.code == 0
    assert "p: sign 3 of sign-tests 1.5: Sign test, two-sided; intervals:" in " ".join(done.out.split())
    found = rankgauge("compare", *folders, "--test", "sign", "-m", "P@1", "--format", "json").json
    assert (found["test"], found["comparisons"][0]["metrics"]["p@1"]["p"]) == ("sign", 2 / 64)
    listed = rankgauge("plugins", "list", "--verbose").out
    assert "1 test" in listed
    assert "test sign" in listed


def test_a_config_names_the_test(installed, rankgauge, tmp_path):
    installed.add("sign-tests", SIGN_TEST)
    rows = [{"id": str(place), "expected_output": ["a"]} for place in range(6)]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for name, ranking in (("old", ["b", "a"]), ("new", ["a"])):
        outputs = [{"id": row["id"], "actual_output": ranking} for row in rows]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, outputs)), encoding="utf-8")
    config = tmp_path / "rankgauge.yaml"
    config.write_text(
        "version: 1\ndatasets: {d: {path: data.jsonl}}\nmetrics: {use: [MRR]}\ntest: sign\n", encoding="utf-8"
    )
    given = [
        "compare",
        "--config",
        str(config),
        str(tmp_path / "old.jsonl"),
        str(tmp_path / "new.jsonl"),
        "--format",
        "json",
    ]
    found = rankgauge(*given).json
    assert (found["test"], found["comparisons"][0]["metrics"]["mrr"]["p"]) == ("sign", 2 / 64)
    assert rankgauge(*given, "--test", "t").json["test"] == "t"


def test_an_unknown_test_is_a_usage_error_before_anything_is_read(installed, rankgauge):
    installed.add("sign-tests", SIGN_TEST)
    done = rankgauge("compare", "no-such-folder", "none-either", "--test", "sing")
    assert (done.code, done.out) == (2, "")
    assert "unknown test 'sing' (did you mean 'sign'?)" in done.err


@pytest.fixture
def gated(installed, project, write):
    """Return a config of four samples, beside a plugin with kinds of gates."""
    installed.add("median-gates", MEDIAN)
    write("samples.jsonl", [{**row, "id": f"{row['id']}-{copy}"} for row in SAMPLES for copy in "ab"])
    return project


def test_a_gate_of_a_plugin_fails_a_run(gated, rankgauge):
    assert rankgauge("run", gated, "--gate", "MRR median_at_least 0").code == 0
    done = rankgauge("run", gated, "--gate", "MRR median_at_least 0.99")
    assert done.code == 1
    assert "MISSED mrr: the median" in done.out
    listed = rankgauge("plugins", "list").out
    assert "2 gate kinds" in listed


def test_a_gate_of_a_plugin_in_a_config_and_against_a_saved_baseline(gated, rankgauge, write):
    config = CONFIG + "gates: [{metric: MRR, median_at_least: 0.99, level: warn}, MRR losses_at_most 0]\n"
    write(gated, config)
    assert "needs a baseline" in rankgauge("run", gated).err
    first = rankgauge("run", gated, "--baseline", "base.json", "--save-baseline", "base.json")
    assert first.code == 0
    assert "1 gate on changes not judged" in first.err
    again = rankgauge("run", gated, "--baseline", "base.json")
    assert again.code == 0
    assert "got worse, 0 may" in again.out
    assert "warn   mrr: the median" in again.out


def test_a_gate_of_a_plugin_that_the_config_disables_is_refused(gated, rankgauge, write):
    write(gated, CONFIG + "plugins: {disable: [median-gates]}\n")
    done = rankgauge("run", gated, "--gate", "MRR median_at_least 0")
    assert (done.code, done.out) == (2, "")
    assert "--gate: 'MRR median_at_least 0' is not a gate" in done.err


def test_a_gate_of_a_plugin_compares_runs(installed, rankgauge, folders):
    installed.add("median-gates", MEDIAN)
    done = rankgauge("compare", *folders, "--gate", "P@2 losses_at_most 1")
    assert done.code == 1
    assert "MISSED p@2: 2 of 10 got worse, 1 may" in " ".join(done.out.split())


def test_a_filter_is_typed_for_samples_and_for_runs(installed, rankgauge, write):
    installed.add("page-filters", PAGES)
    data = write("data.jsonl", [SAMPLE])
    how = ("--policy", "filters=[one-per-page]", "--format", "json")
    assert rankgauge("run", "--data", data, "-m", "RR", *how[2:]).mean("rr") == 1 / 4
    assert rankgauge("run", "--data", data, "-m", "RR", *how).mean("rr") == 1 / 2
    items = SAMPLE["actual_output"]["retrieved"]
    run = write("run.txt", "".join(f"q Q0 {item['id']} 1 {item['score']} tag\n" for item in items))
    qrels = write("qrels.txt", "q 0 b#1 1\n")
    assert rankgauge("trec", qrels, run, "-m", "RR", *how).mean("rr") == 1 / 2
    both = rankgauge("trec", qrels, run, "-m", "RR", "--policy", "filters=one-per-page(most=2)", "--format", "json")
    assert both.mean("rr") == 1 / 3
    assert "1 filter" in rankgauge("plugins", "list").out


def test_an_unknown_filter_is_a_problem_of_the_plan(rankgauge, write):
    data = write("data.jsonl", [SAMPLE])
    done = rankgauge("run", "--data", data, "-m", "RR", "--policy", "filters=one-per-page")
    assert (done.code, done.out) == (2, "")
    assert "policy option 'filters': unknown filter 'one-per-page'" in done.err


def test_a_query_of_a_run_is_explained_without_what_a_filter_drops(rankgauge, write, installed):
    """Of d3, d1 and d2 the filter leaves d3 and d2, whose grade is 0."""
    installed.add("others", OTHERS)
    files = ("--qrels", write("qrels.txt", QRELS), "--run", write("mine.run", RUN))
    typed = ("explain", "q1", *files, "-m", "RR", "--policy", "filters=every-other")
    done = rankgauge(*typed)

    assert done.out.splitlines()[0] == "rr of q1: 0.0000"
    found = rankgauge(*typed, "--json").json
    assert [rank["id"] for rank in found["ranks"]] == ["d3", "d2"]
    where = {gold["id"]: (gold["retrieved_rank"], gold["dropped_by"]) for gold in found["missing"]}
    assert where == {"d1": (2, "policy filter every-other"), "d9": (None, "")}


def test_listed_samples_say_what_a_filter_dropped(rankgauge, write, installed):
    installed.add("others", OTHERS)
    sample = {"id": "s", "expected_output": ["b", "c"], "actual_output": ["a", "b"]}
    data = write("data.jsonl", [sample])
    done = rankgauge("run", "--data", data, "-m", "recall@5", "--policy", "filters=every-other", "--worst", "1")
    assert "expected   b (rank 2, dropped by policy filter every-other), c (not retrieved)" in done.out


def test_power_says_why_it_cannot_plan_by_the_test_of_a_plugin(installed, rankgauge, folders):
    installed.add("sign-tests", SIGN_TEST, version="1.5")
    done = rankgauge("power", *folders, "--test", "sign", "-m", "P@1")
    assert done.code == 2
    assert "the test sign (by sign-tests 1.5 (plugin main)" in done.err
    assert (
        "gives a p alone, and which difference so many questions show is known only for sign-flip, t, wil" in done.err
    )
    assert "unknown test 'sing' (did you mean 'sign'?)" in rankgauge("power", *folders, "--test", "sing").err
