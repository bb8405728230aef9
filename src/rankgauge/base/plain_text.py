"""
Text from outside made safe to show, and decimal numbers as text.
"""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Sequence

__all__ = ["NUMBER", "all_visible", "no_command", "read_amount", "read_number", "read_share", "visible", "visible_json"]

# C0 and C1 controls, the line separators, what changes the direction of text, and halves of surrogate pairs.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def visible(text: str, *, keep: str = "") -> str:
    r"""Return *text* with every unsafe character but those in *keep* as an escape, such as ``\x1b`` or ``\u202e``."""
    return _UNSAFE.sub(lambda found: found[0] if found[0] in keep else _escaped(found[0]), text)


def no_command(text: str) -> str:
    """Return a text of which no line is a command to GitHub Actions, in a job of which this runs."""
    if "GITHUB_ACTIONS" not in os.environ:
        return text
    return re.sub(r"^(\s*)(::|##\[)", r"\1\\\2", text, flags=re.MULTILINE)


def all_visible(texts: Sequence[str]) -> Sequence[str]:
    """Return each text as `visible` does; thousands at once, of which hardly any holds an unsafe character."""
    return texts if _UNSAFE.search("".join(texts)) is None else list(map(visible, texts))


def visible_json(text: str) -> str:
    r"""Return a JSON text that means the same, with ``\u202e`` for an unsafe character; its line breaks are kept."""
    return _UNSAFE.sub(lambda found: found[0] if found[0] in "\t\n\r" else f"\\u{ord(found[0]):04x}", text)


def _escaped(character: str) -> str:
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""What `float` reads, without blanks, underscores, other scripts' digits, infinity and NaN."""


@functools.cache
def _number_bytes() -> re.Pattern[bytes]:
    """Return `NUMBER` for bytes; to compile it takes as long as all else of this module."""
    return re.compile(NUMBER.pattern.encode())


def read_number(text: bytes) -> float:
    """Return the finite number that a text writes; NaN if it writes none."""
    number = float(text) if _number_bytes().fullmatch(text) else math.nan
    return number if math.isfinite(number) else math.nan


def read_amount(text: str) -> float:
    """Return the number that a text writes, perhaps with a unit of time: ``200ms`` is 0.2, as ``0.2s`` is."""
    if text.endswith("ms"):
        return read_number(text[:-2].rstrip().encode()) / 1000
    return read_number(text.removesuffix("s").rstrip().encode())


def read_share(written: str) -> float:
    """Return a share written as a number (``0.1``) or a percentage (``10%``); raise `ValueError` for anything else."""
    text = written.strip()
    number = text.removesuffix("%").rstrip()
    if NUMBER.fullmatch(number) is None:
        raise ValueError(f"a share is a number from 0 to 1, or a percentage such as 10%, not {written!r}")
    if not text.endswith("%"):
        return float(number)
    digits, _, exponent = number.lower().partition("e")
    return float(f"{digits}e{int(exponent or 0) - 2}")  # a hundredth of the float 0.7 is not the float 0.007
