"""
Logging: standard-library loggers that are silent until an application, or our command line, gives them a handler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging

__all__ = ["ROOT", "logger"]

ROOT = "rankgauge"


def logger(name: str) -> logging.Logger:
    """
    Return the logger of a part of rankgauge.

    Facts go into ``extra``, where structlog (see `rankgauge.cli.console`) and any other handler find them.
    """
    import logging  # needed only for logging

    root = logging.getLogger(ROOT)
    if not root.handlers:
        root.addHandler(logging.NullHandler())  # else the standard library prints warnings to stderr on its own
    return logging.getLogger(f"{ROOT}.{name}")
