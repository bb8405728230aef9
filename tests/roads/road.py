"""The roads: every way that a case can be handed to rankgauge, and what came out at its end."""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import rankgauge
from ranked_tables import qrels_frame, run_frame, write_qrels
from rankgauge import Catalog, Engine, Result
from rankgauge.cli import call
from rankgauge.engine.runs import evaluate_runs, plan_run
from rankgauge.errors import DataError, SampleRefusedError
from rankgauge.io.open_sources import open_qrels
from rankgauge.policy import option_text
from roads.case import STRAY, Case, Query

__all__ = ["ROADS", "Outcome", "Road", "Tools", "as_mappings", "in_columns", "in_memory"]

Score = tuple[str | None, str]
"""A value to its last bit, None where nothing counts, and a status."""

_UNJUDGED = Query(STRAY, (("a", 1.0), ("b", 1.0)), {})
"""A query that is not judged, which no run is refused for."""


class Tools(NamedTuple):
    """What roads need: the plugins, and a folder to write to."""

    catalog: Catalog
    folder: Path


class Outcome(NamedTuple):
    """
    What a road came to.

    Attributes:
        scores: By query, then by column; a query that does not take part is absent.

        refused: The queries that the policy turned into an error. The others are scored without them.

        totals: Each column's mean, and whether the run is incomplete; None where a query is refused, or a road has no
            totals.
    """

    scores: dict[str, dict[str, Score]]
    refused: frozenset[str]
    totals: dict[str, object] | None

    def of(self, case: Case) -> Outcome:
        """Return the outcome for some of the queries, which has no totals."""
        names = {query.name for query in case.queries}
        scores = {query: found for query, found in self.scores.items() if query in names}
        return Outcome(scores, self.refused & names, None)


class Road(NamedTuple):
    """A way with what can pass on it."""

    name: str
    go: Callable[[Case, Tools], Outcome]
    has_failures: bool = False
    has_repeats: bool = True
    has_empty: bool = True
    takes: Callable[[Case], bool] = lambda _: True

    def part_of(self, case: Case) -> Case:
        """Return the queries of a case that this road can hold."""
        return case.without(
            {
                query.name
                for query in case.queries
                if (query.is_broken and not self.has_failures)
                or (query.has_repeats and not self.has_repeats)
                or (query.ranking == () and not self.has_empty)
            }
        )


def in_memory(case: Case, tools: Tools, **how: Any) -> Outcome:
    """Evaluate samples."""
    return _by_samples(case, tools, lambda left: [_sample(query) for query in left.queries], **how)


def _by_samples(case: Case, tools: Tools, write: Callable[[Case], Any], **how: Any) -> Outcome:
    def evaluate(left: Case) -> Result:
        dataset = Engine(catalog=tools.catalog).dataset(write(left))
        return dataset.with_metrics(left.metrics).with_profile(left.profile).run(**how)

    outcome, result = _in_rounds(case, evaluate)
    failed = {error.sample_id for error in result.unscored if _says_policy(error.reason)} if result else set()
    if not failed:
        return outcome
    scores = {query: found for query, found in outcome.scores.items() if query not in failed}
    return Outcome(scores, outcome.refused | failed, None)


def _jsonl(case: Case, tools: Tools) -> Outcome:
    def write(left: Case) -> Path:
        path = tools.folder / "samples.jsonl"
        lines = [json.dumps(_sample(query)) for query in left.queries]
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    return _by_samples(case, tools, write)


def _in_batches(case: Case, tools: Tools) -> Outcome:
    return in_memory(case, tools, batch_size=1)


def _one_by_one(case: Case, tools: Tools) -> Outcome:
    evaluation = Engine(catalog=tools.catalog).dataset([]).with_metrics(case.metrics).with_profile(case.profile)
    scores: dict[str, dict[str, Score]] = {}
    refused = set()
    for query in case.queries:
        if case.profile.policy.queries == "intersection" and query.ranking is None and not query.is_broken:
            continue  # whoever asks for the score of one sample gets one
        try:
            found = evaluation.score(_sample(query))
        except SampleRefusedError:
            refused.add(query.name)
            continue
        if any(_says_policy(score.reason) for score in found.values()):
            refused.add(query.name)
        else:
            scores[query.name] = {name: (_bits(score.value), score.status) for name, score in found.items()}
    return Outcome(scores, frozenset(refused), None)


