"""
Writing files that are complete, or as they were.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from rankgauge.base.logs import logger
from rankgauge.errors import ParameterError, ResultError

__all__ = [
    "check_new_file",
    "is_part",
    "json_lines",
    "obstacle",
    "replace_file",
    "replacing",
    "write_new",
    "write_whole",
]

_LONGEST = 50  # characters of a file's name in that of its part: with the rest, a name has at most 255 bytes
_PART = re.compile(r"\..+\.(\d+)\.[0-9a-f]{16}\.part")


def replace_file(path: Path, data: bytes) -> None:
    """Write a file, complete and brought to the disk, or leave what was there; `OSError` says why."""
    with replacing(path) as file:
        file.write(data)


def write_new(files: Mapping[Path, bytes]) -> None:
    """Write files that have not been written by others meanwhile, all of them or none; `OSError` says why not."""
    written: list[Path] = []
    try:
        for path, data in files.items():
            with replacing(path, is_new=True) as file:
                file.write(data)
            written.append(path)
    except BaseException:
        for path in written:  # or they would be in the way of the next call
            path.unlink(missing_ok=True)
        raise


def write_whole(files: Mapping[Path, bytes]) -> None:
    """
    Write files that are not there yet, all of them or none.

    Each is written beside its place and moved there when it is complete, so that a part of it is never read.

    Args:
        files: The content by path.

    Raises:
        ResultError: A file is there already, or cannot be written; none of them is written then.
    """
    try:
        write_new(files)
    except OSError as error:
        names = " and ".join(map(str, files))
        raise ResultError(f"cannot write {names}: {error.strerror or error}; nothing was written there") from error


def check_new_file(path: Path) -> None:
    """
    Refuse an output before anything is computed for it.

    Args:
        path: The file that is to be written.

    Raises:
        ParameterError: There is something at that path already, or its folder does not exist.
    """
    if os.path.lexists(path):
        raise ParameterError(f"{path} exists; choose another name, or delete it")
    if not path.absolute().parent.is_dir():
        raise ParameterError(f"cannot write {path}: there is no folder {path.parent}")


def json_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """
    Return rows as JSON lines.

    Args:
        rows: Objects of JSON values; ids may hold surrogates that stand for bytes that are not UTF-8.

    Returns:
        UTF-8, one object a line.
    """
    return "".join(f"{_json(row)}\n" for row in rows).encode()


def _json(row: Mapping[str, Any]) -> str:
    text = json.dumps(row, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # an id that is not UTF-8
        return json.dumps(row)
    return text


@contextmanager
def replacing(path: Path, *, is_new: bool = False) -> Iterator[BinaryIO]:
    """
    Open a file that takes the place of *path* when everything is written, for as many writers at once as there are.

    It is written beside its place, under a name that cannot be guessed, and never through a link. If it *is_new* and
    another writer was quicker, `FileExistsError`.
    """
    if why := "it is a folder" if path.is_dir() else _special(path):
        raise OSError(errno.EINVAL, why)
    _tell_parts(path)
    part = path.with_name(f".{path.name[:_LONGEST]}.{os.getpid()}.{os.urandom(8).hex()}.part")
    opened = part.open("xb")  # O_CREAT and O_EXCL, which follow no link
    try:
        with opened as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if not (is_new and _linked(part, path)):
            part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def is_part(name: str) -> bool:
    """Return whether a file is called as those that are being written."""
    return _PART.fullmatch(name) is not None


def obstacle(path: Path) -> str:
    """Return why a file cannot be written there, as far as that can be seen before it is tried; empty for nothing."""
    if why := "it is a folder" if path.is_dir() else _special(path):
        return why
    above = next(folder for folder in path.absolute().parents if folder.exists())
    if not above.is_dir():
        return f"{above} is not a folder"
    return "" if os.access(above, os.W_OK) else f"{above} is not writable"


def _special(path: Path) -> str:
    """Return what is wrong with a pipe or a device, such as ``/dev/null``, whose place no file may take."""
    is_special = path.exists() and not path.is_file() and not path.is_dir()
    return "it is a pipe, a socket or a device; name a file" if is_special else ""


def _linked(part: Path, path: Path) -> bool:
    """Move a file if there is none, or raise `FileExistsError`; return False if a file system cannot tell."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:
        return False
    part.unlink()
    return True


def _tell_parts(path: Path) -> None:
    """Name what processes that were killed have left while they wrote the same file."""
    start = f".{path.name[:_LONGEST]}."
    with suppress(OSError), os.scandir(path.parent) as entries:
        for name in sorted(entry.name for entry in entries if entry.name.startswith(start)):
            match = _PART.fullmatch(name)
            if match is not None and not _is_alive(int(match[1])):
                logger("io").warning(
                    "%s was left by a process that was killed while it wrote %s; delete it", path.with_name(name), path
                )


def _is_alive(process: int) -> bool:
    if os.name == "nt":  # where asking would end it
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's
        return True
    return True
