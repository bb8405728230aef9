"""Scanning, against the same things said in plain Python of one query at a time."""

import math
import struct
from itertools import groupby, pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from draws import draws
from rankgauge.columns import Qrels, RankingBatch, Slices
from rankgauge.features.preflight.run_scan import RunScan, merged

DOCUMENTS = [b"a", b"b", b"c", b"q1", b"a-longer-one"]
SCORES = [2.0, 1.0, -1.0, 1.0 + 2**-40, 1e300]
RANKS = [0.0, 1.0, 2.0, 3.0, 4.0, math.nan]

results = st.lists(
    st.tuples(st.sampled_from(DOCUMENTS), st.sampled_from(SCORES), st.sampled_from(RANKS)), min_size=1, max_size=14
)
distinct = st.lists(
    st.tuples(st.sampled_from(DOCUMENTS), st.sampled_from(SCORES), st.sampled_from(RANKS)),
    min_size=1,
    max_size=5,
    unique_by=lambda row: row[0],
)
in_rank_order = (results | distinct).map(
    lambda rows: [(row[0], row[1], float(rank)) for rank, row in enumerate(rows, 1)]
)
by_score = in_rank_order.map(
    lambda rows: [
        (row[0], score, row[2]) for row, score in zip(rows, sorted((row[1] for row in rows), reverse=True), strict=True)
    ]
)
runs = st.dictionaries(
    st.sampled_from([b"q1", b"q2", b"q3", b"q4"]), results | distinct | in_rank_order | by_score, min_size=1
)
judgments = st.dictionaries(
    st.tuples(st.sampled_from([b"q1", b"q2", b"q5"]), st.sampled_from(DOCUMENTS)),
    st.sampled_from([-1.0, 0.0, 1.0, 2.0]),
    min_size=1,
)


def qrels_of(grades):
    names = sorted({query for query, _ in grades})
    owners = np.array([names.index(query) for query, _ in grades])
    return Qrels.of(names, owners, Slices.of(document for _, document in grades), np.array(list(grades.values())))


def batch_of(run):
    rows = [row for ranking in run.values() for row in ranking]
    documents = Slices.of(row[0] for row in rows)
    return RankingBatch(
        names=Slices.of(run),
        lengths=np.array([len(ranking) for ranking in run.values()]),
        documents=documents,
        keys=documents.keys(),
        scores=np.array([row[1] for row in rows]),
        stated=np.array([row[2] for row in rows]),
    )


def as_float32(value):
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def in_ties(scores):
    return [scores.count(score) > 1 for score in scores]


def gains_in_ties_differ(ranking, grades, key):
    ordered = sorted(ranking, key=lambda row: -key(row[1]))
    gains = ({max(grades.get(row[0], 0.0), 0.0) for row in tie} for _, tie in groupby(ordered, lambda row: key(row[1])))
    return any(len(different) > 1 for different in gains)


def expected(query, ranking, grades, rel):
    """Return what is to be noted of one query."""
    documents, scores, ranks = (list(column) for column in zip(*ranking, strict=True))
    judged = {document: grade for (owner, document), grade in grades.items() if owner == query}
    is_numbered = not any(map(math.isnan, ranks)) and (len(set(ranks)) > 1 or len(ranks) == 1)
    given = [row[1] for row in sorted(ranking, key=lambda row: (row[2], -row[1]))] if is_numbered else scores
    rises, falls = (any(a < b for a, b in pairwise(given)), any(a > b for a, b in pairwise(given)))
    single = [as_float32(score) for score in scores]
    ranked = sorted(zip(scores, documents, strict=True), reverse=True)
    tied = in_ties(scores)
    matter = gains_in_ties_differ(ranking, judged, float)
    return {
        "depth": len(ranking),
        "is_unsorted": any(a < b for a, b in pairwise(scores)),
        "is_numbered": is_numbered,
        "has_gaps": is_numbered and any(b - a != 1 for a, b in pairwise(sorted(ranks))),
        "first_rank": min(ranks) if is_numbered else None,
        "contradicts": is_numbered and rises,
        "ascends": rises and not falls,
        "is_constant": len(ranking) > 1 and len(set(scores)) == 1,
        "tied": sum(tied),
        "tied_as_float32": sum(once and not already for once, already in zip(in_ties(single), tied, strict=True)),
        "surplus": len(documents) - len(set(documents)),
        "own_rank": max((rank for rank, row in enumerate(ranked, 1) if row[1] == query), default=0),
        "own_is_judged": query in documents and query in judged,
        "found": len(set(documents) & set(judged)),
        "relevant": sum(judged[document] >= rel for document in set(documents) & set(judged)),
        "top": sum(document in judged for _, document in ranked[:10]),
        "ties_matter": matter,
        "ties_matter_as_float32": gains_in_ties_differ(ranking, judged, as_float32) and not matter,
    }


@given(runs, judgments, st.sampled_from([1.0, 2.0]), st.integers(0, 4))
@settings(max_examples=draws(300))
def test_what_is_noted_of_a_query_is_what_plain_python_says(run, grades, rel, cut):
    """Also where the run comes in two parts; repeated documents tie with themselves, so ties are left out there."""
    qrels = qrels_of(grades)
    scans = []
    for part in (dict(list(run.items())[:cut]), dict(list(run.items())[cut:])):
        scans.append(RunScan(qrels, rel))
        if part:
            scans[-1].add(batch_of(part))
    scanned = merged(scans)
    assert scanned.names == sorted(run)
    for place, query in enumerate(scanned.names):
        wanted = expected(query, run[query], grades, rel)
        noted = {name: getattr(scanned.queries, name)[place].item() for name in wanted}
        noted["first_rank"] = None if math.isnan(noted["first_rank"]) else noted["first_rank"]
        if wanted["surplus"]:
            for name in ("ties_matter", "ties_matter_as_float32"):
                del wanted[name], noted[name]
        assert noted == wanted
        judged = scanned.queries.place[place]
        assert (judged, query in {owner for owner, _ in grades}) in {
            (-1, False),
            (dict(zip(qrels.queries, range(len(qrels.queries)), strict=True)).get(query), True),
        }
