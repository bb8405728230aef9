"""What results of runs say of how the run fits the judgments."""

import pytest

import rankgauge


@pytest.mark.parametrize("n", [3, 300])
def test_a_run_of_which_nothing_is_judged_says_so(n):
    qrels = {f"q{number}": {f"doc{number}": 1} for number in range(n)}
    run = {f"q{number}": {f"doc{number}#1": 1.0} for number in range(n)}
    (note,) = rankgauge.evaluate(qrels, run, ["RR"]).notes
    assert note.startswith("no retrieved document is judged, so nothing that was found counts")
    assert rankgauge.evaluate(qrels, run | {"q0": {"doc0": 1.0}}, ["RR"]).notes == ()
