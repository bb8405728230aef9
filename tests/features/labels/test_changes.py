"""How much a score changes when a document is judged: against evaluating with the judgment added."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import evaluate
from rankgauge.columns import Qrels
from rankgauge.engine.runs import plan_run
from rankgauge.features.labels.pools import look_at
from rankgauge.features.labels.queue import changes
from rankgauge.io.open_sources import open_qrels, open_run

METRICS = ["ndcg@2", "ndcg", "AP", "P@2", "recall@2", "RR", "Rprec", "bpref", "err(max_grade=2)@3", "rbp", "hit@1"]
DOCUMENTS = "abcdef"

judgments = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 2), min_size=1)
rankings = st.permutations(DOCUMENTS).flatmap(lambda ids: st.integers(1, 6).map(lambda n: ids[:n]))


@given(
    st.lists(st.tuples(judgments, rankings), min_size=1, max_size=3), st.sampled_from(METRICS), st.sampled_from([1, 2])
)
def test_a_change_is_what_evaluating_with_the_judgment_changes(cases, metric, grade):
    qrels = {f"q{place}": grades for place, (grades, _) in enumerate(cases)}
    run = {f"q{place}": {name: -at for at, name in enumerate(ids)} for place, (_, ids) in enumerate(cases)}
    plan = plan_run([metric])
    columns = open_qrels(qrels)
    judged = look_at(plan, columns, open_run(run), 10).judged
    open_documents = [(place, name) for place in range(len(cases)) for name in DOCUMENTS if name not in cases[place][0]]
    samples = np.array([place for place, _ in open_documents], dtype=np.int64)
    ranks = np.array([_rank(cases[place][1], name) for place, name in open_documents], dtype=np.int64)
    found = changes(plan, plan.metrics[0], judged, samples, ranks, float(grade))
    before = evaluate(qrels, run, metric).metrics[plan.metrics[0].name].values
    for (place, name), change in zip(open_documents, found.tolist(), strict=True):
        more = {**qrels, f"q{place}": {**qrels[f"q{place}"], name: grade}}
        after = evaluate(more, run, metric).metrics[plan.metrics[0].name].values
        assert change == pytest.approx(after[place] - before[place], abs=1e-12)


def test_the_ideal_counts_a_document_that_the_run_does_not_have():
    """R = 1 and found: recall is 1, and 1/2 once a second document is relevant."""
    plan = plan_run(["recall@5"])
    qrels: Qrels = open_qrels({"q": {"a": 1}})
    judged = look_at(plan, qrels, open_run({"q": {"a": 2.0}}), 5).judged
    (change,) = changes(plan, plan.metrics[0], judged, np.array([0]), np.array([0]), 1.0)
    assert change == -0.5


def _rank(ids, name):
    return ids.index(name) + 1 if name in ids else 0
