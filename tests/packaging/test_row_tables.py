"""A table that is one test: every row is tried, and a failure names each row that failed."""

import pytest

from tables import rows


@rows("number", range(3))
@rows(("text", "length"), [("a", 1), pytest.param("bc", 2, id="two")])
def test_rows_have_their_values_and_tables_multiply(score, number, text, length):
    assert len(text) == length
    assert number in {0, 1, 2}
    assert callable(score)


@pytest.mark.parametrize(
    ("values", "ids", "named"),
    [
        ([1, 2, 3, 4], None, "2 of 4 rows failed: number=2; number=4"),
        ([1, 2, pytest.param(4, id="four")], None, "2 of 3 rows failed: number=2; four"),
        ([1, 2, 3], ["one", "two", "three"], "1 of 3 rows failed: two"),
        (iter([2]), lambda number: number * 10, "1 of 1 rows failed: 20"),
        ([10**5000], None, "1 of 1 rows failed: number, which cannot be written (ValueError)"),
        ([1, "x"], None, "1 of 2 rows failed: number='x'"),
    ],
)
def test_every_row_is_tried_and_those_that_fail_are_named(values, ids, named):
    tried = []

    @rows("number", values, ids=ids)
    def is_odd(number):
        tried.append(number)
        assert number % 2 == 1

    with pytest.raises(ExceptionGroup) as failure:
        is_odd()
    assert failure.value.message == named
    assert len(tried) == int(named.split()[2])
    assert all(fault.__notes__[-1].startswith("row: ") for fault in failure.value.exceptions)


def test_each_failure_keeps_its_own_message():
    @rows("number", [1, 2])
    def is_none(number):
        assert number is None, f"it is {number}"

    with pytest.raises(ExceptionGroup) as failure:
        is_none()
    assert [str(fault).splitlines()[0] for fault in failure.value.exceptions] == ["it is 1", "it is 2"]


@pytest.mark.parametrize("ends", [pytest.fail, pytest.skip])
def test_a_row_that_fails_by_a_call_or_is_skipped_fails_and_hides_no_other(ends):
    @rows("first", [1, 2])
    @rows("second", [3, 4])
    def end(first, second):
        if first == 1:
            ends("no")
        assert second == 3

    with pytest.raises(BaseExceptionGroup, match="2 of 2 rows failed: first=1; first=2") as failure:
        end()
    assert [len(fault.exceptions) for fault in failure.value.exceptions] == [2, 1]


def test_ctrl_c_ends_all_rows():
    @rows("number", [1, 2])
    def interrupted(number):
        assert number == 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()


def test_fixtures_that_rows_would_share_and_marks_are_refused():
    def writes(number, tmp_path):
        pass

    with pytest.raises(TypeError, match="writes asks for tmp_path, which rows would share: use parametrize"):
        rows("number", [1])(writes)
    with pytest.raises(TypeError, match="a row has no marks"):
        rows("number", [pytest.param(1, marks=pytest.mark.thorough)])


@pytest.mark.parametrize("values", [[(1,)], [(1, 2, 3)]])
def test_a_row_of_another_length_is_refused(values):
    with pytest.raises(ValueError, match="zip"):
        rows("first, second", values)
