"""Edited texts: told apart from siblings, placed where the fewest words changed, and repaired without harm."""

from __future__ import annotations

from typing import Any

import pytest

from rankgauge.features.labels.check_labels import check_labels
from rankgauge.features.labels.label_findings import LabelFinding
from rankgauge.features.labels.repair_labels import Repaired, change_lines, repair_labels
from rankgauge.io.corpus import Corpus
from rankgauge.samples import read_sample

NORTH = (
    "The hotel at the northern gate of Aldermouth has 40 rooms and a garden. Breakfast is served from seven until ten "
    "o'clock in the room on the first floor, and guests who leave early ask for a bag in the evening before."
)
SOUTH = NORTH.replace("northern gate of Aldermouth", "southern gate of Millbrook").replace("40", "52")
FILLER = "Whoever lost a glove on the way can ask for it at the office behind the old market. " * 3


def corpus(documents: dict[str, str]) -> Corpus:
    return Corpus(tuple(documents), ("",) * len(documents), tuple(documents.values()))


def repaired(expected: Any, documents: dict[str, str], before: dict[str, str] | None = None, **options: bool) -> Any:
    """Return the ground truth after a repair, and what the next check finds."""
    record = {"id": "q1", "expected_output": expected}
    was = None if before is None else corpus(before)
    sample = read_sample(record, problems=[])
    assert sample is not None
    done = repair_labels([record], check_labels([sample], corpus(documents), before=was), corpus(documents), **options)
    again = read_sample(done.records[0], problems=[])
    assert again is not None
    return done, check_labels([again], corpus(documents)).findings


def only(expected: Any, documents: dict[str, str], before: dict[str, str] | None = None) -> LabelFinding:
    sample = read_sample({"id": "q1", "expected_output": expected}, problems=[])
    assert sample is not None
    was = None if before is None else corpus(before)
    (finding,) = check_labels([sample], corpus(documents), before=was).findings
    return finding


def span_of(document: str, text: str, passage: str) -> dict[str, Any]:
    start = text.index(passage)
    return {"document": document, "start": start, "end": start + len(passage), "text": passage}


EVERYTHING = {"edited": True, "twins": True, "to_other_documents": True}


class TestSiblings:
    @pytest.mark.parametrize(
        "expected",
        [
            {"spans": [span_of("north", NORTH, NORTH)]},
            {"passages": [NORTH]},
            {"relevant": ["north"]},
        ],
    )
    def test_the_label_of_a_deleted_document_is_not_given_to_its_sibling(self, expected: Any) -> None:
        done, _ = repaired(expected, {"south": SOUTH, "market": FILLER}, {"north": NORTH, "south": SOUTH}, **EVERYTHING)
        assert done.records[0]["expected_output"] == expected
        assert [finding.status for finding in done.left] == ["gone"]
        assert "only south says the same, with other facts" in done.left[0].reason
        assert "[northern -> southern] gate of [aldermouth -> millbrook] has [40 -> 52]" in done.left[0].difference

    def test_parts_that_siblings_have_do_not_add_up(self) -> None:
        halves = NORTH.split(". ")
        siblings = {"a": f"{halves[0]}. {SOUTH.split('. ')[0]}", "b": SOUTH}
        assert only({"passages": [NORTH]}, {**siblings, "market": FILLER}).status != "split"

    def test_a_number_that_changed_in_the_same_document_is_an_edit(self) -> None:
        now = {"north": NORTH.replace("40", "45"), "market": FILLER}
        finding = only({"passages": [NORTH], "relevant": ["north"]}, now)
        assert (finding.status, finding.documents, finding.is_elsewhere) == ("edited", ("north",), False)
        assert "[40 -> 45]" in finding.difference

    def test_a_document_that_states_other_facts_in_other_words_has_another_text(self) -> None:
        now = "The hotel at the western gate of Stonequay has 12 beds and no lift. Breakfast is from six until nine"
        finding = only(
            {"passages": [NORTH], "relevant": ["north"]}, {"north": f"{now} o'clock in the room on the hill."}
        )
        assert finding.status == "gone"

    def test_a_document_renamed_and_edited_is_only_taken_on_request(self) -> None:
        expected = {"spans": [span_of("north", NORTH, NORTH)]}
        now = {"hotel": NORTH.replace("a bag", "a paper bag"), "market": FILLER}
        finding = only(expected, now)
        assert (finding.status, finding.documents, finding.is_elsewhere) == ("edited", ("hotel",), True)
        done, _ = repaired(expected, now, edited=True)
        assert done.records[0]["expected_output"] == expected
        assert done.reasons == ("it is another document; --to-other-documents takes it",)
        done, findings = repaired(expected, now, edited=True, to_other_documents=True)
        assert done.records[0]["expected_output"]["spans"] == [span_of("hotel", now["hotel"], now["hotel"])]
        assert findings == ()

    def test_an_id_is_given_to_a_renamed_and_edited_document_only_on_request(self) -> None:
        now, before = {"hotel": NORTH.replace("a bag", "a paper bag")}, {"north": NORTH}
        done, _ = repaired(["north"], now, before, edited=True)
        assert done.records[0]["expected_output"] == ["north"]
        done, _ = repaired(["north"], now, before, edited=True, to_other_documents=True)
        assert done.records[0]["expected_output"] == ["hotel"]

    def test_the_corpus_of_before_says_which_document_a_passage_is_of(self) -> None:
        now = {"north": NORTH.replace("40", "45"), "south": NORTH.replace("40", "52")}
        assert only({"passages": [NORTH]}, now).status == "ambiguous"
        finding = only({"passages": [NORTH]}, now, {"north": NORTH, "south": NORTH.replace("40", "51")})
        assert (finding.status, finding.documents) == ("edited", ("north",))


