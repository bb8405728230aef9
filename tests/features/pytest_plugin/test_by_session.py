"""Sessions: gates over everything that was logged, the report, and the same on several processes."""

import json
import textwrap

import pytest

from draws import in_thorough_suite, some
from fake_plugins import FakePlugins

pytest_plugins = ["pytester"]

TWO = """
    def test_one(rankgauge_eval):
        rankgauge_eval.log("q1", retrieved=["a", "b"], expected=["a"])
        rankgauge_eval.log("q2", retrieved=["x", "a"], expected=["a"])

    def test_two(rankgauge_eval):
        rankgauge_eval.log("q3", retrieved=["x"], expected=["a"])
"""
"""Reciprocal ranks 1, 1/2 and 0: in the mean 0.5."""

BOTH = pytest.mark.parametrize("workers", some([(), ("-n", "1")], of=2), ids=" ".join)  # the thorough suite takes both


def run(project, *options, body=TWO, **files):
    project.makepyfile(test_q=textwrap.dedent(body), **files)
    return project.runpytest_inprocess(*options)


def gates(path):
    return [(gate["scope"], gate["metric"], gate["passed"]) for gate in json.loads(path.read_text())["gates"]]


@pytest.mark.usefixtures("process")
@BOTH
def test_a_gate_that_is_kept_over_all_tests_passes(project, workers):
    done = run(project, "--rankgauge-min", "MRR=0.5", *workers)
    assert done.ret == pytest.ExitCode.OK
    done.stdout.fnmatch_lines(
        [
            "*= rankgauge =*",
            "3 samples logged by 2 tests",
            "ok     mrr: 0.5000 meets the minimum 0.5 (mean of n=3)",
        ]
    )


@pytest.mark.usefixtures("process")
@BOTH
def test_a_gate_that_is_missed_over_all_tests_fails_the_session(project, workers):
    done = run(project, "--rankgauge-min", "hit@1 = 0.5", "--rankgauge-min", "recip_rank=0.5", *workers)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.assert_outcomes(passed=2)
    done.stdout.fnmatch_lines(
        [
            "MISSED hit@1: 0.3333 is below the minimum 0.5 (mean of n=3)",
            "    q2: 0.0000  test_q.py::test_one",
            "      retrieved  x",
            "      expected   a (rank 2)",
            "    q3: 0.0000  test_q.py::test_two",
            "ok     recip_rank: 0.5000 meets the minimum 0.5 (mean of n=3)",
        ]
    )


@pytest.mark.usefixtures("process")
@in_thorough_suite()
def test_the_report_is_the_same_with_and_without_workers(project):
    done = run(project, "--rankgauge-metric", "ndcg@5", "--rankgauge-json", "deep/one.json")
    assert done.ret == pytest.ExitCode.OK
    done.stdout.fnmatch_lines(["       ndcg@5: 0.5436 (mean of n=3)", "wrote *one.json"])  # (1 + 1/log2(3)) / 3
    run(project, "--rankgauge-metric", "ndcg@5", "--rankgauge-json", "deep/two.json", "-n", "2")
    one, two = (json.loads((project.path / f"deep/{name}.json").read_text()) for name in ("one", "two"))
    assert one == two
    assert one["schema_version"] == "rankgauge.report.v1"
    assert [("q1", "test_q.py::test_one", 1.0), ("q3", "test_q.py::test_two", 0.0)] == [
        (line["sample_id"], line["test"], line["scores"]["ndcg@5"]["score"]) for line in one["per_sample"][::2]
    ]
    assert ["one.json", "two.json"] == sorted(path.name for path in (project.path / "deep").iterdir())


@pytest.mark.usefixtures("process")
@BOTH
def test_metrics_and_gates_of_tests_stand_in_the_report(project, workers):
    body = """
    import pytest

    @pytest.mark.rankgauge(gates={"MRR": 0.7})
    def test_one(rankgauge_eval):
        rankgauge_eval.log("q1", retrieved=["a"], expected=["a"])
        rankgauge_eval.log("q2", retrieved=["x", "a"], expected=["a"])

    @pytest.mark.rankgauge(metrics=[{"metric": "hit@1", "as": "top"}, len], gates={"top": 0.5})
    def test_two(rankgauge_eval):
        rankgauge_eval.log("q2", retrieved=["x"], expected=["a"])
    """
    done = run(project, "--rankgauge-json", "out.json", *workers, body=body.replace(", len]", "]"))
    done.assert_outcomes(passed=1, failed=1)
    report = json.loads((project.path / "out.json").read_text())
    assert {"mrr": 0.5, "top": 1 / 3} == {name: each["mean"] for name, each in report["metrics"].items()}
    assert [("test_q.py::test_one", "mrr", True), ("test_q.py::test_two", "top", False)] == gates(
        project.path / "out.json"
    )
    assert ["q1", "q2 [test_q.py::test_one]", "q2 [test_q.py::test_two]"] == [
        line["sample_id"] for line in report["per_sample"]
    ]


