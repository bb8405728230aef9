"""
Locks on targets: of several processes that want to write in one place, one does.
"""

from __future__ import annotations

import contextlib
import errno
import os
import weakref
from pathlib import Path

from rankgauge.base.logs import logger

__all__ = ["TargetLock"]

_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}
"""How file systems say that they have no locks."""


class TargetLock:
    """
    A lock on a file, which is made for it and removed at the end; it is held by this process alone.

    `flock` is of an open file, and a child that is forked has the same one: it closes its copy as its first act.
    """

    def __init__(self, path: Path) -> None:
        """Take the lock, or raise `BlockingIOError`; if the file system has none, say so and go on without."""
        self._path = path
        self._descriptor: int | None = None
        self.is_locked = True  # or the file system has no locks
        while self._descriptor is None:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
            try:
                if not _flock(descriptor):
                    self.is_locked = False
                    logger("result").warning(
                        "the file system of %s has no locks: make sure that no other process writes there", path.parent
                    )
                    self._descriptor = descriptor
                elif _is_at(descriptor, path):
                    self._descriptor = descriptor
                else:  # whoever held it has removed the file meanwhile
                    os.close(descriptor)
            except BaseException:
                os.close(descriptor)
                raise
        if hasattr(os, "register_at_fork"):
            forget = weakref.WeakMethod(self._forget)
            os.register_at_fork(after_in_child=lambda: (method := forget()) and method())

    def release(self) -> None:
        """Remove the file and let go of the lock."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()
            self._forget()

    def _forget(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @staticmethod
    def is_held(path: Path) -> bool:
        """Return whether a process holds a lock."""
        try:
            descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            return False
        try:
            _flock(descriptor)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False


def _flock(descriptor: int) -> bool:
    """Lock an open file; return False if there are no locks, raise `BlockingIOError` if it is locked."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return False
        raise
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """Return whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
