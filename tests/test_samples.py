import math

import pytest

from rankgauge.policy import PROFILES, Contract
from rankgauge.samples import Expected, Fault, Output, Sample, SampleRules, read_expected, read_output, read_sample
from tables import rows

HARNESS = PROFILES["eval-harness"].contract


def problems_of(record, **options):
    problems = []
    assert read_sample(record, SampleRules(**options), problems=problems) is None
    return problems


def problem_of(record, **options):
    (problem,) = problems_of(record, **options)
    return problem


def sample_of(record, **options):
    problems = []
    sample = read_sample(record, SampleRules(**options), problems=problems)
    assert problems == []
    return sample


class TestExpectedOutput:
    def test_a_list_is_ids_with_gain_one(self):
        assert read_expected(["a", "b"]) == Expected(relevant={"a": 1.0, "b": 1.0})

    def test_a_list_of_objects_is_ids_with_their_gains(self):
        found = read_expected([{"id": "a", "gain": 3}, {"id": "b"}, "c"])
        assert found == Expected(relevant={"a": 3.0, "b": 1.0, "c": 1.0}, graded=True)

    def test_a_map_of_numbers_is_gains(self):
        assert read_expected({"a": 2, "b": 0, "c": -1.5}) == Expected(
            relevant={"a": 2.0, "b": 0.0, "c": -1.5}, graded=True
        )

    def test_a_string_is_the_answer(self):
        assert read_expected("41 metres") == Expected(answer=("41 metres",))

    def test_the_full_form_feeds_every_metric(self):
        found = read_expected(
            {"relevant": ["a"], "passages": ["one", "two"], "answer": ["x", "y"], "keywords": ["k"]},
        )
        assert found == Expected(relevant={"a": 1.0}, passages=("one", "two"), answer=("x", "y"), keywords=("k",))

    def test_the_full_form_takes_gains_and_single_texts(self):
        found = read_expected({"relevant": {"a": 2}, "answer": "x", "keywords": "k", "passages": "p"})
        assert found == Expected(relevant={"a": 2.0}, graded=True, passages=("p",), answer=("x",), keywords=("k",))

    def test_an_answer_that_is_a_number_is_not_taken_for_a_gain(self):
        with pytest.raises(ValueError, match=r"expected a string or a list of strings, found the number 4\.2"):
            read_expected({"answer": 4.2})
        assert read_expected({"relevant": {"answer": 1}}) == Expected(relevant={"answer": 1.0}, graded=True)

    def test_null_kinds_of_the_full_form_are_absent(self):
        assert read_expected({"relevant": ["a"], "answer": None}) == Expected(relevant={"a": 1.0})

    def test_an_empty_list_judges_nothing(self):
        assert read_expected([]) == Expected(relevant={})

    def test_repeated_ids_are_counted(self):
        assert read_expected(["a", "b", "a"]) == Expected(relevant={"a": 1.0, "b": 1.0}, repeats={"a": 2})

    def test_of_repeated_objects_the_highest_gain_holds(self):
        found = read_expected([{"id": "a", "gain": 1}, {"id": "a", "gain": 3}, {"id": "a", "gain": 2}])
        assert found == Expected(relevant={"a": 3.0}, graded=True, repeats={"a": 3})

    def test_integer_ids_are_read_as_decimal_text(self):
        assert read_expected([1, "2", 30]) == Expected(relevant={"1": 1.0, "2": 1.0, "30": 1.0})
        assert read_expected({1: 2, "b": 1}) == Expected(relevant={"1": 2.0, "b": 1.0}, graded=True)

    def test_ids_are_compared_as_given(self):
        composed, decomposed = "\u00e9", "e\u0301"
        assert set(read_expected([composed, decomposed, " a", "A"]).relevant) == {composed, decomposed, " a", "A"}

    @rows(
        ("raw", "path", "words"),
        [
            (1.2, "", ("a list of ids", "the number 1.2", 'write it in quotes: "1.2"')),
            (True, "", ("a list of ids", "the boolean True")),
            ([None], "[0]", ("an id must be a string or an integer", "null")),
            ([10**5000, None], "[0]", ("an id cannot be so large an integer", "4300 digits")),
            (["a", 1.5], "[1]", ("an id must be a string or an integer", "the number 1.5")),
            (["a", True], "[1]", ("an id must be a string or an integer", "the boolean True")),
            (["a", ""], "[1]", ("must not be empty",)),
            ([{"gain": 1}], "[0]", ("needs an 'id'", "the object {'gain': 1}")),
            ([{"id": "a", "gain": "2"}], "[0].gain", ("a gain must be a number", "the string '2'")),
            ({"a": math.nan}, "['a']", ("finite", "nan")),
            ({"a": 1, "b": math.inf}, "['b']", ("finite", "inf")),
            pytest.param({"a": 10**400}, "['a']", ("finite",), id="huge gain"),
            ({"a": True, "b": 1}, "['a']", ("the boolean True is not a gain",)),
            ({"a": "2"}, "['a']", ("the string '2' is not a gain",)),
            ({"": 1}, "", ("must not be empty",)),
            ({"relevant": "a"}, ".relevant", ("a list of ids or a map id -> gain", "the string 'a'")),
            ({"relevant": [None]}, ".relevant[0]", ("a string or an integer", "null")),
            ({"relevant": {"a": None}}, ".relevant['a']", ("a gain must be a number", "null")),
            ({"answer": ["x", True]}, ".answer[1]", ("expected a string", "the boolean True")),
            ({"keywords": {"x": "y"}}, ".keywords", ("a string or a list of strings", "the object")),
            ({"passages": [" \n"]}, ".passages[0]", ("blank",)),
            ({"answer": ""}, ".answer", ("blank",)),
            ("  ", "", ("blank",)),
            ({"relevent": ["a"], "answer": "x"}, ".relevent", ("did you mean 'relevant'?", "passages")),
            ({"pasages": ["a text"]}, ".pasages", ("did you mean 'passages'?",)),
        ],
    )
    def test_anything_else_names_place_and_what_was_found_and_expected(self, raw, path, words):
        problem = problem_of({"id": "q1", "expected_output": raw})
        assert f"expected_output{path}" == problem.path
        assert problem.sample == "q1"
        for word in words:
            assert word in problem.message

    def test_long_values_are_cut_in_messages(self):
        assert len(problem_of({"id": "q", "expected_output": [{"text": "x" * 10_000}]}).message) < 300


