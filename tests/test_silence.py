"""Phrases that count as silence: what an answer has to be, and how they are written."""

from __future__ import annotations

import pytest

from rankgauge import Policy
from rankgauge.errors import PolicyError
from rankgauge.silence import is_silence

PHRASES = ("I don't know", "Sorry", "The documents do not say.", "N/A", "-", "わかりません", "Je ne sais pas", "no no")


@pytest.mark.parametrize(
    "answer",
    [
        "", " \n", "I don't know", "i DON\u2019T know.", "  I don't   know!\n", "**I don't know.**", "I dont know",
        "Sorry, I don't know. The documents do not say.", "n/a", "N / A", "N/A.", "-", " - ", "わかりません。",
        "わかりません。 Sorry", "\uff33orry", "\u201cI don't know\u2026\u201d", "no, no no no",
    ],
)  # fmt: skip
def test_an_answer_that_consists_of_phrases_is_silence(answer):
    assert is_silence(answer, PHRASES)


@pytest.mark.parametrize(
    "answer",
    [
        "I don't know the exact date, but it was in 1887.", "I do not know", "know", "I don't", "In 1887. I don't know",
        "na", "--", "no", "no no no", "わかりませんが、1887年です", "1887", "Sorry, it was in 1887.", "I don't know 1",
    ],
)  # fmt: skip
def test_anything_else_says_something(answer):
    assert not is_silence(answer, PHRASES)


def test_without_phrases_only_blank_answers_are_silence():
    assert is_silence("\t", ())
    assert not is_silence("I don't know", ())


def test_a_long_answer_takes_time_in_its_length():
    words = "no " * 20_000
    assert is_silence(words, PHRASES)
    assert not is_silence(f"{words} yes", PHRASES)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3, "not 3"), ([False], "False is not a text; write it in quotes"), ([["x"]], "is not a text"),
        ([" "], "a blank one is not needed"), ({"a": 1}, "is a list of phrases"), (b"no", "is a list of phrases"),
    ],
)  # fmt: skip
def test_what_is_no_phrase_is_refused(value, said):
    with pytest.raises(PolicyError, match=said):
        Policy(abstains=value)


def test_phrases_are_read_once_and_one_text_is_one_phrase():
    assert Policy(abstains=["a", "b", "a"]).abstains == ("a", "b")
    assert Policy(abstains="a, b").abstains == ("a, b",)
    assert Policy(abstains=None).abstains == ()
    assert "abstains" not in Policy().plain()
    assert Policy(abstains=["a"]).plain()["abstains"] == ["a"]
