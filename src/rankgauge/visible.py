r"""
Text from outside, made safe to show: what would move the cursor, hide or reorder text is written as an escape.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["all_visible", "visible", "visible_json"]

# C0 and C1 controls, the line separators, what changes the direction of text, and halves of surrogate pairs.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def visible(text: str, *, keep: str = "") -> str:
    r"""Return *text* with every unsafe character but those in *keep* as an escape, such as ``\x1b`` or ``\u202e``."""
    return _UNSAFE.sub(lambda found: found[0] if found[0] in keep else _escaped(found[0]), text)


def all_visible(texts: Sequence[str]) -> Sequence[str]:
    """Return each text as `visible` does; thousands at once, of which hardly any holds an unsafe character."""
    return texts if _UNSAFE.search("".join(texts)) is None else list(map(visible, texts))


def visible_json(text: str) -> str:
    r"""Return a JSON text that means the same, with ``\u202e`` for an unsafe character; its line breaks are kept."""
    return _UNSAFE.sub(lambda found: found[0] if found[0] in "\t\n\r" else f"\\u{ord(found[0]):04x}", text)


def _escaped(character: str) -> str:
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
