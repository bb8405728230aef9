"""Where lower is better, a difference below 0 is better, in verdicts, wins and signs; and sets of any size."""

from __future__ import annotations

import rankgauge
from draws import in_thorough_suite


def test_a_rank_that_falls_is_better_and_won():
    qrels = {f"q{at}": {"gold": 1} for at in range(12)}
    late = {query: {"x": 3.0, "y": 2.0, "gold": 1.0} for query in qrels}
    early = {query: {"gold": 3.0, "x": 2.0, "y": 1.0} for query in qrels}
    early["q0"] = late["q0"]
    results = rankgauge.evaluate(qrels, runs={"late": late, "early": early}, metrics=["first_rank"])

    (difference,) = results["early"].compare(results["late"]).comparisons[0].metrics.values()
    # Eleven queries move from rank 3 to rank 1, one stays.
    assert (round(difference.difference, 12), difference.wins, difference.ties, difference.losses) == (
        round(-22 / 12, 12),
        11,
        1,
        0,
    )
    assert difference.verdict == "better"
    (back,) = results["late"].compare(results["early"]).comparisons[0].metrics.values()
    assert (back.wins, back.losses, back.verdict) == (0, 11, "worse")


@in_thorough_suite()
def test_many_pairs_are_compared():
    qrels = {f"q{at}": {"gold": 1} for at in range(1_200)}
    runs = {
        "old": {query: {"gold": 1.0} for query in qrels},
        "new": {query: {"x": 2.0, "gold": 1.0} for query in qrels},
    }
    results = rankgauge.evaluate(qrels, runs=runs, metrics=["RR"])

    (found,) = results["new"].compare(results["old"], resamples=100).comparisons[0].metrics.values()
    assert (found.difference, found.losses) == (-0.5, 1_200)
