"""
Staging: a result folder in the making, hidden beside its place until it is complete.
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rankgauge.errors import ResultError
from rankgauge.io.output_files import OUTPUTS_FILE
from rankgauge.io.whole_files import write_file

__all__ = ["BEGUN_FILE", "Staging", "abandoned", "cannot_save", "has_outputs", "is_in_use", "is_staging"]

BEGUN_FILE = "begun.json"
"""What a staging folder says of its run until there is a manifest."""

_SUFFIX = ".partial"
_LONGEST = 50  # characters of a folder's name in that of its staging folder: with the rest, a name has 255 bytes


class Staging:
    """
    A hidden folder that one rename makes a result folder.

    Its process holds a lock on it, which tells a folder in use from one that a killed process has left.
    """

    def __init__(self, target: Path, *, replaces: bool = False) -> None:
        """Make the hidden folder, or raise `ResultError`; the target is absent or empty, unless this *replaces* it."""
        self.target = target.resolve()
        self._replaces = replaces
        parent = self.target.parent
        try:
            if not replaces:
                _check_target(self.target)
            self._made = [folder for folder in (parent, *parent.parents) if not folder.exists()]
            parent.mkdir(parents=True, exist_ok=True)
            self.path = Path(tempfile.mkdtemp(prefix=_prefix(self.target.name), suffix=_SUFFIX, dir=parent))
        except OSError as error:
            raise cannot_save(self.target, error) from error
        self._lock = _lock(self.path)

    @property
    def outputs(self) -> Path:
        """Return the file in which outputs of a system under test are kept."""
        return self.path / OUTPUTS_FILE

    def finish(self, files: Mapping[str, bytes]) -> Path:
        """Write the other files, and put the folder in its place; raise `OSError` where that is not possible."""
        for name, data in files.items():
            write_file(self.path / name, data)
        (self.path / BEGUN_FILE).unlink(missing_ok=True)
        self.path.chmod(0o777 & ~_umask())
        old: Path | None = None
        if self._replaces and self.target.exists():
            old = Path(tempfile.mkdtemp(prefix=_prefix(self.target.name), suffix=".replaced", dir=self.target.parent))
            self.target.rename(old)
        elif self.target.exists():
            self.target.rmdir()
        self.path.rename(self.target)
        if old is not None:
            shutil.rmtree(old, ignore_errors=True)
        self._release()
        return self.target

    def discard(self) -> Path | None:
        """Remove the folder; return it where it is left because outputs that were paid for are in it."""
        self._release()
        if not self.path.exists():
            return None
        if has_outputs(self.path):
            return self.path
        shutil.rmtree(self.path, ignore_errors=True)
        with contextlib.suppress(OSError):  # other files have come meanwhile
            for parent in self._made:
                parent.rmdir()
        return None

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def abandoned(folder: Path, name: str | None = None) -> list[Path]:
    """Return the staging folders in a folder that no process holds any more, of one result folder or of all."""
    pattern = f"{glob.escape(_prefix(name))}*{_SUFFIX}" if name else f".*{_SUFFIX}"
    return sorted(path for path in folder.glob(pattern) if path.is_dir() and not is_in_use(path))


def is_in_use(folder: Path) -> bool:
    """Return whether a process holds a staging folder."""
    try:
        descriptor = _lock(folder)
    except OSError:
        return True
    if descriptor is not None:
        os.close(descriptor)
    return False


def is_staging(folder: Path) -> bool:
    """Return whether a folder is called as staging folders are."""
    return folder.name.startswith(".") and folder.name.endswith(_SUFFIX)


def has_outputs(folder: Path) -> bool:
    """Return whether outputs of a system under test are kept in a folder."""
    file = folder / OUTPUTS_FILE
    return file.is_file() and file.stat().st_size > 0


def cannot_save(path: Path, error: Exception) -> ResultError:
    """Return the error of a folder or file that cannot be written."""
    why = getattr(error, "strerror", None) or str(error)
    if isinstance(error, UnicodeEncodeError):
        why = f"{error.object!r} holds half of a surrogate pair, which UTF-8 cannot encode; give the sample another id"
    return ResultError(f"cannot save to {path}: {why}; nothing was written")


def _check_target(directory: Path) -> None:
    """Refuse a target that has something in it."""
    if directory.exists() and not (directory.is_dir() and not any(directory.iterdir())):
        raise ResultError(f"cannot save to {directory}: it exists and is not an empty folder; choose another")


def _prefix(name: str) -> str:
    return f".{name[:_LONGEST]}."


def _lock(path: Path) -> int | None:
    """Return a locked descriptor of a folder, None where the system has no such locks; `BlockingIOError` if in use."""
    try:
        import fcntl
    except ImportError:  # Windows, where a folder that is in use cannot be told from one that was left
        return None
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