class TestActualOutput:
    def test_an_object_has_items_and_an_answer(self):
        raw = {"retrieved": [{"id": "a", "text": "one", "score": 1.2}, {"id": "b"}], "answer": "yes"}
        assert read_output(raw) == Output(["a", "b"], ["one", None], [1.2, None], "yes")

    def test_a_bare_list_is_the_items(self):
        assert read_output(["a", "b"]) == Output(["a", "b"])

    def test_ids_and_objects_may_be_mixed(self):
        assert read_output(["a", {"id": "b", "text": "two"}, 3]) == Output(["a", "b", "3"], [None, "two", None])

    def test_a_bare_string_is_an_id_and_never_a_text(self):
        assert read_output(["The harbour was built in 1870."]) == Output(["The harbour was built in 1870."])

    def test_an_item_may_have_a_text_and_no_id(self):
        assert read_output([{"text": "one"}, {"id": "b"}]) == Output([None, "b"], ["one", None])

    def test_an_empty_list_retrieved_nothing(self):
        assert read_output([]) == Output([])
        assert read_output({"retrieved": []}) == Output([])

    def test_an_answer_alone_does_not_say_what_was_retrieved(self):
        assert read_output({"answer": "yes"}) == Output((), None, None, "yes", is_ranked=False)
        assert read_output({"answer": "yes", "retrieved": []}) == Output([], None, None, "yes")

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('["a", 2]', Output(["a", "2"])),
            ('{"retrieved": [{"id": "a", "score": 2}], "answer": "x"}', Output(["a"], None, [2], "x")),
            (b'["a"]', Output(["a"])),
        ],
    )
    def test_a_json_string_is_decoded(self, text, expected):
        assert read_output(text) == expected

    def test_integer_ids_are_read_as_decimal_text(self):
        assert read_output([7, {"id": 10**20}]) == Output(["7", "1" + "0" * 20])

    def test_unknown_keys_of_items_are_ignored(self):
        assert read_output([{"id": "a", "page": 3}])._replace(unread=()) == Output(["a"])

    @rows(
        ("raw", "words"),
        [
            ("[1,", ("not valid JSON",)),
            ("doc-7", ("not valid JSON",)),
            ("", ("not valid JSON",)),
            ("[NaN]", ("not valid JSON",)),
            ('"a"', ("must be a list", "the string 'a'")),
            (12, ("must be a list", "the integer 12")),
            (True, ("must be a list", "the boolean True")),
            ({}, ("must be a list", "the object {}")),
            ({"results": ["a"]}, ("'retrieved'", "the object {'results': ['a']}")),
            ({"retrieved": "a"}, ("'retrieved'",)),
            ({"retrieved": {"a": 1}}, ("'retrieved'",)),
            ({"retrieved": [], "answer": 0.3}, ("'answer' must be a string", "the number 0.3")),
            (["a", ""], ("retrieved[1]", "empty")),
            (["a", None], ("retrieved[1]", "a string or an integer", "null")),
            (["a", 1.5], ("retrieved[1]", "a string or an integer", "the number 1.5")),
            ([True], ("retrieved[0]", "a string or an integer", "the boolean True")),
            ([["a"]], ("retrieved[0]", "a string or an integer", "the list ['a']")),
            ([{}], ("retrieved[0]", "'id'", "a text", "the object {}")),
            ([{"score": 1.0}], ("retrieved[0]", "'id'", "a text")),
            ([{"id": "a", "text": 3}], ("retrieved[0].text", "must be a string", "the integer 3")),
            ([{"id": ["a"]}], ("retrieved[0].id", "a string or an integer", "the list ['a']")),
            ([{"id": "", "text": "one"}], ("retrieved[0].id", "must not be empty")),
            ([{"id": "a", "score": "1"}], ("retrieved[0].score", "a finite number", "'1'")),
            ([{"id": "a", "score": True}], ("retrieved[0].score", "a finite number", "True")),
            ([{"id": "a", "score": math.nan}], ("retrieved[0].score", "a finite number", "nan")),
            ([{"id": "a", "score": -math.inf}], ("retrieved[0].score", "a finite number", "-inf")),
        ],
    )
    def test_a_malformed_output_is_a_fault_that_names_place_and_value(self, raw, words):
        fault = read_output(raw)
        assert isinstance(fault, Fault)
        for word in words:
            assert word in fault.reason

    @pytest.mark.parametrize("score", [10**400, -(10**400)], ids=["huge", "minus huge"])
    def test_a_score_too_large_for_a_float_is_a_fault(self, score):
        fault = read_output([{"id": "a", "score": score}])
        assert isinstance(fault, Fault)
        assert "retrieved[0].score" in fault.reason

    def test_a_malformed_output_is_no_problem_of_the_dataset(self):
        sample = sample_of({"id": "q", "expected_output": ["a"], "actual_output": "[oops"})
        assert isinstance(sample.output, Fault)

    def test_deeply_nested_json_is_a_fault(self):
        assert isinstance(read_output("[" * 100_000), Fault)

    @pytest.mark.parametrize("depth", [200, 900, 1020])
    def test_nesting_that_json_allows_never_crashes_the_message(self, depth):
        fault = read_output("[" * depth + "]" * depth)
        assert isinstance(fault, Fault)
        assert "retrieved[0]" in fault.reason


