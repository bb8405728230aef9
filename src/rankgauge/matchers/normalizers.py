"""
Normalizers: pure and total functions from text to text, linear in its length.

Prefixes are stripped by moving a position through the text, never by cutting it again and again, and every regular
expression is anchored at that position and cannot back up.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Collection, Sequence

import numpy as np

from rankgauge.base.late_pattern import late_pattern
from rankgauge.matchers.escapes import unescape
from rankgauge.plugin import normalizer

__all__ = [
    "casefold",
    "collapse_whitespace",
    "json_unescape",
    "lower",
    "strip_articles",
    "strip_ascii_punctuation",
    "strip_date_prefix",
    "strip_punctuation",
    "strip_role_prefix",
    "unicode_nfkc",
]

_ROLE = late_pattern(r"\s*+(?:user|assistant|system|human|ai)[^\S\n]*+:\s*+", re.IGNORECASE)
_LONGEST_DATE_LINE = 80
_LONGEST_RUN = 30
# Texts of up to this many characters need no check of the order of marks.
_SHORT = 1024
# How a line with a date begins, if it begins with letters.
_WEEKDAYS = frozenset({"mon", "tue", "wed", "thu", "fri", "sat", "sun"})
_MONTHS = frozenset({"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"})
_DATE_HEADS = _WEEKDAYS | _MONTHS | {"dat"}
# First characters of texts without a date, and without a role; the empty text has none, either.
_NO_DATE = frozenset(["", *"BCEGHIKLPQRUVXYZbceghiklpqruvxyz\"'"])
_NO_ROLE = frozenset(["", *"BCDEFGIJKLMNOPQRTVWXYZbcdefgijklmnopqrtvwxyz0123456789\"'"])
# What no role has after its first letter.
_NOT_SECOND = frozenset(["", *"ABCDEFGHJKLMNOPQRTVWXZabcdefghjklmnopqrtvwxz0123456789 .,'"])
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"[0-3]?[0-9](?:st|nd|rd|th)?"
_YEAR = r"[0-9]{4}"
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? )?"
_ZONE = r"(?: ?(?:z|utc|gmt|[+-][0-9]{2}:?[0-9]{2}))?"
_TIME = rf"[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{{1,9}})?)?(?: ?[ap]\.?m\.?)?{_ZONE}"
_DATE = (
    rf"{_WEEKDAY}(?:{_YEAR}[-/.][01]?[0-9][-/.][0-3]?[0-9]|{_DAY} (?:of )?{_MONTH},? {_YEAR}|{_MONTH} {_DAY},? {_YEAR})"
)
_STAMP = rf"{_DATE}(?: \([a-z]{{3,9}}\))?(?:(?:t|,? (?:at )?){_TIME})?"
_DATE_LINE = late_pattern(rf"(?:date ?: ?)?(?:\[{_STAMP}\]|\({_STAMP}\)|{_STAMP}):?", re.IGNORECASE | re.ASCII)
_DIGITS = re.compile(_YEAR)
_USUAL_LINE = re.compile(r"Date: [0-9]{4}-[01][0-9]-[0-3][0-9]\n(?:[^\S\n]*+\n)*+")
_LINE_END = re.compile(r"\n?(?:[^\S\n]*+\n)*+")
_BRACKETED = late_pattern(rf"\[(?:date ?: ?)?{_STAMP}\]", re.IGNORECASE | re.ASCII)


@normalizer("unicode-nfkc", stage="fold")
def unicode_nfkc(text: str) -> str:
    """Write characters that Unicode treats as equivalent in one way (NFKC): ligatures, widths, accents."""
    is_harmless = len(text) <= _SHORT or text.isascii()
    return unicodedata.normalize("NFKC", text if is_harmless else _with_marks_in_order(text))


def collapse_whitespace_batch(texts: Sequence[str]) -> list[str]:
    r"""
    Return what `collapse_whitespace` does for each text; it is called only for those that it may change.

    ASCII texts are looked at together, with a line end around each: "\na b\nc  d\n". A text stays as it is if no blank
    in it, nor the line ends around it, follows another, and if all blanks in it are spaces; control characters count as
    blanks, too.
    """
    plain = [at for at, text in enumerate(texts) if text.isascii()]
    joined = "\n".join(["", *(texts[at] for at in plain), ""])
    symbols = np.frombuffer(joined.encode(), dtype=np.uint8)
    blank = symbols <= ord(" ")
    suspects = np.flatnonzero(blank[1:] & blank[:-1])
    ends = np.cumsum([len(texts[at]) + 1 for at in plain])  # where the line end behind each is
    if np.count_nonzero(symbols < ord(" ")) > len(plain) + 1:
        others = np.setdiff1d(np.flatnonzero(symbols < ord(" ")), [0, *ends])
        suspects = np.concatenate([suspects, others])
    kept = set(plain).difference(plain[number] for number in np.searchsorted(ends, suspects, side="right").tolist())
    return [text if at in kept else collapse_whitespace(text) for at, text in enumerate(texts)]


@normalizer("collapse-whitespace", stage="fold", batch=collapse_whitespace_batch)
def collapse_whitespace(text: str) -> str:
    """Turn every run of Unicode white space into one space, and trim."""
    if text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]:  # no other white space is printable
        return text
    return " ".join(text.split())


@normalizer("casefold", stage="fold")
def casefold(text: str) -> str:
    """Fold case as Unicode defines it for comparison, so that ``ß`` equals ``ss``."""
    return text.casefold()


@normalizer("lower", stage="fold")
def lower(text: str) -> str:
    """Lower-case letters one by one, so that ``ß`` stays as it is."""
    return text.lower()


@normalizer("strip-punctuation", stage="fold")
def strip_punctuation(text: str) -> str:
    """Remove every character that Unicode calls punctuation."""
    marks = {ord(mark): None for mark in set(text) if unicodedata.category(mark).startswith("P")}
    return text.translate(marks) if marks else text


_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)


@normalizer("strip-ascii-punctuation", stage="fold")
def strip_ascii_punctuation(text: str) -> str:
    """Remove every ASCII character that is neither letter, digit, white space nor control; as SQuAD's evaluation."""
    return text.translate(_ASCII_PUNCTUATION)


