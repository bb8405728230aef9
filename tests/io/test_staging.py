"""Staging folders: complete or absent, in use or left behind."""

from __future__ import annotations

import errno
import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

from rankgauge.cli import call
from rankgauge.errors import ResultError
from rankgauge.io.kept_outputs import OutputsFile
from rankgauge.result.staging import Staging, abandoned, has_outputs, is_in_use, is_staging
from rankgauge.samples import KeptOutput

LEAVE = """\
import os, pathlib, sys
from rankgauge.result.staging import Staging
staging = Staging(pathlib.Path(sys.argv[1]))
staging.outputs.write_text("{}\\n")
os._exit(9)
"""

FORK = """\
import os, pathlib, sys
from rankgauge.result.staging import Staging
staging = Staging(pathlib.Path(sys.argv[1]))
reading, writing = os.pipe()
if os.fork() == 0:
    staging.discard()  # it is not the child's to remove
    os.write(writing, b"x")
    os.close(writing)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdin.read()
os.read(reading, 1)
assert staging.path.exists()
print("forked", flush=True)
os._exit(9)
"""

RESULT = b'{"schema_version": "rankgauge.result.v1"}'


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_finished_folder_takes_its_place_and_nothing_stays(tmp_path):
    staging = Staging(tmp_path / "deep" / "out")
    assert is_staging(staging.path)
    assert is_in_use(staging.path)
    assert staging.finish({"a.txt": b"1", "b.txt": b"2"}) == tmp_path / "deep" / "out"
    assert names(tmp_path / "deep") == ["out"]
    assert names(tmp_path / "deep" / "out") == ["a.txt", "b.txt"]


def test_a_discarded_folder_takes_the_folders_above_it_along(tmp_path):
    (tmp_path / "there").mkdir()
    staging = Staging(tmp_path / "there" / "new" / "newer" / "out")
    assert staging.discard() is None
    assert names(tmp_path) == ["there"]
    assert names(tmp_path / "there") == []


def test_a_folder_with_outputs_is_left_and_named(tmp_path):
    staging = Staging(tmp_path / "out")
    file = OutputsFile(staging.outputs)
    file.add("q1", KeptOutput(["a"]))
    file.close()
    assert staging.discard() == staging.path
    assert has_outputs(staging.path)
    assert abandoned(tmp_path, "out") == [staging.path]


def test_a_folder_is_replaced_only_when_the_new_one_is_whole(tmp_path):
    Staging(tmp_path / "out").finish({"manifest.json": RESULT, "report.md": b"old"})
    staging = Staging(tmp_path / "out", replaces=True)
    with pytest.raises(OSError, match="no/such"):
        staging.finish({"no/such/folder.txt": b""})
    assert names(tmp_path / "out") == ["manifest.json", "report.md"]
    staging.discard()
    Staging(tmp_path / "out", replaces=True).finish({"new.txt": b"new"})
    assert names(tmp_path / "out") == ["new.txt"]
    assert names(tmp_path) == ["out"]


def test_what_rankgauge_did_not_write_is_named_and_never_removed(tmp_path):
    Staging(tmp_path / "out").finish({"manifest.json": RESULT})
    for name in ("notes.md", "samples.txt", "z"):
        (tmp_path / "out" / name).write_text("mine")
    with pytest.raises(ResultError, match=r"holds notes\.md, samples\.txt, z, which rankgauge did not write"):
        Staging(tmp_path / "out", replaces=True)
    staging = Staging(tmp_path / "new", replaces=True)
    (staging.path / "notes.md").write_text("mine")
    staging.discard()
    assert names(staging.path) == ["notes.md"]


def test_what_appears_in_a_result_while_its_successor_is_made_stays(tmp_path):
    Staging(tmp_path / "out").finish({"manifest.json": RESULT})
    staging = Staging(tmp_path / "out", replaces=True)
    (tmp_path / "out" / "notes.md").write_text("mine")
    with pytest.raises(ResultError, match=r"it holds notes\.md"):
        staging.finish({"manifest.json": RESULT})
    assert names(tmp_path / "out") == ["manifest.json", "notes.md"]