def _trec_text(case: Case, tools: Tools) -> Outcome:
    return _by_columns(case, tools, lambda left: _trec_files(left, tools))


def _scattered(case: Case, tools: Tools) -> Outcome:
    return _by_columns(case, tools, lambda left: _trec_files(left, tools, scatter=True))


def _mappings(case: Case, tools: Tools) -> Outcome:
    return _by_columns(case, tools, as_mappings)


def _many_mappings(case: Case, tools: Tools) -> Outcome:
    return _by_columns(case, tools, as_mappings, in_columns)


def _json(case: Case, tools: Tools) -> Outcome:
    def write(left: Case) -> Iterator[Path]:
        for name, content in zip(("qrels.json", "run.json"), as_mappings(left), strict=True):
            (tools.folder / name).write_text(json.dumps(content), encoding="utf-8")
            yield tools.folder / name

    return _by_columns(case, tools, write)


def _table(case: Case, tools: Tools) -> Outcome:
    return _by_columns(case, tools, lambda left: (qrels_frame(_judgments(left)), run_frame(_rows(left))))


def _parquet(case: Case, tools: Tools) -> Outcome:
    def write(left: Case) -> Iterator[Path]:
        frames = {"qrels.parquet": qrels_frame(_judgments(left)), "run.parquet": run_frame(_rows(left))}
        for name, frame in frames.items():
            frame.write_parquet(tools.folder / name)
            yield tools.folder / name

    return _by_columns(case, tools, write)


def _by_columns(case: Case, tools: Tools, write: Callable[[Case], Any], evaluate: Any = rankgauge.evaluate) -> Outcome:
    def evaluated(left: Case) -> Result:
        qrels, run = write(left)
        return evaluate(qrels, run, left.metrics, profile=left.profile, catalog=tools.catalog)

    return _in_rounds(case, evaluated)[0]


def in_columns(qrels: object, run: object, metrics: Sequence[str], **how: Any) -> Result:
    """Do what `rankgauge.evaluate` does, but not for a few queries one by one."""
    return evaluate_runs(plan_run(metrics, **how), open_qrels(qrels), {"run": run})["run"]


def _command(case: Case, tools: Tools) -> Outcome:
    """Call `rankgauge trec`, again without the queries that it refuses."""
    refused: frozenset[str] = frozenset()
    while True:
        left = case.without(refused)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = call(["trec", *map(str, _trec_files(left, tools)), "-f", "jsonl", *_arguments(left, tools)])
        if code == 0:
            lines = [json.loads(line) for line in out.getvalue().splitlines()]
            scores = {
                line["sample_id"]: {
                    name: (_bits(entry["score"]), entry["status"]) for name, entry in line["scores"].items()
                }
                for line in lines
            }
            return Outcome(scores, refused, None)
        assert code == 2, err.getvalue()
        refused |= _named(err.getvalue().splitlines(), left)


def _arguments(case: Case, tools: Tools) -> list[str]:
    profile = case.profile
    arguments = ["--profile", "default" if profile.negatives == "judged" else "trec10"]
    if profile.relevance != "positive":
        arguments += ["-l", str(profile.relevance)]
    for metric in case.metrics:
        arguments += ["-m", metric]
    for name in type(profile.policy).__dataclass_fields__:
        value = getattr(profile.policy, name)
        if value is not None and name == "excluded":
            path = tools.folder / "excluded.json"
            path.write_text(json.dumps(value.documents()), encoding="utf-8")
            value = path
        arguments += ["--policy", f"{name}={'null' if value is None else option_text(value)}"]
    return arguments


def _can_be_typed(case: Case) -> bool:
    """Return whether `rankgauge trec` can be told the conventions: it knows a threshold, and two named profiles."""
    relevance, negatives = case.profile.relevance, case.profile.negatives
    if case.profile.policy.filters:
        return False  # no plugin is installed that has them
    return isinstance(relevance, float) or (relevance == "positive" and negatives == "judged")


