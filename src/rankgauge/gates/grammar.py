"""
Gates as they are written: bounds of means and of changes, as a text or as a mapping; results are not looked at here.

A text is ``METRIC >= NUMBER``, ``METRIC <= NUMBER``, ``METRIC max_drop MARGIN`` (or ``not_worse``), or ``METRIC WORD
NUMBER`` with the word of a kind of gates that a plugin declares; then options in any order, such as ``level warn``. A
mapping has the same options as keys: ``{metric: ndcg@10, max_drop: 2%}``.
"""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, NoReturn, cast, get_args

from rankgauge.base.plain_text import read_amount, read_number
from rankgauge.catalog import Catalog, Claim
from rankgauge.comparison.differences import ShortLists
from rankgauge.comparison.pairing import Common
from rankgauge.errors import CatalogError, NameClashError, ParameterError, UnknownNameError, did_you_mean, suggest
from rankgauge.expression import QUOTED, as_written
from rankgauge.plugin.gate_kind import GATE_WORD, GateKind
from rankgauge.stats.aggregates import exact_reading

__all__ = ["EFFECTS", "Bound", "Defaults", "Effect", "Gate", "MaxDrop", "OfKind", "Side", "Where", "Word", "read_gates"]

Side = Literal["minimum", "maximum", "better"]
"""Which side a bound is on; `better` is a minimum where higher is better, else a maximum."""

Effect = Literal["fell", "fail", "warn", "pass"]
EFFECTS: tuple[Effect, ...] = get_args(Effect)
Word = Literal["max_drop", "not_worse"]

FORMS = "'ndcg@10 >= 0.6', 'unjudged@10 <= 0.2' or 'ndcg@10 max_drop 0.01'"

_CLOSE = 1e-9
"""How near floats are that exact arithmetic tells apart."""

_EQUALS = "="
_SIGNS = {">=": "min", "<=": "max", "max_drop": "max_drop", "not_worse": "not_worse", _EQUALS: _EQUALS}
_SIDES: Mapping[Side, str] = {"minimum": ">=", "maximum": "<=", "better": "="}
_RULE = re.compile(
    rf"(?P<metric>(?:{QUOTED.pattern}|(?!{QUOTED.pattern}).)+?)(?:\s*(?P<sign>>=|<=)\s*|\s+(?P<word>max_drop|not_worse)\s+)(?P<number>[^\s<>=]+)"
    r"(?P<rest>(?:\s.*)?)",
    re.DOTALL,
)
_SHORT = re.compile(
    rf"(?P<metric>(?:{QUOTED.pattern}|(?!{QUOTED.pattern}).)+?)\s*(?<![<>=])(?P<sign>=)(?P<word>)\s*"
    r"(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?P<rest>(?:\s.*)?)",
    re.DOTALL,
)
_NAMED = re.compile(
    rf"(?P<metric>(?:{QUOTED.pattern}|(?!{QUOTED.pattern}).)+?)\s+(?P<sign>)(?P<word>{GATE_WORD.pattern})\s+"
    r"(?P<number>[^\s<>=]+)(?P<rest>(?:\s.*)?)",
    re.DOTALL,
)
_OTHER_SIGN = re.compile(r"(?P<metric>.+?)\s*(?P<sign>==|=|>|<|≥|≤)\s*(?P<number>[^\s<>=]+)", re.DOTALL)
_VALUE = rf"(?:{QUOTED.pattern}|[^\s,\"']+)"
_OPTION = re.compile(
    rf"\s+(?:(?P<flag>per_sample)|where\s+(?P<field>[^\s=]+)\s*=\s*(?P<value>{_VALUE})|"
    rf"of\s+(?P<ids>{_VALUE}(?:\s*,\s*{_VALUE})*)|"
    rf"(?P<key>dataset|level|confidence|inconclusive|require|common|short_lists)\s+(?P<word>{_VALUE}))(?=\s|$)",
    re.DOTALL,
)
_OPTIONS = (
    "where FIELD=VALUE, of ID,ID, per_sample, dataset NAME, level warn, confidence 0.95, inconclusive fail, "
    "short_lists allow or common unchanged"
)
_OF_CHANGES = ("confidence", "inconclusive", "require", "common", "short_lists")
_DROPS: Mapping[Word, Effect] = {"max_drop": "fell", "not_worse": "fail"}  # and what one does that is open
_KEYS = ("metric", "min", "max", *_DROPS, "where", "dataset", "of", "per_sample", "level", *_OF_CHANGES)


