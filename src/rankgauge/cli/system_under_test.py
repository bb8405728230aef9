"""
The system under test of a command: the function that was named, its calls, and the signals that end them in order.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.cli.console import remark
from rankgauge.cli.own_process import hand_over
from rankgauge.cli.result_folders import Folders
from rankgauge.cli.shared_options import FUNCTION
from rankgauge.cli.streams import keep_stdout
from rankgauge.engine.configured_system import ConfiguredSystem
from rankgauge.engine.evaluation import Evaluation
from rankgauge.errors import ParameterError, did_you_mean
from rankgauge.io.files import real_path
from rankgauge.scoring.stop import Stop

if TYPE_CHECKING:
    from rankgauge.gates.grammar import Gate


_MOST = 2
"""How many signals are taken calmly: the third ends the process, and what was kept stays."""


class Interrupts:
    """
    What Ctrl-C and SIGTERM do while a command runs.

    While a system is called and its outputs are scored and saved, they stop the calls: the first one lets calls that
    are under way end, the second does not. At any other time they end the command.
    """

    def __init__(self) -> None:
        self._stop: Stop | None = None

    @contextlib.contextmanager
    def handled(self) -> Iterator[None]:
        """Handle the signals, unless they are ignored (`nohup`); in another than the main thread, do nothing."""
        try:
            handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
            before = {number: handler for number, handler in handlers.items() if handler not in {signal.SIG_IGN, None}}
            for number in before:
                signal.signal(number, self._handle)
        except ValueError:
            yield
            return
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def stopping(self, *, calls: bool) -> Iterator[Stop]:
        """Let signals stop *calls* until their result is saved; if nothing is called, they end the command."""
        stop = Stop()
        self._stop = stop if calls else None
        try:
            yield stop
        finally:
            self._stop = None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        stop = self._stop
        if stop is None or stop.requests >= _MOST:
            signal.default_int_handler(number, frame)
        stop.request()
        if stop.requests == 1:
            remark("stopping: no new calls; those under way are waited for (Ctrl-C again to leave them)")


@dataclass(frozen=True, slots=True)
class System:
    """A system under test, and what was typed of its calls."""

    function: Callable[..., Any]
    given: argparse.Namespace

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Refuse a system of a config that says that it cannot be used, and close it in the end: it is of this run."""
        system = self.function if isinstance(self.function, ConfiguredSystem) else None
        try:
            if system is not None:
                system.check()
            yield
        finally:
            if system is not None:
                system.close()

    def prepare(self, evaluations: Sequence[Evaluation], folders: Folders) -> None:
        """Write down what is run, and take over what an earlier run has kept; nothing is called yet."""
        from rankgauge.engine.calls import begin

        for evaluation in evaluations:
            name = evaluation.data.name or "data"
            staging = folders.staging(name)
            if staging is None:
                remark("outputs are not kept; with -o FOLDER a run can go on later, and be scored again")
                return
            begin(staging, evaluation, self.function, *folders.earlier(name))

    def arguments(self, evaluation: Evaluation, folders: Folders, stop: Stop, until: Sequence[Gate]) -> dict[str, Any]:
        """Return what `Evaluation.run` is given; the gates of *until* end the calls."""
        given, staging = self.given, folders.staging(evaluation.data.name or "data")
        arguments = {"sut": self.function, "stop": stop, "until": until, "seed": given.seed or 0}
        arguments |= {name: getattr(given, name) for name in ("timeout", "retries")}
        arguments["concurrency"] = 8 if given.concurrency is None else given.concurrency
        arguments["repeat"] = 1 if given.repeat is None else given.repeat
        if staging is not None:
            arguments |= {"keep": staging.outputs, "resume": True, "retry_failed": given.retry_failed}
        return arguments


def _of_file(file: Path) -> ModuleType:
    """Import a file by its name, or under its path if another module of that name is imported already."""
    loaded = sys.modules.get(file.stem)
    if loaded is None:
        return importlib.import_module(file.stem)
    if getattr(loaded, "__file__", None) is not None and Path(str(loaded.__file__)).samefile(file):
        return loaded
    spec = importlib.util.spec_from_file_location(f"{file.stem} of {file.absolute()}", file)
    if spec is None or spec.loader is None:  # every file that ends in .py has a loader
        raise ImportError(f"{file} cannot be imported")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _no_file(file: Path, folder: Path) -> str:
    """Say that there is no such file, where it was looked for, and what is near."""
    if file.is_dir():
        return f"{folder / file.name} is a folder"
    if not folder.is_dir():
        return f"there is no folder {folder}"
    deeper = sorted(path.relative_to(folder) for path in folder.glob(f"*/{file.name}"))
    hint = did_you_mean(file.name, sorted(path.name for path in folder.glob("*.py")))
    hint = f" (did you mean {str(file.parent / deeper[0])!r}?)" if deeper else hint
    return f"there is no file {file.name!r} in {folder}{hint}"


def imported(name: str, what: str) -> Callable[..., Any]:
    """Return the function that ``module:function`` or ``file.py:function`` names; the working directory comes first."""
    module_name, _, attribute = name.rpartition(":")
    if not module_name or not attribute:
        raise ParameterError(f"{what} is {FUNCTION}, not {name!r}")
    folder, file = Path.cwd(), None
    if module_name.endswith(".py"):
        file = Path(module_name)
        folder, module_name = real_path(file.parent), file.stem
        if not file.is_file():
            raise ParameterError(f"{what}: cannot import {name!r}: {_no_file(file, folder)}")
    sys.path.insert(0, str(folder))
    keep_stdout()
    hand_over()
    value: Any = None
    try:
        with guarded():
            value = importlib.import_module(module_name) if file is None else _of_file(file)
            for part in attribute.split("."):
                value = getattr(value, part)
    except ForeignError as error:
        hint = f"write {FUNCTION}; modules are looked up in the working directory first"
        if isinstance(error.__cause__, AttributeError) and isinstance(value, ModuleType):
            names = [name for name in vars(value) if not name.startswith("_")]
            raise ParameterError(f"{what}: cannot import {name!r}: {error}{did_you_mean(attribute, names)}") from error
        if isinstance(error.__cause__, EOFError):  # what Python leaves of its bytecode if a disk is full
            hint = "half of its bytecode was written, as on a full disk: delete the `__pycache__` beside it"
        raise ParameterError(f"{what}: cannot import {name!r}: {error} ({hint})") from error
    if not callable(value):
        raise ParameterError(f"{what}: {name!r} is {type(value).__name__}, which cannot be called")
    return value  # type: ignore[no-any-return]  # whatever the module holds
