"""
Result folders of a command: where results are saved, settled before anything is computed, and read by name.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.base.plain_text import visible
from rankgauge.cli.console import in_steps, remark
from rankgauge.cli.conventions import one_dataset, run_names
from rankgauge.errors import DataError, ParameterError, Problem, ResultError, UnreadableError, counted
from rankgauge.io.files import is_there, real_path
from rankgauge.io.whole_files import obstacle

if TYPE_CHECKING:
    from rankgauge.result import Result
    from rankgauge.result.given_scores import Direction
    from rankgauge.result.staging import Staging


@dataclass(kw_only=True)
class Folders:
    """
    Where results are saved: in the folder that was asked for, else in a new one below the config's *directory*.

    A run that goes on with an earlier one (*resume*) takes its place, unless another folder was asked for. Any other
    result is replaced by *force* alone. With *keep_data* the folders hold copies of data and outputs.
    """

    output: Path | None
    directory: str | None = None
    several: bool
    resume: Path | None = None
    force: bool = False
    keep_data: bool = False
    saved: list[Path] = field(default_factory=list)
    _names: list[str] = field(default_factory=list)
    _staged: dict[str, Staging] = field(default_factory=dict)
    _reserved: list[Path] = field(default_factory=list)

    @property
    def saves(self) -> bool:
        """Return whether results are saved at all."""
        return any(place is not None for place in (self.output, self.directory, self.resume))

    @contextlib.contextmanager
    def staged(self, names: Iterable[str]) -> Iterator[None]:
        """Make a hidden folder for the result of each dataset; what is not saved in the end is removed."""
        try:
            self._stage(list(names))
            yield
        finally:
            self._close()

    def staging(self, name: str) -> Staging | None:
        """Return the hidden folder of a dataset; None if nothing is saved."""
        return self._staged.get(name)

    def earlier(self, name: str) -> tuple[Path | None, list[Path]]:
        """
        Return the folder of the run to go on with, if it was named and is there, and others that may be of it.

        The latter are what killed runs left of the same place, the one with most outputs first.
        """
        if self.resume is None:
            return None, []
        from rankgauge.result.staging import abandoned, has_outputs, is_staging

        staging = self._staged[name]
        folder = self._resumed(name)
        is_left = is_staging(self.resume) and self._is_of(self.resume, folder)
        named = self.resume if is_left else folder
        others = staging.left_behind()
        if not has_outputs(named):
            others += [path for path in abandoned(folder.parent, folder.name) if path not in others]
            others += [folder] if is_left else []  # it was gone on with before, and saved
        others = [path for path in others if has_outputs(path) and real_path(path) != real_path(named)]
        others.sort(key=lambda path: -(path / "outputs.jsonl").stat().st_size)
        if has_outputs(named):
            return named, others
        if not others and not self.several:
            raise ResultError(
                f"--resume: {named} holds no outputs of a system under test, and no run beside it was killed"
            )
        return None, others

    def save(self, name: str, result: Result) -> None:
        """Save the result of one dataset, if results are to be saved."""
        staging = self._staged.get(name)
        if staging is not None:
            from rankgauge.report import save_result

            self.saved.append(save_result(result, staging, keep_data=self.keep_data))

    def tell(self) -> None:
        """Say where results were saved."""
        for folder in self.saved:
            remark(f"saved to {folder}")

    def _stage(self, names: list[str]) -> None:
        self._names = names
        root = self.output or self.resume
        if root is None and self.directory is None:
            if self.keep_data:
                raise ParameterError("--keep-data copies into a result folder; name one with -o FOLDER")
            return
        from rankgauge.result.staging import Staging, abandoned, replaced_results

        if root is not None and self.several and not is_there(root):
            self._reserved.append(root)  # staging makes it, and it is to be absent if nothing is saved
        for name in names:
            if root is None:
                parent = Path(self.directory or "")
                left, replaced = abandoned(parent), replaced_results(parent)
                staging = self._staged[name] = Staging(self._reserve(parent, name))
            else:
                folder = self._resumed(name) if self.output is None else self._folder(self.output, name)
                staging = self._staged[name] = Staging(folder, **self._replaces(folder, name))
                left, replaced = staging.left_behind(), staging.replaced()
            self._warn(left, replaced, is_sure=staging.sees_others)

    def _resumed(self, name: str) -> Path:
        """Return the folder that the earlier run of a dataset is or was to become, by its name and by no file in it."""
        from rankgauge.result.staging import has_outputs, is_staging, target_of

        if self.resume is None:
            raise ParameterError("nothing is resumed")
        is_one = is_staging(self.resume)
        folder = target_of(self.resume) if is_one else self.resume
        if not self.several:
            return folder
        if not is_one and not has_outputs(folder):
            return self._folder(folder, name)
        ends = [end for end in map(plain_name, self._names) if folder.name.endswith(end)]
        if not ends:
            raise ParameterError(f"--resume {self.resume} is of none of the datasets: {', '.join(self._names)}")
        return folder.with_name(folder.name.removesuffix(max(ends, key=len)) + plain_name(name))

    def _replaces(self, folder: Path, name: str) -> dict[str, Any]:
        """Return which result may be replaced: the earlier run itself; beside what a killed run left may be a newer."""
        from rankgauge.result.staging import is_staging

        if self.force or self.resume is None or real_path(folder) != real_path(self._resumed(name)):
            return {"replaces": self.force}
        if is_staging(self.resume) and self.resume.is_dir() and self._is_of(self.resume, folder):
            return {"continued": self.resume}
        return {"replaces": True}

    @staticmethod
    def _is_of(left: Path, folder: Path) -> bool:
        """Return whether a run that was killed was to become a folder."""
        from rankgauge.result.staging import target_of

        return target_of(left) == real_path(folder)

    def _reserve(self, parent: Path, name: str) -> Path:
        """Return a new folder that no other run can take."""
        from rankgauge.result.staging import cannot_save

        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        base = folder = parent / f"{stamp}-{plain_name(name)}"
        count = 2
        while True:
            try:
                parent.mkdir(parents=True, exist_ok=True)
                folder.mkdir()
            except FileExistsError:
                if not parent.is_dir():
                    raise cannot_save(base, NotADirectoryError(f"{parent} is not a folder")) from None
                folder, count = base.with_name(f"{base.name}-{count}"), count + 1
            except OSError as error:
                raise cannot_save(folder, error) from error
            else:
                self._reserved.append(folder)
                return folder

    def _warn(self, left: Iterable[Path], replaced: Iterable[Path], *, is_sure: bool) -> None:
        """Name what processes have left that were killed; if there are no locks it is not *sure* that they were."""
        run = "a run that was killed" if is_sure else "a run that was killed or goes on, which cannot be seen here"
        delete = "delete it" if is_sure else "delete it if no run is at work there"
        for folder in left:
            file = folder / "outputs.jsonl"
            if not file.is_file():
                remark(f"{folder} was left by {run}; nothing in it is needed, so {delete}")
            elif self.resume is None:
                lines = file.read_bytes().count(b"\n")
                remark(
                    f"{folder} has {counted(lines, 'output')} of {run}; go on with it: --resume {folder}, or {delete}"
                )
        for folder in replaced:
            remark(f"{folder} is a result that another one has replaced; {delete}")

    def _close(self) -> None:
        for staging in self._staged.values():
            if (left := staging.discard()) is not None:
                remark(f"the outputs so far are in {left}; go on with them: --resume {left}")
        for folder in self._reserved:
            with contextlib.suppress(OSError):  # a result is in it
                folder.rmdir()
        self._staged.clear()
        self._reserved.clear()

    def _folder(self, folder: Path, name: str) -> Path:
        return folder / plain_name(name) if self.several else folder


def folders_within(folder: Path) -> list[Path]:
    """Return the result folders in a folder, or the folder itself if it is one or has none."""
    inner = sorted(manifest.parent for manifest in folder.glob("*/manifest.json"))
    return [folder] if (folder / "manifest.json").exists() or not inner else inner


def check_html(file: Path | None) -> None:
    """Refuse a path that a report cannot be written to, before anything is computed."""
    if file is not None and (why := obstacle(file)):
        raise ParameterError(f"cannot write the report {visible(str(file))}: {why}")


def plain_name(name: str) -> str:
    """
    Return a dataset's name as the name of one folder: no separators, no dots at the ends, at most 100 characters.

    What differs before differs after: a name that is changed gets a few digits of its hash.
    """
    plain = re.sub(r"[^\w.-]+", "-", name).strip(".-")[:100] or "data"
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode(errors='replace')).hexdigest()[:8]}"


def result_names(paths: Sequence[str]) -> list[str]:
    """Return a name for each file or folder; one that is compared with itself gets a number the second time."""
    distinct = list(dict.fromkeys(paths))
    by_path = dict(zip(distinct, run_names(distinct), strict=True))
    counts: dict[str, int] = {}
    names = []
    for path in paths:
        counts[path] = counts.get(path, 0) + 1
        names.append(by_path[path] if counts[path] == 1 else f"{by_path[path]} ({counts[path]})")
    return names


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """How scores of another tool are read: which columns hold what, and which way measures are better."""

    columns: Mapping[str, str] | None = None
    better: Mapping[str, Direction] | None = None


def stored_results(
    paths: Sequence[str], dataset: str | None = None, *, of_runs: str, scores: ScoreOptions | None = None
) -> dict[str, Result]:
    """
    Load result folders, baseline files and files of scores by name; of those with several datasets, the one named.

    A file with the scores of several systems gives all of them, unless *dataset* names one. *of_runs* tells who gave
    something else what the command has for TREC runs.
    """
    named = list(zip(result_names(paths), paths, strict=True))
    found: dict[str, Result] = {}
    for name, path in in_steps("reading results", named):
        systems = _loaded(Path(path), dataset, of_runs, scores or ScoreOptions())
        for system, result in systems.items():
            own = name if len(systems) == 1 else system
            found[own if own not in found else f"{name}: {system}"] = result
    return found


def _loaded(path: Path, dataset: str | None, of_runs: str, scores: ScoreOptions) -> dict[str, Result]:
    from rankgauge.gates.baseline import holds_scores, load_baseline
    from rankgauge.result.given_scores import load_scores

    if not path.exists():
        raise ResultError(f"{visible(str(path))} does not exist; {of_runs}")
    if not holds_scores(path):
        results = load_baseline(path)
        name = one_dataset(path, dataset, results)
        return {name: results[name]}
    try:
        systems = load_scores(path, columns=scores.columns, better=scores.better)
    except UnreadableError:
        raise
    except DataError as error:
        is_neither = f"{visible(str(path))} is neither a result folder nor a baseline file (.json)"
        title = f"{is_neither}, and as scores of queries it cannot be read:"
        raise DataError(title, [*error.problems, Problem(of_runs)]) from error
    if dataset is None or (len(systems) == 1 and dataset not in systems):
        return systems
    name = one_dataset(path, dataset, systems)
    return {name: systems[name]}
