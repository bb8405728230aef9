"""
Programs in any language: one JSON line in for each sample, one JSON line out.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from rankgauge.errors import ParameterError
from rankgauge_systems.engines import Pool
from rankgauge_systems.options import ConfigPath, SystemOptions

__all__ = ["CommandOptions", "CommandSystem"]

_SHOWN = 300
_GRACE = 5.0


class CommandOptions(SystemOptions):
    """Options of a program."""

    command: Sequence[str] = Field(min_length=1, description="The program and its arguments; no shell reads them.")
    folder: ConfigPath | None = Field(
        None, description="Where it is run, relative to the config. [default: as rankgauge]"
    )
    environment: Mapping[str, str] = Field(default_factory=dict, description="Further variables of its environment.")


class CommandSystem:
    """
    A program as a system under test.

    It is started once for each call at a time, and asked again as long as it runs: it reads ``{"input": ...}`` from
    standard input and writes an output to standard output, each on one line. Further lines are an error: whose answer
    the next one is would be unclear.
    """

    def __init__(self, options: CommandOptions) -> None:
        """Start nothing yet."""
        self._options = options
        self._more = ""
        self._pool: Pool[_Process] = Pool(lambda: _Process(self._options), self._end)

    def __call__(self, given: object) -> Any:  # noqa: ANN401  # any JSON value
        """Return what the program answers."""
        with self._pool.taken() as process:
            return process.ask(given)

    def check(self) -> None:
        """Look for the program, and for the folder in which it is run."""
        program, folder = self._options.command[0], self._options.folder
        if folder is not None and not folder.is_dir():
            raise ParameterError(f"there is no folder {folder} to run {program} in")
        found: object = shutil.which(program, path=_environment(self._options.environment).get("PATH"))
        if os.path.dirname(program):  # noqa: PTH120  # `./search` and `search` are not the same
            found = (Path(folder or ".") / program).is_file()
        if not found:
            raise ParameterError(f"there is no program {program}")

    def close(self) -> None:
        """
        End the programs: by closing their input, and after some seconds by force.

        Raises a `ParameterError` if one wrote more lines than it was asked for, which no call saw.
        """
        self._more = ""
        self._pool.close()
        if self._more:
            raise ParameterError(self._more)

    def _end(self, process: _Process) -> None:
        self._more = process.close() or self._more


class _Process:
    """A program that runs."""

    def __init__(self, options: CommandOptions) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # the config names it
            list(options.command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=options.folder,
            env=_environment(options.environment),
            start_new_session=True,  # Ctrl-C in a terminal is for us, who let calls under way end
        )
        self._told: deque[bytes] = deque(maxlen=20)
        self._is_asked = False  # and has not answered yet
        self._listener = threading.Thread(target=self._listen, daemon=True, name="rankgauge-command")
        self._listener.start()

    def ask(self, given: object) -> Any:  # noqa: ANN401  # any JSON value
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None  # noqa: S101  # pipes, as asked for
        assert stdout is not None  # noqa: S101
        self._refuse_more()
        self._is_asked = True
        try:
            stdin.write(json.dumps({"input": given}).encode() + b"\n")
            stdin.flush()
            line = stdout.readline()
        except OSError:
            line = b""
        if not line:
            raise ValueError(self._ended())
        self._is_asked = False
        self._refuse_more()
        try:
            return json.loads(line)
        except ValueError:
            raise ValueError(
                f"the program answered no line of JSON: {line[:_SHOWN].decode(errors='replace')!r}"
            ) from None

    def close(self) -> str:
        """End the program; return what is wrong with it where it has written an answer to no call."""
        process = self._process
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._listener.join(_GRACE)
        more = b"" if self._is_asked else self._more()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        return _too_much(more) if _is_json(more) else ""  # which may be a farewell

    def _refuse_more(self) -> None:
        if more := self._more():
            raise ValueError(_too_much(more))

    def _more(self) -> bytes:
        """Return a line of output that is there though nothing was asked."""
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101  # a pipe, as asked for
        os.set_blocking(stdout.fileno(), False)
        more: bytes = stdout.peek(1)  # type: ignore[attr-defined]  # a buffered reader
        os.set_blocking(stdout.fileno(), True)
        return more.partition(b"\n")[0] or more

    def _listen(self) -> None:
        assert self._process.stderr is not None  # noqa: S101  # a pipe, as asked for
        with contextlib.suppress(ValueError, OSError):  # it was closed
            for line in self._process.stderr:
                self._told.append(line)

    def _ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        self._listener.join(_GRACE)
        said = b"".join(self._told).decode(errors="replace").strip()
        code = self._process.returncode
        how = "closed its output" if code is None else f"ended with exit code {code}"
        return f"the program {how} and did not answer" + (f"; it said: {said[-_SHOWN:]}" if said else "")


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _too_much(line: bytes) -> str:
    told = "the program wrote more than one line for one call, and so answers may be those of other calls"
    return f"{told}; no call asked for {line[:_SHOWN].decode(errors='replace')!r}"


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, **more}
