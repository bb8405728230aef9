import math

import pytest

from rankgauge.errors import UnreadableError
from rankgauge.io.yaml_documents import read_yaml
from tables import rows


def value(text):
    return read_yaml(text, "f.yaml").value


def refusal(text):
    with pytest.raises(UnreadableError) as caught:
        read_yaml(text, "f.yaml")
    (problem,) = caught.value.problems
    assert problem.file == "f.yaml"
    return problem


@rows(
    "text",
    [
        "2023-05-20",
        "2023-05-20T10:00:00Z",
        "007",
        "0x1F",
        "0o17",
        "1_000",
        "no",
        "No",
        "yes",
        "on",
        "off",
        "y",
        "12:30",
        "1:2:3",
        "nUll",
        "tRUE",
        "nan",
        "inf",
        "=",
        "+",
        "1e",
        ".",
    ],
)
def test_scalars_that_json_does_not_know_stay_strings(text):
    assert value(f"a: {text}") == {"a": text}


@rows(
    ("text", "expected"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("true", True),
        ("False", False),
        ("0", 0),
        ("-12", -12),
        ("+3", 3),
        ("1.5", 1.5),
        ("-0.25", -0.25),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("2.5E-1", 0.25),
        ("'1'", "1"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("! 12", "12"),
    ],
)
def test_scalars_that_json_knows_get_their_type(text, expected):
    found = value(f"a: {text}")["a"]
    assert (type(expected), expected) == (type(found), found)


def test_nan_and_infinity_are_read_as_floats_so_that_the_contract_can_refuse_them():
    found = value("[.nan, .inf, -.INF, +.Inf]")
    assert math.isnan(found[0])
    assert [math.inf, -math.inf, math.inf] == found[1:]


def test_quoted_and_block_scalars_are_texts():
    assert value("a: |\n  12\nb: >\n  x\n  y\n") == {"a": "12\n", "b": "x y\n"}


def test_a_duplicate_key_is_refused_with_both_lines():
    problem = refusal("a: 1\nb: 2\nc:\n  - x\na: 3\n")
    assert problem.line == 5
    assert "duplicate key 'a'" in problem.message
    assert "line 1" in problem.message


def test_a_nested_duplicate_key_is_refused_with_both_lines():
    problem = refusal("samples:\n  - id: q1\n    input: x\n    id: q2\n")
    assert problem.line == 4
    assert "duplicate key 'id'" in problem.message
    assert "line 2" in problem.message


def test_an_equal_key_in_another_mapping_is_no_duplicate():
    assert value("- {a: 1}\n- {a: 2}\n") == [{"a": 1}, {"a": 2}]


def test_a_list_cannot_be_a_key():
    assert "cannot be a key" in refusal("? [a, b]\n: 1\n").message


def test_aliases_stand_for_what_they_name():
    assert value("a: &x [1, 2]\nb: *x\n") == {"a": [1, 2], "b": [1, 2]}


def test_an_alias_bomb_is_refused_before_it_expands():
    # Nine names of nine references each: 9 ** 9 values, some 387 million.
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    problem = refusal("\n".join(lines))
    assert "1,000,000" in problem.message
    # One level holds 9 * size of the one below: 10, 91, 820, 7381, 66430, 597871; the seventh passes a million.
    assert problem.line == 7


def test_many_references_to_one_small_value_are_fine():
    assert value(f"a: &a x\nb: [{', '.join(['*a'] * 1000)}]")["b"] == ["x"] * 1000


@pytest.mark.parametrize("text", ["&a [*a]", "&a {b: *a}", "a: &x\n  b: [1, *x]\n"])
def test_an_alias_inside_of_what_it_names_is_refused(text):
    assert "refers to nothing that is complete" in refusal(text).message


def test_an_alias_without_an_anchor_is_refused_with_its_line():
    problem = refusal("a: 1\nb: *nowhere\n")
    assert problem.line == 2
    assert "*nowhere" in problem.message


def test_nesting_of_a_hundred_is_read():
    found = value("[" * 100 + "]" * 100)
    for _ in range(99):
        (found,) = found
    assert found == []


def test_nesting_of_more_than_a_hundred_is_refused():
    assert "deeper than 100" in refusal("[" * 101 + "]" * 101).message


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_a_hundred_thousand_open_brackets_do_not_crash(opening):
    assert "deeper than 100" in refusal(opening * 100_000).message


@rows(
    "text",
    [
        "!!python/object/apply:os.system ['true']",
        "a: !!python/object:os.PathLike {}",
        "!!python/name:os.system ''",
        "!!python/tuple [1, 2]",
        "!mine 12",
        "!!set {a, b}",
        "!!binary aGk=",
        "!!timestamp 2023-05-20",
    ],
)
def test_tags_that_are_no_plain_data_are_refused(text):
    assert "not allowed" in refusal(text).message


def test_tags_of_plain_data_are_read():
    assert value("a: !!int 3\nb: !!map {c: !!seq [1]}\n") == {"a": 3, "b": {"c": [1]}}


def test_several_documents_are_refused():
    problem = refusal("a: 1\n---\nb: 2\n")
    assert problem.line == 2
    assert "more than one YAML document" in problem.message


def test_document_markers_around_one_document_are_fine():
    assert value("%YAML 1.1\n---\na: 1\n...\n") == {"a": 1}


def test_an_empty_document_is_null():
    assert value("") is None
    assert value("# only a comment\n") is None


def test_merge_keys_fill_in_what_is_not_given():
    text = "base: &base {k: 5, tags: a}\nq: {<<: *base, k: 10}\nr: {k: 10, <<: *base}\n"
    assert value(text) == {
        "base": {"k": 5, "tags": "a"},
        "q": {"k": 10, "tags": "a"},
        "r": {"k": 10, "tags": "a"},
    }


def test_of_several_merged_mappings_the_earlier_wins():
    assert value("a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b]}\n")["c"] == {"x": 1, "y": 2}


def test_a_merge_of_something_else_is_refused():
    assert "<< merges mappings only" in refusal("a: {<<: 12}").message


def test_a_quoted_merge_key_is_a_key():
    assert value('{"<<": 1}') == {"<<": 1}


def test_carriage_returns_end_lines():
    assert value("a: 1\r\nb:\r\n  - x\r\n") == {"a": 1, "b": ["x"]}


def test_every_value_has_its_line():
    lines = read_yaml("a: 1\nb:\n  - x\n  - c: 2\n    d: 3\n", "f.yaml").lines
    wanted = {("a",): 1, ("b",): 2, ("b", 0): 3, ("b", 1): 4, ("b", 1, "c"): 4, ("b", 1, "d"): 5, (): 1}
    assert wanted == dict(lines)


def test_broken_yaml_is_refused_with_its_line():
    problem = refusal("a: 1\nb: [1, 2\nc: 3\n")
    assert "not valid YAML" in problem.message
    assert problem.line is not None


def test_a_control_character_is_refused():
    assert "not valid YAML" in refusal("a: \x00b").message


def test_an_integer_of_thousands_of_digits_is_refused():
    assert "digits" in refusal("a: " + "9" * 5000).message
