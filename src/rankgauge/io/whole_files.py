"""
Writing files that are complete, or as they were.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

__all__ = ["obstacle", "replace_file", "write_file"]


def replace_file(path: Path, data: bytes) -> None:
    """Write a file beside its place and move it there, so that a full disk leaves the old one."""
    if why := _special(path):
        raise OSError(errno.EINVAL, why)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write_file(part, data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


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


def write_file(path: Path, data: bytes) -> None:
    """Write a file down to the disk."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
