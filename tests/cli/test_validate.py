import os
from pathlib import Path

import pytest


def test_a_config_that_can_be_used_is_described_and_valid(rankgauge, project):
    brief = rankgauge("validate", project).out
    assert brief.splitlines()[0] == f"{project}: valid (1 dataset)"
    assert "metrics: mrr, retrieval-recall-at-k" in brief
    assert len(brief.splitlines()) <= 6
    done = rankgauge("validate", project, "--verbose")
    assert (done.code, done.err) == (0, "")
    assert "retrieval-recall-at-k" in done.out
    assert "the sample's metadata.k, else 5 (built-in default)" in done.out
    assert "profile: default" in done.out
    assert "policy: order=given" in done.out
    assert "data: 2 samples; with ground truth: relevant 2, answer 2; without output: 0" in done.out
    assert done.out.startswith("rankgauge.yaml: valid (1 dataset)\n")


def test_nothing_is_written(rankgauge, project, write):
    write("c.yaml", Path(project).read_text("utf-8") + "output: {directory: runs}\n")
    before = sorted(Path().rglob("*"))
    assert rankgauge("validate", "c.yaml").code == 0
    assert before == sorted(Path().rglob("*"))


def test_missing_and_malformed_outputs_are_counted_and_no_reason_to_refuse(rankgauge, write):
    write(
        "s.jsonl",
        [
            {"id": "q1", "expected_output": ["a"], "actual_output": ["a"]},
            {"id": "q2", "expected_output": ["a"]},
            {"id": "q3", "expected_output": ["a"], "actual_output": "[oops"},
        ],
    )
    config = write("c.yaml", "version: 1\ndatasets: {d: {path: s.jsonl}}\nmetrics: {use: [MRR]}\n")
    done = rankgauge("validate", config)
    assert done.code == 0
    assert "without output: 1; with malformed output: 1, but for 1 output that would fail" in done.out
    assert "sample 'q3': the output is a string that is not valid JSON" in done.err


@pytest.mark.parametrize("metrics", ["MRR", "answer-exact-match"])
def test_data_of_which_every_output_fails_is_not_valid(rankgauge, write, metrics):
    """Answers as strings, as DeepEval writes them: read as JSON, none of them is an output."""
    truth = {"answer": "x", "relevant": ["a"]}
    file = write("s.jsonl", [{"id": f"q{n}", "expected_output": truth, "actual_output": "An answer."} for n in (1, 2)])
    config = write("c.yaml", f"version: 1\ndatasets: {{d: {{path: s.jsonl}}}}\nmetrics: {{use: [{metrics}]}}\n")
    for given in (file, config):
        done = rankgauge("validate", given)
        assert done.code == 2
        assert "--field actual_output.answer=actual_output" in done.err
    mapped = rankgauge("validate", file, "--field", "actual_output.answer=actual_output")
    assert (mapped.code, mapped.out.splitlines()[-1]) == (0, "s.jsonl: valid")


def test_an_output_that_a_metric_of_the_config_cannot_judge_is_named(rankgauge, write):
    truth = {"answer": "x", "relevant": ["a"]}
    outputs = [{"answer": "x"}, {"retrieved": ["a"], "answer": "x"}]
    write("s.jsonl", [{"id": f"q{n}", "expected_output": truth, "actual_output": out} for n, out in enumerate(outputs)])
    config = write("c.yaml", "version: 1\ndatasets: {d: {path: s.jsonl}}\nmetrics: {use: [MRR]}\n")
    done = rankgauge("validate", config)
    assert (done.code, "sample 'q0': the output has no 'retrieved'" in done.err) == (0, True)


def test_outputs_of_another_file_are_checked_with_the_samples(rankgauge, write):
    file = write("s.jsonl", [{"id": "q1", "expected_output": ["a"]}])
    good = write("good.jsonl", [{"id": "q1", "actual_output": ["a"]}])
    bad = write("bad.jsonl", [{"id": "q9", "actual_output": ["a"]}])
    assert "without output: 0" in rankgauge("validate", file, "--outputs", good).out
    assert "such as 'q9'" in rankgauge("validate", file, "--outputs", bad).err
    assert rankgauge("validate", file, file, "--outputs", good).code == 2
    assert "is under `outputs`" in rankgauge("validate", write("c.yaml", "version: 1\n"), "--outputs", good).err


