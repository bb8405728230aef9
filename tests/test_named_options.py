"""Options that are taken as `**options` are listed like others, and refused by name."""

from __future__ import annotations

import inspect
import pydoc

import pytest

from rankgauge import Engine, Evaluation, compare, evaluate, prediction_powered
from rankgauge.engine.run_options import Calls, RunArguments
from rankgauge.engine.runs import RunConventions
from rankgauge.errors import DeclarationError, ParameterError
from rankgauge.plugin import metric, sample_metric
from rankgauge.plugin.metric_decorators import MetricOptions
from rankgauge.typing import CallOptions, MethodOptions

RESULT = evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, "mrr")
EVALUATION = Engine().dataset([{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}]).with_metrics("mrr")


def told(function: object) -> list[str]:
    """Return the arguments that a docstring describes, in order."""
    described = inspect.getdoc(function).partition("Args:\n")[2].partition("\n\nReturns:")[0]
    return [line.partition(":")[0].strip() for line in described.splitlines() if line[4:5].strip()]


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (Evaluation.run, CallOptions),
        (compare, MethodOptions),
        (prediction_powered, RunConventions),
        (evaluate, RunConventions),
        (metric, MetricOptions),
    ],
)
def test_every_option_is_listed_with_its_default_and_described(function, options):
    parameters = inspect.signature(function).parameters
    names = [name for name in parameters if name != "self"]
    assert told(function) == names
    assert set(options.__annotations__) < set(names)
    assert all(parameters[name].default is not inspect.Parameter.empty for name in options.__annotations__)
    assert all(f"{name}: " in pydoc.render_doc(function) for name in names)


def test_defaults_are_those_that_hold():
    assert inspect.signature(Evaluation.run).parameters["concurrency"].default == Calls(sut=print).concurrency == 8
    own, of_evaluate = (inspect.signature(function).parameters for function in (prediction_powered, evaluate))
    assert all(own[name].default == of_evaluate[name].default for name in RunConventions.__annotations__)
    assert inspect.signature(compare).parameters["confidence"].default == compare({"a": RESULT, "b": RESULT}).confidence


@pytest.mark.parametrize("function", [Evaluation.run, compare, evaluate, prediction_powered, metric, sample_metric])
def test_what_is_written_takes_few(function):
    code = inspect.unwrap(function).__code__
    assert code.co_argcount + code.co_kwonlyargcount <= 10


def test_all_that_a_run_takes_is_an_argument_of_it():
    assert {*RunArguments.__annotations__, "progress", "self"} == set(inspect.signature(Evaluation.run).parameters)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: EVALUATION.run(concurency=2), r"run\(\) has no option 'concurency' \(did you mean 'concurrency'\?\)"),
        (lambda: EVALUATION.run(detials=True), r"run\(\) has no option 'detials' \(did you mean 'details'\?\)"),
        (lambda: EVALUATION.run(colour=1), r"run\(\) has no option 'colour'$"),
        (lambda: RESULT.compare(RESULT, tset="t"), r"compare\(\) has no option 'tset' \(did you mean 'test'\?\)"),
        (
            lambda: prediction_powered({}, "mrr", judgments={}, human={}, profil="trec"),
            r"prediction_powered\(\) has no option 'profil' \(did you mean 'profile'\?\)",
        ),
        (
            lambda: evaluate({}, {}, "mrr", profil="trec"),
            r"evaluate\(\) has no option 'profil' \(did you mean 'profile'\?\)",
        ),
        (lambda: compare({"a": RESULT, "b": RESULT}, claim=None), r"compare\(\) has no option 'claim'"),
        (lambda: RESULT.compare(RESULT, confidance=0.9), r"compare\(\) has no option 'confidance' \(did you mean"),
    ],
)  # fmt: skip
def test_an_unknown_option_is_refused_by_name(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


@pytest.mark.parametrize("declare", [metric, sample_metric])
def test_an_unknown_option_of_a_declaration_is_refused_before_a_function_is_there(declare):
    message = rf"{declare.__name__}\(\) has no option 'golds' \(did you mean 'gold'\?\)"
    with pytest.raises(DeclarationError, match=message):
        declare("retrieval-mine", golds="relevant")


def test_the_easy_form_of_a_declaration_takes_what_the_fast_one_does():
    fast, easy = inspect.signature(metric), inspect.signature(sample_metric)
    assert fast.parameters == easy.parameters
    assert (fast.parameters["undefined"].default, fast.parameters["range"].default) == (
        "the ground truth has no relevant item",
        (0.0, 1.0),
    )


def test_a_catalog_is_no_matter_of_the_options_of_a_caller():
    """What a caller passes by a mapping is left as it is."""
    options = {"catalog": None, "seed": 3}
    assert compare({"a": RESULT, "b": RESULT}, **options).seed == 3
    assert options == {"catalog": None, "seed": 3}
