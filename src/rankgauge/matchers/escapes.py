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
    """
    Return how a text may be written inside a JSON string, where that differs from the text.

    Args:
        text: Any text.

    Returns:
        The form with everything but ASCII escaped, and the one with only what JSON demands; without the quotes.
        Empty when escaping changes nothing.
    """
    narrow = encode_basestring_ascii(text)[1:-1]
    if narrow == text:
        return ()
    wide = encode_basestring(text)[1:-1]
    return (narrow,) if wide in {narrow, text} else (narrow, wide)


def plain_parts(texts: Sequence[str]) -> list[str]:
    r"""
    Return some part of each text that stands letter by letter in all its escaped forms, and in what it escapes.

    That part has only characters that escaping leaves alone. Before it stand five more of them, since the first of
    such a run may be the tail of an escape (``\u00e9``) and so be gone from what the text escapes.

    Args:
        texts: Any texts.

    Returns:
        `PART` characters of each, from the middle where it has them there, since texts often begin alike; empty when
        there are none. A text that does not contain them contains it in no form.
    """
    search = _PLAIN.search
    found = [search(text, len(text) >> 1) or search(text) for text in texts]
    return ["" if part is None else part[0] for part in found]


def unescape(text: str) -> str:
    """
    Undo JSON escapes; what is no escape, half a surrogate pair included, stays as it is.

    Args:
        text: Any text.

    Returns:
        The text that was escaped.
    """
    return _ESCAPE.sub(_decoded, text) if "\\" in text else text


def _decoded(match: re.Match[str]) -> str:
    simple, high, low, code = match.groups()
    if simple is not None:
        return _SIMPLE[simple]
    if code is not None:
        return chr(int(code, 16))
    return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))
