"""Items without a text, where texts are compared: held against a sample as far as the metric looks."""

from __future__ import annotations

import pytest

CONTAINED = "answer-containment-at-k"
RANKING = [{"id": "a", "text": "nothing of it"}, {"id": "b", "text": "nor here"}, {"id": "c"}]


@pytest.mark.parametrize(("k", "status"), [(2, "scored"), (3, "failed"), (4, "failed")])
@pytest.mark.parametrize("by_sample", [False, True], ids=["pinned", "by-sample"])
def test_an_item_without_text_fails_a_sample_at_the_cutoff_and_not_beyond(score, k, status, by_sample):
    """The item at rank 3 is the last that k=3 looks at, and the first that k=2 does not."""
    metric, own = (CONTAINED, k) if by_sample else (f"{CONTAINED}@{k}", None)

    found = score(metric, {"answer": "late"}, RANKING, k=own)

    assert (found.status, found.value) == (status, 0.0)
    assert ("the item at rank 3 has none" in found.reason) == (status == "failed")


def test_an_item_without_text_is_no_matter_once_the_score_cannot_rise(score):
    ranking = [{"id": "a", "text": "it is late"}, {"id": "b"}]

    found = score(f"{CONTAINED}@2", {"answer": "late"}, ranking)

    assert (found.status, found.value, found.reason) == ("scored", 1.0, "")
