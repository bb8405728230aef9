"""What the tests of the command line share: calling it in this process, and files to call it with."""

import json
import logging
import sys
from typing import NamedTuple

import pytest

from rankgauge.cli import call as _call

SAMPLES = (
    {"id": "q1", "expected_output": {"relevant": ["a"], "answer": "x"}, "actual_output": [{"id": "a", "text": "x"}]},
    {
        "id": "q2",
        "expected_output": {"relevant": ["a"], "answer": "x"},
        "actual_output": [{"id": "b", "text": "y"}, {"id": "a", "text": "x"}],
    },
)

CONFIG = """\
version: 1
datasets:
  mine:
    path: samples.jsonl
metrics:
  use: [MRR, retrieval-recall-at-k]
  sets:
    strict: [P@1]
    wide: [recall@7]
"""


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    def mean(self, name):
        return self.json["metrics"][name]["mean"]


@pytest.fixture(autouse=True)
def _as_found(tmp_path, monkeypatch):
    """Run in a folder of its own, and leave logging and the import path as they were."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delenv("RANKGAUGE_DISABLE_PLUGINS", raising=False)
    monkeypatch.setenv("RANKGAUGE_NO_PLUGINS", "1")
    root = logging.getLogger("rankgauge")
    before = (root.handlers[:], root.level)
    yield
    root.handlers[:], root.level = before[0], before[1]


@pytest.fixture
def rankgauge(capsys):
    """Return a function that calls the command line."""

    def call(*arguments, debug=False):
        capsys.readouterr()
        code = _call([str(argument) for argument in arguments], debug=debug)
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Done(code, out, err)

    return call


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file: a text, or rows as JSON lines."""

    def write_file(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else "".join(f"{json.dumps(row)}\n" for row in content)
        path.write_text(text, encoding="utf-8")
        return name

    return write_file


@pytest.fixture
def project(write):
    """Write a config with its data, and return the config's name."""
    write("samples.jsonl", SAMPLES)
    return write("rankgauge.yaml", CONFIG)
