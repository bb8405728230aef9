"""trec_eval's table: families, sets, parameters, printed labels, and what is left out."""

from __future__ import annotations

import pytest

from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.catalog.trec_eval import MEASURES, expand, read_form
from rankgauge.errors import ExpressionError, PlanError, UnknownNameError
from tables import rows

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
BUILT_IN = ENGINE.catalog.built_in
STANDARD = ["5", "10", "15", "20", "30", "100", "200", "500", "1000"]
LEVELS = [f"iprec_at_recall_{step / 10:.2f}" for step in range(11)]
OFFICIAL = ["runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"]


def labels(*names, **options):
    return [column.label for column in expand(names, BUILT_IN, **options)]


def test_official_is_what_trec_eval_prints_in_its_order():
    assert labels("official") == [*OFFICIAL, *LEVELS, *(f"P_{k}" for k in STANDARD)]


def test_all_trec_is_everything_in_the_order_of_the_table():
    expected = [
        *OFFICIAL,
        *LEVELS,
        *(f"{family}_{k}" for family in ("P", "recall") for k in STANDARD),
        *("infAP", "gm_bpref", "11pt_avg", "ndcg"),
        *(f"{family}_{k}" for family in ("ndcg_cut", "map_cut", "relative_P") for k in STANDARD),
        *("success_1", "success_5", "success_10", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
        "num_nonrel_judged_ret",
    ]

    assert labels("all_trec") == [*expected, "rbp", "rbp_resid", "unj_5", "unj_10", "unj_20"]
    assert labels("all_trec", version=9) == expected


def test_set_is_counts_and_set_measures():
    expected = "runid num_q num_ret num_rel num_rel_ret set_P set_relative_P set_recall set_map set_F"

    assert labels("set") == expected.split()


def test_places_sort_columns_as_the_table_does():
    columns = expand(["unj", "recall_100", "ndcg@5", "P.1000,7", "map", "iprec_at_recall..5,.10", "runid"], BUILT_IN)
    ordered = sorted(columns, key=lambda column: column.place)

    assert [column.label for column in ordered] == [
        *("runid", "map", "iprec_at_recall_0.10", "iprec_at_recall_0.50", "P_7", "P_1000", "recall_100", "ndcg_cut_5"),
        *("unj_5", "unj_10", "unj_20"),
    ]


def test_parameters_replace_the_standard_ones_wherever_the_family_stands():
    assert labels("official", "P.7")[-2:] == ["iprec_at_recall_1.00", "P_7"]
    assert labels("P", "P.10,5") == ["P_5", "P_10"]
    assert labels("P.7", "P.3") == ["P_3", "P_7"]
    assert labels("all_trec", "ndcg.1=3,2=9").count("ndcg") == 0


def test_cutoffs_come_ascending_and_once():
    assert labels("success.5,2,5") == ["success_2", "success_5"]


def test_dot_without_parameters_is_the_family():
    assert labels("map_cut.") == labels("map_cut") == [f"map_cut_{k}" for k in STANDARD]


@rows(
    ("written", "spec", "label"),
    [
        ("ndcg.1=3,2=9", 'ndcg(gains="1=3,2=9")', "ndcg_1=3,2=9"),
        ("set_F.4", "set_F(beta=2.0)", "set_F_4"),
        ("set_F.0.25", "set_F(beta=0.5)", "set_F_0.25"),
        ("rbp.p=0.8", "rbp(p=0.8)", "rbp_p=0.8"),
        ("rbp_resid.p=0.8", "rbp_resid(p=0.8)", "rbp_resid_p=0.8"),
        ("11pt_avg..25,.5,.75", '11pt_avg(recalls=".25,.5,.75")', "11pt_avg_.25,.5,.75"),
        ("iprec_at_recall..10", "iprec_at_recall@0.1", "iprec_at_recall_0.10"),
        ("unj.5", "unj@5", "unj_5"),
    ],
)
def test_parameters_are_read_and_labelled_as_written(written, spec, label):
    (column,) = expand([written], BUILT_IN)

    assert (spec, label) == (column.spec, column.label)
    assert [spec] == [str(expression) for expression in read_form(written)]
    ENGINE.dataset([]).with_metrics([written]).plan()


@rows(
    ("ours", "label"),
    [
        ("ndcg@10", "ndcg_cut_10"),
        ("nDCG@10", "ndcg_cut_10"),
        ("retrieval-ndcg-at-10", "ndcg_cut_10"),
        ("ndcg", "ndcg"),
        ("AP", "map"),
        ("MAP@20", "map_cut_20"),
        ("RR", "recip_rank"),
        ("Success@1", "success_1"),
        ("hit@3", "success_3"),
        ("R@100", "recall_100"),
        ("recall_100", "recall_100"),
        ("IPrec@0.1", "iprec_at_recall_0.10"),
        ("SetP", "set_P"),
        ("Bpref", "bpref"),
        ("NumRet", "num_ret"),
        ("RBP", "rbp"),
        ("retrieval-unjudged-at-5", "unj_5"),
    ],
)
def test_other_spellings_of_trec_evals_measures_have_its_label(ours, label):
    assert labels(ours) == [label]


@pytest.mark.parametrize(
    "ours", ["RR@10", "P(rel=2)@5", "judged@10", "ERR@20", "f1@5", "retrieval-ndcg-at-k", "plug-x"]
)
def test_what_trec_eval_has_no_spelling_for_passes_through(ours):
    (column,) = expand([ours], BUILT_IN)

    assert (ours, None, None, "float") == (column.spec, column.label, column.place, column.kind)


def test_column_asked_for_in_two_spellings_is_one():
    assert labels("AP", "map", "retrieval-map", "ndcg_cut.10", "nDCG@10") == ["map", "ndcg_cut_10"]


def test_kinds_say_how_values_print_and_where():
    columns = {column.label: column for column in expand(["all_trec"], BUILT_IN)}

    assert [name for name, column in columns.items() if column.kind == "integer"] == [
        *("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"),
    ]
    assert [name for name, column in columns.items() if column.kind == "text"] == ["runid"]
    assert [name for name, column in columns.items() if column.only_all] == ["runid", "num_q", "gm_map", "gm_bpref"]


def test_every_column_but_runid_can_be_planned_and_is_the_metric_named():
    columns = [column for column in expand(["all_trec"], BUILT_IN) if column.spec is not None]
    plan = ENGINE.dataset([]).with_metrics([column.spec for column in columns]).with_profile("trec10").plan()

    assert len(columns) == len(plan.metrics)
    for column, planned in zip(columns, plan.metrics, strict=True):
        assert list(MEASURES.values())[column.place[0]].alias == planned.metric.alias


def test_a_text_stands_in_the_order_of_trec_eval_and_in_no_set():
    columns = expand(["recall.5", "relstring", "P.5"], BUILT_IN)

    assert [(column.label, column.length) for column in sorted(columns, key=lambda each: each.place)] == [
        *(("P_5", None), ("relstring", 10), ("recall_5", None)),
    ]
    assert [column.label for column in expand(["relstring.3"], BUILT_IN)] == ["relstring_3"]
    assert "relstring" not in labels("all_trec")
    with pytest.raises(ExpressionError, match="one number of results"):
        expand(["relstring.5,10"], BUILT_IN)
    with pytest.raises(PlanError, match="it is no number but a text"):
        ENGINE.dataset([]).with_metrics(["relstring.10"]).plan()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("yaap", "experimental"),
        ("prefs_simp", "pairs of preferences"),
        ("map_avgjg", "several groups of judgments"),
    ],
)
def test_what_is_left_out_is_refused_with_the_reason(name, reason):
    with pytest.raises(UnknownNameError, match=reason):
        expand(["map", name], BUILT_IN)
    with pytest.raises(PlanError, match=reason):
        ENGINE.dataset([]).with_metrics([name]).plan()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("P.x", "cutoffs, such as P.5,10"),
        ("iprec_at_recall.all", "levels, such as iprec_at_recall.0.1"),
        ("map.5", "are none, not '5'"),
        ("rbp.0.8", "p, such as rbp.p=0.8"),
        ("set_F.wide", "one number"),
    ],
)
def test_parameters_that_a_measure_does_not_take_are_refused(written, expected):
    with pytest.raises(ExpressionError, match=expected):
        expand([written], BUILT_IN)
    with pytest.raises(ExpressionError, match=expected):
        read_form(written)


