"""How users of the pytest plugin hand samples over: a test logs them, and the session's report has their scores."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import NamedTuple

import yaml

from rankgauge.expression import safe_name

TEST = """
import json
from pathlib import Path

import pytest

SAMPLES = json.loads(Path(__file__).with_name("samples.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample["id"] for sample in SAMPLES])
def test_retrieval(sample, rankgauge_eval):
    rankgauge_eval.log(sample)
"""


class Pytest(NamedTuple):
    cannot_say: frozenset[str] = frozenset()

    def scores(self, samples, metrics, arguments, folder):
        project = folder / "project"
        project.mkdir()
        (project / "samples.json").write_text(json.dumps(samples), encoding="utf-8")
        (project / "test_retrieval.py").write_text(TEST, encoding="utf-8")
        config = arguments.get("config") or project / "rankgauge.yaml"
        if "config" not in arguments:
            defaults = {"default_k": arguments["k"]}
            settings = {"version": 1, "metrics": {"retrieval": defaults}, "policy": arguments["policy"]}
            config.write_text(yaml.safe_dump(settings), encoding="utf-8")
        wanted = [part for metric in metrics for part in ("--rankgauge-metric", metric)]
        options = ["-q", "-p", "no:cacheprovider", "--rankgauge-config", str(config), "--rankgauge-json", "out.json"]
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                *options,
                *wanted,
                "-c",
                "/dev/null",
                "--rootdir",
                str(project),
                str(project),
            ],
            cwd=project,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        rows = json.loads((project / "out.json").read_text(encoding="utf-8"))["per_sample"]
        return {
            row["sample_id"]: {safe_name(name): found["score"] for name, found in row["scores"].items()} for row in rows
        }


DRIVERS = {"pytest": Pytest()}
