"""Every road to a judged run gives the same numbers: text, dictionaries, and samples with scores."""

import itertools
import random
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankgauge
from rankgauge import Engine, Policy
from rankgauge.errors import DataError, NothingToEvaluateError, PlanError, PolicyError
from rankgauge.io.trec import RunFile
from rankgauge.io.trec import run_text as runs
from rankgauge.policy import PROFILES
from tables import rows
from trec.data import generated, qrels_of, run_of, texts

METRICS = [
    *("num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "map", "map_cut_3", "Rprec", "bpref", "recip_rank"),
    *(
        "iprec_at_recall_0.50",
        "11pt_avg",
        "P_5",
        "recall_5",
        "relative_P_5",
        "success_1",
        "ndcg",
        "ndcg_cut_5",
        "infAP",
    ),
    *("set_P", "set_recall", "set_F", "unj_5", "rbp", "rbp_resid", "judged@5", "err(max_grade=4)@5"),
]


def put(folder, qrels, run):
    (folder / "qrels.txt").write_text(qrels, "utf-8")
    (folder / "run.txt").write_text(run, "utf-8")
    return folder / "qrels.txt", folder / "run.txt"


def values(result):
    return {name: column.values.tolist() for name, column in result.metrics.items()}


def by_samples(qrels, run, options, profile="trec10"):
    """Evaluate as samples, which are read, joined and ranked by other code."""
    samples = [
        {
            "id": query,
            "expected_output": {"relevant": judged},
            "actual_output": {"retrieved": [{"id": d, "score": s} for d, s in run[query].items()]}
            if query in run
            else None,
        }
        for query, judged in sorted(qrels.items())
    ]
    samples = [{key: value for key, value in sample.items() if value is not None} for sample in samples]
    chosen = PROFILES[profile].adapted({"failed_output": "zero", **options})
    return Engine().dataset(samples).with_metrics(METRICS).with_profile(chosen).run()


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "depth": st.integers(1, 6),
        "judged_only": st.booleans(),
        "ties": st.sampled_from(["docno", "given"]),
        "order": st.sampled_from(["score", "given"]),
        "score_dtype": st.sampled_from(["float64", "float32"]),
        "exclude_self": st.booleans(),
        "queries": st.sampled_from(["judged", "intersection"]),
    },
)


@given(data=texts(), options=OPTIONS, rel=st.sampled_from([None, 0, 2]))
def test_text_dictionaries_and_samples_agree(tmp_path_factory, data, options, rel):
    qrels, run = qrels_of(data[0]), run_of(data[1])
    paths = put(tmp_path_factory.mktemp("data"), *data)
    from_text = rankgauge.evaluate(*paths, METRICS, policy=options, rel=rel)
    from_memory = rankgauge.evaluate(qrels, run, METRICS, policy=options, rel=rel)
    assert from_text.sample_ids == from_memory.sample_ids
    assert values(from_text) == values(from_memory)
    assert [c.codes.tolist() for c in from_text.metrics.values()] == [
        c.codes.tolist() for c in from_memory.metrics.values()
    ]
    if rel is None:
        assert values(from_text) == values(by_samples(qrels, run, options))


@pytest.mark.parametrize("block", [40, 500, 1 << 20])
@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_and_threads_change_no_bit(tmp_path, monkeypatch, block, threads):
    qrels, run = put(tmp_path, *generated(1))
    whole = rankgauge.evaluate(qrels, run, METRICS)
    monkeypatch.setattr(runs, "_SMALL", 0)
    monkeypatch.setattr("rankgauge.engine.runs.thread_count", lambda: threads)
    assert values(rankgauge.evaluate(qrels, RunFile(run, block=block), METRICS)) == values(whole)


@pytest.mark.parametrize("seed", range(3))
def test_scattered_lines_are_grouped(tmp_path, seed):
    qrels, run = generated(seed, ties=False)
    paths = put(tmp_path, qrels, run)
    whole = rankgauge.evaluate(*paths, METRICS)
    lines = run.splitlines(keepends=True)
    random.Random(seed).shuffle(lines)  # noqa: S311  # no secret
    paths[1].write_text("".join(lines))
    assert values(rankgauge.evaluate(*paths, METRICS)) == values(whole)