@normalizer("strip-articles", stage="fold")
def strip_articles(text: str) -> str:
    """Put a space in the place of the English words ``a``, ``an`` and ``the``; as SQuAD's evaluation."""
    return _ARTICLE.sub(" ", text)


@normalizer("json-unescape", stage="decode")
def json_unescape(text: str) -> str:
    r"""Undo JSON escapes such as ``\"``, ``\n`` and ``\u00e9``; everything else stays."""
    return unescape(text)


class _Heads(dict[str, bool]):
    """Whether a text may have a prefix, by its first three characters; most texts have none, and are left alone."""

    def __init__(self, words: Collection[str], signs: str) -> None:
        self._words, self._signs = tuple(words), signs
        self._parts = {word[:size] for word in words for size in range(len(word))}

    def __missing__(self, head: str) -> bool:
        """Return whether a prefix may begin so: with a word, in part or whole, a sign, or nothing but white space."""
        if not head.isascii():
            return True  # not kept, since there are too many
        begun = head.lstrip().lower()
        may_be = begun[:1] in self._signs or begun in self._parts or begun.startswith(self._words)
        if len(self) < _MOST_HEADS:
            self[head] = may_be
        return may_be


_MOST_HEADS = 1 << 16
"""More than texts that are cut anywhere begin with, in letters of one case."""
_DATE_BEGINS = _Heads(_DATE_HEADS, string.digits + "[(")
_ROLE_BEGINS = _Heads(("user", "assistant", "system", "human", "ai"), "")


def strip_date_prefix_batch(texts: Sequence[str]) -> list[str]:
    """Return what `strip_date_prefix` does for each text; it is called only for those that it may change."""
    return [strip_date_prefix(text) if _DATE_BEGINS[text[:3]] else text for text in texts]


