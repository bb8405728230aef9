"""The scorer inside inspect_ai: real logs, made with its mock model, scored by its command line."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.solver import solver

from rankgauge import Engine
from rankgauge.errors import ParameterError, PlanError
from rankgauge_hosts.inspect_ai import _rejoined, retrieval

SAMPLES = [
    {"id": "found", "expected_output": {"a": 3, "b": 1}, "actual_output": ["a", "x"]},
    {"id": "undefined", "expected_output": [], "actual_output": ["a"]},
    {"id": "failed", "expected_output": ["a"], "actual_output": {"results": ["a"]}},
    {"id": "missing", "expected_output": ["a"]},
]


@pytest.fixture(scope="module")
def location(driver, tmp_path_factory):
    return driver.make_log(SAMPLES, tmp_path_factory.mktemp("log"))


@pytest.fixture(scope="module")
def scored(driver, location, tmp_path_factory):
    folder = tmp_path_factory.mktemp("scored")
    return driver.score_log(location, folder / "scored.eval", "metrics=recall@1,2,ndcg@10", "k=3")


def test_the_command_line_takes_metrics_as_they_are_written(scored):
    """inspect_ai takes lists with commas apart, and a list of cutoffs has commas, too."""
    log, shown = scored
    assert [score.name for score in log.results.scores] == ["recall@1", "recall@2", "ndcg@10"]
    assert "ndcg@10" in shown


def test_every_sample_has_every_metric_and_the_reason(scored):
    log, _ = scored
    scores = {sample.id: sample.scores["retrieval"] for sample in log.samples}
    assert scores["found"].value == {
        "recall@1": 0.5,
        "recall@2": 0.5,
        "ndcg@10": pytest.approx(3 / (3 + 1 / math.log2(3))),
    }
    assert scores["found"].metadata["recall@1"]["details"]["found"] == 1
    assert scores["found"].metadata["recall@1"]["provenance"]["profile"] == "default"
    assert all(math.isnan(value) for value in scores["undefined"].value.values())
    assert scores["failed"].value == scores["missing"].value == {"recall@1": 0.0, "recall@2": 0.0, "ndcg@10": 0.0}
    assert [scores[name].reason for name in ("found", "undefined", "failed", "missing")] == [
        None,
        "undefined",
        "failed",
        "missing",
    ]
    assert "no 'retrieved'" in scores["failed"].metadata["ndcg@10"]["reason"]
    assert "recall@2 is missing, 0 counts: there is no output" in scores["missing"].explanation


def test_what_is_undefined_is_in_no_mean_and_is_counted(scored):
    log, _ = scored
    for score in log.results.scores:
        assert (score.scored_samples, score.unscored_samples) == (3, 1)
    means = {score.name: score.metrics["mean"].value for score in log.results.scores}
    assert means["recall@1"] == pytest.approx(0.5 / 3)


def test_where_nothing_counts_there_is_no_mean(driver, tmp_path):
    location = driver.make_log([{"id": "q", "expected_output": [], "actual_output": ["a"]}], tmp_path)
    log, _ = driver.score_log(location, tmp_path / "scored.eval", "metrics=recall@5")
    (score,) = log.results.scores
    assert math.isnan(score.metrics["mean"].value)


def test_the_policy_reaches_the_scorer(driver, location, tmp_path):
    policy = json.dumps({"missing_output": "exclude", "no_gold": "zero"})
    log, _ = driver.score_log(location, tmp_path / "scored.eval", "metrics=recall@1", f"policy={policy}")
    values = {sample.id: sample.scores["retrieval"].value["recall@1"] for sample in log.samples}
    assert math.isnan(values.pop("missing"))
    assert values == {"found": 0.5, "undefined": 0.0, "failed": 0.0}


def test_the_log_holds_the_arguments_as_they_were_given(scored):
    log, _ = scored
    assert {score.params["k"] for score in log.results.scores} == {3}


@pytest.mark.parametrize(
    ("argument", "told"), [("metrics=ndgc@10", "unknown metric 'ndgc'"), ("metrics=ERR@10", "infers max_grade")]
)
def test_a_mistake_ends_the_command_before_a_sample_is_scored(location, tmp_path, argument, told, child_environment):
    command = [str(Path(sys.executable).parent / "inspect"), "score", location, "--scorer", "rankgauge_hosts/retrieval"]
    command += ["-S", argument, "--action", "overwrite", "--output-file", str(tmp_path / "out.eval")]
    environment = {**child_environment, "COLUMNS": "300"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode != 0
    assert told in done.stdout + done.stderr
    assert not (tmp_path / "out.eval").exists()


def test_mistakes_surface_when_the_scorer_is_made():
    with pytest.raises(PlanError):
        retrieval(metrics="nope@5")
    with pytest.raises(ParameterError, match="relevant, passages, answer, keywords, nuggets; not 'ids'"):
        retrieval(metrics="ndcg@10", target="ids")


@solver
def emitting(*items):
    async def solve(state, generate):
        state.store.set("hits", list(items))
        return state

    return solve


def run(sample, *solvers, folder, **arguments):
    task = Task(dataset=[sample], solver=list(solvers), scorer=retrieval(**arguments))
    (log,) = evaluate(task, model="mockllm/model", log_dir=str(folder), display="none")
    return log


@pytest.mark.parametrize(
    ("kind", "target", "metric"),
    [
        ("relevant", ["d7", "d9"], "recall@5"),
        ("passages", ["The lighthouse is 41 metres tall."], "recall(matcher=exact)@5"),
        ("answer", "41 METRES", "answer-containment-at-k"),
        ("keywords", ["lighthouse", "tall"], "keyword_coverage@5"),
    ],
)
def test_the_target_is_ground_truth_of_the_kind_that_is_named(kind, target, metric, tmp_path):
    hits = emitting({"id": "d7", "text": "The lighthouse is 41 metres tall."}, {"id": "d9", "text": "?"})
    sample = Sample(id="q", input="?", target=target)
    log = run(sample, hits, folder=tmp_path, metrics=metric, target=kind, retrieved="hits")
    assert set(log.samples[0].scores["retrieval"].value.values()) == {1.0}


@solver
def varying(calls):
    """Retrieve something else in each epoch."""

    async def solve(state, generate):
        state.store.set("retrieved", calls[state.sample_id][state.epoch - 1])
        return state

    return solve


def test_epochs_fold_as_repeats_do(tmp_path):
    """Hits of 1, 0 and 1; 1 and 1 around a malformed output, which counts 0; and a sample without gold."""
    calls = {
        "flips": [["a"], ["x"], ["a"]],
        "fails": [["a"], {"results": ["a"]}, ["a"]],
        "steady": [["a"]] * 3,
        "undefined": [["a"]] * 3,
    }
    gold = {name: [] if name == "undefined" else ["a"] for name in calls}
    samples = [Sample(id=name, input="?", metadata={"gold": gold[name]}) for name in calls]
    task = Task(dataset=samples, solver=varying(calls), scorer=retrieval("hit@1"))
    (log,) = evaluate(task, model="mockllm/model", epochs=3, log_dir=str(tmp_path), display="none")
    (score,) = log.results.scores
    assert score.metrics["mean"].value == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)
    assert (score.scored_samples, score.unscored_samples) == (3, 1)

    outputs = [
        {"id": name, "actual_output": output, "repeat": number}
        for name, emitted in calls.items()
        for number, output in enumerate(emitted, start=1)
    ]
    dataset = [{"id": name, "expected_output": relevant} for name, relevant in gold.items()]
    column = Engine().dataset(dataset).with_metrics("hit@1").run(outputs=outputs)["hit@1"]
    assert score.metrics["mean"].value == pytest.approx(column.mean)
    assert score.metrics["stderr"].value == pytest.approx(column.standard_error)


def test_chunks_of_another_size_hold_the_passage(tmp_path):
    """The default matcher looks both ways: into a longer chunk, and from a shorter one."""
    shorter = {"id": "d2", "text": "on the northern cape is 41 metres tall"}
    longer = {
        "id": "d1",
        "text": "Visitors like it. The lighthouse on the northern cape is 41 metres tall. It is white.",
    }
    sample = Sample(id="q", input="?", target="The lighthouse on the northern cape is 41 metres tall.")
    for number, chunk in enumerate([shorter, longer]):
        arguments = {"metrics": "recall@1", "target": "passages", "retrieved": "hits"}
        log = run(sample, emitting(chunk), folder=tmp_path / str(number), **arguments)
        assert log.samples[0].scores["retrieval"].value == {"recall@1": 1.0}


@solver
def answering(answer):
    """Answer as a model would; `generate()` would download a tokenizer to count with."""

    async def solve(state, generate):
        state.output = ModelOutput.from_content("mockllm/model", answer)
        return state

    return solve


def test_the_completion_is_the_answer(tmp_path):
    sample = Sample(id="q", input="?", metadata={"gold": {"relevant": ["d7"], "answer": "41 metres"}})
    metrics = ["answer-exact-match", "retrieval-mrr"]
    log = run(sample, emitting("x", "d7"), answering("41 metres"), folder=tmp_path, retrieved="hits", metrics=metrics)
    assert log.samples[0].scores["retrieval"].value == {"answer-exact-match": 1.0, "retrieval-mrr": 0.5}


def test_a_sample_without_ground_truth_fails_and_says_what_to_name(tmp_path):
    log = run(
        Sample(id="q", input="?"), emitting("d7"), folder=tmp_path, metrics="recall@5", retrieved="hits", gold="qrels"
    )
    assert log.status == "error"
    assert "there is no 'qrels' in its metadata and no target" in log.error.message


@pytest.mark.parametrize(
    ("given", "metrics"),
    [
        ("recall@1,5", ["recall@1,5"]),
        (["recall@1", "5", "10", "ndcg@10"], ["recall@1,5,10", "ndcg@10"]),
        (
            ["ndcg(gain=exponential", "clamp=true)@10", "retrieval-mrr"],
            ["ndcg(gain=exponential,clamp=true)@10", "retrieval-mrr"],
        ),
        ([{"metric": "ndcg@10"}, "P@5"], [{"metric": "ndcg@10"}, "P@5"]),
        (None, None),
    ],
)
def test_what_the_command_line_takes_apart_is_put_together(given, metrics):
    assert _rejoined(given) == metrics


def test_the_package_is_found_by_name_in_a_process_that_never_imported_it(child_environment):
    script = (
        "from inspect_ai._util.registry import registry_lookup as r; print(r('scorer', 'rankgauge_hosts/retrieval'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120, env=child_environment
    )
    assert "retrieval" in done.stdout
    assert "None" not in done.stdout
