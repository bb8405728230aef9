"""How errors of several problems list them."""

from __future__ import annotations

from rankgauge.errors import ConfigError, DataError, Problem


def lines(problems):
    return [line.strip() for line in str(DataError("d cannot be used:", problems)).splitlines()[1:]]


def test_many_problems_that_differ_in_numbers_alone_are_counted_after_five():
    ids = [Problem(f"k is {n}, not 1 or more", "d", n) for n in range(1, 10)]
    others = [Problem("an id is missing", "d", n) for n in (20, 21)]
    assert [
        *(f"d:{n}: k is {n}, not 1 or more" for n in range(1, 6)),
        "... and 4 more of this kind",
        "d:20: an id is missing",
        "d:21: an id is missing",
    ] == lines([*ids, *others])


def test_eight_alike_are_listed_and_so_are_problems_without_a_place():
    assert [f"d:{n}: odd" for n in range(8)] == lines([Problem("odd", "d", n) for n in range(8)])
    metrics = [f"unknown metric 'ndcgg@{n}'" for n in range(12)]
    assert metrics == lines(metrics)


def test_what_is_alike_leaves_room_for_the_others():
    """Sixty of one kind take five lines, so that 45 of the others come before the last count."""
    alike = [Problem("odd", "d", n) for n in range(60)]
    others = [Problem(f"odd {chr(97 + n % 26)}{'x' * n}", "d", n) for n in range(47)]
    listed = lines([*alike, *others])
    assert "... and 55 more of this kind" == listed[5]
    assert "... and 2 more" == listed[-1]
    assert 5 + 1 + 45 + 1 == len(listed)
    assert 107 == len(ConfigError("d cannot be used:", [*alike, *others]).problems)
