"""Preflight, on files made by hand: each finding where it belongs, and not where it does not."""

import gzip

import polars as pl
import pytest

import rankgauge
from rankgauge.errors import UnreadableError

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\nq2 0 d 0\n"
RUN = "q1 Q0 a 1 3.0 t\nq1 Q0 b 2 2.0 t\nq2 Q0 d 1 3.0 t\nq2 Q0 c 2 2.0 t\n"


@pytest.fixture
def check(tmp_path):
    """Return a function that checks texts."""

    def check_texts(qrels=QRELS, run=RUN, **options):
        for name, text in (("qrels.txt", qrels), ("run.txt", run)):
            (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        return rankgauge.preflight(tmp_path / "qrels.txt", tmp_path / "run.txt", **options)

    return check_texts


def run_of(rankings, *, ranked=True):
    """Return a run of {query: [(document, score), ...]}, as text."""
    return "".join(
        f"{query} Q0 {document} {rank if ranked else 7} {score} t\n"
        for query, results in rankings.items()
        for rank, (document, score) in enumerate(results, 1)
    )


def ten(begin="u", scores=None):
    """Return ten results with falling scores, or those given."""
    return [(f"{begin}{place}", (scores or range(10, 0, -1))[place]) for place in range(10)]


def test_a_run_that_fits_its_judgments_has_no_findings(check):
    checked = check()
    assert checked.findings == ()
    assert checked.ok
    assert checked.facts == {
        "queries_judged": 2,
        "judgments": 4,
        "relevant": 2,
        "grade_min": 0.0,
        "grade_max": 2.0,
        "queries_run": 2,
        "results": 4,
        "depth_min": 2,
        "depth_median": 2.0,
        "depth_max": 2,
        "results_tied": 0,
        "queries_tied": 0,
        "queries_ties_matter": 0,
        "queries_both": 2,
        "queries_missing": 0,
        "queries_unjudged": 0,
        "judged_retrieved": 4,
        "judged_expected": 4,
        "relevant_retrieved": 2,
        "relevant_expected": 2,
        "judged_at_10": 1.0,
    }
    assert str(checked).endswith("run.txt can be evaluated: 0 errors, 0 warnings, 0 info")


# queries


def test_queries_that_differ_in_case_are_named(check):
    checked = check(run=RUN.replace("q", "Q"))
    found = checked.find("query-overlap")
    assert found.severity == "error"
    assert found.message == (
        "0 of 2 query ids overlap; the run's look like `Q1`, the judgments' like `q1`: they differ in upper and "
        "lower case"
    )
    assert found.counts == {"queries_judged": 2, "queries_run": 2, "near_misses": 2}
    assert checked.find("missing-queries") is None
    assert not checked.ok


def test_queries_that_have_nothing_in_common_are_shown(check):
    found = check(run=RUN.replace("q1", "alpha").replace("q2", "beta")).find("query-overlap")
    assert found.message == "0 of 2 query ids overlap; the run's look like `alpha`, the judgments' like `q1`"
    assert found.counts["near_misses"] == 0


def test_judged_queries_that_the_run_lacks_are_counted_and_listed(check):
    found = check(qrels=QRELS + "q3 0 x 1\nq4 0 x 1\n").find("missing-queries")
    assert (found.severity, found.counts["queries"], found.examples) == ("warning", 2, ("query 'q3'", "query 'q4'"))
    assert found.message == "2 of 4 judged queries are missing from the run"


def test_a_missing_query_that_is_nearly_there_is_pointed_out(check):
    checked = check(qrels=QRELS + "q3 0 x 1\n", run=RUN + "Q3 Q0 x 1 1 t\n")
    assert checked.find("missing-queries").message == (
        "1 of 3 judged queries is missing from the run; 1 id of the run nearly matches: they differ in upper and "
        "lower case, such as `Q3`"
    )
    assert checked.find("unjudged-queries").counts == {"queries": 1}


def test_queries_without_judgments_are_counted(check):
    found = check(run=RUN + "q9 Q0 x 1 1 t\nq9 Q0 y 2 0.5 t\n").find("unjudged-queries")
    assert (found.severity, found.examples) == ("info", ("query 'q9'",))
    assert found.message == "1 of 3 queries of the run is not judged"


def test_queries_without_a_relevant_document_are_a_warning_and_all_of_them_an_error(check):
    found = check(qrels=QRELS.replace("a 1", "a 0")).find("no-relevant")
    assert (found.severity, found.examples) == ("warning", ("query 'q1'",))
    assert check(rel=2.0).find("no-relevant").examples == ("query 'q1'",)
    assert check(rel=3.0).find("no-relevant").severity == "error"


# documents


def test_documents_that_differ_by_a_prefix_are_named(check):
    run = run_of({"q1": [("doc-a", 2), ("doc-b", 1)], "q2": [("doc-c", 2), ("doc-x", 1)]})
    found = check(run=run).find("document-overlap")
    assert found.severity == "error"
    assert found.message.startswith("none of the 4 judged documents of these queries is retrieved")
    assert "the run's ids begin with 'doc-', the judgments' with no common prefix" in found.message
    assert found.counts["near_misses"] == 3


def test_documents_that_are_judged_for_other_queries_only_point_at_the_queries(check):
    found = check(run=run_of({"q1": [("c", 2), ("d", 1)], "q2": [("a", 2), ("z", 1)]})).find("document-overlap")
    assert "but 3 of 4 sampled documents are judged for other queries" in found.message
    assert found.counts == {"judged": 4, "judged_elsewhere": 3, "near_misses": 0}


def test_one_judged_document_is_enough_for_documents_to_meet(check):
    checked = check(run=run_of({"q1": [("a", 2), ("y", 1)], "q2": [("x", 2), ("z", 1)]}))
    assert checked.find("document-overlap") is None
    assert (checked.facts["judged_retrieved"], checked.facts["relevant_retrieved"]) == (1, 1)


def test_documents_that_lost_their_zeros_are_noticed_where_others_meet(check):
    qrels = "q1 0 007 1\nq1 0 100 1\nq2 0 012 1\nq2 0 200 1\n"
    found = check(qrels=qrels, run=run_of({"q1": [("7", 2), ("100", 1)], "q2": [("12", 2), ("200", 1)]}))
    assert found.find("near-documents").severity == "warning"
    assert found.find("near-documents").counts == {"near_misses": 2, "looked_at": 4}
    assert "they differ in leading zeros" in found.find("near-documents").message


def test_documents_that_are_judged_elsewhere_are_no_near_misses(check):
    checked = check(run=run_of({"q1": [("a", 2), ("c", 1)], "q2": [("d", 2), ("doc-c", 1)]}))
    assert checked.find("near-documents") is None


def test_judged_at_10_is_over_what_was_retrieved(check):
    checked = check(run=run_of({"q1": [("a", 3), ("x", 2), ("b", 1)], "q2": [*ten(), ("c", 0)]}))
    assert checked.facts["judged_at_10"] == pytest.approx((2 / 3 + 0 / 10) / 2)  # `c` stands at rank 11
    assert checked.find("unjudged-top").severity == "info"  # two judgments a query: no wonder


def test_few_judged_results_are_a_warning_where_judgments_are_many(check):
    many = "".join(f"q1 0 j{place} 1\n" for place in range(12))
    found = check(qrels=many, run=run_of({"q1": [("j0", 11), *ten()]})).find("unjudged-top")
    assert found.severity == "warning"
    assert found.counts == {"judged_at_10": 0.1, "judgments_a_query": 12.0}


def test_a_document_called_as_its_query_is_pointed_out(check):
    qrels = "q1 0 q1 1\nq2 0 c 1\n"
    found = check(qrels=qrels, run=run_of({"q1": [("q1", 2), ("x", 1)], "q2": [("c", 2), ("q1", 1)]})).find(
        "own-document"
    )
    assert found.severity == "warning"
    assert found.counts == {"queries": 1, "first": 1, "judged": 1}
    assert "1 of these documents is judged, and would be left out too" in found.advice


def test_documents_called_as_queries_by_chance_are_no_warning(check):
    run = run_of({"q1": [("a", 2), ("q1", 1)], "q2": [("c", 2), ("x", 1)]})
    assert check(run=run).find("own-document").severity == "info"
    assert check().find("own-document") is None


# order, ranks and ties


def test_scores_that_rise_with_the_rank_are_taken_for_distances(check):
    checked = check(run=run_of({"q1": [("a", 0.1), ("b", 0.2)], "q2": [("d", 0.3), ("c", 0.4)]}))
    found = checked.find("score-direction")
    assert (found.severity, found.counts["queries"]) == ("error", 2)
    assert "negate" in found.advice
    assert checked.find("rank-contradicts-score") is None
    assert checked.find("unsorted-queries") is None


def test_scores_that_rise_without_ranks_to_say_so_are_a_warning(check):
    run = run_of({"q1": [("a", 0.1), ("b", 0.2)], "q2": [("d", 0.3), ("c", 0.4)]}, ranked=False)
    checked = check(run=run)
    assert checked.find("score-direction").severity == "warning"
    assert checked.find("no-ranks").counts == {"queries": 2}


def test_lines_from_the_last_rank_to_the_first_are_no_distances(check):
    lines = RUN.splitlines(keepends=True)
    checked = check(run="".join([lines[1], lines[0], lines[3], lines[2]]))
    assert [finding.code for finding in checked.findings] == ["unsorted-queries"]
    assert checked.find("unsorted-queries").counts == {"queries": 2}


def test_ranks_that_contradict_scores_in_one_query_are_a_warning(check):
    checked = check(run=RUN.replace("q2 Q0 d 1 3.0", "q2 Q0 d 1 1.0"))
    found = checked.find("rank-contradicts-score")
    assert (found.severity, found.examples) == ("warning", ("query 'q2'",))
    assert checked.find("score-direction") is None
    assert checked.find("unsorted-queries") is None


def test_scores_that_rise_in_half_of_the_queries_are_no_distances(check):
    falls, rises = [("a", 2), ("b", 1)], [("a", 1), ("b", 2)]
    checked = check(run=run_of({"q1": falls, "q2": rises, "q3": falls, "q4": rises}))
    assert checked.find("score-direction") is None
    assert checked.find("rank-contradicts-score").counts == {"queries": 2}


def test_constant_scores_are_a_warning_and_an_error_where_ranks_say_otherwise(check):
    one = run_of({"q1": [("a", 1), ("b", 1)], "q2": [("d", 2), ("c", 1)]})
    assert (check(run=one).find("constant-scores").severity, check().find("constant-scores")) == ("warning", None)
    every = {"q1": [("a", 1), ("b", 1)], "q2": [("d", 1), ("c", 1)]}
    assert check(run=run_of(every)).find("constant-scores").severity == "error"
    assert check(run=run_of(every, ranked=False)).find("constant-scores").severity == "warning"


@pytest.mark.parametrize(
    ("ranks", "code", "severity"),
    [
        ((1, 2), None, None),
        ((0, 1), "first-rank", "info"),
        ((5, 6), "first-rank", "warning"),
        ((1, 3), "rank-gaps", "warning"),
        (("x", "y"), "shifted-fields", "warning"),
        ((4, 4), "no-ranks", "info"),
    ],
)
def test_the_rank_column_is_looked_at(check, ranks, code, severity):
    run = f"q1 Q0 a {ranks[0]} 2 t\nq1 Q0 b {ranks[1]} 1 t\nq2 Q0 c 1 2 t\nq2 Q0 d 2 1 t\n"
    assert [(finding.code, finding.severity) for finding in check(run=run).findings] == (
        [(code, severity)] if code else []
    )


def test_ties_matter_only_between_different_grades(check):
    matters = check(run=run_of({"q1": [("a", 1), ("b", 1), ("x", 0)], "q2": [("d", 2), ("c", 1)]}))
    found = matters.find("ties-that-matter")
    assert (found.severity, found.examples) == ("warning", ("query 'q1'",))
    assert found.counts == {"queries": 1, "queries_tied": 1, "results_tied": 2}
    assert "2 of 5 results (40.0 %)" in found.message
    harmless = check(run=run_of({"q1": [("a", 2), ("b", 1), ("x", 1)], "q2": [("d", 2), ("c", 1)]}))
    assert harmless.find("ties-that-matter") is None
    assert harmless.find("ties").counts == {"queries_tied": 1, "results_tied": 2}


def test_ties_are_found_where_lines_are_not_in_order(check):
    checked = check(run=run_of({"q1": [("a", 1), ("x", 5), ("b", 1)], "q2": [("d", 2), ("c", 1)]}))
    assert checked.find("ties-that-matter").counts["results_tied"] == 2


def test_scores_that_are_equal_as_32_bit_floats_only_are_told(check):
    run = run_of({"q1": [("a", "100.0000002"), ("b", "100.0000001")], "q2": [("d", 2), ("c", 1)]})
    found = check(run=run).find("float32-ties")
    assert (found.severity, found.counts) == ("warning", {"queries": 1, "queries_that_matter": 1, "results": 2})
    harmless = run_of({"q1": [("x", "100.0000002"), ("b", "100.0000001")], "q2": [("d", 2), ("c", 1)]})
    assert check(run=harmless).find("float32-ties").severity == "info"
    assert check(run=RUN.replace("3.0", "1e300")).find("float32-ties") is None


# what is too much, or too little


def test_documents_retrieved_twice_are_an_error_with_query_and_document(check):
    checked = check(run=RUN + "q2 Q0 c 3 1.0 t\nq2 Q0 c 4 0.5 t\n")
    found = checked.find("repeated-documents")
    assert (found.severity, found.counts) == ("error", {"queries": 1, "results": 2})
    assert found.examples == ("query 'q2', document 'c': 3 times",)
    assert checked.facts["judged_retrieved"] == 4


def test_one_document_for_two_queries_is_no_repetition(check):
    assert check(run=RUN + "q1 Q0 c 3 1.0 t\n").find("repeated-documents") is None


def test_judging_twice_is_an_error_and_the_rest_is_checked_all_the_same(check):
    checked = check(qrels=QRELS + "q1 0 a 0\n", run=RUN + "q2 Q0 c 3 1.0 t\n")
    assert [finding.code for finding in checked.errors] == ["judged-twice", "repeated-documents"]
    assert checked.find("judged-twice").examples == ("query 'q1' judges document 'a' more than once",)
    assert (checked.facts["judgments"], checked.facts["relevant"]) == (4, 2)


def test_queries_whose_lines_stand_apart_are_told_and_checked_whole(check):
    lines = RUN.splitlines(keepends=True)
    checked = check(run="".join([lines[0], lines[2], lines[1], lines[3]]))
    assert [finding.code for finding in checked.findings] == ["scattered-queries"]
    assert checked.find("scattered-queries").counts == {"queries": 2}
    assert (checked.facts["queries_run"], checked.facts["depth_max"]) == (2, 2)


def test_queries_that_are_cut_short_are_a_warning(check):
    rankings = {"q1": ten("a"), "q2": ten("c"), "q3": ten()[:4]}
    found = check(run=run_of(rankings)).find("short-queries")
    assert (found.severity, found.examples) == ("warning", ("query 'q3': 4 results",))
    assert found.counts == {"queries": 1, "depth_min": 4, "depth_median": 10.0, "depth_max": 10}
    assert check(run=run_of(rankings | {"q3": ten()[:5]})).find("short-queries") is None


@pytest.mark.parametrize(
    ("grade", "code"), [("-2", "negative-grades"), ("0.5", "fractional-grades"), ("5", "high-grades"), ("4", None)]
)
def test_unusual_grades_are_information(check, grade, code):
    checked = check(qrels=QRELS.replace("b 0", f"b {grade}"))
    assert [finding.code for finding in checked.findings] == ([code] if code else [])
    if code:
        assert checked.find(code).severity == "info"
        assert checked.find(code).examples == (f"query 'q1', document 'b': {grade}",)


# what cannot be read


def test_every_malformed_line_of_both_files_is_told_with_its_number(check):
    checked = check(qrels=QRELS + "q3 0 x\nq3 0 y yes\n", run=RUN + "q1 Q0\nq1 Q0 x 1 nan t\nq1 Q0 x 1 -inf t\n")
    judgments, run = checked.find("judgments-unreadable"), checked.find("run-unreadable")
    assert [example.partition("qrels.txt:")[2][:2] for example in judgments.examples] == ["5:", "6:"]
    assert [example.partition("run.txt:")[2][:2] for example in run.examples] == ["5:", "6:", "7:"]
    assert "the score 'nan' is not a finite number" in run.examples[1]
    assert (judgments.severity, run.counts) == ("error", {"problems": 3})
    assert all(example in str(checked) for example in run.examples)


def test_a_run_is_checked_without_judgments_as_far_as_that_goes(check):
    checked = check(qrels="q1 0 x\n", run=RUN + "q2 Q0 c 3 1.0 t\n")
    assert [finding.code for finding in checked.errors] == ["judgments-unreadable", "repeated-documents"]
    assert checked.facts["results"] == 5
    assert "queries_both" not in checked.facts


def test_files_in_the_wrong_order_are_noticed(check):
    checked = check(qrels=RUN, run=QRELS)
    assert [finding.code for finding in checked.findings] == ["swapped"]
    assert "name the judgments first" in checked.errors[0].advice


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (QRELS, "TREC judgments"),
        ("q1\ta\t1\nq1\tb\t2\n", "`query document rank`"),
        ("q1,Q0,a,1,2.0,t\n", "separated by commas"),
        ("q1 Q0 a 1 2.0\n", "without its last column"),
    ],
)
def test_a_file_of_another_kind_is_called_by_its_name(check, run, words):
    found = check(run=run).find("run-unreadable")
    assert "the file looks like" in found.message
    assert words in found.message


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n"])
def test_empty_files_are_an_error(check, text):
    assert [finding.code for finding in check(run=text).findings] == ["run-empty"]
    assert check(qrels=text).find("judgments-empty").severity == "error"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x00\x01\x02\n", "it is not text"),
        (gzip.compress(RUN.encode(), mtime=0), "it is compressed; give the file the ending .gz"),
        (b"PAR1....", "it is Parquet; give the file the ending .parquet"),
        (b"\xff\xfeq\x00", "it is UTF-16 text; convert it to UTF-8"),
    ],
)
def test_what_is_no_text_cannot_be_read(tmp_path, data, words):
    (tmp_path / "qrels.txt").write_text(QRELS, encoding="utf-8")
    (tmp_path / "run.txt").write_bytes(data)
    for files in (("qrels.txt", "run.txt"), ("run.txt", "qrels.txt")):
        with pytest.raises(UnreadableError) as refused:
            rankgauge.preflight(*(tmp_path / file for file in files))
        assert str(refused.value).endswith(f"run.txt: {words}")


