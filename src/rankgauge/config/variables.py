"""
Variables: what ``${NAME}`` in a config stands for, and texts in which it stands as it was written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["Variables"]

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_TELLING = 8
"""How many characters a value has that messages do not show alone; shorter ones may be any word."""


@dataclass(frozen=True, slots=True)
class Variables:
    """
    Texts of a config with variables, by what they stand for; a value may be secret, such as a signed address.

    A value of *telling* characters or more is not shown alone either.
    """

    written: dict[str, str] = field(default_factory=dict)
    telling: int = _TELLING

    def expanded(self, text: str, refuse: Callable[[str], None]) -> str:
        """Return a path with the values of its variables and of ``~``; call *refuse* with what is wrong with it."""
        path = os.path.expanduser(self.filled(text, refuse))  # noqa: PTH111  # no `./` is lost
        if path and "${" in text:
            self.written.update(dict.fromkeys([path, os.path.normpath(path)], text))
        return path

    def filled(self, text: str, refuse: Callable[[str], None]) -> str:
        """Return a text with the values of its variables; call *refuse* with what is wrong with it."""

        def value(match: re.Match[str]) -> str:
            name = match[1]
            if _NAME.fullmatch(name) is None:
                refuse(f"{match[0]!r} is not a variable, which looks like ${{DATA_DIR}}")
                return ""
            if name not in os.environ:
                refuse(f"the environment variable {name} is not set; {text!r} needs it")
                return ""
            if len(os.environ[name]) >= self.telling:
                self.written[os.environ[name]] = match[0]
            return os.environ[name]

        filled = _VARIABLE.sub(value, text)
        if filled and "${" in text:
            self.written[filled] = text
        return filled

    def unexpanded(self, text: str) -> str:
        """Return a text with paths and values as the config writes them."""
        for value in sorted(self.written, key=len, reverse=True):
            text = text.replace(value, self.written[value])
        return text