class Where(NamedTuple):
    """A condition on a sample's metadata, such as ``tags=legal``: the field, and the value it has or contains."""

    field: str
    value: str

    def __str__(self) -> str:
        return f"{self.field}={_quoted(self.value)}"


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound of a mean; the number itself is within."""

    number: float
    side: Side

    def holds(self, value: float, scores: Sequence[float] = ()) -> bool:
        """
        Return whether a value keeps the bound, whose side is known; *scores* are what it is the mean of, if it is one.

        A mean at the bound keeps it: where floats cannot tell, the exact sum is compared with n times the bound.
        """
        is_kept: Callable[[Any, Any], bool] = operator.le if self.side == "maximum" else operator.ge
        kept = is_kept(value, self.number)
        if kept or not math.isclose(value, self.number, rel_tol=_CLOSE, abs_tol=_CLOSE):
            return kept
        from fractions import Fraction  # loads decimals, for a mean that is at its bound

        counts = Counter(scores or (value,))
        total = sum(count * exact_reading(score) for score, count in counts.items())
        return is_kept(total, counts.total() * Fraction(repr(self.number)))

    def is_maximum(self, *, higher_is_better: bool) -> bool:
        """Return whether a metric of this kind has to stay at or below the number."""
        return self.side == "maximum" or (self.side == "better" and not higher_is_better)


@dataclass(frozen=True, slots=True)
class MaxDrop:
    """A bound of a change against a baseline."""

    margin: float  # by how much the mean may get worse: in the unit of the metric, or as a share of the baseline's mean
    is_relative: bool = False  # whether it is a share
    confidence: float = 0.95  # of the one-sided bound of the difference, above 0.5 and below 1
    inconclusive: Effect = (
        "fell"  # what an open gate does; `fell`: it fails where the fall itself is certain, else warns
    )
    common: Common = "all"  # which samples are compared: all, or those whose ground truth is unchanged
    word: Word = "max_drop"  # `not_worse` asks for proof
    short_lists: ShortLists = "open"  # whether a change is judged whose loser does not fill the budget

    def __str__(self) -> str:
        return f"{self.margin * 100:.12g}%" if self.is_relative else _written(self.margin)


@dataclass(frozen=True, slots=True)
class OfKind:
    """A rule of a kind that a plugin declares."""

    claim: Claim[GateKind]
    number: float
    inconclusive: Effect = "warn"  # what an open gate does: warn, fail or pass
    common: Common = "all"  # as in `MaxDrop`, for a kind that compares

    @property
    def word(self) -> str:
        """Return the word in gates."""
        return self.claim.declaration.name

    def __str__(self) -> str:
        return _written(self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One condition that a metric has to meet."""

    metric: str  # in any spelling, or the name of a column
    rule: Bound | MaxDrop | OfKind
    dataset: str = ""  # empty for each
    where: Where | None = None  # of which samples the mean is; None for all
    of: tuple[str, ...] = ()  # ids of the samples that it is for; empty for all
    per_sample: bool = False  # whether each sample has to meet it, instead of the mean
    level: Literal["fail", "warn"] = "fail"  # what a miss does
    until: bool = False  # whether a system is called only until it is decided
    origin: str = field(default="", compare=False)  # where it was written, for messages

    @property
    def is_change(self) -> bool:
        """Return whether it is on a change against a baseline."""
        rule = self.rule
        return rule.claim.declaration.is_change if isinstance(rule, OfKind) else isinstance(rule, MaxDrop)

    def __str__(self) -> str:
        rule, parts = self.rule, [self.metric]
        sign, number = (_SIDES[rule.side], _written(rule.number)) if isinstance(rule, Bound) else (rule.word, rule)
        parts.append(f"{sign} {number}")
        parts += [f"where {self.where}"] if self.where else []
        parts += [f"of {','.join(map(_quoted, self.of))}"] if self.of else []
        parts += ["per_sample"] if self.per_sample else []
        parts += [f"dataset {_quoted(self.dataset)}"] if self.dataset else []
        if isinstance(rule, MaxDrop):
            parts += [f"confidence {_written(rule.confidence)}"] if rule.confidence != 0.95 else []
            parts += [f"inconclusive {rule.inconclusive}"] if rule.inconclusive != _DROPS[rule.word] else []
            parts += [f"short_lists {rule.short_lists}"] if rule.short_lists != "open" else []
            parts += [f"common {rule.common}"] if rule.common != "all" else []
        if isinstance(rule, OfKind):
            parts += [f"inconclusive {rule.inconclusive}"] if rule.inconclusive != "warn" else []
            parts += [f"common {rule.common}"] if rule.common != "all" else []
        parts += [f"level {self.level}"] if self.level != "fail" else []
        return " ".join(parts)


