"""
The pytest plugin: tests log rankings, which gates judge for each test and for the session.

It is inert until a test uses the fixture `rankgauge_eval` or the marker `rankgauge`, or an option is given: until then
it loads nothing of rankgauge's engine and prints nothing.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rankgauge.errors import ParameterError, RankgaugeError
from rankgauge.features.pytest_plugin.eval_fixture import RankgaugeEval

if TYPE_CHECKING:
    from rankgauge.features.pytest_plugin.logged_gates import Scoring
    from rankgauge.gates.asked import Asked
    from rankgauge.gates.grammar import Gate

__all__ = ["RankgaugeEval"]

_MARKER = (
    "rankgauge(metrics=None, gates=None): score what the test logs with the fixture rankgauge_eval, and fail it if "
    "it misses a gate such as {'ndcg@10': 0.42} or 'ndcg@10 >= 0.42'"
)
_OPTIONS = ("rankgauge_min", "rankgauge_max", "rankgauge_metric", "rankgauge_json")
_ORIGIN = "@pytest.mark.rankgauge"

_scoring_key = pytest.StashKey["Scoring"]()
_logged_key = pytest.StashKey[RankgaugeEval]()
_asked_key = pytest.StashKey["Asked"]()
_gates_key = pytest.StashKey[list[dict[str, Any]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("rankgauge", "rankings logged with the fixture rankgauge_eval")
    repeatable = {
        "min": "fail the session if a metric's mean over all logged samples is below a number, such as ndcg@10=0.42",
        "max": "the same if lower is better: fail the session if the mean is above a number",
        "metric": "compute a metric over all logged samples, without a gate",
    }
    for name, text in repeatable.items():
        written = "METRIC" if name == "metric" else "METRIC=NUMBER"
        group.addoption(f"--rankgauge-{name}", action="append", default=[], metavar=written, help=f"{text}; repeatable")
    group.addoption("--rankgauge-json", metavar="PATH", help="write the session's scores and gates to a JSON file")
    group.addoption(
        "--rankgauge-config",
        metavar="PATH",
        help="a rankgauge config whose metrics, matchers, policy and default cutoff apply (ini: rankgauge_config)",
    )
    parser.addini("rankgauge_config", "as --rankgauge-config, relative to the ini file", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; if an option asks for the session's scores, resolve it and start gathering."""
    config.addinivalue_line("markers", _MARKER)
    if not _is_session_wanted(config) or hasattr(config, "workerinput"):
        return
    from rankgauge.features.pytest_plugin.logged_gates import read_gates  # the plugin loads nothing before it is used
    from rankgauge.features.pytest_plugin.session_gates import Session

    option = config.option
    try:
        gates = read_gates(option.rankgauge_min, origin="--rankgauge-min", side="minimum")
        gates += read_gates(option.rankgauge_max, origin="--rankgauge-max", side="maximum")
        scoring = _scoring(config)
        asked = scoring.ask(option.rankgauge_metric, gates)
    except RankgaugeError as error:
        raise pytest.UsageError(str(error)) from None
    path = config.invocation_params.dir / option.rankgauge_json if option.rankgauge_json else None
    config.pluginmanager.register(Session(scoring, asked, path), "rankgauge-session")


@pytest.fixture
def rankgauge_eval(request: pytest.FixtureRequest) -> RankgaugeEval:
    """Log what was retrieved and expected for each query: rankgauge_eval.log(id, retrieved=[...], expected=[...])."""
    node: pytest.Item = request.node
    logged = RankgaugeEval(node.nodeid, _scoring(request.config))
    node.stash[_logged_key] = logged
    return logged


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Resolve the metrics and gates of a test before it runs."""
    if item.get_closest_marker("rankgauge") is None:
        return
    try:
        item.stash[_asked_key] = _scoring(item.config).ask(*_marked(item))
    except RankgaugeError as error:
        flaw = str(error)
    else:
        return
    pytest.fail(flaw, pytrace=False)  # outside of `except`, whose error would be printed, too


@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Judge the gates of a test, which pytest's own implementation has run by now without a failure."""
    asked = item.stash.get(_asked_key, None)
    if asked is not None:
        _judge(item, asked)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put what a test logged into the report of its teardown, if the session wants it."""
    report = yield
    logged = item.stash.get(_logged_key, None)
    if call.when == "teardown" and logged is not None and _is_session_wanted(item.config):
        from rankgauge.features.pytest_plugin.session_gates import ATTRIBUTE

        asked = item.stash.get(_asked_key, None)
        payload = {
            "samples": logged.samples,
            "metrics": [spec for spec in (asked.specs if asked is not None else ()) if _travels(spec)],
            "gates": item.stash.get(_gates_key, []),
        }
        setattr(report, ATTRIBUTE, json.dumps(payload))
    return report


def _travels(spec: object) -> bool:
    """Return whether a metric can be sent to another process, which a function cannot."""
    if isinstance(spec, dict):
        return all(isinstance(value, str | int | float | list | None) for value in spec.values())
    return isinstance(spec, str)


def _is_session_wanted(config: pytest.Config) -> bool:
    return any(config.getoption(name) for name in _OPTIONS)


def _scoring(config: pytest.Config) -> Scoring:
    """Return this process's `Scoring`, made when first used."""
    scoring = config.stash.get(_scoring_key, None)
    if scoring is None:
        from rankgauge.features.pytest_plugin.logged_gates import Scoring

        scoring = config.stash[_scoring_key] = Scoring(_config_path(config))
    return scoring


def _config_path(config: pytest.Config) -> Path | None:
    if given := config.getoption("rankgauge_config"):
        return config.invocation_params.dir / str(given)
    ini = str(config.getini("rankgauge_config"))
    return (config.inipath.parent if config.inipath is not None else config.rootpath) / ini if ini else None


def _marked(item: pytest.Item) -> tuple[list[Any], list[Gate]]:
    """Return the metrics and gates of a test's markers; the nearest first, which win for a metric that several have."""
    from rankgauge.features.pytest_plugin.logged_gates import read_gates

    metrics: list[Any] = []
    gates: list[Gate] = []
    for mark in item.iter_markers("rankgauge"):
        stray = [*map(repr, mark.args), *(f"{name}=" for name in mark.kwargs if name not in {"metrics", "gates"})]
        if stray:
            advice = "write gates={'ndcg@10': 0.42}"
            raise ParameterError(f"{_ORIGIN} takes metrics= and gates=, not {stray[0]}; {advice}")
        given = mark.kwargs.get("metrics")
        listed = isinstance(given, Sequence) and not isinstance(given, str)
        metrics += [] if given is None else list(given) if listed else [given]
        gates += read_gates(mark.kwargs.get("gates"), origin=_ORIGIN)
    return metrics, gates


def _judge(item: pytest.Item, asked: Asked) -> None:
    __tracebackhide__ = True
    logged = item.stash.get(_logged_key, None)
    if not asked.gates and (logged is None or not len(logged)):
        return
    from rankgauge.features.pytest_plugin.logged_gates import failure_text

    samples = () if logged is None else logged.samples
    judgment = _scoring(item.config).judge(samples, asked)
    if judgment.result is not None:
        for name, column in judgment.result.metrics.items():
            item.user_properties.append((f"rankgauge {name}", column.mean))
    item.stash[_gates_key] = [{"scope": item.nodeid, **outcome.to_dict()} for outcome in judgment.outcomes]
    if judgment.failed:
        text = failure_text(judgment, 0 if logged is None else len(logged))
        if logged is None:
            text += "\n  the test has gates but does not use the fixture rankgauge_eval"
        pytest.fail(text, pytrace=False)
