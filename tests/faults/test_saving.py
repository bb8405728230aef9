"""Saving with a fault at every moment: what was paid for is there, and the same command with ``--resume`` goes on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from child_processes import variables
from draws import in_thorough_suite

SAVING = Path(__file__).with_name("saving.py")
QUIET = {
    "OPENBLAS_NUM_THREADS": "1",
    "_RJEM_MALLOC_CONF": "background_thread:false",
    "PYTHONDONTWRITEBYTECODE": "1",  # Python would keep the half of it that fits
}
IDS = ["0", "1", "2", "3", "4"]

pytestmark = [pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"), pytest.mark.usefixtures("process")]


@pytest.mark.parametrize(
    ("kind", "begins", "least"),
    [
        ("once", "fresh", 30),  # one step finds no room
        ("full", "resumes", 40),  # from one step on there is no room
        ("kill", "resumes", 40),
        ("bytes", "fresh", 8),  # no file may be longer
    ],
)
@in_thorough_suite()
def test_whatever_fails_when_nothing_is_paid_for_twice_and_the_result_is_complete(tmp_path, kind, begins, least):
    quiet = ["-W", "ignore:This process:DeprecationWarning"]  # a thread that polars starts when it is loaded
    line = [sys.executable, *quiet, SAVING, tmp_path, kind, begins, "--keep-data"]
    done = subprocess.run(line, env=variables(**QUIET), capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    outcomes = [json.loads(outcome) for outcome in done.stdout.splitlines()]
    assert len(outcomes) >= least
    for outcome in outcomes:
        assert outcome["second"] == 0, outcome
        assert outcome["paid"] == dict.fromkeys(IDS, 1), outcome
        assert outcome["rows"] == len(IDS), outcome
        assert "internal error" not in outcome["told"] + outcome["said"], outcome
