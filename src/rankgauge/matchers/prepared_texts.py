"""
Prepared texts: what words are read from, by the compiled kernel.

It comes to what `joined_words` says: the kernel prepares plain texts, and hands the others back.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from rankgauge.kernel import Kernel
from rankgauge.matchers.spelling import PLAIN_SIGNS, joined_words

__all__ = ["prepared"]

_BLOCKS = (range(0x80, 0x100), range(0x2000, 0x2300))
"""Which characters beyond ASCII the kernel knows: Latin-1 and typographic signs."""
_PART, _HAND_BACK, _APOSTROPHE, _ELLIPSIS = range(4)
_SPECIAL = {0xAD: _HAND_BACK, 0x2010: _HAND_BACK, 0x2019: _APOSTROPHE, 0x2026: _ELLIPSIS}
"""Hyphens that may be in a cut word, what may stand for `not`, and an ellipsis."""
_JOINERS = "_-/.,: "
_MOST_KNOWN = 1 << 16


def prepared(kernel: Kernel, texts: Sequence[str]) -> list[bytes]:
    """Return what `joined_words` makes of each text."""
    found = kernel.prepare_texts(list(texts), _signs(), _WIDE_WORDS)
    if rest := [at for at, each in enumerate(found) if each is None]:
        others = joined_words([texts[at] for at in rest]).encode("utf-8", "surrogatepass").split(b"\0")
        for at, other in zip(rest, others, strict=True):
            found[at] = other
    return found  # type: ignore[return-value]  # none is None


@functools.cache
def _signs() -> bytes:
    """Return for each character of `_BLOCKS` the ASCII sign in its place, or what the kernel has to do."""
    return bytes(_SPECIAL.get(code, _sign(PLAIN_SIGNS[code])) for block in _BLOCKS for code in block)


def _sign(plain: int) -> int:
    return plain if plain < 0x80 and not chr(plain).isalnum() else _PART


class _WideWords(dict[str, bytes]):
    """What is made of letters and digits in a row, some beyond ASCII, by what is before them."""

    def __missing__(self, key: str) -> bytes:
        """Return what is made of the word; up to two characters before it come first, which decide what it joins."""
        before = 2 if key[1:2] in _JOINERS and len(key) > 1 else int(key[0] == " ")
        if len(self) >= _MOST_KNOWN:
            self.clear()
        self[key] = made = joined_words([key])[before:].encode()
        return made


_WIDE_WORDS = _WideWords()
