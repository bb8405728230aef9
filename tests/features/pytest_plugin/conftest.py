"""What the tests of the pytest plugin share: projects in folders of their own, on rankgauge's own plugins."""

import pytest

import rankgauge.config
import rankgauge.features.pytest_plugin.logged_gates
import rankgauge.features.pytest_plugin.session_gates
import rankgauge.report  # noqa: F401  # pytester forgets what is first imported in a run, and halves of it would stay


@pytest.fixture(autouse=True)
def _own_plugins_only(monkeypatch):
    monkeypatch.setenv("RANKGAUGE_NO_PLUGINS", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)


@pytest.fixture
def project(pytester):
    """Return a pytester whose runs turn warnings into errors and know no marker but declared ones."""
    pytester.makeini(
        "[pytest]\naddopts = --strict-markers --strict-config -p no:cacheprovider\nfilterwarnings = error\n"
    )
    return pytester
