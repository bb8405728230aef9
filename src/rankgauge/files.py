"""
Files: judgments, runs, samples, corpora and records in every format that rankgauge reads, and writing without halves.

Every function that reads raises a `rankgauge.errors.DataError` with the file and the line of each problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

from rankgauge.catalog import Catalog
from rankgauge.errors import Problem
from rankgauge.io import builtin_formats, corpus, documents, field_names, file_records, files, open_sources
from rankgauge.io.corpus import Corpus
from rankgauge.io.problems import refuse
from rankgauge.io.record_paths import values_at
from rankgauge.io.whole_files import check_new_file, json_lines, write_whole
from rankgauge.plugin import Record, Source
from rankgauge.samples import Fault, Output, Sample, sample_records

__all__ = [
    "Corpus",
    "Fault",
    "Output",
    "check_new_file",
    "find_columns",
    "json_lines",
    "open_file",
    "plain_suffix",
    "read_bytes",
    "read_corpus",
    "read_json",
    "read_jsonl",
    "read_parquet",
    "read_qrels",
    "read_run",
    "read_sample",
    "records",
    "refuse",
    "values_at",
    "write_whole",
]


def read_qrels(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    catalog: Catalog | None = None,
    notes: list[str] | None = None,
) -> dict[str, dict[str, float]]:
    """
    Read judgments.

        qrels = read_qrels("qrels.txt")
        qrels["q1"]["d3"]  # 2.0

    Args:
        path: A file in any format that `rankgauge.evaluate` reads, or ``ir_datasets:NAME``.

        columns: The file's own names for `query`, `document` and `grade`.

        catalog: What plugins offer; needed for their formats only.

        notes: A list to which is added what a reader of the file should know, such as that judgments of several
            assessors were merged to the highest grade.

    Returns:
        The grade by query and document, also those below 0, which mark unjudged documents. Bytes of ids
        that are not UTF-8 are surrogates, as ``errors="surrogateescape"`` decodes them.

    Raises:
        DataError: Lines that cannot be used, all of them at once; or there are no judgments.
    """
    qrels = open_sources.open_qrels(path, columns=columns, catalog=catalog)
    if notes is not None and qrels.merged_note:
        notes.append(qrels.merged_note)
    queries = list(map(_decoded, qrels.queries))
    grades: dict[str, dict[str, float]] = {query: {} for query in queries}
    documents = map(_decoded, qrels.documents.texts())
    for owner, document, grade in zip(qrels.owners.tolist(), documents, qrels.grades.tolist(), strict=True):
        grades[queries[owner]][document] = grade
    return grades


def read_run(
    path: str | Path, *, columns: Mapping[str, str] | None = None, catalog: Catalog | None = None
) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    """
    Read a run, one query after the other, so that it need not fit into memory.

        for query, ranking in read_run("run.txt"):
            ...

    Args:
        path: A file in any format that `rankgauge.evaluate` reads.

        columns: The file's own names for `query`, `document`, `score` and `rank`.

        catalog: What plugins offer; needed for their formats only.

    Returns:
        Each query once, in any order, with its documents and their scores in the order of the file, of which no policy
        has dropped or moved any; ids as in `read_qrels`.

    Raises:
        DataError: Lines that cannot be used.
    """
    for batch in open_sources.open_run(path, columns=columns, catalog=catalog).grouped():
        scored = zip(map(_decoded, batch.documents.texts()), batch.scores.tolist(), strict=True)
        for query, length in zip(map(_decoded, batch.queries), batch.lengths.tolist(), strict=True):
            yield query, [next(scored) for _ in range(length)]


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def read_corpus(path: str | Path, *, catalog: Catalog | None = None, named: AbstractSet[str] = frozenset()) -> Corpus:
    """
    Read a corpus: the documents of a file of rows with an id and a text, of a folder of texts, or of ``ir_datasets``.

    Args:
        path: The file, the folder, or ``ir_datasets:NAME``.

        catalog: What plugins offer; by default everything that is installed.

        named: Ids that should be found. The ids of a folder's texts are their paths in it, or these without folders or
            endings, where more of the *named* ids are found so.

    Returns:
        The documents, in the order of the file.

    Raises:
        DataError: Rows without an id, or with one that came before.

        NothingToEvaluateError: There is no document.
    """
    return corpus.read_corpus(Path(path), catalog=catalog or Catalog.installed(), named=named)


def read_sample(
    record: object,
    *,
    problems: list[Problem],
    needs_gold: bool = True,
    file: str = "",
    line: int | None = None,
    path: str = "",
) -> Sample | None:
    """
    Read one sample of the dataset contract.

    Args:
        record: A mapping with `id`, `expected_output`, and perhaps `input`, `actual_output` and `metadata`.

        problems: What is wrong with it is added to this list; `refuse` raises all of them.

        needs_gold: Whether a sample without `expected_output` is a problem.

        file: Where the record is from, for messages.

        line: Its line there.

        path: Its place in a document, such as ``samples[3]``.

    Returns:
        The sample, None if it cannot be used. A malformed `actual_output` is no problem of the data: it is the sample's
        `Fault`.
    """
    rules = sample_records.SampleRules(needs_gold=needs_gold)
    return sample_records.read_sample(record, rules, problems=problems, file=file, line=line, path=path)


def records(path: str | Path, *, catalog: Catalog | None = None, reader: str = "") -> Iterator[Record]:
    """
    Read the records of a file in the format that its ending names: JSON lines, JSON, YAML, Parquet, CSV, or a plugin's.

    Args:
        path: The file, perhaps compressed (``.gz``, ``.zst``).

        catalog: What plugins offer; by default everything that is installed.

        reader: The name of the reader to take, whatever the file is called.

    Returns:
        Each record with its place. The value of one that cannot be decoded is a `Fault`.

    Raises:
        DataError: The file cannot be read, or no reader knows its ending.
    """
    return file_records.records(Path(path), catalog or Catalog.installed(), reader)


def open_file(path: str | Path) -> AbstractContextManager[Source]:
    """
    Open a file for reading as readers of plugins get it.

        with open_file("spans.jsonl.gz") as source:
            first = source.stream.readline()

    Args:
        path: A regular file; ``.gz`` and ``.zst`` are decompressed.

    Returns:
        A context manager. Whatever is raised while it is open is a `DataError` that names the file.

    Raises:
        DataError: There is no such file, or it is damaged, or no text.
    """
    return files.open_file(Path(path))


def read_bytes(path: str | Path) -> bytes:
    """
    Return the content of a small file, decompressed and without a byte-order mark.

    Args:
        path: A regular file.

    Returns:
        Its content.

    Raises:
        DataError: There is no such file, or it is damaged, or no text.
    """
    return files.read_bytes(Path(path))


def read_jsonl(source: Source) -> Iterator[Record]:
    """
    Read JSON lines.

    Args:
        source: An open file.

    Returns:
        The value on each line with its number; blank lines are skipped, and the value of a line that is not JSON is a
        `Fault`.
    """
    return builtin_formats.read_jsonl(source)


def read_json(source: Source) -> Any:  # noqa: ANN401  # any JSON value
    """
    Read one JSON document.

    Args:
        source: An open file.

    Returns:
        The value of the whole file.

    Raises:
        DataError: It is not JSON or not UTF-8, with the line.
    """
    return documents.read_json(source.stream.read(), source.name, offset=source.offset)[0]


def read_parquet(source: Source) -> Iterator[Record]:
    """
    Read a Parquet file.

    Args:
        source: An open file.

    Returns:
        The value of each row with its place, such as ``row 3``; nulls are left out, at any depth.

    Raises:
        DataError: It is not a Parquet file, or damaged.
    """
    return builtin_formats.read_parquet(source)


def plain_suffix(path: str | Path) -> str:
    """
    Return what a file's name ends in, without the ending of a compression.

    Args:
        path: A file's path.

    Returns:
        Such as ``.jsonl`` for ``SPANS.jsonl.gz``, in lower case.
    """
    return files.plain_suffix(Path(path))


def find_columns(
    names: Sequence[str], kind: Literal["qrels", "run"], columns: Mapping[str, str] | None = None
) -> dict[str, str]:
    """
    Find the columns of judgments or of a run among those of a table.

        find_columns(["qid", "docno", "sim"], "run")  # {"query": "qid", "document": "docno", "score": "sim"}

    Args:
        names: The columns that the table has.

        kind: What the table holds.

        columns: The table's own names for some roles, as `rankgauge.evaluate` takes them.

    Returns:
        The name of the column for each role: `query`, `document`, of judgments `grade` and perhaps `intent`, of a run
        `score` or `rank`, or both.

    Raises:
        DataError: A column that is missing, or that could be several.
    """
    field_names.check_columns(columns)
    found = field_names.find_columns(names, kind, columns)
    number = "grade" if kind == "qrels" else "score"
    roles = {
        "query": found.query,
        "document": found.document,
        number: found.value,
        "intent": found.intent,
        "rank": found.rank,
    }
    return {role: name for role, name in roles.items() if name is not None}
