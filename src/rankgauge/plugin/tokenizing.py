"""
Tokenizer declarations: functions that count the tokens of a text, for cutoffs that are budgets.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

from rankgauge.errors import DeclarationError
from rankgauge.plugin.authored import Authored, plain_name

__all__ = ["Tokenizer", "TokenizerLaw", "tokenizer"]

TokenizerLaw = Literal["monotone", "subadditive"]
"""
A property that `rankgauge.testing` checks for every tokenizer that declares it.

`monotone`: a text with a line break and more text behind it never has fewer tokens. `subadditive`: two texts with a
line break between them never have more than one token more than apart.
"""

_LAWS = frozenset(typing.get_args(TokenizerLaw))

TokenizerFunction = Callable[[str], int]
F = TypeVar("F", bound=TokenizerFunction)


@dataclass(frozen=True, slots=True)
class Tokenizer(Authored):
    """A way of counting tokens; the fields are the arguments of `tokenizer`."""

    name: str
    function: TokenizerFunction
    version: str = "1"
    laws: frozenset[TokenizerLaw] = frozenset({"monotone"})


def tokenizer(name: str, *, version: str = "1", laws: Iterable[TokenizerLaw] = ("monotone",)) -> Callable[[F], F]:
    """
    Declare a tokenizer: ``(text: str) -> int``, how many tokens a text has.

        @tokenizer("my-model")
        def my_model(text: str) -> int:
            return len(encoding.encode(text))

    The same text always has the same number, of 0 or more; the empty text has none. Marks that a model puts around a
    whole prompt are not counted: texts of results are counted one by one.

    Args:
        name: Lower-case words joined by hyphens; `recall(tokenizer=NAME)@2000tok` uses it.

        version: Raise it when the definition changes.

        laws: Which laws hold; see `TokenizerLaw`.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the name cannot be used, or a law is unknown.
    """

    def decorate(function: F) -> F:
        declared = frozenset(laws)
        if unknown := declared - _LAWS:
            listed = ", ".join(sorted(map(repr, unknown)))
            msg = f"tokenizer {name!r} names the unknown law {listed}; laws are {', '.join(sorted(_LAWS))}"
            raise DeclarationError(msg)
        function.__rankgauge__ = Tokenizer(plain_name(name), function, version, declared)  # type: ignore[attr-defined]  # functions allow it
        return function

    return decorate
