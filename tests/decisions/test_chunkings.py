"""
Decisions about chunkings whose right answer is known.

For each, the default command gives the verdict that is true by offsets, or says in words what misleads.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from decisions.collection import chunked, chunks, mean, outputs_of, samples, true_recalls
from draws import in_thorough_suite, some

SIZES = [(25, 0, 0.03), (50, 0, 0.03), (100, 0, 0.03), (200, 0, 0.02), (400, 200, 0.015), (800, 400, 0.015)]


@pytest.mark.parametrize(("size", "overlap", "allowed"), some([*SIZES, (1600, 0, 0.015)], of=7, first=4))
@pytest.mark.parametrize("k", [5, 50])
def test_recall_is_the_share_of_passages_that_results_cover(
    size: int, overlap: int, allowed: float, k: int, engine: Any
) -> None:
    outputs = chunked(size, overlap, 50)
    result = engine.dataset(samples()).with_metrics([f"recall@{k}"]).run(outputs=outputs)
    assert result[f"recall@{k}"].mean == pytest.approx(mean(true_recalls(outputs, k)), abs=allowed)


class TestSizes:
    @in_thorough_suite()
    def test_longer_chunks_hold_more_at_equal_k_and_the_report_says_that_they_are_longer(self, scored, rankgauge):
        """By offsets: recall@5 of .69 against .91. What a prompt of equal length would hold is another question."""
        short, long = chunked(200, 0, 50), chunked(800, 0, 50)
        assert mean(true_recalls(long, 5)) > mean(true_recalls(short, 5)) + 0.15
        scored("short", short, "recall@5")
        scored("long", long, "recall@5")
        printed = rankgauge("compare", "short", "long").text
        assert "long is better: recall@5" in printed
        assert "results of long are 3." in printed or "results of long are 4." in printed
        assert "at equal tokens" in printed

    @in_thorough_suite()
    def test_at_equal_tokens_neither_is_better(self, scored, rankgauge):
        short, long = chunked(200, 0, 50), chunked(800, 0, 50)
        scored("short", short, "recall@400tok")
        scored("long", long, "recall@400tok")
        assert "long: no clear difference in recall@400tok" in rankgauge("compare", "short", "long").text

    @in_thorough_suite()
    def test_pieces_of_25_characters_are_no_better_than_they_are(self, scored, rankgauge):
        """The first five hold half of the gold of one question in nine; a symmetric rule called it one in two."""
        scraps, short = chunked(25, 0, 50), chunked(200, 0, 50)
        scored("scraps", scraps, "recall@5")
        scored("short", short, "recall@5")
        assert "scraps is worse: recall@5" in rankgauge("compare", "short", "scraps").text


class TestOverlap:
    @in_thorough_suite()
    def test_overlap_is_credited_for_what_it_holds_and_not_twice(self, scored, rankgauge):
        plain, overlapping = chunked(400, 0, 50), chunked(400, 200, 50)
        truth = mean(true_recalls(overlapping, 5)) - mean(true_recalls(plain, 5))
        scored("plain", plain, "recall@5")
        scored("overlapping", overlapping, "recall@5")
        compared = json.loads(rankgauge("compare", "plain", "overlapping", "--json").out)
        assert compared["comparisons"][0]["metrics"]["recall@5"]["difference"] == pytest.approx(truth, abs=0.015)


class TestTwoPassagesInAChunk:
    ONE = "The north gate opens at six in the morning on every weekday of the year."
    TWO = "Visitors without a badge have to wait for the porter at the south gate."
    OTHER = "Lunch is served in the canteen on the second floor of the old building."

    def test_better_chunks_are_not_called_worse(self, scored, rankgauge):
        """A chunk that holds both passages at rank 1 is at least as good as one passage at rank 1 and one at rank 2."""
        data = [
            {"id": f"q{number}", "input": "gates?", "expected_output": {"passages": [self.ONE, self.TWO]}}
            for number in range(40)
        ]
        both = {each["id"]: {"retrieved": [{"text": f"{self.ONE} {self.TWO}"}, {"text": self.OTHER}]} for each in data}
        apart = {each["id"]: {"retrieved": [{"text": self.ONE}, {"text": self.TWO}]} for each in data}
        metrics = ["ndcg@10", "AP", "Rprec", "recall@1"]
        scored("apart", apart, *metrics, data=data)
        scored("both", both, *metrics, data=data)
        printed = rankgauge("compare", "apart", "both").text
        assert "worse" not in printed
        assert "both is better: recall@1" in printed


class TestListsThatEndEarly:
    @in_thorough_suite()
    def test_ten_short_chunks_do_not_lose_a_budget_that_they_cannot_fill(self, scored, rankgauge):
        ten, deep = chunked(200, 0, 10), chunked(800, 0, 50)
        scored("ten", ten, "recall@1500tok")
        scored("deep", deep, "recall@1500tok")
        printed = rankgauge("compare", "ten", "deep").text
        assert "ten: 80 of 80 rankings ended before it" in printed
        assert "deep is better" not in printed
        assert "deep is better: recall@1500tok" in rankgauge("compare", "ten", "deep", "--short-lists", "allow").text

    def test_a_cutoff_that_no_list_reaches_is_said(self, scored):
        assert "no ranking reaches the cutoff of recall@1000" in scored("ten", chunked(200, 0, 10), "recall@1000").text


class TestSiblings:
    """Pages that say the same sentences of other facts."""

    FAMILIES = (("hotel-north", "hotel-south", "hotel-east"), ("report-2023", "report-2024"))

    def test_a_sibling_page_is_not_the_page(self, engine):
        """
        Each question about such a page is answered with all of its siblings, and nothing of its own.

        Pages are whole: a chunk that begins behind the words that differ holds nothing that tells it from the page.
        """
        asked, outputs = [], {}
        for sample in samples():
            own = sample["metadata"]["document"]
            family = next((names for names in self.FAMILIES if own in names), ())
            if not family:
                continue
            pieces = [piece for piece in chunks().cut(1600) if piece.document in family and piece.document != own]
            asked.append(sample)
            outputs[sample["id"]] = {"retrieved": [piece.as_result(1.0) for piece in pieces]}
        assert len(asked) == 15
        result = engine.dataset(asked).with_metrics(["recall@50", "P@50"]).run(outputs=outputs)
        assert [column.mean for column in result.metrics.values()] == [0.0, 0.0]


def spans(shift: int = 0, prefix: str = "") -> list[dict[str, Any]]:
    """Return the samples with gold at places, perhaps those of another version of the documents."""
    data = []
    for sample in samples():
        document = sample["metadata"]["document"]
        text = chunks().documents()[document]
        places = [(text.index(passage) + shift, passage) for passage in sample["expected_output"]["passages"]]
        gold = [
            {"document": prefix + document, "start": start, "end": start + len(passage), "text": passage}
            for start, passage in places
        ]
        data.append({**sample, "expected_output": {"spans": gold}})
    return data


class TestStaleOffsets:
    MOVED = "gold check"
    RENAMED = "do both sides use the same names? outputs: `hotel-east`; ground truth: `docs/ferries`"

    @in_thorough_suite()
    @pytest.mark.parametrize(("wrong", "said"), [({"shift": 900}, MOVED), ({"prefix": "docs/"}, RENAMED)])
    def test_gold_that_stands_where_offsets_do_not_point_is_said(self, scored, wrong, said):
        assert said not in scored("right", chunked(800), "recall@5", data=spans()).text
        assert said in scored("stale", chunked(800), "recall@5", data=spans(**wrong)).text


class TestGates:
    @in_thorough_suite()
    def test_a_change_that_changes_nothing_stays_green(self, scored, rankgauge):
        """Both sides are the same retriever; each loses chunks of its own at random, equally many."""
        every = chunks().cut(200)
        red = 0
        for seed in range(20):
            draw = random.Random(seed)  # noqa: S311
            for name in ("base", "new"):
                kept = [piece for piece in every if draw.random() > 0.05]
                scored(f"{name}{seed}", outputs_of(chunks().Index(kept), depth=5), "recall@5")
            gate = ("--gate", "recall@5 max_drop 0.02")
            red += rankgauge("compare", f"base{seed}", f"new{seed}", *gate).code == 1
        assert red <= 3  # the level is .05: four or more of twenty have a probability of .016

    @in_thorough_suite()
    def test_an_index_that_lost_chunks_is_red(self, scored, rankgauge):
        every = chunks().cut(200)
        scored("base", chunked(200, 0, 5), "recall@5")
        reds = []
        for seed in range(4):
            kept = random.Random(seed).sample(every, k=round(len(every) * 0.85))  # noqa: S311
            scored(f"new{seed}", outputs_of(chunks().Index(kept), depth=5), "recall@5")
            printed = rankgauge("compare", "base", f"new{seed}", "--gate", "recall@5 max_drop 0.02")
            reds.append(printed.code == 1)
        assert reds == [True] * 4


class TestStages:
    def test_the_stage_that_loses_is_blamed_and_a_cut_to_five_is_not(self, scored, rankgauge):
        """A filter drops the longer half of the chunks; then the list is cut to the five that recall@5 looks at."""
        outputs = {}
        for at, output in chunked(400, 0, 20).items():
            found = output["retrieved"]
            filtered = [item for item in found if len(item["text"].split()) < 66]
            stages = [("search", found), ("filter", filtered), ("cut", filtered[:5])]
            outputs[at] = {"stages": [{"name": name, "retrieved": items} for name, items in stages]}
        scored("pipeline", outputs, "recall@5")
        first = rankgauge("funnel", "pipeline").text.split(" left out")[0]
        assert first.startswith("filter lowers recall@5 by")
