"""What the pickers, filters and links of a report change."""

from __future__ import annotations

import csv
import io

import pytest

import rankgauge
from browser.reports import laid_out, of_runs, of_samples, page_of_runs, page_of_samples, page_of_stages


def words(page, where):
    return " ".join(page.inner_text(where).split())


def test_headline_answers_and_cohorts_are_of_the_chosen_metric(opened):
    page = opened(page_of_samples())
    before = words(page, "#finding"), words(page, "#answers")
    page.select_option("#metric", "2")

    metric = rankgauge.compare(of_samples())["new"]["recall(gold=passages, matcher=contains)@3"]
    assert "recall(gold=passages, matcher=contains)@3" in words(page, "#finding")
    assert f"{metric.baseline_mean:.3f} to {metric.mean:.3f}" in words(page, "#finding")
    assert f"On {metric.wins} of {metric.n} samples" in words(page, "#answers")
    assert page.title().startswith(page.inner_text("h1")[:30])
    page.select_option("#metric", "0")
    assert (words(page, "#finding"), words(page, "#answers")) == before


def test_everything_is_of_the_chosen_run_and_links_open_its_numbers(opened):
    page = opened(page_of_runs(40, 4))
    page.select_option("#run", "3")

    assert page.inner_text("h1").startswith("run0 is better than run3")
    link = page.locator(".ask a").first
    told = link.evaluate("one => one.nextSibling.textContent").strip(" ,.")
    assert "run=run3" in link.get_attribute("href")
    page.select_option("#run", "1")
    page.evaluate("hash => { location.hash = hash; }", "#sample=q0000&metric=ndcg@10&run=run3")
    page.wait_for_function("() => document.getElementById('run').value === '3'")
    assert told in page.inner_text("#one-sub")
    assert page.locator("#lists caption").all_inner_texts() == ["run0", "run3"]


def test_a_leaderboard_sorts_several_runs_by_the_chosen_metric(opened):
    page = opened(page_of_runs(40, 4))
    comparison = rankgauge.compare(of_runs(40, 4))

    for place, name in enumerate(of_runs(40, 4)["run0"].metrics):
        page.select_option("#metric", str(place))
        rows = [row.inner_text().split() for row in page.locator("#board tbody tr").all()]
        means = {run: result[name].mean for run, result in of_runs(40, 4).items()}
        assert {row[0]: row[1] for row in rows} == {run: f"{mean:.3f}" for run, mean in means.items()}
        assert [float(row[1]) for row in rows] == sorted((float(row[1]) for row in rows), reverse=True)
        for row in rows:
            assert row[2] == ("baseline" if row[0] == "run0" else comparison[row[0]][name].verdict)
        assert page.locator("#board .ci").count() == sum(
            comparison[run][name].interval is not None for run in ("run1", "run2", "run3")
        )


def test_below_the_diagonal_is_better_where_less_is(opened):
    qrels = {f"q{n}": {"a": 1} for n in range(12)}
    runs = {
        "old": {q: {"x": 3.0, "y": 2.0, "a": 1.0} for q in qrels},
        "new": {q: {"a": 3.0, "x": 2.0, "y": 1.0} for q in qrels},
    }
    page = opened(laid_out(rankgauge.evaluate(qrels, runs=runs, metrics=["unjudged@2", "RR"])))

    assert not rankgauge.evaluate(qrels, runs["old"], ["unjudged@2"])["unjudged@2"].info.higher_is_better
    assert words(page, "#above").startswith("Below the diagonal new is better")
    labels = page.locator("#plot .lab").all_text_contents()
    assert {"old better", "new better"} <= set(labels)
    top, bottom = (page.locator(f"#plot .lab:has-text('{run} better')").bounding_box()["y"] for run in ("old", "new"))
    assert top < bottom
    page.select_option("#metric", "1")
    assert words(page, "#above").startswith("Above the diagonal new is better")


def test_samples_with_the_same_scores_are_one_point_with_their_number(opened):
    page = opened(page_of_runs())

    # 26 queries move from rank 3 to rank 1, and 14 stay.
    radii = sorted(float(point.get_attribute("r")) for point in page.locator(".pt").all())
    assert sorted(page.locator("#plot .in").all_text_contents()) == ["14", "26"]
    assert radii[1] ** 2 / radii[0] ** 2 == pytest.approx(26 / 14, rel=0.05)


@pytest.mark.parametrize(
    ("chip", "listed", "why"),
    [
        ("missing", {"s3", "s7"}, "old: "),
        ("undefined", {"s9"}, "unanswerable"),
        ("failed", set(), ""),
    ],
)
def test_samples_without_a_score_are_listed_with_the_reason(opened, chip, listed, why):
    page = opened(page_of_samples())
    page.click(f"[data-show={chip}]")

    assert set(page.locator("#table tbody a").all_inner_texts()) == listed
    assert not listed or why in page.locator("#table tbody tr").first.inner_text()
    assert not listed or "Why" in page.locator("#table thead").inner_text()
    assert f"show={chip}" in page.url


def test_tags_filter_the_list(opened):
    page = opened(page_of_samples())
    page.select_option("#tag", "law")
    assert page.inner_text("#count") == "20 of 40 samples"
    assert "tag=law" in page.url


