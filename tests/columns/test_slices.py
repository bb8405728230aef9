"""Slices: hashing, comparing and ordering texts that stand in one buffer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.columns import Slices, encoded, words_at
from rankgauge.columns import slices as module

IDS = st.lists(st.binary(min_size=1, max_size=40).map(lambda text: text.replace(b"\0", b"0")), max_size=30)


@pytest.mark.parametrize("texts", [[], [""], ["a", "", "doc-12"], ["a", "é"], ["\ud800", "b"]])
def test_strings_stand_there_as_their_bytes_do(texts):
    assert Slices.of_strings(texts).texts() == [encoded(text) for text in texts]


@pytest.mark.parametrize("texts", [[], [""], ["a", "", "doc-12"], ["a", "é", "b"]])
def test_texts_come_back_as_strings(texts):
    assert Slices.of_strings(texts).strings() == texts


def test_bytes_that_are_not_text_come_back_as_strings_that_mean_them():
    assert encoded(Slices.of([b"a\xff"]).strings()[0]) == b"a\xff"


@given(st.text(st.characters(categories=None)))
def test_every_string_has_bytes_and_files_bytes_come_back(text):
    """Strings from JSON and Python may hold lone surrogates, whatever their place in Unicode."""
    assert isinstance(encoded(text), bytes)
    raw = text.encode("utf-8", "surrogatepass")
    assert encoded(raw.decode("utf-8", "surrogateescape")) == raw


def test_a_lone_surrogate_is_three_bytes():
    assert [encoded(text) for text in ("d\ud800", "\udc80", "é")] == [b"d\xed\xa0\x80", b"\x80", b"\xc3\xa9"]


@given(IDS)
def test_texts_come_back_as_they_were(texts):
    assert Slices.of(texts).texts() == texts


@given(IDS)
def test_keys_are_equal_where_texts_are_and_only_there(texts):
    keys = Slices.of(texts).keys().tolist()
    for text, key in zip(texts, keys, strict=True):
        assert [other == text for other in texts] == [other == key for other in keys]


@given(IDS, st.binary(max_size=9), st.binary(max_size=9))
def test_a_key_depends_on_nothing_but_the_text(texts, before, behind):
    plain = Slices.of(texts).keys().tolist()
    surrounded = [before + b"x", *texts, behind * 20 + b"y"]
    assert Slices.of(surrounded).at(slice(1, -1)).keys().tolist() == plain


def key_of(text):
    """Return the hash of a text, one word of eight bytes after the other."""
    whole, key = (1 << 64) - 1, 0
    for at in range(0, max(len(text), 1), 8):
        word = int.from_bytes(text[at : at + 8], "little")
        factor, shift = (0xC2B2AE3D27D4EB4F, 31) if at else (0x9E3779B97F4A7C15, 29)
        key = (word ^ key) * factor & whole
        key ^= key >> shift
    return key


@pytest.mark.parametrize(
    "lengths", [[], [0], [3, 8], [9], [8, 9, 16], [5, 9, 10, 12], [2, 2, 2, 20], [40, 39, 41, 1, 24]]
)
def test_keys_hash_word_by_word_however_many_texts_go_on(lengths):
    texts = [bytes(range(1 + at, 1 + at + length)) for at, length in enumerate(lengths)]
    assert Slices.of(texts).keys().tolist() == list(map(key_of, texts))


def test_the_bytes_around_a_text_do_not_matter():
    """A text of a word and a half, inside a longer one and at the end of its buffer."""
    inside = Slices(Slices.of([b"xxdocument-12yyyy"]).buffer, np.array([module.PADDING + 2]), np.array([11]))
    assert inside.texts() == [b"document-12"]
    assert inside.keys().tolist() == Slices.of([b"document-12"]).keys().tolist()


@given(IDS)
def test_equal_compares_one_by_one(texts):
    turned = texts[::-1]
    expected = [a == b for a, b in zip(texts, turned, strict=True)]
    assert Slices.of(texts).equal(Slices.of(turned)).tolist() == expected


@given(IDS, st.integers(1, 3))
def test_order_is_by_group_then_by_bytes_descending(texts, groups):
    group = np.arange(len(texts)) % groups
    expected = sorted(range(len(texts)), key=lambda at: texts[at], reverse=True)
    expected.sort(key=lambda at: group[at])
    found = [texts[at] for at in Slices.of(texts).order(group).tolist()]
    assert found == [texts[at] for at in expected]


@given(IDS)
def test_texts_too_long_for_a_table_are_treated_the_same(texts):
    long, short = Slices.of(texts), Slices.of(texts)
    group = np.zeros(len(texts), dtype=np.int64)
    expected = [texts[at] for at in short.order(group).tolist()], short.equal(short).tolist()
    limit = module._WIDEST_TABLE
    module._WIDEST_TABLE = 0
    try:
        assert long.table() is None or not texts
        assert ([texts[at] for at in long.order(group).tolist()], long.equal(long).tolist()) == expected
    finally:
        module._WIDEST_TABLE = limit


def test_bytes_order_is_that_of_unsigned_bytes():
    """As strcmp has it: é, whose first byte is 0xC3, stands above every ASCII letter."""
    texts = ["étude".encode(), b"zebra", b"Zebra", b"zebr"]
    order = Slices.of(texts).order(np.zeros(4, dtype=np.int64)).tolist()
    assert [texts[at] for at in order] == ["étude".encode(), b"zebra", b"zebr", b"Zebra"]


@given(st.sets(st.binary(max_size=20), max_size=40).map(sorted), st.randoms(use_true_random=False))
def test_places_in_byte_order_sort_texts(texts, chance):
    """Texts of up to 16 bytes are compared as two integers, longer ones by letters; zero bytes count in the former."""
    if max(map(len, texts), default=0) > 16:
        texts = sorted({text.replace(b"\0", b"0") for text in texts})
    shuffled = chance.sample(texts, len(texts))
    assert [shuffled[place] for place in Slices.of(shuffled).ascending().tolist()] == texts


@given(st.lists(st.text(st.characters(categories=None), max_size=5), max_size=10))
def test_strings_stand_in_a_buffer_as_their_encoded_bytes(texts):
    assert Slices.of_strings(texts).texts() == [encoded(text) for text in texts]


@given(st.lists(st.tuples(st.binary(max_size=90), st.binary(max_size=90)), max_size=20), st.integers(0, 90))
def test_texts_of_any_length_are_compared_in_full(pairs, at):
    """Words of 8 bytes up to 64 bytes, then one by one; the last pair differs in one byte at most."""
    long = b"x" * 89
    pairs = [*pairs, *((one, one) for one, _ in pairs), (long, long[:at] + b"y" + long[at + 1 :])]
    one, other = (Slices.of(texts) for texts in zip(*pairs, strict=True))
    assert one.equal(other).tolist() == [a == b for a, b in pairs]


@pytest.mark.parametrize("count", [1, 255, 256, 40_000])
def test_words_are_the_bytes_that_stand_there(count):
    """Few are gathered one way and many another, in pieces; each as Python reads eight bytes."""
    buffer = np.random.default_rng(count).integers(0, 256, 500, dtype=np.uint8)
    places = np.random.default_rng(1).integers(0, 470, count)
    expected = [int.from_bytes(buffer[at : at + 8].tobytes(), "little") for at in places.tolist()]
    assert words_at(buffer, places).tolist() == expected
    assert words_at(buffer, places.astype(np.int32)).tolist() == expected


@given(IDS)
def test_texts_are_joined_as_python_joins_them(texts):
    assert Slices.of(texts).joined(10) == b"\n".join(texts)