def test_a_result_whose_replacement_was_killed_between_two_renames_comes_back(tmp_path):
    Staging(tmp_path / "out").finish({"manifest.json": RESULT})
    (tmp_path / "out").rename(tmp_path / ".out.0123456789ab.replaced")
    staging = Staging(tmp_path / "out", replaces=True)
    assert names(tmp_path / "out") == ["manifest.json"]
    staging.discard()
    assert names(tmp_path) == ["out"]


@pytest.mark.usefixtures("process")
@pytest.mark.promise
def test_one_process_holds_a_target_and_its_children_do_not(tmp_path):
    staging = Staging(tmp_path / "out")
    with pytest.raises(ResultError, match="another process is at work there"):
        Staging(tmp_path / "out")
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", FORK, tmp_path / "other"], stdin=pipe, stdout=pipe, text=True
    ) as child:
        assert child.stdout.readline() == "forked\n"
        child.wait()
        Staging(tmp_path / "other").discard()  # though the child of that process lives on
    staging.discard()


def test_without_locks_a_folder_is_saved_and_a_line_says_so(tmp_path, monkeypatch, caplog):
    def unlocked(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    assert Staging(tmp_path / "locked").sees_others
    monkeypatch.setattr(fcntl, "flock", unlocked)
    staging = Staging(tmp_path / "out")
    assert not staging.sees_others
    staging.finish({"a.txt": b"1"})
    assert (tmp_path / "out" / "a.txt").exists()
    assert "has no locks: make sure that no other process writes there" in caplog.text


def test_without_locks_nothing_of_a_run_that_may_go_on_is_said_to_be_free(tmp_path, monkeypatch, capsys):
    def unlocked(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unlocked)
    monkeypatch.chdir(tmp_path)
    Path("s.jsonl").write_text('{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}\n')
    running = Staging(tmp_path / "out")  # as another process has it
    assert call(["run", "--data", "s.jsonl", "-m", "RR", "-o", "out"]) == 0
    err = capsys.readouterr().err
    assert "was left by a run that was killed or goes on, which cannot be seen here" in err
    assert "delete it if no run is at work there" in err
    assert running.path.is_dir()


@pytest.mark.parametrize("name", ["file", "full"])
def test_a_target_with_something_in_it_is_refused(tmp_path, name):
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note").write_text("")
    with pytest.raises(ResultError, match="choose another"):
        Staging(tmp_path / name)
    assert names(tmp_path) == ["file", "full"]


def test_a_target_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultError, match="cannot save to"):
        Staging(tmp_path / "file" / "out")


def test_the_longest_possible_name_has_a_staging_folder(tmp_path):
    assert Staging(tmp_path / ("é" * 120)).finish({}).is_dir()  # 240 bytes


@pytest.mark.usefixtures("process")
def test_only_what_a_dead_process_has_left_counts_as_left(tmp_path):
    assert subprocess.run([sys.executable, "-c", LEAVE, tmp_path / "out"], check=False).returncode == 9
    (left,) = abandoned(tmp_path, "out")
    assert abandoned(tmp_path) == [left]
    assert abandoned(tmp_path, "other") == []
    own = Staging(tmp_path / "out")
    assert own.left_behind() == [left]
    assert abandoned(tmp_path) == []
    own.discard()


class TestOutputsFile:
    def lines(self, path: Path) -> list[bytes]:
        return path.read_bytes().splitlines(keepends=True)

    def test_a_line_that_is_cut_off_is_removed_before_others_are_added(self, tmp_path):
        path = tmp_path / "outputs.jsonl"
        path.write_bytes(b'{"id":"q1"}\n{"id":"q')
        file = OutputsFile(path)
        file.add("q2", KeptOutput(["a"]))
        file.close()
        assert self.lines(path) == [b'{"id":"q1"}\n', b'{"id":"q2","actual_output":["a"],"attempt":1}\n']

    def test_a_line_longer_than_a_block_is_removed_too(self, tmp_path):
        path = tmp_path / "outputs.jsonl"
        path.write_bytes(b'{"id":"q1"}\n' + b"x" * 200_000)
        OutputsFile(path).close()
        assert self.lines(path) == [b'{"id":"q1"}\n']

    def test_a_file_of_one_cut_line_is_empty(self, tmp_path):
        path = tmp_path / "outputs.jsonl"
        path.write_bytes(b'{"id":')
        OutputsFile(path).close()
        assert path.read_bytes() == b""
