"""
Words: comparers of answers and keywords word by word, and the tokenizers of the built-in budgets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankgauge.matchers.plain_words import is_boundary
from rankgauge.plugin import comparer, tokenizer

__all__ = ["chars4", "equal_tokens", "stands_whole", "token_f1", "whole_words", "words"]

Block = NDArray[np.float64]


@comparer("equal-tokens", laws=("reflexive", "symmetric"))  # what SQuAD's normalization leaves of "The" is empty
def equal_tokens(retrieved: Sequence[str], gold: Sequence[str]) -> Block:
    """
    Score 1 where two texts have the same tokens, split at white space, in the same order, else 0.

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
        Shape (retrieved, gold); 1 for two texts without a token, 0 where one has none.
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
    Score 1 where the gold text stands in the retrieved one between two word boundaries, else 0.

    A boundary is anywhere but between two letters, digits or underscores of scripts that put spaces between words, and
    before a combining mark: punctuation is one, and so is the place between two Chinese characters.

    Returns:
        Shape (retrieved, gold); 0 for an empty text.
    """
    rows = [[bool(wanted) and stands_whole(wanted, found) for wanted in gold] for found in retrieved]
    return np.array(rows, dtype=np.float64).reshape(len(retrieved), len(gold))


def stands_whole(wanted: str, found: str) -> bool:
    """Return whether one text stands in another between two word boundaries."""
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
