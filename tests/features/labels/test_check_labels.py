"""Labels against a corpus: each finding by a small corpus of which what is right can be seen."""

from __future__ import annotations

from typing import Any

import pytest

from rankgauge.features.labels.check_labels import check_labels
from rankgauge.features.labels.label_findings import GoldReport, LabelFinding
from rankgauge.features.labels.labels import TracedLabels
from rankgauge.io.corpus import Corpus
from rankgauge.io.gold_labels import Label
from rankgauge.samples import Sample, read_sample
from tables import rows

PUMP = "The pump costs 12 euros and weighs four kilograms. It ships from the harbour of Rotterdam within three days."
BIRDS = (
    "Swallows leave in September and cross the desert by night, following the coast of Africa until they reach lakes."
)
BREAD = "Knead the dough for ten minutes, let it rest in a bowl under a wet towel, and bake it in a very hot oven."


def corpus(*documents: tuple[str, ...]) -> Corpus:
    rows = [document if len(document) == 3 else (document[0], "", document[1]) for document in documents]
    ids, titles, texts = zip(*rows, strict=True)
    return Corpus(ids, titles, texts)


def sample(expected: Any, question: Any = None, name: str = "q1") -> Sample:
    problems: list[Any] = []
    read = read_sample({"id": name, "input": question, "expected_output": expected}, problems=problems)
    assert read is not None, problems
    return read


def findings(
    expected: Any, documents: Corpus, question: Any = None, before: Corpus | None = None
) -> list[LabelFinding]:
    return list(check_labels([sample(expected, question)], documents, before=before).findings)


def only(expected: Any, documents: Corpus, question: Any = None, before: Corpus | None = None) -> LabelFinding:
    (finding,) = findings(expected, documents, question, before)
    return finding


DOCUMENTS = corpus(("pump", PUMP), ("birds", BIRDS), ("bread", BREAD))


