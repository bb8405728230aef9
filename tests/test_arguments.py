"""Types of options, as commands of plugins use them too."""

import argparse
from pathlib import Path

import pytest

from rankgauge import arguments
from tables import rows

REFUSED = [
    (arguments.path, ""),
    (arguments.path, "a\0b"),
    (arguments.finite, "inf"),
    (arguments.finite, "nan"),
    (arguments.finite, "one"),
    (arguments.share, "most"),
    (arguments.share, "nan%"),
    (arguments.inner_share, "0"),
    (arguments.inner_share, "1"),
    (arguments.whole_number(1), "0"),
    (arguments.whole_number(1), "1.5"),
]


@pytest.mark.parametrize(
    ("read", "written", "value"),
    [
        (arguments.path, "a/b.jsonl", Path("a/b.jsonl")),
        (arguments.finite, "-1.5", -1.5),
        (arguments.share, "90%", 0.9),
        (arguments.share, "1", 1.0),
        (arguments.inner_share, "5%", 0.05),
        (arguments.whole_number(0), "0", 0),
    ],
)
def test_a_value_is_read(read, written, value):
    assert read(written) == value


@rows(("read", "written"), REFUSED)
def test_what_is_no_such_value_is_refused_with_what_was_typed(read, written):
    with pytest.raises(argparse.ArgumentTypeError, match=r"takes|share"):
        read(written)


def test_an_option_for_json():
    parser = argparse.ArgumentParser()
    arguments.add_json(parser)
    assert parser.parse_args(["--json"]).as_json is True
    assert parser.parse_args([]).as_json is False
