#!/usr/bin/env python3
"""
Decide which parts of CI run, run them, and record those that passed.

A part of `.ci/parts.toml` runs where the digests of its inputs are not those in `.ci/passed.toml`, or where none are
recorded. ``.ci/parts.py due`` prints the names of those that are to run, and says on stderr why each of them runs or
not; ``--full`` names all. ``.ci/parts.py run NAME ...`` runs parts and records what passed in full, for whoever commits
the file along with the change.
"""

from __future__ import annotations

import argparse
import fcntl
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from inputs import Inputs

ROOT = Path(__file__).resolve().parents[1]
HEAD = """\
# The inputs with which each part of .ci/parts.toml last passed in full. `make passed` writes it, and so does .ci/run.
# Of two versions in a conflict either does: a part whose inputs are others runs.
"""


class Decision(NamedTuple):
    """Whether a part runs, and why."""

    name: str
    runs: bool
    why: str

    def __str__(self) -> str:
        return f"{self.name} {'runs' if self.runs else 'is left out'}: {self.why}"


def decide(name: str, now: Mapping[str, str], passed: Mapping[str, str] | None, *, full: bool = False) -> Decision:
    """
    Return whether a part runs.

    Args:
        name: The part.

        now: The digests of its inputs.

        passed: Those with which it last passed in full; None if it never did.

        full: Whether everything is to run.

    Returns:
        The decision.
    """
    if full:
        return Decision(name, runs=True, why="FULL=1 runs everything")
    if passed is None:
        return Decision(name, runs=True, why="no pass in full is recorded")
    if changed := [kind for kind in now if now[kind] != passed.get(kind)]:
        return Decision(name, runs=True, why=f"its {' and '.join(changed)} changed since it last passed in full")
    return Decision(name, runs=False, why="its inputs are those with which it last passed in full (FULL=1 runs it)")


def parts_of(root: Path) -> dict[str, Any]:
    """Return the parts of a repository, in the order in which they are written."""
    return tomllib.loads((root / ".ci/parts.toml").read_text(encoding="utf-8"))


def passed_of(root: Path) -> dict[str, dict[str, str]]:
    """Return the digests of each part that passed."""
    path = root / ".ci/passed.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def decisions(root: Path, *, full: bool = False) -> list[Decision]:
    """Return the decision on every part."""
    passed, inputs = passed_of(root), Inputs(root)
    return [
        decide(name, inputs.digests(name, part), passed.get(name), full=full) for name, part in parts_of(root).items()
    ]


def record(root: Path, name: str, inputs: Mapping[str, str]) -> None:
    """Record the digests with which a part passed; several processes may do so at once."""
    with (root / ".ci/parts.toml").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = parts_of(root)
        passed = {part: found for part, found in {**passed_of(root), name: dict(inputs)}.items() if part in known}
        tables = (
            "".join([f"\n[{part}]\n", *(f'{kind} = "{digest}"\n' for kind, digest in sorted(found.items()))])
            for part, found in sorted(passed.items())
        )
        (root / ".ci/passed.toml").write_text(HEAD + "".join(tables), encoding="utf-8")


def make(root: Path, name: str) -> tuple[int, str]:
    """Make a target, show what it prints, and return its exit code and the output."""
    output = []
    with subprocess.Popen(
        ["make", "--no-print-directory", name],
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            output.append(line)
    return process.returncode, "".join(output)


def run(root: Path, name: str, made: Callable[[Path, str], tuple[int, str]] = make) -> int:
    """Run a part, record it if it passed in full, and return its exit code."""
    part = parts_of(root)[name]
    inputs = Inputs(root).digests(name, part)  # before, because files may change meanwhile
    code, output = made(root, name)
    if code:
        print(f"{name} did not pass, so nothing was recorded")
    elif "unless" in part and (line := re.search(f".*{re.escape(part['unless'])}.*", output)):
        print(f"{name} did not pass in full, so nothing was recorded: {line[0].strip()}")
    else:
        record(root, name, inputs)
        print(f"{name} passed in full: recorded in .ci/passed.toml, which is committed with the change")
    return code


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(description="Decide which parts of CI run, and record those that passed.")
    parser.add_argument("command", choices=["due", "run"])
    parser.add_argument("parts", nargs="*", help="which to run")
    parser.add_argument("--full", action="store_true", help="run all, whatever changed")
    given = parser.parse_args()
    if unknown := set(given.parts) - parts_of(ROOT).keys():
        parser.error(f"no part is {', '.join(sorted(unknown))}; there are {', '.join(parts_of(ROOT))}")
    if given.command == "run":
        return max([run(ROOT, name) for name in given.parts], default=0)
    for decision in decisions(ROOT, full=given.full):
        print(decision, file=sys.stderr)
        if decision.runs:
            print(decision.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
