import logging

import pytest

from fake_plugins import FakePlugins
from rankgauge.cli import call as _call


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    monkeypatch.delenv("RANKGAUGE_DISABLE_PLUGINS", raising=False)
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS", raising=False)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Adds distributions that last as long as the test."""
    plugins = FakePlugins(tmp_path, monkeypatch)
    yield plugins
    plugins.forget()


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
