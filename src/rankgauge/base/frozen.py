"""
Frozen values: mappings, lists and arrays that cannot be changed, at any depth; and the same as plain JSON values.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

__all__ = [
    "FrozenList",
    "FrozenMap",
    "freeze_fields",
    "frozen",
    "plain",
    "plain_fields",
    "read_only",
    "refuse_attribute",
]

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")

_PLAIN = frozenset({str, int, float, bool, bytes, type(None)})


def _refuse(value: object, *_: Any, **__: Any) -> NoReturn:  # noqa: ANN401  # the arguments of any method
    kind = "dict" if isinstance(value, dict) else "list"
    raise TypeError(f"this {kind} cannot be changed; {kind}(...) makes a copy that can be")


class FrozenMap(dict[K, V]):
    """
    A mapping that refuses every change; ``dict(mapping)`` is a copy that allows it.

    It is a `dict`, and no `MappingProxyType`, because JSON and pickle write it as it is.
    """

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[dict[K, V]]]:
        return type(self), (dict(self),)


class FrozenList(list[V]):
    """
    A list of JSON values that refuses every change; ``list(values)`` is a copy that allows it.

    It is a `list`, and no tuple, so that what was read equals what was written.
    """

    __slots__ = ()

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[list[V]]]:
        return type(self), (list(self),)


_DONE = _PLAIN | {FrozenMap, FrozenList}


def frozen(value: Any) -> Any:  # noqa: ANN401  # any value, of the same kind
    """
    Return a value that cannot be changed.

    Mappings and lists at any depth are copied, into `FrozenMap` and `FrozenList`; arrays are marked, and not copied.
    Other objects stay what they are.
    """
    kind = type(value)
    if kind in _DONE:
        return value
    if kind is dict or isinstance(value, Mapping):
        return FrozenMap({key: item if type(item) in _DONE else frozen(item) for key, item in value.items()})
    if isinstance(value, list):
        return FrozenList([item if type(item) in _DONE else frozen(item) for item in value])
    if isinstance(value, set):
        return frozenset(value)
    if kind is bytearray:
        return bytes(value)
    if isinstance(value, tuple):
        items = [item if type(item) in _DONE else frozen(item) for item in value]
        if all(map(operator.is_, items, value)):
            return value
        return tuple(items) if kind is tuple else kind(*items)  # of named tuples
    return read_only(value) if hasattr(value, "setflags") else value


def freeze_fields(value: Any) -> None:  # noqa: ANN401  # any dataclass
    """Freeze the fields of a frozen dataclass, whose `__post_init__` calls this."""
    for field in dataclasses.fields(value):
        given = getattr(value, field.name)
        kept = frozen(given)
        if kept is not given:
            object.__setattr__(value, field.name, kept)  # the class is frozen


def refuse_attribute(value: object, name: str, *_: object) -> NoReturn:
    """Refuse to set or delete an attribute; a class says ``__setattr__ = __delattr__ = refuse_attribute``."""
    raise AttributeError(f"a {type(value).__name__} cannot be changed, and so not its {name!r}")


def read_only(array: T) -> T:
    """Mark an array as read-only and return it; who holds an array that it is a view of can still change that."""
    array.setflags(write=False)  # type: ignore[attr-defined]  # by name, so that numpy is not loaded for it
    return array


def plain(value: Any) -> Any:  # noqa: ANN401  # any value, of the same kind
    """Return a value as JSON and YAML hold it: dataclasses and named tuples by field, mappings as dicts, lists."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, list | tuple):
        return list(map(plain, value))
    if dataclasses.is_dataclass(value):
        return value.to_dict() if hasattr(value, "to_dict") else plain_fields(value)
    return value


def plain_fields(value: Any) -> dict[str, Any]:  # noqa: ANN401  # a dataclass
    """Return the fields of a dataclass as JSON and YAML hold them, whatever its own `to_dict` says."""
    return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