def test_ids_that_never_meet_are_told(rankgauge, write):
    write("s.jsonl", [{"id": "q1", "expected_output": ["Doc 17"], "actual_output": ["chunk_17"]}])
    config = write("c.yaml", "version: 1\ndatasets: {d: {path: s.jsonl}}\nmetrics: {use: [MRR]}\n")
    done = rankgauge("validate", config)
    assert done.code == 0
    assert "outputs: `chunk_17`; ground truth: `Doc 17`" in done.err


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("version: 1\nmetric: []\n", "c.yaml:2, metric: unknown key (did you mean 'metrics'?)"),
        ("version: 1\ndatasets: {d: {path: s.jsonl}}\nmetrics:\n  use: [ndgc@10]\n", "c.yaml:4: unknown metric 'ndgc'"),
        ("version: 1\ndatasets: {d: {path: nowhere.jsonl}}\nmetrics: {use: [MRR]}\n", "nowhere.jsonl"),
        ("version: 1\ndatasets: {d: {path: bad.jsonl}}\nmetrics: {use: [MRR]}\n", "bad.jsonl:1, expected_output"),
        ("version: 1\ndatasets: {d: {path: s.jsonl}}\nmetrics: {use: [answer-exact-match]}\n", "kind answer"),
        ("version: 1\ndatasets: {d: {path: s.jsonl}}\n", "no metrics given"),
        ("version: 1\nplugins: {require: [no-such-plugin]}\n", "no-such-plugin"),
        ("version: 1\nprofile: eval_harness\n", "did you mean 'eval-harness'?"),
    ],
    ids=["key", "metric", "file", "data", "gold", "no metric", "plugin", "profile"],
)
def test_what_cannot_be_used_is_refused_with_its_place(rankgauge, write, config, words):
    write("s.jsonl", [{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}])
    write("bad.jsonl", [{"id": "q1"}])
    done = rankgauge("validate", write("c.yaml", config))
    assert done.code == 2
    assert words in done.err
    assert "valid (" not in done.out


def test_an_unknown_part_of_a_matcher_is_refused_even_when_no_metric_uses_it(rankgauge, write):
    write("s.jsonl", [{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}])
    text = "version: 1\ndatasets: {d: {path: s.jsonl}}\nmetrics: {use: [MRR]}\n"
    config = write("c.yaml", text + "matchers: {mine: {normalize: [casefolded], compare: contained}}\n")
    done = rankgauge("validate", config)
    assert done.code == 2
    assert "casefolded" in done.err


def test_an_unknown_metric_of_a_set_that_is_not_in_use_is_refused(rankgauge, write):
    write("s.jsonl", [{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}])
    text = "version: 1\ndatasets: {d: {path: s.jsonl}}\nmetrics:\n  use: [MRR]\n  sets:\n    strict: [ndgc@10]\n"
    done = rankgauge("validate", write("c.yaml", text))
    assert done.code == 2
    assert "c.yaml:6: unknown metric 'ndgc'" in done.err


def test_an_empty_dataset_is_nothing_to_evaluate(rankgauge, write):
    write("s.jsonl", "")
    config = write("c.yaml", "version: 1\ndatasets: {d: {path: s.jsonl}}\nmetrics: {use: [MRR]}\n")
    assert rankgauge("validate", config).code == 4


def test_a_missing_config_is_refused_with_a_way_out(rankgauge):
    done = rankgauge("validate", "nowhere.yaml")
    assert done.code == 2
    assert "rankgauge init" in done.err


def test_a_config_is_needed(rankgauge):
    assert rankgauge("validate").code == 2


ROWS = [
    {"qid": "q1", "gold": "41 metres", "contexts": ["It is 41 metres tall."]},
    {"qid": "q2", "gold": ["x"], "contexts": "one text"},
]
FIELDS = ("--field", "id=qid", "--field", "expected_output=gold", "--field", "retrieved=contexts:text")


