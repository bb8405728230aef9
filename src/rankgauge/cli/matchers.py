"""
`rankgauge matchers`: what matchers there are, what exactly each one is, and what one makes of two texts.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankgauge.cli.console import plain_table, warn_of_faults
from rankgauge.cli.options import make_engine

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog, ResolvedMatcher

__all__ = ["app"]

app = typer.Typer(help="List matchers, show what one is, or try it on two texts.", no_args_is_help=True)

_CONFIG = typer.Option("--config", help="A config file whose matchers are known, too.", show_default=False)
_MATCHER = typer.Argument(
    help="A matcher's name, or a composition such as 'casefold > equal >= 1'.", show_default=False
)
_JSON = typer.Option("--json", help="Print JSON.")


@app.command("list")
def list_matchers(*, config: Annotated[Path | None, _CONFIG] = None, as_json: Annotated[bool, _JSON] = False) -> None:
    """List every usable matcher: its name, what it is made of, when to use it, and who provides it."""
    catalog, own = _catalog(config)
    warn_of_faults(catalog)
    rows = [
        {
            "name": name,
            "composition": str(claim.declaration.matcher),
            "summary": claim.declaration.summary,
            "provider": dataclasses.asdict(claim.provider),
        }
        for name, claim in catalog.all("matcher").items()
    ]
    rows += [
        {"name": name, "composition": str(catalog.matcher(name).matcher), "summary": "", "provider": None}
        for name in own
    ]
    if as_json:
        _print_json(rows)
        return
    plain_table(
        ("matcher", "composition", "when to use it", "provider"),
        [(row["name"], row["composition"], row["summary"], _distribution(row["provider"], config)) for row in rows],
    )


@app.command("show")
def show_matcher(
    name: Annotated[str, _MATCHER],
    *,
    config: Annotated[Path | None, _CONFIG] = None,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Show a matcher: its normalizers with their stages, its comparer with all parameters, and who provides each."""
    catalog, _ = _catalog(config)
    described = _described(catalog, catalog.matcher(name))
    if as_json:
        _print_json(described)
        return
    lines = [described["name"] or "(a composition without a name)", ""]
    if described["summary"]:
        lines += [described["summary"], ""]
    lines += [f"composition  {described['composition']}", f"threshold    {described['threshold']:g}"]
    lines.append("normalizers  " + ("" if described["normalizers"] else "none: texts are compared as they are"))
    for place, step in enumerate(described["normalizers"], 1):
        lines.append(f"  {place}. {step['name']} ({step['stage']}): {step['summary']}")
    comparer = described["comparer"]
    lines.append(f"comparer     {comparer['name']}: {comparer['summary']}")
    for parameter in comparer["parameters"]:
        choices = f", one of {', '.join(map(str, parameter['choices']))}" if parameter["choices"] else ""
        default = "" if parameter["value"] == parameter["default"] else f" (default {_said(parameter['default'])})"
        lines.append(f"  {parameter['name']} = {_said(parameter['value'])}{default}{choices}")
    lines.append("providers")
    lines += [f"  {provider['of']}: {provider['shown']}" for provider in described["providers"]]
    typer.echo("\n".join(lines))


