"""Measures computed by rankgauge have the numbers of the providers that it stands before."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys

import ir_measures
import pandas as pd
import pytest
from ir_measures import Qrel, ScoredDoc, nDCG, parse_measure

import rankgauge
from rankgauge_hosts.ir_measures import RankgaugeEvaluator, RankgaugeMeasure, RankgaugeProvider

(OURS, *OTHERS) = ir_measures.DefaultPipeline.providers
THEIRS = ir_measures.providers.FallbackProvider(OTHERS)

GRADED = """
    AP AP@5 AP(rel=2) AP(judged_only=True)@5 Bpref Bpref(rel=2) infAP IPrec@0.1 IPrec(rel=2)@0.333 Judged@5 Judged NumQ
    NumRel NumRel(rel=1) NumRet NumRet(rel=1) NumRet(rel=2) NumRelRet P@5 P(rel=2)@10 P(judged_only=True)@5 R@5
    R(rel=2)@5 R(judged_only=True)@5 RR RR@5 RR(rel=2) Rprec SetAP SetF SetF(beta=0.5) SetF(beta=2.0,rel=2) SetP
    SetP(relative=True,rel=2) SetR Success@5 Success(rel=2)@1 nDCG nDCG@5 nDCG(gains={0:0,1:5,2:2})@5 BPM(max_rel=3)@5
    BPM(max_rel=3,T=2.0)@5 INSQ(max_rel=3) INSQ(max_rel=3,T=3.0) INST(max_rel=3) NERR10(max_rel=3) NERR11(max_rel=3)
    NERR8(max_rel=3)@5 NERR8(max_rel=2,min_rel=1)@5 NERR9(max_rel=3)@5 RBP(rel=1) RBP(rel=1,p=0.5) SDCG(max_rel=3)@5
"""
BY_INTENT = """
    alpha_DCG@5 alpha_nDCG@5 alpha_nDCG(alpha=0.3,rel=1)@3 AP_IA ERR_IA@5 nERR_IA@5
    NRBP nNRBP P_IA@5 StRecall(rel=1)@2
