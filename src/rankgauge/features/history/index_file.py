"""
`History`: the index of results over time, in one SQLite file that several processes may write.

SQLite lets one writer in at a time, the others wait for it, and a process that is killed leaves the file as it was.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import orjson

from rankgauge.base.frozen import FrozenMap
from rankgauge.base.plain_text import visible
from rankgauge.errors import DataError, ParameterError, ResultError, did_you_mean
from rankgauge.features.history.entry import Entry, Mean, content_id, definitions_of, entry_of
from rankgauge.result.result import Result
from rankgauge.result.wording import partial_line

__all__ = ["History"]

_VERSION = 1
_APPLICATION = 0x72674831  # "rgH1"
_PATIENCE = 60.0
"""Seconds to wait for another writer; an entry takes some milliseconds."""

_TABLES = """
CREATE TABLE entries (id TEXT PRIMARY KEY, dataset TEXT NOT NULL, created_at TEXT NOT NULL, passed INTEGER,
                      facts BLOB NOT NULL);
CREATE INDEX by_time ON entries (dataset, created_at);
CREATE TABLE definitions (fingerprint TEXT PRIMARY KEY, facts BLOB NOT NULL);
CREATE TABLE changes (earlier TEXT, later TEXT, facts BLOB NOT NULL, PRIMARY KEY (earlier, later));
"""


class History:
    """
    Results over time.

        history = History("results.history")
        history.add("results/today", name="v2", commit="4f1c")
        baseline = history.last_good()

    Result folders stay where they are; an entry names its folder by content, so that one that was moved can be added
    again, and one whose content changed is refused.

    Attributes:
        path: The file. It is made by the first `add`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Name the index; nothing is opened yet."""
        self.path = Path(path)

    def add(
        self,
        folder: str | os.PathLike[str],
        *,
        name: str = "",
        commit: str = "",
        tags: Sequence[str] = (),
        passed: bool | None = None,
    ) -> Entry:
        """
        Add a result folder; where its content is in the history already, say anew where it is and what is known of it.

        Args:
            folder: A complete result folder.

            name: What the entry is called; by default as the folder.

            commit: The commit that the result was made at.

            tags: Words to select entries by.

            passed: Whether the result met its gates; None if that is not known.

        Returns:
            The entry.

        Raises:
            ResultError: The folder is not a complete result, its run was interrupted or stopped early, or the index
                cannot be written.
        """
        folder = Path(folder)
        result = Result.load(folder)
        if partial_line(result):
            stopped = "was interrupted" if result.manifest.get("interrupted") else "stopped early"
            raise ResultError(f"{folder} {stopped}, so its means are not those of all samples; it was not added")
        entry = entry_of(result, folder, name=name, commit=commit, tags=tags, passed=passed)
        with self._writing() as index:
            row = index.execute("SELECT facts FROM entries WHERE id = ?", (entry.id,)).fetchone()
            if row is not None:
                entry = _updated(self._read(row[0]), entry, named=bool(name))
            index.executemany(
                "INSERT OR IGNORE INTO definitions VALUES (?, ?)",
                [(fingerprint, orjson.dumps(facts)) for fingerprint, facts in definitions_of(result).items()],
            )
            index.execute(
                "INSERT INTO entries VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
                "passed = excluded.passed, facts = excluded.facts",  # it keeps its place among those of one second
                (entry.id, entry.dataset, entry.created_at, entry.passed, self._written(entry)),
            )
        return entry

    def entries(
        self,
        *,
        dataset: str | None = None,
        system: str | None = None,
        tag: str | None = None,
        last: int | None = None,
    ) -> list[Entry]:
        """
        Return entries, the oldest first.

        Args:
            dataset: Those of this dataset alone.

            system: Those of this system alone: a function, a run tag or an outputs file.

            tag: Those with this tag alone.

            last: The newest of each dataset, so many at the most.

        Returns:
            The entries, by dataset and then by time.

        Raises:
            ResultError: There is no such file, or it is not a history.

            ParameterError: No entry is of this dataset or system, or has this tag.
        """
        with self._reading() as index:
            rows = index.execute("SELECT facts FROM entries ORDER BY dataset, created_at, rowid").fetchall()
        entries = [self._read(facts) for (facts,) in rows]
        for what, wanted, known in (
            ("dataset", dataset, {entry.dataset for entry in entries}),
            ("system", system, {entry.system for entry in entries}),
            ("tag", tag, {tag for entry in entries for tag in entry.tags}),
        ):
            if wanted is not None and wanted not in known:
                listed = f"; there are {', '.join(map(visible, sorted(known)))}" if known else ""
                raise ParameterError(f"{self.path} has no {what} {wanted!r}{did_you_mean(wanted, known)}{listed}")
        entries = [
            entry
            for entry in entries
            if dataset in {None, entry.dataset} and system in {None, entry.system} and tag in {None, *entry.tags}
        ]
        if last is None:
            return entries
        by_dataset: dict[str, list[Entry]] = {}
        for entry in entries:
            by_dataset.setdefault(entry.dataset, []).append(entry)
        return [entry for same in by_dataset.values() for entry in same[-last:]]

    def last_good(self) -> dict[str, Result]:
        """
        Return the newest result of each dataset that met its gates, as a baseline for `judge_gates`.

        Returns:
            The results by dataset; empty if none has met its gates yet.

        Raises:
            ResultError: There is no such file, or the folder of such a result is gone or has other content.
        """
        good = {entry.dataset: entry for entry in self.entries() if entry.passed}
        try:
            return {
                dataset: self.load(entry).with_manifest({"commit": entry.commit, "baseline": entry.folder})
                for dataset, entry in good.items()
            }
        except ResultError as error:
            hint = "give every run a folder of its own, and mark a good one: `rankgauge history add DIR --passed`"
            raise ResultError(f"there is no last good result: {error}; {hint}") from error

    def load(self, entry: Entry) -> Result:
        """Return the result of an entry; raise `ResultError` if its folder is gone or has other content."""
        folder = Path(entry.folder)
        try:
            has = content_id(folder)
        except DataError as error:
            hint = "add it again from where it is now"
            raise ResultError(f"{folder} cannot be read, which has the scores of {entry.name!r}; {hint}") from error
        if has != entry.id:
            raise ResultError(f"{folder} has other content than {entry.name!r} had when it was added")
        return Result.load(folder)

    def definition(self, fingerprint: str) -> Mapping[str, str]:
        """Return what a definition fingerprint covers, by the names that users know."""
        with self._reading() as index:
            row = index.execute("SELECT facts FROM definitions WHERE fingerprint = ?", (fingerprint,)).fetchone()
        facts: dict[str, str] = {} if row is None else orjson.loads(row[0])
        return facts

    def changes(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Return what is known of the changes between two entries, by their ids and then by column."""
        with self._reading() as index:
            rows = index.execute("SELECT earlier, later, facts FROM changes").fetchall()
        return {(earlier, later): orjson.loads(facts) for earlier, later, facts in rows}

    def keep_changes(self, changes: Mapping[tuple[str, str], Mapping[str, Any]]) -> None:
        """Keep what was computed of changes, so that it is computed once; not if the index cannot be written."""
        with contextlib.suppress(ResultError), self._writing() as index:
            rows = [(*pair, orjson.dumps(facts)) for pair, facts in changes.items()]
            index.executemany("INSERT OR REPLACE INTO changes VALUES (?, ?, ?)", rows)

    def _written(self, entry: Entry) -> bytes:
        """Return an entry as JSON; its folder is relative to the index, so that both can be moved together."""
        plain = {one.name: getattr(entry, one.name) for one in fields(entry)}
        plain["means"] = _lists(entry.means)
        plain["cohorts"] = {tag: _lists(means) for tag, means in entry.cohorts.items()}
        with contextlib.suppress(ValueError):  # another drive
            plain["folder"] = os.path.relpath(entry.folder, self.path.absolute().parent)
        return orjson.dumps(plain)

    def _read(self, facts: bytes) -> Entry:
        values = orjson.loads(facts)
        folder = os.path.join(self.path.absolute().parent, values["folder"])  # noqa: PTH118  # of thousands
        values["folder"] = os.path.normpath(folder)
        values["means"] = _means(values["means"])
        values["cohorts"] = FrozenMap({tag: _means(means) for tag, means in values["cohorts"].items()})
        values["fingerprints"] = FrozenMap(values["fingerprints"])  # so that an entry has nothing to copy
        for name in ("tags", "higher_is_better"):
            values[name] = tuple(values[name])
        return Entry(**values)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        if not self.path.is_file():
            raise ResultError(f"there is no history {self.path}; `rankgauge history add DIR` begins one")
        with self._opened() as index:
            self._check(index)
            yield index

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Open the index for one transaction, which waits for other writers and is undone if something fails."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ResultError(f"cannot write the history {self.path}: {error.strerror or error}") from error
        with self._opened() as index:
            index.execute("BEGIN IMMEDIATE")
            if not index.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in _TABLES.split(";")[:-1]:
                    index.execute(statement)
                index.execute(f"PRAGMA application_id = {_APPLICATION}")
                index.execute(f"PRAGMA user_version = {_VERSION}")
            self._check(index)
            yield index
            index.execute("COMMIT")

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            with contextlib.closing(sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)) as index:
                yield index  # what is not committed when it is closed is undone
        except (sqlite3.Error, orjson.JSONDecodeError, TypeError, KeyError, UnicodeDecodeError) as error:
            raise ResultError(f"the history {self.path} cannot be used: {error}") from error

    def _check(self, index: sqlite3.Connection) -> None:
        application, version = (index.execute(f"PRAGMA {name}").fetchone()[0] for name in _PRAGMAS)
        if application != _APPLICATION:
            raise ResultError(f"{self.path} is not a history of rankgauge")
        if version != _VERSION:
            raise ResultError(f"{self.path} has version {version}; this version of rankgauge reads {_VERSION}")


_PRAGMAS = ("application_id", "user_version")


def _updated(known: Entry, given: Entry, *, named: bool) -> Entry:
    """Return an entry that is added again: what is given now beats what was known."""
    return replace(
        given,
        name=given.name if named else known.name,
        commit=given.commit or known.commit,
        tags=tuple(dict.fromkeys((*known.tags, *given.tags))),
        passed=known.passed if given.passed is None else given.passed,
    )


def _lists(means: Mapping[str, Mean]) -> dict[str, list[Any]]:
    return {name: list(mean) for name, mean in means.items()}


def _means(rows: Mapping[str, Iterable[Any]]) -> FrozenMap[str, Mean]:
    return FrozenMap({name: Mean(*row) for name, row in rows.items()})
