# the expected value stands first
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.errors import ExpressionError
from rankgauge.expression import MetricExpression, parse, parse_many, safe_name
from tables import rows


def refusal(text):
    with pytest.raises(ExpressionError) as caught:
        parse_many(text)
    return caught.value


def outcome(text):
    try:
        return parse_many(text), None
    except ExpressionError as error:
        return [], error


class TestGrammar:
    def test_a_name_alone_has_no_parameters_and_no_cutoff(self):
        found = parse("retrieval-mrr")
        assert ("retrieval-mrr", (), None) == (found.name, found.params, found.k)

    @pytest.mark.parametrize(
        ("written", "expected"),
        [
            ("nDCG(cutoff=10)", "nDCG@10"),
            ("AP(rel=2,cutoff=10)", "AP(rel=2)@10"),
            ("AP(cutoff=10, rel=2)", "AP(rel=2)@10"),
            ("recall(cutoff=1500tok)", "recall@1500tok"),
        ],
    )
    def test_so_is_a_parameter_of_that_name(self, written, expected):
        """As ir_measures takes it."""
        assert parse(written) == parse(expected)
        assert str(parse(written)) == expected

    @pytest.mark.parametrize(
        "written",
        ["nDCG(cutoff=10)@5", "ndcg-at-5(cutoff=10)", "nDCG(cutoff=ten)", "nDCG(cutoff=true)", 'P(cutoff="10")'],
    )
    def test_a_second_cutoff_and_one_that_is_no_number_are_refused(self, written):
        assert "cutoff" in str(refusal(written))

    def test_the_number_behind_the_at_sign_is_the_cutoff(self):
        found = parse("ndcg@10")
        assert ("ndcg", 10) == (found.name, found.k)
        assert int is type(found.k)

    @rows(
        ("written", "value"),
        [
            ("3", 3),
            ("-3", -3),
            ("+3", 3),
            ("0.5", 0.5),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e3", 1000.0),
            ("1E-2", 0.01),
            ("true", True),
            ("false", False),
            ("exponential", "exponential"),
            ("gold-at-k", "gold-at-k"),
            ("log2", "log2"),
            ('"two words"', "two words"),
            ("'two words'", "two words"),
            ('"true"', "true"),
            ('"10"', "10"),
            ('""', ""),
            (r'"a \"quoted\" \\ word"', 'a "quoted" \\ word'),
            (r"'it\'s'", "it's"),
            ('"a, b) @ c"', "a, b) @ c"),
        ],
    )
    def test_every_kind_of_value_is_read(self, written, value):
        ((key, found),) = parse(f"m(x={written})@5").params
        assert ("x", value, type(value)) == (key, found, type(found))

    def test_a_fraction_behind_the_at_sign_is_read_and_left_to_the_plan_to_refuse(self):
        assert 1.5 == parse("ndcg@1.5").k

    def test_names_take_what_trec_eval_writes(self):
        assert "iprec_at_recall_0.10" == parse("iprec_at_recall_0.10").name
        assert "set_F.0.5" == parse("set_F.0.5").name

    def test_several_parameters_are_kept_in_order_of_their_names(self):
        assert (("discount", "log2"), ("gain", "linear")) == parse("ndcg(gain=linear, discount=log2)").params


