"""
Reports: laying out a result for people and machines, by any reporter and into a folder; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.errors import PluginError, RankgaugeError
from rankgauge.plugin import hookimpl

if TYPE_CHECKING:
    from rankgauge.catalog import Claim
    from rankgauge.plugin.declarations import Reporter
    from rankgauge.result import Result
    from rankgauge.result.staging import Staging

__all__ = ["rendered", "save_result"]


@hookimpl
def rankgauge_reporters() -> Sequence[Callable[..., str]]:
    """Return every built-in reporter; their modules are loaded here, since most runs use none of them."""
    from rankgauge.report.json import json_report, per_sample_jsonl
    from rankgauge.report.markdown import markdown_report
    from rankgauge.report.terminal import terminal_report

    return [json_report, markdown_report, per_sample_jsonl, terminal_report]


def rendered(claim: Claim[Reporter], result: Result) -> str:
    """Return the text that a reporter makes of a result; raise `PluginError` if it fails."""
    what, provider = f"reporter {claim.declaration.name!r}", str(claim.provider)
    try:
        with guarded(RankgaugeError):
            text: object = claim.declaration.function(result)
    except ForeignError as error:
        raise PluginError(what, provider, str(error)) from error
    if type(text) is not str:
        raise PluginError(what, provider, f"it returned {shown(text)} where a text is needed")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PluginError(what, provider, f"it returned a text that cannot be written as UTF-8: {error}") from error
    return text


def save_result(result: Result, target: Path | Staging, *, keep_data: bool = False) -> Path:
    """Write a result folder with its reports; see `Result.save`."""
    from rankgauge.result.folder_writer import write_folder

    def documents() -> Mapping[str, bytes]:
        from rankgauge.report.json import json_report, per_sample_jsonl
        from rankgauge.report.markdown import markdown_report

        return {
            "summary.json": json_report(result).encode(),
            "report.md": markdown_report(result).encode(),
            "per_sample.jsonl": per_sample_jsonl(result).encode(),
        }

    return write_folder(result, target, documents, keep_data=keep_data)
