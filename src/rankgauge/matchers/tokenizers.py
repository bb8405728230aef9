"""
Tokenizers: how the built-in budgets count the tokens of a text, without any model.
"""

from __future__ import annotations

from rankgauge.plugin import tokenizer

__all__ = ["chars4", "words"]


@tokenizer("words", laws=("monotone", "subadditive"))
def words(text: str) -> int:
    """Count the words: runs of anything but white space; fits languages that put white space between words."""
    return len(text.split())


@tokenizer("chars4", laws=("monotone", "subadditive"))
def chars4(text: str) -> int:
    """Count a token for every four characters, rounded up: near what language models count in English prose."""
    return (len(text) + 3) // 4
