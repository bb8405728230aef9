"""
Saving, with a fault at every moment: a process that makes one in each of its children, and resumes what they leave.

Each line that it prints is one fault: what it was, how the run and the resumed run ended, and how often each sample was
paid for. The children are forked before anything of polars was used, so that each takes a tenth of a second.
"""

import errno
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl  # noqa: F401  # loaded, and not used yet; `QUIET` spares it threads

from rankgauge import cli, result  # noqa: F401  # loads what the children need
from rankgauge.cli import dataset_scores, log_lines, result_folders, run_command  # noqa: F401
from rankgauge.engine import engine, evaluation, job  # noqa: F401
from rankgauge.report import json as json_report  # noqa: F401
from rankgauge.result import folder_writer  # noqa: F401
from rankgauge.scoring import sut  # noqa: F401

SAMPLES = 5
CALLING = ["run", "--data", "s.jsonl", "-m", "RR", "--concurrency", "2", "--sut", "paid.py:search"]
SUT = """\
import os

def search(given):
    descriptor = os.open(os.environ["PAID"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, b"%d\\n" % given)
    os.close(descriptor)
    return [{"id": "a", "text": "x" * 700}]
"""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def is_of_result(path):
    """Return whether a path is of the result that is being saved, or of what becomes it."""
    return isinstance(path, str) and any(part == "out" or part.startswith(".out.") for part in Path(path).parts)


class Fault:
    """Counts changes of the result on the disk; at one of them the disk is full, once or from then on, or a kill."""

    def __init__(self, kind, at):
        self.kind, self.at, self.count = kind, at, 0

    def install(self):
        if self.kind == "bytes":  # no file may have more
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.at, resource.RLIM_INFINITY))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            return
        sync = os.fsync

        def fsync(descriptor):
            self.step()
            sync(descriptor)

        os.fsync = fsync
        sys.addaudithook(self.hook)

    def hook(self, event, arguments):
        if event == "open":
            path, _, flags = arguments
            changes = isinstance(flags, int) and flags & _WRITING and is_of_result(path)
        else:
            names = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate"}
            changes = event in names and is_of_result(os.fspath(arguments[0]) if arguments else None)
        if changes:
            self.step()

    def step(self):
        self.count += 1
        if self.count == self.at or (self.kind == "full" and self.count > self.at):
            if self.kind == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(errno.ENOSPC, "No space left on device")


def called(arguments, folder, fault=None):
    """Run the command line in a child; return its exit code, what it said, and whether the fault came."""
    came = folder / "came"
    came.unlink(missing_ok=True)
    reading, writing = os.pipe()  # a file would have the limit of a fault
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os.chdir(folder)
        os.environ |= {"PAID": str(folder / "paid"), "TMPDIR": str(folder)}
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        if fault is not None:
            fault.install()
        code = cli.call(arguments)
        if fault is not None and fault.kind != "bytes" and fault.count >= fault.at:
            came.touch()
        os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code, told, came.exists() or code < 0


def prepared(folder, *, resumes):
    """Make a folder with samples and a system; with a run of some samples to go on with, which is made once."""
    shutil.rmtree(folder, ignore_errors=True)
    made = folder.with_name("made")
    if made.exists():
        shutil.copytree(made, folder)
        return
    folder.mkdir()
    rows = ({"id": f"q{n}", "input": n, "expected_output": ["a"]} for n in range(SAMPLES))
    (folder / "s.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "paid.py").write_text(SUT)
    if resumes:
        code, told, _ = called([*CALLING, "-o", "out", "--limit", "2"], folder)
        assert code == 0, told
    shutil.copytree(folder, made)


def tried(folder, kind, at, options, *, resumes):
    """Make one fault, resume, and return what came of it; None where the run was over before."""
    prepared(folder, resumes=resumes)
    arguments = [*CALLING, "-o", "out", *options]
    first, told, came = called([*arguments, *(["--resume", "out"] if resumes else [])], folder, Fault(kind, at))
    if not came and (kind != "bytes" or first == 0):
        return None
    appended = re.search(r"`(cat \S+ >> \S+)`", told)
    if appended:
        subprocess.run(["/bin/bash", "-c", appended[1]], check=True, cwd=folder)
    if "went to standard error" in told:
        (place,) = re.findall(r"append these lines to (\S+)", told)
        with Path(place).open("a") as file:
            file.writelines(line + "\n" for line in told.splitlines() if line.startswith('{"id"'))
    advised = re.search(r"go on with (?:them|it): --resume (\S+?)(?:,|$)", told, re.MULTILINE)
    left = [path.name for path in folder.iterdir() if path.name.endswith(".partial")]
    second, said = 0, ""
    if first != 0 or resumes:
        has_outputs = any((folder / name / "outputs.jsonl").exists() for name in [*left, "out"])
        place = advised[1] if advised else "out"
        second, said, _ = called([*arguments, *(["--resume", place] if has_outputs else [])], folder)
    paid = (folder / "paid").read_text().split()
    return {
        "fault": [kind, at, *options],
        "first": first,
        "second": second,
        "paid": {name: paid.count(name) for name in sorted(set(paid))},
        "rows": len((folder / "out" / "outputs.jsonl").read_text().splitlines()) if (folder / "out").exists() else 0,
        "left": sorted(path.name for path in folder.iterdir() if path.name.startswith(".")),
        "told": told,
        "said": said,
    }


if __name__ == "__main__":
    work, kind, resumes, *options = sys.argv[1:]
    step = 300 if kind == "bytes" else 1
    for turn in range(0 if kind == "bytes" else 1, 200):
        outcome = tried(Path(work) / "work", kind, turn * step, options, resumes=resumes == "resumes")
        if outcome is None:
            break
        print(json.dumps(outcome), flush=True)
