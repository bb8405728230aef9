"""`rankgauge gold`: what it prints, its exit codes, and that repair writes a new file only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

PUMP = "The pump costs 12 euros and weighs four kilograms."
BREAD = "Knead the dough for ten minutes, and bake it in a very hot oven."
SAMPLES = [
    {"id": "q1", "expected_output": {"relevant": ["pump"]}, "actual_output": ["pump#1", "bread"]},
    {"id": "q2", "expected_output": {"relevant": ["bread"]}, "actual_output": ["pump#1", "bread"]},
    {"id": "q3", "expected_output": {"relevant": ["cellar"]}, "actual_output": ["bread"]},
]


@pytest.fixture
def files(write):
    samples = write("samples.jsonl", "".join(f"{json.dumps(sample)}\n" for sample in SAMPLES))
    rows = [{"_id": "pump#1", "title": "A pump", "text": PUMP}, {"_id": "bread", "text": BREAD}]
    return samples, write("corpus.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))


def test_a_check_prints_a_table_and_every_finding(rankgauge, files):
    done = rankgauge("gold", "check", files[0], "--corpus", files[1])
    assert done.code == 0
    assert "labels of 3 samples against 2 documents" in done.out
    assert "the corpus has 1 part of it: pump#1" in done.out
    assert "the corpus has no such document" in done.out
    short = rankgauge("gold", "check", files[0], "--corpus", files[1], "--limit", "1")
    assert "and 1 more; --limit 0 shows all" in short.out
    assert rankgauge("gold", "check", files[0], "--corpus", files[1], "--limit", "0").out == done.out


def test_strict_exits_with_1_for_any_finding(rankgauge, files, write):
    assert rankgauge("gold", "check", files[0], "--corpus", files[1], "--strict").code == 1
    fine = write("fine.jsonl", json.dumps(SAMPLES[1]))
    done = rankgauge("gold", "check", fine, "--corpus", files[1], "--strict")
    assert done.code == 0
    assert "every id is a document of the corpus; whether it answers its question was not looked at" in done.out
    answered = {**SAMPLES[1], "expected_output": {"relevant": ["bread"], "answer": "ten minutes"}}
    done = rankgauge("gold", "check", write("fine.jsonl", json.dumps(answered)), "--corpus", files[1], "--strict")
    assert (done.code, done.out.splitlines()[-1]) == (0, "every label holds")


def test_json_has_all_findings(rankgauge, files):
    report = rankgauge("gold", "check", files[0], "--corpus", files[1], "--json").json
    assert (report["ok"], report["labels"], report["valid"]) == (False, {"relevant": 3}, {"relevant": 1})
    assert report["counts"] == {"moved": 1, "gone": 1}
    assert [(row["sample"], row["status"], row["documents"]) for row in report["findings"]] == [
        ("q1", "moved", ["pump#1"]),
        ("q3", "gone", []),
    ]


def test_the_corpus_may_be_a_folder_a_tsv_or_parquet_file(rankgauge, files, write, tmp_path):
    import polars as pl

    folder = tmp_path / "texts"
    (folder / "inner").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "cellar").write_bytes(b"\xff")
    (folder / "inner" / "pump").write_text(PUMP, encoding="utf-8")
    (folder / "bread").write_text(BREAD, encoding="utf-8")
    samples = write("more.jsonl", json.dumps({"id": "q", "expected_output": ["inner/pump", "bread", "cellar"]}))
    report = rankgauge("gold", "check", samples, "--corpus", folder, "--json").json
    assert (report["documents"], report["valid"]) == (2, {"relevant": 2})
    tsv = write("corpus.tsv", f"inner/pump\t{PUMP}\nbread\t{BREAD}\n")
    assert rankgauge("gold", "check", samples, "--corpus", tsv, "--json").json == report
    parquet = tmp_path / "corpus.parquet"
    pl.DataFrame({"id": ["inner/pump", "bread"], "text": [PUMP, BREAD]}).write_parquet(parquet)
    assert rankgauge("gold", "check", samples, "--corpus", parquet, "--json").json == report


@pytest.mark.parametrize(
    ("rows", "code", "message"),
    [
        ('{"text": "a"}\n', 2, "a row needs an id"),
        ('{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}\n', 2, "a document 'a' came before"),
        ('{"id": "a", "te\n', 2, "bad.jsonl:1: not valid JSON"),
        ("\n", 4, "has no documents"),
    ],
)
def test_a_corpus_that_cannot_be_used_is_refused(rankgauge, files, write, rows, code, message):
    done = rankgauge("gold", "check", files[0], "--corpus", write("bad.jsonl", rows))
    assert (done.code, done.out) == (code, "")
    assert message in done.err


def test_repair_writes_a_new_file_and_says_each_change(rankgauge, files, tmp_path):
    before = Path(files[0]).read_bytes()
    done = rankgauge("gold", "repair", files[0], "--corpus", files[1], "-o", tmp_path / "new.jsonl")
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "q1, relevant: moved, the corpus has 1 part of it: pump#1",
        "  - pump",
        "  + pump#1",
        "",
        "1 change; left as they are: 1 gone",
    ]
    rows = [json.loads(line) for line in (tmp_path / "new.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows == [{**SAMPLES[0], "expected_output": {"relevant": ["pump#1"]}}, *SAMPLES[1:]]
    assert Path(files[0]).read_bytes() == before


def test_repair_overwrites_nothing(rankgauge, files):
    done = rankgauge("gold", "repair", files[0], "--corpus", files[1], "-o", files[0])
    assert done.code == 2
    assert "exists, and repair changes no file" in done.err


def test_repair_says_what_it_does_to_the_scores_of_a_result(rankgauge, files, write, tmp_path):
    folder, new = tmp_path / "result", tmp_path / "new.jsonl"
    assert rankgauge("run", "--data", files[0], "-m", "RR", "-o", folder).code == 0
    repair = ("gold", "repair", files[0], "--corpus", files[1], "-o", new, "--result", folder)
    done = rankgauge(*repair)
    assert "rr: 0.1667 -> 0.5000, 1 of 3 samples changed" in done.out.splitlines()  # (0 + 1/2 + 0) / 3, (1 + 1/2) / 3
    new.unlink()
    (score,) = rankgauge(*repair, "--json").json["scores"].values()
    assert score == {"before": pytest.approx(1 / 6), "after": 0.5, "samples_changed": 1, "samples": 3}
    new.unlink()
    other = write("other.jsonl", json.dumps(SAMPLES[0]))
    done = rankgauge("gold", "repair", other, "--corpus", files[1], "-o", new, "--result", folder)
    assert done.code == 2
    assert "whose content is not that of the samples given" in done.err
    assert not new.exists()


@pytest.fixture
def judged(write):
    qrels = write("qrels.txt", "q1 0 pump 2\nq1 0 bread 0\nq2 0 bread 1\nq3 0 cellar 1\n")
    rows = [{"_id": "pump#1", "text": PUMP}, {"_id": "bread", "text": BREAD}]
    return qrels, write("corpus.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))


class TestJudgments:
    def test_ids_of_judgments_are_looked_up_and_those_that_are_not_relevant_are_not(self, rankgauge, judged):
        report = rankgauge("gold", "check", "--qrels", judged[0], "--corpus", judged[1], "--json").json
        assert [(found["sample"], found["label"], found["status"]) for found in report["findings"]] == [
            ("q1", "pump", "moved"),
            ("q3", "cellar", "gone"),
        ]
        assert report["samples"] == 3

    def test_texts_of_queries_are_looked_up_too(self, rankgauge, judged, write):
        queries = write("queries.tsv", f"q2\t{BREAD}\nq9\tnothing\n")
        line = ("gold", "check", "--qrels", judged[0], "--queries", queries, "--corpus", judged[1], "--json")
        assert ("q2", "question-in-corpus") in [
            (found["sample"], found["status"]) for found in rankgauge(*line).json["findings"]
        ]

    def test_repaired_judgments_are_qrels_with_every_other_line(self, rankgauge, judged, tmp_path):
        done = rankgauge("gold", "repair", "--qrels", judged[0], "--corpus", judged[1], "-o", "new.txt")
        assert done.code == 0
        lines = (tmp_path / "new.txt").read_text().splitlines()
        assert sorted(lines) == ["q1 0 bread 0", "q1 0 pump#1 2", "q2 0 bread 1", "q3 0 cellar 1"]

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ((), "give DATA, or --qrels QRELS"),
            (("s.jsonl", "--qrels", "q"), "give DATA, or --qrels QRELS"),
            (("s.jsonl", "--queries", "q"), "--queries is for --qrels"),
            (("s.jsonl", "--dataset", "a"), "--dataset names a dataset of a config file"),
        ],
    )
    def test_what_does_not_go_together_is_refused(self, rankgauge, judged, line, words):
        done = rankgauge("gold", "check", *line, "--corpus", judged[1])
        assert (done.code, words in done.err) == (2, True)


class TestConfigs:
    @pytest.fixture
    def config(self, files, write):
        write("other.jsonl", json.dumps({"qid": "q9", "gold": ["bread"]}))
        return write(
            "c.yaml",
            "version: 1\nmetrics: {use: [RR]}\ndatasets:\n  mine: {path: samples.jsonl}\n"
            "  other: {path: other.jsonl, fields: {id: qid, expected_output: gold}}\n",
        )

    def test_a_dataset_is_read_as_the_config_says(self, rankgauge, files, config):
        line = ("gold", "check", config, "--corpus", files[1], "--json")
        mine, other = (rankgauge(*line, "--dataset", name).json for name in ("mine", "other"))
        assert (mine["samples"], len(mine["findings"])) == (3, 2)
        assert (other["samples"], other["findings"]) == (1, [])

    def test_one_of_several_datasets_has_to_be_named(self, rankgauge, files, config):
        done = rankgauge("gold", "check", config, "--corpus", files[1])
        assert done.code == 2
        assert "has 2 datasets (mine, other); name one with --dataset" in done.err

    def test_repair_writes_samples_in_our_form(self, rankgauge, files, config, tmp_path):
        done = rankgauge("gold", "repair", config, "--dataset", "mine", "--corpus", files[1], "-o", "new.jsonl")
        assert done.code == 0
        first = json.loads((tmp_path / "new.jsonl").read_text().splitlines()[0])
        assert first == {**SAMPLES[0], "expected_output": {"relevant": ["pump#1"]}}


def test_records_of_another_tool_are_read_by_their_preset(rankgauge, files, write, tmp_path):
    record = {"user_input": "What costs 12?", "reference_contexts": [PUMP], "retrieved_contexts": [PUMP]}
    ragas = write("ragas.jsonl", json.dumps(record))
    line = (ragas, "--preset", "ragas", "--corpus", files[1])
    report = rankgauge("gold", "check", *line, "--json").json
    assert (report["samples"], report["labels"]["passages"], report["findings"]) == (1, 1, [])
    assert rankgauge("gold", "repair", *line, "-o", "new.jsonl").code == 0
    assert json.loads((tmp_path / "new.jsonl").read_text())["expected_output"] == {"passages": [PUMP]}


@pytest.mark.parametrize("ending", ["", ".txt"])
def test_files_of_a_folder_go_by_the_ids_that_labels_have(rankgauge, write, tmp_path, ending):
    for name, text in (("a", PUMP), ("b", BREAD)):
        write(f"texts/{name}.txt", text)
    rows = [{"id": f"q{name}", "expected_output": [f"{name}{ending}"]} for name in ("a", "b")]
    samples = write("s.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    assert rankgauge("gold", "check", samples, "--corpus", tmp_path / "texts", "--json").json["findings"] == []


def test_files_that_differ_by_their_ending_alone_keep_it(rankgauge, write, tmp_path):
    write("texts/a.txt", "one text")
    write("texts/a.md", "another text")
    samples = write("s.jsonl", json.dumps({"id": "q", "expected_output": ["a"]}))
    (found,) = rankgauge("gold", "check", samples, "--corpus", tmp_path / "texts", "--json").json["findings"]
    assert found["status"] == "gone"


def counts(rankgauge, *given):
    report = rankgauge("gold", "check", *given, "--json").json
    return report["labels"], report["valid"], report["counts"]


def test_records_of_another_tool_are_repaired_as_samples(rankgauge, files, write, tmp_path):
    record = {
        "user_input": "How hot?",
        "retrieved_contexts": ["no"],
        "reference_contexts": [BREAD.replace("hot", "old")],
    }
    data, target = write("ragas.jsonl", json.dumps(record)), tmp_path / "new.jsonl"
    typed = [data, "--preset", "ragas", "--corpus", files[1]]
    assert counts(rankgauge, *typed) == ({"passages": 1}, {"passages": 0}, {"edited": 1})
    assert rankgauge("gold", "repair", *typed, "--edited", "-o", target).code == 0
    sample = json.loads(target.read_text())
    assert sample["expected_output"] == {"passages": [BREAD]}  # with the full stop at its end
    assert sample["actual_output"]["retrieved"] == [{"text": "no"}]
    assert counts(rankgauge, target, "--corpus", files[1])[1] == {"passages": 1}


@pytest.mark.parametrize(
    ("gold", "naming"),
    [
        (["inner/pump.md", "bread.txt"], None),
        (["inner/pump", "bread"], "paths without their endings"),
        (["pump.md", "bread.txt"], "names of files"),
        (["pump", "bread"], "names of files without their endings"),
    ],
)
def test_ids_of_a_folder_are_named_as_labels_have_them(rankgauge, write, tmp_path, gold, naming):
    (tmp_path / "texts" / "inner").mkdir(parents=True)
    (tmp_path / "texts" / "inner" / "pump.md").write_text(PUMP, encoding="utf-8")
    (tmp_path / "texts" / "bread.txt").write_text(BREAD, encoding="utf-8")
    samples = write("named.jsonl", json.dumps({"id": "q", "expected_output": gold}))
    done = rankgauge("gold", "check", samples, "--corpus", tmp_path / "texts", "--json")
    assert done.json["valid"] == {"relevant": 2}
    said = [line for line in done.err.splitlines() if "as the labels have them" in line]
    assert said == ([] if naming is None else [f"ids of {tmp_path / 'texts'}: {naming}, as the labels have them"])


def test_ids_of_a_folder_stay_paths_where_shorter_ones_would_be_two(rankgauge, write, tmp_path):
    for name in ("old", "new"):
        (tmp_path / "texts" / name).mkdir(parents=True)
        (tmp_path / "texts" / name / "pump.md").write_text(PUMP, encoding="utf-8")
    samples = write("named.jsonl", json.dumps({"id": "q", "expected_output": ["pump"]}))
    assert counts(rankgauge, samples, "--corpus", tmp_path / "texts")[1] == {"relevant": 0}


@pytest.mark.parametrize("more", [("--field", "id=qid"), ("--preset", "ragas"), ("--dataset", "d")])
def test_options_of_samples_do_not_go_with_judgments(rankgauge, files, write, more):
    qrels = write("qrels.txt", "q1 0 pump 1\n")
    done = rankgauge("gold", "check", "--qrels", qrels, "--corpus", files[1], *more)
    assert (done.code, "are for samples; leave them out with --qrels" in done.err) == (2, True)
