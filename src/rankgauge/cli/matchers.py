"""
`rankgauge matchers`: what matchers there are, what exactly each one is, and what one makes of two texts.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.cli.console import (
    described_parameter,
    echo,
    json_text,
    parameter_line,
    plain_table,
    print_json,
    warn_of_faults,
)
from rankgauge.cli.options import make_engine
from rankgauge.cli.typed import JSON
from rankgauge.errors import ConfigError, ParameterError, Problem, RankgaugeError
from rankgauge.io.documents import decode_text
from rankgauge.io.files import read_bytes

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog, ResolvedMatcher
    from rankgauge.catalog.claims import Provider

__all__ = ["app"]

app = typer.Typer(help="List, show and try matchers.", no_args_is_help=True)

_CONFIG = typer.Option("--config", metavar="FILE", help="A config file that declares matchers.", show_default=False)
_MATCHER = typer.Argument(
    help="A matcher's name, or a composition such as 'casefold > equal >= 1'.", show_default=False
)


@app.command("list")
def list_matchers(*, config: Annotated[Path | None, _CONFIG] = None, as_json: Annotated[bool, JSON] = False) -> None:
    """List every matcher. Broken plugins are named on stderr."""
    catalog, own = _catalog(config)
    warn_of_faults(catalog)
    found: dict[str, tuple[str, str, Provider | None]] = {
        name: (str(claim.declaration.matcher), claim.declaration.summary, claim.provider)
        for name, claim in catalog.all("matcher").items()
    }
    found |= {name: (str(catalog.matcher(name).matcher), "", None) for name in own}
    if as_json:
        keys = ("name", "composition", "summary", "provider")
        print_json([dict(zip(keys, (name, *facts), strict=True)) for name, facts in found.items()])
        return
    rows = []
    for name, (composition, summary, by) in found.items():
        shown = str(config) if by is None else f"{by.distribution} {by.version}".strip() or "this process"
        rows.append((name, composition, summary, shown))
    plain_table(("matcher", "composition", "when to use it", "provider"), rows)


@app.command("show")
def show_matcher(
    name: Annotated[str, _MATCHER],
    *,
    config: Annotated[Path | None, _CONFIG] = None,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Show one matcher. Its normalizers, its comparer with all parameters, and their providers."""
    catalog, _ = _catalog(config)
    described = _described(catalog, catalog.matcher(name))
    if as_json:
        print_json(described)
        return
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


@app.command("try")
def try_matcher(
    name: Annotated[str, _MATCHER],
    *,
    retrieved: Annotated[str, typer.Option(metavar="TEXT", help="The retrieved text, or @FILE.", show_default=False)],
    gold: Annotated[str, typer.Option(metavar="TEXT", help="The gold text, or @FILE.", show_default=False)],
    config: Annotated[Path | None, _CONFIG] = None,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Try a matcher on two texts. Both are printed after each normalizer, then score and verdict; exit code 0."""
    catalog, _ = _catalog(config)
    matcher = catalog.matcher(name)
    sides = {"retrieved": _text(retrieved, "--retrieved"), "gold": _text(gold, "--gold")}
    steps = [{"after": "", **sides}]
    for step, function in zip(matcher.matcher.normalizers, matcher.normalizers, strict=True):
        sides = {side: _called(matcher, step, function, text) for side, text in sides.items()}
        steps.append({"after": step, **sides})
    score, matches = _compared(matcher, sides["retrieved"], sides["gold"])
    threshold = matcher.matcher.threshold
    if as_json:
        verdict = {"score": score, "threshold": threshold, "matches": matches}
        print_json({"name": matcher.name, "composition": str(matcher.matcher), "steps": steps, **verdict})
        return
    lines = [f"matcher    {matcher}"]
    for texts in steps:
        lines.append(f"after {texts['after']}" if texts["after"] else "as given")
        lines += [f"  {side:9}  {json_text(texts[side])}" for side in ("retrieved", "gold")]
    shown = f"{score:g}" if float(f"{score:g}") == score else repr(score)
    lines += [f"score      {shown} (threshold {threshold:g})", f"verdict    {'match' if matches else 'no match'}"]
    echo("\n".join(lines))


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
            msg = f"{config} cannot be used:"
            problem = Problem(str(error), *engine.config.place("matchers", name), f"matchers.{name}")
            raise ConfigError(msg, [problem]) from error
    return engine.catalog, declared


def _described(catalog: Catalog, matcher: ResolvedMatcher) -> dict[str, Any]:
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
    from rankgauge.judging.by_text import checked_scores

    with _blaming(matcher, matcher.matcher.comparer):
        score = checked_scores(matcher.compare_all([retrieved], [gold]), 1, 1)[0, 0]
        decided = checked_scores(matcher.compare([retrieved], [gold]), 1, 1)[0, 0]
    return float(score), bool(decided >= matcher.matcher.threshold)


def _called(matcher: ResolvedMatcher, step: str, function: Callable[[str], str], text: str) -> str:
    with _blaming(matcher, step):
        found: object = function(text)
        if not isinstance(found, str):
            msg = f"it returned {found!r}, which is not a text"
            raise TypeError(msg)
        return found


@contextmanager
def _blaming(matcher: ResolvedMatcher, part: str) -> Iterator[None]:
    """Name the provider of a part that fails."""
    from rankgauge.errors import MatcherError

    try:
        with guarded():
            yield
    except ForeignError as error:
        by = dict(matcher.providers).get(part)
        msg = f"{part!r} of matcher {matcher} failed (by {by}): {error}"
        raise MatcherError(msg) from error


def _text(given: str, option: str) -> str:
    """Return the text that an option gives: itself, the content of @FILE, or standard input for @-."""
    if not given.startswith("@"):
        return given
    if given == "@-" and sys.stdin is None:
        msg = f"{option} {given}: standard input is closed"
        raise ParameterError(msg)
    if given != "@-":
        hint = f"{option} {given} names it; put a text that begins with @ into a file"
        return decode_text(read_bytes(Path(given[1:]), hint=hint), given[1:])
    try:
        return sys.stdin.read()
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{option} {given}: cannot read standard input: {error}"
        raise ParameterError(msg) from error