@pytest.mark.parametrize("written", ["P", "recall", "P.", "map_cut.", "iprec_at_recall", "success"])
def test_families_expand_nowhere_else(written):
    with pytest.raises(PlanError):
        ENGINE.dataset([]).with_metrics([written]).plan()


def test_forms_work_wherever_metrics_are_written_and_find_their_columns():
    sample = {"id": "q", "expected_output": {"a": 2, "b": 1}, "actual_output": ["x", "a", "b"]}
    forms = ["P.2,3", "ndcg.1=3,2=9", "set_F.4", "iprec_at_recall..10", "iprec_at_recall_0.50", "11pt_avg..25,.75"]
    result = ENGINE.dataset([sample]).with_metrics([*forms, {"metric": "unj.2"}]).run()

    assert list(result.metrics)[:2] == ["p@2", "p@3"]
    for spelled in ("iprec@0.1", "IPrec@0.1", "iprec_at_recall_0.10", "iprec_at_recall_0.1", "iprec_at_recall..10"):
        assert result[spelled].name == "iprec_at_recall@0.1"
    assert result["iprec_at_0_5"].name == result["iprec_at_recall.0.5"].name == "iprec@0.5"
    assert result["set_F.4"] is result["set_F(beta=2)"]
    assert result["ndcg.1=3,2=9"].info.expression == 'ndcg(gains="1=3,2=9")'
    assert result["P.3"].mean == 2 / 3
    with pytest.raises(KeyError):
        result["iprec@0.3"]
    with pytest.raises(KeyError):
        result["P.2,3"]


