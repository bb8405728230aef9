"""
The process of a command: it starts and ends without work that nobody would see.
"""

from __future__ import annotations

import gc
import os
import sys

__all__ = ["begin", "end", "hand_over", "load_numpy"]

_NEW_OBJECTS = 200_000
"""How many objects may be made before cycles are searched for; a start makes half as many, and nearly all stay."""

_USUAL = gc.get_threshold()

_THREADS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
"""What OpenBLAS reads when it is loaded."""

_LARGEST = (1 << 25) - (1 << 13)
"""Nearly the largest block that glibc learns from: 32 MB with what it adds for itself."""


def begin() -> None:
    """
    Load modules without a search for cycles every few hundred objects, and keep memory that is freed.

    glibc returns blocks of 128 kB or more to the kernel, which clears every page before it comes back, until it learns
    from a large block that is freed. Without the one here, which nothing touches, a long run takes an eighth longer.
    """
    gc.set_threshold(_NEW_OBJECTS)
    bytes(_LARGEST)


def hand_over() -> None:
    """Search for cycles as Python usually does before a system under test runs, which may leave open files in them."""
    if gc.get_threshold()[0] == _NEW_OBJECTS:
        gc.freeze()
        gc.set_threshold(*_USUAL)


def end() -> None:
    """Spare the interpreter two searches for cycles among all that is loaded, right before the memory is given back."""
    gc.freeze()


def load_numpy() -> None:
    """
    Load numpy without the threads that OpenBLAS starts, for a command that multiplies no large matrices.

    Who says how many threads there shall be gets them. Processes that this one starts see no difference.
    """
    if "numpy" in sys.modules or any(name in os.environ for name in _THREADS):
        return
    os.environ[_THREADS[0]] = "1"
    try:
        import numpy  # noqa: F401, ICN001  # for the other modules
    finally:
        del os.environ[_THREADS[0]]
