"""`rankgauge metrics diff`: both means, what differs, and which samples change for which reason."""

from __future__ import annotations

import math

import pytest

from draws import in_thorough_suite
from fake_plugins import FakePlugins
from rankgauge.engine.evaluation import Evaluation

PASSAGES = [
    {
        "id": "late",
        "expected_output": {"passages": ["alpha beta", "gamma delta"]},
        "actual_output": [{"id": "1", "text": "x"}, {"id": "2", "text": "alpha beta"}],
    },
    {
        "id": "never",
        "expected_output": {"passages": ["alpha beta"]},
        "actual_output": [{"id": "1", "text": "x"}],
    },
    {"id": "empty", "expected_output": {"passages": []}, "actual_output": [{"id": "1", "text": "x"}]},
]


@pytest.fixture
def diff(rankgauge):
    """Return a function that compares two profiles over a file."""

    def call(data, *arguments, profiles=("remem", "default")):
        options = [part for profile in profiles for part in ("--profile", profile)]
        return rankgauge("metrics", "diff", data, *options, *arguments)

    return call


def test_means_conventions_and_changed_samples(diff, write):
    done = diff(write("d.jsonl", PASSAGES), "-m", "ndcg_any@5", "--json")

    (found,) = done.json["metrics"]
    # REMem: rank 2 is not discounted (log2 of 2), and the ideal is the retrieved list sorted: 1 / 1. Ours: the ideal
    # has both passages.
    ours = (1 / math.log2(3)) / (1 + 1 / math.log2(3))
    assert found["means"] == pytest.approx([1 / 3, ours / 2], abs=1e-12)
    assert found["counts"] == [3, 2]
    assert found["changed"] == 2
    late, empty = found["samples"]
    assert late["id"] == "late"
    assert late["values"] == pytest.approx([1.0, ours], abs=1e-12)
    assert late["conventions"] == ["discount", "ideal"]
    assert empty["id"] == "empty"
    assert empty["values"] == [0.0, None]
    assert empty["conventions"] == ["no_gold"]
    differing = {each["name"]: each["values"] for each in found["conventions"]}
    assert differing["ideal"] == ["retrieved", "gold-at-k"]
    assert differing["discount"] == ["log2-from-2", "log2"]
    assert differing["matcher"] == ["chunk-remem", "passage"]
    assert differing["no_gold"] == ["zero", "undefined"]


def test_repeated_ids_are_a_reason(diff, write):
    row = {
        "id": "twice",
        "expected_output": {"relevant": ["a", "b"]},
        "actual_output": [{"id": "a"}, {"id": "a"}, {"id": "c"}],
    }

    done = diff(write("d.jsonl", [row]), "-m", "P@3", "--json", profiles=("classic", "default"))

    (found,) = done.json["metrics"]
    (sample,) = found["samples"]
    # The classic library counts both copies: 2 of 3; ours counts the first one.
    assert sample["values"] == pytest.approx([2 / 3, 1 / 3], abs=1e-12)
    assert "duplicates" in sample["conventions"]
    assert "'a' is retrieved 2 times" in sample["facts"]


def test_printed_for_people(diff, write):
    out = diff(write("d.jsonl", PASSAGES), "-m", "ndcg_any@5", "-m", "hit(gold=passages)@5").out

    assert out.startswith("d.jsonl: 3 samples, profiles remem and default\n\nndcg_any@5\n")
    assert "    late: 1.0000 / 0.3869  discount, ideal\n" in out
    assert "    empty: 0.0000 / none  no_gold (it has no gold of the kind passages)\n" in out


def test_the_reasons_of_all_samples_that_change_are_summed_up(rankgauge, write):
    """Of five samples two have nothing relevant, which LightGBM counts as 1, and the gain of one differs."""
    shown = {"retrieved": [{"id": "a", "score": 1}]}
    nothing = [{"id": f"none{n}", "expected_output": {"relevant": {"a": 0}}, "actual_output": shown} for n in range(2)]
    same = {"expected_output": {"relevant": {"a": 1}}, "actual_output": shown}
    graded = {"id": "graded", "expected_output": {"relevant": {"a": 1, "b": 2}}}
    rows = [
        *nothing,
        {"id": "s1", **same},
        {"id": "s2", **same},
        {**graded, "actual_output": {"retrieved": [{"id": "a", "score": 2}, {"id": "b", "score": 1}]}},
    ]
    asked = ("metrics", "diff", "--as", "lightgbm", write("d.jsonl", rows), "-m", "ndcg@5", "--samples", "1")

    lines = rankgauge(*asked).out.splitlines()
    at = lines.index("  3 samples change: gain in 1, undefined in 2")
    assert lines[at + 1] == "    2 samples without a score under default count as 1 under lightgbm"
    assert len(lines) == at + 3
    (found,) = rankgauge(*asked, "--json").json["metrics"]
    assert found["causes"] == [{"name": "gain", "samples": 1}, {"name": "undefined", "samples": 2}]
    assert found["count_only_there"] == [{"value": 1.0, "samples": 2}]
    assert found["count_only_here"] == 0


