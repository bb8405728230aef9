"""
Pipelines: the retrievals of one trace become stages, each with the stages that it was given.

A retrieval around others (an ensemble, a fusion, a filter) comes from those that it holds; one beside others searches
itself, unless it reranks. A reranker that logs what it was given, which in some trace is no stage's result, shows a
step without a span between them (a joiner, a filter): its input is a stage of its own, called NAME-input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rankgauge_traces.conventions import Retrieval
from rankgauge_traces.documents import Item, key_of_item
from rankgauge_traces.spans import Span

__all__ = ["Joints", "Stages", "Step", "notice_joints", "stages_of"]

_METHODS = re.compile(
    r"(?<=\w)\._?a?(?:run|run_async|retrieve|query|search|invoke|postprocess_nodes)$|^(?:retrieval|vector_db_retrieve) "
)


class Step(NamedTuple):
    """A retrieval with its span and the retrievals that are nested in it."""

    span: Span
    retrieval: Retrieval
    inner: list[Step]


class Stages(NamedTuple):
    """The stages of one trace."""

    stages: list[dict[str, Any]]  # in the form of `actual_output.stages`
    spans: dict[str, str]  # the id of the span of each
    n_unjoined: int  # branches at its end beside the last stage, which nothing joins
    n_untold: int  # retrievals that do not say what they found, and count as empty


@dataclass
class Joints:
    """
    Which rerankers were given what no stage before them found, by the names of their stages, over all traces.

    It is settled over all of them, so that all traces of a pipeline have the same stages, whatever one question found.
    """

    needed: set[str] = field(default_factory=set)
    sources: dict[str, set[str]] = field(default_factory=dict)  # stages that had any of what each was given


class _Stage(NamedTuple):
    name: str
    items: list[Item]
    sources: tuple[str, ...]
    span: Span
    seconds: float | None


def notice_joints(steps: Sequence[Step], names: Mapping[str, str], joints: Joints) -> None:
    """Add what one trace shows of joints."""
    _Builder(names, joints, is_first_look=True).add(_told(steps, is_inner=False))


def stages_of(steps: Sequence[Step], names: Mapping[str, str], joints: Joints) -> Stages | None:
    """Return the stages of a trace, with other *names* for some of them; None if nothing retrieves."""
    builder = _Builder(names, joints)
    ends = builder.add(_told(steps, is_inner=False))
    if not builder.stages:
        return None
    spans = {stage.name: stage.span.id for stage in builder.stages}
    return Stages([_written(stage) for stage in builder.stages], spans, len(ends) - 1, builder.n_untold)


def _written(stage: _Stage) -> dict[str, Any]:
    written: dict[str, Any] = {"name": stage.name, "retrieved": stage.items, "from": list(stage.sources)}
    return written if stage.seconds is None else {**written, "seconds": stage.seconds}


def _told(steps: Sequence[Step], *, is_inner: bool) -> list[Step]:
    """
    Return steps in the order of their start, without wrappers that tell no documents.

    Such a wrapper is around others, or is all that another holds: LlamaIndex has a span of `_retrieve` in `retrieve`.
    """
    kept: list[Step] = []
    for step in sorted(steps, key=lambda each: (each.span.start, each.span.end)):
        inner = _told(step.inner, is_inner=True)
        is_wrapper = step.retrieval.documents is None and (inner or (is_inner and len(steps) == 1))
        kept += inner if is_wrapper else [step._replace(inner=inner)]
    return kept


class _Builder:
    """Collects stages, and gives each a name of its own."""

    def __init__(self, names: Mapping[str, str], joints: Joints, *, is_first_look: bool = False) -> None:
        self.stages: list[_Stage] = []
        self.n_untold = 0
        self._names = names
        self._joints = joints
        self._is_first_look = is_first_look
        self._taken: set[str] = set()

    def add(self, steps: Sequence[Step]) -> list[_Stage]:
        """Add steps that are beside each other, and return those stages whose results none of them took up."""
        ends: list[_Stage] = []
        for step in steps:
            inner = self.add(step.inner)
            sources, others = (inner, ends) if inner else ([], ends)
            name = self._name(step.span)
            if step.retrieval.kind == "reranker" and not inner:
                sources, others = self._given(step, name, ends)
            documents = step.retrieval.documents
            self.n_untold += documents is None
            ends = [*others, self._stage(name, documents or [], sources, step.span, step.span.seconds)]
        return ends

    def _given(self, step: Step, name: str, ends: list[_Stage]) -> tuple[list[_Stage], list[_Stage]]:
        """Return the stages that a reranker was given, and those that it was not."""
        inputs = step.retrieval.inputs
        if inputs is None or not ends:
            return ends, []
        keys = list(map(key_of_item, inputs))
        same = [end for end in ends if list(map(key_of_item, end.items)) == keys]
        if self._is_first_look:
            shared = {end.name for end in ends if not set(keys).isdisjoint(map(key_of_item, end.items))}
            self._joints.sources.setdefault(name, set()).update(shared)
            self._joints.needed |= set() if same else {name}
            return ends, []
        if same and name not in self._joints.needed:
            return same[-1:], [end for end in ends if end is not same[-1]]
        given = [end for end in ends if end.name in self._joints.sources.get(name, ())] or ends
        called = f"{name}-input"
        joined = self._stage(self._free(self._names.get(called, called)), inputs, given, step.span, None)
        return [joined], [end for end in ends if end not in given]

    def _stage(
        self, name: str, items: list[Item], sources: Sequence[_Stage], span: Span, seconds: float | None
    ) -> _Stage:
        stage = _Stage(name, items, tuple(source.name for source in sources), span, seconds)
        self.stages.append(stage)
        return stage

    def _name(self, span: Span) -> str:
        name = span.name.strip() or "retriever"
        plain = _METHODS.sub("", name)
        return self._free(self._names.get(name) or self._names.get(plain) or plain)

    def _free(self, name: str) -> str:
        """Return a name with a number behind it where it is taken."""
        free = next(each for each in _numbered(name) if each not in self._taken)
        self._taken.add(free)
        return free


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1