def test_a_compressed_run_with_the_right_ending_is_read(tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS, encoding="utf-8")
    (tmp_path / "run.txt.gz").write_bytes(gzip.compress(RUN.encode(), mtime=0))
    assert rankgauge.preflight(tmp_path / "qrels.txt", tmp_path / "run.txt.gz").findings == ()


def test_a_missing_file_is_an_error_of_its_own(tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS, encoding="utf-8")
    with pytest.raises(UnreadableError, match="no such file"):
        rankgauge.preflight(tmp_path / "qrels.txt", tmp_path / "run.txt")


# runs in memory, and several of them


def test_a_run_in_memory_is_checked_as_a_file_is(tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS, encoding="utf-8")
    run = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"d": 3.0, "c": 2.0}, "q3": {}}
    checked = rankgauge.preflight(tmp_path / "qrels.txt", run)
    assert [finding.code for finding in checked.findings] == [
        "constant-scores",
        "ties-that-matter",
        "unjudged-queries",
        "short-queries",
    ]
    assert checked.facts["depth_min"] == 0


def test_problems_of_a_run_in_memory_are_told_together(tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS, encoding="utf-8")
    run = {1: {"a": 1.0}, "q2": ["c"], "q3": {7: 1.0, "x": float("nan"), "y": "high"}}
    found = rankgauge.preflight(tmp_path / "qrels.txt", run).find("run-unreadable")
    assert found.counts == {"problems": 5}
    assert found.examples[0] == "the query id 1 is an int; ids are strings: '1'"
    assert rankgauge.preflight(tmp_path / "qrels.txt", {}).find("run-empty").severity == "error"


