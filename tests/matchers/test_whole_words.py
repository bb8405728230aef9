"""`words`: where a word begins and ends, by hand."""

from __future__ import annotations

from rankgauge.matchers.words import is_boundary, stands_whole, whole_words
from tables import rows


@rows(
    ("wanted", "text", "whole"),
    [
        ("41", "1941", False),
        ("41", "in 41.", True),
        ("art", "party", False),
        ("art", "party art", True),
        ("art", "state-of-the-art", True),
        ("x", "x_1", False),
        ("c++", "c++ is", True),
        ("c", "c++", True),
        ("京", "東京都", True),  # between two Chinese characters there is always a boundary
        ("41", "第41回", True),
        ("re", "re\u0301sume\u0301", False),  # the accent belongs to the letter before it
        ("über", "darüber", False),
        ("über", "„über“", True),
        ("кот", "который", False),
        ("", "anything", False),
    ],
)
def test_boundaries(wanted, text, whole):
    assert whole_words([text], [wanted]).tolist() == [[float(whole)]]


def test_both_ends_of_a_text_are_boundaries():
    assert is_boundary("abc", 0)
    assert is_boundary("abc", 3)
    assert not is_boundary("abc", 1)
    assert stands_whole("abc", "abc")