class TestTexts:
    @pytest.mark.parametrize(
        "text",
        [
            PUMP,
            "weighs four kilograms. It ships from the harbour",
            "WEIGHS FOUR\n   kilograms; it ships",
            "weighs <b>four</b> kilograms",
            "Rotterdam",  # fewer words than a run
            "12 euros",
            "mp costs 12 euros and weighs four kilogr",  # cut within words
        ],
    )
    def test_a_text_that_stands_in_one_document_is_valid(self, text: str) -> None:
        report = check_labels([sample({"passages": [text]})], DOCUMENTS)
        assert report.findings == ()
        assert (dict(report.labels), dict(report.valid)) == ({"passages": 1}, {"passages": 1})

    def test_a_text_is_not_found_inside_words(self) -> None:
        assert only({"passages": ["otter"]}, DOCUMENTS).status == "gone"

    def test_an_edited_text_is_shown_with_its_difference(self) -> None:
        edited = PUMP.replace("12 euros", "15 euros")
        finding = only({"passages": [PUMP]}, corpus(("birds", BIRDS), ("pump", f"A new line. {edited} And more.")))
        assert (finding.status, finding.documents) == ("edited", ("pump",))
        assert "[12 -> 15]" in finding.difference
        assert "[" not in finding.difference.replace("[12 -> 15]", "")
        letters = len("".join(character for character in PUMP if character.isalnum()))
        assert finding.cover == pytest.approx((letters - 2) / letters)
        assert finding.place == (12, 12 + len(edited))  # with the full stop, which the label has, too

    def test_a_text_that_other_documents_have_together_is_split(self) -> None:
        words = BIRDS.split()
        halves = " ".join(words[:9]), " ".join(words[9:])
        finding = only({"passages": [BIRDS]}, corpus(("bread", BREAD), ("b#1", halves[0]), ("b#2", halves[1])))
        assert (finding.status, set(finding.documents)) == ("split", {"b#1", "b#2"})

    def test_a_text_that_is_nowhere_is_gone(self) -> None:
        finding = only({"passages": [BIRDS]}, corpus(("pump", PUMP), ("bread", BREAD)))
        assert (finding.status, finding.cover) == ("gone", 0.0)

    def test_a_text_that_stands_twice_is_ambiguous_and_copies_without_label_are_named(self) -> None:
        documents = corpus(("old", BIRDS), ("new", f"News. {BIRDS}"), ("pump", PUMP))
        finding = only({"passages": [BIRDS]}, documents)
        assert (finding.status, finding.documents) == ("ambiguous", ("old", "new"))
        finding = findings({"passages": ["cross the desert by night"], "relevant": ["new"]}, documents)[0]
        assert (finding.status, finding.documents) == ("ambiguous", ("old",))
        assert "old, which by id is wrong" in finding.reason
        both = {"passages": ["cross the desert by night"], "relevant": ["new", "old"]}
        assert findings(both, documents) == []

    def test_a_text_that_stands_in_another_document_than_the_labelled_one_moved(self) -> None:
        finding = only({"passages": [BREAD], "relevant": ["pump"]}, DOCUMENTS)
        assert (finding.kind, finding.status, finding.documents) == ("passages", "moved", ("bread",))

    def test_a_text_that_is_the_title_of_another_document(self) -> None:
        documents = corpus(("a", "How swallows travel", BIRDS), ("pump", PUMP))
        finding = only({"passages": ["How swallows travel"], "relevant": ["pump"]}, documents)
        assert (finding.status, finding.documents) == ("other-title", ("a",))

    def test_scripts_without_spaces(self) -> None:
        documents = corpus(("a", "水泵的价格是十二欧元、重四公斤。"), ("b", "燕子在九月离开、夜里穿过沙漠。"))
        assert findings({"passages": ["重四公斤"]}, documents) == []
        assert only({"passages": ["水泵的价格是十五欧元、重四公斤"]}, documents).status == "edited"

    def test_repeated_words_and_texts_of_signs_alone(self) -> None:
        documents = corpus(("a", "na na na na na na batman"), ("b", "..."), ("c", ""))
        assert findings({"passages": ["na na na na"]}, documents) == []
        assert only({"passages": ["!!!"]}, documents).status == "gone"


class TestIds:
    def test_an_id_is_valid_or_gone(self) -> None:
        assert findings({"relevant": ["pump", "birds"]}, DOCUMENTS) == []
        finding = only({"relevant": {"pump": 1, "cellar": 2}}, DOCUMENTS)
        assert (finding.label, finding.status) == ("cellar", "gone")

    def test_an_id_that_was_judged_not_relevant_is_no_label(self) -> None:
        assert findings({"relevant": {"pump": 1, "cellar": 0}}, DOCUMENTS) == []

    @rows(
        ("label", "now", "status", "documents"),
        [
            ("Doc7", ("doc7",), "moved", ("doc7",)),
            ("doc7", ("doc7#0",), "moved", ("doc7#0",)),
            ("doc7", ("doc7_chunk_2", "doc7_chunk_1"), "split", ("doc7_chunk_2", "doc7_chunk_1")),
            ("doc7", ("doc70", "doc7-setup"), "gone", ()),
            ("doc7#3", ("doc7",), "moved", ("doc7",)),
            ("guides/setup", ("guides/setup.md",), "moved", ("guides/setup.md",)),
            ("guides/setup.md", ("guides/setup",), "moved", ("guides/setup",)),
            ("setup", ("setup.md", "setup.txt"), "gone", ()),  # two that it may be
        ],
    )
    def test_an_id_that_is_written_otherwise_now(self, label, now, status, documents) -> None:
        finding = only([label], corpus(("pump", PUMP), *((name, f"{BIRDS} {name}") for name in now)))
        assert (finding.status, finding.documents) == (status, documents)

    def test_a_title_in_place_of_an_id(self) -> None:
        finding = only(["How swallows travel"], corpus(("a17", "How Swallows Travel", BIRDS)))
        assert (finding.status, finding.documents) == ("moved", ("a17",))

    def test_an_id_whose_passage_only_one_other_document_has(self) -> None:
        finding = only({"relevant": ["x9"], "passages": ["bake it in a very hot oven"]}, DOCUMENTS)
        assert (finding.label, finding.status, finding.documents) == ("x9", "moved", ("bread",))

    def test_the_corpus_of_before_says_what_became_of_ids(self) -> None:
        before = corpus(("d1", PUMP), ("d2", BIRDS), ("d3", BREAD), ("d4", "An old page that nobody kept at all."))
        now = corpus(
            ("d1", PUMP.replace("three", "four")), ("e2", BIRDS), ("d3", f"{BREAD} Enjoy!"), ("d4", "Something.")
        )
        report = check_labels([sample(["d1", "d2", "d3", "d4"])], now, before=before)
        assert [(finding.label, finding.status, finding.documents) for finding in report.findings] == [
            ("d1", "edited", ("d1",)),
            ("d2", "moved", ("e2",)),
            ("d4", "gone", ("d4",)),
        ]
        assert "[three -> four]" in report.findings[0].difference


