"""
Samples in a few lines each: the score, the question, what was retrieved, and which gold items were found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import visible
from rankgauge.errors import counted
from rankgauge.result import Result
from rankgauge.result.wording import number

if TYPE_CHECKING:
    from rankgauge.explain import Explanation, MissingGold

__all__ = ["listed_heading", "listed_lines", "sample_lines", "sample_title"]

_SHOWN = 10
_LONGEST = 60


def listed_heading(result: Result) -> str:
    """Return what the samples that a result lists are; empty if it lists none."""
    if not result.listed:
        return ""
    first = result.listed[0]
    which = "lowest" if first.higher_is_better else "highest"
    return f"{counted(len(result.listed), 'sample')} with the {which} {visible(first.metric)}"


def listed_lines(result: Result) -> Iterator[str]:
    """Yield the samples that a result lists under a heading, each with its lines indented."""
    if heading := listed_heading(result):
        yield f"{heading}:"
    for explanation in result.listed:
        yield f"  {sample_title(explanation)}"
        yield from (f"    {line}" for line in sample_lines(explanation, result))


def sample_title(explanation: Explanation) -> str:
    """Return ``q7: 0.4441  'what is MRR?'``, with the status of a sample that was not scored."""
    status = "" if explanation.status == "scored" else f" ({explanation.status})"
    from rankgauge.explain.explanation import question

    asked = question(explanation.input)
    about = f"  {_quoted(asked)}" if asked else ""
    return f"{visible(explanation.sample)}: {number(explanation.score)}{status}{about}"


def sample_lines(explanation: Explanation, result: Result) -> Iterator[str]:
    """Yield why there is no score, what was retrieved within the cutoff, and the gold items with their ranks."""
    column = result[explanation.metric]
    if column.repeats is not None:
        mean = float(column.values[result.sample_ids.index(explanation.sample)])
        yield f"repeats    {number(mean)} is their mean; this is the first"
    if explanation.reason:
        yield f"because    {visible(explanation.reason)}"
    by_answer = explanation.judges == "answer"
    if explanation.status not in {"missing", "failed"} or explanation.ranks:
        yield from _retrieved(explanation, by_answer=by_answer)
    yield f"expected   {_expected(explanation, by_answer=by_answer) or 'nothing'}"


def _retrieved(explanation: Explanation, *, by_answer: bool) -> Iterator[str]:
    ranks = explanation.ranks[:_SHOWN]
    if by_answer:
        yield f"answered   {_quoted(ranks[0].text or '') if ranks else 'nothing'}"
        return
    names = ["" if rank.id is None else visible(rank.id) for rank in ranks]
    is_numbered = explanation.by_text or not all(names)
    ids = [f"{rank.rank}. {name}".strip() if is_numbered else name for rank, name in zip(ranks, names, strict=True)]
    if left := explanation.n_ranks - len(ranks):
        ids.append(f"... {left:,} more")
    if explanation.by_text and ranks:
        texts = [f" {_quoted(rank.text or '')}" for rank in ranks] + [""]
        lines = [f"{name}{text}" for name, text in zip(ids, texts, strict=False)]
    else:
        lines = [", ".join(ids) or "nothing"]
    yield from (f"{'' if place else 'retrieved':<9}  {line}" for place, line in enumerate(lines))


def _expected(explanation: Explanation, *, by_answer: bool) -> str:
    """Return the relevant gold items, best first, each with where it was found."""
    found: dict[str, tuple[float, str]] = {}
    for held in explanation.ranks:
        if held.relevant:
            for gold in held.gold:
                found.setdefault(gold, (held.grade or 0.0, f"rank {held.rank}"))
    found |= {missing.id: (missing.grade, _where(missing)) for missing in explanation.missing}
    ordered = sorted(found.items(), key=lambda each: -each[1][0])
    graded = any(grade != 1 for grade, _ in found.values())
    items = []
    for name, (grade, where) in ordered[:_SHOWN]:
        facts = [*([f"gain {grade:g}"] if graded else []), *([] if by_answer else [where])]
        shown = _quoted(name) if explanation.by_text else visible(name)
        items.append(f"{shown} ({', '.join(facts)})" if facts else shown)
    if (left := len(ordered) - _SHOWN) > 0:
        items.append(f"... {left:,} more")
    return ", ".join(items)


def _where(missing: MissingGold) -> str:
    """Return where a gold item was found below the cutoff, or that it was dropped, or not retrieved."""
    if missing.rank is not None:
        return f"rank {missing.rank}"
    if missing.retrieved_rank is not None:
        return f"rank {missing.retrieved_rank}, dropped by {visible(missing.dropped_by)}"
    return "not retrieved"


def _quoted(text: str) -> str:
    from rankgauge.explain.explanation import shortened

    return f"'{shortened(visible(' '.join(text.split())), _LONGEST)}'"
