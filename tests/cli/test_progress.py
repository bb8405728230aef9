"""Progress bars: on a terminal, of work that takes long, and nowhere else."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import subprocess
import sys

import pytest

SCRIPT = """
import sys, time
from rankgauge.cli.console import in_steps, progress_bar
now = [0.0]
time.monotonic = lambda: now[0]
for item in in_steps("reading [b]\x1b[2J", list(range(4))):
    now[0] += {pace}
    print("step", item)
with progress_bar("idle", wanted=False) as report:
    print(report)
"""


def shown(pace):
    """Return what a script prints to stdout, and what to a terminal on stderr."""
    main, end = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR"}}
    environment |= {"TERM": "xterm", "COLUMNS": "120"}
    script = [sys.executable, "-c", SCRIPT.replace("{pace}", pace)]
    with subprocess.Popen(script, stdout=subprocess.PIPE, stderr=end, env=environment, text=True) as process:
        os.close(end)
        parts = []
        with contextlib.suppress(OSError):  # the end of it, on Linux
            while part := os.read(main, 65536):
                parts.append(part)
        out = process.stdout.read()
    os.close(main)
    assert process.returncode == 0
    return out, b"".join(parts).decode()


STEPS = "step 0\nstep 1\nstep 2\nstep 3\nNone\n"


@pytest.mark.usefixtures("process")
@pytest.mark.promise
def test_long_work_shows_what_is_done_the_rate_and_the_time_left():
    """Four steps of two seconds each."""
    out, err = shown("2.0")
    text = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", err)
    assert out == STEPS
    assert "reading [b]\\x1b[2J" in text
    assert "\x1b[2J" not in err
    assert "/4" in text
    assert "0.5/s" in text
    assert "left" in text


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("pace", ["0.0", "0.12"])
def test_short_work_shows_nothing(pace):
    assert shown(pace) == (STEPS, "")


@pytest.mark.parametrize("command", [["compare"], ["report"]])
def test_nothing_is_shown_where_stderr_is_no_terminal(rankgauge, write, command, tmp_path):
    write("samples.jsonl", [{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}])
    for name in ("one", "two"):
        rankgauge("run", "--data", "samples.jsonl", "-m", "rr", "-o", name)
    done = rankgauge(*command, "one", "two")
    assert (done.code, "left" in done.err, "\x1b" in done.err) == (0, False, False)
