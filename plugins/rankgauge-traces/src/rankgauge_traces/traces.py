"""
Traces: spans put together by their parents, and the retrievals that each trace, or each part of one, consists of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rankgauge.errors import NothingToEvaluateError, Problem
from rankgauge.text import counted
from rankgauge_traces.conventions import Retrieval, answer_of, question_of, retrieval_of
from rankgauge_traces.pipelines import Joints, Stages, Step, notice_joints, stages_of
from rankgauge_traces.spans import Span

__all__ = ["Counts", "Reading", "Trace", "check_there", "traces_of"]

_LONGEST = 200  # characters of an attribute that is kept to find a trace by
_DEEPEST = 100
_ID = "rankgauge.id"


class Reading(NamedTuple):
    """How spans are read."""

    id_key: str = ""  # what of a document's metadata is its id; empty for the document's own
    root: str = ""  # the name of the span that each sample begins with; empty for a sample of each trace
    names: Mapping[str, str] = {}  # of stages, by those of their spans


class Trace(NamedTuple):
    """One question as a pipeline answered it."""

    id: str
    trace: str
    question: str  # what its first span was given, or else its first retrieval; empty if neither tells
    queries: tuple[str, ...]  # the question, and those of the retrievals
    answer: str
    stages: Stages
    attributes: Mapping[str, Any]  # short values by name, those of the first span before any other
    start: int


class Counts(NamedTuple):
    """What was counted on the way."""

    spans: int
    traces: int
    repeated: int  # spans that were there twice
    orphans: int  # spans whose parent is missing
    without: int  # traces, or parts of them, without a retrieval
    cut: int  # retrievals that lost attributes


class _Node(NamedTuple):
    """What is kept of a span: not its prompts, embeddings and documents, but what was read of them."""

    span: Span  # with short attributes only
    retrieval: Retrieval | None
    question: str
    answer: str

    @classmethod
    def of(cls, span: Span, id_key: str) -> _Node:
        """Return what is kept of a span."""
        attributes = span.attributes.items()
        short = {name: value for name, value in attributes if isinstance(value, int | float | str) and _is_short(value)}
        slim = span._replace(attributes=short, events=())
        return cls(slim, retrieval_of(span, id_key=id_key), question_of(span), answer_of(span))

    def is_again(self, other: _Node) -> bool:
        """Return whether another span says the same, wherever it is."""
        return self == other._replace(span=other.span._replace(file=self.span.file, line=self.span.line))


class _Part(NamedTuple):
    """The spans of one sample, parents first, and the retrievals among them."""

    names: Sequence[str]
    by_id: Mapping[str, _Node]
    steps: Sequence[Step]


def traces_of(spans: Iterable[Span], reading: Reading, problems: list[Problem]) -> tuple[list[Trace], Counts]:
    """Return the traces of some spans in the order of their start, and what was counted; add what is wrong."""
    nodes: dict[str, dict[str, _Node]] = {}
    n_spans = repeated = cut = 0
    for span in spans:
        n_spans += 1
        node = _Node.of(span, reading.id_key)
        earlier = nodes.setdefault(span.trace, {}).setdefault(span.id, node)
        if earlier is node:
            cut += node.retrieval is not None and span.dropped > 0
        elif earlier.is_again(node):
            repeated += 1
        else:
            message = f"span {span.id!r} of trace {span.trace!r} is there twice, and differs (first in {{}})"
            problems.append(Problem(message.format(earlier.span.place), span.file, span.line))
    orphans = without = 0
    parts: list[_Part] = []
    for by_id in nodes.values():
        orphans += sum(node.span.parent != "" and node.span.parent not in by_id for node in by_id.values())
        if (order := _from_the_roots(by_id, problems)) is None:
            continue
        found = [_Part(part, by_id, _steps(part, by_id, problems)) for part in _parts(order, by_id, reading.root)]
        parts += [part for part in found if part.steps]
        without += sum(not part.steps for part in found) or (not found)
    joints = Joints()
    for part in parts:
        notice_joints(part.steps, reading.names, joints)
    traces = [_trace(part, reading, joints) for part in parts]
    made = sorted((trace for trace in traces if trace is not None), key=lambda each: each.start)
    return made, Counts(n_spans, len(nodes), repeated, orphans, without, cut)


def check_there(traces: Sequence[Trace], counts: Counts, reading: Reading) -> None:
    """Raise `NothingToEvaluateError` if there is no trace to use."""
    if traces:
        return
    seen = f"{counted(counts.spans, 'span')} in {counted(counts.traces, 'trace')}"
    of_root = f" below a span called {reading.root!r}" if reading.root else ""
    kinds = "RETRIEVER or RERANKER (OpenInference, MLflow, Langfuse), or of the operation retrieval (GenAI)"
    raise NothingToEvaluateError(f"no trace can be used: of {seen}, none{of_root} is a {kinds}", [])


def _is_short(value: float | str) -> bool:
    return not isinstance(value, str) or len(value) <= _LONGEST


def _from_the_roots(by_id: Mapping[str, _Node], problems: list[Problem]) -> list[str] | None:
    """Return the ids of spans, each behind its parent; None if parents go in a circle."""
    order: dict[str, None] = {}
    for below in by_id:
        path: dict[str, None] = {}
        name = below
        while name in by_id and name not in order and name not in path:
            path[name] = None
            name = by_id[name].span.parent
        if name in path:
            circle = [*list(path)[list(path).index(name) :], name]
            shown = " -> ".join(map(repr, circle[:6])) + (" ..." if len(circle) > 6 else "")
            span = by_id[name].span
            problems.append(
                Problem(f"the parents of spans of trace {span.trace!r} go in a circle: {shown}", span.file, span.line)
            )
            return None
        order |= dict.fromkeys(reversed(path))
    return list(order)


def _parts(order: Sequence[str], by_id: Mapping[str, _Node], root: str) -> list[list[str]]:
    """Return the spans of each sample: those of a trace, or of each span that is called *root*, and of no other."""
    if not root:
        return [list(order)]
    parts: dict[str, list[str]] = {}
    top: dict[str, str] = {}
    for name in order:
        span = by_id[name].span
        above = top.get(span.parent) or (name if span.name == root else "")
        if above:
            top[name] = above
            parts.setdefault(above, []).append(name)
    return list(parts.values())


def _trace(part: _Part, reading: Reading, joints: Joints) -> Trace | None:
    """Return the trace of a sample; None if nothing in it retrieves."""
    stages = stages_of(part.steps, reading.names, joints)
    if stages is None:
        return None
    nodes = [part.by_id[name] for name in part.names]
    inside = set(part.names)
    top = min((node for node in nodes if node.span.parent not in inside), key=lambda node: node.span.start)
    first = top.span
    told = dict.fromkeys([top.question, *(node.retrieval.query for node in nodes if node.retrieval is not None)])
    queries = tuple(filter(None, told))
    attributes: dict[str, Any] = {}
    for node in nodes:
        for key, value in node.span.attributes.items():
            attributes.setdefault(key, value)
    named = attributes.get(_ID)
    own_id = f"{first.trace}-{first.id}" if reading.root else first.trace
    return Trace(
        str(named) if isinstance(named, str | int) and named != "" else own_id,
        first.trace,
        queries[0] if queries else "",
        queries,
        "" if top.retrieval is not None else top.answer,
        stages,
        attributes,
        first.start,
    )


def _steps(part: Sequence[str], by_id: Mapping[str, _Node], problems: list[Problem]) -> list[Step]:
    """Return the retrievals of a part, each with those nested in it; none if they are nested too deeply."""
    tops: list[Step] = []
    above: dict[str, tuple[list[Step], int]] = {}  # where retrievals below a span go, and how deep that is
    for name in part:
        span, retrieval = by_id[name].span, by_id[name].retrieval
        place, depth = above.get(span.parent, (tops, 0))
        if retrieval is not None:
            if depth >= _DEEPEST:
                message = f"retrievals of trace {span.trace!r} are nested more than {counted(_DEEPEST, 'time')}"
                problems.append(Problem(message, span.file, span.line))
                return []
            step = Step(span, retrieval, [])
            place.append(step)
            place, depth = step.inner, depth + 1
        above[name] = place, depth
    return tops
