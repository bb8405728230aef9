"""Ground truth for traces: joined by question, id or attribute, and counted; and runs without any."""

import json
from pathlib import Path

import pytest

from rankgauge import Engine
from rankgauge.plugin import JudgedSample, sample_metric

GOLD = [
    {"id": "q1", "input": "Who was it?", "expected_output": {"relevant": ["a"]}, "metadata": {"tags": ["who"]}},
    {"id": "q2", "input": "When was it?", "expected_output": {"relevant": ["b"]}},
    {"id": "q3", "input": "Why?", "expected_output": {"relevant": ["c"]}},
]


@pytest.fixture
def gold():
    def written(samples=GOLD, name="gold.jsonl"):
        Path(name).write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
        return Path(name)

    return written


def test_questions_join_whatever_their_case_and_spaces(search, write, samples_of, gold):
    spans = [
        search("dense", ["a"], query=" who WAS\nit?", trace="t1"),
        search("dense", ["x"], query="Nobody asks?", trace="t2", start=1),
        search("dense", ["c"], query="Why?", trace="t3", start=2),
    ]
    samples = samples_of(write(*spans), "--gold", gold())
    assert [sample["id"] for sample in samples] == ["q1", "q3"]
    assert samples[0]["expected_output"] == {"relevant": ["a"]}
    spans = {"trace_id": "t1", "span_id": "dense", "stage_spans": {"dense": "dense"}}
    assert samples[0]["metadata"] == {"tags": ["who"], **spans}


def test_what_the_user_asked_is_found_before_what_was_rewritten(span, search, write, samples_of, gold):
    spans = [span("ask", {"input.value": "Why?"}), search("dense", ["c"], query="Who was it?", parent="ask", start=1)]
    assert [sample["id"] for sample in samples_of(write(*spans), "--gold", gold())] == ["q3"]


def test_a_rewritten_question_is_found_where_the_first_span_has_none(span, search, write, samples_of, gold):
    spans = [span("ask", {"input.value": "and why"}), search("dense", ["c"], query="Why?", parent="ask", start=1)]
    assert [sample["id"] for sample in samples_of(write(*spans), "--gold", gold())] == ["q3"]


def test_a_question_that_is_asked_again_is_a_sample_of_its_own(search, write, rankgauge, gold):
    spans = [search("dense", [name], query="Why?", trace=f"t{at}", start=at) for at, name in enumerate("abc")]
    done = rankgauge("traces", "read", write(*spans), "-o", "out.jsonl", "--gold", gold())
    lines = [json.loads(line) for line in Path("out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["id"] for line in lines] == ["q3", "q3#2", "q3#3"]
    assert "2 of them ask what an earlier one asks" in done.out
    assert "2 samples with ground truth and no trace, left out (--with-missing adds them)" in done.out


def test_ids_and_attributes_join(span, search, write, samples_of, gold):
    spans = [
        search("dense", ["a"], trace="q1"),
        span("ask", {"rankgauge.id": "q2", "case": 3}, trace="t2", start=1),
        search("dense", ["b"], trace="t2", parent="ask", start=2),
    ]
    assert [sample["id"] for sample in samples_of(write(*spans), "--gold", gold(), "--by", "id")] == ["q1", "q2"]
    numbered = gold([{**GOLD[0], "id": 3}])
    assert [sample["id"] for sample in samples_of(write(*spans), "--gold", numbered, "--by", "case")] == ["3"]


def test_samples_without_a_trace_can_count_as_missing(search, write, rankgauge, samples_of, gold):
    file = write(search("dense", ["a"], query="Who was it?"))
    samples = samples_of(file, "--gold", gold(), "--with-missing")
    assert [sample["id"] for sample in samples] == ["q1", "q2", "q3"]
    assert "actual_output" not in samples[1]
    done = rankgauge("run", "--data", "read.jsonl", "-m", "recall@5", "--json")
    assert done.json["metrics"]["recall@5"]["mean"] == pytest.approx(
        1 / 3
    )  # 1, and two missing outputs that count as 0


def test_no_match_is_an_error_that_shows_a_question(search, write, rankgauge, gold):
    done = rankgauge("traces", "read", write(search("dense", ["a"])), "-o", "out.jsonl", "--gold", gold())
    assert done.code == 4
    assert "no trace has ground truth in gold.jsonl by question; the first trace asks 'who?'" in done.err
    assert not Path("out.jsonl").exists()


FLAWS = {
    "no expected_output": ([{"id": "q1", "input": "x"}], "gold.jsonl:1: a sample with ground truth needs"),
    "no id": ([GOLD[0], {"input": "x", "expected_output": ["a"]}], "gold.jsonl:2: a sample needs an 'id'"),
    "no question": ([{"id": "q", "expected_output": ["a"]}], "gold.jsonl:1: a sample that is found by its question"),
    "twice": ([GOLD[0], {**GOLD[0], "id": "q9"}], "gold.jsonl:2: an earlier sample has the same question"),
    "not JSON": (None, "gold.jsonl:1: not valid JSON"),
    "none": ([], "there are no samples in it"),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_ground_truth_that_cannot_be_used_is_refused_with_its_line(flaw, search, write, rankgauge, gold):
    samples, message = FLAWS[flaw]
    file = gold(samples or [])
    if samples is None:
        file.write_text("{\n", encoding="utf-8")
    done = rankgauge("traces", "read", write(search("dense", ["a"])), "-o", "out.jsonl", "--gold", file)
    assert done.code == 2
    assert message in done.err
    assert not Path("out.jsonl").exists()


def test_without_ground_truth_metrics_that_need_none_run(search, write):
    @sample_metric("list-length", gold=(), needs="ids", range=(0, None))
    def length(ranking: JudgedSample) -> float:
        """How many results there are."""
        return len(ranking.seen.ids)

    file = write(search("dense", ["a", "b"]), search("dense", ["a"], trace="t2", start=1), name="spans.otlp")
    result = Engine().dataset(file).with_metrics([length]).run()
    assert result["list-length"].mean == 1.5  # 2 results and 1


def test_spans_are_outputs_of_a_dataset(search, write, rankgauge, gold):
    spans = [search("dense", ["x", "a"], trace="q1"), search("dense", ["b"], trace="q2", start=1)]
    file = write(*spans, name="spans.otlp")
    done = rankgauge("run", "--data", gold(GOLD[:2]), "--outputs", file, "-m", "mrr@5", "--json")
    assert done.code == 0, done.err
    assert done.json["metrics"]["mrr@5"]["mean"] == 0.75  # 1/2 and 1


def test_the_reader_names_broken_lines(rankgauge):
    Path("spans.otlp").write_text("{}\n[\n", encoding="utf-8")
    done = rankgauge("run", "--data", "spans.otlp", "-m", "mrr@5")
    assert done.code == 2
    assert "spans.otlp:1: this is none of resourceSpans (OTLP)" in done.err
    assert "spans.otlp:2: not valid JSON" in done.err