class TestTolerantReading:
    @pytest.mark.parametrize(
        "text",
        [
            "ndcg(clamp=true,gain=exponential)@10",
            "  ndcg ( gain = exponential , clamp = true ) @ 10  ",
            "ndcg(gain='exponential', clamp=true)@10",
            "ndcg(gain=exponential, clamp=true,)@10",
            "ndcg\n(gain=exponential,\n clamp=true)\n@10",
        ],
    )
    def test_space_order_quotes_and_a_last_comma_change_nothing(self, text):
        assert MetricExpression("ndcg", {"gain": "exponential", "clamp": True}, k=10) == parse(text)
        assert "ndcg(clamp=true, gain=exponential)@10" == str(parse(text))

    def test_empty_parentheses_are_no_parameters(self):
        assert "ndcg@3" == str(parse("ndcg()@3"))

    def test_a_number_at_the_end_of_an_alias_pins_its_cutoff(self):
        assert MetricExpression("retrieval-ndcg-at-k", k=10) == parse("retrieval-ndcg-at-10")
        assert "retrieval-ndcg-at-k(gain=linear)@10" == str(parse("retrieval-ndcg-at-10(gain=linear)"))

    def test_only_a_whole_number_behind_at_pins_a_cutoff(self):
        for name in ("retrieval-ndcg-at-k", "retrieval-ndcg-at-1.5", "ndcg_at_10", "ndcg_cut_10", "x-10"):
            assert (name, None) == (parse(name).name, parse(name).k)


class TestManyCutoffs:
    def test_a_list_of_cutoffs_makes_an_expression_each_in_the_order_written(self):
        assert ["recall@5", "recall@1", "recall@10"] == [str(each) for each in parse_many("recall@5, 1,10")]

    def test_every_expression_of_a_list_has_the_parameters(self):
        assert ["P(rel=2)@1", "P(rel=2)@3"] == [str(each) for each in parse_many("P(rel=2)@1,3")]

    def test_one_or_no_cutoff_makes_one_expression(self):
        assert [MetricExpression("recall", k=5)] == parse_many("recall@5")
        assert [MetricExpression("recall")] == parse_many("recall")

    def test_a_list_is_refused_where_one_metric_is_expected(self):
        with pytest.raises(ExpressionError, match="lists 3 cutoffs where one metric is expected") as caught:
            parse("recall@1,5,10")
        assert "recall@1,5,10" == caught.value.text


class TestRefusals:
    @rows(
        ("text", "position", "words"),
        [
            ("", 0, "expected a metric name, found the end"),
            ("   ", 3, "expected a metric name, found the end"),
            ("@10", 0, "expected a metric name, found '@10' at character 1"),
            ("(gain=linear)", 0, "expected a metric name"),
            ("-at-10", 0, "expected a metric name, found '-at-10' at character 1"),
            ("ndcg@", 5, "expected a number after @, found the end"),
            ("ndcg@ten", 5, "expected a number after @, found 'ten' at character 6"),
            ("ndcg@1e999", 5, "expected a finite number after @, found '1e999' at character 6"),
            ("recall@1,", 9, "expected a number after @, found the end"),
            (
                "hit@5,RR",
                6,
                "found 'RR' at character 7; an expression looks like ndcg@10, retrieval-recall-at-k or ndcg",
            ),
            ("hit@5,RR", 6, "; give several metrics one by one: -m RR -m hit@5"),
            ('hit(unit="(.+)_x")@5,RR(a=1)', 21, "; give several metrics one by one"),
            ("ndcg@10 20", 8, "expected the end, found '20' at character 9"),
            ("ndcg@10abc", 7, "expected the end, tok (tokens) or char (characters), found 'abc'"),
            ("ndcg extra", 5, "expected the end, found 'extra'"),
            ("ndcg)", 4, "expected the end, found ')'"),
            ("ndcg@10(gain=linear)", 7, "parameters are before the @: ndcg(gain=linear)@10"),
            (
                "my_metrics.py:first_hit",
                13,
                "a function of your own is for `rankgauge run -m`, with_metrics or a plugin",
            ),
            ("mine.py:hit(rel=2)@5", 7, "a function of your own is for `rankgauge run -m`"),
            ("ndcg(", 5, "expected a parameter name or ), found the end"),
            ("ndcg(3=x)", 5, "expected a parameter name or ), found '3=x)'"),
            ("ndcg(gain)", 9, "expected = after 'gain', found ')'"),
            ("ndcg(gain=)", 10, "expected a number, true, false, a word or a quoted string, found ')'"),
            ("ndcg(gain=linear", 16, "expected , or ), found the end"),
            ("ndcg(gain=linear clamp=true)", 17, "expected , or ), found 'clamp=true)'"),
            ("ndcg(since=2024-01-01)", 11, "expected a number, true, false, a word or a quoted string"),
            ("ndcg(x=10x)", 7, "expected a number, true, false, a word or a quoted string"),
            ('ndcg(gain="linear)', 10, "expected a number, true, false, a word or a quoted string"),
        ],
    )
    def test_a_text_outside_the_grammar_is_refused_with_its_place(self, text, position, words):
        error = refusal(text)
        assert (text, position) == (error.text, error.position)
        assert words in str(error)
        assert "an expression looks like ndcg@10" in str(error)

    def test_a_parameter_given_twice_is_refused(self):
        error = refusal("ndcg(gain=linear, gain=exponential)")
        assert "'gain' only once" in str(error)
        assert "ndcg(gain=linear, gain=exponential)" == error.text

    @pytest.mark.parametrize("text", [None, 5, ["ndcg"], b"ndcg"])
    def test_what_is_no_string_is_refused(self, text):
        error = refusal(text)
        assert f"a metric expression is a string, not {text!r}" in str(error)
        assert str(text) == error.text

    @pytest.mark.parametrize("text", ["retrieval-ndcg-at-10@5", "ndcg(max_grade=1e999)@5"])
    def test_what_the_grammar_allows_and_the_value_does_not_is_refused_with_the_whole_text(self, text):
        assert text == refusal(text).text

    def test_a_cutoff_given_twice_is_refused(self):
        assert "'retrieval-ndcg-at-10' already has a cutoff; leave out @5" in str(refusal("retrieval-ndcg-at-10@5"))

    @pytest.mark.parametrize("shape", ["ndcg@{}", "ndcg(x={})", "retrieval-ndcg-at-{}"])
    def test_a_number_too_long_to_read_is_refused_like_any_other_text(self, shape):
        text = shape.format("9" * 5000)
        assert text == refusal(text).text


