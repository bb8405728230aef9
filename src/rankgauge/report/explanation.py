"""
One score explained, in plain text: a table of ranks, missing gold, the arithmetic, and what would change the score.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rankgauge.errors import counted
from rankgauge.report.wording import number
from rankgauge.visible import visible

if TYPE_CHECKING:
    from rankgauge.explain import Explanation, RankFacts, Trial

__all__ = ["NARROWEST", "explanation_lines", "question", "shortened"]

NARROWEST = 60
"""Narrower than this the lines are not made."""

_MOST_RANKS = 20
_MOST_MISSING = 10
_LONGEST_ID = 30
_INDENT = "      "
_GAP = "  "


def explanation_lines(explanation: Explanation, *, width: int = 80) -> Iterator[str]:
    """Yield the lines that explain one score, none of them wider than *width* but for unbreakable words."""
    width = max(width, NARROWEST)
    status = "" if explanation.status == "scored" else f" ({explanation.status})"
    title = f"{visible(explanation.metric)} of {visible(explanation.sample)}: {number(explanation.score)}{status}"
    yield from textwrap.wrap(title, width, subsequent_indent=_GAP)
    asked, fitted = question(explanation.input), counted(explanation.n_ranks, "result")
    facts = {
        "question": asked and shortened(asked, width - 12),
        "because": visible(explanation.reason),
        "metric": explanation.expression,
        "judged": f"against {visible(explanation.judged)}",
        "budget": explanation.budget
        and f"{visible(explanation.budget)}; {fitted} fit{'s' * (explanation.n_ranks == 1)}",
    }
    for heading, text in facts.items():
        if text:
            yield from _wrapped(f"{heading:<8}", text, width)
    if explanation.ranks:
        yield ""
        yield from _ranks(explanation, width)
    if explanation.missing:
        yield ""
        yield from _missing(explanation, width)
    if explanation.arithmetic is not None:
        yield ""
        yield from textwrap.wrap(visible(explanation.arithmetic), width, subsequent_indent=_GAP)
    yield from _changes(explanation, width)
    for note in explanation.notes:
        yield from _wrapped("note", visible(note), width)


def question(given: object) -> str:
    """Return a sample's input as one line of safe text: the question itself, where it stands alone in an object."""
    if isinstance(given, Mapping) and len(given) == 1:
        (given,) = given.values()
    text = given if isinstance(given, str) else "" if given is None else repr(given)
    return visible(" ".join(text.split()))


def shortened(text: str, room: int) -> str:
    """Return a text that takes at most *room* columns of a terminal."""
    if text.isascii():
        return text if len(text) <= room else f"{text[: room - 3]}..."
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= room else f"{set_cell_size(text, room - 3).rstrip()}..."


def _ranks(explanation: Explanation, width: int) -> Iterator[str]:
    """Yield a table of ranks, with texts below them."""
    top = _MOST_RANKS // 2
    shown = [rank for place, rank in enumerate(explanation.ranks) if place < top or rank.gold][:_MOST_RANKS]
    columns = _columns(explanation, shown)
    numbers = {heading: [write(rank) for rank in shown] for heading, write in columns.items()}
    widths = {heading: max(map(len, (heading, *cells))) for heading, cells in numbers.items()}
    names = ["" if rank.id is None else visible(rank.id) for rank in shown]
    room = min(max(2, *map(_cells, names)), _LONGEST_ID, width - 6 - sum(widths.values()) - len(_GAP) * len(widths))
    header = [heading.rjust(widths[heading]) for heading in numbers]
    yield _GAP.join(["rank", _padded("id", room), *header]).rstrip()
    for place, (rank, name) in enumerate(zip(shown, names, strict=True)):
        cells = [numbers[heading][place].rjust(widths[heading]) for heading in numbers]
        yield _GAP.join([f"{rank.rank:>4}", _padded(shortened(name, room), room), *cells]).rstrip()
        if rank.text is not None:
            yield f"{_INDENT}{_excerpt(rank.text, rank.matched, width - len(_INDENT))}"
        if rank.match is not None:
            for gold in rank.gold:
                yield f"{_INDENT}  holds {shortened(_line(gold), width - len(_INDENT) - 8)}"
    if (left := explanation.n_ranks - len(shown)) > 0:
        yield f"{_INDENT}... {counted(left, 'more rank')}"


