"""Gold documents that were edited between two results: no verdict across the edit, in comparisons and in gates."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from draws import in_thorough_suite
from rankgauge import Engine, Result, compare, html_report, judge_gates, load_baseline, save_baseline
from rankgauge.comparison.gold_edits import gold_edits
from rankgauge.comparison.layouts import comparison_lines
from rankgauge.errors import NothingToEvaluateError, ResultError
from rankgauge.features.labels.gold_hashes import NORMALIZATION, hash_of_text, with_gold_hashes
from rankgauge.gates.outcomes import outcome_line
from rankgauge.io.corpus import Corpus

N = 40
TEXTS = {f"d{at}": f"Document {at} tells of cats, and of number {at * 7}." for at in range(N)}
EDITED = TEXTS | {f"d{at}": f"Rewritten: {at}." for at in range(4)}
"""The gold documents of the first four questions are other texts."""


def corpus(texts: dict[str, str]) -> Corpus:
    return Corpus(tuple(texts), ("",) * len(texts), tuple(texts.values()))


def run(texts: dict[str, str] | None, missed: int, expected: Any = lambda at: [f"d{at}"]) -> Result:
    """Return a result in which the gold of the first *missed* questions is not found, with hashes of some texts."""
    samples = [
        {
            "id": f"q{at}",
            "expected_output": expected(at),
            "actual_output": [{"id": "x" if at < missed else f"d{at}", "text": "t"}],
        }
        for at in range(N)
    ]
    result = Engine().dataset(samples).with_metrics(["hit@1"]).run()
    return result if texts is None else with_gold_hashes(result, corpus(texts))


class TestHashes:
    @pytest.mark.parametrize("same", ["The  Pump\n", " the pump", "The\u00a0pump", "\uff34\uff28\uff25 pump"])
    def test_case_white_space_and_compatibility_forms_change_nothing(self, same: str) -> None:
        assert hash_of_text(same) == hash_of_text("The pump")

    @pytest.mark.parametrize("other", ["The pumps", "The pump.", "The pump 1", ""])
    def test_every_other_character_does(self, other: str) -> None:
        assert hash_of_text(other) != hash_of_text("The pump")

    def test_the_value_stays_what_saved_results_have(self) -> None:
        """BLAKE2b of 8 bytes, of the lower-case words with a blank between; computed by ``b2sum -l 64``."""
        assert hash_of_text(" The  PUMP ") == "04fc4010819ab6ce"

    def test_a_result_keeps_the_documents_that_its_labels_name(self) -> None:
        def expected(at: int) -> Any:
            span = {"document": "d1", "start": 0, "end": 3}
            return {"relevant": {"d0": 1, "d9": 0}, "spans": [span]} if not at else ["gone"]

        kept = run(TEXTS, 0, expected).manifest["gold_documents"]
        assert kept["hashes"] == {"d0": hash_of_text(TEXTS["d0"]), "d1": hash_of_text(TEXTS["d1"]), "gone": None}
        assert dict(kept["samples"])["q0"] == ["d0", "d1"]
        assert kept["normalization"] == NORMALIZATION

    def test_a_corpus_without_any_of_them_is_refused(self) -> None:
        with pytest.raises(
            NothingToEvaluateError, match="labels name 40 documents, such as 'd0', none of which it has"
        ):
            run({"other": "text"}, 0)
        with pytest.raises(NothingToEvaluateError, match="no label names a document"):
            run(TEXTS, 0, lambda _: {"passages": ["x"]})


class TestComparisons:
    def test_what_would_be_worse_is_inconclusive(self) -> None:
        """Ten of forty questions lost their document, four of which have another text."""
        found = compare({"old": run(TEXTS, 0), "new": run(EDITED, 10)})["new"]["hit@1"]
        assert (found.verdict, found.losses) == ("depends on changed documents", 10)
        assert found.edits.documents == ("d0", "d1", "d2", "d3")
        assert found.to_dict()["changed_documents"] == {
            "documents": ["d0", "d1", "d2", "d3"],
            "samples": ["q0", "q1", "q2", "q3"],
            "of_samples": [["q0", ["d0"]], ["q1", ["d1"]], ["q2", ["d2"]], ["q3", ["d3"]]],
        }

    def test_without_hashes_and_without_edits_the_verdict_stays(self) -> None:
        for texts, others in ((None, None), (TEXTS, TEXTS), (TEXTS, {**TEXTS, "d1": f" {TEXTS['d1'].upper()}\n"})):
            found = compare({"old": run(texts, 0), "new": run(others, 10)})["new"]
            assert (found["hit@1"].verdict, found.notes) == ("worse", ())

    def test_the_words(self) -> None:
        comparison = compare({"old": run(TEXTS, 0), "new": run(EDITED, 10)})
        lines = [line.text for line in comparison_lines(comparison, width=None)]
        said = "new against old is inconclusive: 4 gold documents of 4 samples changed (d0, d1, d2 and 1 more): hit"
        assert any(line.startswith(said) for line in lines)
        assert any(line.endswith("--common unchanged compares the other 36 pairs") for line in lines)

    def test_unchanged_samples_are_compared_alone(self) -> None:
        found = compare({"old": run(TEXTS, 0), "new": run(EDITED, 10)}, common="unchanged")["new"]["hit@1"]
        assert (found.n, found.losses, found.verdict) == (36, 6, "worse")
        assert found.dropped["other_ground_truth"] == 4

    def test_where_all_changed_nothing_is_left(self) -> None:
        others = dict.fromkeys(TEXTS, "Another one.")
        with pytest.raises(ResultError, match="no sample is left whose ground truth is unchanged; 40 gold documents"):
            compare({"old": run(TEXTS, 0), "new": run(others, 10)}, common="unchanged")

    @pytest.mark.parametrize(("first", "second", "lacking"), [(TEXTS, None, "new"), (None, TEXTS, "old")])
    def test_hashes_of_one_side_are_said_to_say_nothing(self, first: Any, second: Any, lacking: str) -> None:
        found = compare({"old": run(first, 0), "new": run(second, 10)})["new"]
        assert found["hit@1"].verdict == "worse"
        said = f"whether gold documents changed is not known: {lacking} has no hashes of them (--keep-hashes)"
        assert found.notes == (said,)

    def test_hashes_by_another_normalization_say_nothing(self) -> None:
        old = run(TEXTS, 0)
        kept = {**old.manifest["gold_documents"], "normalization": "0"}
        found = compare({"old": old.with_manifest({"gold_documents": kept}), "new": run(EDITED, 10)})["new"]
        assert (found["hit@1"].verdict, len(found["hit@1"].edits.documents)) == ("worse", 0)
        assert "texts were normalized otherwise, old by '0' and new by" in found.notes[0]

    @in_thorough_suite()
    def test_documents_that_came_or_went_changed(self) -> None:
        less = {name: text for name, text in TEXTS.items() if name != "d5"}
        for first, second in ((TEXTS, less), (less, TEXTS)):
            sides = [run(texts, 0).manifest for texts in (first, second)]
            edits, _ = gold_edits(*sides, [f"q{at}" for at in range(N)], ("a", "b"))
            assert dict(edits.of_samples) == {"q5": ("d5",)}

    def test_same_scores_stay_the_same(self) -> None:
        assert compare({"old": run(TEXTS, 3), "new": run(EDITED, 3)})["new"]["hit@1"].verdict == "same"

    def test_a_report_says_it(self) -> None:
        page = html_report({"old": run(TEXTS, 0), "new": run(EDITED, 10)})
        assert "Inconclusive: 4 gold documents of 4 samples changed" in page


class TestGates:
    def judged(self, gate: str, new: Result | None = None, old: Result | None = None) -> Any:
        report = judge_gates(new or run(EDITED, 10), gate, baseline=old or run(TEXTS, 0))
        return report.outcomes[0]

    @pytest.mark.parametrize("gate", ["hit@1 max_drop 0.05", "hit@1 max_drop 0.5", "hit@1 not_worse 0.05"])
    def test_a_change_is_neither_passed_nor_failed(self, gate: str) -> None:
        outcome = self.judged(gate)
        assert outcome.verdict == "inconclusive"
        said = "not judged against the margin"
        assert said in outcome_line(outcome)
        assert "4 gold documents of 4 samples changed (d0, d1, d2 and 1 more) since the baseline" in outcome_line(
            outcome
        )

    def test_a_fall_across_an_edit_is_not_one_for_certain(self) -> None:
        outcome = self.judged("hit@1 max_drop 0.05", run(EDITED, 39))
        assert (outcome.verdict, outcome.has_fallen) == ("inconclusive", False)

    def test_unchanged_samples_decide_where_that_is_asked(self) -> None:
        assert self.judged("hit@1 max_drop 0.05 common unchanged", run(EDITED, 39)).verdict == "fail"

    def test_no_change_of_a_score_passes(self) -> None:
        assert self.judged("hit@1 max_drop 0.05", run(EDITED, 0)).verdict == "pass"

    def test_samples_that_fell_without_an_edit_still_fail(self) -> None:
        outcome = self.judged("hit@1 max_drop 0.5 per_sample")
        assert (outcome.verdict, [name for name, _ in outcome.missed]) == ("fail", [f"q{at}" for at in range(4, 10)])

    def test_samples_that_fell_with_an_edit_are_open(self) -> None:
        outcome = self.judged("hit@1 max_drop 0.5 per_sample", run(EDITED, 3))
        assert (outcome.verdict, outcome.missed) == ("inconclusive", ())
        assert "not judged: 4 gold documents" in outcome_line(outcome)

    def test_bounds_of_a_mean_do_not_look_at_a_baseline(self) -> None:
        assert self.judged("hit@1 >= 0.5").verdict == "pass"

    def test_a_baseline_file_keeps_the_hashes(self, tmp_path: Path) -> None:
        old = run(TEXTS, 0)
        kept = load_baseline(save_baseline({"data": old}, tmp_path / "base.json"))["data"]
        documents = kept.manifest["gold_documents"]
        assert documents["hashes"] == old.manifest["gold_documents"]["hashes"]
        assert dict(documents["samples"]) == {f"q{at}": [f"d{at}"] for at in range(N)}
        assert self.judged("hit@1 max_drop 0.05", old=kept).verdict == "inconclusive"
        assert '"d0": "' in (tmp_path / "base.json").read_text()


class TestKeeping:
    def test_folders_pickles_and_parts_keep_them(self, tmp_path: Path) -> None:
        result = run(TEXTS, 0)
        kept = result.manifest["gold_documents"]
        result.save(tmp_path / "r")
        assert Result.load(tmp_path / "r").manifest["gold_documents"] == kept
        assert pickle.loads(pickle.dumps(result)).manifest["gold_documents"] == kept  # noqa: S301  # our own

    def test_merging_takes_those_of_all_parts_or_none(self) -> None:
        halves = [
            [{"id": f"q{at}", "expected_output": [f"d{at}"], "actual_output": [f"d{at}"]} for at in half]
            for half in (range(20), range(20, N))
        ]
        parts = [Engine().dataset(half).with_metrics(["hit@1"]).run() for half in halves]
        hashed = [with_gold_hashes(part, corpus(TEXTS)) for part in parts]
        merged = Result.merge(hashed)
        assert merged.manifest["gold_documents"]["hashes"] == run(TEXTS, 0).manifest["gold_documents"]["hashes"]
        assert len(merged.manifest["gold_documents"]["samples"]) == N
        assert "gold_documents" not in Result.merge([hashed[0], parts[1]]).manifest

    def test_a_damaged_folder_is_refused(self, tmp_path: Path) -> None:
        run(TEXTS, 0).save(tmp_path / "r")
        manifest = json.loads((tmp_path / "r" / "manifest.json").read_text())
        manifest["gold_documents"]["hashes"]["d0"] = 3
        (tmp_path / "r" / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(ResultError, match=r"gold_documents\.hashes"):
            Result.load(tmp_path / "r")