@pytest.mark.skipif(sys.platform == "win32", reason="files have names there")
def test_what_scattered_lines_are_copied_to_has_no_name_that_stays_or_leads_elsewhere(tmp_path, monkeypatch):
    spool = tmp_path / "spool"
    spool.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spool))
    (tmp_path / "run").write_text("q1 Q0 a 1 2 t\nq2 Q0 a 1 1 t\nq1 Q0 b 2 1 t\n")
    batches = RunFile(tmp_path / "run").grouped()
    assert len(next(batches).lengths)
    assert list(spool.iterdir()) == []


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_ties_stand_by_document_id_descending_in_any_order_of_lines(order):
    """All three share a score; by bytes descending the relevant `b` is second behind `é`, so RR is 1/2."""
    documents = ["a", "b", "é"]
    run = {"q": {documents[at]: 1.0 for at in order}}
    assert rankgauge.evaluate({"q": {"b": 1}}, run, "RR")["RR"].mean == 1 / 2


def test_ties_as_given_stand_in_the_order_of_lines(tmp_path):
    """The relevant `a` comes second of two with equal scores."""
    paths = put(tmp_path, "q 0 a 1\n", "q Q0 z 9 1 t\nq Q0 b 1 5.0 t\nq Q0 a 2 5 t\n")
    assert rankgauge.evaluate(*paths, "RR", policy={"ties": "given"})["RR"].mean == 1 / 2
    assert rankgauge.evaluate(*paths, "RR")["RR"].mean == 1 / 2
    assert (
        rankgauge.evaluate({"q": {"a": 1}}, {"q": {"a": 5.0, "b": 5.0}}, "RR", policy={"ties": "given"})["RR"].mean == 1
    )


def test_ties_that_matter_are_counted_and_can_be_refused():
    """In `mixed` a relevant document ties with an unjudged one; in `alike` two of one grade tie."""
    qrels = {"mixed": {"a": 1}, "alike": {"a": 1, "b": 1}, "none": {"a": 0}}
    run = {query: {"a": 1.0, "b": 1.0} for query in qrels}
    result = rankgauge.evaluate(qrels, run, "AP")
    assert result.manifest["outputs"]["queries_with_ties"] == 1
    assert result.notes == ("1 of 3 queries has tied scores whose order can change a metric (ties=docno)",)
    with pytest.raises(DataError, match="query 'mixed': document 'a' has the same score") as error:
        rankgauge.evaluate(qrels, run, "AP", policy={"ties": "error"})
    assert len(error.value.problems) == 1


def test_averaged_ties_are_the_expectation_over_their_orders():
    """The relevant one of three is first, second or third: (1 + 1/2 + 1/3) / 3, and in the first two twice of three."""
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "z": 0.5}}
    result = rankgauge.evaluate({"q": {"b": 1}}, run, ["RR", "recall@2"], policy={"ties": "average"})
    assert result["RR"].mean == pytest.approx(11 / 18, rel=1e-12)
    assert result["recall@2"].mean == pytest.approx(2 / 3, rel=1e-12)


def test_float32_ties_exist_under_trec9_only(tmp_path):
    """100.0000002 and 100.0000001 are one float, so that `b` stands before `a` by its id."""
    paths = put(tmp_path, "q 0 a 1\n", "q Q0 a 1 100.0000002 t\nq Q0 b 2 100.0000001 t\n")
    assert rankgauge.evaluate(*paths, "RR", profile="trec10")["RR"].mean == 1
    assert rankgauge.evaluate(*paths, "RR", profile="trec9")["RR"].mean == 1 / 2
    own = {"q": {"a": 100.0000002, "b": 100.0000001}}
    assert rankgauge.evaluate({"q": {"a": 1}}, own, "RR", profile="trec9")["RR"].mean == 1 / 2