def test_decimals_of_a_cutoff_are_dropped_as_trec_eval_drops_them():
    assert [column.label for column in expand(["ndcg_cut.10,20,23.4"], BUILT_IN)] == [
        "ndcg_cut_10",
        "ndcg_cut_20",
        "ndcg_cut_23",
    ]


def meant(specs):
    """Return what names mean, whatever the columns are called."""
    columns = ENGINE.dataset([]).with_metrics(specs).plan().metrics
    return {(column.metric.alias, column.cut.k, tuple(sorted(column.params.items()))) for column in columns}


@pytest.mark.parametrize(
    ("written", "columns", "ours"),
    [
        ("P_5,10", ["P_5", "P_10"], ["P@5", "P@10"]),
        ("ndcg_cut_5,10", ["ndcg_cut_5", "ndcg_cut_10"], ["ndcg@5", "ndcg@10"]),
        ("map_cut_10, 5", ["map_cut_5", "map_cut_10"], ["AP@10", "AP@5"]),
        ("iprec_at_recall_0.1,0.5", ["iprec_at_recall_0.10", "iprec_at_recall_0.50"], ["iprec@0.1", "iprec@0.5"]),
        ("Rprec_mult_0.2,0.4", ["Rprec_mult_0.20", "Rprec_mult_0.40"], ["Rprec_mult@0.2", "Rprec_mult@0.4"]),
        ("relative_P_5,10", ["relative_P_5", "relative_P_10"], ["relative_P@5", "relative_P@10"]),
    ],
)
def test_columns_of_a_family_may_be_listed_behind_its_name(written, columns, ours):
    """As `P.5,10`, everywhere; `P_5` alone is a name of its own."""
    assert labels(written) == columns

    assert meant([written]) == meant(ours)


