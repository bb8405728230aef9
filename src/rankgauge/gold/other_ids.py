"""
Under which ids a document may stand now: written otherwise, without its ending, by its title, or in numbered parts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from functools import cached_property

from rankgauge.io.corpus import Corpus

__all__ = ["OtherIds"]

_PART = re.compile(r"[^0-9A-Za-z]+(?:(?:chunk|part|page|passage|section|p|c)[^0-9A-Za-z]*)?[0-9]+", re.IGNORECASE)
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}")


class OtherIds:
    """Looks for ids of a corpus that may stand for a gold id which it does not have."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._sorted = sorted(corpus.ids)

    def parts(self, name: str) -> list[str]:
        """Return the ids of a document's parts, such as ``doc7#1`` and ``doc7#2`` of ``doc7``, in order."""
        at = bisect_left(self._sorted, name)
        parts = []
        while at < len(self._sorted) and self._sorted[at].startswith(name):
            if _PART.fullmatch(self._sorted[at], len(name)):
                parts.append(self._sorted[at])
            at += 1
        return sorted(parts, key=self._corpus.number_of.__getitem__)

    def other(self, name: str) -> tuple[str, str]:
        """Return the one id that may stand for this one, and why; twice nothing where there is none, or several."""
        for why, table in self._tables:
            if len(ids := table.get(_plain(name), [])) == 1:
                return ids[0], why
        for pattern, why in ((_ENDING, "the same without its ending"), (_PART, "the document that it was a part of")):
            if (match := re.search(rf"(?:{pattern.pattern})\Z", name, re.IGNORECASE)) and name[: match.start()]:
                whole = name[: match.start()]
                if whole in self._corpus.number_of:
                    return whole, why
        return "", ""

    @cached_property
    def _tables(self) -> list[tuple[str, dict[str, list[str]]]]:
        spelled: dict[str, list[str]] = defaultdict(list)
        titled: dict[str, list[str]] = defaultdict(list)
        bare: dict[str, list[str]] = defaultdict(list)
        for name, title in zip(self._corpus.ids, self._corpus.titles, strict=True):
            spelled[_plain(name)].append(name)
            if title:
                titled[_plain(title)].append(name)
            if match := re.search(rf"{_ENDING.pattern}\Z", name):
                bare[_plain(name[: match.start()])].append(name)
        whys = ("the same in another spelling", "the document with this title", "the same with an ending")
        return list(zip(whys, (spelled, titled, bare), strict=True))


def _plain(name: str) -> str:
    return " ".join(re.split(r"[\s_-]+", name.strip().casefold().removeprefix("./")))
