"""Weights of samples on the command line and in configs."""

from __future__ import annotations

import json

VALUES, WEIGHTS = {"q1": 1, "q2": 2, "q3": 3}, {"q1": 4, "q2": 1, "q3": 0.5}
MEAN = (4 * 1 + 1 / 2 + 0.5 / 3) / 5.5


def found(rank):
    return ["d" if place == rank else f"x{place}" for place in range(1, 4)]


def test_the_command_line_and_configs_take_weights(rankgauge, write):
    samples = [
        {
            "id": query,
            "expected_output": {"relevant": {"d": 1}},
            "actual_output": {"retrieved": found(rank)},
            "metadata": {"importance": WEIGHTS[query]},
        }
        for query, rank in VALUES.items()
    ]
    data = write("data.jsonl", "".join(f"{json.dumps(sample)}\n" for sample in samples))
    file = write("weights.txt", "".join(f"{query} {weight}\n" for query, weight in WEIGHTS.items()))
    use = "metrics: {use: [RR]}\n"
    fields = write("fields.yaml", f"version: 1\ndatasets: {{d: {{path: {data}}}}}\nweights: importance\n{use}")
    files = write("files.yaml", f"version: 1\ndatasets: {{d: {{path: {data}}}}}\nweights: weights.txt\n{use}")
    qrels = write("qrels.txt", "".join(f"{query} 0 d 1\n" for query in VALUES))
    lines = [f"{query} Q0 {name} 1 {-place} t\n" for query in VALUES for place, name in enumerate(found(VALUES[query]))]
    run = write("run.txt", "".join(lines))
    for asked in (
        ("run", "--data", data, "-m", "RR", "--weights", "importance"),
        ("run", "--data", data, "-m", "RR", "--weights", file),
        ("run", fields),
        ("run", files),
        ("trec", qrels, run, "-m", "RR", "--weights", file),
    ):
        done = rankgauge(*asked, "--format", "json")
        assert abs(json.loads(done.out)["metrics"]["rr"]["mean"] - MEAN) < 1e-15
    assert "means are weighted by" in rankgauge("trec", qrels, run, "-m", "RR", "--weights", file).err
    refused = rankgauge("trec", qrels, run, "-m", "RR", "--weights", file, "--format", "trec")
    assert (refused.code, refused.err.count("all queries count the same")) == (2, 1)
    bad = write("bad.txt", "q1 4\nq2\n")
    refused = rankgauge("trec", qrels, run, "-m", "RR", "--weights", bad)
    assert (refused.code, refused.err.count("bad.txt, line 2: it has no id and weight")) == (2, 1)