class TestSamples:
    def test_near_duplicates_without_a_label(self) -> None:
        twin = BREAD.replace("wet", "damp")
        documents = corpus(("bread", BREAD), ("twin", twin), ("longer", f"{BREAD} {PUMP}"), ("pump", PUMP))
        finding = only(["bread"], documents)
        assert (finding.status, finding.documents) == ("twin", ("twin",))
        assert findings({"relevant": {"bread": 1, "twin": 0}}, documents) == []  # it was judged
        assert findings(["bread", "twin"], documents) == []

    def test_a_document_of_other_facts_is_a_sibling_and_no_twin(self) -> None:
        documents = corpus(("bread", BREAD), ("loaf", BREAD.replace("ten", "twelve")), ("pump", PUMP))
        finding = only(["bread"], documents)
        assert (finding.status, finding.documents) == ("sibling", ("loaf",))
        assert "[ten -> twelve]" in finding.difference
        report = check_labels([sample(["bread"])], documents)
        assert report.is_clean
        assert report.to_dict()["ok"]

    @pytest.mark.parametrize(
        ("other", "counts"),
        [
            ("The oven costs 30 euros.", ""),  # the words before a number that differs are in its sentence
            (
                "A stove of 30.",
                "; stove counts as it by text",
            ),  # no run of three words, and the next sentence is the same
        ],
    )
    def test_a_passage_beside_siblings_that_may_count_by_text(self, other: str, counts: str) -> None:
        gold = f"The oven costs 12 euros. {BREAD}"
        finding = only({"passages": [gold]}, corpus(("oven", gold), ("stove", f"News. {other} {BREAD}")))
        assert (finding.status, finding.documents) == ("sibling", ("stove",))
        assert finding.reason == f"stove says the same, with other facts{counts}"

    def test_questions_that_stand_in_the_corpus(self) -> None:
        documents = corpus(("faq", "What does the pump cost? It costs 12 euros."), ("birds", BIRDS))
        finding = only(["faq"], documents, {"question": "what does the pump cost"})
        assert (finding.status, finding.documents) == ("question-in-corpus", ("faq",))
        assert findings(["faq"], documents, "the pump cost") == []  # three words may stand anywhere

    def test_long_answers_that_stand_beside_the_gold(self) -> None:
        answer = "The pump of the boiler costs twelve euros a month."  # ten words
        gold = f"Prices. {answer} Ask for them."
        documents = corpus(("prices", gold), ("sheet", f"Sheet. {answer.upper()}"), ("birds", BIRDS))
        found = only({"relevant": ["prices"], "answer": answer}, documents)
        assert (found.kind, found.status, found.documents) == ("answer", "answer-in-corpus", ("sheet",))
        assert found.reason == "the answer occurs in sheet word for word, which is not its gold"
        passage = {"passages": [f"Prices. {answer}"], "answer": ["nothing", answer]}
        assert [each.status for each in findings(passage, documents)] == ["answer-in-corpus"]
        assert findings({"relevant": ["prices", "sheet"], "answer": answer}, documents) == []
        short = "costs twelve euros a month"
        assert findings({"relevant": ["prices"], "answer": short}, documents) == []  # five words may stand anywhere
        assert findings({"answer": answer}, documents) == []  # there is no gold beside which it could stand

    def test_answers_that_stand_in_no_gold_text(self) -> None:
        assert findings({"relevant": ["pump"], "answer": "12 euros"}, DOCUMENTS) == []
        assert findings({"relevant": ["pump"], "answer": ["a dozen", "12 Euros"]}, DOCUMENTS) == []
        assert only({"relevant": ["birds"], "answer": "12 euros"}, DOCUMENTS).status == "answer-not-in-gold"
        assert only({"passages": ["Knead the dough for ten minutes"], "answer": "minute"}, DOCUMENTS).kind == "answer"
        assert findings({"answer": "12 euros"}, DOCUMENTS) == []  # there is no gold text

    def test_the_same_question_with_other_gold(self) -> None:
        samples = [
            sample(["pump"], "How much is it?", "a"),
            sample(["birds"], "how much is it", "b"),
            sample(["pump"], "How much is it", "c"),
            sample(["pump"], "How heavy is it", "d"),
        ]
        report = check_labels(samples, DOCUMENTS)
        assert [(finding.sample, finding.status, finding.reason) for finding in report.findings] == [
            ("a", "same-question", "b asks the same and has other gold"),
            ("b", "same-question", "a, c ask the same and have other gold"),
            ("c", "same-question", "b asks the same and has other gold"),
        ]

    def test_a_question_that_names_another_documents_title(self) -> None:
        documents = corpus(("n", "Nginx tuning", BREAD), ("a", "Apache tuning", BIRDS))
        question = "How many workers does Nginx tuning advise?"
        finding = only(["a"], documents, question)
        assert (finding.status, finding.documents) == ("other-title", ("n",))
        assert findings(["n"], documents, question) == []
        assert findings(["a"], documents, "Is Nginx tuning like Apache tuning?") == []


