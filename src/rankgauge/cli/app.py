"""
The application: its commands and the options before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from rankgauge.cli import (
    compare,
    explain,
    init,
    judge,
    matchers,
    metrics,
    plugins,
    report,
    rescore,
    run,
    trec,
    validate,
)
from rankgauge.cli.console import echo

__all__ = ["app", "run_app"]

# typer carries a click of its own since 0.16 and used the installed one before; both are reached this way.
_UsageError: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

_FORWARD = {"allow_extra_args": True, "ignore_unknown_options": True}
"""For a command that parses its own arguments."""

app = typer.Typer(
    name="rankgauge",
    help="Retrieval metrics you can trust.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run", help=run.HELP)(run.run)
app.command("eval", help="The same as `run`.", hidden=True)(run.run)
app.command("rescore", help=rescore.HELP)(rescore.rescore)
app.command("validate", help=validate.HELP)(validate.validate)
app.command("init", help=init.HELP)(init.init)
app.add_typer(judge.app, name="judge")
app.add_typer(metrics.app, name="metrics")
app.add_typer(matchers.app, name="matchers")
app.add_typer(plugins.app, name="plugins")


@app.command("trec", help=trec.HELP, context_settings=_FORWARD, add_help_option=False)
def _trec(context: typer.Context) -> int:
    return trec.trec(context.args)


@app.command("explain", help=explain.HELP, context_settings=_FORWARD, add_help_option=False)
def _explain(context: typer.Context) -> int:
    return explain.explain(context.args)


@app.command("report", help=report.HELP, context_settings=_FORWARD, add_help_option=False)
def _report(context: typer.Context) -> int:
    return report.report(context.args)


@app.command("compare", help=compare.HELP, context_settings=_FORWARD, add_help_option=False)
def _compare(context: typer.Context) -> int:
    return compare.compare(context.args)


def _print_version(wanted: bool) -> None:  # noqa: FBT001  # typer's way
    if wanted:
        import rankgauge

        echo(f"rankgauge {rankgauge.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors. May stand anywhere.")] = False,  # noqa: FBT002, ARG001  # typer's way; read by `main`
    plain: Annotated[  # noqa: ARG001, FBT002  # typer's way; read by `main`
        bool, typer.Option("--plain", help="For logs: no colour, no bar, a line a row. May stand anywhere.")
    ] = False,
    max_line: Annotated[  # noqa: ARG001  # read by `main`
        str,
        typer.Option(metavar="SIZE", help="Longest line of a file, and most that is held at once. May stand anywhere."),
    ] = "256MB",
    log_level: Annotated[
        str, typer.Option(metavar="LEVEL", help="Lowest log level to show: debug, info, warning or error.")
    ] = "warning",
    log_format: Annotated[
        str, typer.Option(metavar="FORMAT", help="Format of the log lines on stderr: console or json.")
    ] = "console",
    version: Annotated[  # noqa: ARG001, FBT002  # typer's way; read by its callback
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    from rankgauge.cli.logs import configure

    configure(level=log_level, form=log_format)


def run_app(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code."""
    command = typer.main.get_command(app)
    try:  # its `main` would turn a pipe that closes early, Ctrl-C and EOFError into other things
        with command.make_context("rankgauge", list(arguments)) as context:
            code = command.invoke(context)
    except _UsageError as error:
        error.show()  # type: ignore[attr-defined]  # every click exception shows itself
        return 2
    except typer.Exit as done:
        return done.exit_code
    return code if isinstance(code, int) else 0