def test_metrics_of_two_tests_that_claim_one_column_do_not_spoil_the_gates(project):
    body = """
    import pytest

    @pytest.mark.rankgauge(metrics={"metric": "hit@1", "as": "top"})
    def test_one(rankgauge_eval):
        rankgauge_eval.log("q1", retrieved=["a"], expected=["a"])

    @pytest.mark.rankgauge(metrics={"metric": "hit@2", "as": "top"})
    def test_two(rankgauge_eval):
        rankgauge_eval.log("q2", retrieved=["x", "a"], expected=["a"])
    """
    done = run(project, "--rankgauge-min", "MRR=0.75", body=body)
    assert done.ret == pytest.ExitCode.OK
    done.stdout.fnmatch_lines(["ok     mrr: 0.7500 *", "*top: 0.5000*", "*top: no value: *two columns*'top'*"])


@pytest.mark.usefixtures("process")
@BOTH
def test_a_gate_fails_when_nothing_was_logged(project, workers):
    done = run(
        project, "--rankgauge-min", "MRR=0", "--rankgauge-json", "out.json", *workers, body="def test_it(): pass"
    )
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(["MISSED mrr: no value for the minimum 0: nothing was logged (mean of n=0)"])
    report = json.loads((project.path / "out.json").read_text())
    assert (0, {}, "nothing was logged") == (report["samples"], report["metrics"], report["gates"][0]["reason"])


