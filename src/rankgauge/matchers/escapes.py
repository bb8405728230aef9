"""
JSON escapes: texts as they are inside JSON strings, and containment with one of two texts escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from json.encoder import encode_basestring, encode_basestring_ascii

import numpy as np
from numpy.typing import NDArray

from rankgauge.plugin import comparer

__all__ = [
    "ESCAPE",
    "PART",
    "decoded",
    "escaped_forms",
    "json_escaped",
    "json_escaped_batch",
    "may_occur",
    "plain_parts",
    "stands_in",
    "unescape",
]

PART = 24
"""How many characters a part has."""

_PATIENCE = 4
_GRAM = 8
_BITS = range(13, 21)
_SPARSE = 16
"""How many places the table has for each mark."""
_EIGHT_BYTES = np.dtype("<u8")
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SALT = np.uint64(0xD1B54A32D192ED03)


def may_occur(parts: Sequence[str], counts: NDArray[np.int64], texts: Sequence[str]) -> NDArray[np.bool_]:
    """
    Return which parts may occur in their texts; the module proves that none is missed.

    Args:
        parts: `PART` ASCII characters each, or empty: those for the first text, then those for the second, ...

        counts: How many parts there are for each text; shape (texts,).

        texts: What they may occur in.

    Returns:
        One verdict for each part, true for an empty one; shape (parts,).
    """
    asked = np.fromiter(map(bool, parts), np.bool_, len(parts))
    if not asked.any():
        return ~asked
    # UTF-8 keeps what is ASCII in one piece, so that bytes may stand for characters; each text begins at an 8th place.
    data = [text.encode("utf-8", "surrogatepass") for text in texts]
    padded = [each + bytes(-len(each) % _GRAM) for each in data]
    sizes = np.fromiter(map(len, padded), np.int64, len(padded)) // _GRAM
    bits = min(max((_SPARSE * int(sizes.sum())).bit_length(), _BITS.start), _BITS.stop - 1)
    shift = np.uint64(64 - bits)
    salts = np.arange(1, len(texts) + 1, dtype=np.uint64) * _SALT
    table = np.zeros(1 << bits, np.bool_)
    table[_hashes(np.frombuffer(b"".join(padded), _EIGHT_BYTES), np.repeat(salts, sizes), shift)] = True
    own = np.repeat(salts, counts)[asked][:, None]
    joined = "".join(parts).encode()
    windows = np.ndarray((len(own), _GRAM), _EIGHT_BYTES, joined, 0, (PART, 1))
    marked = table.take(_hashes(windows, own, shift))
    some = np.flatnonzero(marked.any(axis=1))  # few: most parts end here
    windows = np.ndarray((len(own), _GRAM), _EIGHT_BYTES, joined, _GRAM, (PART, 1))[some]
    found = np.zeros(len(own), np.bool_)
    found[some] = (marked[some] & table.take(_hashes(windows, own[some], shift))).any(axis=1)
    verdicts = ~asked
    verdicts[asked] = found
    return verdicts


def _hashes(words: NDArray[np.uint64], salts: NDArray[np.uint64], shift: np.uint64) -> NDArray[np.int64]:
    hashes = words ^ salts
    hashes *= _SPREAD
    hashes >>= shift
    return hashes.view(np.int64)


def stands_in(form: str, text: str, part: str, at: int) -> bool:
    """
    Return ``form in text``, from where a part of the form is in the text.

    Wherever the form is in the text, its first *part* does, so that it is enough to look there.
    """
    if not part:
        return form in text
    ahead = form.find(part)
    for _ in range(_PATIENCE):  # a text that says the same again and again is left to `in`, which stays linear
        if at >= ahead and text.startswith(form, at - ahead):
            return True
        at = text.find(part, at + 1)
        if at < 0:
            return False
    return form in text


_LONGEST_TAIL = 5
"""How many characters an escape has after its backslash."""
_UNCHANGED = r"[\x20\x21\x23-\x5b\x5d-\x7e]"
_PLAIN = re.compile(rf"(?<={_UNCHANGED * _LONGEST_TAIL}){_UNCHANGED}{{{PART}}}")
ESCAPE = re.compile(
    r"\\(?:([\"\\/bfnrt])|u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u(?![dD][89a-fA-F])([0-9a-fA-F]{4}))"
)
_SIMPLE = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def escaped_forms(text: str) -> tuple[str, ...]:
    """Return the ASCII form and the minimal form of a text in a JSON string, without quotes, if escaping changes it."""
    narrow = encode_basestring_ascii(text)[1:-1]
    if narrow == text:
        return ()
    if "\\u" not in narrow:
        return (narrow,)  # which the minimal form differs from only if this one has a code
    wide = encode_basestring(text)[1:-1]
    return (narrow,) if wide in {narrow, text} else (narrow, wide)


def plain_parts(texts: Sequence[str]) -> list[str]:
    r"""
    Return `PART` characters of each text that occur in all its escaped forms and in its unescaped form, or "".

    Escaping leaves these characters alone. Five more of them are before the part, since the first ones of such a run
    may be the end of an escape (``\u00e9``). The part is taken from the middle, since texts often begin alike.
    """
    search = _PLAIN.search
    return [part[0] if (part := search(text, len(text) >> 1) or search(text)) else "" for text in texts]


def unescape(text: str) -> str:
    """Undo JSON escapes; everything else, half a surrogate pair included, stays as it is."""
    return ESCAPE.sub(decoded, text) if "\\" in text else text


def decoded(match: re.Match[str]) -> str:
    """Return what one `ESCAPE` stands for."""
    if (simple := match[1]) is not None:
        return _SIMPLE[simple]
    _, high, low, code = match.groups()
    if code is not None:
        return chr(int(code, 16))
    return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))


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
    held: list[int] = []  # where verdicts are among those of all samples
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
    """Score 1 if the retrieved text is a part of the gold text, raw or with one of them JSON-escaped, else 0."""
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
