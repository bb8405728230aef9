"""`rankgauge judge`: from runs to a queue, and from a queue that was filled in to judgments."""

import json
from pathlib import Path

import pytest

QRELS = "q1 0 a 2\nq1 0 n 0\nq2 0 a 1\nq2 0 p -1\n"
ONE = "q1 Q0 x 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 n 3 1 t\nq2 Q0 a 1 2 t\nq2 Q0 p 2 1 t\n"
OTHER = "q1 Q0 a 1 3 t\nq1 Q0 y 2 2 t\nq2 Q0 z 1 2 t\nq2 Q0 a 2 1 t\nq9 Q0 a 1 1 t\n"


@pytest.fixture
def files(write):
    return write("qrels.txt", QRELS), write("one.run", ONE), write("other.run", OTHER)


@pytest.fixture
def queued(rankgauge, files, write):
    """Return a function that makes a queue and fills it in: a grade for each document, and further fields."""

    def make(grades, *options, **fields):
        assert rankgauge("judge", "queue", "--qrels", *files, "-o", "queue.jsonl", *options).code == 0
        header, *rows = lines("queue.jsonl")
        filled = [{**row, "grade": grades[row["document"]], **fields} for row in rows]
        write("queue.jsonl", [header, *filled])
        return rows

    return make


def lines(name):
    return [json.loads(line) for line in text(name).splitlines()]


def text(name):
    return Path(name).read_text(encoding="utf-8")


def test_a_queue_hides_runs_and_reasons_and_its_key_has_them(rankgauge, files, write):
    texts = write("corpus.jsonl", [{"_id": "x", "title": "T", "text": "about x"}, {"_id": "y", "text": "about y"}])
    queries = write("queries.tsv", "q1\twhat is x\nq2\twhat is y\n")
    done = rankgauge(
        "judge", "queue", "--qrels", *files, "-m", "P@2", "--texts", texts, "--queries", queries, "-o", "queue.jsonl"
    )
    assert done.code == 0
    assert done.out.splitlines() == [
        "4 documents to judge and 0 judged before, of 2 queries, by the difference of P@2",
        "chosen from 4 unjudged documents in the first 2 results of each query, of which 0 cannot change it",
        "for the judge: queue.jsonl",
        "not for the judge: queue.jsonl.key.jsonl",
    ]
    assert "corpus.jsonl has no text for 2 documents of the queue, such as 'p'" in done.err
    assert "other.run: 1 query without any judgment; left out" in done.err
    header, *rows = lines("queue.jsonl")
    assert header["grades"] == [0, 1, 2]
    assert {row["document"]: row.get("document_text") for row in rows} == {
        "x": "T\nabout x",
        "y": "about y",
        "z": None,
        "p": None,
    }
    assert set().union(*rows) == {"query", "query_text", "document", "document_text", "grade", "judge"}
    assert all(row["grade"] is None for row in rows)
    key, *reasons = lines("queue.jsonl.key.jsonl")
    assert key["runs"] == ["one.run", "other.run"]
    assert {row["document"]: row["ranks"] for row in reasons}["x"] == {"one.run": 1, "other.run": None}
    assert {row["priority"] for row in reasons} == {0.5}


def test_judgments_come_back_with_who_gave_them(rankgauge, queued):
    queued({"x": 2, "y": 0, "z": 1, "p": 1}, judge="anna")
    done = rankgauge("judge", "read", "queue.jsonl", "--qrels", "qrels.txt", "-o", "new.txt")
    assert done.code == 0
    assert done.out.splitlines()[:2] == [
        "4 new judgments (anna 4); 0 were judged before",
        "no document was judged twice, so nothing is known of agreement",
    ]
    assert sorted(text("new.txt").splitlines()) == [
        "q1 0 a 2",
        "q1 0 n 0",
        "q1 0 x 2",
        "q1 0 y 0",
        "q2 0 a 1",
        "q2 0 p 1",
        "q2 0 z 1",
    ]
    assert {"query": "q1", "document": "x", "grade": 2.0, "judge": "anna"} in lines("new.txt.provenance.jsonl")
    again = rankgauge("judge", "read", "queue.jsonl", "--qrels", "new.txt", "-o", "newer.txt")
    assert again.code == 2
    assert "the queue was made for other judgments" in again.err


def test_provenance_is_carried_over(rankgauge, queued, write):
    write("qrels.txt.provenance.jsonl", [{"query": "q1", "document": "a", "grade": 2, "judge": "berta"}])
    queued({"x": 2, "y": 0, "z": 1, "p": 1}, judge="anna")
    assert rankgauge("judge", "read", "queue.jsonl", "--qrels", "qrels.txt", "-o", "new.txt").code == 0
    assert [row["judge"] for row in lines("new.txt.provenance.jsonl")] == ["berta", "anna", "anna", "anna", "anna"]


