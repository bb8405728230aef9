"""What readers do with a report: filter, sort, open, link, and find their way by keyboard."""

from __future__ import annotations

import functools

import pytest

import rankgauge
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.features.html.html_report import gather
from rankgauge.features.html.page import lay_out

CATALOG = Catalog.discover(own_only=True)
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\u202e'\"&"


@functools.cache
def report(count: int = 40, runs: int = 2) -> str:
    """Return a report in which the first run has its relevant document at rank 3, others ever higher by turns."""
    qrels = {f"q{n:04}": {"a": 2, "b": 1, "c": 0} for n in range(count)}
    bodies = {}
    for run in range(runs):
        bodies[f"run{run}"] = {
            query: {"x": 9.0, "y": 8.0, "a": 9.5 if (n + run) % 3 == 0 and run else 7.0, "b": 6.0, "c": 5.0 - run}
            for n, query in enumerate(qrels)
        }
    return lay_out(gather(rankgauge.evaluate(qrels, runs=bodies, metrics=["ndcg@10", "RR", "P@5"])))


def test_the_list_is_filtered_by_words_and_by_what_changed(opened):
    page = opened(report())

    assert page.inner_text("#count") == "40 samples"
    page.click("[data-show=better]")
    assert page.inner_text("#count") == "13 of 40 samples"
    page.fill("#search", "q0002")
    assert page.inner_text("#count") == "1 of 40 samples"
    assert page.locator("#table tbody a").all_inner_texts() == ["q0002"]


def test_the_list_is_sorted_by_a_column_and_back(opened):
    page = opened(report())
    head = page.locator("#table thead button").first

    head.click()
    assert page.locator("#table tbody a").first.inner_text() == "q0000"
    assert page.locator("#table thead th").first.get_attribute("aria-sort") == "ascending"
    page.locator("#table thead button").first.click()
    assert page.locator("#table tbody a").first.inner_text() == "q0039"


def test_what_the_policy_dropped_is_said_beside_what_is_missing(opened):
    qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {"x": 9.0, "y": 8.0, "a": 7.0}}
    result = rankgauge.evaluate(qrels, run, ["RR@2"], policy={"depth": 2}, catalog=CATALOG)
    page = opened(lay_out(gather(result)), link="#sample=q")
    assert "dropped at 3" in page.inner_text("caption:has-text('ideal order') ~ tbody")
    assert page.locator(".mini tbody tr").all_inner_texts() == [
        "2\ta\t3, dropped by policy depth=2\t1",
        "1\tb\tnot found\t2",
    ]


def test_a_score_of_the_whole_output_shows_no_ranks(opened):
    samples = [
        {
            "id": f"q{n}",
            "metadata": {"answerable": n > 0},
            "expected_output": ["a"] if n else {},
            "actual_output": ["a"],
        }
        for n in range(2)
    ]
    page = opened(lay_out(gather(Engine(catalog=CATALOG).dataset(samples).with_metrics(["false_answers", "RR"]).run())))
    page.click("#table tbody a >> text=q0")
    assert page.inner_text("#lists") == "This score is one of the output as a whole, whatever its ranks hold."


def test_the_samples_that_changed_most_are_named_beside_the_scatter_and_open(opened):
    page = opened(report())

    # Of 40 samples, those numbered 2, 5, 8, ... up to 38 have their relevant document at rank 1 in the other run.
    assert page.locator("#far h3").all_inner_texts() == ["Won most: 5 of 13"]
    page.click("#far a >> text=q0038")
    assert page.inner_text("#one-h").startswith("q0038")


def test_one_sample_is_counted_in_the_singular(opened):
    page = opened(report(3))

    assert page.inner_text("#samples-h") == "ndcg@10: run1 is better on 1 sample, worse on 0, the same on 2"


def test_long_names_widen_no_table_beyond_the_page(opened):
    names = ["a-retriever-with-a-rather-long-name-of-2026", "another-retriever-with-a-name-as-long"]
    qrels = {f"q{n}": {"a": 1} for n in range(12)}
    runs = {name: {query: {"a": 1.0, "b": 2.0 * place} for query in qrels} for place, name in enumerate(names)}
    metrics = ["ndcg@10", "RR", "retrieval-recall-all-at-k@100"]
    page = opened(lay_out(gather(rankgauge.evaluate(qrels, runs=runs, metrics=metrics))))

    for table in ("#mt", "#sums table", "#far table"):
        beyond = "one => one.getBoundingClientRect().right - one.parentElement.getBoundingClientRect().right"
        assert page.locator(table).first.evaluate(beyond) < 1, table


