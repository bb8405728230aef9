"""
Folded search: which retrieved texts hold a gold text once both are folded, found before most texts are.

Folding a text takes many times as long as looking for a few characters in it, and few texts hold what is looked for. So
the bytes of all texts of a sample are searched at once for a *key* of each gold text, and only where it is found is
more of the text looked at. None is missed: a key is the longest part of the folded gold text without white space
that consists of ASCII and of Chinese, Japanese and Korean without case. Nothing folds to these but ASCII capitals,
which are lower-cased in all texts, and what is `_UNUSUAL`, of which a text is folded before it is searched. UTF-8 keeps
each character in one piece.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from rankgauge.base.late_pattern import late_pattern
from rankgauge.matchers.comparers import contained
from rankgauge.matchers.normalizers import casefold, collapse_whitespace, lower
from rankgauge.matchers.words import stands_whole, whole_words

__all__ = ["FoldedSearch"]

Normalize = Callable[[str], str]

_CASES = (casefold, lower)
_PLAIN = late_pattern(
    r"[!-~\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff0f\uff1a-\uff20]+"
)
"""What keys are made of."""
_UNUSUAL = (
    "\u00df\u0130\u0149\u017f\u01f0\u1e96\u1e97\u1e98\u1e99\u1e9a\u1e9e\u212a\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06"
)
"""What is not ASCII and folds to something with an ASCII letter, such as ß."""
_CAPITALS = bytes(range(ord("A"), ord("Z") + 1))
_BLANKS = b"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f"


class FoldedSearch:
    """Finds gold texts in retrieved ones, as a matcher does that folds case or white space and looks for parts."""

    def __init__(self, normalizers: Sequence[Normalize], *, whole: bool = False) -> None:
        self._whole = whole
        self._folds = [step for step in normalizers if step in _CASES]
        self._collapses = collapse_whitespace in normalizers
        changed, into = (_CAPITALS, _CAPITALS.lower()) if self._folds else (b"", b"")
        if self._collapses:
            changed, into = changed + _BLANKS, into + b" " * len(_BLANKS)
        self._table = bytes.maketrans(changed, into)

    @classmethod
    def of(cls, normalizers: Sequence[Normalize], comparer: object, settings: Mapping[str, Any]) -> FoldedSearch | None:
        """Return that of a matcher; None for one that looks for anything but folded texts in others."""
        is_whole = comparer is whole_words
        if not is_whole and not (comparer is contained and settings["direction"] == "gold-in-retrieved"):
            return None
        is_known = {collapse_whitespace, *_CASES}.issuperset(normalizers)
        return cls(normalizers, whole=is_whole) if is_known else None

    def pairs(self, retrieved: Sequence[str], gold: Sequence[str], normalize: Normalize) -> list[tuple[int, int]]:
        """Return the places of texts that match, retrieved and *gold*, which is folded; in order of the former."""
        keys = [max(_PLAIN.findall(wanted), key=len, default="") for wanted in gold]
        parts, data = self._joined(retrieved, keys)
        starts: Sequence[int] = ()
        pairs: list[tuple[int, int]] = []
        for column, (wanted, key) in enumerate(zip(gold, keys, strict=True)):
            if wanted and not key:
                pairs += ((row, column) for row, text in enumerate(retrieved) if self._holds(normalize(text), wanted))
            sought = key.encode()
            at = data.find(sought) if key else -1
            while at >= 0:
                starts = starts or [0, *accumulate(len(part) + 1 for part in parts)]
                row = bisect_right(starts, at) - 1
                part = data[starts[row] : starts[row + 1] - 1]
                is_held = None if self._whole else self._holds_folded(part, wanted)
                if self._holds(normalize(retrieved[row]), wanted) if is_held is None else is_held:
                    pairs.append((row, column))
                at = data.find(sought, starts[row + 1])
        return sorted(pairs)

    def _joined(self, texts: Sequence[str], keys: Sequence[str]) -> tuple[Sequence[str | bytes], bytes]:
        """Return texts as what is as long as their bytes, and these in one piece, a zero between two of them."""
        joined = "\0".join(texts)
        if joined.isascii():
            return texts, joined.encode().translate(self._table)
        has_letters = any(key.upper() != key for key in keys)
        if has_letters and self._folds and any(map(joined.__contains__, _UNUSUAL)):
            texts = [self._folded(text) for text in texts]
        parts = [text.encode("utf-8", "surrogatepass") for text in texts]
        return parts, b"\0".join(parts).translate(self._table)

    def _folded(self, text: str) -> str:
        if not text.isascii() and any(map(text.__contains__, _UNUSUAL)):
            for fold in self._folds:
                text = fold(text)
        return text

    def _holds(self, text: str, wanted: str) -> bool:
        return stands_whole(wanted, text) if self._whole else wanted in text

    def _holds_folded(self, data: bytes, wanted: str) -> bool | None:
        """Return whether a text holds a folded one, from its bytes; None if it has to be folded to know."""
        form = wanted.encode("utf-8", "surrogatepass")
        if form in data or (self._collapses and b"  " in data and form in b" ".join(data.split())):
            return True  # nothing of a folded text changes when it is folded
        return False if data.isascii() else None
