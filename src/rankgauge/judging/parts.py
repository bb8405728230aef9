"""
Parts: working on the parts of a run in a thread each.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence

from rankgauge.columns import RankingBatch
from rankgauge.judging.run import ScatteredError

__all__ = ["thread_count", "work_on_parts"]

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
