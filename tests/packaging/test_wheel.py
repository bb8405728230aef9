"""Which rankgauge the tests are run against: the sources, or under `make test WHEEL=1` the wheel."""

import os
from pathlib import Path

import rankgauge
import rankgauge_example

ROOT = Path(__file__).parent.parent.parent


def test_the_tests_run_against_what_they_are_meant_to_test():
    home = Path(rankgauge.__file__).resolve().parent
    if "RANKGAUGE_TEST_WHEEL" in os.environ:
        assert "site-packages" in home.parts
        assert not (ROOT / "src").exists()
        assert "site-packages" in Path(rankgauge_example.__file__).parts
    else:
        assert (ROOT / "src" / "rankgauge").resolve() == home