class TestSample:
    def test_all_fields_are_read(self):
        record = {
            "id": "q1",
            "input": {"question": "?"},
            "expected_output": ["a"],
            "actual_output": ["b"],
            "metadata": {"k": 3, "tags": ["x", " y ", "x", ""], "owner": "me"},
        }
        assert sample_of(record) == Sample(
            "q1",
            {"question": "?"},
            Expected(relevant={"a": 1.0}),
            Output(["b"]),
            3,
            ("x", "y"),
            answerable=True,
            metadata=record["metadata"],
        )

    def test_the_output_and_metadata_are_optional(self):
        assert sample_of({"id": "q1", "expected_output": ["a"]}) == Sample(
            "q1", None, Expected(relevant={"a": 1.0}), None
        )

    def test_a_null_output_is_a_missing_one(self):
        assert sample_of({"id": "q1", "expected_output": ["a"], "actual_output": None}).output is None

    def test_an_integer_id_is_read_as_decimal_text(self):
        assert sample_of({"id": 12, "expected_output": [7], "actual_output": [7]}) == Sample(
            "12", None, Expected(relevant={"7": 1.0}), Output(["7"])
        )

    def test_one_tag_may_be_a_string(self):
        assert sample_of({"id": "q", "expected_output": ["a"], "metadata": {"tags": "x"}}).tags == ("x",)

    def test_an_unanswerable_sample_needs_no_ground_truth(self):
        sample = sample_of({"id": "q", "metadata": {"answerable": False}})
        assert sample.answerable is False
        assert sample.expected == Expected()

    @rows(
        ("change", "path", "words"),
        [
            ({"id": None}, "id", ("null",)),
            ({"id": ""}, "id", ("must not be empty",)),
            ({"id": 1.5}, "id", ("a string or an integer", "the number 1.5")),
            ({"id": True}, "id", ("a string or an integer", "the boolean True")),
            ({"id": ["x"]}, "id", ("a string or an integer", "the list ['x']")),
            ({"metadata": []}, "metadata", ("expected an object", "the list []")),
            ({"metadata": {"k": 0}}, "metadata.k", ("an integer of 1 or more", "0")),
            ({"metadata": {"k": "5"}}, "metadata.k", ("an integer of 1 or more", "'5'")),
            ({"metadata": {"k": True}}, "metadata.k", ("an integer of 1 or more", "True")),
            ({"metadata": {"k": 2.0}}, "metadata.k", ("an integer of 1 or more", "2.0")),
            ({"metadata": {"tags": 3}}, "metadata.tags", ("a string or a list of strings", "the integer 3")),
            ({"metadata": {"tags": ["a", 3]}}, "metadata.tags", ("a string or a list of strings", "['a', 3]")),
            ({"metadata": {"answerable": "no"}}, "metadata.answerable", ("true or false", "the string 'no'")),
        ],
    )
    def test_a_bad_field_names_place_and_what_was_found_and_expected(self, change, path, words):
        problem = problem_of({"id": "q", "expected_output": ["a"], **change})
        assert path == problem.path
        for word in words:
            assert word in problem.message

    def test_a_missing_field_comes_with_a_suggestion(self):
        problem = problem_of({"id": "q", "expected_outputs": ["a"]})
        assert problem.path == "expected_output"
        assert "did you mean 'expected_outputs'?" in problem.message

    def test_a_missing_id_comes_with_a_suggestion(self):
        problem = problem_of({"qid": "q", "expected_output": ["a"]})
        assert problem.path == "id"
        assert "did you mean 'qid'?" in problem.message

    def test_all_problems_of_a_sample_are_reported_together(self):
        problems = problems_of({"id": 1.5, "expected_output": 3.5, "metadata": {"k": 0}})
        assert {"id", "expected_output", "metadata.k"} == {problem.path for problem in problems}

    @pytest.mark.parametrize("record", ["q1", 3, None, ["q1"]])
    def test_a_record_that_is_no_object_is_a_problem(self, record):
        assert "a sample is an object" in problem_of(record).message


