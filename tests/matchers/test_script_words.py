"""Words by script, by hand: Chinese, Japanese, Thai, Korean, Spanish, Arabic, Unicode forms, symbols."""

import unicodedata

import pytest

from rankgauge.matchers.script_words import (
    equal_script_words,
    is_mostly_unspaced,
    script_word_f1,
    script_words,
    unicode,
    unsigned,
)
from rankgauge.matchers.words import words_by_script
from tables import rows


@rows(
    ("text", "words"),
    [
        ("The Eiffel Tower.", ["the", "eiffel", "tower"]),
        ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
        ("在2024年3月", ["在", "2024", "年", "3", "月"]),
        ("กรุงเทพ", ["ก", "รุ", "ง", "เ", "ท", "พ"]),
        ("¿Qué?", ["qué"]),
        ("서울 시", ["서울", "시"]),
        (unicodedata.normalize("NFD", "café 서울"), ["café", "서울"]),
        ("\uff21\uff22\uff23 \uff11\uff12", ["abc", "12"]),
        ("«Straße»", ["strasse"]),
        ("كِتَاب", ["كِتَاب"]),
        ("👍 5 €", ["5", "👍", "€"]),
        ("…!?", []),
        ("", []),
    ],
)
def test_words_of_a_text(text, words):
    assert list(script_words(text)) == words


@pytest.mark.parametrize(
    ("found", "gold", "score"),
    [
        ("东京都", "东京", 2 * 2 / 5),
        ("东京", "北京", 2 * 1 / 4),
        ("東京タワーです", "東京タワー", 2 * 5 / 12),
        ("¿Qué?", "qué", 1.0),
        ("👍", "👎", 0.0),
        ("...", "?", 1.0),
        ("", "東", 0.0),
    ],
)
def test_f1_over_words_by_script(found, gold, score):
    assert script_word_f1([found], [gold]).tolist() == [[pytest.approx(score)]]


def test_the_same_words_in_the_same_order_are_equal():
    assert equal_script_words(["東京。", "京東"], ["東京"]).tolist() == [[1.0], [0.0]]
    assert equal_script_words(["👍"], ["👎"]).tolist() == [[0.0]]


def test_tokens_are_characters_of_scripts_without_blanks():
    assert unicode("甲" * 805) == 805
    assert unicode("one two, three") == 3
    assert unicode("東京 tower") == 3


def test_vowel_signs_are_left_out():
    assert unsigned("كِتَابٌ") == "كتاب"
    assert unsigned("שָׁלוֹם") == "שלום"
    assert unsigned("plain") == "plain"


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("東京タワー", True),
        ("Tokyo 東京", False),
        ("Tokyo 東京タワーです", True),
        ("서울", False),
        ("plain", False),
        ("", False),
    ],
)
def test_what_is_mostly_unspaced(text, is_so):
    assert is_mostly_unspaced(text) == is_so


def test_marks_belong_to_the_letter_before_them_whatever_else_is_beyond_ascii() -> None:
    assert words_by_script("\u201cZoe\u0308\u201d \u2014 \u0928\u092e\u0938\u094d\u0924\u0947\u2026") == [
        "zo\u00eb",
        "\u0928\u092e\u0938\u094d\u0924\u0947",
    ]
    assert words_by_script("\u2014\u0301a\u2019b") == ["a", "b"]  # a mark without a letter
