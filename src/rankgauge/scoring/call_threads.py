"""
Threads for calls of systems under test: one that hangs is left behind, and how many are is bounded in a process.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

__all__ = ["MOST", "CallThreads", "in_thread", "left_behind", "may_begin"]

MOST = 64
"""How many calls may be left behind in a process, whatever run they are of, before no other begins in a thread."""

_waiting: set[Callable[[], object]] = set()  # of all runs of the process: what wakes those that wait for `may_begin`


class _Promise(Future[Any]):
    """What a call comes to. Whoever stops waiting for it cancels it, which cannot end its thread."""

    is_left = False

    def cancel(self) -> bool:
        self.is_left = True
        return super().cancel()


class _CallThread(threading.Thread):
    """A thread of one call; a daemon, so that the process ends without it."""

    def __init__(self, call: Callable[[], object]) -> None:
        super().__init__(daemon=True, name="rankgauge-sut")
        self.promise = _Promise()
        self.promise.set_running_or_notify_cancel()
        self._call = call

    @property
    def is_left(self) -> bool:
        return self.promise.is_left and not self.promise.done()

    def run(self) -> None:
        try:
            found = self._call()
        except BaseException as error:  # noqa: BLE001  # raised when the call is waited for
            self.promise.set_exception(error)
        else:
            self.promise.set_result(found)
        for wake in tuple(_waiting):  # after the promise is done, so that whoever wakes sees that
            wake()


def left_behind() -> int:
    """Return how many calls were given up and have not ended, in this process: a fork has none of its parent's."""
    return sum(isinstance(thread, _CallThread) and thread.is_left for thread in threading.enumerate())


async def may_begin(seconds: float | None) -> bool:
    """Return whether a call may begin in a thread, at once or, unless *seconds* is None, within so many seconds."""
    if left_behind() < MOST:
        return True
    if seconds is None:
        return False
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(ended.set)

    _waiting.add(wake)
    try:
        async with asyncio.timeout(seconds):
            while left_behind() >= MOST:
                await ended.wait()
                ended.clear()
    except TimeoutError:
        return False
    finally:
        _waiting.discard(wake)
    return True


async def in_thread(call: Callable[[], object]) -> object:
    """Call in a thread of its own, which is left behind when this is cancelled."""
    return await asyncio.wrap_future(_started(call))


class CallThreads(ThreadPoolExecutor):
    """
    What `asyncio.to_thread` of an asynchronous system runs in: nothing waits at the end for calls that hang.

    An event loop takes no executor but a `ThreadPoolExecutor`, whose own threads hold up the end of the process.
    """

    def submit(self, fn: Callable[..., Any], /, *args: object, **kwargs: object) -> Future[Any]:
        """Start a call in a thread of its own."""
        if left_behind() >= MOST:
            raise RuntimeError(f"no thread was started: {MOST} calls that were given up in this process have not ended")
        return _started(partial(fn, *args, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002  # inherited
        """Leave behind what has not ended."""


def _started(call: Callable[[], object]) -> Future[Any]:
    thread = _CallThread(call)
    thread.start()
    return thread.promise
