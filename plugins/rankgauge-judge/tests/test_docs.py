"""The pages: commands that need an endpoint can be read by the command line, and the README names every command."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from rankgauge.commands import words
from rankgauge_judge import plugin
from rankgauge_judge.rubric import Rubric, read_rubric

ROOT = Path(__file__).parents[3]
README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "docs/how-to/judge-with-a-model.md"]
PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMMANDS = {
    words(name): getattr(plugin, target.partition(":")[2]).__rankgauge__
    for name, target in PROJECT["entry-points"]["rankgauge.commands"].items()
}


def typed():
    for page in PAGES:
        for line in re.findall(r"^\$ rankgauge (judge .*)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            parts = shlex.split(line)
            if " ".join(parts[:2]) in COMMANDS:
                yield parts


@pytest.mark.parametrize("parts", list(typed()), ids=" ".join)
def test_commands_on_pages_can_be_read(parts):
    from rankgauge.cli.option_parser import CommandParser

    name = " ".join(parts[:2])
    parser = CommandParser(name, COMMANDS[name].usage, "")
    COMMANDS[name].options(parser)
    given = vars(parser.read(parts[2:])).values()
    values = [each for value in given for each in (value if isinstance(value, list | tuple) else [value])]
    read = {f"{each:g}" if isinstance(each, float) else str(each) for each in values}
    assert [part for part in parts[2:] if not part.startswith("-") and part not in read] == []


def test_the_readme_names_every_command():
    assert [name for name in COMMANDS if f"`rankgauge {name} " not in README] == []


def test_the_rubric_of_the_page_is_one():
    (code,) = re.findall(r"^```json\n(.*?)^```$", PAGES[0].read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert Rubric.model_validate_json(code).allowed == "0, 1, 2"


def test_rubrics_that_ship_can_be_used_and_differ():
    rubrics = [read_rubric(name, [0, 1, 2, 3]) for name in ("graded", "binary")]
    assert [rubric.allowed for rubric in rubrics] == ["0, 1, 2, 3", "0, 1"]
    assert len({rubric.hash for rubric in rubrics}) == 2
