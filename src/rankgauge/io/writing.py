"""
Writing files that are complete, or as they were.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["replace_file", "write_file"]


def replace_file(path: Path, data: bytes) -> None:
    """Write a file beside its place and move it there, so that a full disk leaves the old one."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write_file(part, data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_file(path: Path, data: bytes) -> None:
    """Write a file down to the disk."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
