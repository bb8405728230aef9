"""
`Explanation`: one score of one sample as values and as plain text.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, Self

from rankgauge.base.frozen import freeze_fields, plain_fields
from rankgauge.base.plain_text import visible
from rankgauge.base.tables import preformatted, text_width
from rankgauge.errors import ResultError, counted
from rankgauge.result.forms import DAMAGED, as_json, check_version, read, schema
from rankgauge.result.wording import number
from rankgauge.scoring.covered_spans import BEGIN
from rankgauge.scoring.facts import MissingGold, RankFacts

__all__ = ["NARROWEST", "Explanation", "Trial", "explanation_lines", "question", "shortened"]

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
    """Return a sample's input as one line of safe text: the question itself, if it is alone in an object."""
    if isinstance(given, Mapping) and len(given) == 1:
        (given,) = given.values()
    return _line(given if isinstance(given, str) else "" if given is None else repr(given))


def shortened(text: str, room: int) -> str:
    """Return a text that takes at most *room* columns of a terminal."""
    if text_width(text) <= room:
        return text
    if text.isascii():
        return f"{text[: room - 3]}..."
    from rich.cells import set_cell_size

    return f"{set_cell_size(text, room - 3).rstrip()}..."


def _ranks(explanation: Explanation, width: int) -> Iterator[str]:
    """Yield a table of ranks, with texts below them."""
    top = _MOST_RANKS // 2
    shown = [rank for place, rank in enumerate(explanation.ranks) if place < top or rank.gold][:_MOST_RANKS]
    columns = _columns(explanation, shown)
    numbers = {heading: [write(rank) for rank in shown] for heading, write in columns.items()}
    widths = {heading: max(map(len, (heading, *cells))) for heading, cells in numbers.items()}
    names = ["" if rank.id is None else visible(rank.id) for rank in shown]
    room = min(max(2, *map(text_width, names)), _LONGEST_ID, width - 6 - sum(widths.values()) - len(_GAP) * len(widths))
    header = [heading.rjust(widths[heading]) for heading in numbers]
    yield _GAP.join(["rank", _padded("id", room), *header]).rstrip()
    for place, (rank, name) in enumerate(zip(shown, names, strict=True)):
        cells = [numbers[heading][place].rjust(widths[heading]) for heading in numbers]
        yield _GAP.join([f"{rank.rank:>4}", _padded(shortened(name, room), room), *cells]).rstrip()
        if rank.text is not None:
            yield f"{_INDENT}{_excerpt(rank.text, rank.matched, width - len(_INDENT))}"
        for span in rank.covers:
            told = f"{_INDENT}  covers {span.share:.2f} of {visible(span.gold)}: "
            yield f"{told}{_excerpt(span.text or '(no text)', BEGIN, width - text_width(told))}"
        if not rank.covers and rank.gold != (rank.id,):
            yield from (f"{_INDENT}  holds {shortened(_line(gold), width - len(_INDENT) - 8)}" for gold in rank.gold)
    if (left := explanation.n_ranks - len(shown)) > 0:
        yield f"{_INDENT}... {counted(left, 'more rank')}"


def _excerpt(text: str, matched: str | None, room: int) -> str:
    """Return a text as one line, from a little before the stretch that matched if that would be cut off."""
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
    if any(rank.own_ranks for rank in shown):
        columns["own rank"] = lambda rank: _ranges(rank.own_ranks)
    if explanation.arithmetic is not None:
        columns["gain"] = lambda rank: _short(rank.gain) if rank.gain else ""
        if any(rank.discount not in {None, 1.0} for rank in shown):
            columns["discount"] = lambda rank: number(rank.discount) if rank.gain else ""
        columns["adds"] = lambda rank: number(rank.contribution) if rank.gain else ""
        columns["total"] = lambda rank: number(rank.total)
    return columns


