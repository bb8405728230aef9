"""
Staging: a result folder in the making, hidden beside its place until it is complete.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import re
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

import orjson

from rankgauge.base.plain_text import visible
from rankgauge.errors import DataError, ResultError, listed
from rankgauge.io.files import open_regular, read_bytes, real_path
from rankgauge.io.output_files import OUTPUTS_FILE
from rankgauge.io.whole_files import is_part, replace_file, replacing
from rankgauge.result.target_lock import TargetLock

__all__ = [
    "BEGUN_FILE",
    "SCHEMA_VERSION",
    "Staging",
    "abandoned",
    "cannot_save",
    "has_outputs",
    "is_in_use",
    "is_staging",
    "replaced_results",
    "target_of",
]

BEGUN_FILE = "begun.json"
"""What a staging folder says of its run until it is complete."""

SCHEMA_VERSION = "rankgauge.result.v1"

_WRITTEN = frozenset(
    {
        BEGUN_FILE,
        OUTPUTS_FILE,
        "config.resolved.yaml",
        "errors.jsonl",
        "manifest.json",
        "per_sample.jsonl",
        "per_sample.parquet",
        "report.md",
        "summary.json",
    }
)
"""The files that rankgauge writes into a folder."""

_KEPT_DATA = re.compile(r"(?:samples|outputs)(?:\.[^.]+(?:\.gz|\.zst)?)?", re.IGNORECASE)
"""What copies of data and outputs are called there."""

_SUFFIX, _REPLACED = ".partial", ".replaced"
_HIDDEN = re.compile(r"\.(.+)\.[^.]+\.(?:partial|replaced)", re.DOTALL)
_LONGEST = 200  # bytes of a folder's name in that of its staging folder: with the rest, a name has at most 255


class Staging:
    """
    A hidden folder that one rename makes a result folder.

    From the first look at the target to the last rename its process holds a lock on the target.
    """

    def __init__(self, target: Path, *, replaces: bool = False, continued: Path | None = None) -> None:
        """
        Make the hidden folder, or raise `ResultError`; the target is absent or empty, or has a result to replace.

        A result of which every output is in the *continued* folder is replaced, too.
        """
        self.target = real_path(target)
        self.keeps = True  # whether outputs in the folder are of calls, so that they stay whatever happens
        self._replaces = replaces
        self._continued = continued
        self._copied: Path | None = None  # a staging folder whose outputs are in this one, too
        self._process = os.getpid()
        self._locks: list[TargetLock] = []
        self.sees_others = True  # whether locks tell a process that is at work there from one that was killed
        parent = self.target.parent
        try:
            self._made = [folder for folder in (parent, *parent.parents) if not folder.exists()]
            parent.mkdir(parents=True, exist_ok=True)
            self._lock(_lock_file(self.target))
            self._restore()
            self._check_target()
            self._continued = None
            self.path = self._new_place(_SUFFIX)
            self.path.mkdir()
        except BaseException as error:
            self._release()
            if isinstance(error, OSError):
                raise cannot_save(self.target, error) from error
            raise

    @property
    def outputs(self) -> Path:
        """Return the file in which outputs of a system under test are kept."""
        return self.path / OUTPUTS_FILE

    def left_behind(self) -> list[Path]:
        """Return what runs that were killed have left of the same target."""
        return [path for path in _hidden(self.target.parent, self.target.name, _SUFFIX) if path != self.path]

    def replaced(self) -> list[Path]:
        """Return what processes that were killed have left of results that stood at the target."""
        return _hidden(self.target.parent, self.target.name, _REPLACED)

    def begin(self, record: Mapping[str, object], earlier: Path | None = None) -> None:
        """
        Write down what is run, and take over the outputs in an *earlier* folder; raise `OSError` if that fails.

        What a killed run left becomes this folder, or is copied if it cannot be moved; a result is copied.
        """
        is_left = earlier is not None and is_staging(earlier)
        if earlier is not None and is_left:
            _check_written(earlier, f"cannot go on with {earlier}")
            lock = _lock_file(earlier)
            if lock != _lock_file(self.target) and os.access(lock.parent, os.W_OK):
                self._lock(lock)
            if _can_move(earlier, self.path):
                self.path.rmdir()
                self.path, earlier = real_path(earlier), None
            else:
                self._copied = earlier
        replace_file(self.path / BEGUN_FILE, orjson.dumps(record, option=orjson.OPT_INDENT_2))
        if earlier is not None:
            with open_regular(earlier / OUTPUTS_FILE) as source, replacing(self.outputs) as copy:
                shutil.copyfileobj(source, copy)
        _remove_files(self.path, {BEGUN_FILE, OUTPUTS_FILE})  # such as a manifest that was saved before the rest

    def finish(self, files: Mapping[str, bytes]) -> Path:
        """Write the other files, and put the folder in its place; raise `OSError` if that is not possible."""
        for name, data in files.items():
            replace_file(self.path / name, data)
        (self.path / BEGUN_FILE).unlink(missing_ok=True)
        self._check_target()
        old: Path | None = None
        if self.target.exists():
            old = self._new_place(_REPLACED)
            self.target.rename(old)
        try:
            self.path.rename(self.target)
        except BaseException:
            if old is not None:
                old.rename(self.target)
            raise
        for done in filter(None, [old, self._copied]):
            _remove_written(done)
        self._release()
        return self.target

    def discard(self) -> Path | None:
        """Remove the folder; return it if it is left because outputs that were paid for are in it."""
        if self._process != os.getpid():  # a child of the system under test
            return None
        left = None
        if self.path.exists():
            if self.keeps and has_outputs(self.path):
                left = self.path
            else:
                _remove_written(self.path)
        self._release()
        if left is None:
            with contextlib.suppress(OSError):  # other files have come meanwhile
                for parent in self._made:
                    parent.rmdir()
        return left

    def _lock(self, file: Path) -> None:
        try:
            self._locks.append(TargetLock(file))
            self.sees_others &= self._locks[-1].is_locked
        except BlockingIOError as error:
            why = f"another process is at work there (it holds {file})"
            raise ResultError(f"cannot save to {self.target}: {why}; wait for it, or choose another folder") from error

    def _release(self) -> None:
        while self._locks:
            self._locks.pop().release()

    def _new_place(self, suffix: str) -> Path:
        return self.target.parent / f".{_short(self.target.name)}.{os.urandom(6).hex()}{suffix}"

    def _restore(self) -> None:
        """Put a result back whose place was empty when the process was killed that replaced it."""
        replaced = [] if os.path.lexists(self.target) else list(filter(_is_result, self.replaced()))
        if replaced:
            replaced[-1].rename(self.target)

    def _check_target(self) -> None:
        """Refuse a target that has something in it, unless that is a result that this one replaces."""
        target = self.target
        if not os.path.lexists(target) or (target.is_dir() and not any(target.iterdir())):
            return
        is_result = _is_result(target)
        if self._continued is not None:
            self._replaces |= _holds_outputs_of(self._continued, target)
        if not (is_result and self._replaces):
            more = ", or replace the result in it with --force" if is_result else ""
            raise ResultError(f"cannot save to {target}: it exists and is not an empty folder; choose another{more}")
        _check_written(target, f"cannot save to {target}")


def abandoned(folder: Path, name: str | None = None) -> list[Path]:
    """Return the staging folders in a folder that no process holds any more, of one result folder or of all."""
    return [path for path in _hidden(folder, name, _SUFFIX) if not is_in_use(path)]


def replaced_results(folder: Path) -> list[Path]:
    """Return the results in a folder that another one has replaced, whose process was killed before they were gone."""
    return [path for path in _hidden(folder, None, _REPLACED) if not is_in_use(path)]


def is_in_use(folder: Path) -> bool:
    """Return whether a process holds the target of a staging folder."""
    return TargetLock.is_held(_lock_file(folder))


def is_staging(folder: Path) -> bool:
    """Return whether a folder is called as staging folders are."""
    return folder.name.startswith(".") and folder.name.endswith(_SUFFIX)


def target_of(folder: Path) -> Path:
    """Return the result folder that a staging folder was to become, by its name; nothing in it is asked."""
    name = _shortened(folder)
    if name is None or _short(name) != name:
        raise ResultError(f"the name of {folder} does not say where its result belongs; name a folder with -o")
    return real_path(folder.parent / name)


def has_outputs(folder: Path) -> bool:
    """Return whether outputs of a system under test are kept in a folder."""
    file = folder / OUTPUTS_FILE
    with contextlib.suppress(OSError):
        return file.is_file() and file.stat().st_size > 0
    return False


def _holds_outputs_of(folder: Path, earlier: Path) -> bool:
    """Return whether a folder has every line of outputs that an earlier one has."""
    if not (has_outputs(folder) and has_outputs(earlier)):
        return False
    return set(read_bytes(earlier / OUTPUTS_FILE).splitlines()) <= set(read_bytes(folder / OUTPUTS_FILE).splitlines())


def _remove_written(folder: Path) -> None:
    """Remove a folder with what rankgauge wrote into it; if there is more, it stays, with the rest."""
    with contextlib.suppress(OSError):
        _remove_files(folder)
        folder.rmdir()


def cannot_save(path: Path, error: Exception) -> ResultError:
    """Return the error of a folder or file that cannot be written."""
    why = getattr(error, "strerror", None) or str(error)
    if isinstance(error, UnicodeEncodeError):
        why = f"{error.object!r} holds half of a surrogate pair, which UTF-8 cannot encode; give the sample another id"
    return ResultError(f"cannot save to {path}: {why}; nothing was written")


def _remove_files(folder: Path, kept: Collection[str] = ()) -> None:
    foreign = _foreign(folder)
    for path in folder.iterdir():
        if path.name not in foreign and path.name not in kept:
            path.unlink()


def _check_written(folder: Path, what: str) -> None:
    """Refuse a folder that will be replaced or moved if something in it is not of rankgauge."""
    if foreign := _foreign(folder):
        names = listed([visible(name) for name in foreign])
        raise ResultError(f"{what}: it holds {names}, which rankgauge did not write; move that elsewhere first")


def _foreign(folder: Path) -> list[str]:
    """Return the names in a folder that rankgauge did not write there."""
    kept = None if (manifest := _manifest(folder)) is None else _kept_names(manifest)

    def is_ours(name: str) -> bool:
        if name in _WRITTEN or is_part(name):
            return True
        return _KEPT_DATA.fullmatch(name) is not None and (kept is None or name in kept)

    with os.scandir(folder) as entries:
        return sorted(
            entry.name for entry in entries if not (entry.is_file(follow_symlinks=False) and is_ours(entry.name))
        )


def _is_result(folder: Path) -> bool:
    manifest = _manifest(folder)
    return manifest is not None and manifest.get("schema_version") == SCHEMA_VERSION


def _manifest(folder: Path) -> dict[str, object] | None:
    """Return the manifest of a folder; None if there is none that can be read."""
    with contextlib.suppress(DataError, ValueError):
        manifest = orjson.loads(read_bytes(folder / "manifest.json"))
        return manifest if isinstance(manifest, dict) else None
    return None


def _kept_names(manifest: Mapping[str, object]) -> set[object]:
    """Return what a manifest calls the copies of data and outputs."""
    parts = [manifest.get(key) for key in ("dataset", "outputs")]
    names = [part.get("path") for part in parts if isinstance(part, Mapping)]
    return {name for name in names if isinstance(name, str)}


def _can_move(folder: Path, beside: Path) -> bool:
    """Return whether a folder can be moved to where another one is: both on one file system, and writable."""
    is_near = folder.stat().st_dev == beside.stat().st_dev
    return is_near and os.access(folder, os.W_OK) and os.access(folder.parent, os.W_OK)


def _shortened(folder: Path) -> str | None:
    """Return the name of the target in that of a staging folder."""
    match = _HIDDEN.fullmatch(folder.name)
    return None if match is None else match[1]


def _hidden(folder: Path, name: str | None, suffix: str) -> list[Path]:
    """Return the hidden folders with a suffix, of one result folder or of all."""
    start = "." if name is None else f".{_short(name)}."
    paths = sorted(path for path in folder.glob(f"{glob.escape(start)}*{suffix}") if path.is_dir())
    return paths if name is None else [path for path in paths if _shortened(path) == _short(name)]


def _lock_file(folder: Path) -> Path:
    """Return the lock of a target, or that of the target of a staging folder."""
    short = _shortened(folder) if is_staging(folder) or folder.name.endswith(_REPLACED) else _short(folder.name)
    return real_path(folder.parent) / f".{short or folder.name}.lock"


def _short(name: str) -> str:
    """Return a folder's name, or the beginning of a long one with digits of its hash."""
    data = os.fsencode(name)
    if len(data) <= _LONGEST:
        return name
    return f"{name[: _LONGEST // 4]}-{hashlib.sha256(data).hexdigest()[:16]}"
