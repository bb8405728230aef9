"""
The application: its commands, its exit codes, and what becomes of errors.

Exit codes: 0 done; 1 a check or gate failed; 2 usage, config or unreadable input; 3 the run is incomplete; 4 nothing
to evaluate; 5 an internal error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from rankgauge.cli import init, matchers, metrics, plugins, run, trec, validate
from rankgauge.cli.console import complain
from rankgauge.errors import RankgaugeError

__all__ = ["app", "main"]

# typer carries a click of its own since 0.16 and used the installed one before; both are reached this way.
_UsageError: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

_INTERRUPTED = 130
"""What typer makes of Ctrl-C."""

app = typer.Typer(
    name="rankgauge",
    help="Scores for ranked retrieval results that can be trusted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run", help=run.HELP)(run.run)
app.command("eval", help="The same as `run`.", hidden=True)(run.run)
app.command("trec", help=trec.HELP)(trec.trec)
app.command("validate", help=validate.HELP)(validate.validate)
app.command("init", help=init.HELP)(init.init)
app.add_typer(metrics.app, name="metrics")
app.add_typer(matchers.app, name="matchers")
app.add_typer(plugins.app, name="plugins")


def _print_version(wanted: bool) -> None:  # noqa: FBT001  # typer's way
    if wanted:
        import rankgauge

        typer.echo(f"rankgauge {rankgauge.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors; may stand anywhere.")] = False,  # noqa: FBT002, ARG001  # typer's way; read by `main`
    log_level: Annotated[
        str, typer.Option(help="From which level on to log: debug, info, warning, error.")
    ] = "warning",
    log_format: Annotated[str, typer.Option(help="How log lines look, on stderr: console or json.")] = "console",
    version: Annotated[  # noqa: ARG001, FBT002  # typer's way; read by its callback
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    from rankgauge.cli.logs import configure

    configure(level=log_level, form=log_format)


def main(argv: Sequence[str] | None = None) -> None:
    """
    Run the command line and exit.

    Args:
        argv: The arguments; those of the process by default.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    sys.exit(_call(arguments, debug=debug))


def _call(arguments: Sequence[str], *, debug: bool) -> int:
    """Return the exit code of one call; what goes wrong is told on stderr, with a traceback only under *debug*."""
    try:
        code = _code_of(arguments)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read the output has gone
        return 0
    except (typer.Exit, typer.Abort, KeyboardInterrupt) as error:
        code = getattr(error, "exit_code", _INTERRUPTED)
    except Exception as error:
        if debug:
            raise
        code, message = _told(error)
        complain(message)
    if code == _INTERRUPTED:
        complain("interrupted; nothing was scored")
        return 3
    return code


def _code_of(arguments: Sequence[str]) -> int:
    try:
        code = app(args=list(arguments), prog_name="rankgauge", standalone_mode=False)
    except _UsageError as error:
        error.show()  # type: ignore[attr-defined]  # every click exception shows itself
        return 2
    return code if isinstance(code, int) else 0


def _told(error: Exception) -> tuple[int, str]:
    """Return the exit code and the message of an error."""
    if isinstance(error, RankgaugeError):
        return error.exit_code, str(error)
    if isinstance(error, OSError):
        return 2, f"cannot read or write: {error.strerror or error}"
    what = f"{type(error).__name__}: {error}"
    return 5, f"internal error: {what}\nThis is a bug; run again with --debug and report it."