def _missing(explanation: Explanation, width: int) -> Iterator[str]:
    """Yield the gold items that were not found, and where each would have to be."""
    within = "" if explanation.k is None else f" within rank {explanation.k}"
    if explanation.budget:
        within = " within the budget"
    yield f"missing: {counted(len(explanation.missing), 'gold item')} not found{within}"
    shown = explanation.missing[:_MOST_MISSING]
    places = [_place(gold) for gold in shown]
    ideal = ["" if gold.ideal_rank is None else f"; the best ranking has it at {gold.ideal_rank:,}" for gold in shown]
    facts = [f"grade {gold.grade:g}, {at}{best}" for gold, at, best in zip(shown, places, ideal, strict=True)]
    room = width - max(map(len, facts)) - 2 * len(_GAP)
    names = [shortened(_line(gold.id), room) for gold in shown]
    room = max(map(text_width, names))
    for gold, name, fact in zip(shown, names, facts, strict=True):
        yield f"{_GAP}{_padded(name, room)}{_GAP}{fact}"
        if gold.dropped_by:
            yield shortened(f"{_INDENT}dropped by {visible(gold.dropped_by)}", width)
        elif gold.nearest:
            yield f"{_INDENT}nearest: {gold.nearest}"
    if (left := len(explanation.missing) - _MOST_MISSING) > 0:
        yield f"{_GAP}... {left:,} more"


def _place(gold: MissingGold) -> str:
    """Return where a missing gold item was found, if anywhere."""
    if gold.rank is not None:
        return f"at rank {gold.rank:,}"
    return "not retrieved" if gold.retrieved_rank is None else f"dropped at rank {gold.retrieved_rank:,}"


def _changes(explanation: Explanation, width: int) -> Iterator[str]:
    """Yield what cost most and what would help most."""
    cost, helps = explanation.cost_most, explanation.would_help_most
    if explanation.without or explanation.with_missing_on_top:
        yield ""
    if explanation.without:
        text = "no result: the score is no better without any one of them"
        if cost is not None:
            what, then = f"without rank {cost.rank}", _then(explanation, cost)
            name = "" if cost.id is None else f" ({_named(cost.id, width, what, then)})"
            text = f"{what}{name}: {then}"
        yield from _wrapped(f"{'cost most':<15}", text, width)
    if explanation.with_missing_on_top:
        text = "nothing: no missing gold item at rank 1 makes the score better"
        if helps is not None:
            then = _then(explanation, helps)
            text = f"{_named(helps.id or '', width, 'at rank 1', then)} at rank 1: {then}"
        yield from _wrapped(f"{'would help most':<15}", text, width)


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


def _ranges(ranks: Sequence[int | None]) -> str:
    """Return ascending ranks in few characters, such as ``1-3, 5``; ``beyond`` for those beyond the cutoff."""
    written: list[str] = []
    known = [rank for rank in ranks if rank is not None]
    for _, stretch in groupby(enumerate(known), key=lambda each: each[1] - each[0]):
        together = [rank for _, rank in stretch]
        written.append(str(together[0]) if len(together) == 1 else f"{together[0]}-{together[-1]}")
    return ", ".join([*written, "beyond"] if len(known) < len(ranks) else written)


def _padded(text: str, room: int) -> str:
    return text + " " * max(0, room - text_width(text))


