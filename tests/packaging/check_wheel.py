"""
Build the wheel and run the tests against it, in an environment and a folder that the sources are no part of.

``make check-wheel`` runs it; what it is given are the folders of plugins whose wheels are installed, too.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from environments import Environment, build_wheel, plain_variables  # noqa: E402  # found by the line above

NEEDED = ("tests", "docs", "configs", "benchmarks", "plugins", ".ci", "pyproject.toml", "Makefile")


def main(plugins: list[str]) -> int:
    """Return the exit code of the tests."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        wheel = build_wheel(ROOT, root / "wheel")
        environment = Environment(root / "environment")
        environment.install(wheel)
        for number, plugin in enumerate(plugins):
            environment.install(build_wheel(ROOT / plugin, root / f"plugin-{number}"))
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
        tests = [str(environment.python), "-m", "pytest", "-n", "auto", "-q", "-p", "no:cacheprovider"]
        return subprocess.run(tests, cwd=project, env=variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
