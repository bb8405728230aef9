"""The grammar of gates: every form that users write, and what each refusal says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.errors import ParameterError
from rankgauge.gates.grammar import EFFECTS, Bound, Gate, MaxDrop, Where, read_gates
from tables import rows

SHARP = 'recall(matcher="casefold > equal >= 1")@5'


def read(written: object) -> Gate:
    (gate,) = read_gates(written)
    return gate


@rows(
    ("text", "expected"),
    [
        ("ndcg@10 >= 0.60", Gate(metric="ndcg@10", rule=Bound(0.6, "minimum"))),
        ("  unjudged@10<=2e-1 ", Gate(metric="unjudged@10", rule=Bound(0.2, "maximum"))),
        (f"{SHARP} >= .9", Gate(metric=SHARP, rule=Bound(0.9, "minimum"))),
        ("bob's metric >= -1", Gate(metric="bob's metric", rule=Bound(-1.0, "minimum"))),
        ("ndcg@10 max_drop 0.01", Gate(metric="ndcg@10", rule=MaxDrop(0.01))),
        ("ndcg@10 max_drop 2%", Gate(metric="ndcg@10", rule=MaxDrop(0.02, is_relative=True))),
        (
            "ndcg@10 max_drop 0 confidence 90% require proof",
            Gate(metric="ndcg@10", rule=MaxDrop(0.0, confidence=0.9, inconclusive="fail")),
        ),
        (
            'recall@5 >= 0.7 where metadata.area="real estate" dataset "my data" level warn',
            Gate(
                metric="recall@5",
                rule=Bound(0.7, "minimum"),
                where=Where("metadata.area", "real estate"),
                dataset="my data",
                level="warn",
            ),
        ),
        (
            'hit@5 >= 1 per_sample of q1, "q 7",q1',
            Gate(metric="hit@5", rule=Bound(1.0, "minimum"), per_sample=True, of=("q1", "q 7")),
        ),
    ],
)
def test_a_text_is_a_metric_a_bound_and_options_in_any_order(text: str, expected: Gate) -> None:
    assert read(text) == expected


@rows(
    ("mapping", "text"),
    [
        ({"metric": "ndcg@10", "min": 0.6}, "ndcg@10 >= 0.6"),
        ({"metric": "unjudged@10", "max": "0.2"}, "unjudged@10 <= 0.2"),
        (
            {"metric": "ndcg@10", "max_drop": 0.01, "confidence": 0.95, "inconclusive": "fell"},
            "ndcg@10 max_drop 0.01",
        ),
        ({"metric": "a", "max_drop": 1, "require": "proof"}, "a max_drop 1 inconclusive fail"),
        ({"metric": "a", "max_drop": 1, "require": "proof", "inconclusive": "fail"}, "a max_drop 1 inconclusive fail"),
        (
            {"metric": "recall@5", "where": "tags=legal", "max_drop": "2%", "level": "warn"},
            "recall@5 max_drop 2% where tags=legal level warn",
        ),
        ({"metric": "a", "min": 1, "where": {"metadata.is_new": True}}, "a >= 1 where metadata.is_new=true"),
        ({"metric": "hit@5", "min": 1, "per_sample": True, "of": ["q1", 7]}, "hit@5 >= 1 of q1,7 per_sample"),
        ({"metric": "a", "min": 0, "of": "q 1", "dataset": "x=y"}, 'a >= 0 of "q 1" dataset "x=y"'),
    ],
)
def test_a_mapping_says_the_same_as_a_text(mapping: dict[str, object], text: str) -> None:
    assert read(mapping) == read(text)
    assert str(read(mapping)) == text


def test_several_bounds_in_one_mapping_are_several_gates() -> None:
    assert list(map(str, read_gates({"metric": "a", "min": 0.5, "max": 0.5}))) == ["a >= 0.5", "a <= 0.5"]
    gates = read_gates({"metric": "a", "min": 0.1, "max": 0.9, "max_drop": 0.05, "level": "warn"}, origin="c.yaml:7")
    assert list(map(str, gates)) == ["a >= 0.1 level warn", "a <= 0.9 level warn", "a max_drop 0.05 level warn"]
    assert {gate.origin for gate in gates} == {"c.yaml:7"}


@rows(
    ("written", "message"),
    [
        ("ndcg@10", r"'ndcg@10' is not a gate; write 'ndcg@10 >= 0.6'"),
        (">= 0.5", "is not a gate"),
        ("ndcg@10 = 0.6", r"'=' is not a sign of gates; write 'ndcg@10 >= 0.6' or 'ndcg@10 <= 0.6'"),
        ("ndcg@10 > 0.6", "'>' is not a sign of gates"),
        ("ndcg@10==0.6", "'==' is not a sign of gates"),
        ("ndcg@10 > high", "'ndcg@10 > high' is not a gate; write 'ndcg@10 >= 0.6'"),
        ("ndcg@10 = high", "'ndcg@10 = high' is not a gate; write 'ndcg@10 >= 0.6'"),
        ("ndcg@10 >= high", "min is a number, not 'high'"),
        ("ndcg@10 >= nan", "min is a number, not 'nan'"),
        ("ndcg@10 >= 60%", "in the metric's own unit, such as 0.9, not '60%'"),
        ("ndcg@10 max_drop", "is not a gate"),
        ("ndcg@10 max_drop -0.1", "max_drop is 0 or more, not '-0.1'"),
        ("ndcg@10 >= 0.6 levle warn", r"cannot read 'levle warn' .*\(did you mean 'level'\?\)"),
        ("ndcg@10 >= 0.6 level warn level warn", "has 'level' twice"),
        ("ndcg@10 >= 0.6 level loud", "level is fail or warn, not 'loud'"),
        ("ndcg@10 >= 0.6 confidence 0.9", "'confidence' belongs to max_drop"),
        ("ndcg@10 max_drop 1 confidence 95", "above 0.5 and below 1, such as 0.95, not '95'"),
        ("ndcg@10 max_drop 1 confidence 0.5", "above 0.5 and below 1, such as 0.95, not '0.5'"),
        ("ndcg@10 max_drop 1 confidence 100%", "above 0.5 and below 1, such as 0.95, not '100%'"),
        ("ndcg@10 max_drop 1 inconclusive perhaps", "inconclusive is fell or fail or warn or pass"),
        ("ndcg@10 max_drop 1 require prof", r"require is proof, not 'prof' \(did you mean 'proof'\?\)"),
        ("ndcg@10 max_drop 1 require proof inconclusive warn", "the gate also says 'warn'"),
        ({"metric": "a", "mn": 1}, r"'mn' is not a key of a gate \(did you mean 'min'\?\)"),
        ({"min": 1}, "a gate names a metric such as 'ndcg@10', not None"),
        ({"metric": " ", "min": 1}, "a gate names a metric"),
        ({"metric": "a"}, "the gate on 'a' has no bound"),
        ({"metric": "a", "min": True}, "min is a number, not True"),
        ({"metric": "a", "min": None}, "min is a number, not None"),
        ({"metric": "a", "min": float("inf")}, "min is a number, not inf"),
        ({"metric": "a", "min": 2, "max": 1}, "no mean is at least 2 and at most 1"),
        ({"metric": "a", "min": 1, "per_sample": "yes"}, "per_sample is true or false, not 'yes'"),
        ({"metric": "a", "min": 1, "of": []}, "at least one"),
        ({"metric": "a", "min": 1, "of": {"q1": 1}}, "a list of sample ids"),
        ({"metric": "a", "min": 1, "of": 5}, "a list of sample ids"),
        ({"metric": "a", "min": 1, "where": "legal"}, "where is one condition such as tags=legal"),
        ({"metric": "a", "min": 1, "where": "area=law"}, "where selects by tags=.* or by metadata.*, not by 'area'"),
        ({"metric": "a", "min": 1, "where": {"a": 1, "b": 2}}, "where is one condition"),
        ({"metric": "a", "min": 1, "dataset": ""}, "the name of a dataset, not ''"),
        (0.5, "a gate is a text such as"),
        (["a >= 1"], "a gate is a text such as"),
        (None, "a gate is a text such as"),
    ],
)
def test_what_is_no_gate_says_where_it_stands_and_what_to_write(written: object, message: str) -> None:
    with pytest.raises(ParameterError, match=f"^--gate: .*{message}"):
        read_gates(written, origin="--gate")


def test_a_long_text_of_quotes_is_refused_at_once() -> None:
    with pytest.raises(ParameterError, match="is not a gate"):
        read_gates("a\"'" * 500)


words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
decimals = st.decimals(-1000, 1000, places=4).map(float)


@given(
    metric=st.sampled_from(["ndcg@10", SHARP, "ndcg(gain=exponential)@10", "my column"]),
    rule=st.one_of(
        st.builds(Bound, decimals, st.sampled_from(["minimum", "maximum"])),
        st.builds(
            MaxDrop,
            decimals.map(abs),
            confidence=st.sampled_from([0.9, 0.95, 0.99]),
            inconclusive=st.sampled_from(EFFECTS),
        ),
        st.integers(0, 500).map(lambda percent: MaxDrop(percent / 100, is_relative=True)),
    ),
    dataset=st.one_of(st.just(""), words),
    where=st.one_of(st.none(), st.builds(Where, st.sampled_from(["tags", "metadata.language"]), words)),
    of=st.lists(words, max_size=3, unique=True).map(tuple),
    per_sample=st.booleans(),
    level=st.sampled_from(["fail", "warn"]),
)
def test_a_gate_reads_back_as_it_is_written(**parts: object) -> None:
    gate = Gate(**parts)  # type: ignore[arg-type]  # drawn by name
    assert read(str(gate)) == gate
