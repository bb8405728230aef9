"""Gates: every form that users write, and what a bound says of a value."""

import pytest

from rankgauge.errors import ParameterError
from rankgauge.pytest_plugin.gates import Bound, Gate, GateOutcome, read_gates

SHARP = 'recall(matcher="casefold > equal >= 1")@5'


def read(written, **options):
    return [(gate.metric, gate.side, gate.bound) for gate in read_gates(written, origin="here", **options)]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("ndcg@10=0.42", ("ndcg@10", "better", 0.42)),
        ("ndcg@10 >= 0.42", ("ndcg@10", "minimum", 0.42)),
        ("  waste@5<=1e-1 ", ("waste@5", "maximum", 0.1)),
        ("ndcg(gain=exponential)@10=0.5", ("ndcg(gain=exponential)@10", "better", 0.5)),
        ("ndcg(gain=exponential)@10 <= 1", ("ndcg(gain=exponential)@10", "maximum", 1.0)),
        (f"{SHARP} >= .9", (SHARP, "minimum", 0.9)),
        (f"{SHARP}=-3", (SHARP, "better", -3.0)),
    ],
)
def test_a_text_is_read_from_its_end_so_that_expressions_may_hold_any_sign(written, expected):
    assert [expected] == read(written)


def test_a_map_and_a_list_are_read_in_order():
    assert [("a", "better", 1.0), ("b@5", "better", 0.5)] == read({"a": 1, "b@5": 0.5})
    assert [("a", "minimum", 1.0), ("b@5", "better", 0.5)] == read(["a>=1", "b@5=0.5"])
    assert [] == read(None) == read([]) == read({})


def test_a_number_alone_takes_the_side_of_the_option():
    assert [("a", "maximum", 1.0)] == read(["a=1"], side="maximum")
    assert [("a", "maximum", 1.0)] == read(["a <= 1"], side="maximum")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("ndcg@10", "'ndcg@10' is not a gate"),
        ("=0.5", "'=0.5' is not a gate"),
        ("ndcg(gain=exponential)@10", "is a number, not 'exponential\\)@10'"),
        ("ndcg@10=high", "is a number, not 'high'"),
        ("ndcg@10=nan", "is a number, not 'nan'"),
        ({"ndcg@10": True}, "is a number, not True"),
        ({"ndcg@10": None}, "is a number, not None"),
        ({5: 0.5}, "starts with a metric such as 'ndcg@10', not with 5"),
        ([0.5], "0.5 is not a gate"),
        (0.5, "not 0.5"),
    ],
)
def test_what_is_no_gate_is_an_error_that_says_where_it_stands_and_what_to_write(written, message):
    with pytest.raises(ParameterError, match=f"here: .*{message}"):
        read_gates(written, origin="here")


def test_an_option_for_minima_refuses_a_maximum():
    with pytest.raises(ParameterError, match="'a<=1' is a maximum, but this option takes a minimum"):
        read_gates(["a<=1"], origin="here", side="minimum")


def test_a_bound_holds_its_own_value_and_no_value_holds_none():
    least, most = Bound("m", 0.5, is_maximum=False), Bound("m", 0.5, is_maximum=True)
    assert [False, True, True] == [least.holds(value) for value in (0.4999, 0.5, 0.6)]
    assert [True, True, False] == [most.holds(value) for value in (0.4999, 0.5, 0.6)]
    assert not least.holds(None)
    assert not most.holds(None)
    assert ("m >= 0.5", "m <= 0.5") == (str(least), str(most))


def test_an_outcome_in_plain_values_names_its_bound_by_its_side():
    counts = {"n": 3, "undefined": 1, "missing": 0, "failed": 0}
    outcome = GateOutcome(bound=Bound("m", 0.5, is_maximum=True), value=0.75, counts=counts, test="t.py::t")
    assert {
        "scope": "t.py::t",
        "metric": "m",
        "maximum": 0.5,
        "value": 0.75,
        "aggregate": "mean",
        "n": 3,
        "n_undefined": 1,
        "n_missing": 0,
        "n_failed": 0,
        "passed": False,
        "reason": "",
    } == outcome.as_dict()


def test_a_gate_remembers_where_it_was_asked_for():
    assert [Gate("a", 1.0, "minimum", "--rankgauge-min")] == read_gates("a>=1", origin="--rankgauge-min")
