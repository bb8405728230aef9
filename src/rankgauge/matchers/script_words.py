"""
Words by script: answers and budgets in texts whose words are not separated by white space and ASCII punctuation.

SQuAD's definitions, and counting what is between blanks, fit English. By script a word is a run of letters, digits
and marks; of scripts without blanks between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) each character; and
each symbol that is no punctuation, such as an emoji. Case and compatibility forms (NFKC) make no difference.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankgauge.matchers.words import count_unspaced, words_by_script
from rankgauge.plugin import comparer, tokenizer

__all__ = [
    "equal_script_words",
    "is_mostly_unspaced",
    "script_word_f1",
    "script_words",
    "unicode",
    "unsigned",
]

_OTHERS = re.compile(r"[^\w\s\x00-\x7f]")
_SIGNS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc]"
)
"""Vowel signs and other points of Hebrew and Arabic, and the stroke that makes an Arabic word wider."""

_MOSTLY = 0.5


@functools.lru_cache(maxsize=1 << 12)
def script_words(text: str) -> tuple[str, ...]:
    """Return the words of a text by script, folded, then its symbols."""
    symbols = () if text.isascii() else filter(_is_symbol, _OTHERS.findall(text))
    return (*words_by_script(text), *symbols)


def _is_symbol(symbol: str) -> bool:
    return unicodedata.category(symbol)[0] == "S"


def unsigned(text: str) -> str:
    """Return a text without the vowel signs of Arabic and Hebrew, which are mostly left out."""
    return text if text.isascii() else _SIGNS.sub("", unicodedata.normalize("NFD", text))


def is_mostly_unspaced(text: str) -> bool:
    """Return whether at least half of what a text has between blanks is of scripts without blanks between words."""
    return not text.isascii() and count_unspaced(text) >= _MOSTLY * max(sum(map(len, text.split())), 1)


@comparer("equal-script-words", laws=("reflexive", "symmetric"))
def equal_script_words(retrieved: Sequence[str], gold: Sequence[str]) -> NDArray[np.float64]:
    """
    Score 1 if two texts have the same words by script, in the same order, else 0.

    Returns:
        Shape (retrieved, gold); 1 for two texts without a word.
    """
    wanted = list(map(script_words, gold))
    rows = [[script_words(found) == each for each in wanted] for found in retrieved]
    return np.array(rows, dtype=np.float64).reshape(len(retrieved), len(gold))


@comparer("script-word-f1", laws=("reflexive", "symmetric"))
def script_word_f1(retrieved: Sequence[str], gold: Sequence[str]) -> NDArray[np.float64]:
    """
    Score the harmonic mean of the shares of both texts' words, by script, that they have in common.

    Formula: that of `token-f1` over words by script, which for Chinese is over characters, as in MLQA's evaluation.

    Returns:
        Shape (retrieved, gold); 1 for two texts without a word, 0 if one has none.
    """
    wanted = [Counter(script_words(text)) for text in gold]
    block = np.zeros((len(retrieved), len(gold)))
    for row, found in enumerate(map(Counter, map(script_words, retrieved))):
        for column, bag in enumerate(wanted):
            total = found.total() + bag.total()
            block[row, column] = 2 * (found & bag).total() / total if total else 1.0
    return block


@tokenizer("unicode", laws=("monotone", "subadditive"))
def unicode(text: str) -> int:
    """Count words by script: of Chinese, Japanese, Thai and other scripts without blanks each character is one."""
    return len(words_by_script(text))