def _in_rounds(case: Case, evaluate: Callable[[Case], Result]) -> tuple[Outcome, Result | None]:
    """Evaluate a case, again without the queries that the policy refuses until it refuses none."""
    refused: frozenset[str] = frozenset()
    while (left := case.without(refused)).queries:
        try:
            result = evaluate(left)
        except (DataError, SampleRefusedError) as error:
            refused |= _named(list(map(str, error.problems)), left)
            continue
        scores = {
            query: {
                name: (_bits(float(column.values[place])), column.status(place))
                for name, column in result.metrics.items()
            }
            for place, query in enumerate(result.sample_ids)
        }
        means = {name: None if column.mean is None else _bits(column.mean) for name, column in result.metrics.items()}
        totals = None if refused else {**means, "incomplete": result.is_incomplete}
        return Outcome(scores, refused, totals), result
    return Outcome({}, refused, None), None


def _named(problems: Sequence[str], case: Case) -> frozenset[str]:
    """Return the queries that problems name, each the one that it begins with."""
    found = frozenset(
        match[1] for problem in problems if (match := re.match(r"\s*(?:query|sample) '([^']+)'", problem))
    )
    assert found, problems
    assert found <= {query.name for query in case.queries}, problems
    return found


def _says_policy(reason: str) -> bool:
    return "policy says" in reason


def _bits(value: float | None) -> str | None:
    return None if value is None or value != value else value.hex()  # noqa: PLR0124  # NaN


def _sample(query: Query) -> dict[str, Any]:
    sample: dict[str, Any] = {"id": query.name, "expected_output": {"relevant": dict(query.grades)}}
    if query.is_broken:
        sample["actual_output"] = {"retrieved": "not a list"}
    elif query.ranking is not None:
        items = [{"id": document, "score": score} for document, score in query.ranking]
        sample["actual_output"] = {"retrieved": items}
    return sample


def as_mappings(case: Case) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return judgments and a run in memory, with a query that is not judged."""
    judged: dict[str, dict[str, int]] = {name: {} for name in case.without_judgments} | {
        query.name: dict(query.grades) for query in case.queries
    }
    queries = (*case.queries, _UNJUDGED)
    return judged, {query.name: dict(query.ranking) for query in queries if query.ranking is not None}


def _judgments(case: Case) -> list[tuple[str, str, int]]:
    return [(query.name, document, grade) for query in case.queries for document, grade in query.grades.items()]


def _rows(case: Case) -> list[tuple[str, str, float]]:
    return [row for rows in _rankings(case) for row in rows]


def _rankings(case: Case) -> list[list[tuple[str, str, float]]]:
    twice = _UNJUDGED._replace(ranking=(*(_UNJUDGED.ranking or ()), ("a", 1.0)))
    return [
        [(query.name, document, score) for document, score in query.ranking or ()] for query in (*case.queries, twice)
    ]


def _trec_files(case: Case, tools: Tools, *, scatter: bool = False) -> tuple[Path, Path]:
    rows = _rows(case)
    if scatter:
        rows = [row for row in chain.from_iterable(zip_longest(*_rankings(case))) if row is not None]
    run = tools.folder / "run.txt"
    run.write_text("".join(f"{query} Q0 {document} 1 {score!r} tag\n" for query, document, score in rows), "utf-8")
    return write_qrels(tools.folder / "qrels.txt", _judgments(case)), run


ROADS = (
    Road("JSONL", _jsonl, has_failures=True),
    Road("samples in batches", _in_batches, has_failures=True),
    Road("score()", _one_by_one, has_failures=True),
    Road("TREC text", _trec_text, has_empty=False),
    Road("scattered TREC text", _scattered, has_empty=False),
    Road("mappings", _mappings, has_repeats=False),
    Road("mappings in columns", _many_mappings, has_repeats=False),
    Road("JSON run", _json, has_repeats=False),
    Road("table", _table, has_empty=False),
    Road("Parquet", _parquet, has_empty=False),
    Road("rankgauge trec", _command, has_empty=False, takes=_can_be_typed),
)
"""Every road but the one they are all held against: samples in memory, in one batch."""
