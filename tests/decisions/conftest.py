"""The default command, over a known collection."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from decisions.collection import DATASET
from rankgauge.cli import call


class Printed(NamedTuple):
    code: int
    text: str  # both streams, with single blanks
    out: str


@pytest.fixture
def rankgauge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Printed]:
    """Return a function that calls the command line in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RANKGAUGE_NO_PLUGINS", "1")

    def command(*arguments: object) -> Printed:
        capsys.readouterr()
        code = call([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Printed(code, " ".join((out + err).split()), out)

    return command


@pytest.fixture
def scored(rankgauge: Callable[..., Printed], tmp_path: Path) -> Callable[..., Printed]:
    """Return a function that scores outputs by the default command, into a folder of that name."""

    def run(name: str, outputs: Mapping[str, Any], *metrics: str, data: Sequence[Any] | None = None) -> Printed:
        lines = [json.dumps({"id": at, "actual_output": output}) for at, output in outputs.items()]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
        dataset: Path = DATASET
        if data is not None:
            dataset = tmp_path / f"{name}.data.jsonl"
            dataset.write_text("\n".join(map(json.dumps, data)), encoding="utf-8")
        asked = [part for metric in metrics for part in ("-m", metric)]
        return rankgauge("run", "--data", dataset, "--outputs", f"{name}.jsonl", *asked, "-o", name)

    return run
