"""The command line: one file a command; the only place that prints or configures logging."""

from rankgauge.cli.app import main

__all__ = ["main"]
