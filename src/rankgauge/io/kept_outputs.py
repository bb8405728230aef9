"""
Kept outputs: the file to which what a system under test returns is written as it arrives.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import orjson

from rankgauge.errors import counted
from rankgauge.io.output_files import kept_line, read_kept
from rankgauge.io.whole_files import replace_file
from rankgauge.samples import KeptOutput

__all__ = ["OutputsFile", "add_missing"]

_BLOCK = 1 << 16


class OutputsFile:
    """A file of kept outputs, to which each is added as it arrives: after a crash of the process all are there."""

    def __init__(self, path: Path) -> None:
        """Open a file, or go on with one, whose last line is removed if it is cut off, and ended if only that lacks."""
        self._path = path
        self._file = path.open("ab+", buffering=0)
        self._end = _end_of_lines(self._file)
        self._file.seek(self._end)
        last = self._file.read()
        self._file.truncate(self._end)
        with suppress(ValueError):
            orjson.loads(last)
            self._end += self._file.write(last + b"\n")

    def add(self, sample_id: str, output: KeptOutput) -> None:
        """Write one output; if the disk is full raise `OSError`, and leave the lines before it whole."""
        line = memoryview(kept_line(sample_id, output))
        written = 0
        try:
            while written < len(line):
                written += self._file.write(line[written:])
        except OSError:
            self._file.truncate(self._end)
            raise
        self._end += written

    def close(self) -> None:
        """Bring everything to the disk."""
        with self._file:
            os.fsync(self._file.fileno())

    def close_with(self, held: Iterable[tuple[str, KeptOutput]]) -> str:
        """Close the file with outputs for which there was no room before; return where those are that do not fit."""
        left = []
        for sample_id, output in held:
            try:
                self.add(sample_id, output)
            except OSError:
                left.append(kept_line(sample_id, output))
        remarks = [_rescued(left, self._path)] if left else []
        try:
            self.close()
        except OSError as error:
            remarks.append(f"{self._path} may not be on the disk in full ({error.strerror or error})")
        return "; ".join(remarks)


def add_missing(path: Path, outputs: Mapping[str, KeptOutput]) -> None:
    """Add to a file of kept outputs those that it has none of; `OSError` if there is no room."""
    kept_there = read_kept(path) if path.exists() and path.stat().st_size else {}
    there = {(sample_id, one.repeat) for sample_id, output in kept_there.items() for one in output.every}
    single = ((sample_id, one) for sample_id, output in outputs.items() for one in output.every)
    if missing := [(sample_id, one) for sample_id, one in single if (sample_id, one.repeat) not in there]:
        file = OutputsFile(path)
        try:
            for sample_id, output in missing:
                file.add(sample_id, output)
        finally:
            file.close()


def _rescued(lines: Sequence[bytes], path: Path) -> str:
    """Write outputs for which there is no room at *path* into the temporary folder or to stderr, and say where."""
    import tempfile  # with what draws names and packs archives, for a full disk

    what = f"{counted(len(lines), 'output')} for which there was no room"
    place = Path(tempfile.gettempdir()) / f"rankgauge-{os.urandom(8).hex()}.jsonl"
    try:
        replace_file(place, b"".join(lines))
    except OSError:
        with suppress(OSError):
            os.write(2, b"".join(lines))
        return f"{what} went to standard error, one a line; append these lines to {path} and go on with --resume"
    return f"{what} are in {place}; make room, append them (`cat {place} >> {path}`) and go on with --resume"


def _end_of_lines(file: io.FileIO) -> int:
    """Return where the last whole line of a file ends."""
    end = file.seek(0, io.SEEK_END)
    while end:
        start = max(0, end - _BLOCK)
        file.seek(start)
        if (at := file.read(end - start).rfind(b"\n")) >= 0:
            return start + at + 1
        end = start
    return 0
