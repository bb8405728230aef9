"""
Calling the system under test: concurrently, each failure kept with its sample, the order of samples kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import random
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, NamedTuple, TypeVar

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.samples import CallError, Sample
from rankgauge.samples.sample_outputs import TIMED_OUT
from rankgauge.scoring.call_threads import MOST, in_thread, may_begin
from rankgauge.scoring.stop import Stop

__all__ = ["Call", "Calling", "SystemUnderTest", "call_each", "failure_of"]

SystemUnderTest = Callable[[Any], object] | Callable[[Any], Awaitable[object]]
"""What takes a sample's input and returns an output, at once or awaited."""

_T = TypeVar("_T")

_LONGEST_PAUSE = 60.0
"""Seconds; pauses double from half a second to a second on, and have a random length so that calls spread."""


class Call(NamedTuple):
    """What a call came to: what the system returned, or the `CallError` of its failure; how long the last try took."""

    found: object
    seconds: float
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calling:
    """How a system is called."""

    concurrency: int  # how many calls may be under way at once
    timeout: float | None  # seconds for each call
    retries: int  # how often a call that failed is made again
    stop: Stop = field(default_factory=Stop)  # how to end the calls early
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep  # how to wait before a retry


async def call_each(samples: Sequence[Sample], sut: SystemUnderTest, how: Calling) -> AsyncIterator[tuple[int, Call]]:
    """
    Call a system under test with each sample's input; yield places and what each call came to, as calls end.

    A function that is not asynchronous runs in a daemon thread, so that one that hangs is left behind at its timeout
    instead of holding up the end of the process. While `MOST` are left behind, a call waits as long as its timeout for
    one of them to end, and fails if none does.
    """
    if not samples:
        return
    pool = _Pool(samples, sut, how)
    try:
        async for call in pool.calls():
            yield call
    finally:
        await pool.close()


class _Done(NamedTuple):
    """A call that has ended; *handled* is set when whoever reads the calls asks for the next."""

    place: int
    call: Call
    handled: asyncio.Event


class _Pool:
    """Workers that share the samples, and the queue of what their calls came to."""

    def __init__(self, samples: Sequence[Sample], sut: SystemUnderTest, how: Calling) -> None:
        self._samples, self._sut, self._how = samples, sut, how
        self._places = iter(range(len(samples)))
        self._queue: asyncio.Queue[_Done | None] = asyncio.Queue()
        self._stopping = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._workers = [asyncio.create_task(self._work()) for _ in range(min(how.concurrency, len(samples)))]
        self._watcher = asyncio.create_task(self._watch())
        how.stop.notify(self._notified)
        if how.stop.requests:
            self._react()

    async def calls(self) -> AsyncIterator[tuple[int, Call]]:
        """Yield what calls came to, until every worker has ended."""
        while (done := await self._queue.get()) is not None:
            yield done.place, done.call
            done.handled.set()
        for worker in self._workers:
            if not worker.cancelled():
                worker.result()  # raises what a worker itself died of

    async def close(self) -> None:
        """Leave behind what is under way."""
        self._how.stop.notify(None)
        for task in self._workers:
            task.cancel()
        await asyncio.gather(*self._workers, self._watcher, return_exceptions=True)

    async def _work(self) -> None:
        for place in self._places:
            if self._stopping.is_set():
                return
            call = await _call(self._sut, self._samples[place].input, self._how, self._stopping)
            if call is None:
                return
            done = _Done(place, call, asyncio.Event())
            await self._queue.put(done)
            await done.handled.wait()  # so that a crash during the next call cannot lose this output

    async def _watch(self) -> None:
        await asyncio.wait(self._workers)
        await self._queue.put(None)

    def _notified(self) -> None:
        self._loop.call_soon_threadsafe(self._react)

    def _react(self) -> None:
        self._stopping.set()
        if self._how.stop.requests > 1:
            for worker in self._workers:
                worker.cancel()


async def _call(sut: SystemUnderTest, given: object, how: Calling, stopping: asyncio.Event) -> Call | None:
    """Call a system until it answers, as often as is allowed; return None if the calls stop before it was called."""
    call = None
    for attempt in count(1):
        if not _is_async(sut) and not await _unless_stopped(may_begin(how.timeout), stopping):
            if stopping.is_set():
                return call
            call = Call(_crowded(how), 0.0, attempt)
        else:
            call = await _tried(sut, given, how, attempt)
        if attempt > how.retries or not isinstance(call.found, CallError) or stopping.is_set():
            break
        pause = min(_LONGEST_PAUSE, 2.0 ** (attempt - 1)) * random.SystemRandom().uniform(0.5, 1)
        await _unless_stopped(how.sleep(pause), stopping)
        if stopping.is_set():
            break
    return call


async def _tried(sut: SystemUnderTest, given: object, how: Calling, attempt: int) -> Call:
    begun = time.perf_counter()
    task = asyncio.ensure_future(_attempt(sut, given))
    try:
        done, _ = await asyncio.wait({task}, timeout=how.timeout)
    finally:
        task.cancel()
    late = CallError(TIMED_OUT, f"the system under test did not answer within {how.timeout or 0:g} seconds")
    return Call(task.result() if done else late, time.perf_counter() - begun, attempt)


def _crowded(how: Calling) -> CallError:
    """Return why a call could not begin."""
    waited = "" if how.timeout is None else f", nor did any end within {how.timeout:g} seconds"
    return CallError(
        TIMED_OUT,
        f"the system under test was not called: {MOST} calls that were given up in this process have not ended{waited}",
    )


async def _unless_stopped(awaited: Awaitable[_T], stopping: asyncio.Event) -> _T | None:
    """Wait for something; return None if the calls stop before it is there."""
    task, stop = asyncio.ensure_future(awaited), asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait([task, stop], return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        task.cancel()
        stop.cancel()


def _is_async(sut: SystemUnderTest) -> bool:
    return inspect.iscoroutinefunction(sut) or inspect.iscoroutinefunction(getattr(sut, "__call__", None))  # noqa: B004  # an object may have an async __call__


async def _attempt(sut: SystemUnderTest, given: object) -> object:
    """Return what a call returns, or the `CallError` of what it raises, which may be a cancellation of its own."""
    try:
        with guarded():
            output = sut(given) if _is_async(sut) else await in_thread(partial(_settled, sut, given))
            return await output if inspect.isawaitable(output) else output
    except ForeignError as error:  # a failing system is that sample's failure
        return failure_of(error)


def _settled(sut: SystemUnderTest, given: object) -> object:
    """Call a system; return its failure whatever it raises, because whoever waits for its thread would never wake."""
    try:
        with guarded():
            return sut(given)
    except ForeignError as error:  # also of `sys.exit`
        return failure_of(error)
    except BaseException as error:  # noqa: BLE001  # Ctrl-C is never raised in this thread, so it is the system's own
        return failure_of(ForeignError(error))


def failure_of(error: ForeignError) -> CallError:
    """Return what a system raised, with its traceback, which may itself raise when it is made."""
    lines = [error.told]
    with contextlib.suppress(ForeignError), guarded():
        lines = traceback.format_exception(error.__cause__)
    return CallError(error.kind, _text(error.message), _text("".join(lines)))


def _text(text: str) -> str:
    """Return a text that UTF-8 can encode."""
    return text.encode("utf-8", "backslashreplace").decode()
