"""
The options of a run: where outputs come from, how a system is called, and how much is read and judged at once.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from rankgauge.errors import DataError, ParameterError, Problem, ResultError
from rankgauge.io.kept_outputs import OutputsFile
from rankgauge.io.output_files import OutputsSource, read_kept
from rankgauge.named_options import check_names
from rankgauge.samples import CallError, KeptOutput, Sample
from rankgauge.scoring.stop import Stop

if TYPE_CHECKING:
    from rankgauge.engine.early_stop import EarlyStop
    from rankgauge.gates.asked import UntilGates
    from rankgauge.planning.plan import Plan
    from rankgauge.scoring.sut import Call, Calling, SystemUnderTest

__all__ = ["CALL_DEFAULTS", "CallOptions", "Calls", "RunArguments", "RunOptions", "system_name"]


class CallOptions(TypedDict, total=False):
    """How `Evaluation.run` calls a system under test; it describes each option."""

    concurrency: int
    timeout: float | None
    retries: int
    keep: str | os.PathLike[str] | None
    resume: bool
    retry_failed: bool
    repeat: int
    until: UntilGates
    seed: int
    stop: Stop | None


class RunArguments(CallOptions, total=False):
    """What `Evaluation.run` and `Evaluation.arun` take; `run` describes each."""

    outputs: OutputsSource | None
    sut: SystemUnderTest | None
    limit: int | None
    details: bool
    near_misses: bool
    sketch_ids: bool
    batch_size: int
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """
    The options of `Evaluation.run`, which describes most fields.

    Attributes:
        calls: Those of a system under test; None for outputs that are there already.

        repeats: How many outputs of a sample are taken at the most.

        is_part: Whether the samples are a part of more, so that ground truth which all of them lack may be elsewhere.
        distrusted: The stages whose places a result did not take, which is read again; empty for the whole output.
    """

    outputs: OutputsSource | None = None
    calls: Calls | None = None
    limit: int | None = None
    details: bool = False
    near_misses: bool = False
    sketch_ids: bool = False
    batch_size: int = 4096
    workers: int = 1
    repeats: int | None = None
    is_part: bool = False
    distrusted: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.outputs is not None and self.calls is not None:
            raise ParameterError("give either outputs or sut, not both: scores must have one source")
        _check_whole("workers", self.workers)
        _check_whole("batch_size", self.batch_size)
        _check_whole("limit", 1 if self.limit is None else self.limit)

    @classmethod
    def of(cls, **given: Unpack[RunArguments]) -> RunOptions:
        """Return the options of a run; gates cannot end one in which nothing is called."""
        check_names("run", given, [*RunArguments.__annotations__, "progress"])
        names = {field.name for field in fields(Calls)}
        how: dict[str, Any] = {name: value for name, value in given.items() if name in names}
        what: dict[str, Any] = {name: value for name, value in given.items() if name not in names}
        if how.get("sut") is not None:
            return cls(calls=Calls(**how), **what)
        if how.get("until"):
            raise ParameterError("until ends the calls of a system under test early; name the system with sut=")
        return cls(**what)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """A system under test, and how it is called; `Evaluation.run` describes each field."""

    sut: SystemUnderTest
    concurrency: int = 8
    timeout: float | None = None
    retries: int = 0
    keep: str | os.PathLike[str] | None = None
    resume: bool = False
    retry_failed: bool = False
    repeat: int = 1
    stop: Stop | None = None
    until: UntilGates = ()
    seed: int = 0  # of the order of calls, if gates end them

    def __post_init__(self) -> None:
        """Refuse a system that cannot be called with one input, and options out of bounds."""
        if not callable(self.sut):
            raise ParameterError(f"sut must be callable, not {self.sut!r}")
        _check_whole("concurrency", self.concurrency)
        _check_whole("repeat", self.repeat)
        _check_whole("retries", self.retries, lowest=0)
        _check_whole("seed", self.seed, lowest=0)
        limit = self.timeout
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0):
            raise ParameterError(f"timeout must be a number of seconds above 0, not {limit!r}")
        if (self.resume or self.retry_failed) and self.keep is None:
            raise ParameterError("resume and retry_failed go on with a file of kept outputs; name it with keep=")
        _check_signature(self.sut)

    def calling(self) -> Calling:
        """Return what of this concerns the calls themselves."""
        from rankgauge.scoring.sut import Calling  # asyncio loads only when it is used

        return Calling(
            concurrency=self.concurrency, timeout=self.timeout, retries=self.retries, stop=self.stop or Stop()
        )

    def early_stop(self, plan: Plan, samples: Sequence[Sample]) -> EarlyStop | None:
        """Return what ends the calls early; None if every sample is called."""
        if not self.until:
            return None
        from rankgauge.engine.early_stop import EarlyStop  # seldom asked for
        from rankgauge.gates.asked import until_gates

        return EarlyStop(until_gates(self.until), plan, samples, repeat=self.repeat, seed=self.seed)

    def in_order(self, samples: int, early: EarlyStop | None) -> list[tuple[int, int]]:
        """Return the calls by place and repeat: all samples once before any again, unless a run may stop *early*."""
        repeats = range(1, self.repeat + 1)
        if early is not None:
            return [(place, repeat) for place in early.order for repeat in repeats]
        return [(place, repeat) for repeat in repeats for place in range(samples)]

    def would_retry(self, call: Call) -> bool:
        """Return whether a call failed that would have been made again, had the run not ended."""
        return isinstance(call.found, CallError) and call.attempt <= self.retries

    def earlier(self) -> dict[str, KeptOutput]:
        """Return what the file to keep outputs in holds already."""
        path = None if self.keep is None else Path(self.keep)
        if path is None or not path.exists() or path.stat().st_size == 0:
            return {}
        if not self.resume:
            raise ParameterError(
                f"{path} holds outputs already; use resume=True to call only for the rest, or choose another file"
            )
        return read_kept(path)

    def file(self, samples: Iterable[Sample]) -> OutputsFile | None:
        """Open the file to keep outputs in, before the first call; return None if none is wanted."""
        if self.keep is None:
            return None
        for sample in samples:
            try:
                sample.id.encode()
            except UnicodeEncodeError:
                why = "the id holds half of a surrogate pair, which UTF-8 cannot encode; give the sample another id"
                raise DataError("the outputs cannot be kept:", [Problem(why, sample=sample.id)]) from None
        try:
            return OutputsFile(Path(self.keep))
        except OSError as error:
            raise ResultError(f"cannot write {self.keep}: {error.strerror or error}; nothing was called") from error


CALL_DEFAULTS = {field.name: field.default for field in fields(Calls) if field.name != "sut"}


def _check_whole(name: str, value: object, *, lowest: int = 1) -> None:
    """Raise `ParameterError` for what is no whole number, or too low a one."""
    if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
        raise ParameterError(f"{name} must be an integer of {lowest} or more, not {value!r}")
    if value >= 1 << 63:
        raise ParameterError(f"{name} must be below 2**63, not {value!r}")


def _check_signature(sut: Callable[..., object]) -> None:
    """Refuse a system that cannot take an input alone, or that yields instead of returning."""
    name = system_name(sut)
    called = sut if inspect.isroutine(sut) or inspect.isclass(sut) else getattr(sut, "__call__", sut)  # noqa: B004
    if inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called):
        raise ParameterError(
            f"the system under test {name} is a generator, which yields; return a list of results instead"
        )
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
    """Return how a manifest and messages name a system: ``module:function``, for an object the class."""
    named = sut if isinstance(getattr(sut, "__qualname__", None), str) else type(sut)
    return f"{getattr(named, '__module__', None) or '?'}:{getattr(named, '__qualname__', '?')}"