def test_a_link_with_a_filter_lists_what_it_lists(opened):
    page = opened(page_of_samples(), link="#show=missing")
    assert page.inner_text("#count") == "2 of 40 samples"
    assert page.get_attribute("[data-show=missing]", "aria-pressed") == "true"


def test_what_is_missing_is_said_above_the_headline_and_opens(opened):
    page = opened(page_of_samples())
    banner = page.locator(".trouble")

    assert banner.inner_text().startswith("Incomplete: 2 of 40 samples of old have no output. They count as 0.")
    assert banner.bounding_box()["y"] < page.locator("h1").bounding_box()["y"]
    banner.locator("a").click()
    page.wait_for_function("() => document.getElementById('count').textContent === '2 of 40 samples'")


def test_a_document_is_found_in_every_list_with_its_ranks(opened):
    page = opened(page_of_samples())
    page.fill("#search", "c4")
    # The old run lists it for multiples of 3, 14 of 40, less 3, which has no output; the new one for 13 others.
    assert page.inner_text("#count") == "26 of 40 samples"
    heads = page.locator("#table thead th").evaluate_all("all => all.map((one) => one.title)")
    row = page.locator("#table tbody tr[data-i]").filter(has=page.locator("a", has_text="s2")).first
    cells = dict(zip(heads, row.locator("td").all_inner_texts(), strict=True))
    assert (cells["Rank in old"], cells["Rank in new"]) == ("\N{EN DASH}", "2")
    page.fill("#search", "doc:c")
    assert page.inner_text("#count") == "0 of 40 samples"
    page.fill("#search", "doc:c1")
    assert page.inner_text("#count") == "40 samples"
    page.fill("#search", '"jumps over 4 dogs"')  # in texts
    assert page.inner_text("#count") == "26 of 40 samples"


def test_back_goes_to_the_sample_before(opened):
    page = opened(page_of_runs())
    opened_ones = [page.inner_text("#one-h")]
    for at in (3, 5):
        page.locator("#table tbody a").nth(at).click()
        opened_ones.append(page.inner_text("#one-h"))
    assert len(set(opened_ones)) == 3

    for expected in opened_ones[-2::-1]:
        page.go_back()
        page.wait_for_function("id => document.getElementById('one-h').textContent === id", arg=expected)
    page.go_forward()
    page.wait_for_function("id => document.getElementById('one-h').textContent === id", arg=opened_ones[1])


def test_what_is_listed_is_copied_as_csv_with_all_digits(opened):
    page = opened(page_of_runs())
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("[data-show=better]")
    page.click("#copy")
    page.wait_for_function("() => document.getElementById('count').textContent.startsWith('copied 26 samples')")
    copied = list(csv.reader(io.StringIO(page.evaluate("navigator.clipboard.readText()"))))

    assert copied[0][:4] == ["Sample", "run0", "run1", "Difference"]
    assert len(copied) == 27
    metric = of_runs()["run1"]["ndcg@10"]
    for name, before, after, difference, *_ in copied[1:]:
        assert float(after) == pytest.approx(metric.values[list(of_runs()["run1"].sample_ids).index(name)], abs=1e-12)
        assert float(difference) == pytest.approx(float(after) - float(before), abs=1e-12)


def test_a_definition_shows_while_a_metric_is_pointed_at_or_has_the_focus(opened):
    page = opened(page_of_runs())
    tip = page.locator("#mt .tip").nth(1)
    assert not tip.is_visible()
    page.locator("#mt label").nth(1).hover()
    assert tip.inner_text().startswith("One over the rank of the first relevant item")
    page.mouse.move(0, 0)
    page.locator("#mt input").nth(1).focus()
    assert tip.is_visible()
    assert page.locator("#mt input").nth(1).get_attribute("aria-describedby") == tip.get_attribute("id")


def test_stages_are_those_of_the_chosen_run(opened):
    page = opened(page_of_stages())

    assert page.locator("#funnel h2").all_inner_texts() == [
        "run0: no stage lowers recall@2; ranked below 2 since dense: 3 of 8 relevant items (37.5%), 4 questions",
        "run1: no stage lowers recall@2; ranked below 2 since dense: 2 of 8 relevant items (25.0%), 4 questions",
    ]
    page.select_option("#run", "2")
    assert (
        page.locator("#funnel h2")
        .all_inner_texts()[1]
        .startswith("run2: no stage lowers recall@2; ranked below 2 since dense: 1 of 8")
    )
    page.locator("#funnel summary").last.click()
    page.locator("#funnel details[open] a").last.click()
    assert page.inner_text("#one-h") == "q0"
    assert page.input_value("#run") == "2"


def test_on_wide_screens_the_sample_stands_beside_the_list(opened):
    page = opened(page_of_samples(), width=1700)
    page.click("#table tbody tr[data-i] >> nth=3")
    boxes = page.evaluate("""() => ["#scroll", "#one"].map((name) => document.querySelector(name))
      .map((one) => one.getBoundingClientRect()).map((box) => [box.left, box.right, box.top])""")
    (_, right, _), (left, _, _) = boxes

    assert right < left
    assert page.locator("#table tbody tr.on .c0").inner_text() in page.inner_text("#one-h")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1500, "height": 900})
    boxes = page.evaluate("""() => ["#scroll", "#one"].map((name) => document.querySelector(name))
      .map((one) => one.getBoundingClientRect()).map((box) => [box.top, box.bottom])""")
    assert boxes[0][1] <= boxes[1][0]
