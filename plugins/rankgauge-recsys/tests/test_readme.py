"""The README: its Python runs, with the plugin whether it is installed or not, and it names every metric."""

from __future__ import annotations

import re
from pathlib import Path

import rankgauge_recsys
from rankgauge import Catalog, Engine
from rankgauge.plugin.metric import declared

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalog = Catalog.discover(own_only=True, plugins={"recsys": rankgauge_recsys})
    monkeypatch.setattr("rankgauge.Engine", lambda: Engine(catalog=catalog))
    (source,) = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    namespace = {}
    exec(compile(source, "README.md", "exec"), namespace)  # noqa: S102  # our own page

    assert namespace["result"]["hit@2"].mean == 1.0


def test_the_readme_names_every_metric():
    for function in rankgauge_recsys.rankgauge_metrics():
        assert f"`{declared(function).short[0]}@10`" in README
