"""
Metric expressions: reading and writing texts such as ``ndcg(gain=exponential)@10``.

The grammar is ``name [ "(" parameter "=" value, ... ")" ] [ "@" number [ "tok" | "char" ] ]``. A value is a number,
``true``, ``false``, a bare word or a quoted string; ``{1: 3, 2: 9}`` is read as the string ``"1=3,2=9"``. Reading is
tolerant (white space, order of parameters, ``retrieval-ndcg-at-10`` for ``retrieval-ndcg-at-k@10``); writing is
canonical, so that ``parse(str(e)) == e`` for every expression ``e``. The parameter ``cutoff`` is what is behind the
``@``.

Names are not resolved here, but by the catalog.
"""

from __future__ import annotations

import math
import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rankgauge.base.plain_text import NUMBER
from rankgauge.errors import ExpressionError

__all__ = [
    "QUOTED",
    "MetricExpression",
    "Unit",
    "Value",
    "as_written",
    "parse",
    "parse_many",
    "read_budget",
    "safe_name",
]

_VALUES = "a number, true, false, a word or a quoted string"
_BOOLEANS = {"true": True, "false": False, "True": True, "False": False}  # ir_measures writes them as Python does

Value = bool | int | float | str
"""What a parameter in an expression can be."""

Unit = Literal["tok", "char"]
"""What a budget is counted in: tokens or characters."""

_UNITS: tuple[Unit, ...] = typing.get_args(Unit)

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
QUOTED = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.DOTALL)
_ARGUMENTS = re.compile(r"\([^()]*\)")
_MOST_DIGITS = 300
_FOR_FUNCTIONS = (
    "the end (a function of your own is for `rankgauge run -m`, with_metrics or a plugin; gates name its column)"
)
_FUNCTION = re.compile(r":[A-Za-z_]\w*([(@].*)?", re.DOTALL)  # as in my_metrics.py:first_hit
_SPACE = re.compile(r"\s*")
_LEVEL_LAST = re.compile(r"(@\d+)(-l\d+)\s*$")  # ranx writes ndcg@10-l2
_PINNED = re.compile(r"(?P<stem>.+-at)-(?P<k>\d+)(?P<unit>tok|char)?")
_SAFE = re.compile(r"(?P<stem>.+?)_at_(?P<k>\d+)(?P<unit>tok|char)")
_BUDGET = re.compile(r"\s*(?P<k>\d+)\s*(?P<unit>tok|char)\b\s*")
_WORDED = re.compile(r"""(?<=[(\s])[a-z_][a-z0-9_]*=(?!true\b|false\b)(?=[a-z"'])""")
_BUDGETS = "a whole number and a unit, such as 2000tok or 8000char"
_EXAMPLE = "an expression looks like ndcg@10, retrieval-recall-at-k or ndcg(gain=exponential)@10"


@dataclass(frozen=True, slots=True, init=False, eq=False)
class MetricExpression:
    """
    A metric with its parameters and its pinned cutoff, not yet resolved.

    Two expressions are equal when they print the same; the order of parameters does not matter.

    Attributes:
        name: An alias, short name or trec_eval spelling, as written.

        params: Parameters in order of their names.

        k: The number after ``@``; None without one.

        unit: What that number counts, if it is a budget: tokens (`tok`) or characters (`char`); else None.
    """

    name: str
    params: tuple[tuple[str, Value], ...]
    k: int | float | None
    unit: Unit | None

    def __init__(
        self,
        name: str,
        params: Mapping[str, Value] | None = None,
        *,
        k: float | None = None,
        unit: Unit | None = None,
    ) -> None:
        """
        Build an expression.

        Args:
            name: A name as the grammar allows; ``x-at-10`` becomes ``x-at-k`` with *k* 10, and ``x_at_2000tok`` becomes
                ``x`` with a budget.

            params: Parameters by name.

            k: The pinned cutoff.

            unit: What *k* counts, if it is a budget.

        Raises:
            ExpressionError: A name, parameter or number that the grammar does not allow.
        """
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            raise ExpressionError(f"{name!r} is not a metric name; {_EXAMPLE}", text=str(name))
        if pinned := _PINNED.fullmatch(name) or _SAFE.fullmatch(name):
            if k is not None:
                raise ExpressionError(f"{name!r} already has a cutoff; leave out @{k}{unit or ''}", text=name)
            stem = pinned["stem"]
            name, k, unit = f"{stem}-k" if pinned.re is _PINNED else stem, _number(pinned["k"]), _unit(pinned["unit"])
        params = dict(params or {})
        if (cutoff := params.pop("cutoff", None)) is not None:  # ir_measures' name for what is behind @
            if k is not None:
                raise ExpressionError(f"{name!r} has two cutoffs, {cutoff} and {k}; give one", text=name)
            k, unit = _cutoff(name, cutoff)
        for key, value in params.items():
            _check_param(name, key, value)
        if k is not None and (isinstance(k, bool) or not isinstance(k, int | float) or not math.isfinite(k)):
            raise ExpressionError(f"the cutoff of {name!r} must be a number, not {k!r}", text=name)
        if unit is not None and (unit not in _UNITS or not isinstance(k, int)):
            raise ExpressionError(f"a budget of {name!r} is {_BUDGETS}, not {k}{unit}", text=name)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "params", tuple(sorted(params.items())))
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "unit", unit)

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, MetricExpression) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        written = ", ".join(f"{key}={_write(value)}" for key, value in self.params)
        cutoff = "" if self.k is None else f"@{self.k}{self.unit or ''}"
        return f"{self.name}{f'({written})' if written else ''}{cutoff}"


