"""Whole rankings: which queries are handed on, and which ties a policy refuses."""

import pytest

from rankgauge.errors import DataError
from rankgauge.io.open_sources import open_run
from rankgauge.judging.whole_runs import WholeReader
from rankgauge.policy import Policy


def read(run, **policy):
    """Return the queries that are handed on, with their lengths and first tied ranks; and all queries of the run."""
    taken = []
    reader = WholeReader(Policy(order="score", **policy), lambda name: name != b"unwanted", taken.append)
    take = reader.begin(0)
    for batch in open_run(run).grouped():
        take(batch)
    seen = reader.finish("the run")
    return [(each.names, each.lengths.tolist(), each.low.tolist()) for each in taken], seen


def test_queries_that_are_empty_or_not_wanted_are_seen_and_not_handed_on():
    taken, seen = read({"empty": {}, "q": {"a": 2.0, "b": 1.0, "c": 1.0}, "unwanted": {"a": 1.0}})
    assert taken == [([b"q"], [3], [1, 2, 2])]
    assert seen == {b"empty", b"q", b"unwanted"}
    assert read({"empty": {}})[0] == []


def test_each_tie_that_begins_within_the_depth_is_refused_once():
    run = {"q": {"a": 3.0, **dict.fromkeys("bcd", 2.0), **dict.fromkeys("ef", 1.0)}}
    for depth, ranks in ((None, ["2 to 4", "5 to 6"]), (5, ["2 to 4", "5 to 6"]), (4, ["2 to 4"]), (2, ["2 to 4"])):
        with pytest.raises(DataError) as error:
            read(run, ties="error", depth=depth)
        assert [str(problem) for problem in error.value.problems] == [
            f"query 'q': ranks {each} have the same score, and policy says ties=error" for each in ranks
        ]
    assert read(run, ties="error", depth=1)[0] == [([b"q"], [1], [1])]
