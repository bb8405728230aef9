"""The kernel and numpy's road come to the same prepared texts, words and covers, to the last bit."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.kernel import installed_kernel
from rankgauge.matchers import prepared_texts
from rankgauge.matchers.cover import cover_batch, covered_parts, cut_from_batch
from rankgauge.matchers.prepared_texts import prepared
from rankgauge.matchers.spelling import joined_words
from rankgauge.matchers.word_runs import WordStream, read_words

pytest.importorskip("rankgauge_fast._kernel", reason="rankgauge-fast is not compiled here: `make test-fast` does it")

PARTS = (
    *("a", "Ab", "can", "don", "n", "not", "NOT", "t", "é", "ÉA", "ñ", "\u0301", "北京", "が", "ไ", "İ", "ß", "ﬁ", "٣"),
    *("12", "0", "2.50", "12,500", "5", "½", "²", "Ⅳ", "ª", "２", "，", "．", "A1", "_b", "B-7", "4.12.3", "😀"),  # noqa: RUF001
    *(" ", " ", "  ", "_", "-", "/", ".", ",", ":", "|", "#", "\t", "\n", "\r\n", "\x0b", "\x1c", "\0", "\2", "\5"),
    *("..", "...", "\u2026", "\u2019", "\u2018", "\u201c", "\u2014", "\u2010", "\u00ad", "\xa0", "\u2028", "\ud800"),
    *("n't", "N\u2019T", "'t", "cannot", "Cannot", "CANNOT", "nnot", "<b>", "<", "&amp;", "&", "&#39;", "\\", "\\n"),
    *("](x)", "](", "](a b)", "](é)", "](\\n)", "(", ")", "-\n", "- \r\n  ", "\n 3. ", "\n12) ", "\n1.", "\\u0002"),
    *(
        "<p>",
        "</LI >",
        "<h7>",
        '<span class="é">',
        "</",
        "<b\xa0>",
        "&lt;",
        "&quot;",
        "&nbsp;",
        "&AMP;",
        "&am",
        "](\u3000)",
    ),
    *("\\u00e9", "\\u0000", "\\ud83d\\ude00", "\\ud83d", "\\uD83D\\u0041", "\\u12", "\\u2019t", "\\u003cb>", "\\u00ad"),
    *("x" * 7, "x" * 8, "y" * 9, "z" * 40, "é" * 200, "z" * 300 + "é"),
)
WORDS = (
    *(
        "the",
        "small",
        "pump",
        "in",
        "Hamburg",
        "costs",
        "a",
        "not",
        "don't",
        "n't",
        "12,500",
        "12500",
        "2.50",
        "2.5",
        "4.12.3",
    ),
    *("ÉTÉ", "été", "北", "京", "馆", "B-7700", "(see", "it)", "x" * 70, "1" * 70, ",".join(["1", *["111"] * 30])),
)


def words_of(texts):
    """What texts come to, in values that compare."""
    stream = read_words(texts)
    columns = dict(zip(WordStream._fields, stream, strict=True))
    assert {name: column.dtype.str for name, column in columns.items() if name != "data"} == {
        name: {"words": "<u8", "flags": "|u1"}.get(name, "<i8") for name in columns if name != "data"
    }
    return {name: column if name == "data" else column.tolist() for name, column in columns.items()}


@given(st.lists(st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=3)), max_size=30).map("".join), max_size=6))
@settings(deadline=None, max_examples=400)
def test_words_are_those_of_numpy(without, texts):
    assert words_of(texts) == without(words_of, texts)


@given(st.lists(st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=3)), max_size=12).map("".join), max_size=6))
@settings(deadline=None, max_examples=400)
def test_texts_are_prepared_as_in_python(texts):
    expected = [joined_words([text]).encode("utf-8", "surrogatepass") for text in texts]
    assert prepared(installed_kernel(), texts) == expected


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("Don't; you cannot.", "Don not; you can not."),
        ("2019\u2019s \u201csmall\u201d pump\u2014in Zürich", "2019 s  small  pump-in \2zurich"),
        ("see [this](docs/a-b.md#c) and [that] (x)", "see [this]  and [that] (x)"),
        ("hy-\n  phen - \nno\n 12. item\n1.5", "hyphen - \nno\nitem\n1.5"),
        ("well... so\u2026 no..", "well\3 so\3 no.."),
        ("a < b & c, R&D", "a < b & c, R&D"),
        ("北京。", "\4北  \4京 ."),
        (r"a \"b\"\n1. \u00e9t\u00C9 \ud83d\ude00 \u0002 \x", 'a "b"\n\1ete     \\x'),
        ("a <b>b</b><p class='é'>c<br/>d <h7>", "a  b \nc\nd <h7>"),
        ("R&amp;D &lt;b>&nbsp;x&quot;", 'R&D <b> x"'),
        ("[so](https://例え.jp/é) [no](\u3000)", "[so]  [no]( )"),
    ],
)
def test_plain_texts_are_prepared_by_the_kernel(text, made):
    """Each is known; none is handed back."""
    (found,) = installed_kernel().prepare_texts([text], prepared_texts._signs(), prepared_texts._WIDE_WORDS)
    assert found.decode() == made == joined_words([text])


@st.composite
def samples(draw):
    """Gold texts and retrieved ones, cut out of them and of others."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    words = chance.sample(WORDS, chance.randint(2, len(WORDS)))

    def text(most):
        joints = chance.choices((" ", " ", " ", ", ", "\n", ". "), k=most)
        return "".join(word + joint for word, joint in zip(chance.choices(words, k=most), joints, strict=True))

    gold = [text(chance.choice((0, 1, 2, 3, 5, 6, 9, 30))) for _ in range(chance.randint(0, 3))]
    wholes = [*gold, text(20), text(4), "..."]
    retrieved = []
    for _ in range(chance.randint(0, 6)):
        whole = chance.choice(wholes)
        begin, end = sorted((chance.randint(0, len(whole)), chance.randint(0, len(whole))))
        retrieved.append(text(chance.randint(0, 2)) + whole[begin:end])
    return retrieved, gold