def as_written(metric: object) -> object:
    """Return a measure object of ir_measures, such as ``nDCG@10``, as the text that it prints; all else as it is."""
    kinds = type(metric).__mro__  # of every measure `Measure` is a base, and ir_measures need not be installed
    is_measure = any(kind.__name__ == "Measure" and kind.__module__.split(".")[0] == "ir_measures" for kind in kinds)
    return str(metric) if is_measure else metric


def parse(text: object) -> MetricExpression:
    """Read one metric expression, such as ``ndcg@10``; its name is not resolved."""
    expressions = parse_many(text)
    if len(expressions) > 1:
        raise ExpressionError(f"{text!r} lists {len(expressions)} cutoffs where one metric is expected", text=str(text))
    return expressions[0]


def parse_many(text: object) -> list[MetricExpression]:
    """Read an expression that may list cutoffs, such as ``recall@1,5,10``, into one for each cutoff."""
    if not isinstance(text, str):
        raise ExpressionError(f"a metric expression is a string, not {text!r}; {_EXAMPLE}", text=str(text))
    plain = text.replace("\N{GREEK SMALL LETTER ALPHA}_", "alpha_")  # as ir_measures prints alpha_nDCG
    reader = _Reader(_LEVEL_LAST.sub(r"\2\1", plain))
    try:
        name = reader.take(_NAME, "a metric name")
        params = reader.params()
        cutoffs: list[tuple[int | float | None, Unit | None]] = [(None, None)]
        if reader.accept("@"):
            cutoffs = [reader.cutoff()]
            while reader.accept(","):
                cutoffs.append(reader.cutoff())
        reader.finish()
        return [MetricExpression(name, params, k=k, unit=unit) for k, unit in cutoffs]
    except ExpressionError as error:
        raise ExpressionError(str(error), text=text, position=error.position) from None


def read_budget(written: object) -> tuple[int, Unit]:
    """Read a budget as config gives it, such as ``2000tok``; raise `ExpressionError` for anything else."""
    found = _BUDGET.fullmatch(written) if isinstance(written, str) else None
    unit = None if found is None else _unit(found["unit"])
    if found is None or unit is None or len(found["k"]) > _MOST_DIGITS:
        raise ExpressionError(f"a budget is {_BUDGETS}, not {written!r}", text=str(written))
    return int(found["k"]), unit


def safe_name(text: str) -> str:
    """
    Return a column name in lower-case ASCII letters, digits and ``_``.

    A parameter whose value is a word goes by that word: ``recall_chunk_at_10`` for ``recall(matcher=chunk)@10``, but
    ``p_rel2_at_5`` for ``P(rel=2)@5``.
    """
    spelled = _WORDED.sub("", text.lower()).replace("@", "_at_").replace("=", "")
    return re.sub(r"[^0-9a-z]+", "_", spelled).strip("_") or "metric"


