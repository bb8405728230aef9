"""Records: what is logged becomes plain JSON values that mean the same."""

import dataclasses

import numpy as np
import pydantic
import pytest

from rankgauge.errors import DataError
from rankgauge.features.pytest_plugin.logged_samples import make_record
from rankgauge.policy import DEFAULT_CONTRACT
from rankgauge.samples import Fault, read_sample
from tables import rows

NOTHING = dict.fromkeys(("retrieved", "expected", "answer", "input", "metadata"))


def make(sample, **given):
    return make_record(sample, {**NOTHING, **given}, DEFAULT_CONTRACT)


def read(record):
    problems = []
    sample = read_sample(record, problems=problems)
    assert problems == []
    return sample


@dataclasses.dataclass
class Chunk:
    id: str
    text: str


class Document(pydantic.BaseModel):
    id: str
    score: float


def test_arguments_become_a_sample_of_the_dataset_contract():
    record = make("q", retrieved=["a", "b"], expected={"a": 2}, answer="yes", input={"q": 1}, metadata={"k": 3})
    assert {
        "id": "q",
        "input": {"q": 1},
        "expected_output": {"a": 2},
        "actual_output": {"retrieved": ["a", "b"], "answer": "yes"},
        "metadata": {"k": 3},
    } == record


@pytest.mark.parametrize(
    ("retrieved", "plain"),
    [
        ((name for name in ("a", "b")), ["a", "b"]),
        (np.array(["a", "b"], dtype=object), ["a", "b"]),
        ({"a": 1, "b": 2}.keys(), None),
        ([Chunk("a", "text")], [{"id": "a", "text": "text"}]),
        ([Document(id="a", score=0.5)], [{"id": "a", "score": 0.5}]),
        ([{"id": "a", "score": np.float64(0.1)}], [{"id": "a", "score": 0.1}]),
    ],
)
def test_what_retrievers_return_is_unfolded(retrieved, plain):
    if plain is None:
        with pytest.raises(DataError, match="a set, which has no order"):
            make("q", retrieved=retrieved, expected=["a"])
    else:
        assert plain == make("q", retrieved=retrieved, expected=["a"])["actual_output"]["retrieved"]


def test_a_set_of_expected_ids_is_fine_because_their_order_means_nothing():
    assert ["a", "b"] == make("q", retrieved=[], expected={"b", "a"})["expected_output"]


def test_nothing_retrieved_is_a_missing_output_and_an_empty_list_is_an_empty_ranking():
    assert make("q", expected=["a"])["actual_output"] is None
    assert {"retrieved": [], "answer": None} == make("q", retrieved=[], expected=["a"])["actual_output"]


def test_an_answer_alone_is_an_output():
    assert {"answer": "x"} == make("q", answer="x", expected="x")["actual_output"]


