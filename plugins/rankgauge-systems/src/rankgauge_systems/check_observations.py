"""
What an engine answers to the questions of `systems check`, in this process or in one of its own.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rankgauge import Engine
from rankgauge.errors import ParameterError
from rankgauge.systems import ConfiguredSystem
from rankgauge_systems.check_documents import NOTHING, SCRIPTS, SIZE, TWIN, TWINS, documents, questions
from rankgauge_systems.engines import Engine as SearchEngine
from rankgauge_systems.engines import Hit

__all__ = ["DEPTHS", "Observed", "Observing", "observe", "observe_apart", "opened"]

DEPTHS: Final = (10, 100, SIZE + 100)
"""How many documents are asked for; the last is more than there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """
    What an engine answered.

    Attributes:
        version: Which engine it was.

        zeros: How many documents it left out because their vectors are zeros; None if nothing was loaded.

        rankings: The ids for each question, by how many were asked for.

        scores: The scores of the longest of these, question by question; None if there is no finite one.

        again: The ids of the shortest of these, asked for again.

        twins: The ids for a question with equally good answers: all of them, and the first three.

        nothing: How many documents it found for a question that has no answer; -1 if it failed.

        scripts: By script, whether a word of a text finds it.
    """

    version: str
    zeros: int | None
    rankings: Mapping[int, Sequence[Sequence[str]]]
    scores: Sequence[Sequence[float | None]]
    again: Sequence[Sequence[str]]
    twins: tuple[Sequence[str], Sequence[str]]
    nothing: int
    scripts: Mapping[str, bool]


def observe(engine: SearchEngine, *, by_vectors: bool, load: bool) -> Observed:
    """Return what an engine answers, after documents are loaded if *load* is true."""
    zeros = None
    if load:
        zeros = len(engine.index(documents(by_vectors=by_vectors)).zeros)
    engine.check()
    asked = questions()
    found = {depth: [engine.search(question, question, depth) for question in asked] for depth in DEPTHS}
    most = DEPTHS[-1]
    try:
        nothing = len(engine.search(NOTHING, NOTHING, DEPTHS[0]))
    except ValueError:
        nothing = -1
    scripts = {}
    if not by_vectors:
        for name, (_, word) in SCRIPTS.items():
            scripts[name] = f"in {name}" in _ids(engine.search(word, word, DEPTHS[0]))
    return Observed(
        version=engine.version(),
        zeros=zeros,
        rankings={depth: list(map(_ids, hits)) for depth, hits in found.items()},
        scores=[[_finite(hit.score) for hit in hits] for hits in found[most]],
        again=[_ids(engine.search(question, question, DEPTHS[0])) for question in asked],
        twins=(_ids(engine.search(TWIN, TWIN, len(TWINS))), _ids(engine.search(TWIN, TWIN, 3))),
        nothing=nothing,
        scripts=scripts,
    )


def _ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.id for hit in hits]


def _finite(score: float | None) -> float | None:
    return score if score is not None and math.isfinite(score) else None


class Observing:
    """An engine's system that can be observed, in place of the one that a `ConfiguredSystem` calls."""

    def __init__(self, inner: Any) -> None:  # noqa: ANN401  # a `Searching`
        """Take the system of an engine."""
        self._engine: SearchEngine = inner.engine

    def __call__(self, given: object) -> object:
        """Refuse: it is not called for samples."""
        raise TypeError(f"an engine that is observed is not called for samples, such as {given!r:.80}; call `observe`")

    def observe(self, by_vectors: bool, load: bool) -> Observed:  # noqa: FBT001  # `prepared` takes values
        """Return what the engine answers."""
        return observe(self._engine, by_vectors=by_vectors, load=load)

    def drop(self) -> None:
        """Remove what was loaded from a server; a folder goes as a whole."""
        if hasattr(self._engine, "drop"):
            self._engine.drop()

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()


@contextmanager
def opened(engine: Engine, changes: Mapping[str, Any]) -> Iterator[ConfiguredSystem]:
    """Lend the system with changed options, which can be observed, and keeps secrets out of messages."""
    system = engine.system(changes)
    system.inner = Observing(system.inner)
    try:
        yield system
    finally:
        system.close()


def observe_apart(config: Path, changes: Mapping[str, Any], *, by_vectors: bool, load: bool) -> Observed:
    """Return what the system of a config, with changed options, answers in a process of its own."""
    asked = {"config": str(config), "changes": dict(changes), "by_vectors": by_vectors, "load": load}
    command = [sys.executable, "-m", __name__]
    done = subprocess.run(  # noqa: S603  # this file
        command, input=json.dumps(asked), capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
        raise ParameterError(f"another process could not search: {why}")
    read = json.loads(done.stdout)
    rankings = {int(depth): ids for depth, ids in read.pop("rankings").items()}
    return Observed(**{**read, "rankings": rankings, "twins": tuple(read["twins"])})


def _main() -> None:
    asked = json.load(sys.stdin)
    with opened(Engine.from_config(Path(asked["config"])), asked["changes"]) as system:
        found = system.prepared("observe", asked["by_vectors"], asked["load"])
    json.dump(asdict(found), sys.stdout)  # noqa: TID251  # which the process that asked reads


if __name__ == "__main__":
    _main()
