"""
Source code: a hash of what a plugin's function is written as, with the helpers that it uses.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from rankgauge.base.guard import ForeignError, guarded

__all__ = ["hash_of_source"]


def hash_of_source(functions: Iterable[Callable[..., Any] | None]) -> str:
    """
    Return a hash of the source of functions and of their helpers; empty where no source can be read.

    Helpers are functions and classes of the same package, by whatever name and however indirectly they are used.
    """
    sources: set[str] = set()
    waiting: list[object] = list(functions)
    seen: set[int] = set()
    while waiting:
        part = waiting.pop()
        with contextlib.suppress(ForeignError), guarded():
            part = inspect.unwrap(part)  # type: ignore[arg-type]  # anything else has no `__wrapped__`
            if id(part) not in seen and isinstance(part, FunctionType | type):
                seen.add(id(part))
                sources.add(textwrap.dedent(inspect.getsource(part)))
                waiting += _helpers(part)
    return hashlib.sha256("\0".join(sorted(sources)).encode()).hexdigest()[:16] if sources else ""


def _helpers(part: FunctionType | type) -> Iterator[object]:
    """Yield what a function, or the methods of a class, use of their own package."""
    if isinstance(part, type):
        for member in vars(part).values():
            yield from (member, getattr(member, "fget", None), getattr(member, "__func__", None))
        return
    package = part.__module__.partition(".")[0]
    names = list(_names(part.__code__))
    used = [part.__globals__[name] for name in names if name in part.__globals__]
    used += [cell.cell_contents for cell in part.__closure__ or ()]
    modules = [each for each in used if isinstance(each, ModuleType)]
    used += [vars(module)[name] for module in modules for name in names if name in vars(module)]
    yield from (each for each in used if str(getattr(each, "__module__", "")).partition(".")[0] == package)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code reads, also inside nested functions."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
