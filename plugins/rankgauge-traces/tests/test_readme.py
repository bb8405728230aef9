"""The README names every command."""

import tomllib
from pathlib import Path

import pytest

from rankgauge.commands import words
from rankgauge_traces import plugin

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMMANDS = {
    words(name): getattr(plugin, target.partition(":")[2]).__rankgauge__
    for name, target in PROJECT["entry-points"]["rankgauge.commands"].items()
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_readme_names_a_command(name):
    assert f"`rankgauge {name} " in README
