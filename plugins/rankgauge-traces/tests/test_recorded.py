"""What instrumentations really write: spans recorded by them, and written anew by `make test-libraries`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
CONFIGS = HERE.parents[2] / "configs" / "traces"  # the page about traces has its spans from LlamaIndex

# The pipelines are in `recorders`; what each stage found is what the program that was recorded prints.
LANGCHAIN = [
    ("Words", ["d3", "d1", "d2", "d5"], []),
    ("Letters", ["d3", "d1", "d2", "d5"], []),
    ("EnsembleRetriever", ["d3", "d1", "d2", "d5"], ["Words", "Letters"]),
    ("ContextualCompressionRetriever", ["d3", "d1"], ["EnsembleRetriever"]),
]
STAGES = {
    "langchain": LANGCHAIN,
    "llama_index": [
        ("BM25Retriever", ["d3", "d2", "d1"], []),
        ("BM25Retriever-2", ["d3", "d5"], []),
        ("QueryFusionRetriever", ["d3", "d2", "d1", "d5"], ["BM25Retriever", "BM25Retriever-2"]),
        ("Backwards", ["d5", "d1"], ["QueryFusionRetriever"]),
    ],
    "haystack": [  # the joiner has no span that tells documents: they are what the ranker was given
        ("InMemoryBM25Retriever", ["d3", "d5"], []),
        ("InMemoryBM25Retriever-2", ["d3", "d1", "d2"], []),
        ("MetaFieldRanker-input", ["d3", "d5", "d1", "d2"], ["InMemoryBM25Retriever", "InMemoryBM25Retriever-2"]),
        ("MetaFieldRanker", ["d5", "d3"], ["MetaFieldRanker-input"]),
    ],
    # OpenLLMetry logs no ids, so that they are taken from the metadata.
    "open_llmetry": [(name, [f"{each}.txt" for each in ids], sources) for name, ids, sources in LANGCHAIN],
}
OPTIONS = {"open_llmetry": ["--id-key", "source"]}
ANSWERS = {"langchain": "According to d3.", "llama_index": "text text text text text"}
TEXT = "The bridge was opened to traffic in 1932."


def check(file, library, samples_of, stages_of):
    first, second = samples_of(file, *OPTIONS.get(library, ()))
    assert [first["input"], second["input"]] == ["When was the bridge opened?", "What are the towers built of?"]
    assert stages_of(first) == STAGES[library]
    assert first["actual_output"].get("answer") == ANSWERS.get(library)
    assert first["actual_output"]["stages"][0]["retrieved"][0]["text"] == TEXT
    seconds = [stage.get("seconds") for stage in first["actual_output"]["stages"]]
    assert all(spent is None or 0 < spent < 60 for spent in seconds)


@pytest.mark.parametrize("library", STAGES)
def test_what_was_recorded_is_read(library, samples_of, stages_of):
    file = CONFIGS / "spans.jsonl" if library == "llama_index" else RECORDED / f"{library}.otlp.jsonl"
    check(file, library, samples_of, stages_of)


def test_scores_are_those_of_the_retrievers(samples_of):
    (first, _) = samples_of(CONFIGS / "spans.jsonl")
    fused = first["actual_output"]["stages"][2]["retrieved"]
    assert [round(item["score"], 4) for item in fused] == [0.8590, 0.2226, 0.2112, 0.0]


def test_a_run_with_stages_and_a_funnel_follow(rankgauge, samples_of):
    samples = samples_of(CONFIGS / "spans.jsonl", "--gold", CONFIGS / "gold.jsonl")
    assert [sample["id"] for sample in samples] == ["opened", "towers"]

    done = rankgauge("run", "--data", "read.jsonl", "-m", "mrr@5", "--stages", "-o", "result", "--json")
    assert done.code == 0
    means = {name: metric["mean"] for name, metric in done.json["metrics"].items()}
    assert means["mrr@5"] == means["mrr(stage=Backwards)@5"] == 0.0
    assert means["mrr(stage=QueryFusionRetriever)@5"] == 1.0
    assert "Backwards loses 2 of 2 relevant items" in rankgauge("funnel", "result").out


LIBRARIES = {
    "langchain": ["openinference-instrumentation-langchain", "langchain-classic"],
    "llama_index": ["openinference-instrumentation-llama-index", "llama-index-retrievers-bm25"],
    "haystack": ["openinference-instrumentation-haystack", "haystack-ai"],
    "open_llmetry": ["opentelemetry-instrumentation-langchain", "langchain-classic"],
}
SHARED = ["opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-common"]


@pytest.mark.skipif("RANKGAUGE_LIBRARIES" not in os.environ, reason="installs every library; `make test-libraries`")
@pytest.mark.parametrize("library", LIBRARIES)
def test_what_a_library_writes_today_is_read(library, samples_of, stages_of, tmp_path):
    environment = Path(os.environ["RANKGAUGE_LIBRARIES"]).absolute() / f"traces-{library}"
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", *SHARED, *LIBRARIES[library]], check=True)
    recorder = HERE / "recorders" / f"record_{library}.py"
    quiet = {"HAYSTACK_TELEMETRY_ENABLED": "False", "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([python, recorder], cwd=tmp_path, env={**os.environ, **quiet}, check=True, timeout=300)
    check(tmp_path / f"{library}.otlp.jsonl", library, samples_of, stages_of)
