import logging

import pytest

from rankgauge.cli import call as _call


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    monkeypatch.delenv("RANKGAUGE_DISABLE_PLUGINS", raising=False)
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS", raising=False)


@pytest.fixture
def command_line(capsys):
    """Calls the command line; returns exit code, stdout and stderr."""
    root = logging.getLogger("rankgauge")
    handlers, level = root.handlers[:], root.level

    def call(*arguments):
        code = _call(arguments, debug=False)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    yield call
    root.handlers[:] = handlers
    root.setLevel(level)
