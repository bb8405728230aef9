"""
Calling the system under test: concurrently, each failure kept with its sample, the order of samples kept.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, cast

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
    Call a system under test once for each sample.

    A function that is not asynchronous runs in a daemon thread, so that one that hangs is left behind at its timeout
    instead of holding up the end of the process.

    Args:
        samples: The samples; each one's `input` is passed.

        sut: The system under test.

        concurrency: How many calls may be under way at once.

        timeout: Seconds for each call; None for no limit.

    Yields:
        The place of a sample and what was returned, or the `Fault` of a call that failed, as calls end.
    """
    is_async = inspect.iscoroutinefunction(sut) or inspect.iscoroutinefunction(getattr(sut, "__call__", None))  # noqa: B004  # an object may have an async __call__
    queue: asyncio.Queue[tuple[int, object]] = asyncio.Queue()
    places = iter(range(len(samples)))

    async def work() -> None:
        for place in places:
            try:
                call = _awaited(sut, samples[place].input) if is_async else _threaded(sut, samples[place].input)
                output = await asyncio.wait_for(call, timeout)
            except TimeoutError:
                output = Fault(
                    f"the system under test did not answer within {timeout:g} seconds" if timeout else "timeout"
                )
            except Exception as error:  # noqa: BLE001  # a failing system is that sample's failure
                output = Fault(f"the system under test raised {type(error).__name__}: {error}")
            await queue.put((place, output))

    workers = [asyncio.create_task(work()) for _ in range(min(concurrency, len(samples)))]
    try:
        for _ in samples:
            yield await queue.get()
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _awaited(sut: SystemUnderTest, given: object) -> object:
    return await cast("Awaitable[object]", sut(given))


async def _threaded(sut: SystemUnderTest, given: object) -> object:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[object] = loop.create_future()

    def settle(output: object, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(output)
        else:
            future.set_exception(error)

    def run() -> None:
        output: object = None
        failure: BaseException | None = None
        try:
            output = sut(given)
        except Exception as error:  # noqa: BLE001  # handed over to the caller
            failure = error
        except BaseException as error:  # noqa: BLE001  # SystemExit in a thread must not leave the caller waiting
            failure = RuntimeError(f"{type(error).__name__}: {error}")
        try:
            loop.call_soon_threadsafe(settle, output, failure)
        except RuntimeError:  # the loop is closed: nobody waits for this answer any more
            return

    threading.Thread(target=run, daemon=True, name="rankgauge-sut").start()
    output = await future
    return await output if inspect.isawaitable(output) else output
