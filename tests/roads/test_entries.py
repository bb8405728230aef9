"""Retrieved objects read by columns come to what they come to one by one, faults included."""

from __future__ import annotations

from collections import UserDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.policy import PROFILES
from rankgauge.samples import read_output

IDS = st.sampled_from(["a", "b", "é"])
TEXTS = st.sampled_from(["t", "", "  ", None])
SCORES = st.sampled_from([0.0, -1.5, 1e300, None])
STARTS = st.sampled_from([0, 7, 2**53, None])
ODD = st.sampled_from([5, 1.5, 10**400, True, float("nan"), float("inf"), "", "x", None, [], {}])
CONTRACTS = sorted({each.contract for each in PROFILES.values()}, key=repr)


@st.composite
def entries(draw):
    """Draw objects that have the same fields, one of which may be odd, or missing, in one of them."""
    fields = draw(st.sets(st.sampled_from(["id", "text", "score"])))
    values = {"id": IDS, "text": TEXTS, "score": SCORES, "document": IDS, "start": STARTS, "end": STARTS}
    if draw(st.booleans()):
        fields |= {"document", "start", "end"}
    drawn = draw(st.lists(st.fixed_dictionaries({name: values[name] for name in sorted(fields)}), max_size=4))
    if drawn and draw(st.booleans()):
        draw(st.sampled_from(drawn))[draw(st.sampled_from([*values, "more"]))] = draw(ODD)
    if fields and drawn and draw(st.integers(0, 3)) == 0:
        draw(st.sampled_from(drawn)).popitem()
    return drawn


@given(entries(), st.sampled_from(CONTRACTS))
def test_entries_are_read_as_they_are_one_by_one(drawn, contract):
    """Other mappings than dictionaries are read one by one."""
    one_by_one = [UserDict(entry) for entry in drawn]
    assert repr(read_output(drawn, contract=contract)) == repr(read_output(one_by_one, contract=contract))


@pytest.mark.parametrize("strict", [False, True])
def test_texts_without_ids_need_a_contract_that_takes_them(strict):
    contract = CONTRACTS[0]._replace(strict_ids=strict)
    found = read_output([{"text": "t", "score": 1.5}], contract=contract)
    assert (getattr(found, "ids", None), getattr(found, "texts", None)) == ((None, None) if strict else ([None], ["t"]))
