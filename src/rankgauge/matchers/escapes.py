"""
JSON escapes: writing a text as it stands inside a JSON string, and reading it back.
"""

from __future__ import annotations

import re
from json.encoder import encode_basestring, encode_basestring_ascii

__all__ = ["escaped_forms", "unescape"]

_CHANGES = re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]")
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
    if _CHANGES.search(text) is None:
        return ()
    forms = (encode_basestring_ascii(text)[1:-1], encode_basestring(text)[1:-1])
    return tuple(form for form in dict.fromkeys(forms) if form != text)


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
