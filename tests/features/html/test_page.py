"""The HTML report as a file: what it holds, and that nothing of it runs or loads but its own script."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html.parser
import re

import pytest

import rankgauge
from packed_reports import payload
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.errors import ParameterError
from rankgauge.features.html.html_report import gather
from rankgauge.features.html.page import lay_out
from rankgauge.features.html.report_data import ReportData, Section
from rankgauge.plugin import ReportBars, ReportTable, ReportText

CATALOG = Catalog.discover(own_only=True)
QRELS = {f"q{n}": {"a": 2, "b": 1, "c": 0} for n in range(12)}
WORSE = {f"q{n}": {"x": 3.0, "b": 2.0, "a": 1.0} for n in range(12)}
BETTER = {f"q{n}": {"a": 3.0, "x": 2.0, "b": 1.0} if n else {"x": 3.0, "a": 2.0} for n in range(12)}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\u202e'\"&"


class Page(html.parser.HTMLParser):
    """The elements of a page with their attributes, and the text between."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open = tag

    def handle_endtag(self, tag):
        self._open = ""

    def handle_data(self, data):
        if self._open in {"script", "style"}:
            self.scripts.append(data)
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def two() -> str:
    return lay_out(gather(rankgauge.evaluate(QRELS, runs={"old": WORSE, "new": BETTER}, metrics=["ndcg@10", "RR"])))


def test_the_verdict_is_said_first_and_needs_no_script(two):
    text = Page(two).text

    # nDCG of x, b, a: (1/log2(3) + 2/2) / (2 + 1/log2(3)) = 0.620; of a, x, b: (2 + 1/2) / 2.631 = 0.950, 11 times.
    assert "new is better than old. ndcg@10 rises from 0.620 to 0.911." in text
    assert "Same 0" not in text
    assert Page(two).tags[0][0] == "html"


