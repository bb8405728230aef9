"""
Declarations of what runs beside metrics: systems under test that configs call by name, and commands beside ours.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from rankgauge.errors import DeclarationError
from rankgauge.plugin.console import Console
from rankgauge.plugin.signature import PLAIN_NAME, Authored, declaring, plain_name

__all__ = ["OPEN_GROUPS", "Command", "System", "command", "system"]


SystemFactory = Callable[..., Callable[[Any], object]]


@dataclass(frozen=True, slots=True)
class System(Authored):
    """A kind of system under test; the fields are the arguments of `system`."""

    name: str
    options: Any  # a pydantic model, or what returns it: pydantic loads only where there is a config
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

    Secrets stand in the environment. Options are written into results as the config has them, ``${NAME}`` included;
    what is named like a secret is refused where it is written out. Validators find the folder of the config under
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


OPEN_GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType({"judge": ("queue", "read"), "systems": (), "traces": ()})
"""The groups that commands of plugins can join, each with the built-in words of it, which nobody can replace."""

CommandFunction = Callable[[argparse.Namespace, Console], int]
C = TypeVar("C", bound=CommandFunction)


@dataclass(frozen=True, slots=True)
class Command(Authored):
    """A command of a plugin; the fields are the arguments of `command`."""

    name: str
    usage: str
    options: Callable[[argparse.ArgumentParser], None]
    function: CommandFunction


def command(
    name: str, *, options: Callable[[argparse.ArgumentParser], None], usage: str = "[OPTIONS]"
) -> Callable[[C], C]:
    """
    Declare a command: ``(given: argparse.Namespace, console: Console) -> int``, which returns its exit code.

    It prints with the `Console` that it is given. The first line of the docstring is the summary in listings, the rest
    stands in the command's help. Errors of `rankgauge.errors` are printed with their exit codes. Its module is imported
    when the help of the group or a command of a plugin is asked for, so what is slow to import belongs into the
    function.

    Args:
        name: A group that is open to plugins and a new word in it, such as ``judge run``; open are ``judge``,
            ``systems`` and ``traces``.

        options: Adds options and arguments to a parser. ``-h`` and ``--help`` are there already.

        usage: What stands behind the name in the first line of the help; a further line is another way to use it.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the name cannot be used.
    """

    def declare(function: CommandFunction) -> Command:
        group, _, word = name.partition(" ") if isinstance(name, str) else ("", "", "")
        if group not in OPEN_GROUPS or PLAIN_NAME.fullmatch(word) is None:
            groups = ", ".join(OPEN_GROUPS)
            raise DeclarationError(f"{name!r} is not the name of a command: write an open group ({groups}) and a word")
        if word in OPEN_GROUPS[group]:
            raise DeclarationError(f"command {name!r} is built in and cannot be replaced; choose another word")
        return Command(name, usage, options, function)

    return declaring(declare)
