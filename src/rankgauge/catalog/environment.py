"""
Environment variables that switch plugins off, on the command line and in Python.
"""

from __future__ import annotations

import os

__all__ = ["disabled_plugins", "no_plugins"]


def disabled_plugins() -> list[str]:
    """Return the distributions that RANKGAUGE_DISABLE_PLUGINS lists, separated by commas."""
    return [name.strip() for name in os.environ.get("RANKGAUGE_DISABLE_PLUGINS", "").split(",") if name.strip()]


def no_plugins() -> bool:
    """Return whether RANKGAUGE_NO_PLUGINS disables every plugin except rankgauge's own."""
    return os.environ.get("RANKGAUGE_NO_PLUGINS", "") not in {"", "0"}