def test_missing_queries_count_as_zero_and_are_left_out_by_trec9():
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"b": 0}}, {"q1": {"a": 1.0}, "x": {"a": 1.0}}
    ten = rankgauge.evaluate(qrels, run, ["AP", "num_rel", "num_q"])
    assert ten["AP"].values.tolist() == [1.0, 0.0, 0.0]
    assert (ten["AP"].mean, ten["AP"].n_missing, ten["num_rel"].mean, ten["num_q"].mean) == (1 / 3, 1, 2, 3)
    assert ten.notes == (
        "2 of 3 judged queries without results in the run; counted as 0",
        "1 query of the run has no judgments and is left out",
    )
    assert not ten.is_incomplete
    nine = rankgauge.evaluate(qrels, run, ["AP", "num_q"], profile="trec9")
    assert (nine.sample_ids, nine["AP"].mean, nine["num_q"].mean) == (("q1",), 1.0, 1)


def test_repeated_documents_are_refused_together_and_settled_by_policy(tmp_path):
    """`a` stands first with 3 and third with 1; `b` twice with 2. Relevant is `b`."""
    lines = ["q Q0 a 1 3 t", "q Q0 b 2 2 t", "q Q0 a 3 1 t", "q Q0 b 4 2 t", "p Q0 a 1 1 t", "p Q0 a 2 1 t"]
    paths = put(tmp_path, "q 0 b 1\np 0 a 1\n", "\n".join(lines))
    with pytest.raises(DataError) as error:
        rankgauge.evaluate(*paths, "RR")
    assert [str(problem).split(",")[0] for problem in error.value.problems] == [
        "query 'p': document 'a' is retrieved 2 times (ranks 1",
        "query 'q': document 'a' is retrieved 2 times (ranks 1",
        "query 'q': document 'b' is retrieved 2 times (ranks 2",
    ]
    found = {
        rule: rankgauge.evaluate(*paths, ["RR", "num_ret"], policy={"duplicates": rule})
        for rule in ("first", "last", "best", "keep", "credit-once")
    }
    assert {rule: result["RR"].values.tolist() for rule, result in found.items()} == {
        "first": [1.0, 1 / 2],
        "last": [1.0, 1.0],
        "best": [1.0, 1 / 2],
        "keep": [1.0, 1 / 2],
        "credit-once": [1.0, 1 / 2],
    }
    assert {rule: result["num_ret"].mean for rule, result in found.items()} == {
        "first": 3,
        "last": 3,
        "best": 3,
        "keep": 6,
        "credit-once": 6,
    }
    assert "3 repeated results dropped (policy duplicates=first)" in found["first"].notes


def test_repeats_below_the_depth_are_refused_too(tmp_path):
    """Duplicates act before the depth cuts, on every road."""
    paths = put(tmp_path, "q 0 b 1\n", "q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n")
    with pytest.raises(DataError, match=r"2 times \(ranks 1, 3\)"):
        rankgauge.evaluate(*paths, "RR", policy={"depth": 2})
    assert rankgauge.evaluate(*paths, "RR", policy={"depth": 2, "duplicates": "first"})["RR"].mean == 1 / 2


def test_ids_with_lone_surrogates_are_ids_like_others():
    r"""\ud800 is no text that a file could hold; \udc80 stands for a byte of a file that is no text."""
    qrels = {"\ud800": {"d\ud800": 1, "\udc80": 1}, "q": {"a": 1}}
    run = {"\ud800": {"x": 2.0, "d\ud800": 1.0}, "q": {"a": 1.0}}
    assert [rankgauge.evaluate(qrels, run, "RR")["RR"].mean, rankgauge.preflight(qrels, run).ok] == [0.75, True]
    with pytest.raises(NothingToEvaluateError):
        rankgauge.evaluate({"q": {"a": 1}}, {"\ud800": {"a": 1.0}}, "RR")


def test_no_overlap_says_how_the_ids_look():
    with pytest.raises(NothingToEvaluateError) as error:
        rankgauge.evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, {"Q1": {"a": 1.0}}, "RR")
    assert str(error.value.problems[0]) == (
        "0 of 2 query ids overlap; the run's look like `Q1`, the judgments' like `q1`"
    )
    assert error.value.exit_code == 4


