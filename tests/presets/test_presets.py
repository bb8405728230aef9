"""Presets: records as their tools write them, recognized and read; `make test-libraries` writes them anew."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from environments import python_with
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.errors import ConfigError, DataError, DeclarationError, UnknownNameError, UnreadableError
from rankgauge.io.datasets import DatasetReader, DataSource
from rankgauge.io.output_files import read_outputs
from rankgauge.io.preset_records import Shape, recognized
from rankgauge.plugin import hookimpl, preset
from rankgauge.policy import DEFAULT_CONTRACT
from rankgauge.samples import Output
from tables import rows

HERE = Path(__file__).parent
RECORDS = HERE / "records"
CATALOG = Catalog.discover(own_only=True)

# Which parts of the one sample each file has: i its input, g gold ids, p gold passages, r the reference answer,
# a the answer; of both retrieved items I the ids, T the texts, S the scores. Behind a / what the record is called.
SAMPLES = {
    "ragas.jsonl": "igpraIT/1",
    "ragas.csv": "igpraIT/1",
    "ragas.json": "igpraIT/0",
    "ragas_columns.jsonl": "iraT/1",
    "deepeval.json": "ipraT/0",
    "deepeval.jsonl": "ipraT/1",
    "deepeval.csv": "ipraT/1",
    "deepeval_run.json": "ipraT/0",
    "llamaindex_result.jsonl": "igpIT/1",
    "llamaindex_finetune.json": "ig/q1",
    "llamaindex_rag.json": "ipr/0",
    "haystack_report.csv": "iraT/1",
    "haystack_report.json": "iraT/0",
    "trulens.json": "ipr/q1",
    "trulens.csv": "ipr/q1",
    "langfuse_items.json": "igpr/q1",
    "openai.jsonl": "iraT/q1",
    "promptfoo.json": "igraITS/q1",
    "promptfoo.jsonl": "igraITS/q1",
    "elasticsearch_sample.jsonl": "igITS/q1",
    "beir": "ig/q1",
    "longmemeval.json": "igrIT/q1",
    "locomo.json": "igr/0-0",
    "tevatron.jsonl": "igpr/q1",
    "chunking-evaluation.csv": "i/1",
}
OUTPUTS = {
    "langchain.json": "ITS/q1",
    "langchain_scores.json": "ITS/q1",
    "langchain_chain.jsonl": "aITS/q1",
    "llamaindex.json": "ITS/q1",
    "llamaindex_response.jsonl": "aITS/q1",
    "haystack.json": "ITS/q1",
    "haystack_answer.json": "aITS/q1",
    "haystack_pipeline.json": "IT/q1",
    "trulens_spans.jsonl": "T/q1",
    "phoenix.jsonl": "aITS/q1",
    "phoenix.csv": "aITS/q1",
    "phoenix_spans.json": "aITS/q1",
    "langfuse_observations.jsonl": "aITS/q1",
    "openai_response.json": "aITS/q1",
    "elasticsearch.json": "ITS/q1",
    "elasticsearch_lines.jsonl": "ITS/q1",
    "elasticsearch_msearch.json": "ITS/0",
    "beir_run.json": "IS/q1",
}
QUESTION, GOLD = "When was the bridge opened?", "The bridge was opened in 1932."
RETRIEVED = {"I": ["d3", "d1"], "T": [GOLD, "Ferries ran before."], "S": [0.8, 0.5]}


def tool_of(name: str) -> str:
    return name.partition(".")[0].partition("_")[0]


def sample_of(file: Path, **more):
    data = DataSource(file, **{"preset": tool_of(file.name), **more})
    ((sample,),) = DatasetReader(data, catalog=CATALOG, contract=DEFAULT_CONTRACT).batches()
    return sample


def check_output(output: Output, parts: str, file: str) -> None:
    assert isinstance(output, Output), (file, output)
    assert output.answer == ("In 1932." if "a" in parts else None)
    if "I" in parts:
        assert list(output.ids) == RETRIEVED["I"]
    assert (None if output.texts is None else list(output.texts)) == (RETRIEVED["T"] if "T" in parts else None)
    if file != "haystack_pipeline.json":  # whose scores are BM25's
        assert (None if output.scores is None else list(output.scores)) == (RETRIEVED["S"] if "S" in parts else None)


def check_sample(folder: Path, file: str) -> None:
    parts, _, name = SAMPLES[file].partition("/")
    sample = sample_of(folder / file)
    assert sample.id == name
    assert sample.input == (QUESTION if "i" in parts else None)
    gold = sample.expected
    assert list(gold.relevant or ()) == (["d3"] if "g" in parts else [])
    assert list(gold.passages or ()) == ([GOLD] if "p" in parts else [])
    assert list(gold.answer or ()) == (["1932"] if "r" in parts else [])
    if set(parts) & set("aITS"):
        check_output(sample.output, parts, file)
    else:
        assert sample.output is None


def check_outputs(folder: Path, file: str) -> None:
    parts, _, name = OUTPUTS[file].partition("/")
    outputs = read_outputs(
        folder / file, catalog=CATALOG, contract=DEFAULT_CONTRACT, shape=Shape(CATALOG, tool_of(file))
    ).by_id
    assert list(outputs) == [name]
    check_output(outputs[name], parts, file)


class TestStoredRecords:
    @rows("file", SAMPLES)
    def test_samples_are_read(self, file):
        check_sample(RECORDS, file)

    @rows("file", OUTPUTS)
    def test_outputs_are_read(self, file):
        check_outputs(RECORDS, file)

    def test_every_preset_has_records(self):
        assert {tool_of(file) for file in (*SAMPLES, *OUTPUTS)} == set(CATALOG.all("preset"))

    @rows("file", [file for file in (*SAMPLES, *OUTPUTS) if tool_of(file) != "beir"])
    def test_records_are_recognized_as_those_of_their_tool_alone(self, file):
        from rankgauge.io.file_records import records

        for record in records(RECORDS / file, CATALOG):
            values = [record.value, *(record.value.values() if isinstance(record.value, dict) else ())]
            assert {recognized(value, CATALOG) for value in values} - {None} <= {tool_of(file)}
            if file not in {"haystack_report.csv", "haystack_report.json", "haystack_pipeline.json"}:  # users' names
                assert tool_of(file) in {recognized(value, CATALOG) for value in values}


class TestMemory:
    """Conversations: sessions and turns, and what kind of question it is."""

    def test_kinds_of_questions_are_tags(self):
        assert sample_of(RECORDS / "longmemeval.json").tags == ("single-session-user",)
        assert sample_of(RECORDS / "locomo.json").tags == ("2",)

    def test_questions_of_several_conversations_have_names_of_their_own(self, tmp_path):
        asked = {"question": QUESTION, "answer": "1932", "evidence": ["D1:1"], "category": 1}
        path = tmp_path / "locomo.json"
        path.write_text(json.dumps([{"qa": [asked, asked]}, {"qa": [asked]}]))
        batches = DatasetReader(DataSource(path, preset="locomo"), catalog=CATALOG, contract=DEFAULT_CONTRACT).batches()
        assert [sample.id for batch in batches for sample in batch] == ["0-0", "0-1", "1-0"]


class TestOtherVersions:
    """Records in forms that other versions and settings of the tools are known to write, written by hand."""

    @pytest.mark.parametrize(
        ("tool", "raw", "parts"),
        [
            ("langchain", [{"pageContent": GOLD, "metadata": {"id": "d3"}}], ["d3"]),
            ("langfuse", [{"pageContent": GOLD, "metadata": {"id": "d3"}}], ["d3"]),
            ("llamaindex", [{"node": {"__data__": {"id_": "d3", "text": GOLD}, "__type__": "1"}}], ["d3"]),
            ("haystack", [{"id": "d3", "content": GOLD, "content_type": "text", "meta": {}}], ["d3"]),
            ("haystack", {"documents": [{"id": "d3", "content": GOLD, "meta": {}}]}, ["d3"]),
            ("elasticsearch", {"hits": {"hits": [{"_id": "d3", "_score": None, "fields": {"text": [GOLD]}}]}}, ["d3"]),
            ("openai", {"data": [{"file_id": "d3", "content": [{"type": "text", "text": GOLD}]}]}, ["d3"]),
        ],
    )
    def test_outputs(self, tool, raw, parts, tmp_path):
        path = tmp_path / "outputs.json"
        path.write_text(json.dumps({"q1": raw}))
        output = read_outputs(path, catalog=CATALOG, contract=DEFAULT_CONTRACT, shape=Shape(CATALOG, tool)).by_id["q1"]
        assert (list(output.ids), list(output.texts)) == (parts, [GOLD])
        assert tool == "langfuse" or recognized(raw, CATALOG) == tool

    @pytest.mark.parametrize("wrapped", [lambda items: items, lambda items: {"results": items}])
    def test_what_a_tool_of_a_chat_returned_as_json(self, wrapped, tmp_path):
        content = json.dumps(wrapped([{"id": "d3", "text": GOLD}, {"id": "d1", "text": "Ferries."}]))
        path = tmp_path / "chats.jsonl"
        path.write_text(json.dumps({"messages": [{"role": "tool", "content": content}], "reference": "1932"}))
        output = sample_of(path, preset="openai").output
        assert (list(output.ids), list(output.texts)) == (["d3", "d1"], [GOLD, "Ferries."])

    def test_a_chat_as_the_input_of_one_sample(self, tmp_path):
        chat = [{"content": QUESTION, "type": "human"}, {"content": "When?", "type": "ai"}]
        path = tmp_path / "samples.jsonl"
        path.write_text(json.dumps({"user_input": chat, "reference": "1932", "retrieved_contexts": [GOLD]}))
        sample = sample_of(path, preset="ragas")
        assert (sample.input, sample.expected.answer, list(sample.output.texts)) == (chat, ("1932",), [GOLD])

    @pytest.mark.parametrize("wrapped", [lambda run: {"testRunData": run}, lambda run: run])
    def test_a_saved_test_run(self, wrapped, tmp_path):
        case = {"input": QUESTION, "expectedOutput": "1932", "context": [GOLD], "retrievalContext": [GOLD]}
        record = wrapped({"testCases": [case]})
        path = tmp_path / "run.json"
        path.write_text(json.dumps(record))
        sample = sample_of(path, preset="deepeval")
        assert (sample.expected.answer, sample.expected.passages) == (("1932",), (GOLD,))
        assert recognized(record, CATALOG) == "deepeval"


class TestRecognition:
    @rows(
        "record",
        [
            {"id": "q", "expected_output": ["d1"], "actual_output": {"retrieved": ["d1"]}},
            {"id": "q", "input": "x", "expected_output": {"passages": ["t"]}, "actual_output": [{"text": "t"}]},
            {"id": "q", "actual_output": {"retrieved": [{"id": "a", "score": 1.0}], "answer": "x"}},
            {"q1": ["d1", "d2"]},
            {},
            [],
            "text",
            None,
        ],
    )
    def test_our_own_records_are_nobodys(self, record):
        assert recognized(record, CATALOG) is None

    def test_what_cannot_be_read_says_which_preset_reads_it(self):
        with pytest.raises(DataError, match="looks like a record of deepeval: read it with --preset deepeval"):
            Engine().dataset(RECORDS / "deepeval.json").with_metrics("recall@5").run()

    def test_outputs_say_it_too(self):
        samples = [{"id": "q1", "expected_output": ["d3"]}]
        with pytest.raises(DataError, match="--preset openai"):
            Engine().dataset(samples).with_outputs(RECORDS / "openai.jsonl").with_metrics("recall@5").run()

    def test_samples_without_a_usable_output_are_noted(self):
        record = {
            "id": "q1",
            "input": "x",
            "expected_output": "1932",
            "actual_output": "1932",
            "retrieval_context": ["t"],
        }
        result = Engine().dataset([record]).with_metrics("answer-exact-match").run()
        assert any("--preset deepeval" in note for note in result.notes)


class TestRunning:
    def test_scores_need_no_field(self):
        evaluation = Engine().dataset(RECORDS / "ragas.csv", preset="ragas").with_metrics(["recall@1", "recall@2"])
        assert [score.mean for score in evaluation.run().metrics.values()] == [1.0, 1.0]

    def test_samples_in_memory_may_be_records_too(self):
        record = json.loads((RECORDS / "ragas.jsonl").read_text())
        evaluation = Engine().dataset([record], preset="ragas").with_metrics("recall@1")
        assert evaluation.run()["recall@1"].mean == 1.0
        assert evaluation.score(record)["recall@1"].value == 1.0

    def test_the_source_of_a_text_of_deepeval_is_its_id(self, tmp_path):
        """As `EvaluationDataset.save_as` of DeepEval 4.3.1 writes a `RetrievedContextData`, beside a bare text."""
        marked = "deepeval_source=docs/d3.md,deepeval_context=It was opened, they say,\nin 1932."
        golden = {"input": QUESTION, "context": [GOLD], "retrieval_context": [marked, "Ferries ran."]}
        (tmp_path / "deepeval.json").write_text(json.dumps([golden]))
        output = sample_of(tmp_path / "deepeval.json").output
        assert list(output.ids) == ["docs/d3.md", None]
        assert list(output.texts) == ["It was opened, they say,\nin 1932.", "Ferries ran."]

    def test_what_is_relevant_may_be_in_the_metadata_of_a_result_of_promptfoo(self, tmp_path):
        row = {"vars": {"query": QUESTION}, "response": {"output": {"retrieved": ["d3", "d1"]}}, "testIdx": 0}
        (tmp_path / "promptfoo.jsonl").write_text(json.dumps({**row, "metadata": {"relevant": ["d3"]}}))
        assert dict(sample_of(tmp_path / "promptfoo.jsonl").expected.relevant) == {"d3": 1.0}

    @pytest.mark.parametrize("is_text", [False, True], ids=["list", "JSON in a cell"])
    def test_the_score_of_a_chunk_of_trulens_is_its_grade(self, is_text, tmp_path):
        chunks = [{"text": GOLD, "expect_score": 2}, {"text": "Ferries ran.", "expect_score": 0}, {"text": "A bridge."}]
        row = {"query": QUESTION, "query_id": "q1", "expected_chunks": json.dumps(chunks) if is_text else chunks}
        (tmp_path / "truth.json").write_text(json.dumps([row]))
        evaluation = Engine().dataset(tmp_path / "truth.json", preset="trulens").with_metrics(["ndcg@2", "recall@2"])
        retrieved = {"q1": {"contexts": ["A bridge.", GOLD]}}
        result = evaluation.run(outputs=retrieved)
        gained, best = 1 + 2 / math.log2(3), 2 + 1 / math.log2(3)
        assert result["ndcg@2"].mean == pytest.approx(gained / best, rel=1e-12)
        assert result["recall@2"].mean == 1.0  # a chunk of score 0 is judged, and not relevant

    def test_spans_of_trulens_that_are_no_retrievals_are_passed_over(self, tmp_path):
        def span(record, kind, **attributes):
            given = {"record_id": record, "span_type": kind, **attributes}
            return {"record_attributes": {f"ai.observability.{name}": value for name, value in given.items()}}

        key, text = "retrieval.retrieved_contexts", "retrieval.query_text"
        spans = [
            span("q1", "record_root", **{"record_root.input": QUESTION}),
            span("q1", "retrieval", **{text: QUESTION, key: ["Ferries ran."]}),
            span("q2", "generation"),
            span("q1", "retrieval", **{text: QUESTION, key: [GOLD, "A bridge."]}),
            span("q2", "retrieval", **{text: QUESTION, key: [GOLD]}),
            span("q1", "generation"),
        ]
        (tmp_path / "spans.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in spans))
        truth = [{"query": QUESTION, "query_id": f"q{n}", "expected_chunks": [{"text": GOLD}]} for n in (1, 2)]
        evaluation = Engine().dataset(truth, preset="trulens").with_metrics(["RR(gold=passages)", "num_ret"])
        result = evaluation.run(outputs=tmp_path / "spans.jsonl")
        assert next(iter(result.metrics.values())).values.tolist() == [
            0.5,
            1.0,
        ]  # two searches of q1, one after the other

    def test_a_score_of_trulens_that_is_no_number_is_a_problem(self, tmp_path):
        chunks = [{"text": GOLD, "expect_score": "high"}, {"text": "Ferries ran.", "expect_score": 0}]
        row = {"query": QUESTION, "query_id": "q1", "expected_chunks": chunks}
        (tmp_path / "truth.json").write_text(json.dumps([row]))
        evaluation = Engine().dataset(tmp_path / "truth.json", preset="trulens").with_metrics("recall@2")
        with pytest.raises(DataError, match=r"grade.*'high'"):
            evaluation.run(outputs={"q1": [GOLD]})

    def test_fields_come_before_those_of_the_preset(self):
        record = json.loads((RECORDS / "ragas.jsonl").read_text()) | {"mine": ["d1"], "key": "k7"}
        evaluation = Engine().dataset([record], preset="ragas").with_fields({"relevant": "mine", "id": "key"})
        result = evaluation.with_metrics("precision@1").run()
        assert result["precision@1"].mean == 0.0
        assert list(result.sample_ids) == ["k7"]

    def test_what_a_preset_does_not_find_is_named(self):
        with pytest.raises(DataError, match=r"map one of yours \(vraag\)"):
            Engine().dataset([{"vraag": "x"}], preset="ragas").with_metrics("recall@1").run()

    def test_a_config_has_presets_and_its_result_keeps_them(self, tmp_path):
        shutil.copy(RECORDS / "deepeval.csv", tmp_path)
        config = tmp_path / "c.yaml"
        config.write_text(
            "version: 1\ndatasets: {d: {path: deepeval.csv, preset: deepeval}}\n"
            "metrics: {use: ['recall(gold=passages)@5']}\n"
        )
        result = Engine.from_config(config).dataset("d").run()
        assert result.metrics["recall(gold=passages)@5"].mean == 1.0
        assert result.manifest["config"]["datasets"]["d"]["preset"] == "deepeval"
        config.write_text("version: 1\ndatasets: {d: {path: deepeval.csv, preset: deepevil}}\n")
        with pytest.raises(ConfigError, match=r"unknown preset 'deepevil' \(did you mean 'deepeval'\?\)"):
            Engine.from_config(config)

    def test_an_unknown_preset_is_refused_at_once(self):
        with pytest.raises(UnknownNameError, match="did you mean 'ragas'"):
            Engine().dataset([], preset="raggas")

    def test_a_split_of_a_folder_is_named_by_its_file(self):
        data = DataSource(RECORDS / "beir" / "qrels" / "dev.tsv", preset="beir")
        ((sample,),) = DatasetReader(data, catalog=CATALOG, contract=DEFAULT_CONTRACT).batches()
        assert (sample.id, sample.input, dict(sample.expected.relevant)) == ("q2", "Who ran ferries?", {"d1": 2.0})

    def test_a_folder_without_a_preset_says_which(self):
        with pytest.raises(UnreadableError, match="--preset beir"):
            Engine().dataset(RECORDS / "beir").with_metrics("recall@1").run()

    def test_a_folder_with_its_run_is_scored(self):
        evaluation = Engine().dataset(RECORDS / "beir", preset="beir").with_outputs(RECORDS / "beir_run.json")
        assert evaluation.with_metrics("rr@10").run().metrics["rr@10"].mean == 1.0


class TestPlugins:
    def test_a_plugin_adds_a_preset(self):
        @preset(
            "our-search",
            fields={"id": "qid", "expected_output.relevant": "gold[].doc", "actual_output.retrieved": "hits[-1]"},
            items={"id": "doc", "text": ("body", "title"), "score": "bm25"},
            marks=[("qid", "hits[-1][].doc")],
        )
        def our_search():
            """The log of our search."""

        @hookimpl
        def rankgauge_presets():
            return [our_search]

        catalog = Catalog.discover(plugins={"ours": SimpleNamespace(rankgauge_presets=rankgauge_presets)})
        record = {"qid": 7, "gold": [{"doc": "a"}], "hits": [[], [{"doc": 5, "title": "t"}, {"doc": "a", "bm25": 1.5}]]}
        assert recognized(record, catalog) == "our-search"
        result = Engine(catalog=catalog).dataset([record], preset="our-search").with_metrics("rr@10").run()
        assert (result["rr@10"].mean, list(result.sample_ids)) == (0.5, ["7"])
        assert catalog.preset("our-search").declaration.summary == "The log of our search."

    @pytest.mark.parametrize(
        ("arguments", "why"),
        [
            (
                {"fields": {"expected_output.pasages": "x"}, "marks": [("a",)]},
                "did you mean 'expected_output.passages'",
            ),
            ({"fields": {"id": "x"}, "items": {"name": "x"}, "marks": [("a",)]}, "known are id, text, score"),
            ({"fields": {"id": "x[0"}, "marks": [("a",)]}, "is not a path"),
            ({"fields": {"id": "x[a]"}, "marks": [("a",)]}, "neither"),
            ({"fields": {"id": [3]}, "marks": [("a",)]}, "is a text, not 3"),
            ({"fields": {"id": "x"}, "marks": []}, "needs marks"),
        ],
    )
    def test_a_declaration_that_cannot_be_used_is_refused(self, arguments, why):
        with pytest.raises(DeclarationError, match=why):
            preset("p", **arguments)(lambda: None)


LIBRARIES = {
    "ragas": ["ragas", "langchain-community<0.4"],
    "deepeval": ["deepeval"],
    "langchain": ["langchain-core"],
    "llamaindex": ["llama-index-core"],
    "haystack": ["haystack-ai", "pandas"],
    "trulens": ["trulens-core"],
    "phoenix": ["arize-phoenix-client", "pandas"],
    "langfuse": ["langfuse"],
    "openai": ["openai"],
}


@pytest.mark.skipif("RANKGAUGE_LIBRARIES" not in os.environ, reason="installs every library; `make test-libraries`")
class TestLibraries:
    @pytest.fixture
    def environment(self, request, process):
        return Path(os.environ["RANKGAUGE_LIBRARIES"]).absolute() / request.node.name.partition("[")[2].rstrip("]")

    @pytest.mark.parametrize("library", LIBRARIES)
    def test_what_a_library_writes_is_read(self, library, environment, tmp_path):
        python = python_with(LIBRARIES[library], environment)
        quiet = {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "HAYSTACK_TELEMETRY_ENABLED": "False"}
        check_written([python, "-P", HERE / "writers" / f"{library}.py"], tmp_path, quiet)

    @pytest.mark.parametrize("library", ["promptfoo"])
    def test_what_promptfoo_writes_is_read(self, library, environment, tmp_path):
        subprocess.run(
            [shutil.which("npm") or "npm", "install", "--silent", "--prefix", environment, library], check=True
        )
        quiet = {f"PROMPTFOO_{name}": "1" for name in ("DISABLE_TELEMETRY", "DISABLE_UPDATE")}
        command = [environment / "node_modules" / ".bin" / library, "eval", "--no-cache"]
        command += ["-c", HERE / "writers" / "promptfoo.yaml", "-o", "promptfoo.json", "-o", "promptfoo.jsonl"]
        check_written(command, tmp_path, quiet | {"PROMPTFOO_CONFIG_DIR": str(tmp_path / "home")})


def check_written(writer, folder, variables):
    subprocess.run(writer, cwd=folder, env={**os.environ, **variables}, check=True, timeout=300)
    written = sorted(file.name for file in folder.iterdir() if file.suffix in {".json", ".jsonl", ".csv"})
    assert written
    for file in written:
        (check_sample if file in SAMPLES else check_outputs)(folder, file)
