"""
The same numbers everywhere: engine, command line and host score the same samples, equal to the last bit.

Each host has a `driver.py`, which says how its users hand samples over and where they find the scores. This module is
run in each host's environment; promptfoo and pytest need none of their own.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankgauge import Engine
from rankgauge.expression import safe_name

TESTS = Path(__file__).parent
CONFIG = TESTS.parent.parent.parent / "configs" / "quickstart" / "rankgauge.yaml"
HOSTS = [os.environ["RANKGAUGE_HOST"]] if "RANKGAUGE_HOST" in os.environ else ["promptfoo", "pytest"]

# What a retriever and a dataset can do wrong, and what a sample can say of itself.
EDGES = [
    {"id": "plain", "expected_output": ["a", "b"], "actual_output": ["x", "a", "b"]},
    {"id": "graded", "expected_output": {"a": 3, "b": 1, "c": 0}, "actual_output": ["b", "c", "a"]},
    {"id": "repeated", "expected_output": ["a", "b"], "actual_output": ["a", "a", "x", "b"]},
    {"id": "short", "expected_output": ["a", "b"], "actual_output": ["b"]},
    {"id": "nothing-found", "expected_output": ["a"], "actual_output": []},
    {"id": "own-k", "expected_output": ["a"], "actual_output": ["x", "y", "a"], "metadata": {"k": 2}},
    {"id": "unanswerable", "expected_output": [], "actual_output": ["x"], "metadata": {"answerable": False}},
    {"id": "no-gold", "expected_output": [], "actual_output": ["x"]},
    {"id": "missing", "expected_output": ["a"]},
    {"id": "malformed", "expected_output": ["a"], "actual_output": {"results": ["a"]}},
    {"id": "blank-id", "expected_output": ["a"], "actual_output": ["a", ""]},
]
METRICS = ["recall@1", "ndcg@3", "ndcg", "retrieval-mrr", "retrieval-map", "P@5", "retrieval-recall-at-k", "judged@3"]


def drivers():
    found = {}
    for host in HOSTS:
        path = TESTS / f"on_{host}" / "driver.py"
        spec = importlib.util.spec_from_file_location(f"driver_of_{host}", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        found.update(module.DRIVERS)
    return found


DRIVERS = drivers()


def by_engine(evaluation):
    """Return each sample's scores by safe name; None where nothing counts."""
    scores = {}
    result = evaluation.run()
    for place, sample in enumerate(result.sample_ids):
        values = {safe_name(name): float(column.values[place]) for name, column in result.metrics.items()}
        scores[sample] = {name: None if math.isnan(value) else value for name, value in values.items()}
    return scores


def by_command_line(arguments, folder):
    command = [sys.executable, "-m", "rankgauge", "run", *arguments, "--format", "jsonl", "--output", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in {0, 3}, done.stderr  # 3: samples are missing and failed, as is meant
    rows = map(json.loads, done.stdout.splitlines())
    return {
        row["sample_id"]: {safe_name(name): found["score"] for name, found in row["scores"].items()} for row in rows
    }


def written(policy):
    return [part for name, value in policy.items() for part in ("--policy", f"{name}={value}")]


@pytest.fixture(autouse=True, scope="module")
def _own_plugins_only():
    """What else is installed here would be loaded by each of the processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKGAUGE_NO_PLUGINS", "1")
        yield


@pytest.fixture(scope="module", params=["outputs.bm25.jsonl", "outputs.char-ngram.jsonl"])
def quickstart(request, tmp_path_factory):
    """Return the samples with the outputs of a retriever, the metrics, and the scores of engine and command line."""
    outputs = CONFIG.parent / request.param
    evaluation = Engine.from_config(CONFIG).dataset("rag.retrieval").with_outputs(outputs)
    expected = by_engine(evaluation)
    run = by_command_line([str(CONFIG), "--outputs", str(outputs)], tmp_path_factory.mktemp("run") / "result")
    return samples_of(outputs), [column.name for column in evaluation.plan().metrics], expected, run


def samples_of(outputs):
    import yaml

    emitted = {row["id"]: row["actual_output"] for row in map(json.loads, outputs.read_text().splitlines())}
    samples = yaml.safe_load((CONFIG.parent / "dataset.yaml").read_text())["samples"]
    return [{**sample, "actual_output": emitted[sample["id"]]} for sample in samples]


def test_the_command_line_gives_the_numbers_of_the_engine(quickstart):
    samples, metrics, expected, run = quickstart
    assert (len(samples), len(metrics)) == (37, 8)
    assert run == expected
    assert {value for scores in expected.values() for value in scores.values()} > {None, 0.0, 1.0}


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_host_gives_the_numbers_of_the_engine(driver, quickstart, tmp_path):
    samples, metrics, expected, _ = quickstart

    found = DRIVERS[driver].scores(samples, metrics, {"config": str(CONFIG)}, tmp_path)

    assert found == expected


@pytest.fixture(
    scope="module",
    params=[{}, {"missing_output": "exclude", "failed_output": "exclude", "no_gold": "zero"}],
    ids=["zero", "exclude"],
)
def odd_samples(request, tmp_path_factory):
    """Return a policy, and the scores of engine and command line by it."""
    evaluation = Engine().dataset(EDGES).with_metrics(METRICS).with_defaults(k=4)
    folder = tmp_path_factory.mktemp("odd")
    data = folder / "edges.jsonl"
    data.write_text("".join(json.dumps(sample) + "\n" for sample in EDGES))
    metrics = [part for metric in METRICS for part in ("-m", metric)]
    arguments = ["--data", str(data), "--k", "4", *metrics, *written(request.param)]
    return (
        request.param,
        by_engine(evaluation.with_profile(**request.param)),
        by_command_line(arguments, folder / "run"),
    )


@pytest.mark.parametrize("driver", DRIVERS)
def test_odd_samples_count_in_a_host_as_in_the_engine(driver, odd_samples, tmp_path):
    policy, expected, run = odd_samples
    assert run == expected
    samples = [sample for sample in EDGES if sample["id"] not in DRIVERS[driver].cannot_say]

    found = DRIVERS[driver].scores(samples, METRICS, {"k": 4, "policy": policy}, tmp_path)

    assert found == {sample["id"]: expected[sample["id"]] for sample in samples}
