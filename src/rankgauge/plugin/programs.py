"""
Declarations of what runs beside metrics: systems under test that configs call by name, and commands beside ours.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from rankgauge.base.entry_points import EntryPoint
from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.commands import words
from rankgauge.errors import DeclarationError, PluginError
from rankgauge.plugin.console import Console
from rankgauge.plugin.hookspecs import API, ATTRIBUTE, why_unusable
from rankgauge.plugin.signature import Authored, declaring, first_line, plain_name

__all__ = ["Command", "System", "command", "load_command", "system", "unusable_options"]


SystemFactory = Callable[..., Callable[[Any], object]]


@dataclass(frozen=True, slots=True)
class System(Authored):
    """A kind of system under test; the fields are the arguments of `system`."""

    name: str
    options: Any  # a pydantic model, or what returns it: pydantic loads only if there is a config
    function: SystemFactory

    @property
    def model(self) -> Any:  # noqa: ANN401  # see above
        """Return the pydantic model of the options; a `DeclarationError` for anything else."""
        model = self.options if isinstance(self.options, type) else self.options()
        return _checked(self.name, model)


def _checked(name: str, model: Any) -> Any:  # noqa: ANN401  # what should be a pydantic model
    if not (isinstance(model, type) and hasattr(model, "model_validate")):
        raise DeclarationError(f"the options of system {name!r} are a pydantic model, not {model!r}")
    if "kind" in model.model_fields:  # type: ignore[attr-defined]  # a model, as was just seen
        raise DeclarationError(f"system {name!r} cannot have an option 'kind', which names it")
    return model


def system(name: str, *, options: type | Callable[[], type]) -> Callable[[SystemFactory], SystemFactory]:
    """
    Declare a kind of system under test, which configs call: ``system: {kind: NAME, ...}``.

    The function is given the checked options, and returns what is called with each sample's input, in several threads
    at a time, and returns an output: a list, or ``{"retrieved": [...]}``, also with `stages`, `seconds`, `bytes` and
    `cost`. It may be asynchronous. If it has a method `check`, that is called before the first sample, and what it
    raises ends the run; `close` is called at the end.

        class OurOptions(pydantic.BaseModel, extra="forbid"):
            url: str
            key: pydantic.SecretStr

        @system("our-search", options=OurOptions)
        def our_search(options: OurOptions) -> Callable[[str], list[str]]:
            \"\"\"Our search engine.\"\"\"
            client = Client(options.url, options.key.get_secret_value())
            return client.search

    Secrets belong in the environment. Options are written into results as the config has them, ``${NAME}`` included;
    what is named like a secret is refused if it is written out. Validators find the folder of the config under
    ``folder`` in their context.

    Args:
        name: Lower-case words joined by hyphens.

        options: A pydantic model of the other keys, or a function that imports and returns it, so that commands
            without the system stay fast; unknown keys should be forbidden.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the name or the model cannot be used.
    """

    def declare(function: SystemFactory) -> System:
        if isinstance(options, type) or not callable(options):
            _checked(name, options)
        return System(plain_name(name), options, function)

    return declaring(declare)


CommandFunction = Callable[[argparse.Namespace, Console], int]
C = TypeVar("C", bound=CommandFunction)


@dataclass(frozen=True, slots=True)
class Command:
    """A command; the fields are the arguments of `command`."""

    usage: str
    options: Callable[[argparse.ArgumentParser], None]
    function: CommandFunction

    @property
    def summary(self) -> str:
        """Return the first line of its documentation."""
        return first_line(self.function)

    @property
    def about(self) -> str:
        """Return the rest of its documentation."""
        return (inspect.getdoc(self.function) or "").strip().partition("\n")[2].strip()


def command(
    *, options: Callable[[argparse.ArgumentParser], None] | None = None, usage: str = "[OPTIONS]"
) -> Callable[[C], C]:
    """
    Declare a command: ``(given: argparse.Namespace, console: Console) -> int``, which returns its exit code.

    What it is called is the name of an entry point of the group ``rankgauge.commands``: one word, or a group and a word
    joined by a dot. The group may be one of rankgauge's own, of another plugin, or a new one.

        [project.entry-points."rankgauge.commands"]
        count = "acme.cli:count"
        "acme.toss" = "acme.cli:toss"

    Only the command that is typed is imported; listings read no more than the entry points. It prints with the
    `Console` that it is given. The first line of the docstring is the summary in the help of the command, the rest its
    description. Errors of `rankgauge.errors` are printed with their exit codes; any other one is a fault of the
    plugin, with its place.

    Args:
        options: Adds options and arguments to a parser, as `argparse` documents them, but for subparsers: several words
            are several commands. ``-h`` and ``--help`` are there already.

        usage: What follows the name in the first line of the help; a further line is another way to use it.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: *options* is no function, or *usage* no text.
    """

    def declare(function: CommandFunction) -> Command:
        if options is not None and not callable(options):
            raise DeclarationError(f"`options` is a function that adds options to a parser, not {options!r}")
        if not isinstance(usage, str):
            raise DeclarationError(f"`usage` is a text, such as '[OPTIONS] FILE', not {usage!r}")
        return Command(usage, options or _no_options, function)

    return declaring(declare)


def _no_options(_parser: argparse.ArgumentParser) -> None:
    """Add nothing."""


_EVERYWHERE = ("--debug", "--plain", "--max-line")
"""What rankgauge reads anywhere on the command line, so that no command is given it."""


def unusable_options(parser: argparse.ArgumentParser) -> str:
    """Return what is wrong with the options that a command added to a parser; empty if nothing is."""
    for action in parser._actions:  # noqa: SLF001  # there is no other way to all of them
        if taken := [name for name in action.option_strings if name in _EVERYWHERE]:
            return f"the option {taken[0]} is rankgauge's own, on every command; choose another name"
        if action.nargs == argparse.REMAINDER:
            name = "/".join(action.option_strings) or action.dest
            return f"{name} takes the remainder of the line; take words with nargs='*': those after -- are no options"
    return ""


def load_command(point: EntryPoint) -> Command:
    """Import the command behind an entry point; `PluginError` if that fails, or if it is none."""
    try:
        with guarded():
            found = point.load()
            declared = getattr(found, "__rankgauge__", None)
            reason = why_unusable(getattr(sys.modules[point.module], ATTRIBUTE, API))
    except ForeignError as error:
        reason, declared = f"importing {point.target!r} failed: {error}", None
    else:
        if type(declared) is not Command:
            reason = reason or f"{point.target!r} is {shown(found)}, which @command did not declare"
    if reason:
        raise PluginError(f"command {words(point.name)!r}", str(point), reason)
    return cast(Command, declared)
