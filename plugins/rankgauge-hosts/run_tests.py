"""
Run the tests of every host, each in an environment of its own, and say which hosts could not be tested.

`make test-hosts` calls it. Hosts pull some hundred distributions each, and each other's pytest plugins, so that they
cannot share an environment.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
_INSTALL_SECONDS = 1800
_TEST_SECONDS = 1800
_NO_TESTS = 5
_ON_PYTORCH = ("sentence_transformers",)


class Outcome(NamedTuple):
    """
    What became of one host.

    Attributes:
        host: Its name.

        status: `passed`, `failed`, or `not tested` where its environment could not be made.

        told: What there is to know about it.

        seconds: How long installing and testing took.
    """

    host: str
    status: Literal["passed", "failed", "not tested"]
    told: str
    seconds: float


def main() -> int:
    """
    Test hosts.

    Returns:
        0 when nothing failed; 1 for failing tests, and where not one host could be tested.
    """
    hosts = known_hosts()
    parser = argparse.ArgumentParser(description="Test rankgauge-hosts against the real hosts.")
    parser.add_argument("hosts", nargs="*", metavar="HOST", help=f"some of: {', '.join(hosts)}; all by default")
    parser.add_argument(
        "--environments", type=Path, default=ROOT / ".venv" / "hosts", help="where environments are made"
    )
    parser.add_argument("--jobs", type=int, default=2, help="how many hosts are installed and tested at a time")
    options = parser.parse_args()
    if unknown := [host for host in options.hosts if host not in hosts]:
        parser.error(f"no host {unknown[0]!r}; there are {', '.join(hosts)}")
    wanted = options.hosts or hosts
    with ThreadPoolExecutor(options.jobs) as pool:
        outcomes = list(pool.map(lambda host: tested(host, options.environments.absolute() / host), wanted))
    print(summary(outcomes), flush=True)
    statuses = {outcome.status for outcome in outcomes}
    return int("failed" in statuses or "passed" not in statuses)


def known_hosts() -> list[str]:
    """Return the hosts: the extras of this distribution that have a folder of tests."""
    return [extra for extra in _project(HERE)["optional-dependencies"] if (HERE / "tests" / f"on_{extra}").is_dir()]


def tested(host: str, environment: Path) -> Outcome:
    """
    Make the environment of one host and run its tests there.

    Args:
        host: The host.

        environment: Where its environment is, or is to be.

    Returns:
        What became of it; never raises for what a host does.
    """
    started = time.monotonic()
    try:
        problem = _installed(host, environment)
    except (OSError, subprocess.SubprocessError) as error:
        problem = f"{type(error).__name__}: {error}"
    if problem:
        return _told(host, "not tested", f"its environment could not be made: {problem}", started)
    work = environment / "work"  # hosts leave logs, caches and databases where they run
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    command = [str(_python(environment)), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(HERE)]
    command += ["-c", str(HERE / "pyproject.toml"), str(HERE / "tests" / f"on_{host}")]
    command += [str(HERE / "tests" / shared) for shared in ("test_same_numbers.py", "test_docs.py")]
    output = environment / "tests.log"
    with output.open("w", encoding="utf-8") as log:
        try:
            done = subprocess.run(
                command,
                cwd=work,
                env={**os.environ, "RANKGAUGE_HOST": host, "HOME": str(work), **_quiet()},
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=_TEST_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return _told(host, "failed", f"its tests took longer than {_TEST_SECONDS} s; see {output}", started)
    lines = output.read_text(encoding="utf-8", errors="replace").splitlines()
    last = next((line.strip("= ") for line in reversed(lines) if " in " in line and "passed" in line), "")
    if done.returncode == 0:
        return _told(host, "passed", f"{_version(host, environment)}: {last}", started)
    print("\n".join([f"==== {host}: tests failed", *lines]), flush=True)
    why = "no test was found" if done.returncode == _NO_TESTS else last or f"pytest ended with {done.returncode}"
    return _told(host, "failed", f"{_version(host, environment)}: {why}", started)


def summary(outcomes: list[Outcome]) -> str:
    """
    Return the last thing that is printed.

    Args:
        outcomes: What became of each host.

    Returns:
        A line for each host; hosts that were not tested stand in a frame of their own, at the end.
    """
    lines = ["", "Hosts:"]
    width = max(len(each.host) for each in outcomes)
    lines += [f"  {each.host:<{width}} {each.status:<10} {each.seconds:6.0f} s  {each.told}" for each in outcomes]
    missed = [each for each in outcomes if each.status == "not tested"]
    if missed:
        lines += ["", "!" * 78, f"!!  {len(missed)} OF {len(outcomes)} HOSTS WERE NOT TESTED"]
        lines += [f"!!  {each.host}: {each.told}" for each in missed]
        lines += ["!" * 78]
    return "\n".join(lines)


def _told(host: str, status: Literal["passed", "failed", "not tested"], told: str, started: float) -> Outcome:
    print(f"{host}: {status}; {told}", flush=True)
    return Outcome(host, status, told, time.monotonic() - started)


def _installed(host: str, environment: Path) -> str:
    """Make the environment unless it is there and made of the same requirements; return what went wrong."""
    wanted = json.dumps([_project(folder) for folder in (ROOT, HERE)], indent=1, sort_keys=True)
    stamp = environment / "installed.json"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return ""
    print(f"{host}: installing", flush=True)
    shutil.rmtree(environment, ignore_errors=True)
    venv.create(environment, with_pip=True)
    extras = [host, "test", *(name for name in _project(HERE)["optional-dependencies"] if name == f"test-{host}")]
    extras = [extra.replace("_", "-") for extra in extras]  # as they are built; pip 23.2 knows no other spelling
    python, wanted_here = str(_python(environment)), ["-e", str(ROOT), "-e", f"{HERE}[{','.join(extras)}]"]
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check"]
    installers = [pip]
    if (uv := shutil.which("uv")) is not None:  # which takes a tenth of the time, and may be a shim that has none
        installers.insert(0, [uv, "pip", "install", "--python", python])
    steps = [[[*installer, "--quiet", *wanted_here] for installer in installers]]
    if host in _ON_PYTORCH:  # first and by pip, whose configuration may name a small build, where uv takes CUDA along
        steps.insert(0, [[*pip, "--quiet", *shlex.split(os.environ.get("TORCH", "torch"))]])
    for commands in steps:
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False)
            if done.returncode == 0:
                break
        else:
            log = environment / "install.log"
            log.write_text(done.stdout + done.stderr, encoding="utf-8")
            errors = [line.strip() for line in done.stderr.splitlines() if line.strip().startswith("ERROR: ")]
            return f"{errors[-1] if errors else f'pip ended with {done.returncode}'}; see {log}"
    stamp.write_text(wanted, encoding="utf-8")
    return ""


def _quiet() -> dict[str, str]:
    """Return the switches that must be off before a host's own pytest plugin is loaded."""
    return {"DEEPEVAL_TELEMETRY_OPT_OUT": "1", "DEEPEVAL_TELEMETRY_ENABLED": "0", "DEEPEVAL_DISABLE_DOTENV": "1"}


def _version(host: str, environment: Path) -> str:
    """Return the installed version of a host, as its environment says it."""
    name = _project(HERE)["optional-dependencies"][host][0].split(">")[0]
    script = f"import importlib.metadata as m; print(m.version({name!r}))"
    done = subprocess.run(
        [str(_python(environment)), "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    return f"{name} {done.stdout.strip() or 'of unknown version'}"


def _project(folder: Path) -> dict[str, Any]:
    """Return what a distribution says of itself; its requirements above all."""
    project: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def _python(environment: Path) -> Path:
    return environment / ("Scripts" if os.name == "nt" else "bin") / "python"


if __name__ == "__main__":
    sys.exit(main())
