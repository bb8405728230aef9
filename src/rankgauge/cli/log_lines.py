"""
Log lines of the command line on stderr: for people, or one JSON object a line.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

from rankgauge.base.logs import ROOT
from rankgauge.base.plain_text import visible
from rankgauge.errors import ParameterError

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
_COLORS = {"debug": 32, "info": 32, "warning": 33, "error": 31, "critical": 31}
"""Green, yellow and red, by their numbers in terminals."""

_OWN = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}
"""What every record has; everything else comes from ``extra``."""


def configure(*, level: str, form: str) -> None:
    """Log what the library says, from a level of `debug`, `info`, `warning` or `error` on, as `console` or `json`."""
    if level not in _LEVELS:
        raise ParameterError(f"--log-level must be one of {', '.join(_LEVELS)}, not {level!r}")
    if form not in {"console", "json"}:
        raise ParameterError(f"--log-format must be console or json, not {form!r}")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if form == "json" else _Lines(colored=sys.stderr.isatty()))
    root = logging.getLogger(ROOT)
    root.handlers[:] = [handler]
    root.setLevel(_LEVELS[level])


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    """Return what a record says, its facts included; unsafe characters of every text are escapes."""
    facts = {
        "event": record.getMessage(),
        "level": record.levelname.lower(),
        "logger": record.name,
        **{name: value for name, value in vars(record).items() if name not in _OWN},
    }
    return {name: visible(value) if isinstance(value, str) else value for name, value in facts.items()}


def _traceback(record: logging.LogRecord) -> str:
    """Return the traceback of the error that a record comes with; an empty text without one."""
    return logging.Formatter().formatException(record.exc_info) if record.exc_info else ""


class _Lines(logging.Formatter):
    """Writes level, message, logger and facts in one line, and a traceback below it."""

    def __init__(self, *, colored: bool) -> None:
        super().__init__()
        self._colored = colored

    def format(self, record: logging.LogRecord) -> str:
        facts = _facts(record)
        level, event, logger = facts.pop("level"), facts.pop("event"), facts.pop("logger")
        parts = [
            f"[{self._in(level.ljust(9), '1', _COLORS.get(level))}]",
            self._in(event, "1"),
            f"[{self._in(logger, '1', 34)}]",
            *(f"{self._in(name, 36)}={self._in(_value(facts[name]), 35)}" for name in sorted(facts)),
        ]
        lines = [" ".join(filter(None, parts))]
        if trace := _traceback(record):
            lines += map(visible, trace.splitlines())
        return "\n".join(lines)

    def _in(self, text: str, *codes: object) -> str:
        """Return a text in the color and weight of some codes of terminals, if there are colors."""
        used = [str(code) for code in codes if code is not None]
        return f"\x1b[{';'.join(used)}m{text}\x1b[0m" if self._colored and text else text


def _value(value: object) -> str:
    """Return a value as it is shown behind its name: texts as they are, unless that may be misread."""
    return value if isinstance(value, str) and not set(" \t=\r\n\"'") & set(value) else repr(value)


class _JsonLines(logging.Formatter):
    """Writes a record as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        import json
        from datetime import UTC, datetime

        facts = _facts(record)
        if trace := _traceback(record):
            facts["exception"] = trace
        moment = datetime.fromtimestamp(record.created, tz=UTC).isoformat(timespec="microseconds")
        return json.dumps({**facts, "timestamp": moment.replace("+00:00", "Z")}, default=repr)
