"""
Distributions written by hand: a ``.dist-info`` folder and modules, put on `sys.path`; nothing is installed.
"""

import importlib
import re
import shutil
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

__all__ = ["METRIC_LINE", "FakePlugins", "metric_module"]

METRIC_LINE = 5
"""The line on which the metric of `metric_module` begins, its decorator included."""

_METRIC = '''\
"""A plugin with one metric."""

from rankgauge.plugin import hookimpl, sample_metric

@sample_metric({alias!r}, short={short!r})
def measure(ranking):
    """Count what was retrieved."""
    return float(ranking.depth > 0)

@hookimpl
def rankgauge_metrics():
    return [measure]
'''


def metric_module(alias: str, *, short: tuple[str, ...] = ()) -> str:
    """Return the text of a module that declares one metric, on line `METRIC_LINE`."""
    return _METRIC.format(alias=alias, short=short)


class FakePlugins:
    """Puts distributions on `sys.path` for the length of a test."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._root = root
        self._monkeypatch = monkeypatch
        self._modules: list[str] = []

    def add(
        self,
        distribution: str,
        source: str,
        *,
        version: str = "1.0",
        points: Mapping[str, str] | None = None,
        commands: Mapping[str, str] | None = None,
        metadata: bool = True,
    ) -> Path:
        """
        Add a distribution with one module.

        Args:
            distribution: Its name as its author spells it.

            source: The text of its module, indented as one likes.

            version: Its version.

            points: What its entry points say by their names, ``{module}`` standing for the module; by default one
                called ``main`` that says the module, or none if there are commands.

            commands: The same of the group ``rankgauge.commands``.

            metadata: Whether to write its METADATA.

        Returns:
            The file of the module.

        """
        place = len(self._modules)
        site = self._root / f"site-{place}"
        module = f"fake_plugin_{place}"
        info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        if metadata:
            text = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
            (info / "METADATA").write_text(text, encoding="utf-8")
        if points is None and commands is None:
            points = {"main": "{module}"}
        lines = []
        for group, own in (("rankgauge", points or {}), ("rankgauge.commands", commands or {})):
            lines += [f"[{group}]", *(f"{name} = {target.format(module=module)}" for name, target in own.items()), ""]
        (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
        file = site / f"{module}.py"
        file.write_text(textwrap.dedent(source), encoding="utf-8")
        self._modules.append(module)
        self._monkeypatch.syspath_prepend(str(site))
        return file

    def uninstall(self, file: Path) -> None:
        """Take the distribution away that `add` returned the module of; the module itself stays loaded."""
        for info in file.parent.glob("*.dist-info"):
            shutil.rmtree(info)
        importlib.invalidate_caches()  # which include folders' listings by time, and times are coarse

    def upgrade(self, file: Path, version: str) -> None:
        """Give the distribution that `add` returned the module of another version."""
        for info in file.parent.glob("*.dist-info"):
            metadata = info / "METADATA"
            text = metadata.read_text(encoding="utf-8")
            metadata.write_text(re.sub(r"(?m)^Version: .*$", f"Version: {version}", text), encoding="utf-8")
            info.rename(info.with_name(f"{info.name.partition('-')[0]}-{version}.dist-info"))
        importlib.invalidate_caches()

    def forget(self) -> None:
        """Take the modules out of `sys.modules`, so that the next test can have modules of these names."""
        for module in self._modules:
            sys.modules.pop(module, None)