class Defaults(NamedTuple):
    """What holds for gates that do not say."""

    inconclusive: Effect = "fell"
    short_lists: ShortLists = "open"
    side: Side | None = None  # of a bound after `=`, which is no sign of gates otherwise
    catalog: Catalog | None = None  # where kinds of gates are looked up; None for what is installed


_DEFAULTS = Defaults()


def read_gates(written: object, *, origin: str = "", defaults: Defaults = _DEFAULTS) -> list[Gate]:
    """
    Read one entry of a list of gates: a text, or a mapping, of which each bound is a gate.

    Metrics are not resolved. Raises `ParameterError` with *origin*, such as ``--gate``, for what is no gate.
    """
    try:
        if isinstance(written, str):
            return _made(_parsed(written, defaults), origin, defaults)
        if isinstance(written, Mapping):
            return _made(written, origin, defaults)
        _refuse(f"a gate is a text such as {FORMS}, or a mapping with 'metric'; not {written!r}")
    except ParameterError as error:
        if not origin:
            raise
        raise ParameterError(f"{origin}: {error}") from None


def _parsed(text: str, defaults: Defaults) -> dict[str, Any]:
    """Return the mapping that a text stands for."""
    rule = _RULE.fullmatch(text.strip())
    if rule is None and defaults.side is not None:
        rule = _SHORT.fullmatch(text.strip())
    if rule is None:
        rule = _of_plugin(text, defaults)
    if rule is None:
        other = _OTHER_SIGN.fullmatch(text.strip())
        if other is not None and other["sign"] == "=" and defaults.side is not None:
            _number("the bound", other["number"])
        if other is not None and not math.isnan(read_number(other["number"].encode())):
            metric, sign, number = other["metric"], other["sign"], other["number"]
            sides = f"'{metric} >= {number}' or '{metric} <= {number}'"
            _refuse(f"{text!r} is not a gate: {sign!r} is not a sign of gates; write {sides}")
        _refuse(f"{text!r} is not a gate; write {FORMS}")
    sign = rule["sign"] or rule["word"]
    entry: dict[str, Any] = {"metric": rule["metric"], _SIGNS.get(sign, sign): rule["number"]}
    rest, place = rule["rest"].rstrip(), 0
    while place < len(rest):
        option = _OPTION.match(rest, place)
        if option is None:
            left = rest[place:].strip()
            hint = did_you_mean(left.split()[0], _KEYS)
            _refuse(f"cannot read {left!r} in {text!r}{hint}; a gate ends with nothing, or with {_OPTIONS}")
        place = option.end()
        key, value = _option(option)
        if key in entry:
            _refuse(f"{text!r} has {key!r} twice")
        entry[key] = value
    return entry


def _of_plugin(text: str, defaults: Defaults) -> re.Match[str] | None:
    """Return the parts of a gate of a plugin's kind; None for anything else, unless it looks like one."""
    named = _NAMED.fullmatch(text.strip())
    if named is None or named["word"] in _KEYS:
        return None
    unknown = _unknown(named["word"], defaults)
    has_sign = re.search("[<>=≥≤]", re.sub(r"\(.*?\)", "", named["metric"], flags=re.DOTALL)) is not None
    if unknown and not has_sign and not math.isnan(read_amount(named["number"])):
        _refuse(f"{text!r} is not a gate: {unknown}; or write {FORMS}")
    return None if unknown else named


def _option(match: re.Match[str]) -> tuple[str, Any]:
    if match["flag"]:
        return "per_sample", True
    if match["field"]:
        return "where", {match["field"]: _plain(match["value"])}
    if match["ids"]:
        return "of", [_plain(sample_id[0]) for sample_id in re.finditer(_VALUE, match["ids"], re.DOTALL)]
    return match["key"], _plain(match["word"])