def test_the_policy_lets_nothing_load_and_no_other_script_run(two):
    page = Page(two)
    policy = next(attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    script = page.scripts[-1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()

    assert policy.startswith("default-src 'none'; ")
    assert f"script-src 'sha256-{digest}';" in policy
    assert "unsafe" not in policy
    assert not [tag for tag, attrs in page.tags if {"src", "style", "action"} & set(attrs) or tag in {"link", "iframe"}]
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", two)


def test_scores_ranks_and_missing_items_are_in_the_file(two):
    found = payload(two)
    (judged,) = found["sets"]
    old = judged["runs"][0]

    assert found["runs"] == ["old", "new"]
    assert [metric["name"] for metric in found["metrics"]] == ["ndcg@10", "rr"]
    assert found["values"][1][1][:2] == [0.5, 1.0]
    names = judged["names"][: judged["named"][0]]
    assert [names[item] for item in old["item"][: old["count"][0]]] == ["x", "b", "a"]
    assert [names[item] for item in judged["gold"]["item"][:2]] == ["a", "b"]  # best first; c is not relevant anywhere
    assert judged["gold"]["grade"][:2] == [2.0, 1.0]
    # b, the second of the gold items, is at rank 2, and a at rank 3.
    assert (old["rows"][0], old["rank"][:2], old["gold"][:2]) == (2, [2, 3], [1, 0])
    # nDCG divides by the ideal DCG 2 + 1/log2(3); RR has 1 * 1/2 at the first relevant rank only.
    ndcg, rr = found["facts"][0]
    assert ndcg["divisor"][0] == pytest.approx(2.6309297535714573, rel=1e-12)
    assert (ndcg["gain"][:2], ndcg["discount"][:2]) == ([1.0, 2.0], pytest.approx([0.6309297535714575, 0.5], rel=1e-12))
    assert (rr["gain"][:2], rr["discount"][:2], rr["divisor"][0]) == ([1.0, 0.0], [0.5, 0.0], 1.0)
    assert found["unjudged"][0][0] == 0.3333  # x, of three results


def test_hostile_names_are_shown_and_never_run():
    qrels = {HOSTILE: {HOSTILE: 1}, "q": {"a": 1}}
    runs = {HOSTILE: {HOSTILE: {HOSTILE: 1.0}}, "plain": {"q": {"a": 1.0}}}
    text = lay_out(gather(rankgauge.evaluate(qrels, runs=runs, metrics=[{"metric": "ndcg@10", "as": f"m {HOSTILE}"}])))
    page = Page(text)

    assert len([tag for tag, _ in page.tags if tag == "script"]) == 2  # the data, and the report's own
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert r"\x1b[31m\u202e" in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert payload(text)["ids"][0] == HOSTILE.replace("\x1b", r"\x1b").replace("\u202e", r"\u202e")


def test_hostile_texts_and_tags_are_shown_and_never_run():
    sample = {
        "id": "q",
        "input": HOSTILE,
        "expected_output": {"passages": [HOSTILE]},
        "actual_output": [{"text": HOSTILE}],
        "metadata": {"tags": [HOSTILE]},
    }
    result = Engine(catalog=CATALOG).dataset([sample]).with_metrics(["recall@5"]).run()
    text = lay_out(gather(result))

    assert len([tag for tag, _ in Page(text).tags if tag == "script"]) == 2
    shown = HOSTILE.replace("\x1b", r"\x1b").replace("\u202e", r"\u202e")
    assert payload(text)["texts"][0] == shown


def test_texts_beyond_the_budget_are_left_out_and_the_report_says_so():
    samples = [
        {"id": f"q{n}", "input": f"question {n} " * 20, "expected_output": ["a"], "actual_output": ["a"]}
        for n in range(4)
    ]
    data = gather(Engine(catalog=CATALOG).dataset(samples).with_metrics(["RR"]).run())
    text = lay_out(data, text_budget=500)

    assert "It has room for 500 bytes of texts; others are left out." in Page(text).text
    assert payload(text)["inputs"] == [1, 2, 0, 0]
    assert "others are left out" not in Page(lay_out(data)).text


def test_one_run_alone_has_means_and_no_comparison():
    text = Page(lay_out(gather(rankgauge.evaluate(QRELS, BETTER, ["RR"])))).text

    assert "rr 0.958 (0.867\N{EN DASH}1.000)" in text  # 1 - .5 / 12, less t(11) = 2.201 by .1443 / sqrt(12)
    assert "against" not in text.replace("counts against", "")


def test_means_of_a_comparison_have_intervals_of_its_confidence():
    results = rankgauge.evaluate(QRELS, runs={"worse": WORSE, "better": BETTER}, metrics=["RR"])
    text = Page(rankgauge.html_report(results, comparison=rankgauge.compare(results, confidence=0.9))).text

    assert "Means with their 90 % interval." in text
    assert "0.958 0.884\N{EN DASH}1.000" in text  # the same with t(11) = 1.796, cut at 1


def test_an_interrupted_run_says_so_beside_its_counts():
    rows = [{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}]
    result = Engine(catalog=CATALOG).dataset(rows).with_metrics(["MRR"]).run()
    assert "interrupted" not in Page(rankgauge.html_report(result)).text
    stopped = Page(rankgauge.html_report(result.with_manifest({"interrupted": True})))
    assert "1 sample. The run was interrupted; only these samples were done." in stopped.text


def test_nothing_measured_is_said_with_the_reason():
    sample = {"id": "q", "expected_output": ["a"], "actual_output": ["a"], "metadata": {"answerable": False}}
    other = {"id": "r", "expected_output": ["a"], "actual_output": ["a"]}
    evaluation = Engine(catalog=CATALOG).dataset([sample, other]).with_metrics(["RR"])
    text = Page(lay_out(gather(evaluation.run().take([0])))).text

    assert "Nothing was measured" in text
    assert "the sample is declared unanswerable" in text


def test_the_same_data_give_the_same_file(two):
    again = lay_out(gather(rankgauge.evaluate(QRELS, runs={"old": WORSE, "new": BETTER}, metrics=["ndcg@10", "RR"])))

    assert re.sub(r"\d{4}-\d\d-\d\d", "", again) == re.sub(r"\d{4}-\d\d-\d\d", "", two)


def test_the_baseline_comes_first_and_three_runs_have_a_row_each():
    runs = {"one": BETTER, "base": WORSE, "other": WORSE}
    data = gather(rankgauge.evaluate(QRELS, runs=runs, metrics=["RR"]), baseline="base")
    text = lay_out(data)

    assert payload(text)["runs"] == ["base", "one", "other"]
    assert [attrs["data-run"] for _, attrs in Page(text).tags if "data-run" in attrs] == ["1", "2"]


def test_equal_runs_rank_the_same():
    text = Page(lay_out(gather(rankgauge.evaluate(QRELS, runs={"a": WORSE, "b": WORSE}, metrics=["RR"])))).text

    assert "Both runs score the same" in text


def test_cohorts_are_a_table_and_shaded_only_where_the_interval_leaves_out_zero():
    def sample(number: int, found: bool):
        output = ["a"] if found else ["x"]
        tags = ["law"] if number % 2 else ["tax"]
        return {"id": str(number), "expected_output": ["a"], "actual_output": output, "metadata": {"tags": tags}}

    engine = Engine(catalog=CATALOG)
    old = engine.dataset([sample(n, n % 4 == 0) for n in range(40)]).with_metrics(["hit@1"])
    new = engine.dataset([sample(n, n % 2 == 1 or n % 4 == 0) for n in range(40)]).with_metrics(["hit@1"])
    page = Page(lay_out(gather({"old": old.run(), "new": new.run()})))
    shaded = [attrs["class"] for tag, attrs in page.tags if tag == "td" and " hb" in (attrs.get("class") or "")]

    assert "law 20 +1.000" in page.text  # all 20 changed alike: no interval, so no shade
    assert "tax 20 0.000" in page.text
    assert shaded == ["n hb4"]  # all samples


@pytest.mark.parametrize(
    ("view", "shown"),
    [
        (ReportTable(["run"], [["<b>new</b>"], [HOSTILE]]), "<b>new</b>"),
        (ReportText(f"two <i>words</i>\n\n{HOSTILE}"), "two <i>words</i>"),
        (ReportBars([["<u>a</u>", 0.25], [HOSTILE, -1.0]]), "<u>a</u> 0.250"),
    ],
)
def test_sections_of_plugins_are_data_and_never_markup(view, shown):
    data = gather(rankgauge.evaluate(QRELS, BETTER, ["RR"]))
    section = Section(f"T {HOSTILE}", f"S {HOSTILE}", f"P {HOSTILE}", (view,))
    text = lay_out(dataclasses.replace(data, sections=[section]))
    page = Page(text)

    assert shown in page.text
    assert r"\x1b[31m\u202e" in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert len([tag for tag, _ in page.tags if tag == "script"]) == 2
    assert not {"img", "i", "u"} & {tag for tag, _ in page.tags}
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]


def test_columns_of_numbers_have_one_number_of_decimals():
    data = gather(rankgauge.evaluate(QRELS, BETTER, ["RR"]))
    view = ReportTable(["name", "n", "cost"], [["a", 1200, 2], ["b", None, -0.5]])
    page = Page(lay_out(dataclasses.replace(data, sections=[Section("Costs", "", "acme", (view,))])))

    assert "a 1,200 2.000 b \N{MINUS SIGN}0.500" in page.text
    assert "Added by acme." in page.text


def test_no_result_is_refused():
    with pytest.raises(ParameterError, match="none is given"):
        gather({})


def test_a_report_of_data_that_cannot_be_read_again_has_scores_and_says_what_it_lacks():
    result = rankgauge.evaluate(QRELS, BETTER, ["RR"])
    merged = rankgauge.Result.merge([result.take(range(6)), result.take(range(6, 12))])
    data = gather(merged)
    text = lay_out(data)

    assert isinstance(data, ReportData)
    assert payload(text)["sets"] == []
    assert "ranked lists are not shown, because the data cannot be read again" in Page(text).text


def test_curves_end_at_the_deepest_ranking():
    twelve = {"q": {f"d{n}": 12.0 - n for n in range(12)}}
    runs = {"short": {"q": {"d0": 2.0, "d3": 1.0}}, "deep": twelve}
    results = {name: rankgauge.evaluate({"q": {"d3": 1, "d11": 1}}, run, ["RR"]) for name, run in runs.items()}

    recall = gather(results).curves[0]
    assert recall.depths == (1, 2, 3, 5, 10)
    assert recall.means == {"short": (0.0, 0.5, 0.5, 0.5, 0.5), "deep": (0.0, 0.0, 0.0, 0.5, 0.5)}
    assert gather(results["short"]).curves[0].depths == (1, 2)


MINE = {"metric": "recall", "gold": "passages", "k": 4, "matcher": "lower > equal", "as": "mine"}


def text_samples():
    """Of three passages, one is at rank 1 word for word, one at rank 3 in other letters, and one nowhere."""
    texts = ["red fox runs", "other words", "BLUE BIRD SINGS"]
    passages = ["red fox runs", "blue bird sings", "green frog jumps"]
    retrieved = [{"id": f"c{place}", "text": text} for place, text in enumerate(texts)]
    gold = {"passages": passages, "relevant": {"c1": 2, "c0": 1}, "answer": "fox"}
    return [{"id": "q", "expected_output": gold, "actual_output": {"retrieved": retrieved, "answer": "fox"}}]


@pytest.mark.parametrize(
    ("metrics", "recall", "precision"),
    [
        (["recall(gold=passages, matcher='unicode-nfkc > equal')@5"], (1 / 3, 1 / 3, 1 / 3), (1.0, 1 / 2, 1 / 3)),
        (["recall(gold=passages, matcher='lower > equal')@5"], (1 / 3, 1 / 3, 2 / 3), (1.0, 1 / 2, 2 / 3)),
        (["RR(gold=passages, matcher='lower > equal')"], (1 / 3, 1 / 3, 2 / 3), (1.0, 1 / 2, 2 / 3)),
        ([MINE], (1 / 3, 1 / 3, 2 / 3), (1.0, 1 / 2, 2 / 3)),
        (["recall(rel=2, gold=relevant)@5"], (0.0, 1.0, 1.0), (0.0, 1 / 2, 1 / 3)),
        (["exact_match", "recall(rel=2, gold=relevant)@5"], (0.0, 1.0, 1.0), (0.0, 1 / 2, 1 / 3)),
        (
            ["recall(gold=passages, matcher='unicode-nfkc > equal')@9tok", "P(rel=2, gold=relevant)@3"],
            (1 / 3, 1 / 3, 1 / 3),
            (0.0, 1 / 2, 1 / 3),
        ),
    ],
)
def test_curves_are_judged_as_the_columns_are(metrics, recall, precision):
    result = Engine(catalog=CATALOG).dataset(text_samples()).with_metrics(metrics).run()
    curves = {curve.name: curve.means["run"] for curve in gather({"run": result}).curves}

    assert curves["recall"] == pytest.approx(recall)
    assert curves["precision"] == pytest.approx(precision)


def test_unjudged_shares_are_of_the_results_there_are():
    qrels = {f"q{number}": {"a": 1} for number in range(4)}
    whole = {query: {"a": 2.0, "x": 1.0} for query in qrels}
    broken = {query: whole[query] for query in list(qrels)[:2]}
    runs = {"whole": whole, "broken": broken}
    results = {name: rankgauge.evaluate(qrels, run, ["RR"]) for name, run in runs.items()}

    curve = next(curve for curve in gather(results).curves if curve.name == "unjudged")
    assert curve.depths == (1, 2)
    assert curve.means == {"whole": (0.0, 0.5), "broken": (0.0, 0.5)}


def test_the_margin_that_matters_is_a_band_around_no_difference():
    """The band goes from -0.05 to 0.05 on the axis of the difference, and whoever does not see it reads of it."""
    judged = {f"q{number}": {"a": 1} for number in range(40)}
    hits = {name: {"a": 2.0, "b": 1.0} for name in judged}
    runs = {"a": hits, "b": hits | {f"q{number}": {"b": 2.0, "a": 1.0} for number in range(3)}}
    results = rankgauge.evaluate(judged, runs=runs, metrics=["hit@1", "rr"])
    plain = lay_out(gather(results))
    band = lay_out(gather(results, comparison=rankgauge.compare(results, matters={"hit@1": 0.05})))
    assert 'class="matters"' not in plain
    assert "less than 0.05 does not matter" in band
    drawing = re.search(r'<svg[^>]*aria-label="Difference of hit@1[^>]*>.*?</svg>', band, re.DOTALL)[0]
    left, width = map(float, re.search(r'class="matters" x="([\d.]+)" y="0.0" width="([\d.]+)"', drawing).groups())
    zero = float(re.search(r'class="zero" x1="([\d.]+)"', drawing)[1])
    assert left + width / 2 == pytest.approx(zero, abs=0.1)
    dot = float(re.search(r'class="dot" cx="([\d.]+)"', drawing)[1])
    assert (zero - dot) / (width / 2) == pytest.approx(0.075 / 0.05, abs=0.01)
