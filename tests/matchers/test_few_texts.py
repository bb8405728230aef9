"""The texts of one small sample cover the same one by one as in columns, to the last bit."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import in_thorough_suite
from rankgauge.matchers import cover
from rankgauge.matchers.few_texts import cover_few

WORDS = (
    *("a", "the", "mouse", "Mouse", "tail", "fell", "not", "no", "isn't", "cannot", "e-mail", "well-", "known"),
    *("12,500", "12500", "12500.0", "2.50", "2.5", "4.12.3", "B-7700", "3/4", "2024-03-11", "10:30", "three", "iOS"),
    *("snake_case", "a__b", "_x_", "é", "naïve", "<b>bold</b>", "&amp;", "...", "…", "\udc80", "北", "京"),
)
SIGNS = (" ", " ", ". ", "\n", ",", ": ", "-", "- ", "\n\n", " | ", "_", "", "\t", "\0")


def in_columns(retrieved, gold, n, cutoff):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cover, "_cover_few", lambda *_: None)
        return cover.cover_batch([retrieved], [gold], n=n, cutoff=cutoff)[0]


def assert_same(retrieved, gold, n, cutoff):
    few = cover_few(retrieved, gold, n, cutoff)
    if few is None:
        return False
    expected = in_columns(retrieved, gold, n, cutoff)
    for own, other in zip(few[:5], expected[:5], strict=True):
        assert own.dtype == other.dtype
        assert own.tolist() == other.tolist()
    assert few.n_retrieved == expected.n_retrieved
    return True


def drawn(chance):
    """Draw gold texts, and retrieved ones of which most are cut from them and changed."""
    vocabulary = chance.sample(WORDS, chance.randint(2, len(WORDS)))

    def text(most):
        signs = [" "] if chance.random() < 0.5 else SIGNS
        return "".join(chance.choice(vocabulary) + chance.choice(signs) for _ in range(chance.randint(0, most)))

    def cut(gold):
        if not gold or chance.random() < 0.2:
            return text(20)
        whole = chance.choice(gold)
        begin = chance.randint(0, len(whole))
        part = whole[begin : chance.randint(begin, len(whole))]
        if chance.random() < 0.5:
            part = text(4) + part + text(4)
        at = chance.randint(0, len(part))
        return part[:at] + chance.choice(WORDS) + part[at + 1 :] if chance.random() < 0.3 else part

    gold = [text(30) for _ in range(chance.randint(1, 3))]
    return [cut(gold) for _ in range(chance.randint(0, 5))], gold


@given(st.integers(0, 2**32), st.sampled_from([3, 3, 3, 2, 4]), st.sampled_from([0.0, 0.5, 0.9, 1.0]))
def test_few_texts_cover_what_they_do_in_columns(seed, n, cutoff):
    chance = random.Random(seed)  # noqa: S311  # no secret
    for _ in range(5):
        assert_same(*drawn(chance), n, cutoff)


@in_thorough_suite()
def test_pages_cover_what_they_do_in_columns():
    """Chunks and passages of the project's own pages, cut wherever."""
    pages = [path.read_text("utf-8") for path in sorted((Path(__file__).parents[2] / "docs").rglob("*.md"))]
    chance, n_few = random.Random(11), 0  # noqa: S311  # no secret
    for _ in range(300):
        page, size = chance.choice(pages), chance.choice((60, 200, 500, 1_000))
        retrieved = [page[at : at + size] for at in range(0, min(len(page), 20 * size), size)]
        gold = [page[at : at + chance.randint(20, 400)] for at in chance.choices(range(len(page)), k=2)]
        n_few += assert_same(retrieved, gold, 3, 0.5)
    assert n_few > 240


def parts(retrieved, gold):
    few = cover_few(retrieved, gold, 3, 0.5)
    return [column.tolist() for column in few[:4]]


GOLD = "how the brown mouse fell down the stairs"  # 3 + 3 + 5 + 5 + 4 + 4 + 3 + 6 = 33 letters


def test_parts_are_letters_of_gold_texts():
    """The second text has the first four words, the third one the last five."""
    found = parts(["other words", "See how the Brown mouse.", "mouse fell down the stairs!"], [GOLD])
    assert found == [[1, 2], [0, 0], [0, 11], [16, 33]]


def test_words_that_are_cut_count_in_part():
    """`ow` of `how` is at the beginning of the text, and `fe` of `fell` at its end."""
    assert parts(["ow the brown mouse fe"], [GOLD]) == [[0, 0, 0], [0, 0, 0], [1, 3, 16], [3, 16, 18]]
    assert parts(["how the brown mouse fell down the sta"], [GOLD])[2:] == [[0, 27], [27, 30]]


def test_runs_that_lack_a_word_count_beside_a_piece_of_it():
    assert parts(["ouse fell down"], ["how the brown mouse fell down"])[2:] == [[12, 16], [16, 24]]


def test_a_gold_text_of_few_words_is_there_whole():
    assert parts(["it has 12,500 seats in all"], ["12500.0 seats", "seats in use"]) == [[0], [0], [0], [12]]


def test_what_is_no_few_texts_is_left_to_columns():
    assert cover_few(["a b c"], ["a b c"], 1, 0.5) is None
    assert cover_few(["a b c"], [], 3, 0.5) is None
    assert cover_few(["a b c"], ["...", "a b c"], 3, 0.5) is None
    assert cover_few(["北京 a b c"], ["a b c"], 3, 0.5) is None
    assert cover_few(["a" * (1 << 15)], ["a b c"], 3, 0.5) is None
    assert cover_few([], ["a b c"], 3, 0.5).row.tolist() == []
    assert isinstance(cover_few(["a b c"], ["a b c"], 3, 0.5).size, np.ndarray)
