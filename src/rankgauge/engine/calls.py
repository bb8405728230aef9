"""
Calls of a system under test: what is checked before the first, and how they are run to their end.
"""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.errors import DataError, ParameterError, Problem, ResultError
from rankgauge.io.output_files import OutputsFile, read_kept
from rankgauge.samples import KeptOutput, Sample
from rankgauge.scoring.stop import Stop
from rankgauge.stats import percentile

if TYPE_CHECKING:
    pass

__all__ = ["CallOptions", "call_figures", "check_calls", "run_to_end", "system_name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """
    How a system under test is called; `Evaluation.run` describes each.

    Attributes:
        concurrency: How many calls may be under way at once.

        timeout: Seconds for each call.

        retries: How often a call that failed is made again.

        keep: A file to which every output is written as it arrives.

        resume: Whether outputs that *keep* holds already need no call.

        retry_failed: Whether those of them that failed do.

        stop: How to end the calls early.
    """

    concurrency: int = 8
    timeout: float | None = None
    retries: int = 0
    keep: str | os.PathLike[str] | None = None
    resume: bool = False
    retry_failed: bool = False
    stop: Stop | None = None

    def earlier(self) -> dict[str, KeptOutput]:
        """Return what the file to keep outputs in holds already."""
        path = None if self.keep is None else Path(self.keep)
        if path is None or not path.exists() or path.stat().st_size == 0:
            return {}
        if not self.resume:
            msg = f"{path} holds outputs already; use resume=True to call only for the rest, or choose another file"
            raise ParameterError(msg)
        return read_kept(path)

    @contextlib.contextmanager
    def file(self, samples: Iterable[Sample]) -> Iterator[OutputsFile | None]:
        """Open the file to keep outputs in, before the first call; yield None where none is wanted."""
        if self.keep is None:
            yield None
            return
        for sample in samples:
            try:
                sample.id.encode()
            except UnicodeEncodeError:
                msg = "the outputs cannot be kept:"
                why = "the id holds half of a surrogate pair, which UTF-8 cannot encode; give the sample another id"
                raise DataError(msg, [Problem(why, sample=sample.id)]) from None
        try:
            file = OutputsFile(Path(self.keep))
        except OSError as error:
            raise ResultError(f"cannot write {self.keep}: {error.strerror or error}; nothing was called") from error
        try:
            yield file
        finally:
            file.close()


def check_whole(name: str, value: object, *, lowest: int = 1) -> None:
    """Raise `ParameterError` for what is no whole number, or too low a one."""
    if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
        raise ParameterError(f"{name} must be an integer of {lowest} or more, not {value!r}")


def check_calls(sut: object, options: CallOptions) -> None:
    """Raise `ParameterError` for a system that cannot be called with one input, and for options out of bounds."""
    if not callable(sut):
        raise ParameterError(f"sut must be callable, not {sut!r}")
    check_whole("concurrency", options.concurrency)
    check_whole("retries", options.retries, lowest=0)
    timeout = options.timeout
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0):
        raise ParameterError(f"timeout must be a number of seconds above 0, not {timeout!r}")
    if (options.resume or options.retry_failed) and options.keep is None:
        raise ParameterError("resume and retry_failed go on with a file of kept outputs; name it with keep=")
    _check_signature(sut)


def _check_signature(sut: Callable[..., object]) -> None:
    """Refuse a system that cannot take an input alone, or that yields instead of returning."""
    name = system_name(sut)
    called = sut if inspect.isroutine(sut) or inspect.isclass(sut) else getattr(sut, "__call__", sut)  # noqa: B004
    if inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called):
        msg = f"the system under test {name} is a generator, which yields; return a list of results instead"
        raise ParameterError(msg)
    try:
        signature = inspect.signature(sut)
    except (TypeError, ValueError):  # some callables that are not written in Python have none
        return
    try:
        signature.bind(None)
    except TypeError as error:
        raise ParameterError(
            f"the system under test {name}{signature} cannot be called with a sample's input alone: {error}; wrap it "
            "in a function of one argument"
        ) from None


def system_name(sut: object) -> str:
    """Return how a manifest names a system: ``module:function``, for an object the class."""
    named = sut if isinstance(getattr(sut, "__qualname__", None), str) else type(sut)
    return f"{getattr(named, '__module__', None) or '?'}:{getattr(named, '__qualname__', '?')}"


def call_figures(outputs: Iterable[KeptOutput], failed: int) -> dict[str, Any]:
    """Return how many calls were made and *failed*, how often one was repeated, and how long they took."""
    outputs = list(outputs)
    seconds = [output.seconds for output in outputs if output.seconds is not None]
    return {
        "n": len(outputs),
        "failed": failed,
        "retries": sum(output.attempt - 1 for output in outputs),
        "seconds": {"p50": percentile(seconds, 50), "p95": percentile(seconds, 95)},
    }


def run_to_end(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine to its end, also where a loop runs in this thread already (a notebook)."""
    import asyncio  # loads only where a system under test is called
    import threading

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(main())
        return
    failure: list[BaseException] = []
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = []

    async def drive() -> None:
        task = asyncio.ensure_future(main())
        running.append((asyncio.get_running_loop(), task))
        with contextlib.suppress(asyncio.CancelledError):
            await task

    def work() -> None:
        try:
            asyncio.run(drive())
        except BaseException as error:  # noqa: BLE001  # raised again in the calling thread
            failure.append(error)

    thread = threading.Thread(target=work, name="rankgauge-run")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        for loop, task in running:
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if failure:
        raise failure[0]