def _excerpt(text: str, matched: str | None, room: int) -> str:
    """Return a text as one line, from a little before the stretch that matched where that would be cut off."""
    line = _line(text)
    begin = line.find(_line(matched)) if matched else 0
    end = begin + len(_line(matched or ""))
    if end <= room - 3:
        return shortened(line, room)
    return shortened(f"...{line[max(0, min(begin, len(line) - room + 3)) :]}", room)


def _columns(explanation: Explanation, shown: Sequence[RankFacts]) -> dict[str, Callable[[RankFacts], str]]:
    """Return the columns that have something to say: what each writes of a rank."""
    columns: dict[str, Callable[[RankFacts], str]] = {}
    if any(rank.score is not None for rank in shown):
        columns["score"] = lambda rank: _short(rank.score)
    if any(rank.match is not None for rank in shown):
        columns["match"] = lambda rank: _short(rank.match)
    columns["grade"] = lambda rank: _short(rank.grade)
    if explanation.arithmetic is not None:
        columns["gain"] = lambda rank: _short(rank.gain) if rank.gain else ""
        if any(rank.discount not in {None, 1.0} for rank in shown):
            columns["discount"] = lambda rank: number(rank.discount) if rank.gain else ""
        columns["adds"] = lambda rank: number(rank.contribution) if rank.gain else ""
        columns["total"] = lambda rank: number(rank.total)
    return columns


def _missing(explanation: Explanation, width: int) -> Iterator[str]:
    """Yield the gold items that were not found, and where each would have to stand."""
    within = "" if explanation.k is None else f" within rank {explanation.k}"
    if explanation.budget:
        within = " within the budget"
    yield f"missing: {counted(len(explanation.missing), 'gold item')} not found{within}"
    shown = explanation.missing[:_MOST_MISSING]
    told = [
        f"grade {gold.grade:g}, {'not retrieved' if gold.rank is None else f'at rank {gold.rank:,}'}; the best ranking "
        f"has it at {gold.ideal_rank:,}"
        for gold in shown
    ]
    room = width - max(map(len, told)) - 2 * len(_GAP)
    names = [shortened(_line(gold.id), room) for gold in shown]
    room = max(map(_cells, names))
    yield from (f"{_GAP}{_padded(name, room)}{_GAP}{facts}" for name, facts in zip(names, told, strict=True))
    if (left := len(explanation.missing) - _MOST_MISSING) > 0:
        yield f"{_GAP}... {left:,} more"


def _changes(explanation: Explanation, width: int) -> Iterator[str]:
    """Yield what cost most and what would help most."""
    if not (explanation.without or explanation.with_missing_on_top):
        return
    yield ""
    if explanation.without:
        cost = explanation.cost_most
        told = "no result: the score is no better without any one of them"
        if cost is not None:
            then = _then(explanation, cost)
            what = f"without rank {cost.rank}"
            name = "" if cost.id is None else f" ({_named(cost.id, width, what, then)})"
            told = f"{what}{name}: {then}"
        yield from _wrapped(f"{'cost most':<15}", told, width)
    if explanation.with_missing_on_top:
        helps = explanation.would_help_most
        told = "nothing: no missing gold item at rank 1 makes the score better"
        if helps is not None:
            then = _then(explanation, helps)
            told = f"{_named(helps.id or '', width, 'at rank 1', then)} at rank 1: {then}"
        yield from _wrapped(f"{'would help most':<15}", told, width)


def _then(explanation: Explanation, trial: Trial) -> str:
    return f"{number(trial.score)} ({explanation.change(trial) or 0.0:+.4f})"


def _named(name: str, width: int, *others: str) -> str:
    """Return a name that fits into a line with other texts."""
    return shortened(_line(name), max(12, width - 26 - sum(map(len, others))))


def _wrapped(heading: str, text: str, width: int) -> list[str]:
    indent = f"{_GAP}{heading}{_GAP}"
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=" " * len(indent))


def _line(text: str) -> str:
    return visible(" ".join(text.split()))


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _padded(text: str, room: int) -> str:
    return text + " " * max(0, room - _cells(text))
