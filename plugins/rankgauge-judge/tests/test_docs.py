"""The pages: commands that need an endpoint can be read by the command line, and the README names every command."""

import re
import shlex
from pathlib import Path

import pytest

from rankgauge_judge import plugin
from rankgauge_judge.rubric import Rubric, read_rubric

ROOT = Path(__file__).parents[3]
README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "docs/how-to/judge-with-a-model.md"]
COMMANDS = {function.__rankgauge__.name: function.__rankgauge__ for function in plugin.rankgauge_commands()}


def typed():
    for page in PAGES:
        for line in re.findall(r"^\$ rankgauge (judge .*)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            words = shlex.split(line)
            if " ".join(words[:2]) in COMMANDS:
                yield words


@pytest.mark.parametrize("words", list(typed()), ids=" ".join)
def test_commands_on_pages_can_be_read(words):
    from rankgauge.cli.option_parser import CommandParser

    command = COMMANDS[" ".join(words[:2])]
    parser = CommandParser(command.name, command.usage, "")
    command.options(parser)
    parser.read(words[2:])


def test_the_readme_names_every_command():
    assert [name for name in COMMANDS if f"`rankgauge {name} " not in README] == []


def test_the_rubric_of_the_page_is_one():
    (code,) = re.findall(r"^```json\n(.*?)^```$", PAGES[0].read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert Rubric.model_validate_json(code).allowed == "0, 1, 2"


def test_rubrics_that_ship_can_be_used_and_differ():
    rubrics = [read_rubric(name, [0, 1, 2, 3]) for name in ("graded", "binary")]
    assert [rubric.allowed for rubric in rubrics] == ["0, 1, 2, 3", "0, 1"]
    assert len({rubric.hash for rubric in rubrics}) == 2
