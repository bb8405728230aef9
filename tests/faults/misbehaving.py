"""Plugins that do what no plugin should do: what they raise, where, and the text of a module that does it."""

from __future__ import annotations

__all__ = ["PLACES", "RAISES", "hostile_declarations", "misbehaving"]

RAISES = {
    "exit": "import sys; sys.exit(0)",
    "base": "raise BaseException('bare')",
    "generator exit": "raise GeneratorExit",
    "interrupt": "raise KeyboardInterrupt",
    "stop": "raise StopIteration",
    "speechless": "raise Speechless",
    "recursion": "recurse()",
    "memory": "raise MemoryError",
    "cancelled": "import asyncio; raise asyncio.CancelledError",
    "unprintable": "raise ValueError(Unprintable())",
}
"""What a plugin does, as a line of code."""

PLACES = (
    "import",
    "hook",
    "started",
    "finished",
    "metric",
    "check",
    "details",
    "defined",
    "matcher",
    "normalizer",
    "comparer",
    "comparer check",
    "prepare",
    "reader",
    "lazy reader",
    "reporter",
)
"""Where it does so."""

_MODULE = '''\
import numpy as np

from rankgauge.plugin import Record, comparer, hookimpl, metric, named_matcher, normalizer, reader, reporter


class Speechless(BaseException):
    def __str__(self):
        raise SystemExit(0)


class Unprintable:
    def __repr__(self):
        raise KeyboardInterrupt


def recurse():
    recurse()


def misbehave(place):
    if place == {wanted!r}:
        {what}


misbehave("import")


@metric(
    "bad-metric",
    details=lambda judged: misbehave("details"),
    check=lambda: misbehave("check"),
    defined=lambda judged: misbehave("defined") or np.ones(judged.n, dtype=bool),
)
def bad_metric(judged):
    """Misbehave."""
    misbehave("metric")
    return np.full(judged.n, np.nan) if {wanted!r} == "defined" else np.ones(judged.n)


@metric("bad-answer", gold="answer", judges="answer", matcher=lambda: misbehave("matcher") or "bad-matcher")
def bad_answer(judged):
    """Misbehave while the answer is matched."""
    return judged.found(1)


@normalizer("bad-normalizer", stage="fold")
def bad_normalizer(text):
    """Misbehave."""
    misbehave("normalizer")
    return text


@comparer(
    "bad-comparer",
    check=lambda: misbehave("comparer check"),
    prepare=lambda texts: misbehave("prepare"),
)
def bad_comparer(retrieved, gold):
    """Misbehave."""
    misbehave("comparer")
    return np.ones((len(retrieved), len(gold)))


@named_matcher("bad-matcher", "bad-normalizer > bad-comparer >= 1")
def bad_matcher():
    """Misbehave."""


@reader("bad-reader", suffixes=(".bad",))
def bad_reader(source):
    """Misbehave."""
    misbehave("reader")
    return lazily(source)


def lazily(source):
    yield Record({{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}}, 1)
    misbehave("lazy reader")


@reporter("bad-reporter", suffix=".txt")
def bad_reporter(result):
    """Misbehave."""
    misbehave("reporter")
    return "fine\\n"


@hookimpl
def rankgauge_metrics():
    misbehave("hook")
    return [bad_metric, bad_answer]


@hookimpl
def rankgauge_normalizers():
    return [bad_normalizer]


@hookimpl
def rankgauge_comparers():
    return [bad_comparer]


@hookimpl
def rankgauge_matchers():
    return [bad_matcher]


@hookimpl
def rankgauge_readers():
    return [bad_reader]


@hookimpl
def rankgauge_reporters():
    return [bad_reporter]


@hookimpl
def rankgauge_run_started(plan):
    misbehave("started")


@hookimpl
def rankgauge_run_finished(result):
    misbehave("finished")
'''


def misbehaving(place: str = "", what: str = "pass") -> str:
    """Return the text of a module that does something in one place, and elsewhere behaves."""
    return _MODULE.format(wanted=place, what=what)


hostile_declarations = '''\
from rankgauge.plugin import hookimpl, normalizer, reader


class Hostile:
    """Raises whatever it is asked."""

    def __getattribute__(self, name):
        raise GeneratorExit(name)

    def __repr__(self):
        raise SystemExit(0)


class Undocumented:
    """A function whose documentation cannot be had."""

    def __init__(self, function):
        self.__rankgauge__ = function.__rankgauge__

    def __repr__(self):
        raise KeyboardInterrupt


@normalizer("fine-normalizer", stage="fold")
def fine(text):
    """Do nothing."""
    return text


@reader("misnamed", suffixes=(".odd",))
def misnamed(source):
    """Read nothing."""
    return iter(())


object.__setattr__(misnamed.__rankgauge__, "name", 7)


@hookimpl
def rankgauge_metrics():
    return [Hostile(), 7, None]


@hookimpl
def rankgauge_normalizers():
    return [Hostile(), fine]


@hookimpl
def rankgauge_readers():
    return (misnamed,)


@hookimpl
def rankgauge_comparers():
    return Hostile()


@hookimpl
def rankgauge_reporters():
    return {"a": 1}
'''
