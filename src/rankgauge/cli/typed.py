"""
Options as typer takes them: those that several commands have, commands with one value, and functions by name.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import typer

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.cli.options import BASELINE_HELP, CUTOFF_HELP, GATE_HELP, JUNIT_HELP, MARKDOWN_HELP, SAVE_BASELINE_HELP
from rankgauge.cli.process import hand_over
from rankgauge.cli.streams import keep_stdout
from rankgauge.errors import ParameterError

__all__ = [
    "BASELINE",
    "CUTOFF",
    "FIELD",
    "FUNCTION",
    "GATES",
    "JSON",
    "JUNIT",
    "MARKDOWN",
    "METRICS",
    "OUTPUTS",
    "SAVE_BASELINE",
    "imported",
    "taking",
]

_Options = TypeVar("_Options")

FUNCTION = "module:function or file.py:function"

BASELINE = typer.Option(metavar="FILE", help=BASELINE_HELP)
CUTOFF = typer.Option("--k", "-k", metavar="K", help=CUTOFF_HELP)
FIELD = typer.Option(
    "--field",
    metavar="OURS=THEIRS",
    help="Your name for a field of samples, such as id=qid; for a list of texts: retrieved=contexts:text. Repeatable.",
)
GATES = typer.Option("--gate", metavar="GATE", help=GATE_HELP)
JSON = typer.Option("--json", help="Print JSON.")
JUNIT = typer.Option(metavar="FILE", help=JUNIT_HELP)
MARKDOWN = typer.Option(metavar="FILE", help=MARKDOWN_HELP)
METRICS = typer.Option("--metric", "-m", metavar="METRIC", help="A metric, such as ndcg@10 or recall@1,5. Repeatable.")
OUTPUTS = typer.Option(metavar="FILE", help="A file with the outputs to score.")
SAVE_BASELINE = typer.Option(metavar="FILE", help=SAVE_BASELINE_HELP)


def taking(kind: type[_Options]) -> Callable[[Callable[[_Options], None]], Callable[..., None]]:
    """
    Let a command take its options as one dataclass.

    Typer reads them from a function's signature and knows no other way, so the command gets that of the dataclass.
    """
    hints = get_type_hints(kind, include_extras=True)
    parameters = inspect.signature(kind).parameters.values()

    def decorated(command: Callable[[_Options], None]) -> Callable[..., None]:
        def call(**given: Any) -> None:  # noqa: ANN401  # values of every option
            command(kind(**given))

        call.__annotations__ = hints
        vars(call)["__signature__"] = inspect.Signature(
            [each.replace(annotation=hints[each.name]) for each in parameters]
        )
        return call

    return decorated


def imported(name: str, what: str) -> Callable[..., Any]:
    """Return the function that ``module:function`` or ``file.py:function`` names; the working directory comes first."""
    module_name, _, attribute = name.rpartition(":")
    if not module_name or not attribute:
        msg = f"{what} is {FUNCTION}, not {name!r}"
        raise ParameterError(msg)
    folder = Path.cwd()
    if module_name.endswith(".py"):
        file = Path(module_name)
        folder, module_name = file.parent.resolve(), file.stem
    sys.path.insert(0, str(folder))
    keep_stdout()
    hand_over()
    try:
        with guarded():
            found: Any = importlib.import_module(module_name)
            for part in attribute.split("."):
                found = getattr(found, part)
    except ForeignError as error:
        msg = (
            f"{what}: cannot import {name!r}: {error} (write {FUNCTION}; modules are looked up in the working "
            "directory first)"
        )
        raise ParameterError(msg) from error
    if not callable(found):
        msg = f"{what}: {name!r} is {type(found).__name__}, which cannot be called"
        raise ParameterError(msg)
    return found  # type: ignore[no-any-return]  # whatever the module holds