def test_agreement_is_reported_and_earlier_grades_stay(rankgauge, write):
    """
    Ten judged documents again, 0 0 0 0 0 1 1 1 2 2 before and 0 0 0 0 1 1 1 2 2 0 now.

    Grades: 7 of 10 the same, p_e = (5*5 + 3*3 + 2*2) / 100 = .38, kappa .32 / .62. Relevance: 8 of 10 the same,
    p_e = (5*5 + 5*5) / 100 = .5, kappa .6.
    """
    before, now = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1, 1, 2, 2, 0]
    write("qrels.txt", "".join(f"q 0 d{at} {grade}\n" for at, grade in enumerate(before)))
    write("run.txt", "q Q0 x 1 1 t\n")
    assert rankgauge("judge", "queue", "--qrels", "qrels.txt", "run.txt", "-o", "queue.jsonl").code == 0
    header, _ = lines("queue.jsonl")
    rows = [{"query": "q", "document": f"d{at}", "grade": grade} for at, grade in enumerate(now)]
    write("filled.jsonl", [header, *rows])
    arguments = ("judge", "read", "filled.jsonl", "--qrels", "qrels.txt", "--judge", "anna")
    done = rankgauge(*arguments, "-o", "new.txt", "--json")
    assert done.json["agreement"]["grades"] == {"n": 10, "same": 7, "kappa": pytest.approx(0.32 / 0.62, rel=1e-12)}
    assert done.json["agreement"]["relevance"] == {"n": 10, "same": 8, "kappa": pytest.approx(0.6, rel=1e-12)}
    assert (done.json["added"], done.json["again"]) == (0, 10)
    assert text("new.txt") == text("qrels.txt")
    told = rankgauge(*arguments, "-o", "newer.txt").out
    assert "on the grade: 7 of 10 (70.0%), Cohen's kappa 0.516" in told
    assert "whether a document is relevant: 8 of 10 (80.0%), Cohen's kappa 0.600" in told


def test_grades_of_models_need_an_option(rankgauge, queued):
    queued({"x": 2, "y": 0, "z": 1, "p": 1}, judge="Model:judge-1")
    refused = rankgauge("judge", "read", "queue.jsonl", "--qrels", "qrels.txt", "-o", "new.txt")
    assert refused.code == 2
    assert refused.err.count("--with-models takes grades of models") == 4
    taken = rankgauge(
        "judge", "read", "queue.jsonl", "--qrels", "qrels.txt", "-o", "new.txt", "--with-models", "--json"
    )
    assert taken.json["judges"] == {"Model:judge-1": 4}


def test_every_line_that_cannot_be_used_is_named(rankgauge, files, write):
    rankgauge("judge", "queue", "--qrels", *files, "-o", "queue.jsonl")
    header = lines("queue.jsonl")[0]
    good = {"query": "q1", "document": "x", "grade": 1}
    rows = [
        good,
        {**good, "document": "y", "grade": None},
        {**good, "document": "z", "grade": 7},
        {**good, "document": "u", "grade": "1"},
        good,
        {**good, "query": "q7"},
        {**good, "document": 7},
        [1],
        {**good, "document": "v", "judge": 3},
    ]
    write("filled.jsonl", [header, *rows])
    write("filled.jsonl", text("filled.jsonl") + "{broken\n")
    done = rankgauge("judge", "read", "filled.jsonl", "--qrels", "qrels.txt", "-o", "new.txt", "--judge", "anna")
    assert done.code == 2
    assert done.err.splitlines() == [
        "error: the queue cannot be read (9 problems):",
        "  filled.jsonl:3: no grade for document 'y'; write one of 0, 1, 2, or delete the line",
        "  filled.jsonl:4: the grade 7 of document 'z' is not one of 0, 1, 2",
        "  filled.jsonl:5: the grade '1' of document 'u' is not one of 0, 1, 2",
        "  filled.jsonl:6: this document is in line 2, too; keep one line",
        "  filled.jsonl:7: the judgments have no query 'q7'",
        "  filled.jsonl:8: 'document' must be an id, as it was written; found 7",
        "  filled.jsonl:9: expected an object with query, document and grade; found list",
        "  filled.jsonl:10: 'judge' is a name, not 3",
        "  filled.jsonl:11: not valid JSON: Expecting property name enclosed in double quotes (column 2)",
    ]


def test_a_judge_has_a_name(rankgauge, queued):
    queued({"x": 2, "y": 0, "z": 1, "p": 1})
    done = rankgauge("judge", "read", "queue.jsonl", "--qrels", "qrels.txt", "-o", "new.txt")
    assert done.code == 2
    assert "no judge is named; write a name under 'judge', or give --judge NAME" in done.err


@pytest.mark.parametrize(
    "content", ["", "not json\n", '{"query": "q1"}\n', '{"schema_version": "rankgauge.queue.v9"}\n']
)
def test_what_is_no_queue(rankgauge, files, write, content):
    write("queue.jsonl", content)
    done = rankgauge("judge", "read", "queue.jsonl", "--qrels", "qrels.txt", "-o", "new.txt")
    assert done.code == 2
    assert "the first line is not the header of a queue" in done.err