@app.command("try")
def try_matcher(
    name: Annotated[str, _MATCHER],
    *,
    retrieved: Annotated[str, typer.Option(help="The retrieved text, or @FILE.", show_default=False)],
    gold: Annotated[str, typer.Option(help="The gold text, or @FILE.", show_default=False)],
    config: Annotated[Path | None, _CONFIG] = None,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Print both texts after each normalizer, their score, and whether they match; the exit code is 0 either way."""
    catalog, _ = _catalog(config)
    matcher = catalog.matcher(name)
    sides = {"retrieved": _text(retrieved, "--retrieved"), "gold": _text(gold, "--gold")}
    steps: list[dict[str, str]] = [{"after": "", **sides}]
    for step, function in zip(matcher.matcher.normalizers, matcher.normalizers, strict=True):
        sides = {side: _called(matcher, step, function, text) for side, text in sides.items()}
        steps.append({"after": step, **sides})
    score, matches = _compared(matcher, sides["retrieved"], sides["gold"])
    threshold = matcher.matcher.threshold
    if as_json:
        verdict = {"score": score, "threshold": threshold, "matches": matches}
        _print_json({"name": matcher.name, "composition": str(matcher.matcher), "steps": steps, **verdict})
        return
    lines = [f"matcher    {matcher}"]
    for step_texts in steps:
        lines.append(f"after {step_texts['after']}" if step_texts["after"] else "as given")
        lines += [f"  {side:9}  {_quoted(step_texts[side])}" for side in ("retrieved", "gold")]
    shown = f"{score:g}" if float(f"{score:g}") == score else repr(score)
    lines += [f"score      {shown} (threshold {threshold:g})", f"verdict    {'match' if matches else 'no match'}"]
    typer.echo("\n".join(lines))


def _catalog(config: Path | None) -> tuple[Catalog, list[str]]:
    """Return the catalog, and the names of the matchers that the config declares."""
    engine = make_engine(config)
    declared = engine.config.config.matchers if engine.config is not None else {}
    return engine.catalog, sorted(declared)


def _described(catalog: Catalog, matcher: ResolvedMatcher) -> dict[str, Any]:
    from rankgauge.catalog.parameters import signature_parameters

    value = matcher.matcher
    declared = catalog.all("matcher").get(matcher.name)
    steps = [catalog.all("normalizer")[name].declaration for name in value.normalizers]
    comparer = catalog.all("comparer")[value.comparer].declaration
    given = {**dict(value.params)}
    parameters = []
    for parameter in signature_parameters(comparer.function):
        usual = value.threshold if parameter.name == "cutoff" else parameter.default
        parameters.append(
            {
                "name": parameter.name,
                "value": given.get(parameter.name, usual),
                "default": parameter.default,
                "choices": list(parameter.choices),
            }
        )
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
    """Return the score without a cutoff, and the verdict that a run would come to."""
    from rankgauge.errors import MatcherError
    from rankgauge.judging.by_text import checked_scores

    try:
        score = checked_scores(matcher.compare_all([retrieved], [gold]), 1, 1)[0, 0]
        decided = checked_scores(matcher.compare([retrieved], [gold]), 1, 1)[0, 0]
    except Exception as error:
        raise MatcherError(_failure(matcher, matcher.matcher.comparer, error)) from error
    return float(score), bool(decided >= matcher.matcher.threshold)


def _called(matcher: ResolvedMatcher, step: str, function: Any, text: str) -> str:  # noqa: ANN401  # plugin code
    from rankgauge.errors import MatcherError

    try:
        found = function(text)
    except Exception as error:
        raise MatcherError(_failure(matcher, step, error)) from error
    if not isinstance(found, str):
        raise MatcherError(_failure(matcher, step, f"it returned {found!r}, which is no text"))
    return found


def _failure(matcher: ResolvedMatcher, part: str, error: object) -> str:
    told = f"{type(error).__name__}: {error}" if isinstance(error, Exception) else str(error)
    by = dict(matcher.providers).get(part)
    return f"{part!r} of matcher {matcher} failed (by {by}): {told}"


def _text(given: str, option: str) -> str:
    """Return the text that an option gives: itself, the content of @FILE, or standard input for @-."""
    if not given.startswith("@"):
        return given
    try:
        return sys.stdin.read() if given == "@-" else Path(given[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{option} {given}: cannot read the file: {error}; a text that begins with @ can stand in a file"
        raise typer.BadParameter(msg) from error


def _quoted(text: str) -> str:
    """Return a text on one line, in quotes, so that white space shows."""
    import orjson

    try:
        return orjson.dumps(text).decode()
    except TypeError:  # half a surrogate pair
        return ascii(text)


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _distribution(provider: dict[str, Any] | None, config: Path | None) -> str:
    if provider is None:
        return str(config)
    return f"{provider['distribution']} {provider['version']}".strip() or "this process"


def _print_json(value: dict[str, Any] | Iterable[dict[str, Any]]) -> None:
    import json

    # Not orjson: texts may hold half a surrogate pair, which JSON can escape and UTF-8 cannot encode.
    typer.echo(json.dumps(value, indent=2))
