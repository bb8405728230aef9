"""
JSON escapes: writing a text as it stands inside a JSON string, and reading it back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from json.encoder import encode_basestring, encode_basestring_ascii

from rankgauge.matchers.probes import PART

__all__ = ["escaped_forms", "plain_parts", "unescape"]

_LONGEST_TAIL = 5
"""How many characters an escape has after its backslash."""
_UNCHANGED = r"[\x20\x21\x23-\x5b\x5d-\x7e]"
_PLAIN = re.compile(rf"(?<={_UNCHANGED * _LONGEST_TAIL}){_UNCHANGED}{{{PART}}}")
_ESCAPE = re.compile(
    r"\\(?:([\"\\/bfnrt])|u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u(?![dD][89a-fA-F])([0-9a-fA-F]{4}))"
)
_SIMPLE = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def escaped_forms(text: str) -> tuple[str, ...]:
    """Return the ASCII form and the minimal form of a text in a JSON string, without quotes, if escaping changes it."""
    narrow = encode_basestring_ascii(text)[1:-1]
    if narrow == text:
        return ()
    if "\\u" not in narrow:
        return (narrow,)  # which the minimal form differs from only where this one has a code
    wide = encode_basestring(text)[1:-1]
    return (narrow,) if wide in {narrow, text} else (narrow, wide)


def plain_parts(texts: Sequence[str]) -> list[str]:
    r"""
    Return `PART` characters of each text that occur in all its escaped forms and in its unescaped form, or "".

    Escaping leaves these characters alone. Five more of them stand before the part, since the first ones of such a run
    may be the end of an escape (``\u00e9``). The part is taken from the middle, since texts often begin alike.
    """
    search = _PLAIN.search
    return [part[0] if (part := search(text, len(text) >> 1) or search(text)) else "" for text in texts]


def unescape(text: str) -> str:
    """Undo JSON escapes; everything else, half a surrogate pair included, stays as it is."""
    return _ESCAPE.sub(_decoded, text) if "\\" in text else text


def _decoded(match: re.Match[str]) -> str:
    if (simple := match[1]) is not None:
        return _SIMPLE[simple]
    _, high, low, code = match.groups()
    if code is not None:
        return chr(int(code, 16))
    return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))
