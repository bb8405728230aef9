"""The contract with promptfoo, which is an npm package: JSON in, a grading result in JSON out."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from rankgauge.errors import DataError, RankgaugeError
from rankgauge_hosts.promptfoo import get_assert

# What promptfoo's wrapper does with `type: python, value: file://assert_retrieval.py`, restated.
WRAPPER = """
import importlib.util, json, sys
path, given, graded = sys.argv[1:]
spec = importlib.util.spec_from_file_location("user_module", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
output, context = json.load(open(given))
json.dump(module.get_assert(output, context), open(graded, "w"), allow_nan=False)
"""


def graded(output, *, gold=("a", "b"), variables=None, metadata=None, **config):
    context = {"vars": {"gold": list(gold), **(variables or {})}, "config": {"metrics": "recall@5", **config}}
    if metadata is not None:
        context["metadata"] = metadata
    return get_assert(output, context)


def test_the_result_is_what_promptfoo_reads(tmp_path):
    (tmp_path / "assert_retrieval.py").write_text("from rankgauge_hosts.promptfoo import get_assert\n")
    context = {
        "prompt": "?",
        "vars": {"gold": {"a": 3, "b": 1}},
        "test": {},
        "config": {"metrics": ["recall@1,5"], "gates": {"recall@5": 0.4}},
        "provider": {},
    }
    (tmp_path / "given.json").write_text(json.dumps(['["a", "x"]', context]))
    command = [
        sys.executable,
        "-c",
        WRAPPER,
        *(str(tmp_path / name) for name in ("assert_retrieval.py", "given.json", "out.json")),
    ]
    subprocess.run(command, check=True, timeout=120)
    found = json.loads((tmp_path / "out.json").read_text())
    about = [part.pop("metadata") for part in found["componentResults"]]
    assert [each["metric"] for each in about] == ["retrieval-recall-at-k@1", "retrieval-recall-at-k@5"]
    assert {"status", "rankgauge", "provider", "fingerprint", "profile"} <= about[0].keys()
    assert found == {
        "pass": True,
        "score": 0.5,
        "reason": "recall@1 is 0.5 (k 1, relevant_count 2, found 1)\n"
        "recall@5 is 0.5 (k 5, relevant_count 2, found 1); at least 0.4 was wanted",
        "namedScores": {"recall@1": 0.5, "recall@5": 0.5},
        "componentResults": [
            {"pass": True, "score": 0.5, "reason": "recall@1 is 0.5 (k 1, relevant_count 2, found 1)"},
            {
                "pass": True,
                "score": 0.5,
                "reason": "recall@5 is 0.5 (k 5, relevant_count 2, found 1); at least 0.4 was wanted",
            },
        ],
    }


def test_a_gate_fails_below_its_limit():
    assert graded(["a"], gates={"recall@5": 0.5})["pass"] is True
    result = graded(["a"], gates={"recall@5": 0.51})
    assert (result["pass"], result["score"]) == (False, 0.5)


def test_where_less_is_better_a_gate_is_the_most(lateness):
    assert graded(["x", "a"], metrics=lateness, gates={lateness: 1})["pass"] is True
    assert graded(["x", "y", "a"], metrics=lateness, gates={lateness: 1})["pass"] is False


@pytest.mark.parametrize("gates", [{}, {"recall@5": 0.0}, {"recall@5": 0.9}])
def test_what_is_undefined_has_no_named_score_and_does_not_pass(gates):
    """No named score, so that no mean of promptfoo's holds it."""
    result = graded(["a"], gold=[], gates=gates)
    assert (result["pass"], result["score"], result["namedScores"]) == (False, 0.0, {})
    assert "undefined, nothing counts" in result["reason"]


def test_a_metric_without_a_gate_may_be_undefined_beside_one_that_has_a_value():
    metrics = {"metrics": ["recall@5", "answer-exact-match"]}
    result = graded(["a"], **metrics, gates={"recall@5": 0.5})
    assert (result["pass"], [part["score"] for part in result["componentResults"]]) == (True, [0.5, 0.0])
    assert graded(["a"], **metrics, gates={"answer-exact-match": 0.5})["pass"] is False


def test_gold_that_promptfoo_took_apart_is_no_pass_and_the_reason_says_what_to_write():
    """promptfoo makes a test of each item of a list in `vars`, so that gold arrives as a text."""
    result = graded(["a"], variables={"gold": "a"}, gates={"recall@5": 0.5})
    assert (result["pass"], result["score"]) == (False, 0.0)
    assert "options: {disableVarExpansion: true}" in result["reason"]
    for whole in ({"a": 1, "b": 1}, '["a", "b"]'):
        assert graded(["a"], variables={"gold": whole}, gates={"recall@5": 0.5})["pass"] is True


def test_a_test_case_that_is_declared_unanswerable_passes():
    result = graded(["a"], variables={"answerable": False}, gates={"recall@5": 0.9})
    assert (result["pass"], result["namedScores"]) == (True, {})


@pytest.mark.parametrize("gates", [{}, {"recall@5": 0.0}])
def test_a_failed_output_never_passes_unless_the_policy_allows_it(gates):
    assert graded("Sorry, I cannot do that.", gates=gates)["pass"] is False
    assert graded("Sorry, I cannot do that.", gates=gates, policy={"max_failed": 1})["pass"] is True


def test_a_failed_output_counts_as_the_policy_says():
    counted = graded("Sorry, I cannot do that.", gates={"recall@5": 0.1})
    assert (counted["pass"], counted["score"], counted["namedScores"]) == (False, 0.0, {"recall@5": 0.0})
    excluded = graded("Sorry.", policy={"failed_output": "exclude"})
    assert (excluded["pass"], excluded["score"], excluded["namedScores"]) == (False, 0.0, {})


@pytest.mark.parametrize("place", [{"variables": {"hits": ["x", "a"]}}, {"metadata": {"hits": '["x", "a"]'}}])
def test_retrieved_items_may_stand_beside_the_answer(place):
    gold = {"relevant": ["a"], "answer": "yes"}
    context = {"vars": {"gold": gold, **place.get("variables", {})}, "metadata": place.get("metadata")}
    context["config"] = {"metrics": ["recall@5", "answer-exact-match"], "retrieved": "hits"}
    assert get_assert("yes", context)["namedScores"] == {"recall@5": 1.0, "answer-exact-match": 1.0}


def test_ground_truth_may_be_json_or_an_answer():
    assert graded(["a"], variables={"gold": '{"a": 2, "b": 0}'})["score"] == 1.0
    assert (
        graded([{"text": "It is 41 metres."}], variables={"gold": "41 metres"}, metrics="answer-containment-at-k")[
            "score"
        ]
        == 1.0
    )


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"metric": "recall@5"}, r"unknown key 'metric' in the assertion's config \(did you mean 'metrics'"),
        ({"gates": {"recall@50": 0.4}}, r"gate for 'recall@50', which is not computed \(did you mean 'recall@5'"),
        ({"gates": {"recall@5": "high"}}, "the gate of 'recall@5' is a number, not 'high'"),
        ({"metrics": "nope@5"}, "unknown metric 'nope'"),
    ],
)
def test_a_config_that_cannot_be_used_says_so(config, told):
    with pytest.raises(RankgaugeError, match=told):
        graded(["a"], **config)


def test_a_test_case_without_ground_truth_is_an_error():
    with pytest.raises(DataError, match="there is no variable 'truth' with its ground truth"):
        get_assert(["a"], {"vars": {"gold": ["a"]}, "config": {"metrics": "P@5", "gold": "truth"}})
