"""Scores that are remembered by pattern."""

import pytest

from rankgauge.engine.runs import plan_run
from rankgauge.scoring import patterns
from rankgauge.scoring.patterns import PatternScores
from rankgauge.scoring.score import UNDEFINED

FIRST, THIRD, LACKING = (3, (1,), (1,)), (3, (1,), (3,)), (None, (1,), ())


@pytest.fixture
def computed(monkeypatch):
    """Return what grows by how many patterns are scored anew."""
    sizes = []
    computed = PatternScores._computed

    def counting(scores, patterns):
        sizes.append(len(patterns))
        return computed(scores, patterns)

    monkeypatch.setattr(PatternScores, "_computed", counting)
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
    outcome = scores.score([FIRST])[0].outcome
    for array in (outcome.values, outcome.values.base, outcome.status, outcome.status.base):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.5
    assert [column.outcome.values.tolist() for column in scores.score([FIRST])] == [[1.0], [0.5]]


def test_one_metric_may_have_a_score_where_another_has_none(catalog):
    """A document with grade 0 is judged, and not relevant."""
    for _ in range(2):
        rank, share = scores_of(catalog, "RR", "judged@1").score([FIRST, (3, (0,), (1,))])
        assert (rank.outcome.status.tolist(), share.outcome.status.tolist()) == ([0, UNDEFINED], [0, 0])
        assert (list(rank.outcome.reasons), share.outcome.reasons) == ([1], {})
        assert share.outcome.values.tolist() == [1.0, 1.0]


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


def test_memory_that_is_just_full_is_kept(catalog, computed, monkeypatch):
    """Two patterns take six places; where there are three, each drives the other out, and where two, none is kept."""
    for room, sizes in ((6, [1, 1]), (5, [1, 1, 1, 1]), (3, [1, 1, 1, 1]), (2, [1] * 6)):
        monkeypatch.setattr(patterns, "_ROOM", room)
        scores = scores_of(catalog, "RR")
        for pattern in (FIRST, THIRD, FIRST, FIRST, THIRD, THIRD):
            scores.score([pattern])
        assert computed == sizes
        computed.clear()


def test_a_room_that_was_cleared_has_all_of_its_places_again(catalog, computed, monkeypatch):
    """The third pattern clears the room, into which the first fits beside it."""
    monkeypatch.setattr(patterns, "_ROOM", 6)
    scores = scores_of(catalog, "RR")
    for pattern in (FIRST, THIRD, LACKING, FIRST, LACKING):
        scores.score([pattern])
    assert computed == [1, 1, 1, 1]


def test_columns_have_their_cutoffs_and_the_highest_grade_where_they_have_a_scale(catalog):
    below, high = (3, (-1,), (1,)), (3, (2, 1), (1, 0))
    rank, share, error = scores_of(catalog, "RR", "P@2", "err(max_grade=3)@5").score([FIRST, high])
    assert (rank.k, share.k, error.k) == (None, (2, 2), (5, 5))
    assert (rank.top, error.top) == (2, 2)
    assert scores_of(catalog, "err(max_grade=3)@5").score([below])[0].top == 0
    assert scores_of(catalog, "RR").score([high])[0].top == 0


def test_whatever_may_see_more_than_a_pattern_is_left_to_columns(catalog):
    def at_random(ranking):
        return float(ranking.depth)

    assert scores_of(catalog, at_random) is None
    assert scores_of(catalog, "RR", at_random) is None
    assert scores_of(catalog, "recall(unit='doc#chunk')@5") is None
    assert scores_of(catalog, "err@5") is None  # the highest grade is that of the whole data
    assert scores_of(catalog, "err(max_grade=3)@5") is not None
    assert scores_of(catalog, "RR", policy={"missing_output": "error"}) is None