def of_span(document: str, start: int, end: int, text: str | None, documents: Corpus) -> GoldReport:
    span = {"document": document, "start": start, "end": end} | ({} if text is None else {"text": text})
    sample = read_sample({"id": "q1", "expected_output": {"spans": [span]}}, problems=[])
    assert sample is not None
    return check_labels([sample], documents)


class TestSpans:
    SHIFTED = corpus(("pump", f"Price list. {PUMP}"), ("bread", BREAD))

    def test_a_span_whose_text_stands_there_is_valid(self) -> None:
        assert of_span("pump", 4, 23, PUMP[4:23], DOCUMENTS).findings == ()
        assert of_span("pump", 4, 23, None, DOCUMENTS).findings == ()

    def test_a_span_that_ends_behind_its_document_is_gone(self) -> None:
        (finding,) = of_span("pump", 4, 1000, None, DOCUMENTS).findings
        assert (finding.status, finding.reason) == ("gone", f"the document has {len(PUMP)} characters")

    def test_a_span_that_moved_in_its_document(self) -> None:
        (finding,) = of_span("pump", 4, 23, PUMP[4:23], self.SHIFTED).findings
        assert (finding.status, finding.documents, finding.place) == ("moved", ("pump",), (16, 35))
        assert self.SHIFTED.texts[0][16:35] == PUMP[4:23] == "pump costs 12 euros"

    def test_a_span_that_moved_to_another_document(self) -> None:
        (finding,) = of_span("lost", 4, 23, PUMP[4:23], DOCUMENTS).findings
        assert (finding.status, finding.documents, finding.place) == ("moved", ("pump",), (4, 23))

    def test_places_are_those_of_the_text_without_its_title(self) -> None:
        documents = corpus(("pump", "The price list", PUMP))
        (finding,) = of_span("pump", 0, 19, PUMP[4:23], documents).findings
        assert finding.place == (4, 23)