class TestBuilding:
    @rows("name", ["", "two words", "-ndcg", "ndcg@10", "ndcg(x=1)", "ndcg_cut_{k}", "é", None, 5])
    def test_a_name_outside_the_grammar_is_refused(self, name):
        with pytest.raises(ExpressionError, match="is not a metric name") as caught:
            MetricExpression(name)
        assert str(name) == caught.value.text

    @pytest.mark.parametrize("key", ["", "two words", "3d", "a=b", 5])
    def test_a_parameter_name_outside_the_grammar_is_refused(self, key):
        with pytest.raises(ExpressionError, match="is not a parameter name"):
            MetricExpression("ndcg", {key: 1})

    @pytest.mark.parametrize("value", [None, [1], {"a": 1}, float("nan"), float("inf"), b"x"])
    def test_a_value_that_cannot_be_written_is_refused(self, value):
        with pytest.raises(ExpressionError, match="parameter 'gain' of 'ndcg' cannot be"):
            MetricExpression("ndcg", {"gain": value})

    @pytest.mark.parametrize("k", [True, "5", float("nan"), float("inf"), [5]])
    def test_a_cutoff_that_is_no_number_is_refused(self, k):
        with pytest.raises(ExpressionError, match="the cutoff of 'ndcg' must be a number"):
            MetricExpression("ndcg", k=k)

    def test_expressions_that_say_the_same_are_equal_and_hash_alike(self):
        one = MetricExpression("ndcg", {"gain": "linear", "clamp": True}, k=10)
        other = MetricExpression("ndcg", {"clamp": True, "gain": "linear"}, k=10)
        assert one == other
        assert {one} == {other}

    def test_expressions_that_differ_in_name_parameter_or_cutoff_are_not_equal(self):
        texts = ["ndcg", "nDCG", "ndcg@10", "ndcg@5", "ndcg(gain=linear)", "ndcg(gain=exponential)", "ndcg(clamp=true)"]
        assert len(texts) == len({parse(text) for text in texts})

    def test_an_expression_cannot_be_changed(self):
        expression = MetricExpression("ndcg", k=10)
        with pytest.raises(AttributeError):
            expression.k = 5


