"""Reading numbers as columns, exactly as `float` reads them."""

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from rankgauge.columns import Slices
from rankgauge.io.trec.decimal_texts import parse_floats
from tables import rows

FIXED = st.tuples(st.integers(0, 99_999_999), st.integers(0, 9)).map(lambda pair: f"{pair[0]}.{pair[1]:06d}")
DIGITS = st.tuples(st.integers(0, 99_999_999), st.integers(0, 10**11 - 1), st.integers(1, 16)).map(
    lambda parts: f"{parts[0]}.{str(parts[1])[: parts[2]]}"
)
WRITTEN = st.one_of(
    FIXED,
    DIGITS,
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(0, 1000, width=32).map(repr),
    st.integers(-(10**12), 10**12).map(str),
    st.floats(-100, 100).map(lambda value: f"{value:.6f}"),
    st.sampled_from(["1e-3", "2.5E-3", "+1.5", ".5", "5.", "-.5", "0", "-0", "-0.0", "1e-320", "007", "1.000000"]),
)


@given(st.lists(WRITTEN, max_size=40))
def test_numbers_are_read_to_the_last_bit(texts):
    values, wrong = parse_floats(Slices.of([text.encode() for text in texts]))
    assert wrong.tolist() == []
    assert [value.hex() for value in values.tolist()] == [float(text).hex() for text in texts]


@given(st.lists(st.integers(10**15, 10**16 - 1), min_size=1, max_size=60), st.integers(9, 16))
def test_sixteen_and_more_digits_are_rounded_correctly(mantissas, decimals):
    """What float32 scores look like once they are printed as doubles."""
    texts = [f"{mantissa % 10**3}.{mantissa:016d}"[: decimals + 4] for mantissa in mantissas]
    values, _ = parse_floats(Slices.of([text.encode() for text in texts]))
    assert [value.hex() for value in values.tolist()] == [float(text).hex() for text in texts]


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=60))
def test_the_shortest_form_of_a_double_comes_back(numbers):
    values, _ = parse_floats(Slices.of([repr(number).encode() for number in numbers]))
    assert values.tolist() == numbers


def test_halves_between_two_doubles_go_to_the_even_one():
    """9007199254740993 is 2**53 + 1, and lies between two doubles; so does a quarter of it, with two decimals."""
    texts = ["90071992.54740993", "2251799813685248.25", "2251799813685248.75", "4503599627370496.5"]
    values, wrong = parse_floats(Slices.of([text.encode() for text in texts]))
    assert wrong.tolist() == []
    assert values.tolist() == [float(text) for text in texts]


@rows("decimals", range(8, 17))
def test_numbers_next_to_a_tie_below_a_power_of_two_are_rounded_correctly(decimals):
    """Doubles below 2**n lie half as far apart as above it, so that ties are a quarter of a step away from 2**n."""
    ties = [(Fraction(2) ** power - Fraction(2) ** (power - 54)) * 10**decimals for power in range(-20, 27)]
    digits = [str(int(tie) + step).zfill(decimals + 1) for tie in ties for step in (-1, 0, 1, 2)]
    texts = [f"{each[:-decimals]}.{each[-decimals:]}" for each in digits if len(each) < 20]
    values, _ = parse_floats(Slices.of([text.encode() for text in texts]))
    assert [value.hex() for value in values.tolist()] == [float(text).hex() for text in texts]


@given(
    st.lists(st.tuples(st.integers(2**53, 2**54 - 1), st.integers(-1, 26), st.booleans()), min_size=1, max_size=60),
    st.integers(8, 16),
)
def test_decimals_next_to_any_tie_are_rounded_correctly(drawn, decimals):
    """An odd multiple of half a step lies between two doubles; the nearest decimals lie on either side of it."""
    ties = [(Fraction(whole | 1) * Fraction(2) ** (power - 53) * 10**decimals, up) for whole, power, up in drawn]
    digits = [str(int(tie) + up).zfill(decimals + 1) for tie, up in ties]
    texts = [f"{each[:-decimals]}.{each[-decimals:]}" for each in digits if len(each) < 20]
    values, _ = parse_floats(Slices.of([text.encode() for text in texts]))
    assert [value.hex() for value in values.tolist()] == [float(text).hex() for text in texts]


def test_numbers_within_a_millionth_of_a_tie_are_rounded_correctly():
    texts = ["85245311.54555016011", "3337636.596668535145", "2107.19041654302805", "598.6165158906927104"]
    values, _ = parse_floats(Slices.of([text.encode() for text in texts]))
    assert values.tolist() == [float(text) for text in texts]


def test_what_is_no_finite_number_is_named():
    texts = [
        b"1.5",
        b"nan",
        b"2.5",
        b"inf",
        b"-inf",
        b"1_0",
        b"1.2.3",
        b"x",
        b"1e999",
        b"0x10",
        b"--1",
        b"1.5x",
        b"3.5",
    ]
    values, wrong = parse_floats(Slices.of(texts))
    assert wrong.tolist() == [1, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    assert [value for value in values.tolist() if math.isfinite(value)] == [1.5, 2.5, 3.5]


def test_digits_are_told_from_their_neighbours_in_the_table_of_characters():
    """`/` and `:` stand on either side of the digits."""
    texts = [b"1.25", b"1.2/", b"1.2:", b"/.25", b":.25", b"1/25", b"a.25", b"1.2a"]
    assert parse_floats(Slices.of(texts))[1].tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_nothing_is_read_as_nothing():
    values, wrong = parse_floats(Slices.of([]))
    assert (len(values), len(wrong)) == (0, 0)
