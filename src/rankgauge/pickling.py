"""
Pickling: values with read-only mappings in them, and functions that cannot be sent to another process.
"""

from __future__ import annotations

import dataclasses
import pickle
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from rankgauge.errors import NotPicklableError

__all__ = ["check_picklable", "goes_by_reference", "itself", "reduced", "restored"]


T = TypeVar("T")


class _ReadOnly(dict[Any, Any]):
    """What a read-only mapping travels as: `MappingProxyType` itself cannot be pickled."""


def reduced(value: Any) -> tuple[Callable[..., Any], tuple[type, dict[str, Any]]]:  # noqa: ANN401  # any dataclass
    """
    Return how to pickle a frozen dataclass: its fields, without what it has cached.

    A class says ``__reduce__ = reduced`` where it has read-only mappings, slots, or caches not worth sending.

    Args:
        value: The instance.

    Returns:
        What ``__reduce__`` is to return.
    """
    fields = {field.name: _opened(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return restored, (type(value), fields)


def restored(kind: type, fields: Mapping[str, Any]) -> Any:  # noqa: ANN401  # an instance of `kind`
    """
    Return the instance that `reduced` was given.

    Args:
        kind: Its class.

        fields: Its fields.

    Returns:
        A new instance; nothing is checked again.
    """
    value: Any = object.__new__(kind)
    for name, item in fields.items():
        object.__setattr__(value, name, _closed(item))  # the class is frozen
    return value


def itself(value: T, _memo: object = None) -> T:
    """
    Return a value as its own copy.

    A class of immutable values says ``__copy__ = __deepcopy__ = itself``, so that hosts which copy whatever they are
    given can copy also what cannot be pickled.

    Args:
        value: The value.

    Returns:
        The same.
    """
    return value


def check_picklable(value: object, what: str) -> None:
    """
    Refuse what the standard pickle cannot send to another process.

    Args:
        value: Usually a function given in Python.

        what: What it is, for the message.

    Raises:
        NotPicklableError: It cannot be pickled by reference. Under cloudpickle, which Spark, Ray and Dask send
            functions with, everything goes.
    """
    try:
        pickle.dumps(value)
    except Exception as error:
        if _under_cloudpickle():
            return
        msg = (
            f"{what} cannot be sent to another process: {type(error).__name__}: {error}; define the function at the "
            "top of a module that the other process can import (not as a lambda, not inside of another function)"
        )
        raise NotPicklableError(msg) from error


def goes_by_reference(function: Callable[..., Any]) -> bool:
    """
    Return whether the pickler at work sends a function as its name.

    Args:
        function: One that `check_picklable` has let pass.

    Returns:
        False where cloudpickle sends its code: a function of the main program, or one that cannot be imported.
    """
    if not _under_cloudpickle():
        return True
    module = getattr(function, "__module__", None) or "__main__"
    found: object = sys.modules.get(module)
    for part in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found is function and module != "__main__"


def _under_cloudpickle() -> bool:
    """Return whether the pickler that is at work is cloudpickle's, or a copy of it that a framework carries."""
    frame = sys._getframe()  # noqa: SLF001  # a pickler does not say who it is
    while frame.f_back is not None:
        frame = frame.f_back
        if "cloudpickle" in str(frame.f_globals.get("__name__", "")):
            return True
    return False


def _opened(value: object) -> object:
    if isinstance(value, MappingProxyType):
        return _ReadOnly({key: _opened(item) for key, item in value.items()})
    return value


def _closed(value: object) -> object:
    if isinstance(value, _ReadOnly):
        return MappingProxyType({key: _closed(item) for key, item in value.items()})
    return value