def _made(entry: Mapping[Any, Any], origin: str, defaults: Defaults) -> list[Gate]:
    """Return the gates of a mapping."""
    kinds: dict[str, Claim[GateKind]] = {}
    for key in entry:
        if key in _KEYS or (key == _EQUALS and defaults.side is not None):
            continue
        kinds[key] = _kind_of_key(key, defaults)
    metric, per_sample, dataset = (
        as_written(entry.get("metric")),
        entry.get("per_sample", False),
        entry.get("dataset", ""),
    )
    if not isinstance(metric, str) or not metric.strip():
        _refuse(f"a gate names a metric such as 'ndcg@10', not {metric!r}")
    if not isinstance(per_sample, bool):
        _refuse(f"per_sample is true or false, not {per_sample!r}")
    if not isinstance(dataset, str) or ("dataset" in entry and not dataset):
        _refuse(f"dataset is the name of a dataset, not {dataset!r}")
    shared: dict[str, Any] = {
        "metric": metric.strip(),
        "dataset": dataset,
        "where": _where(entry["where"]) if "where" in entry else None,
        "of": _ids(entry["of"]) if "of" in entry else (),
        "per_sample": per_sample,
        "level": _chosen("level", entry.get("level", "fail"), ("fail", "warn")),
        "origin": origin,
    }
    return [Gate(rule=rule, **shared) for rule in _rules(entry, kinds, defaults)]


def _kind(word: str, defaults: Defaults) -> Claim[GateKind]:
    """Return the kind of gates of that word; other plugins are only loaded for such a word."""
    return (defaults.catalog or Catalog.installed()).gate_kind(word)


def _kind_of_key(key: object, defaults: Defaults) -> Claim[GateKind]:
    """Return the kind of gates whose word is a key of a mapping; refuse what is no such word, with the nearest key."""
    known, more = [*_KEYS], ""
    try:
        if isinstance(key, str) and GATE_WORD.fullmatch(key):
            return _kind(key, defaults)
    except NameClashError as error:
        raise ParameterError(str(error)) from error
    except UnknownNameError as error:
        known += (defaults.catalog or Catalog.installed()).all("gate kind")
        more = error.hint.partition("; ")[2]  # which plugins may have it
    near = suggest(str(key), known, most=1) or [word for word in str(key).split("_") if word in known]
    hint = f" (did you mean {near[0]!r}?)" if near else f"; {more}" if more else ""
    raise ParameterError(f"{key!r} is not a key of a gate{hint}; known are {', '.join(known)}")


def _unknown(word: str, defaults: Defaults) -> str:
    """Return why there is no one kind of gates of a word, with what may be meant; empty if there is."""
    try:
        _kind(word, defaults)
    except CatalogError as error:
        return str(error)
    return ""


def _rules(
    entry: Mapping[Any, Any], kinds: Mapping[str, Claim[GateKind]], defaults: Defaults
) -> list[Bound | MaxDrop | OfKind]:
    """Return the bounds of a mapping, of which there is at least one."""
    sides: dict[str, Side] = {"min": "minimum", "max": "maximum"}
    if defaults.side is not None:
        sides[_EQUALS] = defaults.side
    bounds = [Bound(_number(key, entry[key]), side) for key, side in sides.items() if key in entry]
    if "min" in entry and "max" in entry and bounds[0].number > bounds[1].number:
        _refuse(f"no mean is at least {entry['min']} and at most {entry['max']}")
    drops = [_drop(entry, word, defaults) for word in _DROPS if word in entry]
    named = [_of_kind(entry, claim, defaults) for claim in kinds.values()]
    if drops:
        return [*bounds, *drops, *named]
    if named:
        allowed = ("inconclusive", "common") if any(kind.is_change for kind in _declared(kinds)) else ("inconclusive",)
        if stray := [key for key in _OF_CHANGES if key in entry and key not in allowed]:
            _refuse(f"{stray[0]!r} does not belong to {', '.join(kinds)}")
        return [*bounds, *named]
    if stray := [key for key in _OF_CHANGES if key in entry]:
        _refuse(f"{stray[0]!r} belongs to max_drop and not_worse; a bound on a mean is decided by the mean")
    if not bounds:
        _refuse(f"the gate on {entry['metric']!r} has no bound; give it min, max, max_drop or not_worse")
    return list(bounds)


