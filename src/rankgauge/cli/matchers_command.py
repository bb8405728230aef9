"""
`rankgauge matchers`: what matchers there are, what exactly each one is, and what one makes of two texts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rankgauge.cli.command_line import Command
from rankgauge.cli.console import (
    described_parameter,
    echo,
    json_text,
    parameter_line,
    plain_table,
    print_json,
    warn_of_faults,
)
from rankgauge.cli.shared_options import add_config_option, add_json_option
from rankgauge.errors import ConfigError, MatcherError, ParameterError, Problem, RankgaugeError

if TYPE_CHECKING:
    from pathlib import Path

    from rankgauge.catalog import Catalog, ResolvedMatcher
    from rankgauge.catalog.claims import Provider

__all__ = ["LIST", "SHOW", "TRY"]


def _list_options(parser: argparse.ArgumentParser) -> None:
    add_config_option(parser)
    add_json_option(parser)


def _list(given: argparse.Namespace) -> int:
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


def _show_options(parser: argparse.ArgumentParser) -> None:
    name = "A matcher's name, or a composition such as 'casefold > equal >= 1'."
    parser.add_argument("name", metavar="NAME", help=name)
    _list_options(parser)


def _show(given: argparse.Namespace) -> int:
    catalog, _ = _catalog(given.config)
    described = _described(catalog, catalog.matcher(given.name))
    if given.as_json:
        print_json(described)
        return 0
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
    echo("\n".join(lines))
    return 0


def _try_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--retrieved", required=True, metavar="TEXT", help="The retrieved text, or @FILE.")
    add("--gold", required=True, metavar="TEXT", help="The gold text, or @FILE.")
    _show_options(parser)


def _try(given: argparse.Namespace) -> int:
    catalog, _ = _catalog(given.config)
    matcher = catalog.matcher(given.name)
    sides = {"retrieved": _text(given.retrieved, "--retrieved"), "gold": _text(given.gold, "--gold")}
    steps = [{"after": "", **sides}]
    for step, function in zip(matcher.matcher.normalizers, matcher.normalizers, strict=True):
        sides = {side: _called(matcher, step, function, text) for side, text in sides.items()}
        steps.append({"after": step, **sides})
    score, matches = _compared(matcher, sides["retrieved"], sides["gold"])
    threshold = matcher.matcher.threshold
    if given.as_json:
        verdict = {"score": score, "threshold": threshold, "matches": matches}
        print_json({"name": matcher.name, "composition": str(matcher.matcher), "steps": steps, **verdict})
        return 0
    lines = [f"matcher    {matcher}"]
    for texts in steps:
        lines.append(f"after {texts['after']}" if texts["after"] else "as given")
        lines += [f"  {side:9}  {json_text(texts[side])}" for side in ("retrieved", "gold")]
    shown = f"{score:g}" if float(f"{score:g}") == score else repr(score)
    lines += [f"score      {shown} (threshold {threshold:g})", f"verdict    {'match' if matches else 'no match'}"]
    echo("\n".join(lines))
    return 0


def _catalog(config: Path | None) -> tuple[Catalog, list[str]]:
    """Return the catalog, and the names of the matchers that the config declares."""
    from rankgauge.cli.conventions import make_engine

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
    import dataclasses
    import inspect

    from rankgauge.catalog.resolved import signature_parameters

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
    from rankgauge.judging.by_text import checked

    with _blaming(matcher, matcher.matcher.comparer):
        score = checked(matcher.compare_all([retrieved], [gold]), 1, 1).scores[0, 0]
        decided = checked(matcher.compare([retrieved], [gold]), 1, 1)
    return float(score), bool(decided.matches(matcher.matcher.threshold)[0, 0])


def _called(matcher: ResolvedMatcher, step: str, function: Callable[[str], str], text: str) -> str:
    with _blaming(matcher, step):
        normalized: object = function(text)
        if not isinstance(normalized, str):
            raise TypeError(f"it returned {normalized!r}, which is not a text")
        return normalized


@contextmanager
def _blaming(matcher: ResolvedMatcher, part: str) -> Iterator[None]:
    """Name the provider of a part that fails."""
    from rankgauge.base.guard import ForeignError, guarded

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
        from pathlib import Path

        from rankgauge.io.documents import decode_text
        from rankgauge.io.files import read_bytes

        hint = f"{option} {given} names it; put a text that begins with @ into a file"
        return decode_text(read_bytes(Path(given[1:]), hint=hint), given[1:])
    try:
        return sys.stdin.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"{option} {given}: cannot read standard input: {error}") from error


LIST = Command("[OPTIONS]", "Broken plugins are named on stderr.", _list_options, _list)
SHOW = Command(
    "[OPTIONS] NAME", "Its normalizers, its comparer with all parameters, and their providers.", _show_options, _show
)
TRY = Command(
    "[OPTIONS] --retrieved TEXT --gold TEXT NAME",
    "Both are printed after each normalizer, then score and verdict; exit code 0.",
    _try_options,
    _try,
)
