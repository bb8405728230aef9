"""Gates of tests: the short forms that only tests have, beside the grammar of all gates."""

import pytest

from rankgauge.errors import ParameterError
from rankgauge.features.pytest_plugin.logged_gates import read_gates
from rankgauge.gates.grammar import Bound
from rankgauge.gates.grammar import read_gates as read_any
from tables import rows

SHARP = 'recall(matcher="casefold > equal >= 1")@5'


def read(written, **options):
    gates = read_gates(written, origin="here", **options)
    return [(gate.metric, gate.rule.side, gate.rule.number) for gate in gates]


@rows(
    ("written", "expected"),
    [
        ("ndcg@10=0.42", ("ndcg@10", "better", 0.42)),
        ("ndcg@10 >= 0.42", ("ndcg@10", "minimum", 0.42)),
        ("recall(partial=true)@2000tok>=0.6", ("recall(partial=true)@2000tok", "minimum", 0.6)),
        ("  waste@5<=1e-1 ", ("waste@5", "maximum", 0.1)),
        ("ndcg(gain=exponential)@10=0.5", ("ndcg(gain=exponential)@10", "better", 0.5)),
        ("ndcg(gain=exponential)@10 <= 1", ("ndcg(gain=exponential)@10", "maximum", 1.0)),
        (f"{SHARP} >= .9", (SHARP, "minimum", 0.9)),
        (f"{SHARP}=-3", (SHARP, "better", -3.0)),
        ({"metric": "ndcg@10", "min": 0.4, "where": "tags=x"}, ("ndcg@10", "minimum", 0.4)),
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


@pytest.mark.parametrize("sign", [" >= ", "=", " = "])
def test_what_the_command_line_takes_is_taken_here(sign):
    (gate,) = read_gates(
        f"recall(rel=2)@5{sign}0.6 where tags=legal of q1,q2 level warn", origin="here", side="minimum"
    )
    (other,) = read_any("recall(rel=2)@5 >= 0.6 where tags=legal of q1,q2 level warn")
    assert gate == other
    (gate,) = read_gates(f"recall@5{sign}.6 where metadata.a=b", origin="here", side="minimum")
    assert (gate.metric, gate.where) == ("recall@5", ("metadata.a", "b"))


def test_options_of_the_grammar_work_in_tests():
    (gate,) = read_gates("hit@5 >= 1 per_sample of q1 level warn", origin="here")
    assert (gate.per_sample, gate.of, gate.level, gate.origin) == (True, ("q1",), "warn", "here")
    assert gate.rule == Bound(1.0, "minimum")


@rows(
    ("written", "message"),
    [
        ("ndcg@10", "'ndcg@10' is not a gate"),
        ("=0.5", "'=0.5' is not a gate"),
        ("ndcg(gain=exponential)@10", "is a number, not 'exponential\\)@10'"),
        ("ndcg@10=high", "is a number, not 'high'"),
        ("ndcg@10=nan", "is a number, not 'nan'"),
        ({"ndcg@10": True}, "is a number, not True"),
        ({"ndcg@10": None}, "is a number, not None"),
        ({5: 0.5}, "names a metric such as 'ndcg@10', not 5"),
        ([0.5], "a gate is a text such as"),
        (0.5, "not 0.5"),
        ("ndcg@10 max_drop 0.1", "compares with a baseline, and none is given here"),
        ("ndcg@10 >= 0.1 dataset mine", "names a dataset, and what tests log is none"),
    ],
)
def test_what_is_no_gate_is_an_error_that_says_where_it_stands_and_what_to_write(written, message):
    with pytest.raises(ParameterError, match=f"here: .*{message}"):
        read_gates(written, origin="here")


def test_a_change_is_read_where_a_baseline_is_given():
    (gate,) = read_gates("ndcg@10 not_worse 0.02", origin="here", takes_changes=True)
    assert (gate.metric, gate.is_change) == ("ndcg@10", True)


def test_an_option_for_minima_refuses_a_maximum():
    with pytest.raises(ParameterError, match="'a<=1' is a maximum, but this option takes a minimum"):
        read_gates(["a<=1"], origin="here", side="minimum")