def test_samples_that_leave_the_mean_are_counted(diff, write, monkeypatch):
    monkeypatch.setattr("rankgauge.engine.profile_differences._TRIED", 1)
    out = diff(write("d.jsonl", PASSAGES), "-m", "ndcg_any@5", "--samples", "1").out

    assert "  2 samples change: of the first 1 discount in 1, ideal in 1\n" in out
    assert "    1 sample counts under remem only\n" in out


def test_a_profile_does_not_differ_from_itself(diff, write):
    done = diff(write("d.jsonl", PASSAGES), profiles=("default", "default"))

    assert done.code == 0
    assert done.out.count("no sample changes") == done.out.count("conventions that differ: none") > 0


def test_no_more_samples_than_asked_for(diff, write):
    (found,) = diff(write("d.jsonl", PASSAGES), "-m", "ndcg_any@5", "--samples", "1", "--json").json["metrics"]

    assert found["changed"] == 2
    assert [sample["id"] for sample in found["samples"]] == ["late"]


@in_thorough_suite()
def test_metrics_are_those_that_the_data_has_ground_truth_for(diff, write):
    metrics = [found["metric"] for found in diff(write("d.jsonl", PASSAGES), "--json").json["metrics"]]

    assert "retrieval-recall-at-k" in metrics
    assert "retrieval-ndcg-any-at-k" in metrics
    assert not [name for name in metrics if name.startswith(("answer-", "keyword-"))]


@pytest.mark.parametrize(
    ("profiles", "parts"),
    [
        (("remem",), ["--profile twice", "1 given"]),
        (("remem", "defalt"), ["unknown profile 'defalt'", "did you mean 'default'"]),
    ],
)
def test_what_cannot_be_compared_says_why(diff, write, profiles, parts):
    done = diff(write("d.jsonl", PASSAGES), profiles=profiles)

    assert done.code == 2
    assert not done.out
    assert all(part in done.err for part in parts)


def test_data_that_is_not_there_is_named(diff):
    done = diff("nowhere.jsonl")

    assert done.code == 2
    assert "nowhere.jsonl" in done.err


NEEDS_A_MODEL = """
    from rankgauge.plugin import comparer, hookimpl, sample_metric

    def check():
        raise RuntimeError("the model is not installed")

    @comparer("by-model", check=check)
    def by_model(retrieved, gold):
        "Ask the model."
        raise AssertionError("it was asked")

    @sample_metric("model-says", gold="passages", matcher="by-model >= 0.5")
    def model_says(ranking):
        "Whether the model says so."
        return 1.0

    @hookimpl
    def rankgauge_comparers():
        return [by_model]

    @hookimpl
    def rankgauge_metrics():
        return [model_says]
"""


@in_thorough_suite()
def test_metrics_that_nobody_named_and_that_cannot_work_here_are_left_out_and_told(diff, write, tmp_path, monkeypatch):
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS")
    plugins = FakePlugins(tmp_path, monkeypatch)
    plugins.add("needs-a-model", NEEDS_A_MODEL)
    data = write("d.jsonl", PASSAGES)
    try:
        done = diff(data, "--json")
        assert done.code == 0
        assert "model-says" not in {found["metric"] for found in done.json["metrics"]}
        (line,) = (line for line in done.err.splitlines() if "by-model" in line)
        assert line.startswith("left out: ")
        assert line.endswith("the model is not installed")
        named = diff(data, "-m", "model-says")
        assert named.code == 2
        assert "the model is not installed" in named.err
    finally:
        plugins.forget()


@in_thorough_suite()
def test_all_metrics_are_planned_once_for_each_profile_that_is_tried(rankgauge, write, monkeypatch):
    planned = []
    plan = Evaluation.plan

    def counted(evaluation):
        planned.append(len(evaluation.metrics))
        return plan(evaluation)

    monkeypatch.setattr(Evaluation, "plan", counted)
    data = write("data.jsonl", [{"id": "q", "expected_output": ["a", "b"], "actual_output": ["c", "a", "a"]}])
    done = rankgauge("metrics", "diff", data, "--profile", "remem", "--profile", "default", "--json")
    whole = max(planned)
    assert whole == len(done.json["metrics"])
    # Both profiles when they run, and for the reasons; the rest are conventions taken over, of which there are few.
    assert planned.count(whole) < 30 < whole


def test_judgments_and_a_run_are_given_as_to_other_commands(diff, tmp_path):
    """The lines of the run are out of order; by score a stands first for q, and by the lines b does."""
    qrels, run = tmp_path / "qrels", tmp_path / "a.run"
    qrels.write_text("q 0 a 1\nr 0 a 1\n")
    run.write_text("q Q0 b 2 1.0 t\nq Q0 a 1 2.0 t\nr Q0 b 1 2.0 t\nr Q0 a 2 1.0 t\n")
    options = (qrels, run, "-m", "RR", "--json")
    (found,) = diff(*options, profiles=("trec10", "trec9")).json["metrics"]
    assert [0.75, 0.75] == found["means"]
    (named,) = diff(qrels, "--outputs", run, "-m", "RR", "--json", profiles=("trec10", "trec9")).json["metrics"]
    assert found == named
    twice = diff(*options, "--outputs", run)
    assert (2, True) == (twice.code, f"outputs are given twice: {run} and --outputs {run}" in twice.err)
