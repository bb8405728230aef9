"""The disk cache: what it keeps, where, and that nothing it meets can do harm."""

import contextlib
import logging
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from draws import in_thorough_suite
from rankgauge_semantic.cache import DiskCache, cache_folder, open_cache

ONE = np.array([0.6, 0.8], dtype=np.float32)
TWO = np.array([1.0, -0.0], dtype=np.float32)


@pytest.fixture
def cache(tmp_path):
    return DiskCache(tmp_path / "deep" / "m.sqlite")


@pytest.fixture
def warnings(caplog):
    caplog.set_level(logging.WARNING, "rankgauge.semantic")
    return caplog


def kept(cache, *texts):
    return {text: vector.tolist() for text, vector in cache.get(texts).items()}


def test_what_was_put_comes_back_and_the_rest_does_not(cache):
    assert {} == kept(cache, "a")
    assert not cache.path.exists()  # asking makes nothing
    cache.put({"a": ONE, "ü\ud800": TWO})
    assert {"a": ONE.tolist(), "ü\ud800": TWO.tolist()} == kept(cache, "a", "b", "ü\ud800")
    cache.put({"a": TWO})
    assert {"a": TWO.tolist()} == kept(cache, "a")


def test_more_texts_than_one_query_takes(cache):
    cache.put({f"t{number}": ONE * number for number in range(1201)})
    found = cache.get([f"t{number}" for number in range(2000)])
    assert 1201 == len(found)
    assert (ONE * 1200).tolist() == found["t1200"].tolist()


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.6, 0.97])
def test_a_file_that_was_cut_short_is_no_more_than_lost(cache, share):
    texts = {f"text {number}": ONE * number for number in range(300)}
    cache.put(texts)
    whole = cache.path.read_bytes()
    cache.path.write_bytes(whole[: int(len(whole) * share)])
    for text, vector in cache.get(texts).items():
        assert texts[text].tolist() == vector.tolist()
    cache.put(texts)
    again = DiskCache(cache.path)
    again.get(texts)
    again.put(texts)
    assert {text: vector.tolist() for text, vector in texts.items()} == kept(again, *texts)


def test_a_file_that_is_no_database_is_set_aside_and_told_once(cache, warnings):
    cache.path.parent.mkdir()
    cache.path.write_bytes(b"this is no database, and it is long enough to be one " * 40)
    assert {} == kept(cache, "a")
    cache.put({"a": ONE})
    assert {"a": ONE.tolist()} == kept(cache, "a")
    assert ["m.damaged", "m.sqlite"] == sorted(path.name for path in cache.path.parent.iterdir())
    (message,) = warnings.messages
    assert "is damaged" in message
    assert str(cache.path) in message


@pytest.mark.parametrize("packed", [b"", b"1234", b"12345", "text", None, 5, b"\0\0\0\0" + ONE.tobytes()])
def test_a_damaged_row_is_computed_anew(cache, packed):
    cache.put({"a": ONE, "b": TWO})
    with contextlib.closing(sqlite3.connect(cache.path)) as connection, connection:
        connection.execute("CREATE TABLE other (key BLOB PRIMARY KEY, vector)")
        connection.execute("INSERT INTO other SELECT key, vector FROM vectors")
        connection.execute("DROP TABLE vectors")
        connection.execute("ALTER TABLE other RENAME TO vectors")
        connection.execute("UPDATE vectors SET vector = ? WHERE rowid = 1", (packed,))
    assert {"b": TWO.tolist()} == kept(cache, "a", "b")


def test_a_folder_that_cannot_be_made_costs_nothing_but_a_warning(tmp_path, warnings):
    (tmp_path / "file").write_text("")
    cache = DiskCache(tmp_path / "file" / "m.sqlite")
    cache.put({"a": ONE})
    assert {} == kept(cache, "a")
    (message,) = warnings.messages
    assert message.startswith("embeddings are not stored: ")


WRITER = """
import sys
import numpy as np
from pathlib import Path
from rankgauge_semantic.cache import DiskCache

cache = DiskCache(Path(sys.argv[1]))
who = int(sys.argv[2])
for step in range(20):
    cache.put({f"{who} {step}": np.array([who, step], dtype=np.float32), "shared": np.array([7, 7], dtype=np.float32)})
    assert f"{who} {step}" in cache.get([f"{who} {step}"])
"""


@in_thorough_suite()
def test_several_processes_write_at_once_and_nothing_is_lost(cache):
    command = [sys.executable, "-W", "error", "-c", WRITER, str(cache.path)]
    writers = [subprocess.Popen([*command, str(who)], stderr=subprocess.PIPE) for who in range(4)]
    assert [(b"", 0)] * 4 == [(writer.communicate()[1], writer.returncode) for writer in writers]
    wanted = {f"{who} {step}": [float(who), float(step)] for who in range(4) for step in range(20)}
    assert {**wanted, "shared": [7.0, 7.0]} == kept(cache, *wanted, "shared")


def test_the_folder_is_what_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("RANKGAUGE_SEMANTIC_CACHE", str(tmp_path / "here"))
    assert tmp_path / "here" == cache_folder()
    for off in ("off", "0", "", " OFF ", "no", "false"):
        monkeypatch.setenv("RANKGAUGE_SEMANTIC_CACHE", off)
        assert cache_folder() is None


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/rankgauge/semantic"),
        ("linux", {"HOME": "/h"}, "/h/.cache/rankgauge/semantic"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Caches/rankgauge/semantic"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/rankgauge/semantic"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="the paths are written for POSIX")
def test_else_it_is_where_caches_of_the_platform_are(monkeypatch, platform, variables, expected):
    for name in ("RANKGAUGE_SEMANTIC_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert Path(expected) == cache_folder()


def test_models_whose_names_look_alike_do_not_share_a_file():
    paths = {open_cache(model).path.name for model in ("a/b", "a b", "A-b", "x" * 90, "x" * 91)}
    assert 5 == len(paths)
