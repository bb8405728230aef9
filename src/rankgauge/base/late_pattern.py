"""
Regular expressions that are compiled when they are first used: compiling takes longer than loading a module.
"""

from __future__ import annotations

import re
from typing import Any, cast

__all__ = ["late_pattern"]


class _LatePattern:
    """Compiles its pattern for the first of its methods that is asked for, and keeps each method."""

    def __init__(self, source: str, flags: re.RegexFlag) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # any attribute of a pattern
        if name.startswith("__"):
            raise AttributeError(name)  # for copy and pickle, which ask before there is a source
        found = getattr(re.compile(self._source, self._flags), name)  # `re` remembers what it compiled
        setattr(self, name, found)
        return found


def late_pattern(source: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Return what `re.compile` returns, to be used by its methods."""
    return cast("re.Pattern[str]", _LatePattern(source, flags))
