"""
Scripts: signs that answers differ only by what a matcher made for English does not know.

It may take a Chinese sentence for one word, and tell apart what is the same but for the Unicode form of its characters,
for punctuation that is not ASCII, or for the vowel signs of Arabic and Hebrew.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from rankgauge.errors import counted

__all__ = ["ScriptCounts", "look_at_scripts"]

_AT_BLANKS = {"equal-tokens", "token-f1"}
_BY_SCRIPT = {"equal-script-words", "script-word-f1"}
_KNOWN = {*_AT_BLANKS, *_BY_SCRIPT, "equal", "contained"}
"""The comparers that are looked at."""


class ScriptCounts(NamedTuple):
    """In how many samples texts do not match for reasons of their script."""

    unspaced: int = 0  # there are no blanks between the words of a gold text
    same: int = 0  # a text is the same but for Unicode forms, punctuation or case that the matcher does not know
    signs: int = 0  # a text is the same but for vowel signs
    same_example: tuple[str, str] | None = None
    signs_example: tuple[str, str] | None = None

    def __or__(self, other: ScriptCounts) -> ScriptCounts:
        return ScriptCounts(
            self.unspaced + other.unspaced,
            self.same + other.same,
            self.signs + other.signs,
            self.same_example or other.same_example,
            self.signs_example or other.signs_example,
        )

    def notes(self, matcher: str | None, *, of_answers: bool) -> Iterator[str]:
        """Yield what users should know."""
        by_script = "words=unicode takes words by script" if of_answers else "write both in one form (unicode-nfkc)"
        if self.unspaced:
            yield (
                f"in {counted(self.unspaced, 'sample')} gold answers are in a script without blanks between words, so "
                f"that `{matcher}` takes each for one word or few; {by_script}"
            )
        if self.same:
            yield (
                f"in {counted(self.same, 'sample')} `{matcher}` tells texts apart that are the same but for Unicode "
                f"forms, punctuation or case{_such_as(self.same_example)}; {by_script}"
            )
        if self.signs:
            yield (
                f"in {counted(self.signs, 'sample')} texts are the same but for vowel signs, which `{matcher}` tells "
                f"apart{_such_as(self.signs_example)}; write both with them, or both without"
            )


_NOTHING = ScriptCounts()


def look_at_scripts(
    comparer: str, retrieved: Sequence[str], gold: Sequence[str], hits: Sequence[tuple[int, int, float]]
) -> ScriptCounts:
    """Return what is doubtful about one sample, of whose texts some match: places of both, and the score."""
    if comparer not in _KNOWN or all(map(str.isascii, gold)) or any(score >= 1.0 for _, _, score in hits):
        return _NOTHING
    from rankgauge.matchers.script_words import is_mostly_unspaced, script_words, unsigned

    def is_same(found: str, wanted: str) -> bool:
        if comparer in _AT_BLANKS:
            return script_words(found) == script_words(wanted)
        found, wanted = (unicodedata.normalize("NFC", text) for text in (found, wanted))
        return found == wanted if comparer == "equal" else bool(wanted) and wanted.casefold() in found.casefold()

    def is_unsigned_same(found: str, wanted: str) -> bool:
        found, wanted = unsigned(found), unsigned(wanted)
        if comparer in _AT_BLANKS | _BY_SCRIPT:
            return script_words(found) == script_words(wanted)
        return found == wanted if comparer == "equal" else bool(wanted) and wanted in found

    def first(is_alike: Callable[[str, str], bool]) -> tuple[str, str] | None:
        return next(((found, wanted) for found in retrieved for wanted in gold if is_alike(found, wanted)), None)

    same = None if comparer in _BY_SCRIPT else first(is_same)
    signs = None if same else first(is_unsigned_same)
    unspaced = comparer in _AT_BLANKS and not same and any(map(is_mostly_unspaced, gold))
    return ScriptCounts(int(unspaced), int(same is not None), int(signs is not None), same, signs)


def _such_as(example: tuple[str, str] | None) -> str:
    """Return two texts as an example, unless they are long."""
    if example is None or max(map(len, example)) > _SHOWN:
        return ""
    return (
        f", such as {example[0]!a} and {example[1]!a}"
        if _looks_alike(*example)
        else (f", such as {example[0]!r} and {example[1]!r}")
    )


def _looks_alike(one: str, other: str) -> bool:
    """Return whether two texts look the same where they are shown, so that only escapes tell them apart."""
    return unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)


_SHOWN = 60
"""How long texts are at most that are shown as an example."""
