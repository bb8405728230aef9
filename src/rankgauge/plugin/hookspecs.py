"""
The hooks that a plugin can implement, which are the plugin reference, and the version of that interface.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import pluggy

__all__ = ["API", "ATTRIBUTE", "PROJECT", "FinishedRun", "StartedRun", "hookimpl", "hookspec", "why_unusable"]

PROJECT = "rankgauge"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Mark a function as the implementation of the hook of its name."""


class StartedRun(Protocol):
    """
    What an observer may read of a run's plan; the actual plan has more.

    Attributes:
        dataset: What the data is called; empty for samples given in Python.

        metrics: The columns to be computed, each with its `name` and `expression`.
    """

    @property
    def dataset(self) -> str:
        """Return what the data is called."""
        ...

    @property
    def metrics(self) -> Sequence[Any]:
        """Return the columns."""
        ...

    def describe(self) -> str:
        """Return the plan as text for people."""
        ...


class FinishedRun(Protocol):
    """
    What an observer may read of a result; the actual `rankgauge.Result` has more.

    Attributes:
        sample_ids: The samples, in order.

        metrics: The columns by name, each with its `mean` and `values`.

        manifest: Versions, provenance, policy and fingerprints, as JSON values.

        notes: What users should know about the data.
    """

    sample_ids: Sequence[str]
    metrics: Mapping[str, Any]
    manifest: Mapping[str, Any]
    notes: Sequence[str]


@hookspec
def rankgauge_metrics() -> Sequence[Callable[..., Any]]:
    """
    Return metrics: functions decorated with `@metric`, `@sample_metric` or `@run_metric`.

    Called once, when the catalog is built. A name that another plugin also claims works for neither.
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
def rankgauge_tokenizers() -> Sequence[Callable[[str], int]]:
    """Return tokenizers, which count the tokens of a text for budgets: functions decorated with `@tokenizer`."""
    return ()


@hookspec
def rankgauge_readers() -> Sequence[Callable[..., Any]]:
    """Return file formats that datasets and outputs can be read from: functions decorated with `@reader`."""
    return ()


@hookspec
def rankgauge_presets() -> Sequence[Callable[[], None]]:
    """Return presets, which say how the records of another tool are read: functions decorated with `@preset`."""
    return ()


@hookspec
def rankgauge_reporters() -> Sequence[Callable[..., str]]:
    """Return text forms of a result: functions decorated with `@reporter`."""
    return ()


@hookspec
def rankgauge_report_sections() -> Sequence[Callable[..., Any]]:
    """Return sections of HTML reports: functions decorated with `@report_section`."""
    return ()


@hookspec
def rankgauge_gold_kinds() -> Sequence[Callable[..., Any]]:
    """Return further kinds of ground truth: functions decorated with `@gold_kind`."""
    return ()


@hookspec
def rankgauge_aggregates() -> Sequence[Callable[..., float]]:
    """Return ways to make one number of many scores: functions decorated with `@aggregate`."""
    return ()


@hookspec
def rankgauge_profiles() -> Sequence[Callable[[], None]]:
    """Return profiles: functions decorated with `@named_profile`."""
    return ()


@hookspec
def rankgauge_metric_sets() -> Sequence[Callable[[], None]]:
    """Return sets of metrics: functions decorated with `@metric_set`."""
    return ()


@hookspec
def rankgauge_systems() -> Sequence[Callable[..., Callable[[Any], object]]]:
    """Return kinds of systems under test, which configs call: functions decorated with `@system`."""
    return ()


@hookspec
def rankgauge_paired_tests() -> Sequence[Callable[..., float | None]]:
    """Return tests of a difference, by which `compare` gives a p: functions decorated with `@paired_test`."""
    return ()


@hookspec
def rankgauge_gate_kinds() -> Sequence[Callable[..., Any]]:
    """Return kinds of gates: functions decorated with `@gate_kind`."""
    return ()


@hookspec
def rankgauge_ranking_filters() -> Sequence[Callable[..., Sequence[bool]]]:
    """Return steps of a policy that drop results of rankings: functions decorated with `@ranking_filter`."""
    return ()


@hookspec
def rankgauge_run_started(plan: StartedRun) -> None:
    """Observe that a run starts. An observer that raises is reported and does not stop the run."""


@hookspec
def rankgauge_run_finished(result: FinishedRun) -> None:
    """Observe that a run is done. An observer that raises is reported and does not stop the run."""


@hookspec
def rankgauge_kernel() -> object | None:
    """
    Return the compiled functions that read lines of runs and join judged rows; None if they could not be compiled.

    Only rankgauge-fast is asked. Its functions and rankgauge change together, and are no part of the plugin API.
    """
    return None


API = (1, 0)
"""
The version of the hooks and of the modules that a plugin may import, such as `rankgauge.plugin`: MAJOR goes up when
something goes or changes, MINOR when something is added. A plugin that needs at least some version says so:
``RANKGAUGE_API = (1, 0)``.
"""

ATTRIBUTE = "RANKGAUGE_API"


def why_unusable(wanted: object) -> str:
    """Return why a plugin that asks for a version of the API cannot be used, and what to do; empty if it can."""
    ours = _written(API)
    is_version = isinstance(wanted, tuple) and len(wanted) == len(API) and all(type(part) is int for part in wanted)
    if not is_version:
        return f"{ATTRIBUTE} is the plugin API that it was written for, such as {API!r}, not {wanted!r}"
    if wanted > API:  # type: ignore[operator]  # a tuple of two numbers
        return f"it needs plugin API {_written(wanted)}, and this rankgauge has {ours}; `pip install -U rankgauge`"
    if wanted[0] < API[0]:  # type: ignore[index]  # as above
        return f"it was written for plugin API {_written(wanted)}, and this rankgauge has {ours}; update the plugin"
    return ""


def _written(version: object) -> str:
    return ".".join(map(str, version)) if isinstance(version, tuple) else str(version)
