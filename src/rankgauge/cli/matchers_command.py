"""
`rankgauge matchers`: what matchers there are, what exactly each one is, and what one makes of two texts.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog import Catalog, ResolvedMatcher
from rankgauge.catalog.claims import Provider
from rankgauge.catalog.resolved import signature_parameters
from rankgauge.cli.console import (
    described_parameter,
    json_text,
    parameter_line,
    plain_table,
    print_answer,
    print_json,
    warn_of_faults,
)
from rankgauge.cli.conventions import make_engine
from rankgauge.errors import ConfigError, MatcherError, ParameterError, Problem, RankgaugeError
from rankgauge.io.documents import decode_text
from rankgauge.io.files import read_bytes
from rankgauge.judging.by_text import scores_of


def execute_list(given: argparse.Namespace) -> int:
    """List every matcher."""
    catalog, declared = _catalog(given.config)
    warn_of_faults(catalog)
    matchers: dict[str, tuple[str, str, Provider | None]] = {
        name: (str(claim.declaration.matcher), claim.declaration.summary, claim.provider)
        for name, claim in catalog.all("matcher").items()
    }
    matchers |= {name: (str(catalog.matcher(name).matcher), "", None) for name in declared}
    if given.as_json:
        keys = ("name", "composition", "summary", "provider")
        print_json([dict(zip(keys, (name, *facts), strict=True)) for name, facts in matchers.items()])
        return 0
    rows = []
    for name, (composition, summary, by) in matchers.items():
        shown = str(given.config) if by is None else f"{by.distribution} {by.version}".strip() or "this process"
        rows.append((name, composition, summary, shown))
    plain_table(("matcher", "composition", "when to use it", "provider"), rows)
    return 0


def execute_show(given: argparse.Namespace) -> int:
    """Print what exactly one matcher is."""
    catalog, _ = _catalog(given.config)
    described = _described(catalog, catalog.matcher(given.name))
    comparer, steps = described["comparer"], described["normalizers"]
    lines = [
        described["name"] or "(a composition without a name)",
        "",
        *([described["summary"], ""] if described["summary"] else ()),
        f"composition  {described['composition']}",
        f"threshold    {described['threshold']:g}",
        "normalizers" if steps else "normalizers  none: texts are compared as they are",
        *(f"  {place}. {step['name']} ({step['stage']}): {step['summary']}" for place, step in enumerate(steps, 1)),
        f"comparer     {comparer['name']}: {comparer['summary']}",
        *map(parameter_line, comparer["parameters"]),
        "providers",
        *(f"  {provider['of']}: {provider['shown']}" for provider in described["providers"]),
    ]
    return print_answer(given, described, "\n".join(lines))


def execute_try(given: argparse.Namespace) -> int:
    """Print what a matcher makes of two texts."""
    catalog, _ = _catalog(given.config)
    matcher = catalog.matcher(given.name)
    sides = {"retrieved": _text(given.retrieved, "--retrieved"), "gold": _text(given.gold, "--gold")}
    steps = [{"after": "", **sides}]
    for name, step in zip(matcher.matcher.normalizers, matcher.normalizers, strict=True):
        sides = {side: _called(matcher, name, step.function, text) for side, text in sides.items()}
        steps.append({"after": name, **sides})
    score, matches = _compared(matcher, sides["retrieved"], sides["gold"])
    threshold = matcher.matcher.threshold
    verdict = {"score": score, "threshold": threshold, "matches": matches}
    facts = {"name": matcher.name, "composition": str(matcher.matcher), "steps": steps, **verdict}
    lines = [f"matcher    {matcher}"]
    for texts in steps:
        lines.append(f"after {texts['after']}" if texts["after"] else "as given")
        lines += [f"  {side:9}  {json_text(texts[side])}" for side in ("retrieved", "gold")]
    shown = f"{score:g}" if float(f"{score:g}") == score else repr(score)
    lines += [f"score      {shown} (threshold {threshold:g})", f"verdict    {'match' if matches else 'no match'}"]
    return print_answer(given, facts, "\n".join(lines))


def _catalog(config: Path | None) -> tuple[Catalog, list[str]]:
    """Return the catalog, and the names of the matchers that the config declares."""
    engine = make_engine(config)
    if engine.config is None:
        return engine.catalog, []
    declared = sorted(engine.config.config.matchers)
    for name in declared:
        try:
            engine.catalog.matcher(name)
        except RankgaugeError as error:
            problem = Problem(str(error), *engine.config.place("matchers", name), f"matchers.{name}")
            raise ConfigError(f"{config} cannot be used:", [problem]) from error
    return engine.catalog, declared


def _described(catalog: Catalog, matcher: ResolvedMatcher) -> dict[str, Any]:
    value = matcher.matcher
    declared = catalog.all("matcher").get(matcher.name)
    steps = [catalog.all("normalizer")[name].declaration for name in value.normalizers]
    comparer = catalog.all("comparer")[value.comparer].declaration
    given = {"cutoff": value.threshold, **dict(value.params)}
    parameters = [
        described_parameter(parameter, value=given.get(parameter.name, parameter.default))
        for parameter in signature_parameters(comparer.function)
    ]
    return {
        "name": matcher.name,
        "summary": "" if declared is None else declared.declaration.summary,
        "composition": str(value),
        "threshold": value.threshold,
        "normalizers": [{"name": step.name, "stage": step.stage, "summary": step.summary} for step in steps],
        "comparer": {
            "name": comparer.name,
            "summary": comparer.summary,
            "definition": inspect.getdoc(comparer.source) or "",
            "parameters": parameters,
        },
        "providers": [
            {"of": name, "shown": str(provider), **dataclasses.asdict(provider)}
            for name, provider in dict(matcher.providers).items()
        ],
    }


def _compared(matcher: ResolvedMatcher, retrieved: str, gold: str) -> tuple[float, bool]:
    """Return the score without a cutoff, and the verdict of a run."""
    with _blaming(matcher, matcher.matcher.comparer):
        score = scores_of(matcher.compare_all([retrieved], [gold]), 1, 1)[0, 0]
        decided = scores_of(matcher.compare([retrieved], [gold]), 1, 1)[0, 0]
    return float(score), bool(decided >= matcher.matcher.threshold)


def _called(matcher: ResolvedMatcher, step: str, function: Callable[[str], str], text: str) -> str:
    with _blaming(matcher, step):
        normalized: object = function(text)
        if not isinstance(normalized, str):
            raise TypeError(f"it returned {normalized!r}, which is not a text")
        return normalized


@contextmanager
def _blaming(matcher: ResolvedMatcher, part: str) -> Iterator[None]:
    """Name the provider of a part that fails."""
    try:
        with guarded():
            yield
    except ForeignError as error:
        by = dict(matcher.providers).get(part)
        raise MatcherError(f"{part!r} of matcher {matcher} failed (by {by}): {error}") from error


def _text(given: str, option: str) -> str:
    """Return the text that an option gives: itself, the content of @FILE, or standard input for @-."""
    if not given.startswith("@"):
        return given
    if given == "@-" and sys.stdin is None:
        raise ParameterError(f"{option} {given}: standard input is closed")
    if given != "@-":
        hint = f"{option} {given} names it; put a text that begins with @ into a file"
        return decode_text(read_bytes(Path(given[1:]), hint=hint), given[1:])
    try:
        return sys.stdin.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"{option} {given}: cannot read standard input: {error}") from error