class _Reader:
    """A cursor over one expression."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.skip()

    def skip(self) -> None:
        match = _SPACE.match(self.text, self.position)
        self.position = match.end() if match else self.position

    def fail(self, expected: str) -> ExpressionError:
        rest = self.text[self.position : self.position + 20]
        found = f"{rest!r} at character {self.position + 1}" if rest else "the end"
        are_several = "," in _ARGUMENTS.sub("", QUOTED.sub("", self.text))
        apart = "; give several metrics one by one: -m RR -m hit@5" if are_several else ""
        msg = f"cannot read the metric expression {self.text!r}: expected {expected}, found {found}; {_EXAMPLE}{apart}"
        return ExpressionError(msg, text=self.text, position=self.position)

    def take(self, pattern: re.Pattern[str], expected: str) -> str:
        match = pattern.match(self.text, self.position)
        if match is None:
            raise self.fail(expected)
        self.position = match.end()
        self.skip()
        return match[0]

    def accept(self, mark: str) -> bool:
        if not self.text.startswith(mark, self.position):
            return False
        self.position += len(mark)
        self.skip()
        return True

    def number(self) -> int | float:
        start = self.position
        number = _number(self.take(NUMBER, "a number after @"))
        if not math.isfinite(number):  # a negative one is refused when cutoffs are checked, as 0 is
            self.position = start
            raise self.fail("a finite number after @")
        return number

    def cutoff(self) -> tuple[int | float, Unit | None]:
        """Read a number, and the unit of a budget."""
        number = self.number()
        if _WORD.match(self.text, self.position) is None:
            return number, None
        begin = self.position
        unit = _unit(self.take(_WORD, ""))
        if unit is None:
            self.position = begin
            raise self.fail("the end, tok (tokens) or char (characters)")
        return number, unit

    def params(self) -> dict[str, Value]:
        found: dict[str, Value] = {}
        if not self.accept("("):
            return found
        while not self.accept(")"):
            key = self.take(_WORD, "a parameter name or )")
            if key in found:
                raise self.fail(f"{key!r} only once")
            if not self.accept("="):
                raise self.fail(f"= after {key!r}")
            found[key] = self.value()
            if not self.accept(",") and not self.text.startswith(")", self.position):
                raise self.fail(", or )")
        return found

    def mapping(self) -> str:
        """Read ``{1: 3, 2: 9}``, as Python writes gains, into ``1=3,2=9``, as trec_eval does."""
        pairs = []
        while not self.accept("}"):
            key = self.take(NUMBER, "a number or }")
            if not self.accept(":"):
                raise self.fail(f": after {key}")
            pairs.append(f"{key}={self.take(NUMBER, 'a number')}")
            if not self.accept(",") and not self.text.startswith("}", self.position):
                raise self.fail(", or }")
        return ",".join(pairs)

    def value(self) -> Value:
        if self.accept("{"):
            return self.mapping()
        if (match := QUOTED.match(self.text, self.position)) is not None:
            self.position = match.end()
            self.skip()
            return re.sub(r"\\(.)", r"\1", match[0][1:-1], flags=re.DOTALL)
        if (budget := _BUDGET.match(self.text, self.position)) is not None:
            self.position = budget.end()
            return budget[0].strip()
        number = NUMBER.match(self.text, self.position)
        word = _NAME.match(self.text, self.position)
        if number is not None and (word is None or number.end() >= word.end()):
            self.position = number.end()
            self.skip()
            return _number(number[0])
        text = self.take(_WORD, _VALUES)
        return _BOOLEANS.get(text, text)

    def finish(self) -> None:
        if self.position != len(self.text):
            name, at, cutoff = self.text[: self.position].partition("@")
            late = self.text[self.position :].strip()
            if at and late.startswith("(") and late.endswith(")"):
                raise self.fail(f"the end (parameters are before the @: {name}{late}@{cutoff.strip()})")
            if _FUNCTION.fullmatch(late):
                raise self.fail(_FOR_FUNCTIONS)
            raise self.fail("the end")


def _unit(text: str | None) -> Unit | None:
    return next((unit for unit in _UNITS if unit == text), None)


def _number(text: str) -> int | float:
    digits = text.lstrip("+-")
    if len(digits) > _MOST_DIGITS:
        raise ExpressionError(f"a number of {len(digits):,} characters is too long for a metric expression", text=text)
    return int(text) if digits.isdigit() else float(text)


def _cutoff(name: str, value: object) -> tuple[int | float, Unit | None]:
    """Return a cutoff that was given as a parameter: a number, or a budget."""
    if isinstance(value, str):
        try:
            return read_budget(value)
        except ExpressionError:
            pass
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ExpressionError(f"the cutoff of {name!r} must be a number, not {value!r}", text=name)
    return value, None


def _check_param(name: str, key: str, value: Value) -> None:
    if not isinstance(key, str) or _WORD.fullmatch(key) is None:
        raise ExpressionError(f"{key!r} is not a parameter name (of {name!r})", text=name)
    if not isinstance(value, bool | int | float | str) or (isinstance(value, float) and not math.isfinite(value)):
        raise ExpressionError(f"parameter {key!r} of {name!r} cannot be {value!r}; a value is {_VALUES}", text=name)


def _write(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if _WORD.fullmatch(value) and value not in _BOOLEANS:
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