def test_a_sample_opens_with_both_ranked_lists(opened):
    page = opened(report())
    page.fill("#search", "q0002")
    page.locator("#table tbody a").click()

    assert page.inner_text("#one-h").startswith("q0002")
    first, second = page.locator("#lists table").all()
    assert first.locator("tbody tr").count() == 5
    assert "grade 2" in first.locator("tbody tr").nth(2).inner_text()
    assert "grade 2" in second.locator("tbody tr").nth(0).inner_text()
    # nDCG of a at rank 3 and b at rank 4: (2/2 + 1/log2(5)) / (2 + 1/log2(3)) = 0.544.
    assert "0.544" in first.locator("tfoot").inner_text()
    assert page.url.endswith("#sample=q0002&metric=ndcg%4010")


def test_what_each_rank_adds_sums_to_the_score(opened):
    page = opened(report())
    for table in page.locator("#lists table").all():
        parts = [float(text) for text in table.locator("tbody td.s").all_inner_texts()]
        assert round(sum(parts), 3) == float(table.locator("tfoot td.n").last.inner_text())


def test_every_sample_of_many_opens_with_its_lists(opened):
    page = opened(report(7000, 3), link="#sample=q6999&metric=rr&run=run2")

    assert page.inner_text("#one-h").startswith("q6999")
    assert [table.locator("tbody tr").count() for table in page.locator("#lists table").all()] == [5, 5]
    # a at rank 3 in the baseline; in run2 (6999 + 2) % 3 is 2, so it stands there, too.
    assert [each.inner_text() for each in page.locator("#lists tfoot td.n").all()] == ["0.333", "0.333"]


def test_the_arithmetic_is_the_line_that_explain_prints(opened):
    metrics = ["ndcg@10", "RR", "AP", "P@5", "err@10", "rbp", "dcg@3"]
    qrels = {f"q{n}": {"a": 2, "b": 1, "c": 0, "d": 3} for n in range(5)}
    run = {q: {"x": 9.0, "d": 8.0 - n, "a": 7.0, "b": 6.0, "c": 1.0} for n, q in enumerate(qrels)}
    result = rankgauge.evaluate(qrels, run, metrics)
    page = opened(lay_out(gather(result)))

    for place, name in enumerate(result.metrics):
        page.select_option("#metric", str(place))
        for sample in ("q0", "q2"):
            page.evaluate("hash => { location.hash = hash; }", f"sample={sample}&metric={name}")
            page.wait_for_function("id => document.getElementById('one-h').textContent === id", arg=sample)
            shown = page.inner_text("#sums .math").split("run", 1)[1].strip()
            told = result.explain(sample, name).arithmetic
            assert shown == (told or "this score is no sum over ranks")


def test_what_moved_sums_to_the_difference(opened):
    page = opened(report(), link="#sample=q0002&metric=ndcg@10")
    moved = page.locator("#sums table").first
    effects = [float(text.replace("\u2212", "-")) for text in moved.locator("tbody td:last-child").all_inner_texts()]
    total = moved.locator("tfoot td").last.inner_text().replace("\u2212", "-")

    assert page.locator("#sums h3").all_inner_texts()[1] == "What moved"
    assert round(sum(effects), 3) == float(total) == float(page.inner_text("#one-sub b").replace("\u2212", "-"))


def test_a_text_opens_in_place_and_lines_follow(opened):
    rows = [
        {
            "id": "q",
            "input": "where does the boundary layer end",
            "expected_output": {"relevant": ["d2"]},
            "actual_output": [{"id": f"d{n}", "text": f"Title {n}\n{'words ' * 60}boundary"} for n in (1, 2)],
        }
    ]
    engine = Engine(catalog=CATALOG)
    turned = [{**rows[0], "actual_output": rows[0]["actual_output"][::-1]}]
    one, two = (engine.dataset(each).with_metrics(["RR"]).run() for each in (rows, turned))
    page = opened(lay_out(gather({"one": one, "two": two})))
    button = page.locator("#lists table").first.locator("button.t1").first
    before = page.locator(".join").last.get_attribute("d")

    assert page.locator("#lists .t2 mark").first.inner_text() == "boundary"
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    assert page.locator("#lists .full").first.is_visible()
    assert page.locator(".join").last.get_attribute("d") != before


def test_a_link_opens_its_sample_and_metric(opened):
    page = opened(report(), link="#sample=q0007&metric=rr")

    assert page.inner_text("#one-h").startswith("q0007")
    assert page.locator("#metric").input_value() == "1"
    assert "rr" in page.inner_text("#samples-h")


