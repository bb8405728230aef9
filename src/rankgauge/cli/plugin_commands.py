"""
A command of a plugin: it is loaded, given its options and run, and what goes wrong in it is told as its own fault.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable
from typing import TypeVar

from rankgauge.base.entry_points import EntryPoint
from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.cli.option_parser import ParserExit, UsageError
from rankgauge.cli.plugin_console import PluginConsole
from rankgauge.cli.shared_options import Command
from rankgauge.cli.streams import keep_stdout, results
from rankgauge.errors import PluginError, RankgaugeError

__all__ = ["plugin_command"]

_HIGHEST_CODE = 255  # a system keeps eight bits of an exit code, so that 256 would be a success

T = TypeVar("T")


def plugin_command(name: str, point: EntryPoint) -> Command:
    """Load a command of a plugin, which may print what it likes on stderr meanwhile; `PluginError` if it cannot be."""
    keep_stdout()
    from rankgauge.plugin.programs import load_command, unusable_options

    declared = load_command(point)
    code = getattr(declared.function, "__code__", None)
    place = f", {code.co_filename}:{code.co_firstlineno}" if code is not None else ""
    who = f"{str(point).removesuffix(')')}{place})"

    def called(function: Callable[[], T]) -> T:
        """Call a function of the plugin; what it raises by mistake is its fault, and says where that is."""
        try:
            with guarded(RankgaugeError, UsageError, ParserExit, KeyboardInterrupt, OSError, MemoryError):
                return function()
        except ForeignError as error:
            raise PluginError(f"command {name!r}", who, str(error)) from error

    def add_options(parser: argparse.ArgumentParser) -> None:
        called(lambda: declared.options(parser))
        if reason := unusable_options(parser):
            raise PluginError(f"command {name!r}", who, reason)

    def execute(given: argparse.Namespace) -> int:
        with contextlib.redirect_stdout(results()):
            code = called(lambda: declared.function(given, PluginConsole(name, point)))
        if type(code) is int and 0 <= code <= _HIGHEST_CODE:
            return code
        reason = f"it returned {shown(code)}, and an exit code is an integer from 0 to {_HIGHEST_CODE}"
        raise PluginError(f"command {name!r}", who, reason)

    return Command(declared.usage, declared.about, add_options, execute, declared.summary, called)