def found_by(some, n):
    """Covers, shares and parts, in values that compare."""
    retrieved, gold = [own for own, _ in some], [others for _, others in some]
    covers = [[column.tolist() for column in found[:5]] for found in cover_batch(retrieved, gold, n=n)]
    bounded = [[column.tolist() for column in found[:5]] for found in cover_batch(retrieved, gold, n=n, cutoff=0.5)]
    shares = [block.tolist() for block in cut_from_batch(retrieved, gold, n=n)]
    return covers, bounded, shares, covered_parts(retrieved, gold, n=n)


@given(st.lists(samples(), max_size=4), st.integers(1, 6))
@settings(deadline=None, max_examples=400)
def test_what_texts_cover_is_the_same_where_others_are_left_out(without, some, n):
    assert found_by(some, n) == without(found_by, some, n)


def test_words_that_do_not_fit_are_refused():
    kernel, blank = installed_kernel(), b" " * 16

    def read(raw, *, data=None, says=bytes(256), texts=1, short=None):
        most = len(raw) // 2
        sizes = [most, most, most, most + 1, texts + 1, most, most]
        types = [np.uint64, np.int64, np.uint8, *[np.int64] * 4]
        columns = [
            np.zeros(max(size - (number == short), 0), dtype=kind)
            for number, (size, kind) in enumerate(zip(sizes, types, strict=True))
        ]
        return kernel.read_words(raw, raw if data is None else data, says, *columns)

    raw = b" ab c" + blank
    assert read(raw) == 2
    assert read(b" ab\0c" + blank, texts=2) == 2
    assert read(b" ab\0" + blank, texts=2) == 1
    wrong = [
        {"data": raw[:-1]},
        {"data": raw + b" "},
        {"says": b""},
        {"texts": 0},
        {"texts": 2},  # there is one
        *({"short": number} for number in range(7)),
    ]
    for each in wrong:
        with pytest.raises(ValueError, match="do not fit"):
            read(raw, **each)
    for text in (b"", b" " * 15, b" a\0b" + blank):
        with pytest.raises(ValueError, match="do not fit"):
            read(text)


def test_texts_that_do_not_fit_are_refused():
    kernel, signs = installed_kernel(), bytes(896)
    for texts, table in ((("a",), signs), (["a"], signs[1:])):
        with pytest.raises(ValueError, match="do not fit"):
            kernel.prepare_texts(texts, table, {})
    with pytest.raises(TypeError):
        kernel.prepare_texts(["a", 1], signs, {})
    with pytest.raises(KeyError, match="é"):
        kernel.prepare_texts(["a", "é"], signs, {})


def test_samples_that_do_not_fit_are_refused():
    kernel, none = installed_kernel(), np.empty(0, np.uint64)
    good = {
        "parts": (b"so it goes on here then", b"and so it goes"),
        "golds": np.array([1]),
        "others": np.array([1]),
        "n": 3,
        "cutoff": 0.0,
        "says": bytes(256),
        "negations": none,
        "numbers": none,
        "counts": np.empty(1, np.int64),
        "sizes": np.empty(1, np.int64),
    }
    found = kernel.cover_texts(*good.values())
    assert np.frombuffer(found, np.int64).tolist() == [0, 0, 0, 8, 6, 0, 3, 0]
    assert (good["counts"].tolist(), good["sizes"].tolist()) == ([1], [18])
    wrong = [
        {"parts": good["parts"][:1]},
        {"parts": good["parts"] * 2},
        {"golds": np.array([2])},
        {"golds": np.array([3]), "others": np.array([-1])},
        {"others": np.array([1, 0])},
        {"n": 0},
        {"says": b""},
        {"negations": np.arange(512, dtype=np.uint64)},
        {"numbers": np.arange(512, dtype=np.uint64)},
        {"counts": np.empty(2, np.int64)},
        {"sizes": np.empty(2, np.int64)},
    ]
    for each in wrong:
        with pytest.raises(ValueError, match="do not fit"):
            kernel.cover_texts(*(good | each).values())
    for parts in ((b"a", "b"), (None, b"b"), [b"a", b"b"]):
        with pytest.raises(TypeError):
            kernel.cover_texts(*(good | {"parts": parts}).values())
