"""Log lines of the command line, written out by hand."""

import io
import json
import logging
import sys

import pytest

from rankgauge.cli.log_lines import configure

logger = logging.getLogger("rankgauge.part")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def untouched():
    root = logging.getLogger("rankgauge")
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def logging_to(monkeypatch):
    def begin(form, stream):
        monkeypatch.setattr(sys, "stderr", stream)
        configure(level="info", form=form)
        return stream

    return begin


def test_people_see_level_message_logger_and_facts_in_order(logging_to):
    err = logging_to("console", io.StringIO())
    logger.warning("%d lines are odd", 2)
    logger.info("read", extra={"zeta": 1.5, "at": "line 3", "in": "a.jsonl", "odd": ["x\x1b"], "evil": "x\x1b"})
    logger.debug("not shown")
    assert err.getvalue() == (
        "[warning  ] 2 lines are odd [rankgauge.part]\n"
        "[info     ] read [rankgauge.part] at='line 3' evil=x\\x1b in=a.jsonl odd=['x\\x1b'] zeta=1.5\n"
    )


def test_terminals_get_colors(logging_to):
    err = logging_to("console", Terminal())
    logger.error("gone", extra={"n": 1})
    shown = "[{}1;31merror    {end}] {}1mgone{end} [{}1;34mrankgauge.part{end}] {}36mn{end}={}35m1{end}\n"
    assert err.getvalue() == shown.format(*["\x1b["] * 5, end="\x1b[0m")


def test_programs_get_an_object_a_line(logging_to):
    err = logging_to("json", Terminal())
    logger.warning("two\nlines", extra={"path": io, "n": None})
    (line,) = err.getvalue().splitlines()
    said = json.loads(line)
    assert said.pop("timestamp").endswith("Z")
    assert said == {"event": "two\\nlines", "level": "warning", "logger": "rankgauge.part", "path": repr(io), "n": None}


@pytest.mark.parametrize("form", ["console", "json"])
def test_errors_come_with_their_traceback_and_no_variables(logging_to, form):
    err = logging_to(form, io.StringIO())
    secret = {}
    try:
        secret["pass" + "word"]
    except KeyError:
        logger.exception("lookup failed \x1b[31m")
    lines = err.getvalue().splitlines()
    trace = json.loads(lines[0])["exception"].splitlines() if form == "json" else lines[1:]
    assert (trace[0], trace[-1]) == ("Traceback (most recent call last):", "KeyError: 'password'")
    assert "\x1b" not in err.getvalue()
    assert "locals" not in err.getvalue()
