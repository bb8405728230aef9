"""`rankgauge trec`: what it prints, its letters, several runs, and what it refuses."""

import gzip
import io
import json

import polars as pl
import pytest

from rankgauge import Result

QRELS = "q1 0 a 2\nq1 0 b 1\nq1 0 n 0\nq2 0 a 1\nq3 0 c 1\nq4 0 z 0\n"
GOOD = "q1 Q0 a 1 3 good\nq1 Q0 x 2 2 good\nq1 Q0 b 3 1 good\nq2 Q0 a 1 1 good\n"
BAD = "q1 Q0 x 1 3 bad\nq1 Q0 b 2 2 bad\nq2 Q0 x 1 2 bad\nq2 Q0 a 2 1 bad\nq3 Q0 c 1 1 bad\nq9 Q0 c 1 1 bad\n"


@pytest.fixture
def files(write):
    """Return judgments of four queries, of which one has nothing relevant, and two runs that lack some of them."""
    return write("qrels.txt", QRELS), write("good.run", GOOD), write("bad.run", BAD)


def table(text):
    return {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}


def test_a_run_is_printed_as_a_table(rankgauge, files):
    """AP of q1 is (1 + 2/3) / 2 = 5/6, of q2 1; q3 is missing, q4 has nothing relevant: their mean is 11/24."""
    done = rankgauge("trec", files[0], files[1], "-m", "map", "-m", "P@1,3", "-m", "num_rel", "--all-columns")
    assert done.code == 0
    assert table(done.out) == {
        "metric": ["value", "se", "low", "high", "n", "undefined", "missing"],
        "map": ["0.4583", "0.2668", "0.0000", "1.0000", "4", "1", "1"],
        "P@1": ["0.5000", "0.2887", "0.1500", "0.8500", "4", "1", "1"],
        "P@3": ["0.2500", "0.1596", "0.0000", "0.7578", "4", "1", "1"],
        "num_rel": ["4", "-", "-", "-", "4", "0", "2"],
    }
    assert "2 of 4 judged queries without results in the run; counted as 0" in done.err


def test_several_runs_have_a_column_each_in_order_of_a_metric(rankgauge, files):
    """RR: good has 1, 1, 0, 0; bad has 1/2, 1/2, 1, 0. Both are 0.5; recall@3 is 1/2 against 5/8."""
    done = rankgauge("trec", *files, "-m", "RR", "-m", "recall_3", "--sort", "recall_3")
    assert table(done.out) == {
        "metric": ["bad.run", "good.run"],
        "RR": ["0.5000", "0.5000"],
        "recall_3": ["0.6250", "0.5000"],
    }
    assert list(table(rankgauge("trec", *files, "-m", "P_1").out)["metric"]) == ["good.run", "bad.run"]
    assert "bad.run: 1 query of the run has no judgments and is left out" in done.err


def test_where_less_is_better_the_run_with_least_stands_first(rankgauge, files, write):
    """unj@1: good has only judged documents on top, bad has x on top of q1 and q2."""
    for runs in (files[1:], files[:0:-1]):
        done = rankgauge("trec", files[0], *runs, "-m", "unj@1", "-m", "RR", "--sort", "unj@1")
        assert table(done.out)["metric"] == ["good.run", "bad.run"]


