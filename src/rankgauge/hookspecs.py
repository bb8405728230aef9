"""
The hooks that a plugin can implement: the plugin reference.

A plugin is a module or object behind an entry point of the group ``rankgauge``. Its hooks *return* declarations;
nothing is registered by importing it. Each hook is called at most once for each catalog.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from rankgauge.evaluation.plan import Plan
    from rankgauge.result import Result

__all__ = ["PROJECT", "hookimpl", "hookspec"]

PROJECT = "rankgauge"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def rankgauge_metrics() -> Sequence[Callable[..., Any]]:
    """
    Return metrics: functions decorated with `@metric` or `@sample_metric`.

    Called once, when the catalog is built. A name that another plugin claims, too, works for neither.
    """
    return ()


@hookspec
def rankgauge_normalizers() -> Sequence[Callable[[str], str]]:
    """Return normalizers: functions decorated with `@normalizer`."""
    return ()


@hookspec
def rankgauge_comparers() -> Sequence[Callable[..., Any]]:
    """Return comparers: functions decorated with `@comparer`."""
    return ()


@hookspec
def rankgauge_matchers() -> Sequence[Callable[[], None]]:
    """Return named matchers: functions decorated with `@named_matcher`."""
    return ()


@hookspec
def rankgauge_readers() -> Sequence[Callable[..., Any]]:
    """Return file formats that datasets and outputs can be read from: functions decorated with `@reader`."""
    return ()


@hookspec
def rankgauge_reporters() -> Sequence[Callable[..., str]]:
    """Return text forms of a result: functions decorated with `@reporter`."""
    return ()


@hookspec
def rankgauge_run_started(plan: Plan) -> None:
    """Observe that a run starts. An observer that raises is reported and does not stop the run."""


@hookspec
def rankgauge_run_finished(result: Result) -> None:
    """Observe that a run is done. An observer that raises is reported and does not stop the run."""
