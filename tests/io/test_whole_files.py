"""Files that are written whole: never through a link, by any number of writers at once, and never half."""

import os
import subprocess
import sys
import threading

import pytest

from rankgauge.io.whole_files import replace_file, replacing

LEAVE = """\
import os, pathlib, sys
from rankgauge.io.whole_files import replacing
with replacing(pathlib.Path(sys.argv[1])) as file:
    os._exit(9)
"""


def test_names_of_parts_cannot_be_guessed_and_links_are_not_followed(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "urandom", bytes)
    (tmp_path / "victim").write_text("mine")
    part = tmp_path / f".page.html.{os.getpid()}.{bytes(8).hex()}.part"
    part.symlink_to(tmp_path / "victim")
    with pytest.raises(FileExistsError):
        replace_file(tmp_path / "page.html", b"page")
    assert (tmp_path / "victim").read_text() == "mine"


def test_many_threads_write_one_file_and_none_reads_a_half(tmp_path):
    path = tmp_path / "baseline.json"
    contents = [bytes([65 + number]) * 200_000 for number in range(8)]
    replace_file(path, contents[0])
    failures = []

    def work(content):
        try:
            for _ in range(10):
                replace_file(path, content)
                assert path.read_bytes() in contents
        except BaseException as error:  # noqa: BLE001  # checked below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [path.name for path in tmp_path.iterdir()] == ["baseline.json"]


@pytest.mark.usefixtures("process")
@pytest.mark.promise
def test_what_a_killed_writer_left_is_named_by_the_next(tmp_path, caplog):
    path = tmp_path / "page.html"
    assert subprocess.run([sys.executable, "-c", LEAVE, path], check=False).returncode == 9
    (left,) = tmp_path.iterdir()
    replace_file(path, b"page")
    assert f"{left} was left by a process that was killed" in caplog.text
    caplog.clear()
    left.unlink()
    with replacing(path) as file:
        file.write(b"x")
        replace_file(path, b"page")  # another writer at the same time is alive
    assert caplog.text == ""
