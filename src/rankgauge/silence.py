"""
Phrases with which a system says that it does not answer, and whether an answer consists of them.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Sequence

from rankgauge.errors import PolicyError

__all__ = ["is_silence", "read_phrases"]

_FORM = "policy option 'abstains' is a list of phrases that say nothing, such as ['I do not know', 'N/A']"
_APOSTROPHES = frozenset("'`\u00b4\u02bc\u2018\u2019\uff07")
_Words = tuple[str, ...]


def read_phrases(value: object) -> tuple[str, ...]:
    """Return phrases, given as texts, each once; raise `PolicyError` for anything else."""
    entries = [value] if isinstance(value, str) else value if value is not None else ()
    if not isinstance(entries, Sequence) or isinstance(entries, bytes):
        raise PolicyError(f"{_FORM}; not {value!r:.80}")
    for entry in entries:
        if not isinstance(entry, str):
            hint = "; write it in quotes" if isinstance(entry, bool | int | float) else ""
            raise PolicyError(f"{_FORM}; {entry!r:.80} is not a text{hint}")
        if not entry.strip():
            raise PolicyError(f"{_FORM}; a blank one is not needed, as blank answers say nothing anyway")
    return tuple(dict.fromkeys(entries))


def is_silence(answer: str, phrases: tuple[str, ...]) -> bool:
    """
    Return whether an answer is blank, or consists of phrases, one or several after another, and of nothing else.

    Case, punctuation, apostrophes, markup and white space do not matter, nor the compatibility form of characters. An
    answer that goes on after a phrase says something: ``I do not know the exact date, but it was in 1887.``
    """
    if not answer.strip():
        return True
    if not phrases:
        return False
    known, longest = _known(phrases)
    words = _words(answer)
    ends, last = {0}, 0  # where phrases may end that the answer begins with
    for begin in range(len(words)):
        if begin > last:
            return False
        if begin in ends:
            cuts = range(begin + 1, min(begin + longest, len(words)) + 1)
            ends.update(found := [end for end in cuts if words[begin:end] in known])
            last = max([last, *found])
    return len(words) in ends


@functools.lru_cache(maxsize=16)
def _known(phrases: tuple[str, ...]) -> tuple[frozenset[_Words], int]:
    """Return the words of each phrase, and of how many the longest consists."""
    known = frozenset(map(_words, phrases))
    return known, max(map(len, known))


def _words(text: str) -> _Words:
    """Return the words of a text; of one that has no letter and no digit, its signs as one."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = (
        "" if sign in _APOSTROPHES else sign if sign.isalnum() or unicodedata.category(sign)[0] == "M" else " "
        for sign in folded
    )
    return tuple("".join(kept).split()) or (folded.strip(),)
