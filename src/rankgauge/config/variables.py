"""
Variables: what ``${NAME}`` in a config stands for, texts with it as it was written, and secrets, which have to be one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

__all__ = ["Variables", "refuse_secrets"]

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_SECRET = re.compile(
    r"(?:^|[_-])(?:pass(?:word|wd|phrase)?|pwd|secret|token|bearer|jwt|authorization|cookie|credentials?"
    r"|(?:api|access|account|auth|private|secret|shared|subscription)[_-]?key)$",
    re.IGNORECASE,
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ASSIGNED = re.compile(r"([\w-]+)\s*=\s*([^\s&;]+)")
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


def refuse_secrets(value: object) -> None:
    """Raise a `ValueError` for a secret that is written out, and do not show it."""
    for path, inner in _values_of(value):
        if inner is None or inner == "" or isinstance(inner, bool):
            continue
        text = str(inner)
        named = next((str(key) for key in reversed(path) if isinstance(key, str)), "")
        if _is_hidden(named.rpartition(".")[2]) and _VARIABLE.search(text) is None:
            raise ValueError(f"{named} is written out, and a config is read by many; write ${{NAME_OF_A_VARIABLE}}")
        if any(_VARIABLE.search(secret) is None for secret in _secrets_in(text)):
            raise ValueError(f"a secret in {named} is written out; write ${{NAME_OF_A_VARIABLE}} in its place")


def _is_hidden(name: str) -> bool:
    """Return whether an option is named like a secret."""
    return _SECRET.search(_HUMP.sub("_", name)) is not None


def _values_of(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], object]]:
    """Yield every value inside mappings and lists, with the keys that lead to it."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _values_of(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _values_of(inner, (*path, place))
    else:
        yield path, value


def _secrets_in(text: str) -> list[str]:
    """Return the password of an address, and values after names of secrets, as in ``?token=...``."""
    given = [value for name, value in _ASSIGNED.findall(text) if _is_hidden(name)]
    try:
        address = urlsplit(text)
        return [*given, *filter(None, [address.password if "://" in text else None])]
    except ValueError:  # no address after all
        return given
