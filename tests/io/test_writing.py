"""Where files can be written, as far as it can be known before."""

import os
from pathlib import Path

import pytest

from rankgauge.io.whole_files import obstacle, replace_file


def test_what_stands_in_the_way_of_a_file_is_known_before_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert obstacle(tmp_path) == "it is a folder"
    assert obstacle(tmp_path / "file/b.json") == f"{tmp_path / 'file'} is not a folder"
    assert obstacle(tmp_path / "new/deep/b.json") == ""
    assert obstacle(tmp_path / "file") == ""  # it would be replaced


def test_no_file_takes_the_place_of_a_pipe_or_a_device(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "null").symlink_to(os.devnull)
    for path in (pipe, tmp_path / "null"):
        assert "it is a pipe, a socket or a device" in obstacle(path)
        with pytest.raises(OSError, match="it is a pipe, a socket or a device"):
            replace_file(path, b"text")
    assert pipe.is_fifo()
    assert (tmp_path / "null").is_symlink()
