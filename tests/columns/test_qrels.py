"""Judgments as columns, and finding judged pairs."""

import dataclasses

import numpy as np
import pytest

from rankgauge.columns import Qrels, Slices
from rankgauge.errors import DataError, RepeatedJudgmentsError


def make(rows):
    """Return judgments of rows (query, document, grade) as a file would give them."""
    queries = list(dict.fromkeys(query for query, _, _ in rows))
    owners = np.array([queries.index(query) for query, _, _ in rows], dtype=np.int64)
    grades = np.array([grade for _, _, grade in rows], dtype=np.float64)
    return Qrels.of(queries, owners, Slices.of([document for _, document, _ in rows]), grades, "q.txt")


def test_queries_stand_in_byte_order_with_their_judgments():
    qrels = make([(b"q2", b"a", 1), (b"Q1", b"b", 2), (b"q2", b"c", 0), (b"q10", b"a", 3)])
    assert qrels.queries == (b"Q1", b"q10", b"q2")
    assert qrels.lengths.tolist() == [1, 1, 2]
    assert qrels.documents.texts() == [b"b", b"a", b"a", b"c"]
    assert qrels.grades.tolist() == [2.0, 3.0, 1.0, 0.0]
    assert qrels.names == ("b", "a", "a", "c")
    assert qrels.query_names == ("Q1", "q10", "q2")


def test_judgments_in_memory_are_the_same_as_those_of_a_file():
    """`q10` has no judgment; texts stand in the order given until somebody asks for them in order."""
    lengths = np.array([2, 1, 0, 1])
    texts = Qrels.of_texts(["q2", "Q1", "q10", "é"], lengths, ["a", "c", "b", "d"], np.array([1.0, 0.0, 2.0, 3.0]))
    assert texts.query_names == ("Q1", "q10", "q2", "é")
    assert texts.lengths.tolist() == [1, 0, 2, 1]
    assert texts.grades.tolist() == [2.0, 1.0, 0.0, 3.0]
    assert texts.names == ("b", "a", "c", "d")
    assert texts.documents.texts() == [b"b", b"a", b"c", b"d"]
    assert texts.given.queries == ("q2", "Q1", "q10", "é")
    assert texts.given.places.tolist() == [2, 0, 1, 3]
    ordered = Qrels.of_texts(texts.query_names, texts.lengths, texts.names, texts.grades)
    assert texts.fingerprint == ordered.fingerprint
    assert ordered.given.places.tolist() == [0, 1, 2, 3]


def test_two_queries_in_memory_change_places():
    """An exchange is its own inverse, unlike other orders."""
    qrels = Qrels.of_texts(["q", "Q"], np.array([1, 1]), ["a", "b"], np.array([1.0, 2.0]))
    assert (qrels.query_names, qrels.names, qrels.grades.tolist()) == (("Q", "q"), ("b", "a"), [2.0, 1.0])


def test_a_pair_is_found_for_its_own_query_only():
    qrels = make([(b"q1", b"a", 1), (b"q2", b"b", 1)])
    documents = Slices.of([b"a", b"b", b"a", b"b", b"c"])
    owners = np.array([0, 0, 1, 1, 1])
    rows, judgments = qrels.find(qrels.salted(documents.keys(), owners))
    assert rows.tolist() == [0, 3]
    assert judgments.tolist() == [0, 1]


def test_what_shares_its_hash_is_offered_for_comparison():
    """Two judgments of one query with the same key are both found; whoever asked compares the documents."""
    qrels = make([(b"q1", b"a", 1), (b"q1", b"b", 2)])
    index = qrels._index
    same = index._replace(pairs=np.full(2, index.pairs[0]), judgment=np.array([0, 1]), has_twins=True)
    same.bitmap[:] = True
    qrels.__dict__["_index"] = same
    rows, judgments = qrels.find(np.full(1, index.pairs[0]))
    assert (rows.tolist(), judgments.tolist()) == ([0, 0], [0, 1])


def test_a_document_judged_twice_is_named():
    with pytest.raises(DataError) as error:
        make([(b"q1", b"a", 1), (b"q1", b"a", 2), (b"q2", b"a", 1)])
    assert [str(problem) for problem in error.value.problems] == [
        "q.txt: query 'q1' judges document 'a' more than once"
    ]


def test_a_fingerprint_does_not_depend_on_how_wide_columns_are():
    wide = make([(b"q1", b"a", 1), (b"q1", b"b", 2)])
    slim = Slices(wide.listed.buffer, wide.listed.start.astype(np.int32), wide.listed.length.astype(np.int32))
    assert dataclasses.replace(wide, listed=slim).fingerprint == wide.fingerprint


def test_fingerprints_tell_judgments_apart():
    rows = [(b"q1", b"a", 1), (b"q1", b"b", 2)]
    assert make(rows).fingerprint == make(rows).fingerprint
    assert make(rows).fingerprint != make([(b"q1", b"a", 1), (b"q1", b"b", 3)]).fingerprint
    assert make(rows).fingerprint != make([(b"q1", b"a", 1), (b"q1", b"c", 2)]).fingerprint
    assert make(rows).fingerprint != make([(b"q2", b"a", 1), (b"q2", b"b", 2)]).fingerprint


@pytest.mark.parametrize("most", [16, 17])
def test_few_judgments_are_found_as_many_are(most):
    """Up to 16 judgments a query are compared one by one; with 17 somewhere, all of them have an index."""
    rows = [
        (f"q{query}".encode(), f"d{query * number}".encode(), number) for query in (1, 2, 3) for number in range(most)
    ]
    qrels = make(rows)
    assert qrels.are_few == (most == 16)
    places, lengths = np.array([2, 0]), np.array([40, 30])
    documents = Slices.of([f"d{number}".encode() for number in (*range(40), *range(30))])
    owners = np.repeat(places, lengths)
    found = zip(*qrels.find_few(documents.keys(), places, lengths), strict=True)
    by_index = zip(*qrels.find(qrels.salted(documents.keys(), owners)), strict=True)
    expected = {(number, 2 * most + number // 3) for number in range(0, 40, 3) if number // 3 < most}
    expected |= {(40 + number, number) for number in range(30) if number < most}
    assert {(int(row), int(judgment)) for row, judgment in found} == expected
    assert {(int(row), int(judgment)) for row, judgment in by_index} == expected


@pytest.mark.parametrize("others", [0, 20])
def test_a_document_judged_twice_is_refused_with_what_is_left_without_it(others):
    """The second judgment stands apart from the first one, also where there are too many to compare."""
    rows = [(b"q", b"a", 1), (b"q", b"b", 2), (b"p", b"a", 0), (b"q", b"a", 3)]
    with pytest.raises(RepeatedJudgmentsError) as raised:
        make([*rows, *((b"p", f"x{number}".encode(), 0) for number in range(others))])
    assert [str(problem) for problem in raised.value.problems] == [
        "q.txt: query 'q' judges document 'a' more than once"
    ]
    assert raised.value.kept.grades.tolist()[-2:] == [1.0, 2.0]


def test_stretches_of_one_query_are_put_together():
    names, documents = Slices.of([b"q", b"p", b"q"]), Slices.of([b"a", b"b", b"c", b"d"])
    qrels = Qrels.of_stretches(names, np.array([2, 1, 1]), documents, np.arange(4.0))
    assert (qrels.queries, qrels.names, qrels.grades.tolist()) == (
        (b"p", b"q"),
        ("c", "a", "b", "d"),
        [2.0, 0.0, 1.0, 3.0],
    )