def test_a_text_is_looked_up_once_however_many_samples_have_it() -> None:
    samples = [sample({"relevant": ["pump"], "passages": [PUMP]}, name=f"q{number}") for number in range(100)]
    labels = TracedLabels(samples, DOCUMENTS, None)
    assert len(labels._traced) == 2  # the passage, and the document beside itself
    assert check_labels(samples, DOCUMENTS).findings == ()
    assert str(Label("q", "passages", 0, "x" * 60)) == f'"{"x" * 47}..."'


class TestBesideOtherLabels:
    """What one label says must not be taken from another one of its sample, or from another document."""

    def test_parts_begin_with_the_id_of_their_document(self) -> None:
        documents = corpus(("doc7#1", PUMP), ("docs8#2", BIRDS), ("zzzz#3", BREAD))
        finding = only({"relevant": ["doc7"]}, documents)
        assert (finding.status, finding.documents) == ("moved", ("doc7#1",))

    def test_the_labelled_document_comes_before_one_that_has_more_of_an_edited_text(self) -> None:
        words = PUMP.split()
        less, more = (" ".join([*words[:kept], "and", "nothing", "else"]) for kept in (13, 16))
        finding = findings({"passages": [PUMP], "relevant": ["less"]}, corpus(("more", more), ("less", less)))[0]
        assert (finding.status, finding.documents) == ("edited", ("less",))

    def test_a_span_at_the_beginning_of_its_document_is_valid(self) -> None:
        span = {"document": "pump", "start": 0, "end": 27, "text": PUMP[:27]}
        assert findings({"spans": [span]}, corpus(("pump", PUMP), ("copy", f"News. {PUMP[:27]}.")))[0].status == (
            "ambiguous"
        )
        assert findings({"spans": [span]}, DOCUMENTS) == []

    def test_a_span_has_its_own_text_and_not_that_of_the_old_corpus(self) -> None:
        span = {"document": "birds", "start": 0, "end": 8, "text": "Swallows"}
        assert findings({"spans": [span]}, DOCUMENTS, before=corpus(("birds", "Sparrows leave"))) == []

    def test_a_span_of_a_lost_document_is_gone_whatever_the_passages_say(self) -> None:
        span = {"document": "cellar", "start": 0, "end": 8}
        finding = findings({"spans": [span], "passages": [BREAD]}, DOCUMENTS)[-1]
        assert (finding.kind, finding.status) == ("spans", "gone")

    def test_two_lost_ids_are_not_both_the_document_with_the_passage(self) -> None:
        lost = findings({"relevant": ["old", "older"], "passages": [BREAD]}, DOCUMENTS)
        assert [finding.status for finding in lost if finding.kind == "relevant"] == ["gone", "gone"]

    @pytest.mark.parametrize(
        ("one", "other", "is_found"),
        [
            ({"passages": [PUMP]}, {"passages": [PUMP]}, False),
            ({"passages": [PUMP]}, {"relevant": ["pump"]}, True),
            ({"relevant": {"pump": 1}}, {"relevant": {"pump": 2}}, True),
            (
                {"spans": [{"document": "pump", "start": 0, "end": 20}]},
                {"spans": [{"document": "pump", "start": 30, "end": 50}]},
                True,
            ),
        ],
    )
    def test_the_same_question_with_other_gold(self, one, other, is_found) -> None:
        both = [sample(one, "What is it?", "q1"), sample(other, "what IS it", "q2")]
        found = {finding.sample: finding.reason for finding in check_labels(both, DOCUMENTS).findings}
        assert found == (
            {"q1": "q2 asks the same and has other gold", "q2": "q1 asks the same and has other gold"}
            if is_found
            else {}
        )