class TestWriting:
    @rows(
        ("value", "written"),
        [
            (True, "true"),
            (False, "false"),
            (3, "3"),
            (-3, "-3"),
            (0.5, "0.5"),
            (1e16, "1e+16"),
            ("gold-at-k", "gold-at-k"),
            ("true", '"true"'),
            ("3", '"3"'),
            ("", '""'),
            ("two words", '"two words"'),
            ('say "no"', r'"say \"no\""'),
            ("back\\slash", r'"back\\slash"'),
        ],
    )
    def test_values_are_written_so_that_they_read_back_as_themselves(self, value, written):
        assert f"m(x={written})" == str(MetricExpression("m", {"x": value}))

    def test_the_cutoff_is_written_last(self):
        assert "m(x=1)@10" == str(MetricExpression("m", {"x": 1}, k=10))


NAME_START = string.ascii_letters + string.digits + "_"
names = st.builds(str.__add__, st.sampled_from(NAME_START), st.text(NAME_START + ".-", max_size=8))
aliases = st.builds("retrieval-{}-at-{}".format, st.sampled_from(["x", "ndcg"]), st.integers(0, 99) | st.just("k"))
keys = st.builds(str.__add__, st.sampled_from(string.ascii_letters + "_"), st.text(NAME_START + ".-", max_size=8))
values = st.one_of(
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.text("\"'\\ ,()=@\n\t", max_size=8),
    st.sampled_from(["true", "false", "True", "10", "1e5", "-3", "nan", "inf", "gold-at-k", "a b"]),
)
ks = st.none() | st.integers(0, 2**60) | st.floats(0, 1e30)


@st.composite
def expressions(draw):
    name = draw(names | aliases)
    params = draw(st.dictionaries(keys, values, max_size=4))
    pins = name.rpartition("-at-")
    return MetricExpression(name, params, k=None if pins[0] and pins[2].isdigit() else draw(ks))


def kinds(expression):
    return [type(value) for _, value in expression.params], type(expression.k)


class TestLaws:
    @given(expressions())
    def test_what_is_written_reads_back_as_the_same_expression(self, expression):
        found = parse(str(expression))
        assert expression == found
        assert kinds(expression) == kinds(found)

    @given(expressions())
    def test_writing_is_canonical(self, expression):
        assert str(expression) == str(parse(f"  {expression} "))

    @given(st.text(max_size=30) | st.text("ndcg(=,)@5'\" \\", max_size=20))
    def test_any_text_is_either_read_or_refused_with_a_position_inside_it(self, text):
        found, error = outcome(text)
        if error is None:
            assert found == [parse(str(each)) for each in found]
        else:
            assert 0 <= error.position <= len(text)

    @given(st.text(max_size=20))
    def test_a_safe_name_holds_nothing_but_lower_case_letters_digits_and_underscores(self, text):
        found = safe_name(text)
        assert set(found) <= set(string.ascii_lowercase + string.digits + "_")
        assert found
        assert found == safe_name(found)


@rows(
    ("name", "safe"),
    [
        ("ndcg@10", "ndcg_at_10"),
        ("P(rel=2)@5", "p_rel2_at_5"),
        ("retrieval-ndcg-at-k", "retrieval_ndcg_at_k"),
        ("ndcg(clamp=true, gain=exponential)@10", "ndcg_clamptrue_exponential_at_10"),
        ("recall(matcher=chunk)@10", "recall_chunk_at_10"),
        ('EM(matcher="casefold > equal")', "em_casefold_equal"),
        ("gain=high", "gainhigh"),
        ("My column!", "my_column"),
        ("文書", "metric"),
        ("", "metric"),
    ],
)
def test_safe_names(name, safe):
    assert safe == safe_name(name)
