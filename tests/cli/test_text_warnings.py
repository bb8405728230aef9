"""The warning that a matcher looks the wrong way, in what a CI system shows."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize("report", ["junit", "markdown"])
def test_reports_for_ci_say_that_a_matcher_refuses_what_stands_there(rankgauge, tmp_path, report):
    gold = "The bridge was opened to traffic in 1932."
    chunk = f"{'Much stands before it. ' * 8}{gold}{' And much behind it.' * 8}"
    sample = {"id": "q1", "expected_output": {"passages": [gold]}, "actual_output": {"retrieved": [{"text": chunk}]}}
    (tmp_path / "data.jsonl").write_text(json.dumps(sample))
    metric, file = "recall(matcher=fuzzy-chunk)@5", tmp_path / "report"
    done = rankgauge(
        *("run", "--data", tmp_path / "data.jsonl", "-m", metric, "--gate", f"{metric} >= 0", f"--{report}", file)
    )
    assert done.code == 0
    assert "1 of 1 gold text are in a retrieved text" in file.read_text().replace("\\", "")
