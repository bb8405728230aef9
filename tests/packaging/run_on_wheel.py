"""
Build the wheels and run pytest against them, in an environment and a folder that no source is part of.

``make test WHEEL=1`` and ``make test-thorough WHEEL=1`` run it; its arguments are pytest's.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from environments import Environment, build_wheel, plain_variables  # noqa: E402  # found by the line above

_FILES = ("action.yml", "conftest.py", "mkdocs.yml", "pyproject.toml", "Makefile")
NEEDED = ("tests", "docs", "configs", "benchmarks", "design", "plugins", ".ci", *_FILES)


def main(arguments: list[str]) -> int:
    """Return pytest's exit code."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        wheel = build_wheel(ROOT, root / "wheel")
        environment = Environment(root / "environment")
        environment.install(wheel)
        for plugin in sorted(ROOT.glob("plugins/*/pyproject.toml")):
            if (plugin.parent / "setup.py").exists():  # it is compiled, and `make test-fast` tests it
                continue
            environment.install(build_wheel(plugin.parent, root / plugin.parent.name))
        project = root / "project"
        project.mkdir()
        for path in [*map(ROOT.joinpath, NEEDED), *ROOT.glob("*.md")]:
            if path.is_dir():
                shutil.copytree(path, project / path.name, ignore=shutil.ignore_patterns("__pycache__"))
            elif path.exists():
                shutil.copy(path, project)
        found = environment.run("-c", "import rankgauge; print(rankgauge.__file__)", cwd=project).stdout.strip()
        if Path(found).resolve() != (environment.site / "rankgauge" / "__init__.py").resolve():
            sys.exit(f"the tests would run against {found or 'nothing'}, which is not the wheel")
        sys.stderr.write(f"testing {wheel.name} in {found}\n")
        variables = {**plain_variables(), "RANKGAUGE_TEST_WHEEL": str(wheel)}
        command = [str(environment.python), "-m", "pytest", "-p", "no:cacheprovider"]
        command += [
            "-o",
            "pythonpath=tests plugins/rankgauge-systems/tests",
            *arguments,
        ]  # plugins come from their wheels, too
        return subprocess.run(command, cwd=project, env=variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
