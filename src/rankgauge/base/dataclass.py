"""
`dataclass` of the standard library, with methods that are compiled when they are first needed.

Python 3.11 compiles half a dozen functions for each class, one by one, which takes half a millisecond, and a command
defines some ninety classes. Here the standard library reads the fields, methods that need no compiler share their code,
and `__init__` is compiled at the first call, or when something looks at its signature.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["dataclass"]

_Class = type[Any]
_Method = TypeVar("_Method", bound=Callable[..., Any])
_MISSING = dataclasses.MISSING


def _dataclass(
    *,
    init: bool = True,
    repr: bool = True,  # noqa: A002  # the name that the standard library gives it
    eq: bool = True,
    frozen: bool = False,
    slots: bool = False,
    kw_only: bool = False,
) -> Callable[[_Class], _Class]:
    """Return the decorator for some options, which mean what they mean in `dataclasses.dataclass`."""

    def decorated(cls: _Class) -> _Class:
        if any(map(dataclasses.is_dataclass, cls.__mro__[1:])) or cls.__doc__ is None:
            options = {"init": init, "repr": repr, "eq": eq, "frozen": frozen, "slots": slots, "kw_only": kw_only}
            return dataclasses.dataclass(**options)(cls)
        own = {name for name, value in vars(cls).items() if value is not None}  # __eq__ makes __hash__ None
        made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
        params = made.__dataclass_params__
        params.init, params.repr, params.eq, params.frozen = init, repr, eq, frozen
        methods: dict[str, Any] = {}
        if init:
            methods["__init__"] = _Init(made, frozen=frozen, slots=slots)
        if repr:
            methods["__repr__"] = _repr(made)
        if eq:
            methods |= _comparing(made, hashed=frozen)
        if frozen:
            methods |= _refusing(made)
            if slots:
                methods |= {"__getstate__": _state, "__setstate__": _set_state}
        for name, method in methods.items():
            if name not in own:
                setattr(made, name, method)
        return made

    return decorated


class _Init:
    """Stands for the `__init__` of a class, and puts a compiled one in its place at the first look."""

    def __init__(self, cls: _Class, *, frozen: bool, slots: bool) -> None:
        self._cls, self._frozen, self._slots = cls, frozen, slots

    def __get__(self, value: object, _: _Class | None = None) -> Callable[..., None]:
        init = _compiled(self._cls, frozen=self._frozen, slots=self._slots)
        self._cls.__init__ = init
        return init if value is None else init.__get__(value)


class _Factory:
    """The default of a parameter whose value is made for each call."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _compiled(cls: _Class, *, frozen: bool, slots: bool) -> Callable[..., None]:
    """Return the `__init__` of a dataclass."""
    names: dict[str, Any] = {"_factory": _FACTORY, "_set": object.__setattr__}
    fields = dataclasses.fields(cls)
    body = []
    for field in fields:
        name, value = field.name, field.name
        if field.default_factory is not _MISSING:
            names[f"_make_{name}"] = field.default_factory
            value = f"_make_{name}() if {name} is _factory else {name}" if field.init else f"_make_{name}()"
        elif not field.init:
            if not slots or field.default is _MISSING:
                continue  # a class attribute, or set by `__post_init__`
            value = f"_default_{name}"
        names[f"_default_{name}"] = field.default
        body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    taken = [field for field in fields if field.init]
    usual, named = ([_parameter(field) for field in taken if bool(field.kw_only) is only] for only in (False, True))
    parameters = ", ".join(["self", *usual, *(["*", *named] if named else [])])
    source = f"def make({', '.join(names)}):\n def __init__({parameters}):\n  " + "\n  ".join(body or ["pass"])
    made: dict[str, Any] = {}
    exec(f"{source}\n return __init__", _globals(cls), made)  # noqa: S102  # names of fields
    init: Callable[..., None] = made["make"](**names)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {**{field.name: field.type for field in taken}, "return": None}
    return init


def _globals(cls: _Class) -> dict[str, Any]:
    module = sys.modules.get(cls.__module__)
    return {} if module is None else vars(module)


def _parameter(field: dataclasses.Field[Any]) -> str:
    """Return how a field is written as a parameter."""
    if field.default is not _MISSING:
        return f"{field.name}=_default_{field.name}"
    return field.name if field.default_factory is _MISSING else f"{field.name}=_factory"


def _repr(cls: _Class) -> Callable[[Any], str]:
    shown = [field.name for field in dataclasses.fields(cls) if field.repr]

    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: ANN401, N807  # any value of the class
        return f"{type(self).__qualname__}({', '.join([f'{name}={getattr(self, name)!r}' for name in shown])})"

    return _named(__repr__, cls)


def _comparing(cls: _Class, *, hashed: bool) -> dict[str, Any]:
    """Return how values are compared, and hashed unless they may change."""
    fields = dataclasses.fields(cls)
    compared = _values([field.name for field in fields if field.compare])
    of_hash = _values([field.name for field in fields if (field.compare if field.hash is None else field.hash)])

    def __eq__(self: object, other: object) -> bool:  # noqa: N807
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:  # noqa: N807
        return hash(of_hash(self))

    return {"__eq__": _named(__eq__, cls), "__hash__": _named(__hash__, cls) if hashed else None}


def _values(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what returns the fields of a value as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


def _refusing(cls: _Class) -> dict[str, Any]:
    """Return the methods that refuse every change of a field."""
    names = frozenset(field.name for field in dataclasses.fields(cls))

    def __setattr__(self: object, name: str, value: object) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: object, name: str) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": _named(__setattr__, cls), "__delattr__": _named(__delattr__, cls)}


def _named(method: _Method, cls: _Class) -> _Method:
    method.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
    return method


def _state(self: Any) -> list[Any]:  # noqa: ANN401  # any frozen value with slots
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: Sequence[Any]) -> None:  # noqa: ANN401  # as in `_state`
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, **options):  # noqa: ANN001, ANN003, ANN201
        """Make a class a dataclass, as `dataclasses.dataclass` does."""
        return _dataclass(**options) if cls is None else _dataclass()(cls)
