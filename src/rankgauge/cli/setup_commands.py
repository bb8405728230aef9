"""
`rankgauge doctor`, what is installed here and works, to paste into a report of a bug; and `init`, files to start from.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from rankgauge.arguments import path
from rankgauge.cli.console import echo, has_colour, plain_table, print_json, terminal_width
from rankgauge.cli.streams import results
from rankgauge.errors import RankgaugeError, ResultError, counted, listed

if TYPE_CHECKING:
    from pathlib import Path

_REQUIREMENT = r"([\w.-]+)(?:\[\w+\])?([^;]*)(?:;\s*extra\s*==\s*['\"]([\w-]+)['\"])?"
_EXTRAS = ("completion", "excel", "pandas", "testing")
"""Those for users; the others are for work on rankgauge itself."""

_LOADED = ("numpy", "orjson", "pluggy", "polars", "pydantic", "structlog", "yaml", "rankgauge.cli.run_command")
_SLOW = 0.1
"""From how many seconds on an import is named."""


class _Fact(NamedTuple):
    """One thing that was looked at."""

    what: str
    state: str  # `ok`, `missing`, which is no fault, or `broken`
    more: str


def _system() -> Iterator[_Fact]:
    import platform

    here = f"Python {platform.python_version()} ({sys.implementation.name}), {platform.platform()}"
    flags = [f"-{'O' * sys.flags.optimize}"] if sys.flags.optimize else []
    flags += sorted(name for name in os.environ if name.startswith("RANKGAUGE_"))
    yield _Fact("python", "ok", ", ".join([here, counted(os.cpu_count() or 1, "processor"), *flags]))


def _requirements() -> Iterator[_Fact]:
    """Yield what rankgauge needs, and what its extras for users need."""
    import importlib.metadata

    required: list[str] = []
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):  # a source tree that is not installed
        required = importlib.metadata.requires("rankgauge") or []
    extras: dict[str, list[tuple[str, str]]] = {}
    for text in required:
        if (match := re.fullmatch(_REQUIREMENT, text.strip())) and (match[3] or "") in {"", *_EXTRAS}:
            extras.setdefault(match[3] or "", []).append((match[1], match[2].strip()))
    for extra, needed in extras.items():
        versions = {name: _version(name) for name, _ in needed}
        absent = [name for name, version in versions.items() if version is None]
        old = [f"{name} {versions[name]} ({floor})" for name, floor in needed if _is_below(versions[name], floor)]
        advice = f"pip install 'rankgauge[{extra}]'" if extra else "pip install rankgauge"
        what = f"extra {extra}" if extra else "packages"
        if old or (absent and not extra):
            wrong = [*(f"{name} is missing" for name in absent), *(f"{name} is needed" for name in old)]
            yield _Fact(what, "broken", f"{', '.join(wrong)}: {advice}")
        elif absent:
            yield _Fact(what, "missing", f"{', '.join(absent)}: {advice}")
        else:
            yield _Fact(what, "ok", ", ".join(f"{name} {version}" for name, version in versions.items()))


def _version(name: str) -> str | None:
    import importlib.metadata

    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _is_below(version: str | None, floor: str) -> bool:
    """Return whether a version is lower than a floor such as ``>=2.11``."""
    least = re.search(r">=\s*([\d.]+)", floor)
    return version is not None and least is not None and _numbers(version) < _numbers(least[1])


def _numbers(version: str) -> list[int]:
    leading = re.match(r"\d+(?:\.\d+)*", version)
    return [int(part) for part in leading[0].split(".")] if leading else []


def _plugins() -> Iterator[_Fact]:
    from rankgauge.catalog import Catalog
    from rankgauge.catalog.claims import OWN
    from rankgauge.commands import words
    from rankgauge.kernel import DISTRIBUTION

    catalog = Catalog.installed()
    others = [plugin for plugin in catalog.plugins if plugin.distribution != OWN]
    faults = {plugin.id: [fault for fault in catalog.faults if fault.plugin == plugin.id] for plugin in others}
    names = [f"{plugin.distribution} {plugin.version}{' (disabled)' if plugin.disabled else ''}" for plugin in others]
    state = "broken" if any(faults.values()) else "ok"
    yield _Fact("plugins", state, ", ".join(dict.fromkeys(names)) or "none besides rankgauge's own")
    if commands := sorted(words(point.name) for plugin in others for point in plugin.commands):
        yield _Fact("commands", "ok", ", ".join(commands))
    if any(plugin.distribution == DISTRIBUTION and not plugin.disabled for plugin in others):
        yield _kernel()
    for plugin in others:
        for fault in faults[plugin.id]:
            yield _Fact(
                f"plugin {plugin.name}", "broken", f"{' '.join(fault.message.split())}; `rankgauge plugins check`"
            )
        if plugin.is_slow:
            yield _Fact(f"plugin {plugin.name}", "slow", f"{plugin.import_seconds:.1f} s to import")


def _kernel() -> _Fact:
    from rankgauge.kernel import DISTRIBUTION, installed_kernel

    if installed_kernel() is not None:
        return _Fact("kernel", "ok", f"{DISTRIBUTION} reads TREC lines and words of texts, and finds judged documents")
    advice = f"pip install --force-reinstall --no-deps --no-cache-dir {DISTRIBUTION}"
    return _Fact("kernel", "missing", f"{DISTRIBUTION} was not compiled; with a C compiler (cc): {advice}")


def _imports() -> Iterator[_Fact]:
    """Yield what takes long to import, in an interpreter that has loaded nothing yet."""
    import subprocess

    code = "\n".join(f"import {name}" for name in _LOADED)
    command = [sys.executable, "-X", "importtime", "-c", code]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)  # noqa: S603  # ours
    except (OSError, subprocess.SubprocessError) as error:
        yield _Fact("imports", "broken", f"a new interpreter cannot load them: {type(error).__name__}")
        return
    times = re.findall(r"^import time:\s+\d+ \|\s+(\d+) \| ( *)(\S+)$", done.stderr, re.MULTILINE)
    seconds = {name: int(time) / 1e6 for time, depth, name in times if len(depth) == 0}
    slow = sorted(((time, name) for name, time in seconds.items() if time >= _SLOW), reverse=True)
    named = [f"{name} {time:.2f} s" for time, name in slow]
    total = sum(seconds.values())
    of_which = f", of which {listed(named)}" if named else ""
    yield _Fact("imports", "slow" if total > 2 else "ok", f"{total:.2f} s in all{of_which}")


def _terminal() -> Iterator[_Fact]:
    stream = results()
    kind = f"{terminal_width()} columns" if stream.isatty() else "output is not a terminal"
    yield _Fact("terminal", "ok", f"{kind}, {stream.encoding}, {'colour' if has_colour() else 'no colour'}")


def _workers() -> Iterator[_Fact]:
    """Yield whether a worker process judges a sample."""
    import io
    import tempfile
    from pathlib import Path

    from rankgauge.base.guard import ForeignError, guarded
    from rankgauge.engine.engine import Engine
    from rankgauge.engine.workers import judging_lines
    from rankgauge.io.file_records import Lines

    line = b'{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}\n'
    try:
        with tempfile.TemporaryDirectory() as folder, guarded(RankgaugeError):
            file = Path(folder, "samples.jsonl")
            file.write_bytes(line)
            evaluation = Engine().dataset(file).with_metrics(["RR"])
            with judging_lines(evaluation, 1, label="a sample") as judging:
                judged = [found for _, found in judging(iter([Lines(io.BytesIO(line), 1, 0)]))]
        state, more = ("ok", "one judged a sample") if any(judged) else ("broken", "one judged nothing")
    except (RankgaugeError, ForeignError) as error:
        state, more = "broken", f"--workers cannot be used here: {error}"
    yield _Fact("workers", state, more)


def _browser() -> Iterator[_Fact]:
    import webbrowser

    try:
        webbrowser.get()
    except webbrowser.Error:
        yield _Fact("browser", "missing", "HTML reports are written, and have to be opened on another machine")
    else:
        yield _Fact("browser", "ok", "HTML reports can be opened here")


def execute_doctor(given: argparse.Namespace) -> int:
    """Print what is installed and what works."""
    import rankgauge

    looks = (_system, _requirements, _plugins, _imports, _terminal, _workers, _browser)
    facts = [fact for look in looks for fact in look()]
    broken = [fact.what for fact in facts if fact.state == "broken"]
    version = rankgauge.__version__
    if given.as_json:
        print_json({"rankgauge": version, "ok": not broken, "facts": [fact._asdict() for fact in facts]})
    else:
        echo(f"rankgauge {version}")
        plain_table(("what", "state", "more"), facts)
        echo(f"broken: {listed(broken)}" if broken else "nothing is broken")
    return 1 if broken else 0


_FILES = {
    "rankgauge.yaml": "starter.yaml",
    "samples.jsonl": "starter.jsonl",
    "rankgauge.schema.json": "schema.json",  # the config's first line names it
}
"""What is written, and where in `rankgauge.config` it is."""


def execute_init(given: argparse.Namespace) -> int:
    """Write a commented config and a tiny dataset that runs."""
    folder: Path = given.directory
    sources = path(__file__).parents[1] / "config"
    files = {folder / name: (sources / source).read_bytes() for name, source in _FILES.items()}
    if taken := [str(file) for file in files if file.exists()]:
        raise ResultError(f"{' and '.join(taken)} would be overwritten; nothing was written. Choose another folder")
    from rankgauge.io.whole_files import write_new

    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_new(files)
    except OSError as error:
        raise ResultError(f"cannot write to {folder}: {error.strerror or error}") from error
    for file in files:
        echo(f"wrote {file}")
    echo(f"now run: rankgauge run {folder / 'rankgauge.yaml'}")
    return 0
