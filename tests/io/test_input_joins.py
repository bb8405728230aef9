"""Outputs whose records do not name a sample belong to the sample with their input."""

import json
from types import SimpleNamespace

import pytest

from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.errors import DataError
from rankgauge.plugin import hookimpl, preset

WHEN, WHO = "When was it opened?", "Who built it?"
OPENED, BUILT = "It was opened for good in the year 1932.", "Anders built the whole bridge with his friends."
RECALL = "recall(gold=passages)@1"


def line(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def samples(*inputs):
    gold = {WHEN: OPENED, WHO: BUILT}
    return [
        {"id": f"q{n}", **({"input": text} if text else {}), "expected_output": {"passages": [gold[text or WHEN]]}}
        for n, text in enumerate(inputs, 1)
    ]


def ragas(*pairs):
    return [{"user_input": text, "retrieved_contexts": [found]} for text, found in pairs]


def trace(name, text, found):
    return {"id": name, "traceId": "t", "startTime": "2026", "input": text, "output": {"contexts": [found]}}


def span(record, kind, **attributes):
    given = {"record_id": record, "span_type": kind, **attributes}
    return {"record_attributes": {f"ai.observability.{name}": value for name, value in given.items()}}


def values_of(data, outputs, **more):
    result = Engine().dataset(data, **more).with_metrics(RECALL).run(outputs=outputs)
    return result.metrics[RECALL].values.tolist(), result


def refusal(data, outputs, **more):
    with pytest.raises(DataError) as caught:
        values_of(data, outputs, **more)
    return str(caught.value)


class TestRowsWithoutIds:
    def test_they_are_found_by_their_input_in_any_order(self):
        outputs = ragas((WHO, BUILT), (f"  {WHEN}\n", OPENED))
        assert values_of(samples(WHEN, WHO), outputs, preset="ragas")[0] == [1.0, 1.0]

    def test_a_number_that_is_the_place_of_another_record_is_no_id(self):
        gold = [{"user_input": text, "reference_contexts": [found]} for text, found in ((WHEN, OPENED), (WHO, BUILT))]
        assert values_of(gold, ragas((WHO, BUILT), (WHEN, OPENED)), preset="ragas")[0] == [1.0, 1.0]

    def test_they_need_no_preset(self, tmp_path):
        path = tmp_path / "outputs.jsonl"
        path.write_text(line([{"input": WHO, "retrieved": [{"text": BUILT}]}, {"input": WHEN, "retrieved": []}]))
        assert values_of(samples(WHEN, WHO), path)[0] == [0.0, 1.0]

    def test_places_count_where_samples_or_outputs_have_no_input(self, tmp_path):
        path = tmp_path / "outputs.jsonl"
        path.write_text(line([{"retrieved_contexts": [OPENED]}, {"retrieved_contexts": [BUILT]}]))
        (first, second) = samples(WHEN, WHO)
        data = [first | {"id": "1"}, second | {"id": "2"}]
        assert values_of(data, path, preset="ragas")[0] == [1.0, 1.0]
        lacking = [{**sample, "id": name, "input": None} for sample, name in zip(data, "01", strict=True)]
        assert values_of(lacking, ragas((WHEN, OPENED), (WHO, BUILT)), preset="ragas")[0] == [1.0, 1.0]

    def test_queries_that_the_data_lacks_are_named(self):
        message = refusal(samples(WHEN), ragas((WHEN, OPENED), (WHO, BUILT)), preset="ragas")
        assert f"1 of 2 outputs are for queries that the dataset lacks, such as {WHO!r}" in message
        assert f"(the dataset's look like {WHEN!r})" in message
        message = refusal(samples(None), [{"input": WHO, "retrieved": []}])
        assert "(its samples have no 'input' to find them by)" in message

    def test_queries_that_the_data_lacks_may_be_left_out(self):
        evaluation = Engine().dataset(samples(WHEN), preset="ragas").with_profile(queries="intersection")
        result = evaluation.with_metrics(RECALL).run(outputs=ragas((WHO, BUILT), (WHEN, OPENED)))
        assert result.metrics[RECALL].values.tolist() == [1.0]

    def test_several_samples_with_one_input_share_an_output_and_that_is_said(self):
        values, result = values_of(samples(WHEN, WHO, WHEN), ragas((WHEN, OPENED), (WHO, BUILT)), preset="ragas")
        assert values == [1.0, 1.0, 1.0]
        (note,) = [note for note in result.notes if "same input" in note]
        assert f"1 output belongs to several samples with the same input, such as {WHEN!r} ('q1', 'q3')" in note

    def test_several_outputs_of_one_input_are_refused_unless_they_are_equal(self):
        assert values_of(samples(WHEN), ragas((WHEN, OPENED), (WHEN, OPENED)), preset="ragas")[0] == [1.0]
        message = refusal(samples(WHEN), ragas((WHEN, OPENED), (WHEN, BUILT)), preset="ragas")
        assert f"1 input has several outputs, which differ, such as {WHEN!r} ('0', '1')" in message


class TestIdsOfRecords:
    def test_ids_of_samples_come_first_and_then_the_input(self):
        outputs = [trace("q2", "asked in other words", BUILT), trace("a-trace", WHEN, OPENED)]
        assert values_of(samples(WHEN, WHO), outputs, preset="langfuse")[0] == [1.0, 1.0]

    def test_other_presets_have_ids_of_samples(self):
        outputs = [{"id": "x", "query": WHEN, "documents": [{"page_content": OPENED}]}]
        assert "such as 'x' (the dataset's look like 'q1')" in refusal(samples(WHEN), outputs, preset="langchain")

    def test_spans_of_trulens_belong_to_the_query_of_their_root(self, tmp_path):
        path, key = tmp_path / "events.json", "retrieval.retrieved_contexts"
        spans = [
            span("r-1", "retrieval", **{"retrieval.query_text": "builder bridge", key: [BUILT]}),
            span("r-1", "record_root", **{"record_root.input": WHO, "record_root.output": "Anders"}),
            span("r-2", "retrieval", **{"retrieval.query_text": WHEN, key: [BUILT, OPENED]}),
        ]
        path.write_text(json.dumps(spans))
        truth = [
            {"query": text, "query_id": f"q{n}", "expected_chunks": [{"text": found}], "expected_response": "Anders"}
            for n, (text, found) in enumerate(((WHEN, OPENED), (WHO, BUILT)))
        ]
        assert values_of(truth, path, preset="trulens")[0] == [0.0, 1.0]
        rescored = Engine().dataset(truth[1:], preset="trulens").with_profile(queries="intersection")
        assert rescored.with_metrics("em").run(outputs=path)["em"].mean == 1.0

    def test_custom_ids_of_batches_come_before_those_of_requests(self, tmp_path):
        body = {"choices": [{"message": {"role": "assistant", "content": "1932"}}]}
        rows = [{"id": f"batch_req_{n}", "custom_id": f"q{n}", "response": {"body": body}} for n in (1, 2)]
        data = [{"id": f"q{n}", "input": WHEN, "expected_output": {"answer": "1932"}} for n in (1, 2)]
        result = Engine().dataset(data, preset="openai").with_metrics("em").run(outputs=rows)
        assert result["em"].values.tolist() == [1.0, 1.0]

    @pytest.mark.parametrize("joins", [False, True])
    def test_a_preset_of_a_plugin_declares_it(self, joins):
        fields = {"id": "trace", "input": "asked", "actual_output.retrieved": "found"}

        @preset("ours", fields=fields, marks=[("trace", "found")], join_by_input=joins)
        def ours():
            """Our traces."""

        @hookimpl
        def rankgauge_presets():
            return [ours]

        catalog = Catalog.discover(plugins={"acme": SimpleNamespace(rankgauge_presets=rankgauge_presets)})
        evaluation = Engine(catalog=catalog).dataset(samples(WHEN), preset="ours").with_metrics(RECALL)
        outputs = [{"trace": "t-9", "asked": WHEN, "found": [OPENED]}]
        if joins:
            assert evaluation.run(outputs=outputs).metrics[RECALL].values.tolist() == [1.0]
        else:
            with pytest.raises(DataError, match="samples that the dataset lacks, such as 't-9'"):
                evaluation.run(outputs=outputs)
