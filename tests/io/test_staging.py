"""Staging folders: complete or absent, in use or left behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rankgauge.errors import ResultError
from rankgauge.io.output_files import OutputsFile
from rankgauge.result.staging import Staging, abandoned, has_outputs, is_in_use, is_staging
from rankgauge.samples import KeptOutput

LEAVE = """\
import os, pathlib, sys
from rankgauge.result.staging import Staging
staging = Staging(pathlib.Path(sys.argv[1]))
staging.outputs.write_text("{}\\n")
os._exit(9)
"""


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
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old.txt").write_text("old")
    staging = Staging(tmp_path / "out", replaces=True)
    with pytest.raises(OSError, match="no/such"):
        staging.finish({"no/such/folder.txt": b""})
    assert names(tmp_path / "out") == ["old.txt"]
    staging.discard()
    Staging(tmp_path / "out", replaces=True).finish({"new.txt": b"new"})
    assert names(tmp_path / "out") == ["new.txt"]
    assert names(tmp_path) == ["out"]


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


def test_only_what_a_dead_process_has_left_counts_as_left(tmp_path):
    own = Staging(tmp_path / "out")
    assert subprocess.run([sys.executable, "-c", LEAVE, tmp_path / "out"], check=False).returncode == 9
    (left,) = abandoned(tmp_path, "out")
    assert left != own.path
    assert abandoned(tmp_path) == [left]
    assert abandoned(tmp_path, "other") == []
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