@rows(
    "record",
    [
        {"id": "q", "expected_output": ["a", "a", "b"], "actual_output": ["b", {"id": "a", "score": 0.5}]},
        {"id": "q", "expected_output": {"relevant": {"a": 2, "b": 0}, "answer": "x"}, "actual_output": []},
        {"id": "q", "expected_output": [{"id": "a", "gain": 3}, {"id": "a", "gain": 1}]},
        {
            "id": "q",
            "input": "?",
            "expected_output": {"passages": ["x"], "keywords": ["y", "z"]},
            "actual_output": {"retrieved": [{"text": "x"}], "answer": "w"},
            "metadata": {"k": 2, "tags": ["t"], "answerable": False, "own": [1]},
        },
        {
            "id": "q",
            "expected_output": {
                "relevant": [{"id": "a", "valid_to": "2024-05-01"}, "b"],
                "forbidden": ["c", {"text": "d"}, {"metadata": {"tenant": "e"}}],
                "sets": [["a", "b"], {"any_of": [["a"], "b"]}],
            },
            "actual_output": {"searches": [["a", {"id": "b", "metadata": {"valid_from": "2024-05-01"}}], [], ["a"]]},
            "metadata": {"asked_at": "2024-05-01"},
        },
        {
            "id": "q",
            "expected_output": {
                "passages": [{"text": "x", "grade": 3}, {"text": "y", "id": "p2"}, {"text": "w", "grade": 0}, "z"]
            },
            "actual_output": ["a"],
        },
        {
            "id": "q",
            "expected_output": {
                "passages": [{"text": "x", "id": "p1"}, "y"],
                "sets": [["p1", "y"], {"any_of": [["x"], "y"]}],
            },
        },
        {
            "id": "q",
            "expected_output": {
                "sets": [
                    [{"document": "d", "start": 0, "end": 4, "text": "what"}],
                    {"any_of": [{"document": "d", "start": 9, "end": 11}]},
                ]
            },
        },
        {
            "id": "q",
            "expected_output": {
                "relevant": {"p1": 2},
                "passages": [{"text": "x", "id": "p1"}],
                "sets": [["p1"]],
            },
        },
        {
            "id": "q",
            "expected_output": [
                {"id": "a", "gain": 2, "intent": "i"},
                {"id": "a", "gain": 1, "intent": "j", "metadata": {"page": 1}},
                {"id": "b", "intent": "i"},
                {"id": "b", "gain": 3},
                "c",
                "c",
            ],
            "actual_output": {
                "stages": [
                    {"name": "words", "retrieved": ["c", {"id": "a", "score": 0.5}], "seconds": 0.1},
                    {"name": "vectors", "retrieved": ["b"], "from": [], "cost": 2},
                    {"name": "fused", "retrieved": [{"id": "b", "text": "B"}, "a"], "from": ["words", "vectors"]},
                ],
                "answer": "x",
                "seconds": 0.5,
                "bytes": 9,
            },
        },
        {
            "id": "q",
            "expected_output": [{"id": "a", "intent": "i"}, {"id": "a", "intent": "j"}],
            "actual_output": {"answer": "x", "cost": 1},
        },
    ],
)
def test_a_sample_value_and_its_record_mean_the_same(record):
    sample = read(record)
    again = read(make(sample))
    assert sample._replace(metadata=None) == again._replace(metadata=None)
    assert (sample.metadata or {}).items() <= again.metadata.items()
    assert sample == read(make(record))._replace(metadata=sample.metadata)


def test_a_fault_keeps_its_reason():
    sample = read({"id": "q", "expected_output": ["a"]})._replace(output=Fault("the service answered 503"))
    assert "the service answered 503" in read(make(sample)).output.reason


def test_a_stage_that_cannot_be_used_keeps_its_reason_and_its_place():
    stages = [{"name": "s", "retrieved": [{"no": "id"}]}, {"name": "t", "retrieved": ["a"]}]
    sample = read({"id": "q", "expected_output": ["a"], "actual_output": {"stages": stages}})
    again = read(make(sample)).output
    assert (again.ids, again.stages["t"]) == (["a"], sample.output.stages["t"])
    assert again.stages["s"].output.reason.startswith("stages[0].retrieved[0] needs an 'id' or a text")


def test_a_malformed_ranking_is_logged_because_it_is_the_failure_of_the_system():
    assert isinstance(read(make("q", retrieved=[{"no": "id"}], expected=["a"])).output, Fault)


@pytest.mark.parametrize(
    ("sample", "given", "message"),
    [
        ("q", {"retrieved": []}, "sample 'q': the field is null"),
        ("q", {"retrieved": [], "expected": 5.5}, "sample 'q': .*ground truth is"),
        ("", {"retrieved": [], "expected": ["a"]}, "id"),
        ("q", {"retrieved": [], "expected": ["a"], "metadata": {"k": 0}}, r"metadata.k, sample 'q'"),
        ("q", {"retrieved": [object()], "expected": ["a"]}, "sample 'q': .*a value that JSON cannot express"),
        ({"id": "q", "expected_output": ["a"]}, {"retrieved": []}, "retrieved= is given beside a whole sample"),
    ],
)
def test_what_does_not_follow_the_contract_is_refused_where_it_is_logged(sample, given, message):
    with pytest.raises(DataError, match=message):
        make(sample, **given)
