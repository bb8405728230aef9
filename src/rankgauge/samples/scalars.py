"""
Single values of outside data: ids, gains, and how a message shows what was found.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import TypeGuard

from rankgauge.decimals import NUMBER
from rankgauge.policy import Contract

__all__ = ["NUMBERS", "InvalidError", "are_strings", "is_finite_number", "is_real", "look", "read_gain", "read_id"]

NUMBERS = frozenset({int, float})


class InvalidError(ValueError):
    """A value that the contract does not allow: where, below the field, and why."""

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        self.message = message
        super().__init__(message)


def read_id(raw: object, path: str, contract: Contract) -> str:
    """Return an id; an `InvalidError` where the contract allows none."""
    if isinstance(raw, str):
        if raw:
            return raw
        raise InvalidError(path, "an id must not be empty")
    if not contract.strict_ids and isinstance(raw, int) and not isinstance(raw, bool):
        return str(raw)
    wanted = "a string" if contract.strict_ids else "a string or an integer"
    raise InvalidError(path, f"an id must be {wanted}, not {look(raw)}")


def read_gain(raw: object, path: str, contract: Contract) -> float:
    """Return a finite gain; an `InvalidError` for anything else."""
    if isinstance(raw, str) and contract.coerce and NUMBER.fullmatch(raw.strip()):
        raw = float(raw)
    if not is_real(raw):
        raise InvalidError(path, f"a gain must be a number, not {look(raw)}")
    if not is_finite_number(raw):
        raise InvalidError(path, f"a gain must be finite, not {look(raw)}")
    return float(raw)


def are_strings(values: Sequence[object]) -> TypeGuard[Sequence[str]]:
    """Return whether all of some values are strings; joining them is the fastest way to ask."""
    try:
        "".join(values)  # type: ignore[arg-type]  # whether it is one is the question
    except TypeError:
        return False
    return True


def is_real(value: object) -> TypeGuard[numbers.Real]:
    """Return whether a value is a number, one of numpy's included, and no boolean."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_finite_number(value: object) -> bool:
    """Return whether a value is a number that a float can hold."""
    try:
        return is_real(value) and math.isfinite(value)
    except OverflowError:
        return False


def look(value: object) -> str:
    """Return a value as an error message shows it: its kind, and a short look at it."""
    kinds = {str: "the string", bool: "the boolean", int: "the integer", float: "the number", list: "the list"}
    if value is None:
        return "null"
    try:
        shown = repr(value)
    except (RecursionError, ValueError):  # nested as deep as JSON allows, or an integer of thousands of digits
        shown = "(too large to show)"
    if len(shown) > 60:
        shown = f"{shown[:57]}..."
    kind = kinds.get(type(value), "the object" if isinstance(value, Mapping) else f"the {type(value).__name__}")
    return f"{kind} {shown}"
