"""
Build the distributions into dist and try both: ``make build``.

The wheel that the source distribution builds has to be the wheel, byte for byte, and each of the two has to score the
quickstart in an environment with nothing but what it asks for. The suite then runs against the wheel (``WHEEL=1``).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
QUICKSTART = ROOT / "configs" / "quickstart" / "rankgauge.yaml"


def build(project: Path, folder: Path, *targets: str) -> list[Path]:
    """Return the distributions of a project."""
    chosen = [part for target in targets for part in ("--target", target)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *chosen, "--directory", folder], cwd=project, check=True
    )
    return sorted(folder.iterdir())


def wheel_of(source: Path, folder: Path) -> Path:
    """Return the wheel that a source distribution builds."""
    with tarfile.open(source) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # which Python 3.11.2 does not have
        archive.extractall(folder / "source")  # noqa: S202  # what was built here a moment ago
    (project,) = (folder / "source").iterdir()
    (wheel,) = build(project, folder / "wheel", "wheel")
    return wheel


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def try_out(distribution: Path, folder: Path) -> None:
    """Install a distribution and score the quickstart away from the sources."""
    environment = folder / "environment"
    venv.create(environment, with_pip=True, clear=True)
    python, command = environment / "bin" / "python", environment / "bin" / "rankgauge"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, distribution], check=True)
    subprocess.run([command, "run", QUICKSTART], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    print(f"{distribution.name}: installed, and scored the quickstart", flush=True)


def main() -> int:
    """Return 0; whatever goes wrong is an exception."""
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    source, wheel = sorted(build(ROOT, dist, "sdist", "wheel"), key=lambda path: path.suffix)
    with tempfile.TemporaryDirectory() as folder:
        one, other = contents(wheel), contents(wheel_of(source, Path(folder)))
        if differing := sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name)):
            sys.exit(f"the wheel of the source distribution differs in {', '.join(differing)}")
    for distribution in (source, wheel):
        with tempfile.TemporaryDirectory() as folder:
            try_out(distribution, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
