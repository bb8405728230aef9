"""Finding the fields of lines, however they are separated."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.columns import PADDING
from rankgauge.io.trec.line_fields import MalformedError, find_fields

LINES = st.lists(
    st.lists(st.text("ab#1.é", min_size=1, max_size=4), max_size=7).flatmap(
        lambda words: st.tuples(
            st.sampled_from(["", " ", "\t"]), st.sampled_from([" ", "\t", "  ", " \t "]), st.just(words)
        ).map(lambda parts: parts[0] + parts[1].join(parts[2]))
    ),
    max_size=8,
)


def found(text, count, *, more):
    """Return the fields of a text, as tuples of bytes."""
    data = text.encode()
    buffer = np.full(len(data) + 2 * PADDING, 255, dtype=np.uint8)
    buffer[PADDING : PADDING + len(data)] = np.frombuffer(data, dtype=np.uint8)
    fields = find_fields(buffer, PADDING + len(data), count, more=more)
    return list(zip(*(fields.column(number).texts() for number in range(count)), strict=True))


def expected(text, count, *, more):
    """The same, one line at a time."""
    rows = []
    for line in text.split("\n"):
        fields = [field for field in re.split(r"[\x00-\x20]+", line) if field]
        if not fields or line.startswith("#"):
            continue
        if len(fields) < count or (len(fields) > count and not more):
            raise MalformedError
        rows.append(tuple(field.encode() for field in fields[:count]))
    return rows


@given(LINES, st.integers(1, 5), st.booleans(), st.sampled_from(["\n", "\r\n", "\n\n"]))
def test_fields_are_those_of_a_line_by_line_reading(lines, count, more, end):
    text = "".join(line + end for line in lines)
    try:
        wanted = expected(text, count, more=more)
    except MalformedError:
        with pytest.raises(MalformedError):
            found(text, count, more=more)
    else:
        assert found(text, count, more=more) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "q1 Q0 d1 1 2.5 tag\nq2 Q0 d2 1 1.5 tag\n",
        "q1\tQ0\td1\t1\t2.5\ttag\nq2\tQ0\td2\t1\t1.5\ttag\n",
        "q1  Q0 d1   1 2.5 tag\n q2 Q0\t\td2 1 1.5 tag \n",
        "q1 Q0 d1 1 2.5 tag\r\nq2 Q0 d2 1 1.5 tag\r\n",
        "# a comment of six words here\nq1 Q0 d1 1 2.5 tag\n\nq2 Q0 d2 1 1.5 tag and more of it\n",
        "q1 Q0 d1 1 2.5 tag\n# Q0 d9 9 9.9 tag\nq2 Q0 d2 1 1.5 tag\n",
        "q1 Q0 d1 1 2.5 tag\n#Q0 Q0 d9 9 9.9 tag\nq2 Q0 d2 1 1.5 tag\n",
    ],
)
def test_every_way_of_writing_two_lines(text):
    assert [row[2] for row in found(text, 6, more=True)] == [b"d1", b"d2"]


def test_an_id_may_hold_a_hash_but_not_begin_the_line_with_one():
    assert found("q#1 Q0 #d 1 2.5 tag\n", 3, more=True) == [(b"q#1", b"Q0", b"#d")]
    assert found(" #q Q0 d 1 2.5 tag\n", 3, more=True) == [(b"#q", b"Q0", b"d")]


def test_lines_that_make_up_for_each_other_are_malformed():
    """Five fields and seven are not twice six."""
    with pytest.raises(MalformedError):
        found("a b c d e\na b c d e f g\n", 6, more=True)
