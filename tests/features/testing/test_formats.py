from types import SimpleNamespace

import pytest

from rankgauge.plugin import DataError, Record, hookimpl, reader, reporter
from rankgauge.testing import check_plugin


def plugin(*, read=None, report=None):
    """Return a plugin with a reader or a reporter that calls a function."""
    hooks = {}
    if read is not None:

        @reader("mine", suffixes=(".mine",))
        def read_mine(source):
            """Read."""
            return read(source)

        hooks["rankgauge_readers"] = hookimpl(specname="rankgauge_readers")(lambda: [read_mine])
    if report is not None:

        @reporter("mine", suffix=".txt")
        def report_mine(result):
            """Report."""
            return report(result)

        hooks["rankgauge_reporters"] = hookimpl(specname="rankgauge_reporters")(lambda: [report_mine])
    return SimpleNamespace(**hooks)


def lines(source):
    for number, line in enumerate(source.stream, 1):
        try:
            yield Record({"id": line.decode()}, number)
        except UnicodeDecodeError as error:
            raise DataError("cannot read it:", [str(error)]) from error


def exiting(_):
    raise SystemExit(0)


def test_a_reader_and_a_reporter_that_keep_to_the_contract_pass():
    report = check_plugin(plugin(read=lines, report=lambda result: f"{result['hit@1'].mean}"))
    assert report.ok
    assert [each.holds for each in report] == [("tiny-files",), ("tiny-results",)]


@pytest.mark.parametrize(
    ("read", "reason"),
    [
        (exiting, "for an empty file it raised SystemExit: 0"),
        (
            lambda source: [Record(source.stream.read().decode())],
            "for bytes that are no text it raised UnicodeDecodeError",
        ),
        (lambda source: [1 / len(source.stream.read())], "for an empty file it raised ZeroDivisionError"),
        (lambda _source: [{"id": "q"}], "for an empty file it yielded {'id': 'q'} where a rankgauge.plugin.Record"),
        (lambda _source: None, "for an empty file it raised TypeError"),
    ],
)
def test_a_reader_that_breaks_the_contract_is_told_with_which_file(read, reason):
    report = check_plugin(plugin(read=read))
    assert report.broken == {"mine": ("tiny-files",)}
    assert report["mine"]["tiny-files"].reason.startswith(reason)


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        (exiting, "SystemExit: 0"),
        (lambda _result: b"bytes", "it returned b'bytes' where a text is needed"),
        (
            lambda result: "".join(error.missing for error in result.errors),
            "for samples without a score: reporter 'mine'",
        ),
        (lambda result: f"{next(iter(result.metrics.values())).mean:.3f}", "whose mean is None: reporter 'mine'"),
        (lambda _result: "half of \ud83d", "it returned a text that cannot be written as UTF-8"),
    ],
)
def test_a_reporter_that_breaks_the_contract_is_told_with_which_result(report, reason):
    found = check_plugin(plugin(report=report))
    assert found.broken == {"mine": ("tiny-results",)}
    assert reason in found["mine"]["tiny-results"].reason
