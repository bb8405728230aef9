"""Looking for gold texts in the bytes of retrieved ones finds what folding all of them would."""

from __future__ import annotations

import random
import sys

import pytest

from draws import draws, is_thorough
from rankgauge.catalog import Catalog
from rankgauge.judging.by_text import TextScorer
from rankgauge.matchers.folded_search import _PLAIN, _UNUSUAL, FoldedSearch
from rankgauge.matchers.words import stands_whole
from tables import rows

CATALOG = Catalog.discover(own_only=True)
SEARCHED = {
    name: CATALOG.matcher(name)
    for name in (
        "contains",
        "contains-cased",
        "contains-lower",
        "keyword",
        "keyword-lower",
        "words",
        "casefold | lower | collapse-whitespace > contained >= 1",
        "collapse-whitespace > whole-words >= 1",
    )
}
PIECES = [
    *("a", "b", "A", "S", "s", "ss", "ß", "ẞ", "k", "\u212a", "i", "I", "İ", "ı", "\u0307", "ﬁ", "f", "é", "E\u0301"),  # noqa: RUF001  # as they are
    *("Σ", "σ", "ς", "中", "文", "の", "\u3099", "한", "，", "Ａ", "Ꭰ", "ꭰ", "😀", "\ud800", "\udc00"),  # noqa: RUF001
    *(" ", "  ", "\t", "\n", "\x1c", "\x85", "\u00a0", "\u3000", "\0", "\x01", ".", "_", "7"),
]


def found(matcher, retrieved, gold):
    """Return the texts that match, by folding each and looking for each."""
    folded, wanted = (list(map(matcher.normalize, texts)) for texts in (retrieved, gold))
    holds = stands_whole if matcher.matcher.comparer == "whole-words" else (lambda one, other: one in other)
    return [
        (row, column, 1.0)
        for row, text in enumerate(folded)
        for column, each in enumerate(wanted)
        if each and holds(each, text)
    ]


def test_what_is_found_is_what_folding_all_texts_finds():
    chance = random.Random(7)  # noqa: S311  # no secret
    for _ in range(draws(2000)):
        pieces = chance.sample(PIECES, chance.randint(2, len(PIECES)))

        def drawn(longest, pieces=pieces):
            return "".join(chance.choices(pieces, k=chance.randint(0, longest)))

        matcher = chance.choice(list(SEARCHED.values()))
        pairs = []
        for _ in range(chance.randint(1, 3)):
            own = [drawn(12) for _ in range(chance.randint(1, 5))]
            begin = chance.randint(0, 3)
            pairs.append((own, [chance.choice(own)[begin : begin + chance.randint(1, 6)], drawn(4)]))
        held = [each.hits for each in TextScorer(matcher).held(pairs)]
        assert held == [found(matcher, *pair) for pair in pairs], (str(matcher), pairs)


@rows(
    "name, retrieved, gold, expected",
    [
        ("contains", ["The  Cat\nSat", "cats", "a cat sat"], ["cat SAT"], [0, 2]),
        ("contains", ["cat\u00a0sat", "cat\u3000\u2003sat", "catsat"], [" cat sat "], [0, 1]),
        ("contains", ["Die Straße", "STRASSE", "die strase", "Straße"], ["die strasse"], [0]),
        ("contains-lower", ["Die Straße", "DIE STRASSE"], ["die strasse"], [1]),
        ("contains", ["30 \u212a", "30 k", "30 K!", "30 é"], ["30 K"], [0, 1, 2]),
        ("contains-cased", ["A  b", "a b"], ["A b"], [0]),
        ("keyword", ["a  b", "A b"], ["a b"], [1]),
        ("contains", ["图书馆在 中山路", "图书馆", "中山路"], ["中山路"], [0, 2]),
        ("contains", ["CAFÉ", "café", "cafe\u0301", "cafe"], ["Café"], [0, 1]),
        ("contains", ["é", "E", "É."], ["é"], [0, 2]),
        ("contains", ["a", "b\0a", "", "ab"], ["b\0a"], [1]),
        ("contains", ["a", "b"], ["a\0b"], []),
        ("words", ["in 1941", "41, he said", "x 41"], ["41"], [1, 2]),
        ("contains", ["anything", ""], ["", " "], []),
    ],
)
def test_texts_that_hold_an_answer(name, retrieved, gold, expected):
    (held,) = TextScorer(SEARCHED[name]).held([(retrieved, gold)])
    assert [row for row, _, _ in held.hits] == expected


def test_nothing_else_folds_to_what_is_searched_for():
    some = range(128, sys.maxunicode + 1) if is_thorough() else [*range(128, 0x600), *range(0x1E00, 0x2200)]
    for code in some:
        symbol = chr(code)
        others = {symbol.casefold(), symbol.lower()} - {symbol}
        assert bool(_PLAIN.search("".join(others))) == (symbol in _UNUSUAL), hex(code)
        assert not (others and _PLAIN.search(symbol)), hex(code)
        assert symbol.casefold().casefold() == symbol.casefold(), hex(code)


@pytest.mark.parametrize(
    "name",
    [
        "folded",
        "chunk",
        "casefold > contained(direction=either) >= 1",
        "casefold > contained(direction=retrieved-in-gold) >= 1",
        "unicode-nfkc | casefold > contained >= 1",
        "casefold | strip-punctuation > contained >= 1",
    ],
)
def test_other_matchers_fold_all_texts(name):
    matcher = CATALOG.matcher(name)
    steps = [step.function for step in matcher.normalizers]
    assert FoldedSearch.of(steps, matcher.compare.func, matcher.settings) is None
    assert all(
        FoldedSearch.of([s.function for s in each.normalizers], each.compare.func, each.settings)
        for each in SEARCHED.values()
    )
