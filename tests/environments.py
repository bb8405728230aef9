"""
Environments for tests of packages: wheels built from a project, and virtual environments that they are installed in.

An `Environment` downloads nothing: it borrows the dependencies of the one that runs the tests, by a path file, which
leads to them and (path files are not followed twice) not to what is installed there in editable form. `python_with`
installs what is asked for from the package index, for tests of what libraries write today.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path

__all__ = ["Environment", "build_wheel", "plain_variables", "python_with"]


def build_wheel(project: Path, folder: Path) -> Path:
    """
    Build the wheel of a project with the hatchling that is installed here.

    Args:
        project: The folder with its pyproject.toml.

        folder: Where the wheel is to be put.

    Returns:
        The wheel.

    """
    folder.mkdir(parents=True, exist_ok=True)
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    _checked(build, cwd=project)
    (wheel,) = folder.glob("*.whl")
    return wheel


class Environment:
    """A fresh virtual environment with the dependencies of this one, and none of its plugins."""

    def __init__(self, root: Path) -> None:
        """
        Make the environment.

        Args:
            root: Its folder.

        """
        venv.create(root, with_pip=False, symlinks=os.name != "nt")
        scheme = sysconfig.get_preferred_scheme("prefix")
        paths = sysconfig.get_paths(scheme, vars={"base": str(root), "platbase": str(root)})
        self.site = Path(paths["purelib"])
        self.scripts = Path(paths["scripts"])
        self.python = self.scripts / Path(sys.executable).name
        borrowed = [path for path in sys.path if Path(path).name in {"site-packages", "dist-packages"}]
        (self.site / "borrowed.pth").write_text("".join(f"{path}\n" for path in borrowed), encoding="utf-8")

    def install(self, wheel: Path) -> None:
        """Install a wheel and nothing else."""
        self._pip("install", "--no-deps", "--no-index", "--ignore-installed", str(wheel))

    def uninstall(self, distribution: str) -> None:
        """Uninstall a distribution."""
        self._pip("uninstall", "--yes", distribution)

    def run(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run the environment's Python with some arguments; whatever it exits with is returned."""
        command = [str(self.python), *arguments]
        return subprocess.run(command, cwd=cwd, env=plain_variables(), capture_output=True, text=True, check=False)

    def _pip(self, *arguments: str) -> None:
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "--disable-pip-version-check", "--quiet"]
        _checked([*pip, *arguments])


def python_with(requirements: Sequence[str], environment: Path) -> Path:
    """
    Return the Python of an environment that has some packages, which is made where it is not there.

    Args:
        requirements: The packages; uv installs them in a tenth of pip's time, where it is on the path.

        environment: The folder of the environment.

    Returns:
        The path of its Python.

    """
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    uv = shutil.which("uv")
    with_uv = [uv, "pip", "install", "--quiet", "--python", python, *requirements]
    if uv is None or subprocess.run(with_uv, check=False).returncode:
        subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True)
    return python


def _checked(command: list[str], cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, env=plain_variables(), capture_output=True, text=True, check=False)
    if done.returncode:
        msg = f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}"
        raise RuntimeError(msg)


def plain_variables() -> dict[str, str]:
    """Return the environment variables without those that change where Python looks, or which plugins count."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "RANKGAUGE_"))}
