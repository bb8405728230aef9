"""Text from outside, before it is shown."""

import unicodedata

import pytest

from draws import in_thorough_suite
from rankgauge.base.plain_text import all_visible, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 中 👩‍🔬", "plain é 中 👩‍🔬"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\tb\r\n", r"a\tb\r\n"),
        ("\x07\x08\x7f\x9b", r"\x07\x08\x7f\x9b"),
        ("\u202eevil\u2066", r"\u202eevil\u2066"),
        ("\ud800", r"\ud800"),
        ("a\u2028b", r"a\u2028b"),
    ],
)
def test_what_moves_the_cursor_or_reorders_text_becomes_an_escape(text, shown):
    assert visible(text) == shown


def test_characters_to_keep_stay():
    assert visible("a\nb\x1b", keep="\n") == "a\nb\\x1b"


@pytest.mark.parametrize("texts", [[], ["a", "b"], ["a", "\x1b", "b\u202e"]])
def test_many_texts_become_what_each_does(texts):
    assert list(all_visible(texts)) == list(map(visible, texts))


@in_thorough_suite()
def test_no_control_character_passes():
    every = "".join(map(chr, range(0x110000)))
    shown = visible(every)
    assert not {character for character in shown if unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}}
    directed = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    assert not {character for character in shown if unicodedata.bidirectional(character) in directed}
