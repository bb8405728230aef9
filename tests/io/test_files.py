import gzip
import os
import socket
from pathlib import Path

import pytest
import zstandard

from rankgauge.errors import UnreadableError
from rankgauge.io.files import digest, is_regular, is_there, open_file, plain_suffix


def content(path):
    with open_file(path) as source:
        return source.stream.read()


def refusal(path):
    with pytest.raises(UnreadableError) as caught:
        content(path)
    (problem,) = caught.value.problems
    assert str(path) == problem.file
    return problem.message


def test_a_plain_file_is_read_as_it_is(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\r\ntwo")
    assert content(path) == b"one\r\ntwo"
    with open_file(path) as source:
        assert (str(path), str(path)) == (source.name, source.path)


@pytest.mark.parametrize(
    ("suffix", "compress"), [(".gz", gzip.compress), (".zst", zstandard.compress), (".GZ", gzip.compress)]
)
def test_compressed_files_are_decompressed_by_their_ending(tmp_path, suffix, compress):
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(compress(b"one\n" * 100_000))
    assert content(path) == b"one\n" * 100_000
    with open_file(path) as source:
        assert source.path is None


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".zst", zstandard.compress)])
def test_compressed_files_may_have_several_frames(tmp_path, suffix, compress):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(compress(b"one\n") + compress(b"two\n"))
    assert content(path) == b"one\ntwo\n"


@pytest.mark.parametrize(("suffix", "compress"), [("", bytes), (".gz", gzip.compress), (".zst", zstandard.compress)])
def test_a_byte_order_mark_is_taken_off(tmp_path, suffix, compress):
    path = tmp_path / f"a.json{suffix}"
    path.write_bytes(compress(b"\xef\xbb\xbf{}"))
    assert content(path) == b"{}"


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"\xef"])
def test_files_shorter_than_a_byte_order_mark_are_fine(tmp_path, data):
    path = tmp_path / "a.json"
    path.write_bytes(data)
    assert data.removeprefix(b"\xef\xbb\xbf") == content(path)


def test_a_missing_file_is_refused_with_a_look_at_its_folder(tmp_path):
    (tmp_path / "other.jsonl").touch()
    message = refusal(tmp_path / "a.jsonl")
    assert "no such file" in message
    assert "other.jsonl" in message


def test_standard_input_is_refused_as_what_it_is():
    assert "standard input can be a run or judgments" in refusal(Path("-"))


def test_a_missing_folder_is_refused(tmp_path):
    assert "no such file" in refusal(tmp_path / "nowhere" / "a.jsonl")


def test_a_directory_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "a.jsonl"
    path.mkdir()
    assert refusal(path) == "this is a directory; name a file in it"


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        pytest.param(".gz", gzip.compress(b"some text " * 1000)[:-20], id="gzip, cut off"),
        pytest.param(".gz", b"this is not compressed", id="gzip, plain text"),
        pytest.param(".gz", gzip.compress(b"x" * 99)[:12] + b"\xff\xff\xff\xff\xff\xff\xff\xff", id="gzip, damaged"),
        pytest.param(".zst", b"this is not compressed", id="zstd, plain text"),
        pytest.param(".zst", zstandard.compress(bytes(range(256)) * 99)[:4] + b"\xff" * 40, id="zstd, damaged"),
    ],
)
def test_damaged_compressed_data_is_refused(tmp_path, suffix, data):
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(data)
    assert refusal(path)


def test_zstd_data_that_is_cut_off_is_refused_and_not_taken_for_the_whole(tmp_path):
    whole = zstandard.ZstdCompressor(write_content_size=False).compress(b"".join(b"%d\n" % n for n in range(200_000)))
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(whole[: len(whole) // 2])
    assert refusal(path)


def test_the_digest_is_what_sha256sum_prints(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    # The well-known digest of the three bytes "abc" (FIPS 180-4).
    assert digest(path) == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_the_digest_of_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UnreadableError, match="no such file"):
        digest(tmp_path / "a")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.jsonl", ".jsonl"),
        ("a.JSONL.gz", ".jsonl"),
        ("a.b.parquet.ZST", ".parquet"),
        ("a", ""),
        ("a.gz", ""),
        (".jsonl", ""),
    ],
)
def test_the_plain_suffix_stands_before_that_of_the_compression(tmp_path, name, expected):
    assert expected == plain_suffix(tmp_path / name)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RecursionError("maximum recursion depth exceeded"), "reading it failed: RecursionError: maximum recursion"),
        (MemoryError(), "reading it needs more memory than there is"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (
            type("PanicException", (BaseException,), {})("assertion failed\nat 1"),
            "not a readable data file: it is damaged",
        ),
    ],
)
def test_whatever_a_library_raises_while_a_file_is_open_makes_the_file_unusable(error, message, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x")
    with pytest.raises(UnreadableError) as caught, open_file(path):
        raise error
    (problem,) = caught.value.problems
    assert problem.file == str(path)
    assert message in problem.message
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, UnreadableError("ours", ["as it is"])])
def test_what_ends_a_program_and_our_own_errors_pass_through(error, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x")
    kind = error if isinstance(error, type) else type(error)
    with pytest.raises(kind) as caught, open_file(path):
        raise error
    assert caught.value.__cause__ is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_regular_file_is_refused_before_it_is_opened(tmp_path):
    pipe = tmp_path / "pipe.parquet"
    os.mkfifo(pipe)
    assert refusal(pipe) == "this is a pipe, which can be read only once; write its content to a file first"
    address = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(str(address))
        assert refusal(address) == "this is a socket, not a file"
    assert refusal(Path("/dev/zero")) == "this is a device, not a file"


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_names_that_no_file_can_have_are_refused_by_name(name, tmp_path):
    assert refusal(tmp_path / name)
    with pytest.raises(UnreadableError):
        digest(tmp_path / name)
    assert not is_regular(tmp_path / name)
    assert not is_there(tmp_path / name)
