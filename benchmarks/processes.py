"""
Run whole processes and measure their time and memory, for all benchmarks.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

__all__ = ["Cost", "alternated", "environment", "measured"]


def environment() -> dict[str, str]:
    """Return this process's variables, except the one that stops Python from caching bytecode."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class Cost(NamedTuple):
    """What one process took: seconds, seconds of all processors, and megabytes."""

    wall: float
    cpu: float
    peak: float


def alternated(sides: Mapping[str, Sequence[str]], runs: int) -> dict[str, list[Cost]]:
    """Run all sides in turns; the first turn only warms caches and is not counted."""
    costs: dict[str, list[Cost]] = {side: [] for side in sides}
    for turn in range(runs + 1):
        for side, arguments in sides.items():
            cost = measured(arguments)
            if turn:
                costs[side].append(cost)
    return costs


def measured(arguments: Sequence[str]) -> Cost:
    """Run a process to its end and return what it took."""
    begun = time.perf_counter()
    process = subprocess.Popen(arguments, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    if status:
        sys.exit(f"{' '.join(arguments)[:200]} failed with status {status}")
    kilobyte = 1 if sys.platform == "darwin" else 1024
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * kilobyte / 1e6)
