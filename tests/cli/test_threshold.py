"""`rankgauge threshold`: a table, JSON, and what a result lacks."""

import json

import pytest

from rankgauge import Engine, threshold


def evaluated(metrics):
    samples = [
        {
            "id": f"q{number}",
            "expected_output": ["d1"] if number % 2 else [],
            "metadata": {"answerable": bool(number % 2)},
            "actual_output": [{"id": "d1", "score": number / 100 + number % 2}],
        }
        for number in range(40)
    ]
    return Engine().dataset(samples).with_metrics(metrics).run()


@pytest.fixture
def result():
    return evaluated(["false_answers", "false_abstentions", "top_score", "hit@1"])


def test_the_command_prints_a_table_and_json(rankgauge, tmp_path, result):
    result.save(tmp_path / "r")
    shown = rankgauge("threshold", tmp_path / "r", "-m", "hit@1", "--at-most", "0.1")
    assert shown.code == 0
    assert "at most 10 % false answers: say nothing below" in shown.out
    assert "reported on the other" in shown.out
    found = rankgauge("threshold", tmp_path / "r", "-m", "hit@1", "--at-most", "0.1", "--json").json
    assert found == json.loads(json.dumps(threshold(result, "hit@1", at_most=0.1).to_dict()))


def test_the_command_refuses_a_result_that_has_no_such_columns(rankgauge, tmp_path):
    evaluated(["hit@1"]).save(tmp_path / "r")
    done = rankgauge("threshold", tmp_path / "r")
    assert (done.code, "-m false_answers" in done.err) == (2, True)