def test_the_worst_samples_named_above_open_theirs(opened):
    qrels = {f"q{n}": {"a": 1} for n in range(12)}
    runs = {
        name: {q: {"x": 2.0, "a": 1.0 if n < worse else 3.0} for n, q in enumerate(qrels)}
        for name, worse in (("old", 0), ("new", 4))
    }
    page = opened(lay_out(gather(rankgauge.evaluate(qrels, runs=runs, metrics=["RR", "P@1"]))))
    page.locator(".ask a").nth(2).click()

    assert page.inner_text("#one-h") == page.locator(".ask a").nth(2).inner_text()
    assert page.locator("#metric").input_value() == "0"


def test_another_metric_changes_every_view(opened):
    page = opened(report())
    page.locator("#mt input").nth(2).check()

    assert page.inner_text("#samples-h").startswith("p@5: ")
    assert page.locator("#metric").input_value() == "2"
    assert page.inner_text("#one-sub").startswith("p@5")


def test_bars_are_walked_selected_and_opened_by_keyboard(opened):
    page = opened(report())
    page.focus("#bars")
    page.keyboard.press("End")
    assert page.get_attribute("#bars", "aria-valuenow") == "40"
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    assert page.inner_text("#count") == "3 of 40 samples"
    page.keyboard.press("Enter")
    assert page.inner_text("#one-h") in page.get_attribute("#bars", "aria-valuetext")
    page.focus("#bars")
    page.keyboard.press("Escape")
    assert page.inner_text("#count") == "40 samples"


def test_dragging_over_bars_keeps_a_range(opened):
    page = opened(report())
    page.locator("#bars").scroll_into_view_if_needed()
    box = page.locator("#bars").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 60, steps=4)
    page.mouse.up()

    assert "of 40 samples" in page.inner_text("#count")
    page.click("#clear")
    assert page.inner_text("#count") == "40 samples"


def test_tab_reaches_the_skip_link_first_and_every_control(opened):
    page = opened(report())
    page.keyboard.press("Tab")

    assert page.evaluate("document.activeElement.className") == "skip"
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    assert {"metric", "bars", "search", "SUMMARY"} <= seen


def test_hostile_ids_texts_tags_and_names_are_shown_and_never_run(opened):
    samples = [
        {
            "id": f"{HOSTILE}{number}",
            "input": HOSTILE,
            "expected_output": {"passages": [HOSTILE]},
            "actual_output": [{"text": f"{HOSTILE} and more" if number else "other"}],
            "metadata": {"tags": [HOSTILE]},
        }
        for number in range(3)
    ]
    engine = Engine(catalog=CATALOG)
    metric = {"metric": "recall@5", "as": f"m{HOSTILE}"}
    one = engine.dataset(samples).with_metrics([metric]).run()
    two = engine.dataset(samples[:1] + samples[1:]).with_metrics([metric]).run()
    page = opened(lay_out(gather({f"a{HOSTILE}": one, f"b{HOSTILE}": two})))

    shown = HOSTILE.replace("\x1b", r"\x1b").replace("\u202e", r"\u202e")
    assert shown in page.inner_text("#one-h")
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2


@pytest.mark.parametrize("count", [10, 7000])
def test_small_and_large_sets_open(opened, count):
    page = opened(report(count, 3 if count > 1000 else 2))

    assert page.inner_text("#count") == f"{count:,} samples"
    assert page.locator("#table tbody tr[data-i]").count() <= 40
    page.evaluate("document.getElementById('scroll').scrollTop = 1e9")
    page.wait_for_function(
        "document.querySelector('#table tbody tr:last-child a, #table tbody tr:nth-last-child(2) a')"
    )
    assert page.locator("#table tbody tr[data-i]").count() <= 40


def test_the_compared_run_is_chosen_among_three(opened):
    page = opened(report(runs=3))
    page.select_option("#run", "2")

    assert "run2 is better" in page.inner_text("#samples-h")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 800, 420])
def test_both_colour_schemes_and_narrow_screens(opened, scheme, width):
    page = opened(report(), scheme=scheme, width=width)

    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(19, 22, 26)")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_one_run_alone(opened):
    qrels = {f"q{n}": {"a": 1} for n in range(50)}
    run = {query: {"x": 2.0, "a": 3.0 if n % 2 else 1.0} for n, query in enumerate(qrels)}
    page = opened(lay_out(gather(rankgauge.evaluate(qrels, run, ["RR"]))))

    assert page.inner_text("#samples-h") == "rr of 50 samples"
    assert page.locator("#scatter").count() == 0
    assert [each.inner_text() for each in page.locator("#lists caption").all()] == ["run", "ideal order"]
    assert page.locator("#lists table").nth(1).locator("tbody td.s").inner_text() == "rank 2"


