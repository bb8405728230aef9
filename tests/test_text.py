"""`rankgauge.text`, as a plugin uses it."""

import pytest

from rankgauge import text


def test_messages_are_made_of_counts_lists_and_suggestions():
    assert [text.counted(n, "query", "queries") for n in (1, 1200)] == ["1 query", "1,200 queries"]
    assert text.counted(2, "sample") == "2 samples"
    assert text.listed(["a", "b"]) == "a, b"
    assert "'recall'" in text.did_you_mean("recal", ["recall", "precision"])
    assert text.did_you_mean("xyz", ["recall"]) == ""


def test_what_a_terminal_would_obey_is_shown():
    assert text.visible("a\x1b[31mb\u202e") == r"a\x1b[31mb\u202e"


def test_a_safe_name_is_that_of_the_column():
    assert text.safe_name("ndcg@10") == "ndcg_at_10"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Price: 12,500.00 EUR", ["price", "12500", "eur"]),
        ("the **Café**", ["the", "cafe"]),
        ("B7700, 4.12.3", ["b7700", "4.12.3"]),
        (" ", []),
    ],
)
def test_words_are_those_that_evidence_compares(written, expected):
    assert text.words_of(written) == expected