@pytest.mark.parametrize("written", ["P_5,", "P_5,x", "P_5,10@3", "ndcg_5,10", "nonsense_5,10", "set_F_1,2"])
def test_other_lists_are_no_families(written):
    with pytest.raises((ExpressionError, UnknownNameError, PlanError)):
        ENGINE.dataset([]).with_metrics([column.spec for column in expand([written], BUILT_IN)]).plan()


@rows(
    ("written", "label", "form"),
    [
        ("rbp(p=0.8)", "rbp_p=0.8", "rbp.p=0.8"),
        ("RBP(p=0.95)", "rbp_p=0.95", "rbp.p=0.95"),
        ("rbp_resid(p=0.5)", "rbp_resid_p=0.5", "rbp_resid.p=0.5"),
        ("set_F(beta=0.5)", "set_F_0.25", "set_F.0.25"),
        ("SetF(beta=2)", "set_F_4", "set_F.4"),
        ('utility(weights="1,-1,0,0")', "utility_1,-1,0,0", "utility.1,-1,0,0"),
        ('ndcg(gains="1=3,2=9")', "ndcg_1=3,2=9", "ndcg.1=3,2=9"),
        ("nDCG(cutoff=10)", "ndcg_cut_10", "ndcg_cut.10"),
    ],
)
def test_parameters_that_have_a_form_there_are_printed_in_it(written, label, form):
    assert labels(written) == labels(form) == [label]
    assert meant([written]) == meant([form])


@pytest.mark.parametrize(
    "written", ["AP(rel=2)", "RBP(p=0.8, rel=2)", "rbp(p=0.8)@10", "ndcg(gain=exponential)", "set_F(beta=true)"]
)
def test_parameters_that_have_none_have_no_label(written):
    assert labels(written) == [None]


PRINTED = [
    ("rbp_p=0.8", "rbp(p=0.8)"), ("rbp_resid_p=0.95", "rbp_resid(p=0.95)"), ("set_F_4", "set_F(beta=2.0)"),
    ("set_F_0.25", "set_F(beta=0.5)"), ("utility_1,-1,0,0", 'utility(weights="1,-1,0,0")'), ("P_5", "P@5"),
    ("11pt_avg_0.1,0.5", '11pt_avg(recalls="0.1,0.5")'), ("11pt_avg_0.5", '11pt_avg(recalls="0.5")'),
    ("G_1=3,2=9", 'G(gains="1=3,2=9")'), ("ndcg_1=3,2=9", 'ndcg(gains="1=3,2=9")'), ("unj_20", "unj@20"),
    ("ndcg_rel_1=3", 'ndcg_rel(gains="1=3")'), ("Rndcg_1=2", 'Rndcg(gains="1=2")'), ("success_1", "success@1"),
    ("iprec_at_recall_0.10", "iprec_at_recall@0.1"), ("Rprec_mult_1.20", "Rprec_mult@1.2"),
    ("ndcg_cut_10", "ndcg@10"), ("map_cut_5", "map@5"),
]  # fmt: skip


@pytest.mark.parametrize(("label", "ours"), PRINTED)
def test_a_printed_name_can_be_typed(label, ours):
    """Here and for every other command, and it prints the same name again."""
    samples = ENGINE.dataset([]).with_metrics
    assert samples(label).plan().metrics[0].standard_name == samples(ours).plan().metrics[0].standard_name
    (column,) = expand([label], BUILT_IN)
    assert column.label == label


def test_every_name_that_is_printed_is_read_again():
    printed = expand([*MEASURES, "rbp.p=0.8", "rbp_resid.p=0.8", "set_F.2", "G.1=2", "relstring.5"], BUILT_IN)
    assert [column.label for column in printed] == labels(*(str(column.label) for column in printed))


@pytest.mark.parametrize("written", ["rbp_p=x", "set_F_1.2.3", "utility_1,2"])
def test_parameters_behind_a_printed_name_that_it_cannot_have_are_said(written):
    with pytest.raises((ExpressionError, PlanError)):
        ENGINE.dataset([]).with_metrics(written).plan()