def _drop(entry: Mapping[Any, Any], word: Word, defaults: Defaults) -> MaxDrop:
    raw = entry[word]
    is_relative = isinstance(raw, str) and raw.strip().endswith("%")
    margin = _number(word, raw.strip()[:-1].strip() if is_relative else raw) / (100 if is_relative else 1)
    if margin < 0:
        _refuse(f"{word} is 0 or more, not {raw!r}: it says how much worse is still good; for a rise, raise min")
    confidence = entry.get("confidence", 0.95)
    share = confidence.strip() if isinstance(confidence, str) else ""
    number = _number("confidence", share[:-1]) / 100 if share.endswith("%") else _number("confidence", confidence)
    if not 0.5 < number < 1:
        _refuse(f"confidence is a number above 0.5 and below 1, such as 0.95, not {confidence!r}")
    open_ones = defaults.inconclusive if word == "max_drop" else _DROPS[word]
    inconclusive = _chosen("inconclusive", entry.get("inconclusive", open_ones), EFFECTS)
    short: Any = _chosen("short_lists", entry.get("short_lists", defaults.short_lists), get_args(ShortLists))
    common: Any = _chosen("common", entry.get("common", "all"), get_args(Common))
    if "require" in entry:
        _chosen("require", entry["require"], ("proof",))
        if inconclusive != "fail" and "inconclusive" in entry:
            _refuse(f"require: proof is the same as inconclusive: fail, and the gate also says {inconclusive!r}")
        inconclusive = "fail"
    return MaxDrop(margin, is_relative, number, cast("Effect", inconclusive), common, word, short)


def _declared(kinds: Mapping[str, Claim[GateKind]]) -> list[GateKind]:
    return [claim.declaration for claim in kinds.values()]


def _of_kind(entry: Mapping[Any, Any], claim: Claim[GateKind], defaults: Defaults) -> OfKind:
    word = claim.declaration.name
    if entry.get("per_sample"):
        _refuse(f"per_sample belongs to bounds and changes; {word} is held by all samples together")
    usual = "warn" if defaults.inconclusive == "fell" else defaults.inconclusive
    effects = tuple(effect for effect in EFFECTS if effect != "fell")
    inconclusive: Any = _chosen("inconclusive", entry.get("inconclusive", usual), effects)
    common: Any = _chosen("common", entry.get("common", "all"), get_args(Common))
    return OfKind(claim, _number(word, entry[word]), inconclusive, common)


def _number(key: str, raw: object) -> float:
    number = math.nan
    if isinstance(raw, str):
        number = read_amount(raw.strip())
        if raw.strip().endswith("%") and key in {"min", "max"}:
            _refuse(f"a bound is a number in the metric's own unit, such as 0.9, not {raw!r}")
    elif isinstance(raw, int | float) and not isinstance(raw, bool):
        number = float(raw)
    if not math.isfinite(number):
        _refuse(f"{key} is a number, not {raw!r}; write {FORMS}")
    return number


def _where(raw: object) -> Where:
    name, value = "", ""
    if isinstance(raw, str):
        name, _, value = (part.strip() for part in raw.partition("="))
        value = _plain(value)
    elif isinstance(raw, Mapping) and len(raw) == 1:
        ((key, only),) = raw.items()
        name = key if isinstance(key, str) else ""
        value = str(only) if isinstance(only, str | int | float) else ""
        value = value.lower() if isinstance(only, bool) else value
    if not name or not value:
        _refuse(f"where is one condition such as tags=legal, not {raw!r}")
    name = "tags" if name == "metadata.tags" else name
    if name != "tags" and not re.fullmatch(r"metadata\..+", name, re.DOTALL):
        _refuse(f"where selects by tags=... or by metadata.FIELD=..., not by {name!r}")
    return Where(name, value)


def _ids(raw: object) -> tuple[str, ...]:
    listed = [raw] if isinstance(raw, str) else raw
    if not isinstance(listed, Iterable) or isinstance(listed, Mapping | bytes):
        _refuse(f"of is a list of sample ids, not {raw!r}")
    ids = tuple(map(str, listed))
    if not ids or not all(ids):
        _refuse(f"of lists the ids of samples, at least one and none of them empty; not {raw!r}")
    return tuple(dict.fromkeys(ids))


def _chosen(key: str, raw: object, choices: tuple[str, ...]) -> str:
    if raw not in choices:
        _refuse(f"{key} is {' or '.join(choices)}, not {raw!r}{did_you_mean(str(raw), choices)}")
    return str(raw)


def _plain(text: str) -> str:
    """Return a value without its quotes."""
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL) if QUOTED.fullmatch(text) else text


def _written(number: float) -> str:
    """Return a number so that it reads back the same, without a decimal point if it is whole."""
    return repr(number).removesuffix(".0")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return text if re.fullmatch(r"[^\s,\"'=]+", text) else f'"{escaped}"'


def _refuse(message: str) -> NoReturn:
    raise ParameterError(message)
