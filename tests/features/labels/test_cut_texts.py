"""Labels of texts that a splitter cut within words: where they stand, and whether that is in their own document."""

from __future__ import annotations

import pytest

from rankgauge.features.labels.check_labels import check_labels
from rankgauge.features.labels.label_findings import LabelFinding
from rankgauge.features.labels.repair_labels import repair_labels
from rankgauge.io.corpus import Corpus
from rankgauge.samples import read_sample

SPEECH = (
    "Swallows leave in September and cross the desert by night, following the coast until they reach the great lakes. "
    "Knead the dough for ten minutes, let it rest under a wet towel, and bake it in a very hot oven until it is brown. "
    "The harbour master decides in a storm whether boats leave, and the decision is shown on the boards at every pier. "
    "Whoever lost a glove on the way can ask for it at the office behind the old market, which opens at noon on Monday."
)


def corpus(documents: dict[str, str]) -> Corpus:
    return Corpus(tuple(documents), ("",) * len(documents), tuple(documents.values()))


def found(expected: object, documents: dict[str, str], before: dict[str, str] | None = None) -> list[LabelFinding]:
    sample = read_sample({"id": "q1", "expected_output": expected}, problems=[])
    assert sample is not None
    was = None if before is None else corpus(before)
    return list(check_labels([sample], corpus(documents), before=was).findings)


CUT = SPEECH[4:97]  # "lows leave in ... reach the gr"


@pytest.mark.parametrize("kept", [{}, {"c": "Another text about something else."}])
def test_the_text_of_an_id_that_stands_in_another_document_now_has_moved(kept: dict[str, str]) -> None:
    (finding,) = found(["c"], {"d": SPEECH, **kept}, before={"c": CUT})
    assert (finding.status, finding.documents) == ("moved", ("d",))
    assert finding.reason == "it occurs in d, not in c"


def test_the_text_of_an_id_that_stands_in_its_own_document_is_valid() -> None:
    assert found(["c"], {"c": SPEECH, "d": "Another text."}, before={"c": CUT}) == []


def test_a_passage_that_one_document_holds_is_valid_and_in_several_it_is_ambiguous() -> None:
    assert found({"passages": [CUT]}, {"c": SPEECH}) == []
    (finding,) = found({"passages": [CUT]}, {"c": SPEECH, "d": SPEECH[:150]})
    assert (finding.status, finding.documents) == ("ambiguous", ("c", "d"))


def test_a_passage_beside_the_id_of_its_document() -> None:
    (finding,) = found({"passages": [CUT], "relevant": ["d"]}, {"c": SPEECH, "d": "Another text."})
    assert (finding.kind, finding.status, finding.documents) == ("passages", "moved", ("c",))


@pytest.mark.parametrize("name", ["c", "lost"])
def test_a_span_that_is_cut_within_words_gets_the_place_of_its_letters(name: str) -> None:
    span = {"document": name, "start": 4, "end": 97, "text": CUT}
    now = {"c": f"# Birds\n\n{SPEECH}"}
    (finding,) = found({"spans": [span]}, now)
    assert (finding.status, finding.documents, finding.place) == ("moved", ("c",), (13, 106))
    assert now["c"][13:106] == CUT


def test_a_number_at_the_end_of_a_text_is_no_part_of_a_longer_one() -> None:
    text = "The small pump of the harbour costs 12"
    assert found({"passages": [text]}, {"c": f"{text} euros."}) == []
    (finding,) = found({"passages": [text]}, {"c": f"{text}5 euros."})
    assert finding.status == "edited"
    assert "[12 -> 125]" in finding.difference
    assert found({"passages": [text[2:]]}, {"c": f"{text}5 euros."}) == []  # cut at both ends, as splitters do


@pytest.mark.parametrize(
    ("document", "end"),
    [
        ("The boats leave at noon, as [the page of the harbour](harbour/boats.md) says of all of them.", "harbour/bo"),
        ("The boats leave at noon, as the list of departures has it:\nq05 leaves first\nq06 leaves next", "first\nq"),
        ("The boats leave at noon, and <a href='boats.html'>their list</a> says where from.", "href='boa"),
    ],
)
def test_a_text_that_is_cut_within_markup_or_a_code_stands_where_its_letters_do(document: str, end: str) -> None:
    text = document[: document.index(end) + len(end)]
    assert found({"passages": [text]}, {"c": document}) == []
    assert found({"passages": [text]}, {"c": document, "d": f"Before. {document}"})[0].status == "ambiguous"


def test_few_words_that_are_cut_are_looked_up_in_their_own_document() -> None:
    assert found({"passages": ["mp costs 12 eur"], "relevant": ["c"]}, {"c": "The pump costs 12 euros."}) == []
    (finding,) = found({"passages": ["mp costs 12 eur"]}, {"c": "The pump costs 12 euros."})
    assert finding.status == "gone"  # in whatever document, so few letters say little


def test_the_text_of_a_chunk_stands_cut_in_one_document_and_whole_in_another() -> None:
    """Both count: "ows leave" begins a chunk that was cut there, and is a part of "Swallows leave"."""
    before = {"c": CUT}
    (finding,) = found(["c"], {"c": SPEECH, "copy": CUT, "d": "x"}, before=before) or [None]
    assert finding is None or finding.status == "twin"


@pytest.mark.parametrize(("size", "again"), [(40, 80), (50, 130), (90, 60), (33, 200)])
def test_chunks_that_are_cut_anew(size: int, again: int) -> None:
    """What is said of each old chunk is held to where its characters stand."""
    text = SPEECH.replace(" the ", " this ").strip()
    old = {f"c{at // size}": text[at : at + size] for at in range(0, len(text), size)}
    new = {f"c{at // again}": text[at : at + again] for at in range(0, len(text), again)}
    records = [{"id": name, "expected_output": [name]} for name in old]
    samples = [read_sample(record, problems=[]) for record in records]
    report = check_labels([each for each in samples if each], corpus(new), before=corpus(old))
    by_label = {finding.label: finding for finding in report.findings if finding.status != "twin"}
    for name, piece in old.items():
        if len(piece.split()) < 5:
            continue  # what few words say is looked up in their own document alone
        holders = [other for other, whole in new.items() if piece in whole]
        finding = by_label.get(name)
        if name in holders:
            assert finding is None
        elif holders:
            assert finding is not None
            assert (finding.status, finding.documents) == ("moved", tuple(holders))
        else:
            assert finding is not None
            assert finding.status in {"split", "gone", "edited"}
    done = repair_labels(records, report, corpus(new), edited=True)
    for change in done.changes:
        assert old[change.was] in new[change.now[0]]
