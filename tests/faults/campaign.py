"""
A campaign: mutated files through every way in, and the promises that were broken.

``make fuzz SEED=1 CASES=5000`` runs it in processes of its own, which are bounded in memory and in the time that a case
takes. It prints a line of JSON for each finding, with the file in base64; the last line has the figures. The same seed
makes the same cases. A finding, made small by hand, goes to ``cases`` once it is mended.
"""

from __future__ import annotations

import base64
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from faults.mutations import mutated
from faults.promises import broken_promises, called
from faults.ways import WAYS, Way, make_inputs

__all__ = ["Case", "Workshop", "cases"]

_TESTS = Path(__file__).parents[1]
_PATIENCE = 60
"""Seconds that a case may take."""

_MEMORY = 4 << 30


class Case(NamedTuple):
    """One mutated file on one way in."""

    number: int
    way: Way
    file: str
    data: bytes


class Workshop:
    """A folder with all inputs, in which one of them at a time is something else."""

    def __init__(self, folder: Path) -> None:
        make_inputs(folder)
        self.folder = folder
        self.data = {name: (folder / name).read_bytes() for name in self._names()}

    def broken(self, way: Way, file: str, data: bytes) -> tuple[int, list[str], str]:
        """Return the exit code of a way with one file changed, the promises that it broke, and its messages."""
        (self.folder / file).write_bytes(data)
        try:
            outcome = called(way)
            return outcome.code, list(broken_promises(way, outcome, self.folder)), outcome.err
        finally:
            self.clean()

    def clean(self) -> None:
        """Put every file back, and remove what was written."""
        for name in self._names() - self.data.keys():
            (self.folder / name).unlink()
        for folder in sorted((path for path in self.folder.rglob("*") if path.is_dir()), reverse=True):
            if not any(folder.iterdir()):
                folder.rmdir()
        for name, data in self.data.items():
            path = self.folder / name
            if not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)

    def _names(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if not path.is_dir()}


def cases(data: dict[str, bytes], seed: int, numbers: range) -> Iterator[Case]:
    """Yield cases by their numbers, each drawn by a generator of its own; the ways take turns."""
    for number in numbers:
        turn, place = divmod(number, len(WAYS))
        way = WAYS[place]
        seeded = random.Random(f"{seed}:{turn}:{way}")  # noqa: S311  # data for tests; the same whatever ways are added
        file = seeded.choice(way.files)
        yield Case(number, way, file, mutated(file, data[file], seeded))


def _work(seed: int, first: int, last: int) -> None:
    """Run some cases, and print a line of JSON before and after each."""
    os.environ["RANKGAUGE_NO_PLUGINS"] = "1"
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    out = os.fdopen(os.dup(1), "w")
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        shop = Workshop(Path(name))
        for case in cases(shop.data, seed, range(first, last)):
            kept = base64.b64encode(case.data).decode()
            begun = {"number": case.number, "way": str(case.way), "file": case.file, "data": kept}
            print(json.dumps(begun), file=out, flush=True)
            code, broken, err = shop.broken(case.way, case.file, case.data)
            print(json.dumps({"code": code, "broken": broken, "err": err[:600]}), file=out, flush=True)
        os.chdir("/")


def _run(seed: int, count: int) -> int:
    codes: Counter[str] = Counter()
    findings, first = 0, 0
    while first < count:
        command = [sys.executable, "-m", "faults.campaign", str(seed), str(count), str(first)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=_TESTS
        ) as worker:
            begun: dict[str, Any] = {}
            for line in _in_time(worker):
                told = json.loads(line)
                if "number" in told:
                    begun = told
                    continue
                codes[str(told["code"])] += 1
                first = begun["number"] + 1
                if told["broken"]:
                    findings += 1
                    print(json.dumps({**begun, **told}), flush=True)
                begun = {}
            worker.kill()
        if begun or not first:
            findings += 1
            codes["none"] += 1
            print(json.dumps({**begun, "broken": ["it hangs, or ends the process"]}), flush=True)
            first = begun.get("number", count) + 1
    shown = ", ".join(f"exit code {code}: {n:,}" for code, n in sorted(codes.items()))
    print(f"seed {seed}: {count:,} cases on {len(WAYS)} ways, {findings:,} findings ({shown})")
    return 1 if findings else 0


def _in_time(worker: subprocess.Popen[str]) -> Iterator[str]:
    """Yield the lines of a process, which is ended when none comes for too long."""
    while True:
        alarm = threading.Timer(_PATIENCE, worker.kill)
        alarm.start()
        line = worker.stdout.readline()  # type: ignore[union-attr]  # it has a pipe
        alarm.cancel()
        if not line:
            return
        yield line


if __name__ == "__main__":
    if len(sys.argv) > 3:
        _work(int(sys.argv[1]), int(sys.argv[3]), int(sys.argv[2]))
    else:
        sys.exit(_run(int(sys.argv[1]), int(sys.argv[2])))
