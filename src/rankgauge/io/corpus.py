"""
A corpus: the documents of a file or of a folder of texts, as columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from rankgauge.catalog import Catalog
from rankgauge.errors import NothingToEvaluateError, Problem
from rankgauge.io.documents import decode_text
from rankgauge.io.file_records import document_of, records, tabbed
from rankgauge.io.files import open_file, plain_suffix
from rankgauge.io.ir_datasets_names import documents_named, is_named
from rankgauge.io.problems import first_problems, refuse
from rankgauge.samples import Fault

__all__ = ["Corpus", "read_corpus"]

_ROW = "the corpus cannot be read; a row is an object with an id and a text:"


@dataclass(frozen=True)
class Corpus:
    """
    Documents by number.

    Attributes:
        ids: The id of each document.

        titles: Its title; empty for one without.

        texts: Its text.

        naming: Which part of the paths in a folder the ids are; empty if they are the whole paths, or are from a
            file.
    """

    ids: tuple[str, ...]
    titles: tuple[str, ...]
    texts: tuple[str, ...]
    naming: str = ""

    @cached_property
    def wholes(self) -> tuple[str, ...]:
        """Return each title and text together, the title once."""
        return tuple(
            f"{title}\n{text}" if title and not text.startswith(title) else text
            for title, text in zip(self.titles, self.texts, strict=True)
        )

    @cached_property
    def number_of(self) -> Mapping[str, int]:
        """Return the number of each id."""
        return {name: number for number, name in enumerate(self.ids)}


_NAMINGS: Mapping[str, Callable[[PurePosixPath], str]] = {
    "": PurePosixPath.as_posix,
    "paths without their endings": lambda path: path.with_suffix("").as_posix(),
    "names of files": lambda path: path.name,
    "names of files without their endings": lambda path: path.stem,
}
"""What the ids of the texts in a folder may be; the first one goes where labels do not decide."""


def read_corpus(path: Path, *, catalog: Catalog, named: AbstractSet[str] = frozenset()) -> Corpus:
    """
    Read a corpus: a file of rows with an id and a text, a folder of text files, or ``ir_datasets:NAME``.

    The ids of a folder's texts are their paths in it; without their endings, folders, or both, where more of the
    *named* ids are found so and each is of one text.

    Raises `DataError` for rows without an id or with one that came before, `NothingToEvaluateError` for no document.
    """
    documents: dict[str, tuple[str, str]] = {}
    problems: list[Problem] = []
    for name, title, text, problem in _documents(path, catalog):
        if not problem.message and name in documents:
            problems.append(problem._replace(message=f"a document {name!r} came before; ids are unique"))
        elif problem.message:
            problems.append(problem)
        documents[name] = title, text
    refuse(_ROW, first_problems(problems, str(path)))
    if not documents:
        raise NothingToEvaluateError(f"{path} has no documents; there is nothing to check labels against", [])
    titles, texts = zip(*documents.values(), strict=True)
    naming, ids = _named(tuple(documents), named) if path.is_dir() else ("", tuple(documents))
    return Corpus(ids, titles, texts, naming)


def _named(paths: Sequence[str], named: AbstractSet[str]) -> tuple[str, tuple[str, ...]]:
    """Return the naming of texts in a folder by which most of the *named* ids are found, and the ids by it."""
    by_naming = {naming: tuple(map(name, map(PurePosixPath, paths))) for naming, name in _NAMINGS.items()}
    unique = [naming for naming, ids in by_naming.items() if len({*ids}) == len(ids)]
    best = max(unique, key=lambda naming: len(named & {*by_naming[naming]}))
    return best, by_naming[best]


def _documents(path: Path, catalog: Catalog) -> Iterator[tuple[str, str, str, Problem]]:
    """Yield id, title and text of each document, with its place; the place has a message where there is a problem."""
    if is_named(path):
        for name, text in documents_named(path):
            yield name, "", text, Problem("", str(path))
    elif path.is_dir():
        for file in sorted(file for file in path.rglob("*") if file.is_file() and not _is_hidden(file, path)):
            text = decode_text(file.read_bytes(), str(file))
            yield file.relative_to(path).as_posix(), "", text, Problem("", str(file))
    elif plain_suffix(path) == ".tsv":
        with open_file(path) as opened:
            for number, (name, text) in enumerate(tabbed(opened), 1):
                yield name, "", text, Problem("" if name else "a row needs an id, a tab and a text", str(path), number)
    else:
        for record in records(path, catalog):
            row = record.value
            name, title, text = document_of(row) if isinstance(row, Mapping) else ("", "", "")
            why = row.reason if isinstance(row, Fault) else "" if name else "a row needs an id (id, _id, doc_id, docid)"
            yield name, title, text, Problem(why, str(path), record.line, record.path)


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)
