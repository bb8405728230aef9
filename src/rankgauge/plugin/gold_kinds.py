"""
Declarations of further kinds of ground truth: how one is read, and how results are held to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from numpy.typing import NDArray

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.errors import DeclarationError
from rankgauge.plugin.matching import Covers
from rankgauge.plugin.signature import Authored, declaring, plain_name, plain_version
from rankgauge.policy import Contract
from rankgauge.samples import KINDS, Expected, GoldItem, GoldKind, OtherGold, Place
from rankgauge.samples.gold_kinds import no_names
from rankgauge.samples.sample_values import InvalidError, is_finite_number, is_real, look

__all__ = ["DeclaredGold", "GoldItem", "RetrievedItem", "gold_kind"]

ReadItems = Callable[[Any], Sequence[GoldItem]]
JudgeItems = Callable[[Sequence["RetrievedItem"], Sequence[Any]], "NDArray[Any] | Covers"]
R = TypeVar("R", bound=ReadItems)


class RetrievedItem(NamedTuple):
    """
    A retrieved item as a kind of ground truth sees it; if the answer is judged, that is the only one.

    Attributes:
        id: Its id, None if it has none.

        text: Its text, None if it has none.

        score: Its score, None if it has none.

        metadata: What else is known of it; empty if nothing is.

        place: Where in a document it is (`document`, `start`, `end`), None if it does not say.
    """

    id: str | None
    text: str | None = None
    score: float | None = None
    metadata: Mapping[str, Any] = {}
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class _Names:
    """Returns what the items of a kind are called."""

    kind: str

    def __call__(self, expected: Expected) -> Sequence[str]:
        return [item.name for item in items_of(expected, self.kind)]


@dataclass(frozen=True, slots=True)
class _Texts:
    """Returns the texts that a matcher looks for."""

    kind: str

    def __call__(self, expected: Expected) -> Sequence[str]:
        return tuple(item.value for item in items_of(expected, self.kind))


@dataclass(frozen=True, slots=True)
class _Grades:
    """Returns the grades of these texts; None if all are 1."""

    kind: str

    def __call__(self, expected: Expected, texts: Sequence[str]) -> Sequence[float] | None:
        grades = [item.grade for item in items_of(expected, self.kind)]
        return grades if len(grades) == len(texts) and grades.count(1.0) < len(grades) else None


def items_of(expected: Expected, kind: str) -> tuple[GoldItem, ...]:
    """Return the items of a sample's ground truth of a plugin's kind."""
    held = (expected.others or {}).get(kind)
    return () if held is None else held.items


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DeclaredGold(GoldKind, Authored):
    """
    A kind of ground truth that a plugin declares; beside a `GoldKind` the arguments of `gold_kind`.

    Attributes:
        function: Reads it.

        judge: Holds results to it; None if a matcher looks for its texts.

        covers: Whether `judge` returns which parts of each item the results hold.

        threshold: From which share of an item, or score, on it is found.

        version: Of what `function` and `judge` do.

        by: Who provides it, for messages; empty as it is declared.
    """

    function: ReadItems
    judge: JudgeItems | None
    covers: bool
    threshold: float
    version: str
    by: str = ""

    decorator = "gold_kind"

    @property
    def functions(self) -> tuple[Callable[..., Any] | None, ...]:
        """Return the functions by which it is another one when they change."""
        return (self.function, self.judge)

    @property
    def blame(self) -> str:
        """Return how messages call it."""
        return f"gold kind {self.name!r} (by {self.by})"

    def fields_of(self, raw: object, before: Mapping[str, Any], _: Contract) -> Mapping[str, Any]:
        """Return what is under its key as attributes of `Expected`; an `InvalidError` for what it cannot read."""
        path = f".{self.name}"
        try:
            with guarded():
                items = tuple(self.function(raw))
        except ForeignError as error:
            is_said = isinstance(error.__cause__, ValueError)
            why = error.reason if is_said else str(error)
            raise InvalidError(path, f"{self.blame} cannot read it: {why}; found {look(raw)}") from error
        if flaw := self._flaw(items):
            raise InvalidError(path, f"{self.blame} returned {flaw}")
        return {"others": {**(before.get("others") or {}), self.name: OtherGold(items, raw)}}

    def _flaw(self, items: Sequence[object]) -> str:
        """Return what is wrong with what was read; empty if it can be used."""
        names: set[str] = set()
        texts: set[str] = set()
        for item in items:
            if not isinstance(item, GoldItem):
                return f"{look(item)}, which is no GoldItem"
            if not isinstance(item.name, str) or not item.name.strip():
                return f"an item called {look(item.name)}; a name is a string that is not blank"
            if item.name in names:
                return f"two items called {look(item.name)}; give each its own name"
            if not is_real(item.grade) or not is_finite_number(item.grade):
                return f"the grade {look(item.grade)}; a grade is a finite number"
            names.add(item.name)
            if self.is_text:
                if not isinstance(item.value, str) or not item.value.strip():
                    return f"{look(item.value)}, where a matcher looks for a string that is not blank"
                if item.value in texts:
                    return f"the text {look(item.value)} twice; give each text once"
                texts.add(item.value)
        return ""


def gold_kind(
    name: str,
    *,
    judge: JudgeItems | None = None,
    matcher: str | None = None,
    covers: bool = False,
    threshold: float = 0.5,
    describe: str = "",
    version: str = "1",
) -> Callable[[R], R]:
    """
    Declare a kind of ground truth: ``(raw: object) -> Sequence[GoldItem]``, what a sample has under its key.

    The key is `expected_output.NAME`. The function is given its JSON value and returns the items that should be found,
    each with a name and, if it has one, a grade. It raises ValueError for what it cannot read, with a message that says
    what is wrong and where: the sample is then a problem of its file.

        @gold_kind("pages", judge=same_page)
        def pages(raw: list[int]) -> list[GoldItem]:
            \"\"\"Pages that should be shown.\"\"\"
            return [GoldItem(page, f"page {page}") for page in raw]

        def same_page(retrieved: Sequence[RetrievedItem], gold: Sequence[int]) -> NDArray[np.float64]:
            return np.array([[float(item.metadata["page"] == page) for page in gold] for item in retrieved])

    Every metric that can be judged against passages or spans can be judged against it (``recall(gold=pages)@5``), and
    metrics may be declared for it (``@metric(..., gold="pages")``).

    Args:
        name: Lower-case words joined by hyphens.

        judge: ``(retrieved: Sequence[RetrievedItem], gold: Sequence[value]) -> ndarray or Covers``, called once a
            sample: the score of each retrieved item for each gold value, from 0 to 1, shape (retrieved, gold), or which
            parts it holds of each. Whatever it raises fails that sample.

        matcher: Where the values are texts, the matcher that looks for them by default.

        covers: Whether *judge* returns `Covers`: then what the first results hold of an item adds up.

        threshold: From which score, or share of an item, on it is found; above 0, at most 1.

        describe: What plans and explanations call the judging; the name if it is empty.

        version: Raise it when what is read or judged changes.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the name is built in or cannot be used, or the arguments do not go together.
    """

    def declare(function: ReadItems) -> DeclaredGold:
        taken = {plain_name(name)} & {*KINDS, *(other for kind in KINDS.values() for other in kind.other_names or ())}
        if taken:
            raise DeclarationError(f"gold kind {name!r} is built in and cannot be replaced; choose another name")
        if (judge is None) == (matcher is None):
            raise DeclarationError(f"gold kind {name!r} needs one of `judge` and, if its values are texts, `matcher`")
        if covers and judge is None:
            raise DeclarationError(f"gold kind {name!r} has covers=True, which is about what `judge` returns")
        if not isinstance(threshold, int | float) or not 0 < threshold <= 1:
            raise DeclarationError(f"the threshold of gold kind {name!r} is above 0 and at most 1, not {threshold!r}")
        what = (describe or name).replace("{", "{{").replace("}", "}}")
        how = "" if matcher is None else " by text, matcher {matcher}"
        return DeclaredGold(
            name=name,
            function=function,
            judge=judge,
            covers=covers,
            threshold=float(threshold),
            version=plain_version(version),
            names=_Names(name),
            is_text=judge is None,
            texts=_Texts(name) if judge is None else no_names,
            grades=_Grades(name),
            matcher=matcher,
            together="by-matcher" if judge is None else "always" if covers else "never",
            is_evidence=True,
            words=f"{what}{{judged}}{how}{{together}}",
        )

    return declaring(declare)
