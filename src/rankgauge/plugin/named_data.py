"""
Declarations of data under a name: profiles, sets of metrics, and presets for the records of other tools.
"""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankgauge.base.frozen import freeze_fields, frozen
from rankgauge.errors import DeclarationError, PolicyError, did_you_mean
from rankgauge.expression import Value
from rankgauge.plugin.signature import Authored, declaring, plain_name
from rankgauge.policy import Contract, Profile
from rankgauge.ranking_filters import read_filters
from rankgauge.samples import FIELDS
from rankgauge.silence import read_phrases

__all__ = [
    "MetricSet",
    "NamedProfile",
    "Preset",
    "ProfileSpec",
    "Steps",
    "metric_set",
    "named_profile",
    "preset",
    "read_path",
    "read_profile",
]


_CONVENTIONS = ("relevance", "negatives", "duplicate_texts", "missing_texts", "own_ranks", "places")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSpec:
    """What a profile changes of another."""

    extends: str = "default"  # the other profile
    policy: Mapping[str, Any] = field(default_factory=dict)  # policy options by name
    parameters: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)  # parameters by metric
    conventions: Mapping[str, Any] = field(default_factory=dict)  # those of `_CONVENTIONS` that are given
    contract: Mapping[str, Any] = field(default_factory=dict)  # parts of the contract by name

    def __post_init__(self) -> None:
        freeze_fields(self)

    def plain(self) -> dict[str, Any]:
        """Return the form that `read_profile` reads."""
        spec: dict[str, Any] = {"extends": self.extends, **self.conventions}
        parts = {"policy": self.policy, "parameters": self.parameters, "contract": self.contract}
        return {**spec, **{name: dict(part) for name, part in parts.items() if part}}

    def applied(self, name: str, base: Profile, parameters: Mapping[str, Mapping[str, Value]]) -> Profile:
        """Return the profile that this makes of another, with its *parameters* by alias."""
        merged = {
            alias: {**base.parameters.get(alias, {}), **parameters.get(alias, {})}
            for alias in dict.fromkeys((*base.parameters, *parameters))
        }
        return dataclasses.replace(
            base,
            name=name,
            policy=base.policy.with_options(self.policy),
            parameters=merged,
            contract=base.contract._replace(**self.contract),
            **self.conventions,
        )


def read_profile(spec: Mapping[str, Any]) -> ProfileSpec:
    """Read what a profile changes, as configs write it; refuse unknown keys and values, but leave names for later."""
    known = ("extends", "policy", "parameters", "contract", *_CONVENTIONS)
    _check_keys("a profile", spec, known)
    spec = {key: value for key, value in spec.items() if value is not None}
    extends = spec.get("extends", "default")
    if type(extends) is not str:
        raise PolicyError(f"'extends' of a profile is the name of another, not {extends!r}")
    parts: dict[str, Any] = {key: spec.get(key) or {} for key in ("policy", "parameters", "contract")}
    for key, part in parts.items():
        if not isinstance(part, Mapping):
            raise PolicyError(f"{key!r} of a profile is a mapping, not {part!r}")
    for metric, values in parts["parameters"].items():
        if not isinstance(values, Mapping):
            msg = f"'parameters' of a profile has a mapping for each metric; that of {metric!r} is {values!r}"
            raise PolicyError(msg)
    _check_values("a profile", {key: spec[key] for key in _CONVENTIONS if key in spec}, Profile)
    _check_keys("the contract of a profile", parts["contract"], Contract._fields)
    _check_values("the contract of a profile", parts["contract"], Contract)
    return ProfileSpec(extends=extends, conventions={key: spec[key] for key in _CONVENTIONS if key in spec}, **parts)


@dataclass(frozen=True, slots=True)
class NamedProfile(Authored):
    """A profile with its own name."""

    name: str
    function: Callable[[], None]  # its docstring says whose numbers the profile reproduces
    spec: ProfileSpec


def named_profile(name: str, spec: Mapping[str, Any]) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """
    Declare a profile; the decorated function's docstring says whose numbers it reproduces.

    Args:
        name: Lower-case words joined by hyphens.

        spec: What it changes of another, as under `profiles` in a config: `extends` (a profile; `default` unless
            given), `policy` (options), `parameters` (by metric), `relevance`, `negatives`, `duplicate_texts`,
            `missing_texts`, `own_ranks`, `places`, `contract`. Names of metrics and options are looked up when the
            profile is used.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the name cannot be used.

        PolicyError: When applied: *spec* cannot be read.
    """
    return declaring(lambda function: NamedProfile(plain_name(name), function, read_profile(spec)))