def test_ids_that_are_not_text_come_back_as_they_were(rankgauge, tmp_path):
    (tmp_path / "qrels.txt").write_bytes(b"q\xff 0 a 1\n")
    (tmp_path / "run.txt").write_bytes(b"q\xff Q0 \xfe\xfd 1 2 t\nq\xff Q0 a 2 1 t\n")
    assert rankgauge("judge", "queue", "--qrels", "qrels.txt", "run.txt", "-o", "queue.jsonl").code == 0
    header, row = lines("queue.jsonl")
    filled = (header, {**row, "grade": 1, "judge": "anna"})
    (tmp_path / "queue.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in filled), encoding="utf-8")
    assert rankgauge("judge", "read", "queue.jsonl", "--qrels", "qrels.txt", "-o", "new.txt").code == 0
    assert (tmp_path / "new.txt").read_bytes() == b"q\xff 0 a 1\nq\xff 0 \xfe\xfd 1\n"


def test_files_that_exist_are_not_written_over(rankgauge, files, write):
    write("queue.jsonl", "somebody's work\n")
    done = rankgauge("judge", "queue", "--qrels", *files, "-o", "queue.jsonl")
    assert (done.code, done.err) == (2, "error: queue.jsonl exists; choose another name, or delete it\n")
    done = rankgauge("judge", "queue", "--qrels", *files, "-o", "nowhere/queue.jsonl")
    done_in_root = rankgauge("judge", "queue", "--qrels", *files, "-o", "/")
    assert (done_in_root.code, done_in_root.err) == (2, "error: / exists; choose another name, or delete it\n")
    assert (done.code, done.err) == (2, "error: cannot write nowhere/queue.jsonl: there is no folder nowhere\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"\xff\xfe", "byte 0 of the line is not UTF-8; save the file as UTF-8"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b'{"query": "q1", "document": "x", "grade": 1' + b"0" * 400 + b"}", "is not one of 0, 1, 2"),
        (b'{"query": "q1", "document": "x", "grade": NaN}', "the grade nan of document 'x' is not one of 0, 1, 2"),
        (b'{"query": "q1", "document": "x", "grade": true}', "the grade True of document 'x' is not one of 0, 1, 2"),
    ],
)
def test_lines_that_are_garbage(rankgauge, files, tmp_path, line, message):
    rankgauge("judge", "queue", "--qrels", *files, "-o", "queue.jsonl")
    header = (tmp_path / "queue.jsonl").read_bytes().splitlines()[0]
    (tmp_path / "garbage.jsonl").write_bytes(header + b"\n" + line + b"\n")
    done = rankgauge("judge", "read", "garbage.jsonl", "--qrels", "qrels.txt", "-o", "new.txt", "--judge", "anna")
    assert done.code == 2
    assert "garbage.jsonl:2: " in done.err
    assert message in done.err


def test_judgments_for_intents_are_refused_because_a_queue_would_lose_them(rankgauge, files, write):
    intents = write("intents.txt", "q1 1 a 1\nq1 2 a 0\nq2 1 b 1\n")
    done = rankgauge("judge", "queue", "--qrels", intents, files[1], "-o", "queue.jsonl")
    assert done.code == 2
    assert "judges documents for several intents of a query (column two)" in done.err


def test_nothing_to_judge(rankgauge, files, write):
    write("run.txt", "q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\n")
    done = rankgauge("judge", "queue", "--qrels", "qrels.txt", "run.txt", "-o", "queue.jsonl")
    assert done.code == 4
    assert "there is nothing to judge" in done.err


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [("-m", "P@1,2", "a queue is ordered by one metric"), ("--grades", "a,b", "--grades is a list of numbers")],
)
def test_options_that_cannot_be(rankgauge, files, option, value, message):
    done = rankgauge("judge", "queue", "--qrels", *files, "-o", "queue.jsonl", option, value)
    assert done.code == 2
    assert message in done.err


def test_ids_with_blanks_do_not_fit_into_qrels(rankgauge, write):
    write("qrels.json", json.dumps({"q": {"a b": 1}}))
    write("run.json", json.dumps({"q": {"x": 1.0, "a b": 0.5}}))
    assert rankgauge("judge", "queue", "--qrels", "qrels.json", "run.json", "-o", "queue.jsonl").code == 0
    header, row = lines("queue.jsonl")
    write("queue.jsonl", [header, {**row, "grade": 1, "judge": "anna"}])
    done = rankgauge("judge", "read", "queue.jsonl", "--qrels", "qrels.json", "-o", "new.txt")
    assert done.code == 2
    assert "query 'q', document 'a b': TREC qrels hold no ids with blanks" in done.err
