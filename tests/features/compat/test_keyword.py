"""rankgauge.compat.keyword gives the keyword article's numbers."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from features.compat.golden import cases, close
from rankgauge.compat import keyword
from tables import rows


def documents(case):
    if "texts" in case:
        return [SimpleNamespace(page_content=text, metadata={}) for text in case["texts"]]
    return [SimpleNamespace(page_content="", metadata={} if one is None else {"id": one}) for one in case["ids"]]


def call(case):
    function = getattr(keyword, case["call"])
    given = {"k": case["k"]} if "k" in case else {}
    if case["call"] == "calculate_dcg":
        return function(case["relevances"], **given)
    if case["call"] == "calculate_recall_at_k":
        return function(documents(case), set(case["relevant"]), **given)
    return function(case["keyword"], documents(case), **given)


@rows("case", cases("keyword"))
def test_scores_are_the_same(case):
    if "refused" in case:
        with pytest.raises(ValueError, match=case["refused"]):
            call(case)
    else:
        assert close(case["score"]) == call(case)


def test_something_else_than_a_text_is_refused():
    with pytest.raises(ValueError, match="None, which is not a text"):
        keyword.calculate_mrr("x", [SimpleNamespace(page_content=None, metadata={})])


def test_relevant_ids_may_be_a_list_with_repeats():
    document = SimpleNamespace(page_content="", metadata={"id": "1"})

    assert keyword.calculate_recall_at_k([document], ["1", "1", "2"], 1) == 0.5
