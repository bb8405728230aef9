"""
`rankgauge judge questions`: a model drafts questions from a corpus, with gold, for who has none.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import ParameterError
from rankgauge.files import Corpus, check_new_file, json_lines, read_corpus, read_sample, write_whole
from rankgauge.labels import LabelFinding, check_labels
from rankgauge.plugin import Console
from rankgauge.text import counted
from rankgauge_judge.asking import Outcome
from rankgauge_judge.model_calls import INCOMPLETE, ask_given, told_of_calls, told_of_end
from rankgauge_judge.questions import WORDING, Drafted, QuestionWriter, Source, extract

__all__ = ["DRAFTED", "draft_questions"]

DRAFTED = "question drafted by a model"
"""The tag of samples whose question no person has asked; every report shows it as a cohort."""

_LEAKS = frozenset({"question-in-corpus", "same-question"})
"""What `gold check` says of questions that are left out."""

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Written:
    """Samples, and what `gold check` says of them and of those that were left out."""

    records: Sequence[dict[str, Any]]
    findings: Sequence[LabelFinding]
    leaks: int


def draft_questions(given: argparse.Namespace, console: Console) -> int:
    """Do what `judge questions` was given, and return its exit code."""
    check_new_file(given.output)
    corpus = read_corpus(given.corpus, catalog=console.catalog())
    names, sources = _drawn(corpus, given, console)
    outcome, took = ask_given(given, console, lambda model: QuestionWriter(model).draft, sources)
    is_complete = not outcome.ended and not outcome.failed and len(outcome.done) == len(sources)
    done = [outcome.done[place] for place in sorted(outcome.done) if not outcome.done[place].failure]
    written = _checked(corpus, [_record(names[one.place], one, given.model) for one in done if one.question])
    is_written = (is_complete or given.partial) and bool(written.records)
    if is_written:
        write_whole({given.output: json_lines(written.records)})
    summary = {
        "model": given.model,
        "wording": WORDING,
        "documents": len(sources),
        "questions": len(written.records),
        "nothing_to_ask": sum(not one.question for one in done),
        "leaks": written.leaks,
        "shared_words": statistics.median([one.shared for one in done if one.question] or [0.0]),
        "findings": dict(Counter(finding.status for finding in written.findings)),
        **took,
    }
    if given.as_json:
        console.json(summary | {"output": str(given.output) if is_written else None})
    else:
        console.echo("\n".join(_told(summary, outcome, names, is_written=is_written)))
        console.echo(f"wrote {given.output}" if is_written else _unwritten(given, written))
    return 0 if is_complete and is_written else INCOMPLETE


def _drawn(corpus: Corpus, given: argparse.Namespace, console: Console) -> tuple[list[str], list[Source]]:
    """Return the documents to ask about; a seed draws in one order, so that fewer of them are part of more."""
    places = [place for place, text in enumerate(corpus.texts) if text.strip()]
    if empty := len(corpus.texts) - len(places):
        console.note(f"{counted(empty, 'document')} without a text left out")
    if not places:
        raise ParameterError(f"no document of {given.corpus} has a text, from which a question could be drafted")
    draws = {place: _draw(given.seed, corpus.ids[place]) for place in places}
    places = sorted(places, key=draws.__getitem__)[: given.questions]
    if len(places) < given.questions:
        console.note(f"the corpus has {counted(len(places), 'document')}, so there are as many questions at most")
    sources = []
    for number, place in enumerate(places):
        start, text = extract(corpus.texts[place], given.max_chars, draws[place])
        sources.append(Source(number, corpus.titles[place], text, start))
    return [corpus.ids[place] for place in places], sources


def _draw(seed: int, name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}\0{name}".encode("utf-8", "surrogatepass")).digest()[:8])


def _record(name: str, one: Drafted, model: str) -> dict[str, Any]:
    """Return a sample: the question, the document it came from, and where that proves the answer."""
    span = {"document": name, "start": one.start, "end": one.start + len(one.quote), "text": one.quote}
    note = {"drafted_by": f"model:{model}", "wording": WORDING, "when": one.when, "shared_words": one.shared}
    return {
        "id": f"q-{name}",
        "input": one.question,
        "expected_output": {"relevant": [name], "spans": [span], "answer": one.answer},
        "metadata": {"tags": [DRAFTED], "question": note},
    }


def _checked(corpus: Corpus, records: Sequence[dict[str, Any]]) -> _Written:
    """Check drafted samples against the corpus; leave out those whose question gives itself away, or is asked twice."""
    if not records:
        return _Written([], [], 0)
    samples = [sample for record in records if (sample := read_sample(record, problems=[])) is not None]
    findings = check_labels(samples, corpus).findings
    leaks = {finding.sample for finding in findings if finding.status in _LEAKS}
    kept = [record for record in records if record["id"] not in leaks]
    return _Written(kept, findings, len(leaks))


def _told(
    summary: Mapping[str, Any], outcome: Outcome[Drafted], names: Sequence[str], *, is_written: bool
) -> Iterator[str]:
    drafted = f"{counted(summary['questions'], 'question')} drafted by model:{summary['model']}"
    yield f"{drafted} from {counted(summary['documents'], 'document')}{'; read them' if summary['questions'] else ''}"
    if summary["nothing_to_ask"]:
        yield f"nothing worth asking in {counted(summary['nothing_to_ask'], 'document')}"
    if summary["leaks"]:
        yield f"{counted(summary['leaks'], 'question')} left out: asked twice, or in the corpus word for word"
    if twins := summary["findings"].get("twin"):
        yield f"{counted(twins, 'document')} with a near-duplicate that answers as well: `gold repair --twins` adds it"
    if summary["questions"]:
        yield f"{summary['shared_words']:.0%} of a question's words are in its document (median)"
    yield from told_of_calls(summary, len(outcome.done) - summary["failed"], "document")
    for one in outcome.failed[:_SHOWN]:
        yield f"no question for document {names[one.place]!r}: {one.failure}"
    if len(outcome.failed) > _SHOWN:
        yield f"and {len(outcome.failed) - _SHOWN:,} more"
    yield from told_of_end(outcome, is_written=is_written)


def _unwritten(given: argparse.Namespace, written: _Written) -> str:
    if not written.records:
        return f"{given.output} is not written: there is no question"
    return f"{given.output} is not written, because questions are missing; answers are kept, and --partial writes it"
