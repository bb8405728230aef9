"""The command line in processes of its own, for what cannot be tested in this one: pipes, disks and signals."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["SHELL", "command", "run", "shell", "variables"]

SHELL = "/bin/bash"


def command(*arguments: object) -> list[str]:
    """Return what calls the command line with the interpreter and the source of this process."""
    return [sys.executable, "-m", "rankgauge", *map(str, arguments)]


def variables(**more: str) -> dict[str, str]:
    """Return the environment, with what is on the path of this process and without installed plugins."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "RANKGAUGE_NO_PLUGINS": "1", **more}


def run(*arguments: object, env: Mapping[str, str] | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end, and return what came out."""
    found = {"capture_output": True, "text": True, "timeout": 120, **options}
    return subprocess.run(command(*arguments), env=env or variables(), check=False, **found)


def shell(script: str, *, cwd: Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a line of shell, in which ``rankgauge`` is the command line."""
    calls: Sequence[str] = command()
    line = f'rankgauge() {{ {" ".join(calls)} "$@"; }}; {script}'
    env = dict(env or variables())
    if "ulimit -f" in script:  # Python would keep the half of its bytecode that fits
        env["PYTHONDONTWRITEBYTECODE"] = "1"
    return subprocess.run(
        [SHELL, "-c", line], cwd=cwd, env=env, capture_output=True, text=True, timeout=120, check=False
    )
