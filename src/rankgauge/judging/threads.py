"""
Threads: working on the parts of a run in a thread each, or on several runs at once.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Generic, TypeVar

from rankgauge.columns import RankingBatch
from rankgauge.judging.run import ScatteredError

__all__ = ["Task", "in_order", "thread_count", "work_on_parts"]

T = TypeVar("T")

_MOST_THREADS = 4


def thread_count() -> int:
    """Return how many threads are worth having on this machine."""
    affinity = getattr(os, "sched_getaffinity", None)
    count = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return min(count, _MOST_THREADS)


def work_on_parts(
    parts: Sequence[Iterator[RankingBatch]], begin: Callable[[int], Callable[[RankingBatch], None]]
) -> None:
    """
    Give each part to what *begin* returns for its number, in a thread of its own.

    Raises what any of them raised first; a `ScatteredError` only if nothing else was raised.
    """
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            take = begin(number)
            for batch in parts[number]:
                if failures:
                    return
                take(batch)
                del batch  # or it is held until the next one is there
        except BaseException as error:  # noqa: BLE001  # raised again in the calling thread
            failures.append(error)

    others = [threading.Thread(target=work, args=(number,), name="rankgauge-part") for number in range(1, len(parts))]
    for thread in others:
        thread.start()
    if parts:
        work(0)
    for thread in others:
        thread.join()
    if failures:
        raise next((error for error in failures if not isinstance(error, ScatteredError)), failures[0])


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """Something to do."""

    do: Callable[[], T]  # does it
    may_wait: bool = False  # whether to do it in the calling thread, when its result is wanted


def in_order(tasks: Iterable[Task[T]], threads: int) -> Iterator[T]:
    """
    Yield what tasks return or raise, in order, while some of those that follow are done in other threads.

    Only as many are begun ahead as there are *threads*, so that results do not pile up; a single task needs no thread.
    """
    every = iter(tasks)
    first = list(islice(every, 2))
    if len(first) < 2 or threads < 2:
        for task in chain(first, every):
            yield task.do()
        return
    from concurrent.futures import ThreadPoolExecutor  # slow to load

    with ThreadPoolExecutor(threads, thread_name_prefix="rankgauge-run") as pool:
        begun: deque[Callable[[], T]] = deque()
        try:
            for task in chain(first, every):
                begun.append(task.do if task.may_wait else pool.submit(task.do).result)
                if len(begun) > threads:
                    yield begun.popleft()()
            while begun:
                yield begun.popleft()()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
