"""Measures of recommenders: values worked out by hand, and plain restatements of the formulas."""

from __future__ import annotations

import itertools
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankgauge_recsys
from draws import draws, in_thorough_suite
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.errors import PlanError
from rankgauge.testing import check_metric, check_plugin

CATALOG = Catalog.discover(own_only=True, plugins={"recsys": rankgauge_recsys})
ENGINE = Engine(catalog=CATALOG)

ITEMS = {
    "a": {"popularity": 0.5, "categories": ["drama"], "vector": [1, 0]},
    "b": {"popularity": 0.25, "categories": ["drama", "war"], "vector": [0, 2]},
    "c": {"popularity": 1, "categories": ["comedy"], "vector": [-3, 0]},
    "d": {"popularity": 0.125, "categories": ["war"], "vector": [3, 3]},
    "e": {},
}
USERS = ["abc", "bad", "ab"]
"""With two results each: a and b three times."""


@pytest.fixture
def items(tmp_path, monkeypatch):
    """Write the catalogue, and run where it is."""
    monkeypatch.chdir(tmp_path)
    rows = [json.dumps({"id": name, **item}) for name, item in ITEMS.items()]
    (tmp_path / "items.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return "items.jsonl"


def means(*metrics, users=USERS):
    rows = [
        {"id": f"u{place}", "expected_output": ["a"], "actual_output": list(ids)} for place, ids in enumerate(users)
    ]
    return [column.mean for column in ENGINE.dataset(rows).with_metrics(metrics).run().metrics.values()]


def test_coverage_by_hand(items):
    """Of a, b, c, d, e the first two results show a and b, the first three also c and d."""
    assert means(f"coverage(items={items})@2", f"coverage(items={items})@3", "coverage(size=8)@3") == [0.4, 0.8, 0.5]


def test_gini_by_hand(items):
    """Counts 0, 0, 0, 3, 3: ((2*4 - 6) * 3 + (2*5 - 6) * 3) / (5 * 6); with three results 0, 1, 1, 3, 3."""
    assert means(f"gini(items={items})@2", f"gini(items={items})@3") == pytest.approx([18 / 30, 16 / 40])


@pytest.mark.parametrize(("users", "expected"), [(["abcd"], 0.0), (["a", "a", "a"], 0.75), (["", ""], None)])
def test_gini_is_even_lopsided_or_nothing(users, expected):
    assert means("gini(size=4)@4", users=users) == [expected]


def test_items_outside_of_the_catalogue_do_not_count(items):
    assert means(f"coverage(items={items})@1", f"gini(items={items})@1", users=["a", "x", "y"]) == [0.2, 0.8]


def test_novelty_by_hand(items):
    """Bits: a 1, b 2, c 0, d 3; the mean of 1.5, 1.5 and of 1, 2, 0 and 2, 1, 3 and 1, 2."""
    assert means(f"novelty(items={items})@2") == [1.5]
    assert means(f"novelty(items={items})@3") == [pytest.approx((1.0 + 2.0 + 1.5) / 3)]


def test_distance_of_categories_by_hand(items):
    """Jaccard: a-b shares drama of two, a-c nothing, b-c nothing."""
    assert means(f"ild(items={items})@3", users=["abc"]) == [pytest.approx((0.5 + 1 + 1) / 3)]


def test_distance_of_vectors_by_hand(items):
    """Cosines: a-b 0, a-c -1, b-c 0, a-d the root of a half."""
    assert means(f"ild(items={items}, by=vector)@3", users=["abc"]) == [pytest.approx((1 + 2 + 1) / 3)]
    assert means(f"ild(items={items}, by=vector)@2", users=["ad"]) == [pytest.approx(1 - math.sqrt(0.5))]


@pytest.mark.parametrize("users", [["a"], [""]])
def test_fewer_than_two_items_have_no_distance(items, users):
    assert means(f"ild(items={items})@3", users=users) == [None]


def test_an_item_of_which_nothing_is_known_fails_its_sample(items):
    rows = [{"id": "u", "expected_output": ["a"], "actual_output": ["e", "a"]}]
    result = ENGINE.dataset(rows).with_metrics([f"novelty(items={items})@2", f"ild(items={items})@2"]).run()

    assert [column.status(0) for column in result.metrics.values()] == ["failed", "failed"]
    assert "items.jsonl gives no popularity of the item 'e'" in result.errors[0].reason


IDS = st.lists(st.sampled_from("abcdefgh"), max_size=6, unique=True).map("".join)


@given(users=st.lists(IDS, min_size=1, max_size=8), k=st.integers(1, 7))
def test_coverage_and_gini_equal_their_plain_restatements(users, k):
    """Gini as half the mean difference of two items' counts over the mean count."""
    shown = "".join(ids[:k] for ids in users)
    counts = [shown.count(name) for name in "abcdefghij"]
    differences = sum(abs(one - other) for one, other in itertools.product(counts, counts))
    expected = [sum(count > 0 for count in counts) / 10, differences / (2 * 10 * len(shown)) if shown else None]

    assert means(f"coverage(size=10)@{k}", f"gini(size=10)@{k}", users=users) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        ("coverage@10", "give the catalogue"),
        ("gini(size=3, items=items.jsonl)@10", "and not both"),
        ("coverage(size=-3)@10", "not -3"),
        ("novelty@10", "give what is known of the items"),
        ("novelty(items=absent.jsonl)@10", "cannot read the items 'absent.jsonl': No such file"),
    ],
)
def test_what_is_needed_is_said_before_data_are_read(items, metric, says):
    with pytest.raises(PlanError, match=says):
        means(metric)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[1]", "an item is an object with an 'id'"),
        ("{", "no JSON"),
        ('{"id": "a", "popularity": 0}', "popularity is a share of users"),
        ('{"id": "a", "popularity": true}', "popularity is a share of users"),
        ('{"id": "a", "categories": "x"}', "categories is a list of strings"),
        ('{"id": "a", "vector": [0, 0]}', "not all of them 0"),
        ('{"id": "a", "vector": [1, NaN]}', "finite numbers"),
        ('{"id": "z"}\n{"id": "z"}', "the item 'z' is listed twice"),
        ("", "has no items"),
    ],
)
def test_items_that_cannot_be_read_are_named_with_their_line(tmp_path, monkeypatch, line, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "items.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(PlanError, match=r"items\.jsonl") as caught:
        means("coverage(items=items.jsonl)@2")

    assert says in str(caught.value)


def test_a_file_that_changes_is_read_again(items, tmp_path):
    before = means(f"coverage(items={items})@2")
    with (tmp_path / items).open("a", encoding="utf-8") as file:
        file.write('{"id": "f"}\n')

    assert (before, means(f"coverage(items={items})@2")) == ([0.4], [2 / 6])


def test_a_catalogue_that_is_too_small_gives_no_value(caplog):
    assert means("coverage(size=1)@2") == [None]
    assert "2 different items were retrieved, and the catalogue has 1" in caplog.text


@in_thorough_suite()
def test_plugin_obeys_the_laws():
    report = check_plugin(rankgauge_recsys, cases=draws(20))

    report.raise_if_broken()
    assert [each.name for each in report] == [
        *("catalogue-coverage-at-k", "catalogue-gini-at-k", "novelty-at-k", "intra-list-distance-at-k")
    ]
    assert not any(each.unusable for each in report)
    assert "parts" in report["catalogue-gini-at-k"].holds
    assert "tail" in report["novelty-at-k"].holds


@in_thorough_suite()
def test_distance_of_vectors_obeys_the_laws():
    check_metric("ild(by=vector)", cases=draws(20), catalog=CATALOG).raise_if_broken()
