"""What decides which tests run, for those of the project and those of its plugins: `tests/suites.py`."""

pytest_plugins = ["suites"]
