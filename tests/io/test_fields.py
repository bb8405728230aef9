"""Names that other systems give to the fields of samples, and lists of bare texts."""

from __future__ import annotations

import pytest

from rankgauge import Engine
from rankgauge.errors import ParameterError
from rankgauge.io.field_names import check_field, field_name, read_field, remapped

TEXTS = {"path": "contexts", "strings": "text"}
RAGAS = {
    "user_input": "How tall is the lighthouse?",
    "retrieved_contexts": ["It was built in 1887.", "The lighthouse is 41 metres tall."],
    "response": "41 metres",
    "reference": "41 metres",
}
"""A row as ragas writes it: no ids, texts retrieved as bare strings."""


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("id", "id"),
        ("retrieved", "actual_output.retrieved"),
        ("actual_output.answer", "actual_output.answer"),
        ("passages", "expected_output.passages"),
        ("tags", "metadata.tags"),
    ],
)
def test_a_field_may_be_called_by_its_last_part(name, full):
    assert full == field_name(name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("answer", "did you mean expected_output.answer or actual_output.answer?"),
        ("retreived", "did you mean 'retrieved'?"),
        ("expected_outputs", "did you mean 'expected_output'?"),
    ],
)
def test_an_unknown_or_ambiguous_name_comes_with_a_suggestion(name, hint):
    with pytest.raises(ParameterError) as caught:
        field_name(name)
    assert hint in str(caught.value)


def test_bare_strings_become_texts_and_objects_stay():
    record = {"contexts": ["first", {"id": "d2", "text": "second"}, "third"]}
    found = remapped(record, {"retrieved": TEXTS})
    assert found["actual_output"] == {
        "retrieved": [{"text": "first"}, {"id": "d2", "text": "second"}, {"text": "third"}]
    }
    assert remapped(record, {"retrieved": "contexts"})["actual_output"] == {"retrieved": record["contexts"]}


def test_a_whole_output_may_have_bare_texts_too():
    place = {"path": "output", "strings": "text"}
    assert remapped({"output": ["one"]}, {"actual_output": place})["actual_output"] == [{"text": "one"}]
    found = remapped({"output": {"retrieved": ["one"], "answer": "yes"}}, {"actual_output": place})
    assert found["actual_output"] == {"retrieved": [{"text": "one"}], "answer": "yes"}


def test_what_is_no_list_stays_for_the_contract_to_refuse():
    assert remapped({"contexts": "one text"}, {"retrieved": TEXTS})["actual_output"] == {"retrieved": "one text"}


def test_a_path_leads_into_a_record_unless_a_name_has_the_dot_itself():
    record = {"response": {"contexts": ["a"]}, "meta.id": "q1", "meta": {"id": "q2"}}
    found = remapped(record, {"retrieved": "response.contexts", "id": "meta.id", "input": "response.question"})
    assert (found["id"], found["actual_output"]) == ("q1", {"retrieved": ["a"]})
    assert "input" not in found


def test_rows_of_ragas_are_scored_by_their_texts():
    fields = {
        "id": "user_input",
        "retrieved": {"path": "retrieved_contexts", "strings": "text"},
        "actual_output.answer": "response",
        "expected_output.answer": "reference",
    }
    evaluation = Engine().dataset([RAGAS]).with_fields(fields).with_metrics(["containment@1", "containment@2", "EM"])
    assert {"containment@1": 0.0, "containment@2": 1.0, "em": 1.0} == {
        name: column.mean for name, column in evaluation.run().metrics.items()
    }
    assert 1.0 == evaluation.score(RAGAS)["containment@2"].value


def test_bare_strings_that_are_judged_by_text_say_how_to_call_them_texts():
    rows = [{"id": "q", "expected_output": "41 metres", "actual_output": RAGAS["retrieved_contexts"]}]
    (error,) = Engine().dataset(rows).with_metrics(["containment@2"]).run().errors
    assert "a bare string is an id; if yours are texts: --field retrieved=FIELD:text" in error.reason


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("id=qid", {"id": "qid"}),
        (" id = qid ", {"id": "qid"}),
        ("retrieved=contexts:text", {"retrieved": TEXTS}),
        ("retrieved=contexts:id", {"retrieved": {"path": "contexts", "strings": "id"}}),
        ("retrieved=my:contexts", {"retrieved": "my:contexts"}),
        ("input=question:text", {"input": "question:text"}),
    ],
)
def test_a_field_on_the_command_line(written, expected):
    assert expected == read_field(written)


@pytest.mark.parametrize("written", ["id", "id=", "=qid", "", "retrieved=:text", "nonsense=x"])
def test_what_cannot_be_read_on_the_command_line_is_refused(written):
    with pytest.raises(ParameterError):
        read_field(written)


@pytest.mark.parametrize(
    ("name", "place", "message"),
    [
        ("id", 3, "'id' needs your name for it"),
        ("id", {"strings": "text"}, "'id' needs your name for it"),
        ("retrieved", {"path": "x", "strings": "texts"}, "are id or text, not 'texts'"),
        ("retrieved", {"path": "x", "string": "text"}, "unknown key 'string'"),
        ("input", {"path": "x", "strings": "text"}, "has no effect on 'input'"),
    ],
)
def test_a_place_that_cannot_be_used_is_refused(name, place, message):
    with pytest.raises(ParameterError) as caught:
        check_field(name, place)
    assert message in str(caught.value)
    with pytest.raises(ParameterError):
        Engine().register("mine", [], fields={name: place})