def test_several_runs_are_checked_against_judgments_read_once(tmp_path):
    for name, text in (("qrels.txt", QRELS), ("good.txt", RUN), ("bad.txt", RUN.replace("q", "Q"))):
        (tmp_path / name).write_text(text, encoding="utf-8")
    runs = {name: tmp_path / f"{name}.txt" for name in ("good", "bad")}
    checked = rankgauge.preflight(tmp_path / "qrels.txt", runs=runs)
    assert {name: each.ok for name, each in checked.items()} == {"good": True, "bad": False}


@pytest.mark.parametrize("threads", [1, 3])
def test_the_parts_of_a_large_run_come_to_the_same(tmp_path, monkeypatch, threads):
    """60,000 results of 600 queries; three of these are spoiled at places known beforehand."""
    rankings = {
        f"q{number:03}": [(f"d{number}x{rank:03}" + "y" * 60, 200 - rank) for rank in range(100)]
        for number in range(600)
    }
    rankings["q000"][99] = rankings["q000"][0]
    rankings["q300"] = rankings["q300"][:40]
    rankings["q599"] = [(document, -score) for document, score in rankings["q599"]]
    (tmp_path / "qrels.txt").write_text(
        "".join(f"q{n:03} 0 d{n}x003{'y' * 60} 1\n" for n in range(599)), encoding="utf-8"
    )
    (tmp_path / "run.txt").write_text(run_of(rankings), encoding="utf-8")
    monkeypatch.setattr("rankgauge.features.preflight.check_runs.thread_count", lambda: threads)
    checked = rankgauge.preflight(tmp_path / "qrels.txt", tmp_path / "run.txt")
    assert [
        (finding.code, finding.counts["queries"]) for finding in checked.findings if "queries" in finding.counts
    ] == [
        ("repeated-documents", 1),
        ("rank-contradicts-score", 2),
        ("short-queries", 1),
        ("unjudged-queries", 1),
    ]
    assert checked.find("rank-contradicts-score").examples == ("query 'q000'", "query 'q599'")
    assert checked.facts["results"] == 59_940
    assert checked.facts["judged_retrieved"] == 599
    assert checked.facts["judged_at_10"] == pytest.approx(0.1)


def test_parquet_files_are_checked_as_other_tables_are(tmp_path):
    rows = {"query_id": ["q1", "q1"], "doc_id": ["a", "b"]}
    pl.DataFrame(rows | {"relevance": [1, 0]}).write_parquet(tmp_path / "qrels.parquet")
    pl.DataFrame(rows | {"score": [2.0, 1.0]}).write_parquet(tmp_path / "run")  # no ending says what it is
    checked = rankgauge.preflight(tmp_path / "qrels.parquet", tmp_path / "run")
    assert (checked.ok, checked.facts["judged_retrieved"]) == (True, 2)
