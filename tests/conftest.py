"""What all tests share: ways to score small things with rankgauge's own plugins only."""

from __future__ import annotations

import functools
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import rankgauge.features.testing.law_checks
from draws import is_thorough
from fake_plugins import FakePlugins
from rankgauge.catalog import Catalog, discovery
from rankgauge.columns import Judged
from rankgauge.engine.engine import Engine
from rankgauge.engine.sample_score import SampleScore
from rankgauge.features.testing.law_checks import broken_by
from rankgauge.judging import Target, judge
from rankgauge.policy import PROFILES, Profile
from rankgauge.samples import Sample, read_expected, read_output

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests, and the processes they start, are interrupted

collect_ignore = [] if os.environ.get("RANKGAUGE_BROWSER") else ["browser"]  # `make test-browser` runs these

Scorer = Callable[..., SampleScore]
Judger = Callable[..., Judged]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """Search for no garbage while tests are collected: nearly all of what that makes stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    """Return rankgauge's own plugins, whatever else is installed."""
    return Catalog.discover(own_only=True)


@pytest.fixture(scope="session", autouse=True)
def _installed_read_once() -> Iterator[None]:
    """Read what is installed once, and not for every catalog; a test's own plugins are on a path of their own."""
    read, usual = discovery.further_points, sys.path[:]
    once = functools.cache(read)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discovery, "further_points", lambda: once() if sys.path == usual else read())
        yield


@pytest.fixture(autouse=True)
def _logging_as_found() -> Iterator[None]:
    """Leave no handler of a command behind, whose stream ends with its test."""
    root = logging.getLogger("rankgauge")
    before = (root.handlers[:], root.level)
    yield
    root.handlers[:], root.level = before[0], before[1]


@pytest.fixture
def first_example(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the quick suite, let laws tell the first example that breaks them: to make it small takes most of the time."""
    if not is_thorough():

        def first(rule: Any, trial: Any, *, cases: int, shrink: bool) -> Any:
            return broken_by(rule, trial, cases=cases, shrink=False)

        monkeypatch.setattr(rankgauge.features.testing.law_checks, "broken_by", first)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakePlugins]:
    """Yield what adds distributions that last as long as the test."""
    plugins = FakePlugins(tmp_path, monkeypatch)
    yield plugins
    plugins.forget()


@pytest.fixture(scope="session")
def engine(catalog: Catalog) -> Engine:
    """Return an engine over `catalog`."""
    return Engine(catalog=catalog)


@pytest.fixture(scope="session")
def score(engine: Engine) -> Scorer:
    """Return a function that scores one metric on one sample."""

    def score_one(
        metric: str | Mapping[str, Any],
        expected: object,
        output: object,
        *,
        k: int | None = None,
        default_k: int | None = None,
        policy: Any = "default",
        details: bool = False,
    ) -> SampleScore:
        evaluation = engine.dataset([]).with_metrics([metric]).with_profile(policy)
        if default_k is not None:
            evaluation = evaluation.with_defaults(k=default_k)
        sample = {"id": "s", "expected_output": expected, "actual_output": output, "metadata": {"k": k}}
        (only,) = evaluation.score(sample, details=details).values()
        return only

    return score_one


@pytest.fixture(scope="session")
def judged() -> Judger:
    """Return a function that judges pairs of a ranking and its gold by id, as one batch."""

    def judge_pairs(*pairs: tuple[Sequence[Any], Any], profile: Profile = PROFILES["default"]) -> Judged:
        samples = [
            Sample(f"s{place}", expected=read_expected(gold), output=read_output(list(ranking)))
            for place, (ranking, gold) in enumerate(pairs)
        ]
        return judge(samples, Target("relevant"), profile).judged

    return judge_pairs
