"""
Forks: a process that is forked after polars was used has none of its threads, and would wait for them forever.
"""

from __future__ import annotations

import functools
import os
from contextlib import suppress

__all__ = ["lost_threads"]

_PROCESS = os.getpid()
_TASKS = "/proc/self/task"


def lost_threads() -> str:
    """Return why this process cannot use polars, as far as that can be noticed; empty if it can."""
    return _lost(os.getpid())


@functools.cache  # for each process: it takes a moment, and begins the threads
def _lost(process: int) -> str:
    if process == _PROCESS or not os.path.isdir(_TASKS):  # noqa: PTH112  # loaded with every command
        return ""
    import polars as pl

    before = len(os.listdir(_TASKS))  # noqa: PTH208  # as above
    pl.thread_pool_size()  # which starts the threads, unless polars takes them for started
    tasks = os.listdir(_TASKS)  # noqa: PTH208
    if len(tasks) > before or any(_name(task).startswith("polars-") for task in tasks if task != str(process)):
        return ""
    return (
        "this process was forked from one that had used polars, whose threads it lacks, so that it would wait forever; "
        "start processes with `spawn` or `forkserver`, or fork before the first evaluation"
    )


def _name(task: str) -> str:
    with suppress(OSError), open(f"{_TASKS}/{task}/comm", encoding="utf-8") as file:  # noqa: PTH123  # as above
        return file.read()
    return ""