@dataclass(frozen=True, slots=True)
class MetricSet(Authored):
    """A list of metrics with a name."""

    name: str
    function: Callable[[], None]  # its docstring says what the set is for
    metrics: tuple[str | Mapping[str, Any], ...]


def metric_set(
    name: str, metrics: Sequence[str | Mapping[str, Any]]
) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """
    Declare a set of metrics; the decorated function's docstring says what it is for.

    Args:
        name: Lower-case words joined by hyphens.

        metrics: As under `metrics.use` in a config: expressions, mappings ``{metric, as, k, ...}``, and other sets of
            plugins, ``{set: NAME}``.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the declaration cannot be used.
    """

    def declare(function: Callable[[], None]) -> MetricSet:
        if isinstance(metrics, str) or not metrics or not all(isinstance(metric, str | Mapping) for metric in metrics):
            msg = f"set {name!r} is a list of metrics, as under `metrics.use` in a config; not {metrics!r}"
            raise DeclarationError(msg)
        return MetricSet(plain_name(name), function, tuple(map(frozen, metrics)))

    return declaring(declare)


def _check_keys(what: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in given:
        if key not in known:
            raise PolicyError(f"{what} has no {key!r}{did_you_mean(str(key), known)}; known are {', '.join(known)}")


def _check_values(what: str, given: Mapping[str, Any], kind: type) -> None:
    """Refuse a value that a field of *kind* cannot have."""
    hints = typing.get_type_hints(kind)
    for key, value in given.items():
        if (read := {"filters": read_filters, "abstains": read_phrases}.get(key)) is not None:
            read(value)
        elif not _fits(value, hint := hints[key]):
            words = [choice for branch in (hint, *typing.get_args(hint)) for choice in typing.get_args(branch)]
            choices = [word for word in words if isinstance(word, str)]
            wanted = f"choose from {', '.join(choices)}{'' if _is_literal(hint) else ' or a number'}"
            raise PolicyError(f"{key!r} of {what} cannot be {value!r}; {wanted if choices else 'it is true or false'}")


def _fits(value: object, hint: Any) -> bool:  # noqa: ANN401  # a type, as annotations write it
    if _is_literal(hint):
        return isinstance(value, str) and value in typing.get_args(hint)
    if hint is bool:
        return isinstance(value, bool)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return any(_fits(value, branch) for branch in typing.get_args(hint))


def _is_literal(hint: object) -> bool:
    return typing.get_origin(hint) is typing.Literal


RETRIEVED = "actual_output.retrieved"
ITEM_KEYS = ("id", "text", "score")
_TARGETS = (*FIELDS, *(f"{RETRIEVED}.{key}" for key in ITEM_KEYS))

Steps = tuple[tuple[str, tuple[str, ...]], ...]
"""A path as it is followed: names, each with what is in the brackets behind it."""

_STEP = re.compile(r"([^.\[\]]*)((?:\[[^\[\]]*\])*)")
_SELECTOR = re.compile(r"|-?\d+|[^=]+=.*")


Refine = Callable[[Mapping[str, Any], dict[str, Any]], dict[str, Any]]
"""Takes a record and the sample that paths made of it; returns the sample."""


@dataclass(frozen=True, slots=True)
class Preset(Authored):
    """Where the records of a tool have the fields of samples; the fields are the arguments of `preset`."""

    name: str
    function: Callable[[], None]  # its docstring says whose records they are
    fields: Mapping[str, tuple[str, ...]]
    items: Mapping[str, tuple[str, ...]]
    marks: tuple[tuple[str, ...], ...]
    records: tuple[str, ...] = ()
    separator: str = ""
    refine: Refine | None = None
    group_by: tuple[str, ...] = ()
    join_by_input: bool = False
    system: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        freeze_fields(self)


Places = str | Sequence[str]


def preset(
    name: str,
    *,
    fields: Mapping[str, Places],
    marks: Sequence[Sequence[str]],
    items: Mapping[str, Places] | None = None,
    records: Places = (),
    separator: str = "",
    refine: Refine | None = None,
    group_by: Places = (),
    join_by_input: bool = False,
    system: Sequence[Places] = (),
) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """
    Declare a preset; the decorated function's docstring says whose records it reads.

        @preset(
            "our-search",
            fields={"id": "qid", "expected_output.relevant": "gold[].doc", "actual_output.retrieved": "hits"},
            items={"id": "doc", "text": ("body", "title"), "score": "bm25"},
            marks=[("qid", "hits[].doc")],
        )
        def our_search() -> None:
            \"\"\"The log of our search.\"\"\"

    A path is names joined by dots, and may have brackets behind a name: ``gold[]`` (each of a list), ``messages[-1]``
    (one of it), ``messages[role=tool]`` (a list of those whose field has that value), and ``*`` for any name. A name
    may itself have dots. Of several paths the first counts that leads to a usable value.

    Args:
        name: Lower-case words joined by hyphens; ``--preset NAME`` uses it.

        fields: Where records have a field of samples, such as ``expected_output.passages``; parallel lists of what was
            retrieved are ``actual_output.retrieved.id``, ``.text`` and ``.score``. A record without an id is called by
            its line or its place.

        marks: Sets of paths; a record that has all paths of a set is recognized.

        items: Where an object of `actual_output.retrieved` has its `id`, `text` and `score`. Bare strings are texts.

        records: Where a document has its list of records, or a map of them; none if it is one record.

        separator: What separates the entries of a list in one text, unless the user names another.

        refine: A function that takes a record and the sample that the paths made of it, and returns the sample with
            what no path says, such as which questions have no answer. It leaves both as they are.

        group_by: Where records that make one sample together have the same text or integer, such as the question of a
            table with a row for each relevant document. They become one record: the first of them, with all of them as
            a list in ``rows``, so that the paths of *fields* begin with ``rows[]`` where each of them counts. Records
            without a value there stay alone. Rows that disagree where the first alone is read are refused, unless there
            is *refine*. The whole file is read before anything is scored.

        join_by_input: Whether ids of outputs are those of the tool's own records, such as traces. An output whose id no
            sample has then belongs to the samples with its `input`, as outputs without any id do.
        system: Where records say which system they are of, if one file has the records of several: what the system
            is called, and further places by which systems of the same name differ. Of several paths to a place the
            first counts that leads to a text or a number. A run takes the records of one system. The whole file is
            read before anything is scored.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: a name, a field or a path that cannot be used, or no marks.
    """

    def declare(function: Callable[[], None]) -> Preset:
        what = f"preset {name!r}"
        if not marks or isinstance(marks, str) or not all(marks):
            raise DeclarationError(f"{what} needs marks: the paths by which its records are recognized")
        return Preset(
            plain_name(name),
            function,
            _checked(what, fields, _TARGETS),
            _checked(what, items or {}, ITEM_KEYS),
            tuple(_paths(what, mark) for mark in marks),
            _paths(what, records),
            separator,
            refine,
            _paths(what, group_by),
            join_by_input,
            tuple(_paths(what, place) for place in ((system,) if isinstance(system, str) else system)),
        )

    return declaring(declare)


def read_path(path: str) -> Steps:
    """Return the steps of a path, none of an empty one; raise `DeclarationError` for brackets that do not close."""
    steps: list[tuple[str, tuple[str, ...]]] = []
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None or step.end() == at or path[step.end() : step.end() + 1] not in {"", "."}:
            raise DeclarationError(f"{path!r} is not a path such as hits[].doc.id or messages[role=tool][].content")
        selectors = tuple(re.findall(r"\[(.*?)\]", step[2]))
        if bad := [selector for selector in selectors if not _SELECTOR.fullmatch(selector)]:
            raise DeclarationError(f"{path!r} cannot be followed: [{bad[0]}] is neither [], a number nor [name=value]")
        steps.append((step[1], selectors))
        at = step.end() + 1
    return tuple(steps)


def _checked(what: str, given: Mapping[str, Places], known: Sequence[str]) -> dict[str, tuple[str, ...]]:
    for key in given:
        if key not in known:
            raise DeclarationError(
                f"{what} has no {key!r}{did_you_mean(str(key), known)}; known are {', '.join(known)}"
            )
    return {key: _paths(what, places) for key, places in given.items()}


def _paths(what: str, given: Places) -> tuple[str, ...]:
    paths = (given,) if isinstance(given, str) else tuple(given)
    for path in paths:
        if not isinstance(path, str):
            raise DeclarationError(f"a path of {what} is a text, not {path!r}")
        read_path(path)
    return paths
