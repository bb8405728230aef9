"""
What several commands share: engines, policy options and functions from what was typed.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import typer

from rankgauge.errors import ParameterError
from rankgauge.policy import PROFILES

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog
    from rankgauge.engine import Engine

__all__ = [
    "CUTOFF",
    "CUTOFF_HELP",
    "JSON",
    "METRICS",
    "OUTPUTS",
    "PROFILE_HELP",
    "imported",
    "make_catalog",
    "make_engine",
    "policy_options",
    "taking",
]

_Options = TypeVar("_Options")

CUTOFF_HELP = "Default cutoff, used when a metric has none."
PROFILE_HELP = f"The conventions to follow: {', '.join(PROFILES)}."

CUTOFF = typer.Option("--k", "-k", metavar="K", help=CUTOFF_HELP)
JSON = typer.Option("--json", help="Print JSON.")
METRICS = typer.Option(
    "--metric", "-m", metavar="METRIC", help="A metric, such as ndcg@10 or recall@1,5,10. May be repeated."
)
OUTPUTS = typer.Option(metavar="FILE", help="A file with the outputs to score.")


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


def make_catalog(own: Collection[str] | None = None) -> Catalog:
    """Return what is installed and not disabled; of rankgauge's own plugins all, or only *own*, such as `metrics`."""
    from rankgauge.catalog import Catalog
    from rankgauge.catalog.environment import disabled_plugins, no_plugins

    return Catalog.discover(disable=disabled_plugins(), own_only=no_plugins(), own=own)


def make_engine(config: Path | None) -> Engine:
    """Return an engine, from a config file if one is given."""
    from rankgauge.catalog.environment import disabled_plugins, no_plugins
    from rankgauge.engine import Engine

    if config is None:
        return Engine(catalog=make_catalog())
    return Engine.from_config(config, disable=disabled_plugins(), own_only=no_plugins())


def policy_options(written: Sequence[str] | None, **others: object) -> Mapping[str, Any]:
    """Return policy options by name: those of `--policy`, and those with an option of their own unless None."""
    options: dict[str, Any] = {}
    for option in written or ():
        name, equals, value = option.partition("=")
        if not equals:
            msg = f"--policy is NAME=VALUE, such as order=score, not {option!r}"
            raise ParameterError(msg)
        from rankgauge.io.documents import read_yaml

        options[name.strip()] = read_yaml(value.strip(), "--policy").value
    return {**options, **{name: value for name, value in others.items() if value is not None}}


def imported(name: str, what: str) -> Callable[..., Any]:
    """Return the function that ``module:function`` or ``file.py:function`` names; the working directory comes first."""
    module_name, _, attribute = name.rpartition(":")
    if not module_name or not attribute:
        msg = f"{what} is module:function or file.py:function, not {name!r}"
        raise typer.BadParameter(msg)
    folder = Path.cwd()
    if module_name.endswith(".py"):
        file = Path(module_name)
        folder, module_name = file.parent.resolve(), file.stem
    sys.path.insert(0, str(folder))
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        msg = (
            f"{what}: cannot import {name!r}: {type(error).__name__}: {error} (write module:function or "
            "file.py:function; modules are looked up in the working directory first)"
        )
        raise typer.BadParameter(msg) from error
    if not callable(found):
        msg = f"{what}: {name!r} is {type(found).__name__}, which cannot be called"
        raise typer.BadParameter(msg)
    return found  # type: ignore[no-any-return]  # whatever the module holds