@rows(
    ("qrels", "run", "message"),
    [
        ({}, {"q": {"a": 1.0}}, "there are no judgments"),
        ({"q": {"a": float("nan")}}, {"q": {"a": 1.0}}, "the grade of 'a' is nan, not a finite number"),
        ({"q": {"a": "1"}}, {"q": {"a": 1.0}}, "the grade of 'a' is '1', not a finite number"),
        ({"q": {"a": 10**400}}, {"q": {"a": 1.0}}, "the grade of 'a' is an integer that is too large for a float"),
        ({1: {"a": 1}}, {"q": {"a": 1.0}}, "the query id 1 is an int; ids are strings: '1'"),
        ({"q": {7: 1}}, {"q": {"a": 1.0}}, "the document id 7 is an int; ids are strings: '7'"),
        ({"q": ["a"]}, {"q": {"a": 1.0}}, r"query 'q' has a list where \{document: grade\} is expected"),
        ({"q": {"a": 1}}, {"q": {"a": float("inf")}}, "the score of 'a' is inf, not a finite number"),
        ({"q": {"a": 1}}, {"q": {"a": None}}, "the score of 'a' is None, not a finite number"),
        ({"q": {"a": 1}}, {"q": {"a": 10**5000}}, "the score of 'a' is an integer that is too large for a float"),
        ({"q": {"a": 1}}, {"q": {"b": "2"}}, "the score of 'b' is '2', not a finite number"),
        ({"q": {"a": 1}}, {"q": ["a", "b"]}, r"query 'q' has a list where \{document: score\} is expected"),
        ({"q": {"a": 1}}, {"q": {5: 1.0}}, "the document id 5 is an int; ids are strings: '5'"),
        ({"q": {"a": 1}}, 7, "expected a path, a mapping of mappings or a table, found a int"),
    ],
)
def test_what_cannot_be_used_is_said(qrels, run, message):
    with pytest.raises(DataError, match=message):
        rankgauge.evaluate(qrels, run, "RR")


def test_metrics_that_read_texts_are_refused_before_anything_is_read(tmp_path):
    with pytest.raises(PlanError, match="'answer-containment-at-k' is judged against answer, and a run has only ids"):
        rankgauge.evaluate(tmp_path / "no.qrels", tmp_path / "no.run", ["RR", "answer-containment-at-k"])


def test_gold_that_is_text_is_refused_rather_than_judged_by_id():
    with pytest.raises(
        PlanError, match=r"'recall\(gold=passages\)@5' is judged against passages, and a run has only ids"
    ):
        rankgauge.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["recall(gold=passages)@5"])
    result = rankgauge.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["recall(gold=relevant)@5"])
    assert [1.0] == [column.mean for column in result.metrics.values()]


def test_several_runs_share_their_judgments():
    qrels = {"q": {"a": 1}}
    results = rankgauge.evaluate(qrels, runs={"good": {"q": {"a": 1.0}}, "bad": {"q": {"b": 1.0}}}, metrics=["RR"])
    assert {name: result["RR"].mean for name, result in results.items()} == {"good": 1.0, "bad": 0.0}


def test_a_policy_and_a_threshold_of_ones_own():
    """Grade 1 is not enough; and given order puts `b` first."""
    qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {"b": 1.0, "a": 2.0}}
    assert rankgauge.evaluate(qrels, run, "RR", rel=2)["RR"].mean == 1
    assert rankgauge.evaluate(qrels, run, "RR", rel=2, policy={"order": "given"})["RR"].mean == 1 / 2
    assert rankgauge.evaluate(qrels, run, "RR", profile=Policy(order="given"))["RR"].mean == 1


