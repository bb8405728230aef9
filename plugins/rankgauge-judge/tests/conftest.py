"""What the tests share: a queue, and the command line in this process."""

import json
from typing import NamedTuple

import pytest

from rankgauge.cli import call

HEADER = {
    "schema_version": "rankgauge.queue.v1",
    "judgments": "sha256:abc",
    "grades": [0, 1, 2, 3],
    "guideline": "How well?",
}


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def _surroundings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RANKGAUGE_JUDGE_ANSWERS", str(tmp_path / "answers.jsonl"))
    monkeypatch.delenv("RANKGAUGE_JUDGE_KEY", raising=False)
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def rankgauge(capsys):
    """Return a function that calls the command line in this process."""

    def run(*arguments):
        code = call([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return run


@pytest.fixture
def write_queue(tmp_path):
    """Return a function that writes a queue of documents, of one query where no other is given."""

    def write(*documents, name="q.jsonl", **header):
        rows = [
            {"query": "q1", "query_text": "how tall is it", "document": f"d{number}", "grade": None, "judge": None}
            | (document if isinstance(document, dict) else {"document_text": document})
            for number, document in enumerate(documents, 1)
        ]
        lines = [json.dumps(row) for row in [HEADER | header, *rows]]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return tmp_path / name

    return write