@dataclass(frozen=True, slots=True)
class Trial:
    """
    The score after one change of the ranking.

    Attributes:
        rank: The rank of the result that was left out, or of the gold item that was put on top, if it has one.

        id: The result or the gold item; None for a result that has a text only.

        score: The score then; None if there is none.
    """

    rank: int | None
    id: str | None
    score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """
    One score of one sample: what each rank adds, what is missing, and what would change it.

    Attributes:
        sample: The sample's id.

        input: The sample's input, such as the question; any JSON value.

        metric: The column's name.

        expression: The metric with its parameters.

        higher_is_better: Whether more is better.

        judged: What was judged against what, and how.

        judges: Whether the retrieved items were judged, or the generated answer.

        by_text: Whether texts were matched, rather than ids joined.

        score: What counts under the policy; None if nothing does.

        status: `scored`, `undefined`, `missing` or `failed`.

        reason: Why there is no score; empty for one that is `scored`.

        k: The cutoff; None for none. Under a budget, how many results fit into it.

        budget: What the budget is, if the cutoff is one; else empty.

        ranks: The ranks within the cutoff. Of rankings deeper than 100 those below are left out unless they hold a gold
            item, so that the contributions always add up to the score.

        n_ranks: How many ranks there are within the cutoff.

        missing: The relevant gold items not found within the cutoff, best first.

        arithmetic: The score as one line that adds up; if the score is no sum over ranks, None.

        without: The score without each result of `ranks`, in that order.

        with_missing_on_top: The score with each of the best 20 missing gold items at rank 1.

        notes: Remarks, such as on a plugin whose contributions do not add up.
    """

    sample: str
    input: Any = None  # any JSON value: the system under test defines it
    metric: str
    expression: str
    higher_is_better: bool = True
    judged: str
    judges: Literal["retrieved", "answer"] = "retrieved"
    by_text: bool = False
    score: float | None
    status: str
    reason: str = ""
    k: int | None
    ranks: tuple[RankFacts, ...]
    n_ranks: int
    missing: tuple[MissingGold, ...]
    arithmetic: str | None
    without: tuple[Trial, ...] = ()
    with_missing_on_top: tuple[Trial, ...] = ()
    notes: tuple[str, ...] = ()
    budget: str = ""

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def cost_most(self) -> Trial | None:
        """Return the result without which the score would be best, if that is better than it is."""
        return self._best(self.without)

    @property
    def would_help_most(self) -> Trial | None:
        """Return the missing gold item that would help most at rank 1, if any would."""
        return self._best(self.with_missing_on_top)

    def __repr__(self) -> str:
        score = "none" if self.score is None else f"{self.score:.4f}"
        ranks, missing = counted(self.n_ranks, "rank"), f"{len(self.missing):,} missing"
        return f"<Explanation of {self.sample!r}: {self.metric}={score}, {ranks}, {missing}>"

    def __str__(self) -> str:
        """Return what `rankgauge explain` prints."""
        return "\n".join(explanation_lines(self))

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def change(self, trial: Trial) -> float | None:
        """
        Return by how much a trial changes the score.

        Args:
            trial: One of `without` or `with_missing_on_top`.

        Returns:
            The difference; None if one of the two scores does not exist.
        """
        return None if trial.score is None or self.score is None else trial.score - self.score

    def to_dict(self) -> dict[str, Any]:
        """
        Return the explanation as JSON values: what `rankgauge explain --json` prints.

        Returns:
            Every attribute by its name, and the `schema_version` of this form, whose keys are only ever added;
            `json_schema` describes it. An input that is no JSON value is kept as its `repr`.

        Raises:
            ResultError: A text in it is no Unicode.
        """
        found: dict[str, Any] = as_json("the explanation", {"schema_version": _VERSION, **plain_fields(self)})
        return found

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, catalog: object = None) -> Self:  # noqa: ARG003  # as other results
        """
        Return the explanation that `to_dict` wrote.

        Args:
            data: What it returned, also after a round trip through JSON.

            catalog: Taken as by `Result.from_dict` and `GateReport.from_dict`; an explanation needs none.

        Returns:
            The explanation, equal to the one that was stored.

        Raises:
            ResultError: It is not a stored explanation, is damaged, or was stored in the form of a later version.
        """
        check_version("the stored explanation", data, _VERSION)
        try:
            explanation: Self = read("the explanation", data, cls)
        except DAMAGED as error:
            why = f"{type(error).__name__}: {error}"
            raise ResultError(f"this is not a stored explanation that can be read: {why}") from error
        return explanation

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of what `to_dict` returns."""
        return schema("explanation:1", "rankgauge explanation", cls, version=_VERSION)

    def _best(self, trials: tuple[Trial, ...]) -> Trial | None:
        sign = 1 if self.higher_is_better else -1
        better = [(sign * change, trial) for trial in trials if (change := self.change(trial))]
        gained, best = max(better, key=lambda each: each[0], default=(0.0, None))
        return best if gained > _LAST_BITS else None


_VERSION = "rankgauge.explanation.v1"

_LAST_BITS = 1e-12
"""A smaller change is how sums round."""
