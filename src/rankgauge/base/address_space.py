"""
Address space: under ``ulimit -v``, what a library cannot do without is asked for before it is used.

If they get less, OpenBLAS ends the process with the exit code of a failed gate, orjson crashes, and polars waits
forever, ends the process, or takes a file for damaged, as it happens.
"""

from __future__ import annotations

import os
import sys

__all__ = ["check_room", "heed_limit"]

_NEEDED = {"numpy": 200 << 20, "polars": 700 << 20}
"""Bytes that the library, and what is loaded with it, takes at least, with the threads of `_FEW_THREADS`."""

_FEW_THREADS = {
    "OPENBLAS_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "_RJEM_MALLOC_CONF": "background_thread:false",
}
"""Each thread takes some 100 MB of address space, used or not."""


def check_room(needed: int, what: str) -> None:
    """Raise `MemoryError` if a process that has a limit has less than so many bytes left of it."""
    limit = _limit()
    if limit is not None and needed > (room := max(limit - _used(), 0)):
        raise MemoryError(
            f"{what} takes {needed >> 20} MB of address space, and {room >> 20} MB are left of the {limit >> 20} MB "
            "that this process may have; raise the limit (ulimit -v)"
        )


def heed_limit() -> None:
    """Let imports of libraries raise `MemoryError` for want of room; do nothing if the process has no limit."""
    if _limit() is not None:
        os.environ.update({name: value for name, value in _FEW_THREADS.items() if name not in os.environ})
        sys.meta_path.insert(0, _Room())


class _Room:
    """Looks whether there is room for a library, which others then find."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Raise `MemoryError` if a library would get less than it needs."""
        if name in _NEEDED:
            check_room(_NEEDED[name], f"loading {name}")


def _limit() -> int | None:
    """Return how many bytes of address space this process may have; None if that is not limited or not known."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return limit if limit != resource.RLIM_INFINITY and sys.platform == "linux" else None


def _used() -> int:
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123  # a path would take longer to load than `--help`
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