def test_it_prints(opened):
    page = opened(report())
    page.emulate_media(media="print")

    assert not page.is_visible(".bar")
    assert page.is_visible("#mt")
    assert page.locator("#table tbody tr[data-i]:visible").count() == 20


def test_pointing_at_a_depth_reads_every_curve_there(opened):
    page = opened(report())
    first, second = (page.locator(".curve").nth(at) for at in range(2))
    assert first.locator("h3 .k").inner_text() == "5"  # rankings are five deep
    first.scroll_into_view_if_needed()
    box = first.locator("svg").bounding_box()
    page.mouse.move(box["x"] + 30, box["y"] + 80)

    # At rank 1 the baseline finds nothing, and the other run one of two relevant documents for 13 of 40 queries.
    assert [curve.locator("h3 .k").inner_text() for curve in (first, second)] == ["1", "1"]
    assert first.locator("h3 .num").all_inner_texts() == ["0.000", "0.163"]
    page.mouse.move(5, 5)
    assert first.locator("h3 .k").inner_text() == "5"


def test_where_nothing_was_measured_the_page_says_why(opened):
    rows = [{"id": str(n), "expected_output": ["a"], "actual_output": ["a"]} for n in range(2)]
    rows[0]["metadata"] = {"answerable": False}
    result = Engine(catalog=CATALOG).dataset(rows).with_metrics(["RR"]).run().take([0])
    page = opened(lay_out(gather(result)))

    assert page.inner_text("h1") == "Nothing was measured"
    assert "declared unanswerable" in page.inner_text(".lead")
    assert page.locator("section").count() == 0


@pytest.mark.parametrize(
    "link",
    [
        "#sample=%3Cimg%20src=x%20onerror=alert(1)%3E&metric=%3C/script%3E&run=__proto__",
        "#metric=constructor&sample=toString",
        "#%00&sample=%ff",
        "#sample",
    ],
)
def test_links_to_what_there_is_not_open_the_page_as_it_is(opened, link):
    page = opened(report(), link=link)

    assert page.inner_text("#one-h") == "q0000"
    assert page.locator("#metric").input_value() == "0"
    assert page.locator("img").count() == 0


def test_a_link_with_a_run_opens_that_pair_and_the_back_of_the_list_is_reached_by_buttons(opened):
    page = opened(report(runs=3), link="#sample=q0003&metric=p@5&run=run2")

    assert page.locator("#run").input_value() == "2"
    assert page.locator("#lists caption").all_inner_texts() == ["run0", "run2"]
    page.locator("#next").focus()
    before = page.inner_text("#one-h")
    page.keyboard.press("Enter")
    assert page.inner_text("#one-h") != before
    page.locator("#prev").focus()
    page.keyboard.press("Enter")
    assert page.inner_text("#one-h") == before


def test_headings_of_columns_sort_by_keyboard_and_keep_the_focus(opened):
    page = opened(report())
    page.locator("#table thead button").first.focus()
    for expected in ("ascending", "descending"):
        page.keyboard.press("Enter")
        assert page.locator("#table thead th").first.get_attribute("aria-sort") == expected
        assert page.evaluate("document.activeElement.textContent").startswith("Sample")


def test_a_sample_without_output_says_why(opened):
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    page = opened(lay_out(gather(rankgauge.evaluate(qrels, {"q1": {"a": 1.0}}, ["RR"]))), link="#sample=q2&metric=rr")
    assert "the run has no results for this query" in page.inner_text("#lists")
    assert page.locator("#lists table").nth(1).locator("td.s").inner_text() == "none"


def test_a_grade_below_zero_counts_as_unjudged_in_the_list_as_in_the_column(opened):
    qrels = {"q": {"a": 1, "b": 0, "c": -1}}
    page = opened(lay_out(gather(rankgauge.evaluate(qrels, {"q": {"c": 4.0, "a": 3.0, "b": 2.0, "x": 1.0}}, ["RR"]))))

    words = page.locator("#lists table").first.locator("tbody .w").all_inner_texts()
    assert words == ["unjudged", "grade 1", "not relevant", "unjudged"]
    assert "unjudged in the top 10: 2 of 4" in page.inner_text("#one-sub")
    assert page.locator("#table tbody td").last.inner_text() == "50 %"  # 2 of 4
