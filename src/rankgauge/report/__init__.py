"""
Reports: laying out a result for people and machines; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rankgauge.plugin import hookimpl

__all__: list[str] = []


@hookimpl
def rankgauge_reporters() -> Sequence[Callable[..., str]]:
    """Return every built-in reporter; their modules are loaded here, since most runs use none of them."""
    from rankgauge.report.json import json_report, per_sample_jsonl
    from rankgauge.report.markdown import markdown_report
    from rankgauge.report.terminal import terminal_report

    return [json_report, markdown_report, per_sample_jsonl, terminal_report]
