"""
Odd lines: lines of a run that are read as trec_eval reads them, and may mean something else.

A blank in an id shifts the fields behind it: of ``q1 Q0 my doc 1 0.9 tag`` the document is `my`, the rank `doc` and the
score 1. Such a line has a seventh field, or a rank that is no number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.plain_text import read_number
from rankgauge.columns import Flags, Floats, Ints
from rankgauge.errors import Problem, counted
from rankgauge.io.files import open_file
from rankgauge.io.recognize import shortened, split_line

__all__ = ["OddLines", "are_no_ranks", "scores_rise"]

_FIELDS, _RANK = 6, 3
_ZERO = 48
_SIGNS = np.frombuffer(b"+-.", dtype=np.uint8)
_NEARLY_ALL = 0.9


class OddLines(NamedTuple):
    """The odd lines of a file: how many there are, and which file it is."""

    n: int
    path: Path
    name: str

    def examples(self, most: int) -> Iterator[Problem]:
        """Yield some of them with what is odd, the first ones first."""
        left = min(most, self.n)
        with open_file(self.path, name=self.name) as opened:
            for number, line in enumerate(opened.stream, 1):
                if not left:
                    return
                fields = split_line(line)
                if fields and not line.startswith(b"#") and (flaw := _flaw(fields)):
                    left -= 1
                    yield Problem(flaw, self.name, number)

    @property
    def note(self) -> str:
        """Return what a user should know of them."""
        first = "".join(map(str, self.examples(1)))
        others = f"; {counted(self.n - 1, 'other line')} like it" if self.n > 1 else ""
        return f"{first} (is there a blank in an id?){others}"


def _flaw(fields: Sequence[bytes]) -> str:
    """Return what is odd about a line; empty if nothing is."""
    rank = shortened(fields[_RANK])
    if len(fields) > _FIELDS:
        what = f"{len(fields)} fields where a run has 6"
    elif math.isnan(read_number(fields[_RANK])):
        what = f"the rank {rank} is no number"
    else:
        return ""
    query, document, score = shortened(fields[0]), shortened(fields[2]), fields[4].decode("utf-8", "replace")
    read = f"query {query}, document {document}, rank {rank}, score {score}"
    return f"{what}; as in trec_eval it is read as {read}"


def are_no_ranks(buffer: NDArray[np.uint8], start: Ints) -> Flags:
    """Return which fields that begin there cannot be numbers, by their first bytes, which costs next to nothing."""
    first = buffer[start]
    flags: Flags = first - np.uint8(_ZERO) > 9  # what is below 48 wraps
    if flags.any():
        flags &= ~np.isin(first, _SIGNS)
    return flags


def scores_rise(first: Ints, ranks: Floats, scores: Floats) -> bool:
    """Return whether scores rise with the ranks, in nearly all queries that begin at the *first* lines."""
    inside = np.ones(len(ranks), dtype=np.bool_)
    inside[first] = False
    with np.errstate(invalid="ignore"):  # infinite ranks
        steps = np.sign(np.diff(ranks)) * np.sign(np.diff(scores))
    owners = (np.cumsum(~inside) - 1)[1:]
    rises, falls = (np.bincount(owners[inside[1:] & (steps == way)], minlength=len(first)) > 0 for way in (1, -1))
    n_rising = int(np.count_nonzero(rises & ~falls))
    return n_rising > 0 and n_rising >= _NEARLY_ALL * int(np.count_nonzero(rises | falls))
