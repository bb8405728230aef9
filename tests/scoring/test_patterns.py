"""Scores that are remembered by pattern."""

import pytest

from rankgauge.engine.runs import plan_run
from rankgauge.scoring import patterns
from rankgauge.scoring.patterns import PatternScores

FIRST, THIRD, LACKING = (3, (1,), (1,)), (3, (1,), (3,)), (None, (1,), ())


@pytest.fixture
def computed(monkeypatch):
    """Return what grows by how many samples are scored anew, each time that a metric is called."""
    sizes = []
    score_metric = patterns.score_metric

    def counting(plan, metric, target, batch, extra):
        sizes.append(len(batch.ks))
        return score_metric(plan, metric, target, batch, extra)

    monkeypatch.setattr(patterns, "score_metric", counting)
    return sizes


def scores_of(catalog, *metrics, **how):
    return PatternScores.of(plan_run(metrics, catalog=catalog, **how))


def test_every_pattern_is_computed_once(catalog, computed):
    scores = scores_of(catalog, "RR")
    (column,) = scores.score([FIRST, THIRD, FIRST])
    assert column.outcome.values.tolist() == [1.0, 1 / 3, 1.0]
    assert computed == [2]
    (column,) = scores.score([LACKING, THIRD])
    assert column.outcome.values.tolist() == [0.0, 1 / 3]
    assert column.outcome.reasons == {0: "the run has no results for this query"}
    assert computed == [2, 1]


def test_nobody_can_change_the_values_that_are_remembered(catalog):
    scores = scores_of(catalog, "RR", "P@2")
    values = scores.score([FIRST])[0].outcome.values
    for array in (values, values.base):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.5
    assert [column.outcome.values.tolist() for column in scores.score([FIRST])] == [[1.0], [0.5]]


def test_a_failure_is_not_remembered(catalog, computed):
    """No float holds 2 ** 2000."""
    scores = scores_of(catalog, "ndcg(gain=exponential)")
    for _ in range(2):
        (column,) = scores.score([(1, (2000,), (1,)), FIRST])
        assert "too large" in column.outcome.reasons[0]
        assert column.outcome.values[1] == 1.0
    assert computed == [2, 1]


def test_memory_is_bounded(catalog, computed, monkeypatch):
    """A pattern of one judgment and one metric takes three places, so that the third one clears the room."""
    monkeypatch.setattr(patterns, "_ROOM", 7)
    scores = scores_of(catalog, "RR")
    for pattern in (FIRST, THIRD, FIRST, LACKING, FIRST):
        scores.score([pattern])
    assert computed == [1, 1, 1, 1]
    assert scores.score([(9, (1,) * 4, (1, 2, 3, 4))])[0].outcome.values.tolist() == [1.0]
    assert len(scores._known) == 2  # that one is larger than the room, and is not kept


def test_whatever_may_see_more_than_a_pattern_is_left_to_columns(catalog):
    def at_random(ranking):
        return float(ranking.depth)

    assert scores_of(catalog, at_random) is None
    assert scores_of(catalog, "err@5") is None  # the highest grade is that of the whole data
    assert scores_of(catalog, "err(max_grade=3)@5") is not None
    assert scores_of(catalog, "RR", policy={"missing_output": "error"}) is None
