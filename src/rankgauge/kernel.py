"""
The compiled kernel, which the plugin rankgauge-fast offers: work on lines, rows and words that numpy does otherwise.

A kernel and numpy come to the same, to the last bit. What is not plainly well-formed it hands back.

The plugin is imported by its name: reading what is installed would take as long as a small run takes to evaluate.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol

from rankgauge.base.entry_points import normalized
from rankgauge.base.guard import ForeignError, guarded
from rankgauge.base.logs import logger
from rankgauge.command_points import disabled_plugins, no_plugins

__all__ = ["DISTRIBUTION", "Kernel", "installed_kernel"]

DISTRIBUTION = "rankgauge-fast"
_INTERFACE = 6
"""Which functions a kernel has, and their arguments."""


class Kernel(Protocol):
    """What the hook `rankgauge_kernel` returns; the arrays that a function is to fill come last."""

    INTERFACE: int
    read_lines: Callable[..., tuple[int, int, int] | None]
    index_texts: Callable[..., bool]
    find_texts: Callable[..., None]
    join_judged: Callable[..., int | None]
    read_words: Callable[..., int]
    prepare_texts: Callable[..., list[bytes | None]]
    cover_texts: Callable[..., bytes]
    score_few: Callable[..., tuple[Any, ...] | None]


@functools.cache
def _loaded() -> Kernel | None:
    try:
        with guarded():
            import rankgauge_fast

            kernel: Kernel | None = rankgauge_fast.rankgauge_kernel()
            if kernel is None or kernel.INTERFACE == _INTERFACE:
                return kernel
            why = "it was compiled for another version of rankgauge"
    except ForeignError as error:
        if isinstance(error.__cause__, ModuleNotFoundError):
            return None
        why = str(error)
    logger("catalog").warning("the kernel of %s is not used, and numpy does its work: %s", DISTRIBUTION, why)
    return None


def installed_kernel() -> Kernel | None:
    """Return the kernel; None if there is none, or environment variables switch its plugin off."""
    return None if no_plugins() or DISTRIBUTION in map(normalized, disabled_plugins()) else _loaded()
