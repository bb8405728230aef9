"""What instrumentations really write: spans recorded by them, and written anew by `make test-libraries`."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from environments import python_with
from rankgauge.errors import DataError
from rankgauge_traces import in_memory

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
    "chroma": [("chroma", ["d3", "d5", "d1"], [])],
    "langfuse": [("search", ["d3", "d1", "d2"], [])],
    "mlflow": [("search", ["d3", "d1", "d2"], []), ("rerank", ["d2", "d1"], ["search"])],
    # OpenLLMetry logs no ids, so that they are taken from the metadata.
    "open_llmetry": [(name, [f"{each}.txt" for each in ids], sources) for name, ids, sources in LANGCHAIN],
}
STAGES["gen_ai"] = STAGES["llama_index"][:3]  # these conventions have no rerankers
STAGES |= dict.fromkeys(("phoenix", "phoenix_frame"), STAGES["llama_index"])  # which it was given
OPTIONS = {"open_llmetry": ["--id-key", "source"]}
ANSWERS = {"langchain": "According to d3.", "langfuse": "According to d3.", "mlflow": "According to d2."}
ANSWERS |= dict.fromkeys(("llama_index", "phoenix", "phoenix_frame"), "text text text text text")
FILES = {library: RECORDED / f"{library}.otlp.jsonl" for library in STAGES}
FILES |= {library: RECORDED / f"{library}.jsonl" for library in ("mlflow", "phoenix", "phoenix_frame")}
FILES["llama_index"] = CONFIGS / "spans.jsonl"
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
    check(FILES[library], library, samples_of, stages_of)


def test_a_frame_of_phoenix_in_parquet_is_read(samples_of, stages_of):
    check(RECORDED / "phoenix_frame.parquet", "phoenix_frame", samples_of, stages_of)


def test_records_in_memory_make_the_same_samples_as_their_file(samples_of):
    records = [json.loads(line) for line in FILES["phoenix_frame"].read_text(encoding="utf-8").splitlines()]
    assert in_memory.samples_of(records) == samples_of(FILES["phoenix_frame"])
    with pytest.raises(DataError, match=r"records\[1\].* this is none of"):
        in_memory.samples_of([records[0], {"x": 1}])


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
    said = " ".join(rankgauge("funnel", "result").out.split())
    assert said.startswith(
        "Backwards lowers mrr@5 by 1.0000, from 1.0000 in QueryFusionRetriever to 0.0000 (undecided, "
    )


LIBRARIES = {
    "langchain": ["openinference-instrumentation-langchain", "langchain-classic"],
    "llama_index": ["openinference-instrumentation-llama-index", "llama-index-retrievers-bm25"],
    "gen_ai": ["openinference-instrumentation-llama-index", "llama-index-retrievers-bm25"],
    "haystack": ["openinference-instrumentation-haystack", "haystack-ai"],
    "open_llmetry": ["opentelemetry-instrumentation-langchain", "langchain-classic"],
    "chroma": ["opentelemetry-instrumentation-chromadb", "chromadb"],
    "langfuse": ["langfuse"],
    "mlflow": ["mlflow"],
    "phoenix": ["arize-phoenix", "arize-phoenix-client", "pyarrow"],
}
SHARED = ["opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-common"]
QUIET = dict.fromkeys(("HAYSTACK_TELEMETRY_ENABLED", "PHOENIX_TELEMETRY_ENABLED", "ANONYMIZED_TELEMETRY"), "False")
QUIET["PYTHONDONTWRITEBYTECODE"] = "1"


@pytest.mark.skipif("RANKGAUGE_LIBRARIES" not in os.environ, reason="installs every library; `make test-libraries`")
class TestLibraries:
    @pytest.fixture
    def recorder(self, tmp_path):
        """Return a function that runs a recorder with its library, and returns what it prints."""

        def run(library, script, *arguments):
            command = [python_of(library), HERE / "recorders" / f"{script}.py", *arguments]
            environment = {**os.environ, **QUIET}
            done = subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=300, capture_output=True)
            return done.stdout.decode()

        return run

    @pytest.mark.parametrize("library", sorted(LIBRARIES.keys() - {"mlflow", "phoenix"}))
    def test_what_an_instrumentation_writes_today_is_read(self, library, recorder, samples_of, stages_of, tmp_path):
        recorder(library, f"record_{library}")
        check(tmp_path / f"{library}.otlp.jsonl", library, samples_of, stages_of)

    def test_mlflow_returns_the_scores_that_it_is_given(self, recorder, rankgauge, samples_of, stages_of, tmp_path):
        recorder("mlflow", "record_mlflow")
        check(tmp_path / "mlflow.jsonl", "mlflow", samples_of, stages_of)
        told = scored(rankgauge, samples_of, "mlflow.jsonl", "search", "mlflow")
        assert returned(recorder("mlflow", "return_to_mlflow")) == told("search", "rerank")

    def test_phoenix_returns_the_scores_that_it_is_given(
        self, recorder, phoenix, rankgauge, samples_of, stages_of, tmp_path
    ):
        recorder("phoenix", "record_phoenix", phoenix, CONFIGS / "spans.jsonl")
        for file in ("phoenix.jsonl", "phoenix_frame.jsonl", "phoenix_frame.parquet"):
            check(tmp_path / file, file.partition(".")[0], samples_of, stages_of)
        told = scored(rankgauge, samples_of, "phoenix.jsonl", "QueryFusionRetriever", "phoenix")
        names = "QueryFusionRetriever.retrieve", "Backwards._postprocess_nodes"
        assert returned(recorder("phoenix", "return_to_phoenix", phoenix)) == told(*names)

    @pytest.fixture
    def phoenix(self, tmp_path):
        """Start a server of Phoenix on the loopback, and return its URL; it stops with the test."""
        with socket.create_server(("127.0.0.1", 0)) as free, socket.create_server(("127.0.0.1", 0)) as other:
            port, grpc_port = (str(each.getsockname()[1]) for each in (free, other))
        place = {"PHOENIX_HOST": "127.0.0.1", "PHOENIX_PORT": port, "PHOENIX_GRPC_PORT": grpc_port}
        environment = {**os.environ, **QUIET, **place, "PHOENIX_WORKING_DIR": str(tmp_path / "server")}
        (tmp_path / "server").mkdir()
        command = [python_of("phoenix").with_name("phoenix"), "serve"]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as server:
            try:
                assert any(b"running on" in line for line in server.stdout), "the server ended before it was up"
                yield f"http://127.0.0.1:{port}"
            finally:
                server.terminate()


def python_of(library):
    """Return the Python of an environment that has a library."""
    return python_with(
        [*SHARED, *LIBRARIES[library]], Path(os.environ["RANKGAUGE_LIBRARIES"]).absolute() / f"traces-{library}"
    )


def scored(rankgauge, samples_of, spans, stage, form):
    """Score spans, write scores in a form, and return a function that says what a platform should return of them."""
    samples_of(spans, "--gold", CONFIGS / "gold.jsonl")
    columns = "mrr@3", f"mrr(stage={stage})@3"
    rankgauge("run", "--data", "read.jsonl", *(word for column in columns for word in ("-m", column)), "-o", "result")
    assert rankgauge("traces", "scores", "result", "--as", form, "-o", "scores.jsonl").code == 0
    summary = json.loads(Path("result/summary.json").read_text(encoding="utf-8"))["metrics"]
    prints = [summary[column]["fingerprint"] for column in columns]

    def told(of_stage, of_last):
        # d3 and d4 are first of what each search and fusion found, and not among the two that the reranker kept
        return sorted(
            [[columns[0], of_last, 0.0, prints[0], "CODE"], [columns[1], of_stage, 1.0, prints[1], "CODE"]] * 2
        )

    return told


def returned(printed):
    return sorted(json.loads(line) for line in printed.splitlines() if line.startswith("["))
