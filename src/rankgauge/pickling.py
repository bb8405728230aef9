"""
Pickling: values without their caches, and functions that cannot be sent to another process.
"""

from __future__ import annotations

import dataclasses
import pickle
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from rankgauge.base.frozen import read_only
from rankgauge.base.guard import ForeignError, guarded
from rankgauge.errors import NotPicklableError

__all__ = ["goes_by_name", "itself", "reduced", "restored"]


T = TypeVar("T")


def reduced(value: Any) -> tuple[Callable[..., Any], tuple[type, dict[str, Any]]]:  # noqa: ANN401  # any dataclass
    """
    Return how to pickle a frozen dataclass: its fields, without its caches.

    A class says ``__reduce__ = reduced`` when it has slots, arrays, or caches not worth sending.
    """
    fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return restored, (type(value), fields)


def restored(kind: type, fields: Mapping[str, Any]) -> Any:  # noqa: ANN401  # an instance of `kind`
    """Return the instance that `reduced` was given; nothing is validated again, and arrays are read-only again."""
    value: Any = object.__new__(kind)
    for name, item in fields.items():
        kept = read_only(item) if hasattr(item, "setflags") else item
        object.__setattr__(value, name, kept)  # the class is frozen
    return value


def itself(value: T, _memo: object = None) -> T:
    """
    Return an immutable value as its own copy.

    A class says ``__copy__ = __deepcopy__ = itself`` so that hosts which copy their arguments can also copy what
    cannot be pickled.
    """
    return value


def goes_by_name(value: object, what: str) -> bool:
    """Return whether the running pickler sends a function by name; raise `NotPicklableError` if it cannot send it."""
    cloudpickle = _under_cloudpickle()
    try:
        with guarded():
            pickle.dumps(value)
    except ForeignError as error:
        if cloudpickle:
            return False  # it sends the code, also of a lambda
        raise NotPicklableError(
            f"{what} cannot be sent to another process: {error}; define the function at the "
            "top level of a module that the other process can import (no lambda, no nested function)"
        ) from error
    return not cloudpickle or getattr(value, "__module__", None) != "__main__"


def _under_cloudpickle() -> bool:
    """
    Return whether the running pickler is cloudpickle's, or a copy of it that a framework carries.

    A pickler tells an object only its protocol number. Without looking at who calls, a lambda would either be refused
    under cloudpickle (Spark, Ray, Dask), which can send its code, or fail under pickle without our message.
    """
    frame = sys._getframe()  # noqa: SLF001  # the only way to see who calls
    while frame.f_back is not None:
        frame = frame.f_back
        if "cloudpickle" in str(frame.f_globals.get("__name__", "")):
            return True
    return False
