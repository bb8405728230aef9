"""
The seam between bytes and columns: a block of lines, of a run or of judgments, becomes columns in one function.

Of a wrong line it says nothing but that there is one; `explain` says what is wrong with it.
Behind it are numpy's passes over the block (`line_fields`, `decimal_texts`), or the compiled kernel if it is
installed and the block is plain: one blank between fields, and no comments.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.plain_text import read_number
from rankgauge.catalog import compiled_kernel
from rankgauge.columns import PADDING, Floats, Ints, Slices, Words
from rankgauge.errors import DataError, Problem, counted
from rankgauge.io.files import open_file
from rankgauge.io.problems import SUBJECTS, MalformedError, first_problems
from rankgauge.io.recognize import TREC_LINE, is_run_line, shortened, split_line
from rankgauge.io.stated_ranks import are_ranks, scores_of_ranks
from rankgauge.io.trec.decimal_texts import parse_floats
from rankgauge.io.trec.line_fields import Fields, find_fields, has_control
from rankgauge.io.trec.odd_lines import are_no_ranks

__all__ = ["QRELS", "RUN", "Form", "Lines", "explain", "read_lines"]


class Form(NamedTuple):
    """The number, from 0, of each field of a line by what it is."""

    line: str  # for messages
    fields: int
    number: int  # the score or grade, or the rank that orders instead of a score
    is_run: bool  # documents are hashed
    query: int = 0
    document: int = 2
    rank: int | None = None  # the stated rank beside a score
    intent: int | None = None
    is_ranked: bool = False  # whether the number is a rank, of which the lowest is the best
    more: bool = False  # whether further fields are allowed

    @classmethod
    def of(cls, columns: Sequence[str], *, is_run: bool) -> Form:
        """Return the form of lines without a header, by what each of their columns is."""
        places = {role: place for place, role in enumerate(columns)}
        number = places.get("score", places.get("rank", -1)) if is_run else places["grade"]
        return cls(
            " ".join(columns),
            len(columns),
            number,
            is_run,
            places["query"],
            places["document"],
            rank=places.get("rank") if "score" in places else None,
            intent=places.get("intent"),
            is_ranked=is_run and "score" not in places,
        )


RUN = Form(TREC_LINE["run"], 6, 4, is_run=True, rank=3, more=True)
QRELS = Form(TREC_LINE["qrels"], 4, 3, is_run=False, intent=1)
_MOST_UNREAD = 8  # numpy reads a block in which one in so many numbers has another notation
_NEAR = 256  # within how many bytes such a number is looked for


class Lines(NamedTuple):
    """Lines as columns: stretches of one query each, and the lines."""

    queries: Slices  # the query of each stretch
    first: Ints  # the first line of each
    documents: Slices
    numbers: Floats  # scores or grades, all finite
    keys: Words  # of the documents of a run; none for judgments
    left: Ints  # where the lines of the last query begin, if they were left out
    stated: Floats | None = None  # the ranks that lines state, NaN if that is no number; None if not asked for
    n_odd: int = 0  # how many lines of a run have further fields, or a rank that is no number

    @property
    def lengths(self) -> Ints:
        """Return how many lines each stretch has."""
        return np.diff(np.append(self.first, len(self.numbers)))


def read_lines(
    buffer: NDArray[np.uint8], end: int, form: Form, *, is_whole: bool = True, ranks: bool = False
) -> Lines | None:
    """
    Read the lines of a buffer from `PADDING` to *end*; None if there are none but comments and empty ones.

    Unless the block *is_whole*, its last query may go on behind it, and is left out. Raises `MalformedError` for lines
    that `explain` finds wrong.
    """
    if end > PADDING and not ranks and (lines := _compiled(buffer, end, form, is_whole=is_whole)) is not None:
        return lines
    fields = find_fields(buffer, end, form.fields, more=form.more) if end > PADDING else None
    return _columns(fields, form, is_whole=is_whole, ranks=ranks) if fields else None


def _columns(fields: Fields, form: Form, *, is_whole: bool, ranks: bool) -> Lines:
    """Return the columns of fields."""
    begins, left = fields.column(form.query).begins(), fields.begin[:0]
    if not is_whole:
        last = int(np.flatnonzero(begins)[-1])
        left, fields, begins = fields.begin[last:], fields.until(last), begins[:last]
    first, documents = np.flatnonzero(begins), fields.column(form.document)
    numbers, wrong = parse_floats(fields.column(form.number))
    if len(wrong) or (form.is_ranked and not are_ranks(numbers)):
        raise MalformedError
    numbers = scores_of_ranks(numbers) if form.is_ranked else numbers
    stated = parse_floats(fields.column(form.rank))[0] if ranks and form.rank is not None else None
    keys = documents.keys() if form.is_run else np.empty(0, dtype=np.uint64)
    n_odd = _n_odd(fields, stated) if form == RUN else 0
    return Lines(fields.column(form.query).at(first), first, documents, numbers, keys, left, stated, n_odd)


def _n_odd(fields: Fields, stated: Floats | None) -> int:
    """Return how many lines of TREC text have further fields, or a rank that is no number."""
    is_odd = are_no_ranks(fields.buffer, fields.column(RUN.rank or 0).start) if stated is None else np.isnan(stated)
    if fields.has_more is not None:
        is_odd |= fields.has_more
    return int(np.count_nonzero(is_odd))


def _compiled(buffer: NDArray[np.uint8], end: int, form: Form, *, is_whole: bool) -> Lines | None:
    """Return what a compiled kernel makes of lines; None if there is none, or numpy has to decide."""
    if form not in {RUN, QRELS}:
        return None
    columns = compiled_kernel.read_lines(buffer, end, is_run=form.is_run)
    if columns is None or (not is_whole and len(columns.first) < 2):
        return None
    queries, first, documents, numbers, keys, n_unread = columns
    if n_unread * _MOST_UNREAD > len(numbers) or not _read_others(columns, form):
        return None
    left = first[:0]
    if not is_whole:
        last = int(first[-1])
        left, queries, first = queries.start[-1:], queries.at(slice(-1)), first[:-1]
        documents, numbers, keys = documents.at(slice(last)), numbers[:last], keys[:last]
    n_odd = 0
    if form.is_run:  # one blank behind the document is its rank
        n_odd = int(np.count_nonzero(are_no_ranks(buffer, documents.start + documents.length + 1)))
    return Lines(queries, first, documents, numbers, keys, left, n_odd=n_odd)


def _read_others(columns: compiled_kernel.LineColumns, form: Form) -> bool:
    """Read the numbers that the kernel left, such as 1e-5; return whether all are finite."""
    documents, numbers = columns.documents, columns.numbers
    for row in np.flatnonzero(np.isnan(numbers)).tolist() if columns.n_unread else ():
        behind = int(documents.start[row] + documents.length[row])
        line, newline, _ = bytes(documents.buffer[behind : behind + _NEAR]).partition(b"\n")
        if not newline:
            return False
        numbers[row] = read_number(line.split()[form.number - form.document - 1])
    return not columns.n_unread or not np.isnan(numbers).any()


def explain(path: Path, name: str, form: Form) -> DataError:
    """Return what is wrong with judgments or a run that could not be read: a problem for each wrong line."""
    title = f"{SUBJECTS['run' if form.is_run else 'qrels']} cannot be read; a line is `{form.line}`:"
    return DataError(title, first_problems(_wrong_lines(path, name, form), name))


def _wrong_lines(path: Path, name: str, form: Form) -> Iterator[Problem]:
    with open_file(path, name=name) as opened:
        for number, line in enumerate(opened.stream, 1):
            fields = split_line(line)
            if has_control(np.frombuffer(line, np.uint8)):
                yield Problem(f"it holds a control character: {shortened(line.rstrip())}; remove it", name, number)
            elif fields and not line.startswith(b"#") and (flaw := _flaw(fields, form)):
                yield Problem(flaw, name, number)


def _flaw(fields: list[bytes], form: Form) -> str:
    """Return what is wrong with the fields of a line; empty if nothing is."""
    if len(fields) < form.fields or (len(fields) > form.fields and not form.more):
        is_swapped = not form.is_run and is_run_line(fields)
        hint = " (a line of a run; are the two files swapped?)" if is_swapped else ""
        return f"{counted(len(fields), 'field')} where {form.fields} are needed{hint}: {shortened(b' '.join(fields))}"
    number = read_number(fields[form.number])
    if form.is_ranked:
        is_rank = are_ranks(np.array([number]))
        return "" if is_rank else f"the rank {shortened(fields[form.number])} is not a whole number from 0 on"
    what = "score" if form.is_run else "grade"
    return f"the {what} {shortened(fields[form.number])} is not a finite number" if math.isnan(number) else ""
