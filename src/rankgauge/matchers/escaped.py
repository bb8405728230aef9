"""
Containment with one of two texts JSON-escaped, decided for many samples at once.

A system may return a chunk as it stands in a JSON string, or gold may be stored so. Few of all pairs match, and most of
the others are told apart by a short part of the retrieved text that no form of it changes; `rankgauge.matchers.probes`
looks these parts up together. What may occur is then decided text by text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from rankgauge.matchers.escapes import escaped_forms, plain_parts, unescape
from rankgauge.matchers.probes import may_occur, stands_in
from rankgauge.plugin import comparer

__all__ = ["json_escaped", "json_escaped_batch"]

Block = NDArray[np.float64]
_MANY = 20_000
"""Retrieved texts times characters of gold from which on numpy is faster than looking each text up."""


def json_escaped_batch(retrieved: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> list[Block]:
    """Return what `json_escaped` does, for each sample's texts."""
    texts = list(chain.from_iterable(retrieved))
    signs = plain_parts(texts)
    counts = np.fromiter(map(len, retrieved), np.int64, len(retrieved))
    sizes = counts * np.fromiter(map(len, gold), np.int64, len(gold))
    owners = np.repeat(np.arange(len(counts)), counts)
    rows = np.arange(len(texts)) - (np.cumsum(counts) - counts)[owners]
    wholes = list(map("\0".join, gold))
    if int((counts * np.fromiter(map(len, wholes), np.int64, len(wholes))).sum()) >= _MANY:
        maybe = np.flatnonzero(may_occur(signs, counts, wholes))
    else:
        maybe = np.array([at for at, owner in enumerate(owners.tolist()) if signs[at] in wholes[owner]], dtype=np.int64)
    held: list[int] = []  # where verdicts stand among those of all samples
    begins = (np.cumsum(sizes) - sizes).tolist()
    last, has_escapes = -1, [False]
    for at, owner, row in zip(maybe.tolist(), owners[maybe].tolist(), rows[maybe].tolist(), strict=True):
        wanted = gold[owner]
        if owner != last:
            last, has_escapes = owner, ["\\" in text for text in wanted]
        if texts[at]:
            begin = begins[owner] + row * len(wanted)
            held += [begin + column for column in _holding(texts[at], signs[at], wanted, has_escapes)]
    verdicts = np.zeros(int(sizes.sum()))
    verdicts[held] = 1.0
    shapes = zip(begins, counts.tolist(), map(len, gold), strict=True)
    return [verdicts[begin : begin + own * other].reshape(own, other) for begin, own, other in shapes]


@comparer("json-escaped", batch=json_escaped_batch)
def json_escaped(retrieved: Sequence[str], gold: Sequence[str]) -> Block:
    """
    Score 1 where the retrieved text is a part of the gold text, raw or with one of them JSON-escaped, else 0.

    Args:
        retrieved: Retrieved texts, normalized.

        gold: Gold texts, normalized.

    Returns:
        Shape (retrieved, gold).
    """
    return json_escaped_batch([retrieved], [gold])[0]


def _holding(found: str, sign: str, gold: Sequence[str], has_escapes: Sequence[bool]) -> list[int]:
    """Return which gold texts hold a text in any form; each form is built only if those before it failed."""
    columns: list[int] = []
    forms: tuple[str, ...] | None = None
    plain: str | None = None
    ahead = found.find(sign)
    for column, wanted in enumerate(gold):
        at = wanted.find(sign)
        if at < 0:
            continue
        if (at >= ahead and wanted.startswith(found, at - ahead)) or stands_in(found, wanted, sign, at):
            columns.append(column)
            continue
        if plain is None:
            plain = unescape(found)
        if plain and plain != found and stands_in(plain, wanted, sign, at):
            columns.append(column)
        elif has_escapes[column]:  # anything that escaping changes has a backslash
            if forms is None:
                forms = escaped_forms(found)
            if any(stands_in(form, wanted, sign, at) for form in forms):
                columns.append(column)
    return columns
