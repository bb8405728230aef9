"""
Calling the system under test: concurrently, each failure kept with its sample, the order of samples kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from rankgauge.samples import CallError, Sample

__all__ = ["Call", "SystemUnderTest", "call_each"]

SystemUnderTest = Callable[[Any], object] | Callable[[Any], Awaitable[object]]
"""What takes a sample's input and returns an output, at once or awaited."""


class Call(NamedTuple):
    """What a call came to: what the system returned, or the `CallError` of its failure; and how long it took."""

    found: object
    seconds: float


async def call_each(
    samples: Sequence[Sample],
    sut: SystemUnderTest,
    *,
    concurrency: int,
    timeout: float | None,  # noqa: ASYNC109  # for each call
) -> AsyncIterator[tuple[int, Call]]:
    """
    Call a system under test with each sample's input; yield places and what each call came to, as calls end.

    A function that is not asynchronous runs in a daemon thread, so that one that hangs is left behind at its timeout
    instead of holding up the end of the process.
    """
    queue: asyncio.Queue[tuple[int, Call]] = asyncio.Queue()
    places = iter(range(len(samples)))

    async def work() -> None:
        for place in places:
            begun = time.perf_counter()
            call = asyncio.ensure_future(_attempt(sut, samples[place].input))
            try:
                done, _ = await asyncio.wait({call}, timeout=timeout)
            finally:
                call.cancel()
            late = CallError("", f"the system under test did not answer within {timeout or 0:g} seconds")
            found = call.result() if done else late
            await queue.put((place, Call(found, time.perf_counter() - begun)))

    workers = [asyncio.create_task(work()) for _ in range(min(concurrency, len(samples)))]
    try:
        for _ in samples:
            yield await queue.get()
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _attempt(sut: SystemUnderTest, given: object) -> object:
    """Return what a call returns, or the `CallError` of what it raises, which may be a cancellation of its own."""
    is_async = inspect.iscoroutinefunction(sut) or inspect.iscoroutinefunction(getattr(sut, "__call__", None))  # noqa: B004  # an object may have an async __call__
    try:
        output = sut(given) if is_async else await _threaded(sut, given)
        return await output if inspect.isawaitable(output) else output
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # a failing system is that sample's failure
        return _raised(error)


async def _threaded(sut: SystemUnderTest, given: object) -> object:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[object] = loop.create_future()

    def settle(output: object) -> None:
        if not future.done():
            future.set_result(output)

    def run() -> None:
        try:
            output = sut(given)
        except BaseException as error:  # noqa: BLE001  # also SystemExit must not leave the caller waiting
            output = _raised(error)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for this answer any more
            loop.call_soon_threadsafe(settle, output)

    threading.Thread(target=run, daemon=True, name="rankgauge-sut").start()
    return await future


def _raised(error: BaseException) -> CallError:
    """Return what an exception says, which may itself raise when it is asked."""
    try:
        return CallError(type(error).__name__, str(error), "".join(traceback.format_exception(error)))
    except BaseException as another:  # noqa: BLE001  # `__str__` of an exception of somebody else's
        message = f"(its message cannot be shown: __str__ raised {type(another).__name__})"
        return CallError(type(error).__name__, message, "".join(traceback.format_tb(error.__traceback__)))