def test_a_data_file_is_checked_without_a_config(rankgauge, write):
    done = rankgauge("validate", write("s.jsonl", ROWS), *FIELDS)
    assert done.code == 0
    assert done.err.startswith("s.jsonl: 1 of 2 outputs would fail:\n  sample 'q2': the output must be a list")
    assert done.out == (
        "data: 2 samples; with ground truth: relevant 1, answer 1; without output: 0; with malformed output: 1\n"
        "s.jsonl: valid, but for 1 output that would fail\n"
    )


def test_a_yaml_file_of_samples_is_no_config(rankgauge, write):
    write("list.yaml", "- {id: q, expected_output: [a]}\n")
    write("named.yaml", "name: mine\nsamples: [{id: q, expected_output: [a]}]\n")
    for name in ("list.yaml", "named.yaml"):
        done = rankgauge("validate", name)
        assert (done.code, done.out.splitlines()[1]) == (0, f"{name}: valid")


def test_every_problem_of_a_data_file_is_told(rankgauge, write):
    done = rankgauge("validate", write("s.jsonl", [{"id": "q1"}, {"id": "q1", "expected_output": 3.5}]))
    assert done.code == 2
    assert "s.jsonl:1, expected_output, sample 'q1'" in done.err
    assert "s.jsonl:2, expected_output, sample 'q1'" in done.err
    assert "s.jsonl:2, sample 'q1': duplicate sample id 'q1'" in done.err


def test_a_data_file_without_samples_is_nothing_to_evaluate(rankgauge, write):
    assert rankgauge("validate", write("s.jsonl", "")).code == 4


def test_fields_have_no_place_beside_a_config_or_runs(rankgauge, write):
    config = write("c.yaml", "version: 1\n")
    assert "under `fields`" in rankgauge("validate", config, "--field", "id=qid").err
    assert "--field is for samples" in rankgauge("validate", "qrels", "run", "--field", "id=qid").err


def test_a_pipe_is_refused_and_not_waited_for(rankgauge, tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    done = rankgauge("validate", tmp_path / "pipe.yaml")
    assert done.code == 2
    assert "pipe.yaml: this is a pipe" in done.err


def test_what_the_data_of_a_faulty_config_is_read_with_is_not_looked_up_in_its_lock(rankgauge, project, write):
    text = Path(project).read_text("utf-8") + "plugins: {locked: rankgauge.lock.yaml}\n"
    write(project, text)
    assert rankgauge("plugins", "lock", project).code == 0
    write(project, text.replace("[MRR,", "[hit@3, MRR,"))
    done = rankgauge("validate", project)
    assert done.code == 2
    assert "metric 'hit@3' is not in the lock" in done.err
    assert "judged@1" not in done.err


def test_documents_that_are_taken_as_evidence_are_said_by_validate_and_beside_gates(rankgauge, write):
    """Four results of 200 characters out of each page: a quarter of it, and so no page is found as evidence."""
    pages = [" ".join(f"line w{page}x{line} says what harbour{line} is." for line in range(100)) for page in range(3)]
    write(
        "pages.jsonl",
        [
            {
                "id": str(number),
                "expected_output": {"passages": [{"text": page, "id": f"page-{number}"}]},
                "actual_output": {"retrieved": [{"text": page[at : at + 200]} for at in range(0, 800, 200)]},
            }
            for number, page in enumerate(pages)
        ],
    )
    hint = "with gold=documents, 1.00 would be"
    checked = rankgauge("validate", "pages.jsonl")
    assert checked.code == 0
    assert hint in checked.err
    files = ["--junit", "gates.xml", "--markdown", "gates.md"]
    assert rankgauge("run", "--data", "pages.jsonl", "-m", "recall@3", "--gate", "recall@3 >= 0.5", *files).code == 1
    assert [hint in Path(name).read_text("utf-8") for name in ("gates.xml", "gates.md")] == [True, True]


def test_spans_that_stale_offsets_miss_are_said_by_validate(rankgauge, write):
    text = "The lighthouse keeper walks to the harbour before dawn. He lights both lamps there with care."
    place = {"document": "a", "start": 0, "end": len(text)}
    write(
        "spans.jsonl",
        [
            {
                "id": "q",
                "expected_output": {"spans": [{"document": "a", "start": 900, "end": 930, "text": text[:54]}]},
                "actual_output": {"retrieved": [{**place, "text": text}]},
            }
        ],
    )
    assert "`rankgauge gold check`" in rankgauge("validate", "spans.jsonl").err
