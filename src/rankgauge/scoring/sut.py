"""
Calling the system under test: concurrently, each failure kept with its sample, the order of samples kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from rankgauge.samples import Fault, Sample

__all__ = ["SystemUnderTest", "call_each"]

SystemUnderTest = Callable[[Any], object] | Callable[[Any], Awaitable[object]]
"""What takes a sample's input and returns an output, at once or awaited."""


async def call_each(
    samples: Sequence[Sample],
    sut: SystemUnderTest,
    *,
    concurrency: int,
    timeout: float | None,  # noqa: ASYNC109  # for each call
) -> AsyncIterator[tuple[int, object]]:
    """
    Call a system under test with each sample's input; yield places and outputs, or the `Fault` of a call, as calls end.

    A function that is not asynchronous runs in a daemon thread, so that one that hangs is left behind at its timeout
    instead of holding up the end of the process.
    """
    queue: asyncio.Queue[tuple[int, object]] = asyncio.Queue()
    places = iter(range(len(samples)))

    async def work() -> None:
        for place in places:
            call = asyncio.ensure_future(_attempt(sut, samples[place].input))
            try:
                done, _ = await asyncio.wait({call}, timeout=timeout)
            finally:
                call.cancel()
            late = Fault(f"the system under test did not answer within {timeout or 0:g} seconds")
            await queue.put((place, call.result() if done else late))

    workers = [asyncio.create_task(work()) for _ in range(min(concurrency, len(samples)))]
    try:
        for _ in samples:
            yield await queue.get()
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _attempt(sut: SystemUnderTest, given: object) -> object:
    """Return what a call returns, or the `Fault` of what it raises, which may be a cancellation of its own."""
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


def _raised(error: BaseException) -> Fault:
    return Fault(f"the system under test raised {type(error).__name__}: {error}")