def test_many_runs_have_a_row_each(rankgauge, files, write, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    runs = [write(f"a-run-with-number-{number}.txt", GOOD) for number in range(4)]
    rows = table(rankgauge("trec", files[0], *runs, "-m", "RR").out)
    assert rows["run"] == ["RR"]
    assert len(rows) == 5


def test_every_query_is_printed_on_request(rankgauge, files):
    done = rankgauge("trec", files[0], files[1], "-m", "RR", "-q", "-n")
    assert table(done.out) == {
        "query": ["RR"],
        "q1": ["1.0000"],
        "q2": ["1.0000"],
        "q3": ["0.0000", "missing"],
        "q4": ["0.0000", "undefined"],
    }


def test_trec_format_prints_missing_queries_since_version_10(rankgauge, files):
    ten = rankgauge("trec", files[0], files[1], "-m", "num_rel", "-m", "recip_rank", "-m", "num_q", "-qc", "-f", "trec")
    assert ten.out == (
        "num_rel               \tq1\t2\nrecip_rank            \tq1\t1.0000\n"
        "num_rel               \tq2\t1\nrecip_rank            \tq2\t1.0000\n"
        "num_rel               \tq3\t1\nrecip_rank            \tq3\t0.0000\n"
        "num_rel               \tq4\t0\nrecip_rank            \tq4\t0.0000\n"
        "num_q                 \tall\t4\nnum_rel               \tall\t4\nrecip_rank            \tall\t0.5000\n"
    )
    options = ("-m", "recip_rank", "-m", "num_q", "-q", "-f", "trec", "--profile", "trec9")
    nine = rankgauge("trec", files[0], files[1], *options)
    assert nine.out == (
        "recip_rank            \tq1\t1.0000\nrecip_rank            \tq2\t1.0000\n"
        "num_q                 \tall\t2\nrecip_rank            \tall\t1.0000\n"
    )
    complete = rankgauge("trec", files[0], files[1], *options, "-c")
    assert complete.out == (
        "recip_rank            \tq1\t1.0000\nrecip_rank            \tq2\t1.0000\n"
        "num_q                 \tall\t4\nrecip_rank            \tall\t0.5000\n"
    )


def test_num_rel_over_all_queries_ignores_the_level_as_trec_eval_does(rankgauge, files):
    """At level 2 one document is relevant; asked for all queries, trec_eval counts every grade above 0."""
    options = ("-m", "num_rel", "-l2", "-f", "trec")
    assert rankgauge("trec", files[0], files[1], *options).out == "num_rel               \tall\t1\n"
    assert rankgauge("trec", files[0], files[1], *options, "-c").out == "num_rel               \tall\t4\n"


def test_letters_stand_for_words(rankgauge, files):
    """Of q1, -M2 leaves a and x; -J drops x, so that b is second of two; -l2 makes a alone relevant."""

    def value(*options):
        return float(table(rankgauge("trec", files[0], files[1], "-m", "map", *options).out)["map"][0])

    assert value("-M2") == pytest.approx((1 / 2 + 1) / 4, abs=5e-5)
    assert value("--depth", "2") == value("-M", "2")
    assert value("-J") == value("--judged-only") == pytest.approx((1 + 1) / 4, abs=5e-5)
    assert value("-l2") == value("--relevance", "2") == pytest.approx(1 / 4, abs=5e-5)


def test_forms_and_families_are_those_of_trec_eval(rankgauge, files):
    """Columns stand in trec_eval's order, cutoffs ascending; parameters take the place of a family's own cutoffs."""
    done = rankgauge(
        *("trec", files[0], files[1], "-f", "trec", "-m", "set_F.0.5", "-m", "P.7,3", "-m", "ndcg.1=3,2=9"),
        *("-m", "official", "-m", "iprec_at_recall..10,.20", "-m", "ndcg_cut.23.4"),
    )
    labels = [line.split("\t")[0].strip() for line in done.out.splitlines()]
    assert labels == [
        *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
        *("iprec_at_recall_0.10", "iprec_at_recall_0.20", "P_3", "P_7", "ndcg_1=3,2=9", "ndcg_cut_23", "set_F_0.5"),
    ]


def test_json_is_a_report_and_a_list_of_them_for_several_runs(rankgauge, files):
    one = rankgauge("trec", files[0], files[1], "-m", "ndcg@10", "--json").json
    assert one["metrics"]["ndcg@10"]["n"] == 4
    assert one["profile"] == "trec10"
    assert (one["outputs"]["tag"], one["outputs"]["queries_missing"]) == ("good", 2)
    both = rankgauge("trec", *files, "-m", "ndcg@10", "--format", "json").json
    assert sorted(report["outputs"]["tag"] for report in both) == ["bad", "good"]


def test_reports_of_several_runs_say_which_is_which(rankgauge, files):
    lines = rankgauge("trec", *files, "-m", "RR", "-m", "P_1", "--sort", "P_1", "-f", "jsonl").out.splitlines()
    assert [(json.loads(line)["run"], json.loads(line)["sample_id"]) for line in lines][3:5] == [
        ("good.run", "q4"),
        ("bad.run", "q1"),
    ]
    text = rankgauge("trec", *files, "-m", "RR", "-f", "markdown").out
    assert [line for line in text.splitlines() if line.startswith("# ")] == [
        "# Evaluation of qrels.txt: good.run",
        "# Evaluation of qrels.txt: bad.run",
    ]


def test_scores_are_written_as_parquet(rankgauge, files, tmp_path):
    done = rankgauge("trec", *files, "-m", "RR", "-o", tmp_path / "scores.parquet")
    assert done.code == 0
    assert "saved to" in done.err
    frame = pl.read_parquet(tmp_path / "scores.parquet").filter(pl.col("run") == "bad.run")
    (value,) = (name for name in frame.columns if name not in {"run", "sample_id"} and not name.endswith("_status"))
    assert frame["sample_id"].to_list() == ["q1", "q2", "q3", "q4"]
    assert frame[value].to_list() == [0.5, 0.5, 1.0, 0.0]


def test_results_are_saved_and_read_back(rankgauge, files, tmp_path):
    assert rankgauge("trec", files[0], files[1], "-m", "RR", "-o", tmp_path / "saved").code == 0
    assert Result.load(tmp_path / "saved")["RR"].mean == 0.5
    assert rankgauge("trec", files[0], files[1], "-m", "RR", "-o", tmp_path / "saved").code == 2


def test_standard_input_stands_for_a_run(rankgauge, files, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(GOOD.encode())

    monkeypatch.setattr("sys.stdin", Stdin)
    assert table(rankgauge("trec", files[0], "-", "-m", "RR").out)["RR"][0] == "0.5000"


def test_compressed_files_are_read(rankgauge, tmp_path, files):
    (tmp_path / "run.gz").write_bytes(gzip.compress(GOOD.encode()))
    assert table(rankgauge("trec", files[0], tmp_path / "run.gz", "-m", "RR").out)["RR"][0] == "0.5000"


def test_compressed_standard_input_is_told_by_how_it_begins(rankgauge, files, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(gzip.compress(GOOD.encode()))

    monkeypatch.setattr("sys.stdin", Stdin)
    assert table(rankgauge("trec", files[0], "-", "-m", "RR").out)["RR"][0] == "0.5000"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-m", "ndgc@10"), "unknown metric 'ndgc' (did you mean 'ndcg'"),
        (("-m", "yaap"), "is experimental and in none of its sets"),
        (("-m", "answer-exact-match"), "a run has only ids"),
        (("--profile", "trec8"), "unknown profile 'trec8'"),
        (("--policy", "ties"), "--policy is NAME=VALUE"),
        (("--policy", "ties=never"), "'ties' cannot be 'never'"),
        (("--sort", "AP"), "--sort"),
        (("--columns", "query"), "--columns is NAME=COLUMN"),
        (("-M", "0"), "'depth' is an integer of 1 or more"),
        (("--format", "csv"), "there is no format 'csv'; known are table, trec, json, jsonl, markdown"),
        (("-f", "trec"), "--format trec prints one run"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_is_read(rankgauge, files, arguments, message):
    done = rankgauge("trec", *files, *([] if "-m" in arguments else ["-m", "RR"]), *arguments)
    assert done.code == 2
    assert message in done.err
    assert done.out == ""


def test_what_trec_eval_cannot_name_is_not_printed_in_its_format(rankgauge, files):
    done = rankgauge("trec", files[0], files[1], "-m", "judged@5", "-f", "trec")
    assert (done.code, done.out) == (2, "")
    assert "trec_eval has no name for judged@5" in done.err


def test_no_common_query_ends_with_4(rankgauge, files, write):
    done = rankgauge("trec", files[0], write("other.run", "Q1 Q0 a 1 1 t\n"), "-m", "RR")
    assert done.code == 4
    assert "0 of 4 query ids overlap; the run's look like `Q1`, the judgments' like `q1`" in done.err


def test_bad_lines_end_with_2_and_are_all_named(rankgauge, files, write):
    done = rankgauge("trec", files[0], write("bad.txt", "q1 Q0 a 1 1 t\nq1 Q0 b 2\nq1 Q0 c 3 x t\n"), "-m", "RR")
    assert (done.code, done.out) == (2, "")
    assert "bad.txt:2: 4 fields where 6 are needed" in done.err
    assert "bad.txt:3: the score 'x' is not a finite number" in done.err


def test_swapped_files_are_recognized(rankgauge, files):
    done = rankgauge("trec", files[1], files[0], "-m", "RR")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("are the two files swapped?") == 1
    assert f"{files[1]}:1: this is a line of a run" in done.err


def test_missing_files_are_named(rankgauge, files):
    assert "no such file" in rankgauge("trec", "nowhere.txt", files[1], "-m", "RR").err
    assert rankgauge("trec", files[0], "nowhere.txt", "-m", "RR").code == 2


def test_usage_is_told(rankgauge, files):
    assert rankgauge("trec", files[0]).code == 2
    help_text = rankgauge("trec", "--help")
    assert help_text.code == 0
    assert "--judged-only" in help_text.out
    assert json.loads(rankgauge("--log-level", "error", "trec", files[0], files[1], "-m", "RR", "--json").out)


def test_the_worst_and_the_best_case_stand_beside_the_mean(rankgauge, write):
    """P@2 of q1 is 1/2 with an unjudged x, of q2 1/2 with nothing at rank 2: worst 1/2, best (1 + 1/2) / 2."""
    qrels = write("qrels.txt", "q1 0 a 1\nq2 0 a 1\n")
    run = write("one.run", "q1 Q0 x 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 a 1 1 t\n")
    done = rankgauge("trec", qrels, run, "-m", "P@2", "-m", "bpref", "--bounds", "--condensed", "--all-columns")
    assert table(done.out) == {
        "metric": ["value", "condensed", "worst", "best", "se", "low", "high", "n"],
        "P@2": ["0.5000", "0.5000", "0.5000", "0.7500", "0.0000", "-", "-", "2"],
        "bpref": ["1.0000", "1.0000", "-", "-", "0.0000", "0.3424", "1.0000", "2"],
    }
    assert "worst, best: retrieved documents without a judgment may have any grade of the judgments" in done.err
    found = rankgauge("trec", qrels, run, "-m", "RR", "--bounds", "--condensed", "--json").json
    (found,) = found["metrics"].values()
    assert {name: found[name] for name in ("mean", "condensed", "worst", "best")} == {
        "mean": 0.75,
        "condensed": 1.0,
        "worst": 0.75,
        "best": 1.0,
    }


def test_bounds_of_several_runs_stand_under_each_metric(rankgauge, files):
    done = rankgauge("trec", *files, "-m", "hit@1", "--bounds")
    lines = [line.split("  ") for line in done.out.splitlines()]
    assert [line[0] for line in lines] == ["metric", "hit@1", "hit@1 worst", "hit@1 best"]


def test_bounds_of_standard_input(rankgauge, files, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
    piped = rankgauge("trec", files[0], "-", "-m", "AP", "--bounds")
    assert piped.out == rankgauge("trec", files[0], files[1], "-m", "AP", "--bounds").out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--bounds", "--format", "markdown"), "--bounds is for --format table, json, not for markdown"),
        (("--condensed", "--format", "trec"), "--condensed is for --format table, json, not for trec"),
        (("--bounds", "-J"), "--judged-only drops unjudged documents everywhere; leave out --bounds"),
        (("--bounds", "--policy", "ties=average"), "bounds need settled ranks"),
    ],
)
def test_bounds_that_cannot_be(rankgauge, files, options, message):
    done = rankgauge("trec", files[0], files[1], "-m", "RR", *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_columns_without_a_table_are_said_to_have_no_effect(rankgauge, files, write):
    told = "--columns names the columns of tables, and none of the files is one"
    done = rankgauge("trec", *files[:2], "-m", "RR", "--columns", "query=qid")
    assert (done.code, told in done.err) == (0, True)
    table = write("q.csv", "qid,did,grade\nq1,a,1\n")
    columns = "query=qid,document=did"
    assert told not in rankgauge("trec", table, files[1], "-m", "RR", "--columns", columns).err


def test_the_lowest_relevant_grade_stands_in_json(rankgauge, files):
    assert rankgauge("trec", *files[:2], "-m", "RR", "--json").json["relevance"] == 1
    assert rankgauge("trec", *files[:2], "-m", "RR", "-l", "1.5", "--json").json["relevance"] == 1.5


def test_grades_of_the_first_results_are_printed_as_trec_eval_does(rankgauge, write):
    """Grades are 2, none, 12, -1 and 0, as trec_eval's source says: a digit, -, >, . and 0."""
    qrels = write("qrels.txt", "q1 0 a 2\nq1 0 c 12\nq1 0 d -1\nq1 0 e 0\nq2 0 a 1\n")
    run = write("a.run", "".join(f"q1 Q0 {name} 1 {9 - place} t\n" for place, name in enumerate("axcde")))
    options = ("trec", qrels, run, "-m", "num_ret", "-f", "trec", "-q")

    assert rankgauge(*options, "-m", "relstring").out.splitlines() == [
        "num_ret               \tq1\t5",
        "relstring             \tq1\t'2->.0'",
        "num_ret               \tq2\t0",
        "relstring             \tq2\t''",
        "num_ret               \tall\t5",
    ]
    assert "relstring_3           \tq1\t'2->'" in rankgauge(*options, "-m", "relstring.3").out
    assert "relstring             \tq1\t'2>0'" in rankgauge(*options, "-m", "relstring", "-J").out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-m", "map", "-m", "relstring"], "a text for each query, which only --format trec -q prints"),
        (["-m", "relstring", "-f", "trec", "-q"], "printed beside others; add one"),
        (["-m", "runid", "-f", "trec"], "printed beside others; add one"),
    ],
)
def test_a_text_that_cannot_be_printed_is_refused(rankgauge, files, options, message):
    done = rankgauge("trec", *files[:2], *options)

    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_measure_that_fails_says_why_it_has_no_number(rankgauge, files, installed, monkeypatch):
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS", raising=False)
    installed.add(
        "acme-tools",
        """\
        from rankgauge.plugin import hookimpl, run_metric

        @run_metric("acme-share")
        def share(rankings):
            "Return the share of a catalogue."
            raise ValueError("the catalogue is empty")

        @hookimpl
        def rankgauge_metrics():
            return [share]
        """,
    )
    done = rankgauge("trec", files[0], files[1], "-m", "acme-share", "-m", "MRR")
    assert table(done.out)["acme-share"][0] == "-"
    assert "acme-share' of acme-tools 1.0 gives no value: ValueError: the catalogue is empty" in done.err


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "markdown"])
def test_grades_above_a_scale_are_noted(rankgauge, files, form):
    """The grade 2 of q1 counts as 1: ERR of good is 1/2 + 1/2 * 1/2 * 1/3 for q1, and 1/2 for q2."""
    done = rankgauge("trec", files[0], files[1], "-m", "ERR(max_grade=1)@5", "-f", form)
    assert done.code == 0
    assert "err(max_grade=1.0)@5: there are grades up to 2; those above max_grade=1 count as 1" in done.err
    if form == "table":
        assert table(done.out)["ERR(max_grade=1)@5"][0] == f"{(1 / 2 + 1 / 12 + 1 / 2) / 4:.4f}"


def test_files_without_a_header_are_what_columns_say(rankgauge, write, monkeypatch):
    """Document a is relevant, and the best by its rank; every command that takes runs takes the option."""
    qrels, run = write("qrels.tsv", "q1\ta\t1\n"), write("run.tsv", "q1\ta\t1\nq1\tb\t2\n")
    both = ["--columns", "query,document,grade", "--columns", "query,document,rank"]
    done = rankgauge("trec", qrels, run, "-m", "RR", "--json", *both)
    assert (done.code, done.mean("rr")) == (0, 1.0)
    refused = rankgauge("trec", qrels, run, "-m", "RR", *both[:2])
    assert refused.code == 2
    assert "run.tsv:1: 'q1\\ta\\t1' has 3 columns and no header" in refused.err
    assert "--columns query,document,rank or --columns query,document,score" in refused.err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"q1 a 1\nq1 b 2\n")))
    assert rankgauge("trec", qrels, "-", "-m", "RR", "--json", *both).mean("rr") == 1.0
    other = write("other.csv", "q1,b,2.5\nq1,a,0.5\n")
    compared = rankgauge("compare", "--qrels", qrels, run, other, "-m", "RR", *both)
    assert compared.code == 2  # other.csv has no whole numbers in its third column
    assert "other.csv:1: the rank '2.5' is not a whole number from 0 on" in compared.err
    assert rankgauge("validate", qrels, run, *both).code == 0
    assert rankgauge("judge", "queue", run, "--depth", "2", "-o", "queue.jsonl", *both[2:]).code == 0


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("query", "such as query,document,rank"),
        ("query,document=pid", "is NAME=COLUMN"),
        ("query,document", "no score or rank"),
    ],
)
def test_columns_that_say_nothing_are_refused(rankgauge, files, written, said):
    done = rankgauge("trec", files[0], files[1], "--columns", written)
    assert done.code == 2
    assert said in done.err


def test_a_line_whose_fields_are_shifted_is_said(rankgauge, files, write):
    """The number is trec_eval's, which takes `my` for the document: what is printed on stdout does not change."""
    run = write("shifted.run", f"{GOOD}q3 Q0 my c 1 0.5 good\n")
    done = rankgauge("trec", files[0], run, "-m", "P@1", "--format", "trec")
    assert done.out.split() == ["P_1", "all", "0.5000"]
    said = (
        "shifted.run:5: 7 fields where a run has 6; as in trec_eval it is read as query 'q3', document 'my', rank 'c'"
    )
    assert said in " ".join(done.err.split())


def test_scores_that_rise_with_the_stated_ranks_are_said(rankgauge, files, write):
    run = write("distances.run", "q1 Q0 a 1 0.1 t\nq1 Q0 x 2 0.2 t\n")
    done = rankgauge("trec", files[0], run, "-m", "P@1")
    assert "distances.run rise with its stated ranks" in " ".join(done.err.split())
