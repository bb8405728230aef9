"""`judge page`: what the file holds and what it does not, how questions are shared, and what is refused."""

import base64
import hashlib
import json
import re

import pytest

from rankgauge_judge.judging_page import parts_of, shuffled


def data_of(file):
    text = file.read_text("utf-8")
    (content,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    return json.loads(content)


def documents(questions=4, each=3):
    return [
        {"query": f"q{q}", "query_text": f"question {q}", "document": f"d{d}", "document_text": f"text {d} of {q}"}
        for q in range(questions)
        for d in range(each)
    ]


def test_a_page_has_the_queue_and_the_rubric_of_its_grades(rankgauge, write_queue, tmp_path):
    done = rankgauge("judge", "page", write_queue(*documents()), "-o", "page.html")
    assert (done.code, done.out) == (
        0,
        "12 documents of 4 questions to judge\nwrote page.html: 12 documents\n",
    )
    data = data_of(tmp_path / "page.html")
    assert sorted((row["query"], row["document"]) for row in data["rows"]) == [
        (f"q{q}", f"d{d}") for q in range(4) for d in range(3)
    ]
    assert data["header"]["schema_version"] == "rankgauge.queue.v1"
    assert [grade for grade, _ in data["grades"]] == [0, 1, 2, 3]
    assert data["grades"][3][1] == "The document is about the query and has the full answer."
    assert data["instruction"].startswith("First work out what a person who asks this query wants to know.")
    assert "\n" not in data["instruction"]
    assert re.fullmatch("[0-9a-f]{16}", data["rubric"])


def test_grades_without_a_rubric_have_no_words(rankgauge, write_queue, tmp_path):
    rankgauge("judge", "page", write_queue(*documents(), grades=[0, 0.5, 1]), "-o", "page.html")
    data = data_of(tmp_path / "page.html")
    assert (data["grades"], data["rubric"]) == ([[0, ""], [0.5, ""], [1, ""]], None)


def test_nothing_that_is_not_blind_is_in_the_file(rankgauge, write_queue, tmp_path):
    told = {"reason": "a-model-says-so", "votes": [3], "rank": 1, "run": "the-run", "priority": 0.7}
    rows = [row | told for row in documents()]
    graded = documents(1, 1)[0] | {"document": "done", "document_text": "known-already", "grade": 2, "judge": "x"}
    rankgauge("judge", "page", write_queue(*rows, graded), "-o", "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    for word in ("a-model-says-so", "the-run", "known-already", '"votes"', '"priority"'):
        assert word not in text
    assert {tuple(row) for row in data_of(tmp_path / "page.html")["rows"]} == {
        ("query", "query_text", "document", "document_text")
    }


def test_the_order_is_that_of_the_seed_and_not_of_the_queue(rankgauge, write_queue, tmp_path):
    orders = []
    for name, rows, seed in (("a", documents(), 0), ("b", documents()[::-1], 0), ("c", documents(), 1)):
        rankgauge("judge", "page", write_queue(*rows, name=f"{name}.jsonl"), "-o", f"{name}.html", "--seed", seed)
        orders.append([(row["query"], row["document"]) for row in data_of(tmp_path / f"{name}.html")["rows"]])
    assert orders[0] == orders[1] != orders[2]
    queries = [query for query, _ in orders[0]]
    assert [query for query in dict.fromkeys(queries) for _ in range(3)] == queries


def test_judges_share_the_questions_and_have_some_in_common(rankgauge, write_queue, tmp_path):
    """Of ten questions three are for both, and seven go round: four and three."""
    done = rankgauge(
        "judge", "page", write_queue(*documents(10)), "-o", "p.html", "--judges", 2, "--overlap", 0.3, "--json"
    )
    assert done.json == {"documents": 30, "questions": 10, "pages": {"p-1.html": 21, "p-2.html": 18}}
    one, other = ({row["query"] for row in data_of(tmp_path / f"p-{n}.html")["rows"]} for n in (1, 2))
    assert (len(one & other), len(one | other)) == (3, 10)


@pytest.mark.parametrize(("judges", "overlap"), [(1, 0.0), (3, 0.0), (3, 1.0), (4, 0.5), (7, 0.2)])
def test_every_question_has_a_judge_and_no_judge_has_one_twice(judges, overlap):
    questions = shuffled(documents(13), seed=0)
    parts = [[row["query"] for row in part] for part in parts_of(questions, judges, overlap)]
    assert set().union(*parts) == {f"q{q}" for q in range(13)}
    common = set.intersection(*map(set, parts))
    assert len(common) >= round(overlap * 13)
    for part in parts:
        assert len(part) == 3 * len(set(part))


def test_judges_of_the_same_questions_begin_elsewhere():
    parts = list(parts_of(shuffled(documents(9), seed=0), 3, 1.0))
    assert len({part[0]["query"] for part in parts}) == 3


def test_hostile_texts_are_texts(rankgauge, write_queue, tmp_path):
    hostile = "</script><script>alert(1)</script> {{script}} &amp; \u202e \u2028"
    row = {"query": hostile, "query_text": hostile, "document": hostile, "document_text": hostile}
    rankgauge("judge", "page", write_queue(row), "-o", "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert text.count("<script") == 2
    assert text.isascii() or "\u202e" not in text
    assert data_of(tmp_path / "page.html")["rows"] == [row]


def test_only_its_own_script_and_style_may_run(rankgauge, write_queue, tmp_path):
    rankgauge("judge", "page", write_queue(*documents()), "-o", "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)[0]
    style = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)[0]
    for kind, content in (("script", script), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in text
    assert "default-src 'none'" in text
    assert "http" not in text.replace("http-equiv", "")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (("--overlap", 0.5), "--overlap is what several judges have in common; give --judges, too"),
        (("--judges", 5), "4 questions cannot be shared by 5 judges: each gets whole questions"),
        (("--judges", 2, "--overlap", 2), "a share lies between 0 and 1, not at 2"),
        (("--rubric", "binry"), "did you mean 'binary'"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(rankgauge, write_queue, tmp_path, more, why):
    done = rankgauge("judge", "page", write_queue(*documents()), "-o", "page.html", *more)
    assert (done.code, why in done.err) == (2, True)
    assert not list(tmp_path.glob("*.html"))


def test_queues_that_nobody_can_judge_are_refused(rankgauge, write_queue):
    done = rankgauge("judge", "page", write_queue(*({"document": f"d{n}"} for n in range(3))), "-o", "page.html")
    assert done.code == 2
    assert "'d0' and 2 other documents have no document_text; `judge queue` adds it" in done.err
    graded = [row | {"grade": 1, "judge": "x"} for row in documents()]
    done = rankgauge("judge", "page", write_queue(*graded), "-o", "page.html")
    assert (done.code, "every document has a grade" in done.err) == (2, True)


def test_a_page_that_exists_is_kept(rankgauge, write_queue, tmp_path):
    (tmp_path / "p-2.html").write_text("somebody's")
    done = rankgauge("judge", "page", write_queue(*documents()), "-o", "p.html", "--judges", 2)
    assert (done.code, "p-2.html exists" in done.err) == (2, True)
    assert not (tmp_path / "p-1.html").exists()
