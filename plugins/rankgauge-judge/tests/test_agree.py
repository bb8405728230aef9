"""`judge agree`: who is compared over what, where they differ, ranks, systems, and what cannot be compared."""

import json

import pytest

HEADER = {"schema_version": "rankgauge.queue.v1", "judgments": "sha256:abc", "grades": [0, 1, 2, 3]}


@pytest.fixture
def qrels(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in text.split("; ")))
        return tmp_path / name

    return write


@pytest.fixture
def queue(tmp_path):
    def write(name, *rows):
        lines = [HEADER, *({"query": q, "document": d, "grade": g, "judge": j, **m} for q, d, g, j, m in rows)]
        (tmp_path / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return tmp_path / name

    return write


A = "q1 0 a 1; q1 0 b 0; q2 0 a 1; q2 0 c 0; q2 0 d 1; q3 0 e 0"
B = "q1 0 a 1; q1 0 b 1; q2 0 a 1; q2 0 c 0; q2 0 d 0; q4 0 e 0"


def test_what_both_judged_is_compared(rankgauge, qrels):
    """Five documents, three the same; .6 against (3 * 3 + 2 * 2) / 25 = .52 by chance."""
    (pair,) = rankgauge("judge", "agree", qrels("a", A), qrels("b", B), "--json").json["pairs"]
    assert (pair["judges"], pair["n"], pair["questions"], pair["same"]) == (["a", "b"], 5, 2, 3)
    assert pair["kappa"]["value"] == pytest.approx((0.6 - 0.52) / 0.48)
    assert pair["confusion"] == [[1, 1], [1, 2]]
    assert pair["by_grade"] == [{"name": "0", "n": 2, "same": 1}, {"name": "1", "n": 3, "same": 2}]
    assert [(each["query"], each["document"], each["grades"]) for each in pair["worst"]] == [
        ("q1", "b", [0, 1]),
        ("q2", "d", [1, 0]),
    ]


def test_the_lines_say_the_same(rankgauge, qrels):
    done = rankgauge("judge", "agree", qrels("a", A), qrels("b", B))
    assert done.out.splitlines()[:2] == [
        "a and b: 5 documents of 2 questions",
        "  same grade            0.600  (3 of 5)",
    ]
    assert "q2 d: 1 and 0" in done.out


def test_a_grade_that_is_a_list_is_none(rankgauge, queue, qrels):
    done = rankgauge("judge", "agree", queue("q.jsonl", ("q1", "a", [1], "anna", {})), qrels("b", B))
    assert done.code == 2
    assert "q.jsonl:2: the grade [1] by 'anna' is none of 0, 1, 2, 3" in done.err


def test_a_seed_below_0(rankgauge, qrels):
    done = rankgauge("judge", "agree", qrels("a", A), qrels("b", B), "--seed", "-1")
    assert (done.code, "--seed" in done.err) == (2, True)


def test_a_confidence_that_is_none(rankgauge, qrels):
    done = rankgauge("judge", "agree", qrels("a", A), qrels("b", B), "--confidence", "2")
    assert (done.code, "--confidence" in done.err) == (2, True)


def test_systems_that_a_judge_does_not_order(rankgauge, qrels):
    runs = [("--run", qrels(f"{name}.run", f"q1 Q0 {name} 1 1 x; q2 Q0 {name} 1 1 x")) for name in "xy"]
    done = rankgauge("judge", "agree", qrels("a", A), qrels("b", B), *runs[0], *runs[1])
    assert "Kendall's tau         none: under one of them all have the same mean" in done.out


def test_every_judge_of_a_queue_is_one(rankgauge, queue, qrels):
    rows = [("q1", "a", 2, "anna", {}), ("q1", "b", 0, "anna", {}), ("q1", "a", 2, "model:m", {})]
    rows += [("q1", "b", 1, "model:m", {}), ("q1", "c", None, "anna", {})]
    pairs = rankgauge("judge", "agree", queue("q.jsonl", *rows), qrels("r", "q1 0 a 1"), "--json").json["pairs"]
    assert [(pair["judges"], pair["n"]) for pair in pairs] == [
        (["anna", "model:m"], 2),
        (["anna", "r"], 1),
        (["model:m", "r"], 1),
    ]


def test_texts_give_agreement_by_length(rankgauge, queue):
    rows = [
        (
            f"q{number}",
            "d",
            1 if judge == "anna" or number < 3 else 0,
            judge,
            {"document_text": "x" * 10 ** (number // 2)},
        )
        for number in range(6)
        for judge in ("anna", "bert")
    ]
    (pair,) = rankgauge("judge", "agree", queue("q.jsonl", *rows), "--json").json["pairs"]
    assert pair["by_length"] == [
        {"name": "1 to 1 characters", "n": 2, "same": 2},
        {"name": "10 to 10 characters", "n": 2, "same": 1},
        {"name": "100 to 100 characters", "n": 2, "same": 0},
    ]


def test_runs_give_agreement_by_rank_and_the_order_of_systems(rankgauge, qrels, tmp_path):
    """By a the first run has its relevant documents on top, by b the second: the orders are opposite."""
    first, second = "q1 0 a 1; q1 0 b 0; q2 0 a 1; q2 0 b 0", "q1 0 a 0; q1 0 b 1; q2 0 a 0; q2 0 b 1"
    runs = []
    for name, order in (("x", "ab"), ("y", "ba")):
        lines = [f"{query} Q0 {doc} 0 {9 - at} t" for query in ("q1", "q2") for at, doc in enumerate(order)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        runs += ["--run", tmp_path / name]
    found = rankgauge("judge", "agree", qrels("a", first), qrels("b", second), *runs, "-m", "RR", "--json").json
    (order,) = found["orders"]
    assert order["means"] == {"x": [1, 0.5], "y": [0.5, 1]}
    assert order["tau"] == {"value": -1, "low": -1, "high": -1}
    assert found["pairs"][0]["by_rank"] == [{"name": "1 to 5", "n": 4, "same": 0}]


def test_a_model_that_judges_itself_is_said_first(rankgauge, queue, qrels):
    judged = queue("q.jsonl", ("q1", "a", 2, "model:Big-1", {}))
    done = rankgauge("judge", "agree", judged, qrels("r", "q1 0 a 1"), "--system-model", "big-1")
    assert done.out.startswith("CIRCULAR: model:Big-1 judges a system that is made with the same model")


def test_one_grade_throughout_is_told(rankgauge, qrels):
    done = rankgauge("judge", "agree", qrels("a", "q1 0 a 1"), qrels("b", "q1 0 a 1"))
    assert "both gave nothing but 1, so that agreement cannot be distinguished from chance" in done.out
    assert "none: chance explains everything" in done.out


def test_the_same_seed_gives_the_same_intervals_of_questions(rankgauge, qrels):
    files = qrels("a", A), qrels("b", B)
    first = rankgauge("judge", "agree", *files, "--json", "--seed", "4").json
    assert first == rankgauge("judge", "agree", *files, "--json", "--seed", "4").json
    wide, narrow = (
        rankgauge("judge", "agree", *files, "--json", "--confidence", level).json["pairs"][0]["ac2"]
        for level in ("0.99", "0.5")
    )
    assert wide["low"] <= narrow["low"] <= narrow["high"] <= wide["high"]


class TestTheScale:
    """
    AC2 depends on which grades could be given. 90 of 100 documents have the same grade, 50 have 0 and 40 have 1.

    The mean shares are .55 and .45. On 0 and 1 chance is 2 / 2 * (.2475 + .2475) = .495, and AC2 (.9 - .495) / .505. On
    0 to 3 the weights are 1 - (distance / 3)**2, which sum up to 4 + (6 * 8 + 4 * 5) / 9 = 104 / 9, and chance is
    104 / 9 / 12 * .495.
    """

    PAIRS = ((0, 0),) * 50 + ((1, 1),) * 40 + ((0, 1),) * 10
    NARROW = (0.9 - 0.495) / 0.505
    WIDE_CHANCE = 104 / 9 / 12 * 0.495
    WIDE = (1 - 0.1 / 9 - WIDE_CHANCE) / (1 - WIDE_CHANCE)

    def files(self, qrels, pairs=PAIRS):
        return [
            qrels(name, "; ".join(f"q{at % 20} 0 d{at} {pair[side]}" for at, pair in enumerate(pairs)))
            for side, name in enumerate("ab")
        ]

    def ac2(self, done):
        (pair,) = done.json["pairs"]
        return pair["ac2"]["value"], pair["scale"], pair["scale_from"]

    def test_that_is_named(self, rankgauge, qrels):
        files = self.files(qrels)
        wide = pytest.approx(self.WIDE), [0, 1, 2, 3]
        assert self.ac2(rankgauge("judge", "agree", *files, "--json", "--grades", "0-3")) == (*wide, "given")
        assert self.ac2(rankgauge("judge", "agree", *files, "--json", "--grades", "3,1,2,0")) == (*wide, "given")
        assert self.ac2(rankgauge("judge", "agree", *files, "--json", "--rubric", "graded")) == (*wide, "given")
        narrow = pytest.approx(self.NARROW), [0, 1], "given"
        assert self.ac2(rankgauge("judge", "agree", *files, "--json", "--rubric", "binary")) == narrow

    def test_a_grade_that_nobody_gave_before_changes_little(self, rankgauge, qrels):
        files = self.files(qrels, (*self.PAIRS, (3, 3)))
        assert self.ac2(rankgauge("judge", "agree", *files, "--json", "--grades", "0-3"))[0] == pytest.approx(
            self.WIDE, abs=0.01
        )

    def test_of_queues_is_that_of_their_headers(self, rankgauge, queue):
        rows = [
            (f"q{at % 20}", f"d{at}", pair[side], judge, {})
            for at, pair in enumerate(self.PAIRS)
            for side, judge in enumerate(("anna", "model:m"))
        ]
        file = queue("q.jsonl", *rows)
        assert self.ac2(rankgauge("judge", "agree", file, "--json")) == (
            pytest.approx(self.WIDE),
            [0, 1, 2, 3],
            "queue",
        )
        assert "  scale                 0, 1, 2, 3  (of the queue)\n" in rankgauge("judge", "agree", file).out

    def test_of_qrels_alone_is_not_known_and_that_is_said(self, rankgauge, qrels):
        files = self.files(qrels)
        assert self.ac2(rankgauge("judge", "agree", *files, "--json")) == (
            pytest.approx(self.NARROW),
            [0, 1],
            "occurring",
        )
        out = rankgauge("judge", "agree", *files).out
        assert "scale                 0, 1  (the grades that occur; AC2 depends on those that could be given" in out
        assert "--grades 0-3" in out

    def test_kappa_and_alpha_do_not_depend_on_it(self, rankgauge, qrels):
        files = self.files(qrels)
        (narrow,), (wide,) = (
            rankgauge("judge", "agree", *files, "--json", "--grades", grades).json["pairs"] for grades in ("0,1", "0-9")
        )
        for name in ("kappa", "kappa_linear", "alpha"):
            assert narrow[name]["value"] == pytest.approx(wide[name]["value"], rel=1e-12)

    def test_one_grade_of_a_scale_throughout(self, rankgauge, qrels):
        files = self.files(qrels, ((0, 0),) * 4)
        done = rankgauge("judge", "agree", *files, "--grades", "0-3")
        assert "both gave nothing but 0" in done.out
        assert "  Gwet's AC2            1.000" in done.out

    def test_that_lacks_a_grade_is_refused(self, rankgauge, qrels):
        done = rankgauge("judge", "agree", *self.files(qrels, (*self.PAIRS, (3, 3))), "--grades", "0,1")
        expected = "the scale is 0, 1, and a gives document 'd100' of query 'q0' the grade 3; name every grade"
        assert (done.code, expected in " ".join(done.err.split())) == (2, True)

    @pytest.mark.parametrize("grades", ["0", "-1-3", "3-0", "0,x", "0-2000"])
    def test_that_is_none(self, rankgauge, qrels, grades):
        done = rankgauge("judge", "agree", *self.files(qrels), f"--grades={grades}")
        assert (done.code, "grades" in done.err) == (2, True)

    def test_grades_below_0_are_no_judgments(self, rankgauge, qrels):
        files = self.files(qrels, (*self.PAIRS, (-1, 0), (-1, -1)))
        done = rankgauge("judge", "agree", *files, "--json", "--grades", "0-3")
        assert self.ac2(done)[0] == pytest.approx(self.WIDE)
        assert "a: 2 grades below 0, which marks unjudged documents; left out" in done.err


class TestMistakes:
    def test_nothing_in_common(self, rankgauge, qrels):
        done = rankgauge("judge", "agree", qrels("a", "q1 0 a 1"), qrels("b", "q1 0 b 1"))
        assert (done.code, "a and b judged no document that is the same" in " ".join(done.err.split())) == (2, True)

    def test_one_judge_alone(self, rankgauge, qrels):
        done = rankgauge("judge", "agree", qrels("a", A))
        assert (done.code, "there is only a; give a second file" in done.err) == (2, True)

    def test_a_file_given_twice(self, rankgauge, qrels):
        file = qrels("a", A)
        assert "given twice" in rankgauge("judge", "agree", file, file).err

    def test_lines_that_cannot_be_used_are_all_named(self, rankgauge, queue):
        rows = [("q1", "a", 7, "anna", {}), ("q1", "b", 1, "anna", {}), ("q1", "b", 1, "anna", {})]
        err = " ".join(rankgauge("judge", "agree", queue("q.jsonl", *rows)).err.split())
        assert "q.jsonl:2" in err
        assert "the grade 7 by 'anna' is none of 0, 1, 2, 3" in err
        assert "anna judges document 'b' of query 'q1' twice" in err

    def test_hostile_names_cannot_move_the_terminal(self, rankgauge, queue):
        rows = [("q\x1b[2J", "d", 1, "anna", {}), ("q\x1b[2J", "d", 0, "bert\x1b[31m", {})]
        done = rankgauge("judge", "agree", queue("q.jsonl", *rows))
        assert (done.code, "\x1b" in done.out) == (0, False)
