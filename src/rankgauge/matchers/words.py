"""
Words: where one may begin, comparers of answers and keywords word by word, and the tokenizers of built-in budgets.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.late_pattern import late_pattern
from rankgauge.matchers.spelling import UNSPACED_CHARACTER, is_mark, word_parts
from rankgauge.plugin import comparer, tokenizer

__all__ = [
    "chars4",
    "count_unspaced",
    "equal_tokens",
    "is_boundary",
    "stands_whole",
    "token_f1",
    "whole_words",
    "word_around",
    "words",
    "words_by_script",
]


def is_boundary(text: str, at: int) -> bool:
    """Return whether a word may begin or end at a place of a text: punctuation, white space, a Chinese character."""
    if not 0 < at < len(text):
        return True
    before, behind = text[at - 1], text[at]
    if behind.isascii() and before.isascii():
        return not (_is_letter(before) and _is_letter(behind))
    joined = (_is_letter(before) or is_mark(before)) and _is_letter(behind)
    return not is_mark(behind) and (not joined or UNSPACED_CHARACTER.search(before + behind) is not None)


def word_around(text: str, at: int, size: int) -> str:
    """Return a part of a text with the rest of the words that it begins and ends in."""
    end = at + size
    while not is_boundary(text, at):
        at -= 1
    while not is_boundary(text, end):
        end += 1
    return text[at:end]


def words_by_script(text: str) -> list[str]:
    """Return the folded words of a text as it is, markup and all."""
    if text.isascii():
        return list(map(str.lower, _pattern(is_ascii=True, has_marks=False).findall(text)))
    others = set(_OTHERS.findall(text))
    has_marks = any(map(is_mark, others))
    if has_marks:  # nothing else that is no letter may be beyond ASCII
        text = text.translate({ord(symbol): " " for symbol in others if not is_mark(symbol)})
    return list(map(_folded, _pattern(is_ascii=False, has_marks=has_marks).findall(text)))


def count_unspaced(text: str) -> int:
    """Return how many characters of a text are of scripts without blanks between words."""
    return len(UNSPACED_CHARACTER.findall(text))


_OTHERS = late_pattern(r"[^\w\x00-\x7f]")


@functools.cache
def _pattern(*, is_ascii: bool, has_marks: bool) -> re.Pattern[str]:
    return re.compile("".join(word_parts(is_ascii=is_ascii, has_marks=has_marks)[:2]))


def _folded(word: str) -> str:
    """Return a word without case and compatibility forms, and without what these leave between letters."""
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())
    return "".join(symbol for symbol in folded if symbol.isalnum() or is_mark(symbol)) or word


def _is_letter(symbol: str) -> bool:
    return symbol.isalnum() or symbol == "_"


Block = NDArray[np.float64]


@comparer("equal-tokens", laws=("reflexive", "symmetric"))  # what SQuAD's normalization leaves of "The" is empty
def equal_tokens(retrieved: Sequence[str], gold: Sequence[str]) -> Block:
    """
    Score 1 if two texts have the same tokens, split at white space, in the same order, else 0.

    Returns:
        Shape (retrieved, gold); 1 for two texts without a token.
    """
    wanted = [text.split() for text in gold]
    rows = [[found.split() == tokens for tokens in wanted] for found in retrieved]
    return np.array(rows, dtype=np.float64).reshape(len(retrieved), len(gold))


@comparer("token-f1", laws=("reflexive", "symmetric"))
def token_f1(retrieved: Sequence[str], gold: Sequence[str]) -> Block:
    """
    Score the harmonic mean of the shares of both texts' tokens, split at white space, that they have in common.

    Formula: ``2 * common / (tokens of one + tokens of the other)``; a token that is repeated counts as often as it is
    in both. Source: SQuAD 2.0's evaluation script.

    Returns:
        Shape (retrieved, gold); 1 for two texts without a token, 0 if one has none.
    """
    wanted = [Counter(text.split()) for text in gold]
    block = np.zeros((len(retrieved), len(gold)))
    for row, found in enumerate(map(Counter, map(str.split, retrieved))):
        for column, bag in enumerate(wanted):
            total = found.total() + bag.total()
            block[row, column] = 2 * (found & bag).total() / total if total else 1.0
    return block


@comparer("whole-words")
def whole_words(retrieved: Sequence[str], gold: Sequence[str]) -> Block:
    """
    Score 1 if the gold text is in the retrieved one between two word boundaries, else 0.

    A boundary is anywhere but between two letters, digits or underscores of scripts that put spaces between words, and
    before a combining mark: punctuation is one, and so is the place between two Chinese characters.

    Returns:
        Shape (retrieved, gold); 0 for an empty text.
    """
    rows = [[bool(wanted) and stands_whole(wanted, found) for wanted in gold] for found in retrieved]
    return np.array(rows, dtype=np.float64).reshape(len(retrieved), len(gold))


def stands_whole(wanted: str, found: str) -> bool:
    """Return whether one text is in another between two word boundaries."""
    at = found.find(wanted)
    while at >= 0:
        if is_boundary(found, at) and is_boundary(found, at + len(wanted)):
            return True
        at = found.find(wanted, at + 1)
    return False


@tokenizer("words", laws=("monotone", "subadditive"))
def words(text: str) -> int:
    """Count the words: runs of anything but white space; fits languages that put white space between words."""
    return len(text.split())


@tokenizer("chars4", laws=("monotone", "subadditive"))
def chars4(text: str) -> int:
    """Count a token for every four characters, rounded up: near what language models count in English prose."""
    return (len(text) + 3) // 4
