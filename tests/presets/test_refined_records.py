"""LongMemEval and LoCoMo as their own code reads them, restated here from what that code does."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.errors import PluginError
from rankgauge.plugin import hookimpl, preset
from rankgauge.samples.sample_values import InvalidError
from rankgauge.samples.validity import read_moment

CATALOG = Catalog.discover(own_only=True)
OF_TURNS = 'unit="(.+)_[0-9]+"'


def turn(role: str, *, has_answer: bool = False) -> dict[str, Any]:
    return {"role": role, "content": "x", "has_answer": has_answer}


def question(name: str, sessions: dict[str, list[dict[str, Any]]], **others: Any) -> dict[str, Any]:
    answering = [session for session in sessions if session.startswith("answer")]
    return {
        "question_id": name,
        "question": "?",
        "question_type": "multi-session",
        "answer": "yes",
        "question_date": "2023/05/30 (Tue) 22:10",
        "haystack_session_ids": list(sessions),
        "haystack_sessions": list(sessions.values()),
        "answer_session_ids": answering,
        **others,
    }


def corpus(record: dict[str, Any], granularity: str) -> list[str]:
    """Return what LongMemEval's code calls the items of a question's corpus."""
    names = []
    for session, turns in zip(record["haystack_session_ids"], record["haystack_sessions"], strict=True):
        of_user = [(number, each) for number, each in enumerate(turns, 1) if each["role"] == "user"]
        if granularity == "session":
            has_none = "answer" in session and not any(each["has_answer"] for _, each in of_user)
            names.append(session.replace("answer", "noans") if has_none else session)
        for number, each in of_user if granularity == "turn" else ():
            name = f"{session}_{number}"
            is_none = "answer" in session and not each["has_answer"]
            names.append(name.replace("answer", "noans") if is_none else name)
    return names


def logged(record: dict[str, Any], ranked: list[str]) -> dict[str, Any]:
    return {**record, "retrieval_results": {"ranked_items": [{"corpus_id": name, "text": "x"} for name in ranked]}}


def by_its_code(records: list[dict[str, Any]], k: int, *, rolls: bool) -> list[tuple[float, float]]:
    """Return whether any and all sessions or turns with an answer are found, of the questions that its code counts."""
    scores = []
    for record in records:
        turns = [each for session in record["haystack_sessions"] for each in session]
        if "_abs" in record["question_id"] or not any(each["role"] == "user" and each["has_answer"] for each in turns):
            continue
        ranked = [item["corpus_id"] for item in record["retrieval_results"]["ranked_items"]]
        gold = {name for name in ranked if "answer" in name}
        if rolls:
            gold, ranked = ({*map(session_of, gold)}, list(dict.fromkeys(map(session_of, ranked))))
        found = gold & set(ranked[:k])
        scores.append((float(bool(found)), float(found == gold)))
    return scores


def session_of(name: str) -> str:
    return name.rpartition("_")[0]


def run(records: list[dict[str, Any]], *metrics: str) -> Any:
    return Engine(catalog=CATALOG).dataset(records, preset="longmemeval").with_metrics(metrics).run()


def test_questions_without_an_answer_and_of_assistants_alone_are_left_out() -> None:
    """Of three questions one counts: one has no answer, and of one only the assistant said it."""
    right = question("q1", {"answer_280352e9": [turn("user", has_answer=True)], "s2": [turn("user")]})
    nothing = question("q2_abs", {"answer_b3070ec4_abs_1": [turn("user")], "s2": [turn("user")]})
    said = [turn("user"), turn("assistant", has_answer=True)]
    of_assistant = question("q3", {"answer_1fc31137": said, "s2": [turn("user")]})
    for granularity in ("session", "turn"):
        records = [logged(each, corpus(each, granularity)) for each in (right, nothing, of_assistant)]
        result = run(records, "recall@1")
        assert (result["recall@1"].mean, result["recall@1"].n) == (1.0, 1)
        assert result["recall@1"].n_undefined == 2


def test_sessions_of_which_only_the_assistant_has_the_answer_are_no_gold() -> None:
    of_user, of_assistant = [turn("user", has_answer=True)], [turn("user"), turn("assistant", has_answer=True)]
    record = question("q", {"answer_1_1": of_user, "answer_1_2": of_assistant, "answer_1_3": of_assistant})
    assert run([logged(record, corpus(record, "session"))], "recall@3")["recall@3"].mean == 1.0


@pytest.mark.parametrize(("granularity", "rolls"), [("session", False), ("turn", False), ("turn", True)])
def test_drawn_logs_are_scored_as_by_its_code(granularity: str, rolls: bool) -> None:  # of parametrize
    chance = random.Random(5)  # noqa: S311  # data
    records = []
    for number in range(60):
        several = chance.random() < 0.5
        named = [f"answer_{number:08x}_{part}" for part in (1, 2, 3)] if several else [f"answer_{number:08x}"]
        sessions = {
            name: [
                turn(role, has_answer=name in named and chance.random() < 0.3)
                for _ in range(chance.randint(1, 3))
                for role in ("user", "assistant")
            ]
            for name in (*named, "sharegpt_a_0", "ultrachat_12", "9c1b")
        }
        record = question(f"q{number}{'_abs' * (chance.random() < 0.1)}", sessions)
        ranked = corpus(record, granularity)
        chance.shuffle(ranked)
        records.append(logged(record, ranked))
    unit = f"({OF_TURNS})" if rolls else ""
    result = run(records, f"hit{unit}@3", f"recall_all{unit}@3")
    expected = by_its_code(records, 3, rolls=rolls)
    assert 20 < len(expected) < 60
    for column, values in zip(result.metrics.values(), zip(*expected, strict=True), strict=True):
        assert column.n == len(expected)
        assert column.mean == pytest.approx(sum(values) / len(values))


def test_outputs_of_others_are_held_to_the_sessions_that_a_question_names() -> None:
    said = [turn("user"), turn("assistant", has_answer=True)]
    record = question("q", {"answer_1fc31137": said, "s2": [turn("user")]})
    evaluation = Engine(catalog=CATALOG).dataset([record], preset="longmemeval").with_metrics("recall@1")
    assert evaluation.run(outputs={"q": [{"id": "answer_1fc31137"}]})["recall@1"].mean == 1.0


def test_the_date_of_a_question_is_when_it_was_asked() -> None:
    record = question("q", {"answer_1": [turn("user", has_answer=True)]})
    known = {"valid_to": "2023/05/30 (Tue) 22:00"}
    output = [{"id": "answer_1", "metadata": known}, {"id": "s2", "metadata": {"valid_from": "1:56 pm on 8 May, 2023"}}]
    evaluation = Engine(catalog=CATALOG).dataset([record], preset="longmemeval").with_metrics("stale@2")
    assert evaluation.run(outputs={"q": output})["stale@2"].mean == 0.5


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2023/05/30 (Tue) 22:10", datetime(2023, 5, 30, 22, 10, tzinfo=UTC)),
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:09 am on 13 September, 2023", datetime(2023, 9, 13, 0, 9, tzinfo=UTC)),
        ("12:30 PM on 1 Jan, 2024", datetime(2024, 1, 1, 12, 30, tzinfo=UTC)),
    ],
)
def test_dates_are_read_as_the_benchmarks_write_them(text: str, moment: datetime) -> None:
    assert read_moment(text, "") == moment


@pytest.mark.parametrize(
    "text", ["2023/05/30", "05/06/2023", "2023/13/30 (Tue) 22:10", "13:56 pm on 8 May, 2023", "8 May"]
)
def test_any_other_date_is_refused(text: str) -> None:
    with pytest.raises(InvalidError, match="ISO 8601"):
        read_moment(text, "")


def test_evidence_of_locomo_may_be_several_turns_in_one_text() -> None:
    asked = {"question": "?", "answer": 2022, "evidence": ["D8:6; D9:17", "D1:3"], "category": 2}
    evaluation = Engine(catalog=CATALOG).dataset([asked], preset="locomo").with_metrics("recall@2")
    assert evaluation.run(outputs={"0": [{"id": "D9:17"}, {"id": "D1:3"}]})["recall@2"].mean == pytest.approx(2 / 3)


def refined(refine: Callable[..., Any]) -> Catalog:
    @preset("ours", fields={"id": "key", "expected_output.relevant": "gold"}, marks=[("key", "gold")], refine=refine)
    def ours() -> None:
        """Our log."""

    class Plugin:
        @hookimpl
        def rankgauge_presets(self) -> Any:
            return [ours]

    return Catalog.discover(plugins={"acme": Plugin()})


def test_presets_of_plugins_may_refine_samples_and_fail_by_name() -> None:
    rows = [{"key": "a", "gold": ["x"], "known": False}, {"key": "b", "gold": ["x"], "known": True}]
    outputs = {"a": [{"id": "y"}], "b": [{"id": "x"}]}

    def refine(record: Any, sample: Any) -> Any:
        return {**sample, "metadata": {"answerable": record["known"]}}

    engine = Engine(catalog=refined(refine)).dataset(rows, preset="ours").with_metrics("recall@1")
    assert engine.run(outputs=outputs)["recall@1"].mean == 1.0
    broken = Engine(catalog=refined(lambda record, _: record["nope"])).dataset(rows, preset="ours")
    with pytest.raises(PluginError, match=r"refine of preset 'ours' \(by .*acme.*KeyError"):
        broken.with_metrics("recall@1").run(outputs=outputs)


def test_a_log_without_its_sessions_says_by_its_names_which_have_an_answer() -> None:
    record = question("q", {"answer_1": [turn("user", has_answer=True)]})
    bare = {key: value for key, value in record.items() if not key.startswith("haystack")}
    lines = json.loads(json.dumps([logged(bare, ["answer_1_3", "noans_1_5", "s2_1"])]))
    assert run(lines, "recall@1")["recall@1"].mean == 1.0
