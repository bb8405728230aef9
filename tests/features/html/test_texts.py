"""Texts in the report: each once, within the budget, cut around what matched, and safe."""

from rankgauge.features.html.packing import Excerpt, Texts


def test_equal_texts_are_kept_once():
    texts = Texts(100)
    assert [texts.add("a").place, texts.add("b").place, texts.add("a").place] == [1, 2, 1]
    assert texts.kept == ["a", "b"]


def test_what_matched_is_marked_in_units_of_javascript():
    texts = Texts(100)
    # The character beyond 16 bits counts as two, and the escape of BEL as four.
    assert texts.add("\U0001f600\x07 the match", "the match") == Excerpt(1, 7, 9)
    assert texts.kept == ["\U0001f600\\x07 the match"]


def test_of_a_long_text_the_part_around_the_match_is_kept():
    texts = Texts(10_000)
    found = texts.add("x" * 5000 + "MATCH" + "y" * 5000, "MATCH")
    (kept,) = texts.kept

    assert kept[found.start : found.start + found.length] == "MATCH"
    assert kept == "…" + "x" * 120 + "MATCH" + "y" * 599 + "…"


def test_a_long_text_without_a_match_is_cut():
    texts = Texts(10_000)
    texts.add("x" * 601)
    assert texts.kept == ["x" * 599 + "…"]


def test_after_the_first_text_without_room_none_is_taken():
    texts = Texts(5)
    assert [texts.add(each).place for each in ("abc", "defg", "h", "abc")] == [1, 0, 0, 1]
    assert texts.is_full


def test_a_match_in_a_text_without_room_marks_nothing():
    assert Texts(1).add("abc", "b") == Excerpt(0)