"""
COMPAT = ["Compat", "Compat(p=0.8)", "Compat(p=0.5,normalize=False)"]
ROUNDED = ["ERR@5", "nDCG(dcg='exp-log2')@5"]


def made(seed, *, tied, by_intent=False):
    """Return judgments and a run with queries that one of them lacks, unjudged documents, negative grades and ties."""
    draw = random.Random(seed)
    documents, qrels, run = [f"d{number:03}" for number in range(40)], [], {}
    for query in map(str, range(100, 112)):
        for document in draw.sample(documents, 12):
            if by_intent:
                intents = draw.sample("123", draw.choice([1, 2]))
                qrels += [Qrel(query, document, draw.choice([0, 1, 1]), intent) for intent in intents]
            else:
                qrels.append(Qrel(query, document, draw.choice([-1, 0, 0, 1, 2, 3])))
        if query != "103":
            retrieved = draw.sample(documents, draw.choice([3, 25]))
            run[query] = {name: draw.choice([1.0, 2.0, 3.0]) if tied else draw.random() for name in retrieved}
    return qrels, run | {"999": {"d001": 1.0}}


def by_query(provider, measure, qrels, run):
    return {found.query_id: found.value for found in provider.iter_calc([measure], qrels, run)}


@pytest.mark.parametrize("tied", [False, True], ids=["scores", "ties"])
@pytest.mark.parametrize("name", (GRADED + BY_INTENT).split())
@pytest.mark.filterwarnings("ignore")  # cwl_eval's
def test_every_query_has_the_value_that_it_had(name, tied):
    measure = parse_measure(name)
    assert OURS.supports(measure)
    for seed in range(3):
        qrels, run = made(seed, tied=tied, by_intent=name in BY_INTENT.split())
        theirs = by_query(THEIRS, measure, qrels, run)
        assert by_query(ir_measures, measure, qrels, run) == pytest.approx(theirs, abs=1e-12)
        mean = THEIRS.calc_aggregate([measure], qrels, run)[measure]
        assert ir_measures.calc_aggregate([measure], qrels, run)[measure] == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize("name", COMPAT)
def test_compatibility_is_the_same_where_no_scores_are_equal(name):
    qrels, run = made(1, tied=False)
    measure = parse_measure(name)
    assert by_query(ir_measures, measure, qrels, run) == pytest.approx(by_query(THEIRS, measure, qrels, run), abs=1e-12)


def test_what_gdeval_rounds_to_five_places_is_not_rounded():
    """Grade 3 of 4 is enough with a chance of 7 in 16, here at rank 2; a gain of 1 where 15 and 1 were possible."""
    err, ndcg = (parse_measure(name) for name in ROUNDED)
    qrels, run = {"1": {"d1": 3, "d2": 0}}, {"1": {"d2": 2.0, "d1": 1.0}}
    assert ir_measures.calc_aggregate([err], qrels, run)[err] == pytest.approx(7 / 16 / 2, abs=1e-15)
    qrels, run = {"1": {"d1": 1, "d2": 4}}, {"1": {"d1": 1.0}}
    ideal = 15 + 1 / math.log2(3)
    assert ir_measures.calc_aggregate([ndcg], qrels, run)[ndcg] == pytest.approx(1 / ideal, abs=1e-15)


@pytest.mark.parametrize("form", ["mappings", "tuples", "iterators", "frames"])
def test_every_form_of_rows_is_read(form):
    qrels, run = made(2, tied=True)
    rows = [ScoredDoc(query, name, score) for query, scores in run.items() for name, score in scores.items()]
    of_mappings = {}
    for row in qrels:
        of_mappings.setdefault(row.query_id, {})[row.doc_id] = row.relevance
    expected = ir_measures.calc_aggregate([nDCG @ 5, parse_measure("RR@5")], of_mappings, run)
    forms = {
        "mappings": (of_mappings, run),
        "tuples": (qrels, rows),
        "iterators": (iter(qrels), iter(rows)),
        "frames": (pd.DataFrame(qrels), pd.DataFrame(rows)),
    }
    assert ir_measures.calc_aggregate(list(expected), *forms[form]) == expected


def test_judgments_serve_several_runs():
    qrels, run = made(3, tied=False)
    evaluator = ir_measures.evaluator([nDCG @ 5, parse_measure("alpha_nDCG@5")], iter(qrels))
    assert isinstance(evaluator, RankgaugeEvaluator)
    first = evaluator.calc_aggregate(run)
    other = evaluator.calc_aggregate({"100": {"d001": 1.0}})
    assert first[nDCG @ 5] > other[nDCG @ 5]
    assert evaluator.calc_aggregate(run) == first


def test_a_run_without_a_judged_query_has_their_defaults():
    qrels, _ = made(3, tied=False)
    assert ir_measures.calc_aggregate([nDCG @ 5], qrels, {"999": {"d001": 1.0}}) == {nDCG @ 5: 0.0}
    assert ir_measures.calc_aggregate([nDCG @ 5], qrels, {}) == {nDCG @ 5: 0.0}


def test_what_others_define_is_left_to_them():
    qrels, run = made(3, tied=False)
    defined = ir_measures.define_byquery(lambda qrels, run: float(len(run)), name="Length")
    assert not OURS.supports(defined)
    for measure in (defined, parse_measure("Accuracy@5")):
        assert by_query(ir_measures, measure, qrels, run) == by_query(THEIRS, measure, qrels, run)
    with pytest.raises(ValueError, match="rankgauge does not compute"):
        RankgaugeProvider().evaluator([defined], qrels)


@pytest.mark.parametrize("name", ["RBP", "RBP(rel=1)@5"])
def test_parameters_that_no_provider_takes_are_refused_as_before(name):
    with pytest.raises(ValueError, match="Unsupported measures"):
        ir_measures.calc_aggregate([parse_measure(name)], *made(3, tied=False))


@pytest.mark.parametrize(
    "name", ["hit@5", "hits(rel=2)@10", "ndcg(gain='exponential')@5", "gm_map", "bpref", "num_rel"]
)
def test_metrics_of_rankgauge_are_measures(name):
    """Where every judged query is in the run the value is rankgauge's own."""
    qrels, run = made(4, tied=True)
    qrels = [row for row in qrels if row.query_id != "103"]
    measure = parse_measure(name)
    assert isinstance(measure, RankgaugeMeasure)
    assert parse_measure(str(measure)) == measure
    (column,) = rankgauge.evaluate(qrels, run, [name]).metrics.values()
    assert ir_measures.calc_aggregate([measure], qrels, run)[measure] == pytest.approx(column.mean, abs=1e-12)


def test_a_query_without_a_value_counts_where_the_metric_says_so():
    """The relevant document has rank 2; the second query has none in the run, the third is not in the run."""
    qrels = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
    run = {"1": {"x": 2.0, "a": 1.0}, "2": {"x": 1.0}}
    first_rank, unjudged, hit = map(parse_measure, ("first_rank", "unj@2", "hit@2"))
    found = ir_measures.calc_aggregate([first_rank, unjudged, hit], qrels, run)
    assert found == pytest.approx({first_rank: 2.0, unjudged: (0.5 + 0.5 + 1) / 3, hit: 1 / 3})


def test_no_measure_of_theirs_is_replaced():
    assert not isinstance(parse_measure("RBP"), RankgaugeMeasure)
    assert "containment" not in ir_measures.measures.registry


PLUGIN = """
from rankgauge.plugin import hookimpl, sample_metric

@sample_metric("acme-first-two", short=("first_two",))
def first_two(ranking):
    "How many of the first two results are relevant."
    return float(sum(gain > 0 for gain in ranking.gains[:2]))

@hookimpl
def rankgauge_metrics():
    return [first_two]
"""


def test_the_command_line_knows_what_rankgauge_and_plugins_add(tmp_path):
    """The relevant documents have the ranks 2 and 3."""
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 1\n", encoding="utf-8")
    (tmp_path / "run").write_text("1 Q0 x 1 3 t\n1 Q0 a 2 2 t\n1 Q0 b 3 1 t\n", encoding="utf-8")
    (tmp_path / "acme.py").write_text(PLUGIN, encoding="utf-8")
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[rankgauge]\nacme = acme\n", encoding="utf-8")
    line = [sys.executable, "-m", "rankgauge_hosts.ir_measures", tmp_path / "qrels", tmp_path / "run"]
    measures = ["RR", "first_rank", "first_two"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([*line, *measures], capture_output=True, text=True, check=True, timeout=120, env=environment)
    assert done.stdout.split() == ["RR", "0.5000", "first_rank", "2.0000", "first_two", "1.0000"]
