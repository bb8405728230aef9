"""
`rankgauge systems check`: an engine is asked what evaluators have to know of it.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rankgauge import Engine
from rankgauge.errors import ParameterError
from rankgauge.plugin import Console
from rankgauge.text import counted
from rankgauge_systems.check_documents import SEED, SIZE
from rankgauge_systems.check_facts import Fact, Observations, facts_of
from rankgauge_systems.check_observations import observe_apart, opened
from rankgauge_systems.check_own import own_facts
from rankgauge_systems.kinds import KINDS

__all__ = ["Checked", "check", "checked"]

_OWN = "rankgauge_check"
"""What tables, collections and indexes are called that a check makes."""

_PLACES = ("table", "collection", "index")


class Checked(NamedTuple):
    """What was found out about an engine."""

    kind: str
    by: str
    version: str
    facts: list[Fact]


def check(given: argparse.Namespace, console: Console) -> int:
    """Do what `systems check` was given, and return its exit code."""
    found = checked(console.engine(given.config), given.config, least_recall=given.recall)
    spoiling = [fact.name for fact in found.facts if fact.spoils]
    if given.as_json:
        facts = [fact.to_dict() for fact in found.facts]
        console.json({**found._asdict(), "documents": SIZE, "seed": SEED, "facts": facts, "spoiled": bool(spoiling)})
    else:
        _show(found, spoiling, console)
    return 1 if spoiling else 0


def _show(found: Checked, spoiling: list[str], console: Console) -> None:
    """Print what holds, and what spoils a comparison."""
    documents = f"{counted(SIZE, 'document')} of our own, drawn with seed {SEED}"
    console.echo(f"{found.version}, by {found.by}: {documents}", role="head")
    width = max(len(fact.name) for fact in found.facts)
    for fact in found.facts:
        word = "spoils" if fact.spoils else ""
        console.echo(f"{word:6}  {fact.name:{width}}  {fact.told}", role="bad" if fact.spoils else None, word=word)
    if spoiling:
        console.echo(f"a comparison over this engine would be spoiled by: {', '.join(spoiling)}", role="bad")


def checked(engine: Engine, config: Path, *, least_recall: float = 0.9) -> Checked:
    """
    Return what the engine of a config does with documents of our own, which are loaded beside its own and removed.

    Raises:
        ParameterError: The system is no engine, or cannot be loaded.
    """
    kind, by_vectors = _kind(engine)
    with tempfile.TemporaryDirectory(prefix="rankgauge-check-") as folder:
        changes = _changes(engine, kind, Path(folder))
        try:
            with opened(engine, changes) as asked:
                first = asked.prepared("observe", by_vectors, True)
            with opened(engine, changes) as asked:
                reopened = asked.prepared("observe", by_vectors, False)
            elsewhere = observe_apart(config, changes, by_vectors=by_vectors, load=False)
            again = observe_apart(config, changes, by_vectors=by_vectors, load=True)
        finally:
            with opened(engine, changes) as asked:
                asked.prepared("drop")
        own = list(own_facts(kind, Path(folder))) if "path" in changes else []
    seen = Observations(first, reopened, elsewhere, again)
    facts = list(facts_of(seen, by_vectors=by_vectors, least_recall=least_recall)) + own
    return Checked(kind, "vectors" if by_vectors else "words", first.version, facts)


def _kind(engine: Engine) -> tuple[str, bool]:
    """Return the kind of the system, and whether it searches vectors."""
    written = {} if engine.config is None else engine.config.config.system or {}
    kind = str(written.get("kind", ""))
    if kind in KINDS and not KINDS[kind].is_engine:
        raise ParameterError(
            f"a system of the kind {kind!r} cannot be loaded with documents of our own; check the engine behind it"
        )
    if kind not in KINDS:
        engine.system().close()  # says that there is none, or which is missing
        raise ParameterError(f"a system of the kind {kind!r} is of another plugin, which this command does not know")
    return kind, written.get("embed") is not None


def _changes(engine: Engine, kind: str, folder: Path) -> dict[str, Any]:
    """Return options in place of the config's, so that nothing of its own is touched or needed."""
    written: Mapping[str, Any] = {} if engine.config is None else engine.config.config.system or {}
    fields = KINDS[kind].options.model_fields
    changes: dict[str, Any] = {name: _OWN for name in _PLACES if name in fields}
    if "path" in fields and written.get("path") is not None:
        changes["path"] = str(folder / f"index{Path(written['path']).suffix}")
    if written.get("embed") is not None:
        changes["embed"] = "rankgauge_systems.check_documents:embed"
    if written.get("filter_by"):
        changes["filter_by"] = {}
    if written.get("settings"):
        changes["settings"] = {name: text for name, text in written["settings"].items() if "{" not in text}
    return changes