class TestEvalHarnessContract:
    def test_integer_ids_are_refused_on_both_sides(self):
        assert (
            "an id must be a string, not the integer 1"
            in problem_of({"id": 1, "expected_output": ["a"]}, contract=HARNESS).message
        )
        assert "an id must be a string, not the integer 7" in read_output([7], contract=HARNESS).reason
        faults = read_expected([7], contract=HARNESS).faults
        assert "an id must be a string, not the integer 7" in faults["relevant"].reason

    def test_an_item_needs_an_id(self):
        assert "needs an 'id'" in read_output([{"text": "one"}], contract=HARNESS).reason

    def test_a_text_that_is_no_string_is_empty(self):
        assert read_output([{"id": "a", "text": 3}], contract=HARNESS) == Output(["a"], [""])

    def test_an_empty_object_is_an_output_without_items(self):
        assert read_output({}, contract=HARNESS) == Output([])

    def test_ground_truth_may_be_json_in_a_string(self):
        assert read_expected('["a", "b"]', contract=HARNESS).relevant == {"a": 1.0, "b": 1.0}

    def test_a_gain_may_be_a_numeric_string(self):
        assert read_expected({"a": "2.5"}, contract=HARNESS).relevant == {"a": 2.5}

    def test_a_string_that_is_no_json_is_an_answer_and_fails_by_id_only(self):
        found = read_expected("41 metres", contract=HARNESS)
        assert found.answer == ("41 metres",)
        assert found.relevant is None
        assert set(found.faults) == {"relevant"}

    def test_unusable_ground_truth_fails_the_pair_and_not_the_file(self):
        sample = sample_of({"id": "q", "expected_output": {"a": "high"}}, contract=HARNESS)
        assert "a gain must be a number, not the string 'high'" in sample.expected.faults["relevant"].reason

    def test_an_empty_list_fails_the_pair(self):
        assert "at least one relevant id" in read_expected([], contract=HARNESS).faults["relevant"].reason

    @pytest.mark.parametrize("k", [0, -1, "5", True, 2.5])
    def test_a_bad_cutoff_is_ignored(self, k):
        assert sample_of({"id": "q", "expected_output": ["a"], "metadata": {"k": k}}, contract=HARNESS).k is None

    def test_the_full_form_is_read_there_too(self):
        assert read_expected({"relevant": ["a"], "answer": "x"}, contract=HARNESS) == Expected(
            relevant={"a": 1.0}, answer=("x",)
        )

    @pytest.mark.parametrize("raw", [{"answer": 3, "relevant": ["a"]}, {"relevant": [7]}, {"keywords": [1]}])
    def test_an_unusable_full_form_fails_the_pair_and_not_the_file(self, raw):
        sample = sample_of({"id": "q", "expected_output": raw}, contract=HARNESS)
        assert sample.expected.faults


def test_the_default_contract_is_the_tolerant_one():
    assert Contract(strict_ids=False, on_bad_gold="file", on_bad_k="error", coerce=False) == Contract()
