"""
The application: its commands and the options before them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from rankgauge.cli.console import echo

__all__ = ["make_app", "run_app"]

# typer carries a click of its own since 0.16 and used the installed one before; both are reached this way.
_UsageError: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

_FORWARD = {"allow_extra_args": True, "ignore_unknown_options": True}
"""For a command that parses its own arguments."""

_TYPED = ("run", "eval", "rescore", "validate", "init")
_GROUPS = ("judge", "metrics", "matchers", "plugins")
_FORWARDED = ("trec", "explain", "report", "compare")


def make_app(first: str = "") -> typer.Typer:
    """Return the application; with one command only if that is what its first argument names, which loads sooner."""
    app = typer.Typer(
        name="rankgauge",
        help="Retrieval metrics you can trust.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    names = (*_TYPED, *_GROUPS, *_FORWARDED)
    for name in (first,) if first in names else names:
        _add(app, name)
    return app


def _add(app: typer.Typer, name: str) -> None:
    """Add a command, whose module has its name, and a function or a group of further commands."""
    is_alias = name == "eval"
    module = importlib.import_module("rankgauge.cli.run" if is_alias else f"rankgauge.cli.{name}")
    if name in _GROUPS:
        app.add_typer(module.app, name=name)
    elif name in _FORWARDED:
        app.command(name, help=module.HELP, context_settings=_FORWARD, add_help_option=False)(
            _forwarding(getattr(module, name))
        )
    else:
        text = "The same as `run`." if is_alias else module.HELP
        app.command(name, help=text, hidden=is_alias)(module.run if is_alias else getattr(module, name))


def _forwarding(command: Callable[[Sequence[str]], int]) -> Callable[[typer.Context], int]:
    def call(context: typer.Context) -> int:
        return command(context.args)

    return call


def _print_version(wanted: bool) -> None:  # noqa: FBT001  # typer's way
    if wanted:
        import rankgauge

        echo(f"rankgauge {rankgauge.__version__}")
        raise typer.Exit


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
    command = typer.main.get_command(make_app(next(iter(arguments), "")))
    try:  # its `main` would turn a pipe that closes early, Ctrl-C and EOFError into other things
        with command.make_context("rankgauge", list(arguments)) as context:
            code = command.invoke(context)
    except _UsageError as error:
        error.show()  # type: ignore[attr-defined]  # every click exception shows itself
        return 2
    except typer.Exit as done:
        return done.exit_code
    return code if isinstance(code, int) else 0
