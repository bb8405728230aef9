"""``rankgauge run --label-doubts``: what rankings say about labels, listed whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rankgauge import Result
from rankgauge.result.meaning import merged_manifest


def test_all_doubts_of_a_run_are_listed_if_asked_for_also_by_ids(rankgauge: Any, tmp_path: Path) -> None:
    """q0 to q4 have a label that is retrieved in another spelling, q5 misses one that is nowhere, q6 finds its own."""
    many = [
        {"id": f"q{n}", "expected_output": [f"Docs/d{n}.md"], "actual_output": [f"d{n}", *(f"x{i}" for i in range(11))]}
        for n in range(5)
    ]
    many += [
        {"id": "q5", "expected_output": ["lost"], "actual_output": [f"x{i}" for i in range(12)]},
        {"id": "q6", "expected_output": ["x0"], "actual_output": [f"x{i}" for i in range(12)]},
    ]
    file = tmp_path / "d.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in many), encoding="utf-8")
    plain = rankgauge("run", file, "-m", "rr")
    assert "doubtful" not in plain.out + plain.err
    assert "--label-doubts lists labels that rankings speak against" in plain.out
    lines = rankgauge("run", file, "-m", "rr", "--label-doubts").out.splitlines()
    start = lines.index("doubtful labels: 5 of 7 labels of 7 samples, two signs speaking against each")
    missed = "not within the first 12 results of any system"
    assert lines[start + 1 : start + 8] == [
        *(f"  q{n}, relevant Docs/d{n}.md: {missed}; no ranking has Docs/d{n}.md, and here is d{n}" for n in range(5)),
        "  the system never finds 6 gold labels within 12 results (such as q5)",
        "  no ranking of any question has the id of 6 gold labels (such as q5)",
    ]
    out = tmp_path / "out"
    told = json.loads(rankgauge("run", file, "-m", "rr", "--label-doubts", "--json", "-o", out).out)["label_doubts"]
    assert [doubt["sample"] for doubt in told["doubts"]] == ["q0", "q1", "q2", "q3", "q4"]
    assert told["counts"] == {"missed": 6, "unseen-id": 6}
    assert (
        "--label-doubts shows in a result folder"
        in rankgauge("run", file, "-m", "rr", "--label-doubts", "--format", "jsonl").err
    )
    saved = Result.load(out)
    assert saved.manifest["label_doubts"]["counts"] == told["counts"]
    assert "## Labels" in (out / "report.md").read_text("utf-8")


def test_doubts_of_one_part_are_not_those_of_merged_results() -> None:
    assert "label_doubts" not in merged_manifest([{"label_doubts": {"counts": {}}}, {}])
