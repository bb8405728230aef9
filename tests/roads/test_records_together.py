"""Samples that are read many at a time are what they are one by one, and so is everything that is wrong with them."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.errors import RankgaugeError
from rankgauge.io import datasets
from rankgauge.policy import PROFILES
from rankgauge.samples import SampleRules, read_sample, read_samples

GOLD = (
    *({"spans": [{"document": "a", "start": 0, "end": 4}]}, {"spans": [{"document": "b", "start": 2, "end": 9}]}),
    *({"passages": ["one two three"]}, {"passages": [{"text": "one two", "grade": 2, "mine": 1}]}),
    *({"passages": "one"}, {"answer": ["one", "two"]}, {"keywords": "two"}, "one two", 41, ["a"], {"a": 1}, {}),
    *({"relevant": ["a"], "passages": None}, {"answer": None}, {"sets": [["a", "b"]]}, {"nuggets": ["one"]}),
    {"spans": [{"document": "a", "start": 0, "end": 4, "text": "one "}, {"document": "a", "start": 9, "end": 20}]},
    {"sets": [{"all_of": [{"document": "a", "start": 0, "end": 4}, {"text": "one"}], "mine": 1}]},
)
ODD_GOLD = (
    *(None, float("nan"), True, " ", {"spans": [{"document": "a", "start": 4, "end": 4}]}, {"passages": [""]}),
    *({"spans": 5}, {"passage": ["one"]}, {"answer": 5.5}, [""], {"a": "high"}),
)
ITEMS = (
    *({"id": "a"}, {"id": "a", "score": 0.5}, {"text": "one two three"}, {"id": "a", "text": "one", "score": 1.5}),
    *({"document": "a", "start": 0, "end": 9}, {"document": "b", "start": 3, "end": 3, "text": "", "mine": 1}),
    *({"id": "b", "text": "one two", "document": "a", "start": 1, "end": 8, "metadata": {"source": "a"}},),
    *({"text": "one", "metadata": {}}, {"id": "a", "content": "one"}, {"id": "a", "document": "one two"}),
)
ODD_ITEMS = (
    *({}, {"id": ""}, {"id": None, "text": "one"}, {"id": 5}, {"text": None}, {"text": 5}, {"id": "a", "score": 1}),
    *({"id": "a", "score": float("inf")}, {"document": "a", "start": 5, "end": 1}, {"document": "", "start": 0}),
    *({"document": "a", "start": 0, "end": 2**60}, {"page_content": "one", "metadata": {}}, "a", None, [], 5),
    *({"document": "a", "start": True, "end": 4}, {"document": "a", "start": "0", "end": 4}),
    *({"id": "a", "document": 5}, {"id": "a", "end": "x"}, {"text": "one", "document": 5, "end": 2.5}),
)
OTHERS = (
    *({"answer": "one two"}, {"answer": None}, {"answer": 5}, {"answer": 5.5}, {"support": {"one": 1}}, {"mine": 1}),
    *({"seconds": 1.5}, {"remarks": ["slow"]}, {"searches": [{"retrieved": ["a"]}]}, {"searches": None}),
    *({"stages": [{"name": "first", "retrieved": ["a"]}]}, {"retrieved": None}, {"source_nodes": []}),
)
METADATA = ({}, {"k": 2}, {"tags": ["t"]}, {"asked_at": "2024-05-01"}, {"answerable": False}, None)
CATALOG = Catalog.discover(own_only=True)


@st.composite
def together(draw):
    """Draw samples that mostly are of one form, as those of a file are."""
    form = st.sampled_from(ITEMS)
    usual, gold = draw(form), draw(st.sampled_from(GOLD))
    has_odd = draw(st.booleans())
    seldom = st.integers(0, 15).map(lambda number: has_odd and not number)

    def item(number):
        own = dict(usual)
        if draw(seldom):
            own = draw(form | st.sampled_from(ODD_ITEMS))
        elif "start" in own:
            own |= {"start": own["start"] + number, "end": own["end"] + 2 * number}
        return own

    records = []
    for number in range(draw(st.integers(5, 30))):
        items = [item(place) for place in range(draw(st.integers(0, 4)))]
        output = items if draw(seldom) else {"retrieved": items}
        if isinstance(output, dict) and draw(seldom):
            output |= draw(st.sampled_from(OTHERS))
        record = {"id": f"q{number}", "input": "?", "expected_output": gold, "actual_output": output}
        if draw(seldom):
            record["expected_output"] = draw(st.sampled_from(GOLD + ODD_GOLD))
        if draw(seldom):
            record |= {"metadata": draw(st.sampled_from((*METADATA, {"k": 0}, 5, float("nan"))))}
        if draw(seldom):
            record |= draw(st.sampled_from([{"actual_output": None}, {"actual_output": "["}, {"mine": 1}, {"id": 5}]))
        if draw(st.integers(0, 200)) == 0:
            del record[draw(st.sampled_from(sorted(record)))]
        records.append(record)
    return records


CONTRACTS = list({repr(each.contract): each.contract for each in PROFILES.values()}.values())


@given(together(), st.sampled_from(CONTRACTS))
def test_samples_are_the_same(records, contract):
    rules, problems = SampleRules(contract), []
    alone = [read_sample(record, rules, problems=problems) for record in records]
    found = read_samples(records, rules)
    if problems:
        assert found is None
    elif found is None:  # an id that is no text, or no ground truth, where the contract takes that
        assert any(type(each.get("id")) is not str or each.get("expected_output") is None for each in records) or any(
            record["expected_output"] != record["expected_output"] for record in records
        )
    else:
        assert found == alone
        assert repr(found) == repr(alone)


def test_a_file_of_one_form_is_read_together():
    """So that the tests here compare two roads."""
    for item in ITEMS[:8]:
        records = [
            {"id": f"q{number}", "expected_output": gold, "actual_output": {"retrieved": [item] * (number % 3)}}
            for number, gold in enumerate(GOLD)
        ]
        with mock.patch("rankgauge.samples.sample_outputs.read_output") as one_by_one:
            read_samples([record for record in records if record["actual_output"]["retrieved"]])
        one_by_one.assert_not_called()


@given(together(), st.sampled_from(CONTRACTS), st.integers(0, 9).map(lambda number: number < 3))
def test_readers_say_the_same(records, contract, repeats_an_id):
    if repeats_an_id:
        records[-1] = {**records[-1], "id": records[0].get("id", "q0")}
    together = outcome(records, contract)
    with mock.patch.object(datasets, "_SMALLEST", len(records)):
        assert outcome(records, contract) == together


def outcome(records, contract):
    """Return all that is read, or is said to be wrong."""
    reader = datasets.DatasetReader(datasets.DataSource(records), catalog=CATALOG, contract=contract)
    try:
        read = repr(list(reader.batches()))
    except RankgaugeError as error:
        read = str(error)
    return read, reader.places, reader.is_labelled, reader.unlabelled, reader.looks_like, reader.count


@pytest.mark.parametrize("odd", [0, 63, 64, 69])
def test_a_line_that_is_wrong_is_named_wherever_it_is(odd):
    records = [
        {"id": f"q{number}", "expected_output": "one", "actual_output": [{"text": "one two"}]} for number in range(70)
    ]
    records[odd]["expected_output"] = 5.5
    with pytest.raises(RankgaugeError, match=rf"samples\[{odd}\]\.expected_output, .*5\.5"):
        Engine().dataset(records).with_metrics("answer-containment-at-k").run()