def test_a_gate_whose_ground_truth_no_sample_has_fails_and_the_others_are_judged(project):
    done = run(project, "--rankgauge-min", "containment@5=0", "--rankgauge-min", "MRR=0.5")
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(["MISSED containment@5: no value *kind answer*", "ok     mrr: 0.5000 *"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rankgauge-min", "ndgc@10=0.4"], "*unknown metric 'ndgc' (did you mean 'ndcg'*"),
        (["--rankgauge-min", "ndcg@10"], "*--rankgauge-min: 'ndcg@10' is not a gate*"),
        (
            ["--rankgauge-min", "ndcg@10=42"],
            "*no value of 'ndcg@10', which ranges from 0 to 1, can keep the bound 42*",
        ),
        (["--rankgauge-max", "MRR=0.5"], "*--rankgauge-max: higher is better for 'mrr'*"),
        (["--rankgauge-metric", "P"], "*needs a cutoff*"),
        (["--rankgauge-json", "o", "--rankgauge-config", "absent.yaml"], "*absent.yaml*"),
    ],
)
@BOTH
def test_options_that_cannot_be_used_stop_the_session_before_any_test(project, options, message, workers):
    done = run(project, *options, *workers, body="def test_it(): raise AssertionError('it ran')")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([message])
    assert "it ran" not in done.stdout.str()


def test_a_metric_of_which_less_is_better_takes_a_maximum(project, monkeypatch):
    """The share of queries that retrieved anything: 1."""
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS")
    source = """
        from rankgauge.plugin import hookimpl, sample_metric

        @sample_metric("busy", higher_is_better=False)
        def busy(ranking):
            "Whether anything was retrieved."
            return float(ranking.depth > 0)

        @hookimpl
        def rankgauge_metrics():
            return [busy]
    """
    plugins = FakePlugins(project.path / "sites", monkeypatch)
    plugins.add("busy-metrics", source)
    try:
        assert run(project, "--rankgauge-max", "busy=1").ret == pytest.ExitCode.OK
        done = run(project, "--rankgauge-max", "busy=0.9")
        assert done.ret == pytest.ExitCode.TESTS_FAILED
        done.stdout.fnmatch_lines(["MISSED busy: 1.0000 is above the maximum 0.9 (mean of n=3)"])
        done = run(project, "--rankgauge-min", "busy=0.9")
        done.stderr.fnmatch_lines(["*lower is better for 'busy'; give its bound with --rankgauge-max*"])
    finally:
        plugins.forget()


def test_a_config_gives_metrics_policy_and_matchers(project):
    (project.path / "conf").mkdir()
    text = "version: 1\nmetrics:\n  use: [MRR]\npolicy:\n  missing_output: exclude\n  max_failed: 0.5\n"
    (project.path / "conf" / "rankgauge.yaml").write_text(text)
    body = """
    import pytest

    @pytest.mark.rankgauge(gates={"MRR": 1})
    def test_it(rankgauge_eval):
        rankgauge_eval.log("q1", retrieved=["a"], expected=["a"])
        rankgauge_eval.log("q2", expected=["a"])
        assert rankgauge_eval.result()["MRR"].n == 1
    """
    assert run(project, "--rankgauge-config", "conf/rankgauge.yaml", body=body).ret == pytest.ExitCode.OK
    done = run(project, "-o", "rankgauge_config=conf/rankgauge.yaml", "--rankgauge-json", "out.json", body=body)
    assert done.ret == pytest.ExitCode.OK
    done.stdout.fnmatch_lines(["       mrr: 1.0000 (mean of n=1, 1 missing)"])


def test_a_metric_may_be_asked_for_by_the_name_that_the_config_gives_it(project):
    (project.path / "rankgauge.yaml").write_text("version: 1\nmetrics:\n  use: [{metric: P@1, as: top}]\n")
    body = """
    import pytest

    @pytest.mark.rankgauge(metrics=["top"], gates={"top": 1})
    def test_it(rankgauge_eval):
        rankgauge_eval.log("q1", retrieved=["a"], expected=["a"])
        assert rankgauge_eval.result(["top"])["top"].mean == 1
    """
    done = run(project, "--rankgauge-config", "rankgauge.yaml", "--rankgauge-metric", "top", body=body)
    assert done.ret == pytest.ExitCode.OK
    done.stdout.fnmatch_lines(["       top: 1.0000 (mean of n=1)"])


def test_tests_that_fail_on_their_own_still_count_and_keep_their_exit_code(project):
    body = """
    def test_it(rankgauge_eval):
        rankgauge_eval.log("q1", retrieved=["a"], expected=["a"])
        raise RuntimeError
    """
    done = run(project, "--rankgauge-min", "MRR=1", body=body)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(["ok     mrr: 1.0000 *"])


def test_a_test_that_runs_again_replaces_what_it_logged(project):
    project.makeconftest(
        """
        from _pytest.runner import runtestprotocol

        def pytest_runtest_protocol(item, nextitem):
            runtestprotocol(item, nextitem=nextitem)
            item._initrequest()
            runtestprotocol(item, nextitem=nextitem)
            return True
        """
    )
    done = run(project, "--rankgauge-min", "MRR=0.5")
    assert done.ret == pytest.ExitCode.OK
    done.stdout.fnmatch_lines(["3 samples logged by 2 tests"])


def test_collecting_alone_judges_nothing(project):
    done = run(project, "--rankgauge-min", "MRR=0.5", "--rankgauge-json", "out.json", "--collect-only")
    assert done.ret == pytest.ExitCode.OK
    assert not (project.path / "out.json").exists()


@pytest.mark.usefixtures("process")
@in_thorough_suite()
def test_a_session_that_is_stopped_is_not_judged(project):
    body = "def test_it(rankgauge_eval):\n    raise KeyboardInterrupt"
    project.makepyfile(test_q=body)
    done = project.runpytest_subprocess("--rankgauge-min", "MRR=0.5")
    assert done.ret == pytest.ExitCode.INTERRUPTED
    done.stdout.fnmatch_lines(["the session was stopped, so its gates were not judged"])


def test_a_report_that_cannot_be_written_fails_the_session_and_leaves_no_part_of_it(project):
    (project.path / "taken").mkdir()
    done = run(project, "--rankgauge-metric", "MRR", "--rankgauge-json", "taken")
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(["--rankgauge-json: cannot write *taken: *"])
    assert [] == [path for path in project.path.iterdir() if path.name.startswith(".taken")]


def test_a_report_without_any_metric_says_what_to_give(project):
    done = run(project, "--rankgauge-json", "out.json")
    assert done.ret == pytest.ExitCode.OK
    done.stdout.fnmatch_lines(["no metric was asked for; give one with --rankgauge-metric or --rankgauge-min"])


def test_scores_equal_those_of_the_engine_to_the_last_bit(project, engine):
    samples = [
        {
            "id": f"q{place}",
            "expected_output": {"a": place, "b": 1, "c": 0},
            "actual_output": ["x"] * (place % 3) + ["b", "a"],
        }
        for place in range(1, 8)
    ]
    (project.path / "samples.json").write_text(json.dumps(samples))
    body = """
    import json, pathlib

    def test_it(rankgauge_eval):
        for sample in json.loads(pathlib.Path("samples.json").read_text()):
            rankgauge_eval.log(sample)
    """
    metrics = ["ndcg@10", "AP", "P@2"]
    options = [option for metric in metrics for option in ("--rankgauge-metric", metric)]
    assert run(project, *options, "--rankgauge-json", "out.json", body=body).ret == pytest.ExitCode.OK
    report = json.loads((project.path / "out.json").read_text())
    result = engine.dataset(samples).with_metrics(metrics).run()
    assert {name: column.mean for name, column in result.metrics.items()} == {
        name: column["mean"] for name, column in report["metrics"].items()
    }
    for place, line in enumerate(report["per_sample"]):
        assert {name: column.values[place] for name, column in result.metrics.items()} == {
            name: score["score"] for name, score in line["scores"].items()
        }


@pytest.mark.usefixtures("process")
@in_thorough_suite()
def test_a_worker_that_crashes_takes_nothing_away_that_it_had_reported(project):
    body = """
    import os

    def test_a(rankgauge_eval):
        rankgauge_eval.log("q1", retrieved=["a"], expected=["a"])

    def test_b(rankgauge_eval):
        os._exit(7)
    """
    done = run(project, "--rankgauge-min", "MRR=0.5", "-n", "1", body=body)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(["1 sample logged by 1 test", "ok     mrr: 1.0000 *"])
