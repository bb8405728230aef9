"""Queries of a run as samples: they score as the run does, wherever their lines stand and whatever bytes they hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import evaluate
from rankgauge.io.open_sources import open_qrels, open_run
from rankgauge.judging.top import read_queries
from rankgauge.samples import Output

DOCUMENTS = st.sampled_from("abcdef")
QUERIES = st.sampled_from(["q1", "q2"])
JUDGED = st.dictionaries(QUERIES, st.dictionaries(DOCUMENTS, st.integers(-1, 3), min_size=1), min_size=1)
RUNS = st.dictionaries(QUERIES, st.dictionaries(DOCUMENTS, st.sampled_from([0.5, 1.0, 2.0])), min_size=1)


@pytest.fixture
def files(tmp_path):
    """Return a function that writes judgments and a run, and opens both."""

    def opened(judgments, run):
        paths = tmp_path / "qrels", tmp_path / "run"
        for path, content in zip(paths, (judgments, run), strict=True):
            path.write_bytes(content)
        return open_qrels(paths[0]), open_run(paths[1])

    return opened


def test_only_the_wanted_queries_are_read_and_all_are_seen(files):
    qrels, run = files(b"q1 0 a 1\nq2 0 b 2\nq2 0 a 0\nq3 0 a 1\n", b"q2 Q0 a 1 2 t\nq1 Q0 a 1 1 t\nq9 Q0 a 1 1 t\n")
    samples, seen = read_queries(qrels, run, {"q2", "q3", "q9"})

    assert list(samples) == ["q2", "q3"]
    assert seen == {"q1", "q2", "q9"}
    assert samples["q2"].expected.relevant == {"b": 2.0, "a": 0.0}
    assert samples["q2"].expected.graded
    assert samples["q2"].output == Output(["a"], scores=[2.0])
    assert samples["q3"].output is None


def test_grades_by_intent_are_those_of_the_own_documents(tmp_path):
    """Intents are numbered for each query, as their names sort; q2's documents come after three others."""
    (tmp_path / "qrels").write_text("q1 x a 1\nq1 x b 1\nq1 y b 2\nq2 y c 3\nq2 x c 1\nq2 y d 2\n")
    qrels = open_qrels(tmp_path / "qrels", intents=True)
    samples, _ = read_queries(qrels, open_run({"q1": {"a": 1.0}}), {"q1", "q2"})
    x, y = "000000000", "000000001"
    assert samples["q1"].expected.intents == {"a": {x: 1.0}, "b": {x: 1.0, y: 2.0}}
    assert samples["q2"].expected.intents == {"c": {x: 1.0, y: 3.0}, "d": {y: 2.0}}


def test_scattered_lines_of_a_query_are_put_together(files):
    qrels, run = files(b"q1 0 a 1\n", b"q1 Q0 x 1 3 t\nq2 Q0 x 1 3 t\nq1 Q0 a 2 2 t\n")
    assert read_queries(qrels, run, {"q1"})[0]["q1"].output == Output(["x", "a"], scores=[3.0, 2.0])


def test_ids_that_are_not_utf8_meet_all_the_same(files):
    qrels, run = files(b"q\xff 0 d\xfe 1\n", b"q\xff Q0 d\xfe 1 1 t\n")
    samples, seen = read_queries(qrels, run, {"q\\xff"})

    (sample,) = samples.values()
    assert isinstance(sample.output, Output)
    assert list(sample.expected.relevant or ()) == sample.output.ids
    assert seen == {"q\\xff"}


@given(qrels=JUDGED, run=RUNS, options=st.sampled_from([{}, {"depth": 2}, {"judged_only": True}, {"ties": "average"}]))
def test_every_query_is_explained_with_the_score_of_its_run(qrels, run, options):
    if not set(qrels) & set(run):
        return
    result = evaluate(qrels, run, ["ndcg@3", "AP", "err@3"], policy=options) if not options.get("ties") else None
    result = result or evaluate(qrels, run, ["ndcg@3", "AP"], policy=options)
    for name, column in result.metrics.items():
        for place, query in enumerate(result.sample_ids):
            explained = result.explain(query, name).score  # which refuses another score than the saved one
            assert (explained is None) == (column.values[place] != column.values[place])
