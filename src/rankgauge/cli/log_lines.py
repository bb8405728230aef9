"""
Logging of the command line: structlog formats the library's log lines on stderr.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

from rankgauge.base.logs import ROOT
from rankgauge.base.plain_text import visible
from rankgauge.errors import ParameterError

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class _LazyFormatter(logging.Formatter):
    """Loads structlog when the first line is logged, because most runs log nothing."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self._form = form
        self._inner: logging.Formatter | None = None

    def format(self, record: logging.LogRecord) -> str:
        if self._inner is None:
            self._inner = _formatter(self._form)
        return self._inner.format(record)


def configure(*, level: str, form: str) -> None:
    """Log what the library says, from a level of `debug`, `info`, `warning` or `error` on, as `console` or `json`."""
    if level not in _LEVELS:
        raise ParameterError(f"--log-level must be one of {', '.join(_LEVELS)}, not {level!r}")
    if form not in {"console", "json"}:
        raise ParameterError(f"--log-format must be console or json, not {form!r}")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_LazyFormatter(form))
    root = logging.getLogger(ROOT)
    root.handlers[:] = [handler]
    root.setLevel(_LEVELS[level])


def _without_controls(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Write unsafe characters of every text in a log line as escapes."""
    return {name: visible(value) if isinstance(value, str) else value for name, value in event.items()}


def _formatter(form: str) -> logging.Formatter:
    import structlog

    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        _without_controls,
    ]
    renderer: structlog.typing.Processor
    if form == "json":
        shared.append(structlog.processors.TimeStamper(fmt="iso", utc=True))
        renderer = structlog.processors.JSONRenderer()
    else:
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=0)
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
    )