def strip_role_prefix_batch(texts: Sequence[str]) -> list[str]:
    """Return what `strip_role_prefix` does for each text; it is called only for those that it may change."""
    return [strip_role_prefix(text) if _ROLE_BEGINS[text[:3]] else text for text in texts]


@normalizer("strip-date-prefix", stage="strip", cache=False, batch=strip_date_prefix_batch)
def strip_date_prefix(text: str) -> str:
    """
    Remove first lines that hold a date and nothing else, and dates in square brackets before a text.

    Understands ISO dates and dates with a month's English name, with or without ``Date:``, weekday, brackets and time.
    Blank lines after a date go with it. If only white space remains, the result is empty.
    """
    if (first := text[:1]) in _NO_DATE or (first.isalpha() and text[:3].lower() not in _DATE_HEADS):
        return text  # most texts end here
    at = 0
    while (first := text[at : at + 1]) not in _NO_DATE:
        if first == "D" and (usual := _USUAL_LINE.match(text, at)) is not None:
            at = usual.end()
            continue
        if first.isalpha() and text[at : at + 3].lower() not in _DATE_HEADS:
            break
        start = _skip_space(text, at)
        end = text.find("\n", start, start + _LONGEST_DATE_LINE + 1)
        if end < 0 and len(text) - start <= _LONGEST_DATE_LINE:
            end = len(text)
        if end >= 0 and _is_date(text[start:end]):
            at = _LINE_END.match(text, end).end()  # type: ignore[union-attr]  # it matches everywhere
        elif text.startswith("[", start) and (bracketed := _BRACKETED.match(text, start, start + _LONGEST_DATE_LINE)):
            at = _skip_space(text, bracketed.end())
        else:
            return _unless_blank(text[at:])
    return text[at:]


@normalizer("strip-role-prefix", stage="strip", cache=False, batch=strip_role_prefix_batch)
def strip_role_prefix(text: str) -> str:
    """
    Remove ``user:``, ``assistant:``, ``system:``, ``human:`` and ``ai:`` from the start, in any case, repeatedly.

    If only white space remains, the result is empty.
    """
    if (first := text[:1]) in _NO_ROLE or (first.isalpha() and text[1:2] in _NOT_SECOND):
        return text  # nearly every text ends here
    at = 0
    while (role := _ROLE.match(text, at)) is not None:
        at = role.end()
        first = text[at : at + 1]
        if first in _NO_ROLE or (first.isalpha() and text[at + 1 : at + 2] in _NOT_SECOND):
            return text[at:]
    return _unless_blank(text[at:])


def _with_marks_in_order(text: str) -> str:
    """
    Return an equivalent text in which long runs of combining marks are in canonical order.

    `unicodedata` puts them in order by insertion, which takes the square of a run's length. Few texts have a run
    longer than the 30 marks of Unicode's stream-safe format; all others are returned as they are.
    """
    parts = {symbol: unicodedata.normalize("NFKD", symbol) for symbol in set(text) if not symbol.isascii()}
    marks = "".join(symbol for symbol, decomposed in parts.items() if any(map(unicodedata.combining, decomposed)))
    if not marks or re.search(f"[{re.escape(marks)}]{{{_LONGEST_RUN + 1}}}", text) is None:
        return text
    decomposed = text.translate({ord(symbol): part for symbol, part in parts.items()})
    combining = "".join(filter(unicodedata.combining, set(decomposed)))
    return re.sub(
        f"[{re.escape(combining)}]{{2,}}+",
        lambda run: "".join(sorted(run[0], key=unicodedata.combining)),
        decomposed,
    )


def _is_date(line: str) -> bool:
    # The year first: most lines have none, and that check is faster.
    return _DIGITS.search(line) is not None and _DATE_LINE.fullmatch(" ".join(line.split())) is not None


def _unless_blank(rest: str) -> str:
    """Return the rest of a text; empty if it is only white space, which would occur in every text."""
    return "" if rest.isspace() else rest


_SPACE = re.compile(r"\s*+")


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at
