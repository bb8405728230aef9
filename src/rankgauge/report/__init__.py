"""
Reports: laying out a result for people and machines; nothing is computed here.

Names are loaded when they are first used: most runs are laid out in one way.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rankgauge.plugin import hookimpl

if TYPE_CHECKING:
    from rankgauge.report.json import json_report, per_sample_jsonl
    from rankgauge.report.markdown import markdown_report
    from rankgauge.report.terminal import terminal_report

__all__ = ["json_report", "markdown_report", "per_sample_jsonl", "terminal_report"]

_HOMES = {
    "json_report": "rankgauge.report.json",
    "markdown_report": "rankgauge.report.markdown",
    "per_sample_jsonl": "rankgauge.report.json",
    "terminal_report": "rankgauge.report.terminal",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever the name stands for
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    msg = f"module 'rankgauge.report' has no attribute {name!r}"
    raise AttributeError(msg)


@hookimpl
def rankgauge_reporters() -> Sequence[Callable[..., str]]:
    """Return every built-in reporter."""
    return [getattr(importlib.import_module(home), name) for name, home in _HOMES.items()]
