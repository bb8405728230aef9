"""Values of batches in one array come to what an array for each batch comes to."""

import json

import numpy as np
import pytest

from rankgauge import Engine
from rankgauge.io import datasets
from rankgauge.scoring import early_scores
from rankgauge.scoring.early_scores import EarlyScores
from rankgauge.scoring.score import MetricScores, Outcome, all_scored
from rankgauge.scoring.scored import join_outcomes

ROWS = [
    {"id": f"q{n}", "expected_output": [f"d{n % 7}", "x"], "actual_output": [f"d{at}" for at in range(n % 9)]}
    for n in range(53)
]


@pytest.fixture
def planned():
    return Engine().dataset(ROWS[:1]).with_metrics("recall@2").plan().metrics[0]


@pytest.mark.parametrize("sizes", [[3, 4, 2], [1, 1, 9, 1], [5, 40, 3]])
@pytest.mark.parametrize("room", [1, 8, 1 << 16])
def test_parts_are_joined_at_the_places_of_their_samples(planned, monkeypatch, sizes, room):
    monkeypatch.setattr(early_scores, "_LEAST", room)
    early, kept, whole, start = EarlyScores(), [], [], 0
    for number, size in enumerate(sizes):
        reasons, status = {}, all_scored(size)
        if number == 1:
            reasons, status = {0: "why"}, np.array([1] + [0] * (size - 1), dtype=np.uint8)
        outcome = Outcome(np.arange(start, start + size) / 7, status, reasons)
        part = MetricScores(planned, planned.targets[0], outcome, 2, {}, {})
        whole.append(outcome)
        kept.append(part if number in {0, len(sizes) - 1} else early.taken(part, start))
        start += size
    joined, expected = early.joined(planned.name, [part.outcome for part in kept]), join_outcomes(whole)
    assert joined.values.tobytes() == expected.values.tobytes()
    assert joined.status.tolist() == expected.status.tolist()
    assert joined.reasons == expected.reasons == {sizes[0]: "why"}


@pytest.mark.parametrize(("size", "n_early"), [(1, 13), (5, 6), (20, 1), (26, 0)])
def test_scores_are_the_same_whatever_is_scored_early(monkeypatch, tmp_path, size, n_early):
    """Samples are judged four at a time, so that batches have a multiple of that; the first is scored at the end."""
    starts = []

    def taken(self, part, start):
        starts.append(start)
        return take(self, part, start)

    take = EarlyScores.taken
    monkeypatch.setattr(EarlyScores, "taken", taken)
    monkeypatch.setattr(early_scores, "_LEAST", 1)
    monkeypatch.setattr(datasets, "_BLOCK", 4)
    monkeypatch.setattr(datasets, "_ROWS", 1)
    file = tmp_path / "s.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    evaluation = Engine().dataset(file).with_metrics(["recall@2", "ndcg@3", "AP", "hit@1"])
    early, late = evaluation.run(batch_size=size), evaluation.run()
    assert len(starts) == 4 * n_early
    for name in late.metrics:
        assert early[name].values.tobytes() == late[name].values.tobytes()
        assert not early[name].values.flags.writeable
        assert early[name].mean == late[name].mean
    assert early.sample_ids == late.sample_ids