class TestPlaces:
    def test_opening_words_that_also_stand_earlier_do_not_widen_an_edit(self) -> None:
        now = f"{NORTH[:34]} is described below. {FILLER}{NORTH.replace('hotel at', 'hotel right at')}"
        expected = {"passages": [NORTH], "relevant": ["c"]}
        finding = only(expected, {"c": now})
        assert finding.status == "edited"
        assert finding.place is not None
        assert now[slice(*finding.place)] == NORTH.replace("hotel at", "hotel right at")
        assert finding.difference.startswith("the hotel [∅ -> right] at the")

    def test_a_word_that_was_replaced_at_an_end_belongs_to_the_place_but_not_another_sentence(self) -> None:
        edited = "Our hotel" + NORTH[9:-7] + "earlier."
        now = f"Welcome. {edited} See you."
        finding = only({"passages": [NORTH]}, {"c": now})
        assert finding.place is not None
        assert now[slice(*finding.place)] == edited
        shorter = f"Welcome. {NORTH[10:]}"
        finding = only({"passages": [f"Dear {NORTH[4:]}"]}, {"c": shorter})
        assert finding.place is not None
        assert shorter[slice(*finding.place)] == NORTH[10:] or shorter[slice(*finding.place)].startswith("Welcome")

    def test_a_repaired_span_has_the_new_wording_so_that_the_next_check_is_silent(self) -> None:
        passage = f"{NORTH.partition('. ')[0]}."
        was, now = f"{passage} More.", f"# Hotels\n\n{passage.replace('40', '45')} More."
        done, findings = repaired({"spans": [span_of("c", was, passage)]}, {"c": now}, edited=True)
        (span,) = done.records[0]["expected_output"]["spans"]
        assert span["text"] == now[span["start"] : span["end"]] == passage.replace("40", "45")
        assert findings == ()

    def test_of_two_copies_the_one_is_taken_that_has_around_it_what_was_there(self) -> None:
        line = "| Stone Quay | Millbrook | 21:30 |"
        before = f"Summer\n{line}\nall days\n\nWinter\n{line}\nno Sundays\n"
        now = f"# Ferries\n\n{before}"
        start = before.rindex(line)
        expected = {"spans": [{"document": "c", "start": start, "end": start + len(line), "text": line}]}
        finding = only(expected, {"c": now}, {"c": before})
        assert (finding.status, finding.place) == ("moved", (now.rindex(line), now.rindex(line) + len(line)))
        finding = only(expected, {"c": now})
        assert (finding.status, finding.place) == ("ambiguous", None)
        done, _ = repaired(expected, {"c": now}, **EVERYTHING)
        assert done.records[0]["expected_output"] == expected

    def test_a_copy_in_another_document_does_not_hinder_a_span_that_moved_in_its_own(self) -> None:
        passage = f"{NORTH.partition('. ')[0]}."
        documents = {"c": f"Hotels. {passage}", "d": passage}
        done, _ = repaired({"spans": [{"document": "c", "start": 0, "end": len(passage), "text": passage}]}, documents)
        assert done.records[0]["expected_output"]["spans"][0]["start"] == 8


class TestReasons:
    def test_each_label_with_a_known_place_that_stays_is_shown_with_the_reason(self) -> None:
        documents = {"north": NORTH, "market": FILLER}
        done, _ = repaired({"passages": [NORTH], "relevant": ["market"]}, documents)
        assert isinstance(done, Repaired)
        line, empty, count = change_lines(done)
        label = f'"{NORTH[:47]}..."'
        head = f"q1, passages {label}: moved, it occurs in north, not in market"
        why = "its text is as it was; the relevant ids, or the text, have to be corrected"
        assert (line, empty) == (f"{head} (left: {why})", "")
        assert count == "0 changes; left as they are: 1 moved"

    def test_what_is_said_of_another_place_names_the_labelled_document(self) -> None:
        finding = only({"passages": [FILLER], "relevant": ["north"]}, {"north": NORTH, "market": FILLER})
        assert finding.reason == "it occurs in market, not in north"
