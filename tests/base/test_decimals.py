"""The notation of numbers, which every reader shares."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import in_thorough_suite
from rankgauge.base.plain_text import NUMBER, read_number, read_share
from tables import rows


@in_thorough_suite()
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_writes_is_read_to_the_last_bit(number):
    assert read_number(repr(number).encode()) == number


@pytest.mark.parametrize("text", ["1", "-1", "+1.", ".5", "1e5", "1.5E-3", "007"])
def test_decimal_numbers_with_or_without_sign_point_and_exponent(text):
    assert read_number(text.encode()) == float(text)
    assert NUMBER.fullmatch(text)


@rows("text", ["", ".", "-", "e5", "1e", "1_000", " 1", "nan", "inf", "0x1", "1,5", "\u0663"])
def test_other_texts_are_not_numbers(text):
    assert math.isnan(read_number(text.encode()))
    assert not NUMBER.fullmatch(text)


def test_a_number_that_is_too_large_for_a_float_is_not_finite():
    assert math.isnan(read_number(b"1e999"))


@pytest.mark.parametrize(
    ("written", "share"),
    [("0.1", 0.1), ("10%", 0.1), ("0.7%", 0.007), ("7e-1%", 0.007), (" 2.5 % ", 0.025), ("1", 1.0), ("150%", 1.5)],
)
def test_a_share_is_a_number_or_a_percentage(written, share):
    assert share == read_share(written)


@pytest.mark.parametrize("written", ["", "%", "ten", "10%%", "10 percent", "nan", "1_0%"])
def test_what_is_no_share_is_refused(written):
    with pytest.raises(ValueError, match="a percentage such as 10%"):
        read_share(written)
