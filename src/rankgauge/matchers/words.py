"""
Words: what counts as one, comparers of answers and keywords word by word, and the tokenizers of the built-in budgets.
"""

from __future__ import annotations

import functools
import html
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.matchers.escapes import ESCAPE, decoded, unescape
from rankgauge.plugin import comparer, tokenizer

__all__ = [
    "Word",
    "chars4",
    "count_unspaced",
    "equal_tokens",
    "is_boundary",
    "plain_words",
    "spaced_words",
    "stands_whole",
    "token_f1",
    "whole_words",
    "word_around",
    "words",
    "words_by_script",
]


_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Scripts without spaces between words, each character of which counts as one: Thai to Khmer, kana, Chinese."""
_TAGS = (
    "a|abbr|article|aside|b|big|blockquote|body|br|button|caption|center|cite|code|col|dd|del|details|div|dl|dt|em"
    "|figcaption|figure|font|footer|h[1-6]|head|header|hr|html|i|img|input|ins|kbd|li|link|main|mark|meta|nav|ol|p|pre|q"
    "|s|samp|script|section|small|span|strike|strong|style|sub|summary|sup|table|tbody|td|tfoot|th|thead|title|tr|tt|u|ul"
    "|var|wbr"
)
_NOISE = re.compile(
    r"(?P<gone>[-\u2010\u00ad](?<=[^\W\d_].) ?\r?\n[ \t]*(?=[^\W\d_])|\u00ad)"  # a word cut at the end of a line
    r"|(?P<markup>(?<=\n)[ \t]*[0-9]{1,3}[.)][ \t]"  # the number of a list's item
    rf"|</?(?:{_TAGS})(?=[\s/>])[^<>]*>|(?<=\])\([^()\s]*\))"  # HTML, and where a Markdown link points
    r"|&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,31}[0-9]{0,2});",
    re.IGNORECASE,
)
_SIGNS = {
    "<": "<",
    "&": "&",
    "]": r"\]\(",
    "\n": r"\n[ \t]*[0-9]{1,3}[.)][ \t]",
    "-": r"- ?[\r\n]",
    "\u2010": "\u2010",
    "\u00ad": "\u00ad",
}
"""One of these patterns is in every text that has noise, by a character that is quick to look for."""


class Word(NamedTuple):
    """A word, folded so that equal words are equal, and where it stands in its text: characters, end exclusive."""

    text: str
    start: int
    end: int


def plain_words(text: str) -> list[Word]:
    """Return the words of a text, without case, compatibility forms, markup, entities, escapes and line-end hyphens."""
    clean, origins = _clean_with_origins(text)
    spans = [(_folded(match[0]), *match.span()) for match in _word_pattern(is_ascii=clean.isascii()).finditer(clean)]
    if origins is None:
        return [Word(*span) for span in spans]
    return [Word(word, origins[start], origins[end]) for word, start, end in spans]


def spaced_words(texts: Sequence[str]) -> list[str]:
    """
    Return the words of each text with something between them that is ASCII and no letter or digit.

    Texts that are ASCII and plain are returned as they are, and so are their capital letters.
    """
    whole = "\0".join(texts)
    if "\\" in whole:
        texts = list(map(unescape, texts))
        whole = "\0".join(texts)
    if signs := [sign for first, sign in _SIGNS.items() if first in whole and re.search(sign, whole)]:
        is_noisy = re.compile("|".join(signs)).search
        texts = [_NOISE.sub(_instead, text) if is_noisy(text) else text for text in texts]
    if whole.isascii() and not signs:
        return list(texts)
    return [
        text if text.isascii() else " ".join(map(_folded, _word_pattern(is_ascii=False).findall(text)))
        for text in texts
    ]


def is_boundary(text: str, at: int) -> bool:
    """Return whether a word may begin or end at a place of a text: punctuation, white space, a Chinese character."""
    if not 0 < at < len(text):
        return True
    before, behind = text[at - 1], text[at]
    if behind.isascii() and before.isascii():
        return not (_is_letter(before) and _is_letter(behind))
    joined = (_is_letter(before) or _is_mark(before)) and _is_letter(behind)
    return not _is_mark(behind) and (not joined or _IS_UNSPACED(before + behind) is not None)


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
    return list(map(_folded, _word_pattern(is_ascii=text.isascii()).findall(text)))


def count_unspaced(text: str) -> int:
    """Return how many characters of a text are of scripts without blanks between words."""
    return len(_UNSPACED_CHARACTERS.findall(text))


_UNSPACED_CHARACTERS = re.compile(f"[{_UNSPACED}]")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]").search


def _is_letter(symbol: str) -> bool:
    return symbol.isalnum() or symbol == "_"


def _clean_with_origins(text: str) -> tuple[str, Sequence[int] | None]:
    """Return a text without noise, and where each of its characters and its end were; None where nothing changed."""
    origins: Sequence[int] | None = None
    for pattern, instead in ((ESCAPE, decoded), (_NOISE, _instead)):
        parts: list[str] = []
        places: list[int] = []
        end = 0
        for match in pattern.finditer(text):
            other = instead(match)
            parts += [text[end : match.start()], other]
            places += [*range(end, match.start()), *[match.start()] * len(other)]
            end = match.end()
        if parts:
            places += range(end, len(text) + 1)
            text = "".join([*parts, text[end:]])
            origins = places if origins is None else [origins[place] for place in places]
    return text, origins


def _instead(noise: re.Match[str]) -> str:
    """Return what a text says where there is markup, an entity or a hyphen at the end of a line."""
    if noise["gone"] is not None:
        return ""
    return " " if noise["markup"] is not None else html.unescape(noise[0])


def _folded(word: str) -> str:
    """Return a word without case and compatibility forms, and without what these leave between letters."""
    return word.lower() if word.isascii() else _folded_wide(word)


@functools.lru_cache(maxsize=1 << 16)
def _folded_wide(word: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())
    return "".join(symbol for symbol in folded if symbol.isalnum() or _is_mark(symbol)) or word


def _is_mark(symbol: str) -> bool:
    return unicodedata.category(symbol)[0] == "M"


@functools.cache
def _word_pattern(*, is_ascii: bool) -> re.Pattern[str]:
    """Return what finds words; finding out which characters are marks takes some milliseconds."""
    if is_ascii:
        return re.compile("[^\\W_]+")
    runs = (list(run) for is_run, run in groupby(map(chr, range(0x300, 0x20000)), _is_mark) if is_run)
    marks = "".join(f"{run[0]}-{run[-1]}" for run in runs)
    return re.compile(rf"(?=\w)[{_UNSPACED}][{marks}]*|(?:[^\W_{_UNSPACED}][{marks}]*)+")


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
