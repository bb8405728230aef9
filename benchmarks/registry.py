"""
Measure what many plugins cost: `rankgauge metrics list` with 200 distributions of 5 metrics each, and without them.

Each distribution is a ``.dist-info`` folder and a module on the import path of the measured process, compiled as pip
would. One more distribution is broken, which must add a warning and nothing else. Whole processes run in turns.

Run it with ``make bench`` or ``python benchmarks/registry.py [--distributions N] [--runs N]``.
"""

from __future__ import annotations

import argparse
import compileall
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from processes import environment

METRICS = 5
HEAD = '"""Metrics of one distribution."""\n\nfrom rankgauge.plugin import Cutoff, Judged, Scores, hookimpl, metric\n'
METRIC = '''

@metric("crowd-{number:03}-{place}-at-k", short=("crowd{number:03}x{place}",), laws=("bounded",))
def metric_{place}(judged: Judged, *, k: Cutoff, strict: bool = False, scale: float = 1.0) -> Scores:
    """Share of the first *k* ranks that hold something relevant, as distribution {number} counts it."""
    return judged.relevant_ranks(k) / k
'''
HOOK = "\n\n@hookimpl\ndef rankgauge_metrics():\n    return [{metrics}]\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--distributions", type=int, default=200)
    options.add_argument("--runs", type=int, default=9)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        crowd, faulty = Path(folder) / "crowd", Path(folder) / "faulty"
        for number in range(given.distributions):
            metrics = "".join(METRIC.format(number=number, place=place) for place in range(METRICS))
            names = ", ".join(f"metric_{place}" for place in range(METRICS))
            write(crowd, f"crowd-{number:03}", HEAD + metrics + HOOK.format(metrics=names))
        write(faulty, "crowd-broken", "raise ImportError('no backend')\n")
        compileall.compile_dir(folder, quiet=1)  # as pip does
        sides = {"no plugins": [], f"{given.distributions} plugins": [crowd], "and a broken one": [crowd, faulty]}
        times: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
        for turn in range(given.runs + 1):
            for side, paths in sides.items():
                cost, out, err = listed(paths)
                aliases = out.count("crowd-") // 2 if paths else 0  # in alias and provider
                if aliases != (given.distributions * METRICS if paths else 0):
                    sys.exit(f"{side}: {aliases} metrics were listed")
                if ("crowd-broken" in err) != (faulty in paths) or err.count("\n") != (faulty in paths):
                    sys.exit(f"{side}: stderr says {err!r}")
                if turn:  # the first turn compiles the modules and warms the file cache
                    times[side].append(cost)
    print(f"rankgauge metrics list, {METRICS} metrics a distribution; medians of {given.runs} processes")
    base = times["no plugins"]
    for side, each in times.items():
        wall, cpu = (statistics.median(cost[part] for cost in each) for part in range(2))
        more = [statistics.median(a[part] - b[part] for a, b in zip(each, base, strict=True)) for part in range(2)]
        print(f"  {side:18} wall {wall:5.2f} s (+{more[0]:.2f})   cpu {cpu:5.2f} s (+{more[1]:.2f})")


def write(site: Path, distribution: str, source: str) -> None:
    """Write a distribution with one module."""
    module = distribution.replace("-", "_")
    info = site / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[rankgauge]\nmain = {module}\n", encoding="utf-8")
    (site / f"{module}.py").write_text(source, encoding="utf-8")


def listed(paths: list[Path]) -> tuple[tuple[float, float], str, str]:
    """Return what the command costs with some folders on the import path, wall and processor, and what it prints."""
    variables = {**environment(), "PYTHONPATH": os.pathsep.join(map(str, paths))}
    command = [sys.executable, "-m", "rankgauge", "metrics", "list"]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (wall, cpu), done.stdout, done.stderr


if __name__ == "__main__":
    main()
