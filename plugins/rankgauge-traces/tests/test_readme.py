"""The pages: the README and the command-line reference name every command and option."""

import argparse
import tomllib
from pathlib import Path

import pytest

from rankgauge.commands import words
from rankgauge_traces import plugin

ROOT = Path(__file__).parents[3]
README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs/reference/command-line.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMMANDS = {
    words(name): getattr(plugin, target.partition(":")[2]).__rankgauge__
    for name, target in PROJECT["entry-points"]["rankgauge.commands"].items()
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_readme_names_a_command(name):
    assert f"`rankgauge {name} " in README


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_has_the_options_of_a_command(name):
    parser = argparse.ArgumentParser(add_help=False)
    COMMANDS[name].options(parser)
    _, _, section = REFERENCE.partition("\n## `traces read`")
    section = section.partition("\n## ")[0]
    table = section.partition(f"| option of `{name}` |")[2].partition("\n\n")[0]
    options = {option for action in parser._actions for option in action.option_strings if option.startswith("--")}
    assert [option for option in sorted(options) if f"`{option}" not in table] == []