def test_ids_are_bytes_of_a_file_and_texts_in_memory(tmp_path):
    """A file may hold ids that are no UTF-8; they join, and are spelled out in the result."""
    (tmp_path / "q").write_bytes(b"q\xff 0 d\xfe 1\n")
    (tmp_path / "r").write_bytes(b"q\xff Q0 d\xfe 1 1 t\n")
    result = rankgauge.evaluate(tmp_path / "q", tmp_path / "r", "RR")
    assert (result.sample_ids, result["RR"].mean) == (("q\\xff",), 1.0)


@given(seed=st.integers(0, 50))
def test_inputs_are_left_as_they_are(seed):
    qrels, run = qrels_of(generated(seed, queries=4, depth=8)[0]), run_of(generated(seed, queries=4, depth=8)[1])
    before = ({q: dict(own) for q, own in qrels.items()}, {q: dict(own) for q, own in run.items()})
    first = rankgauge.evaluate(qrels, run, METRICS)
    again = rankgauge.evaluate(qrels, run, METRICS)
    assert (qrels, run) == before
    assert values(first) == values(again)
    assert all(np.isfinite(column).all() for column in values(first).values())


def test_a_query_with_an_empty_ranking_is_there_and_found_nothing():
    """It is not missing; every measure of it is 0, and its relevant document counts."""
    result = rankgauge.evaluate(
        {"q": {"a": 1}, "p": {"a": 1}}, {"q": {}, "p": {"a": 1.0}}, ["AP", "num_rel", "unj_5", "set_P"]
    )
    assert {name: column.values.tolist() for name, column in result.metrics.items()} == {
        "ap": [1.0, 0.0],
        "num_rel": [1.0, 1.0],
        "unj@5": [0.0, 0.0],
        "set_p": [1.0, 0.0],
    }
    assert result["AP"].n_missing == 0
    assert rankgauge.evaluate({"q": {"a": 1}}, {"q": {}}, "AP")["AP"].mean == 0


def test_a_policy_that_is_no_mapping_is_refused_by_name():
    with pytest.raises(PolicyError, match=r"policy takes options such as \{'ties': 'error'\}, not 'ties=error'"):
        rankgauge.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP", policy="ties=error")


def test_several_runs_come_to_what_each_does_alone(tmp_path):
    """Files of TREC text are judged in threads, one of them with scattered queries; others in between are not."""
    qrels = {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}}
    (tmp_path / "scattered.run").write_text("q1 0 a 1 3 t\nq2 0 x 1 2 t\nq1 0 b 2 2 t\nq2 0 a 2 1 t\n")
    (tmp_path / "json.json").write_text('{"q1": {"b": 1.5}}')
    (tmp_path / "plain.run").write_text("q2 0 a 1 1 t\n")
    runs = {name: str(tmp_path / name) for name in ("scattered.run", "json.json", "plain.run")}
    runs["memory"] = {"q1": {"a": 1.0}}
    together = rankgauge.evaluate(qrels, runs=runs, metrics=METRICS)
    assert list(together) == list(runs)
    for name, run in runs.items():
        alone = rankgauge.evaluate(qrels, run, METRICS)
        assert values(together[name]) == values(alone)
        assert together[name].notes == alone.notes


def test_the_first_of_several_runs_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "good.run").write_text("q Q0 a 1 1 t\n")
    (tmp_path / "bad.run").write_text("q Q0 a 1 high t\n")
    (tmp_path / "worse.run").write_text("q Q0 a 1 nan t\n")
    runs = {name: str(tmp_path / name) for name in ("good.run", "bad.run", "worse.run")}
    with pytest.raises(DataError, match="the score 'high' is not a finite number"):
        rankgauge.evaluate({"q": {"a": 1}}, runs=runs, metrics="RR")


@pytest.mark.parametrize("duplicates", ["first", "keep"])
def test_a_run_without_repeats_has_no_note_of_any(tmp_path, duplicates):
    run = tmp_path / "run"
    run.write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\n", encoding="utf-8")
    result = rankgauge.evaluate({"q": {"a": 1}}, run, ["RR"], policy={"duplicates": duplicates})
    assert result.notes == ()
    assert result.manifest["outputs"]["results_dropped"] == 0
