"""
Agreement of runs: from two runs, however they are given, to how much their rankings agree.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from rankgauge.base.logs import logger
from rankgauge.catalog import Catalog
from rankgauge.columns import Floats, Qrels, RunSource
from rankgauge.engine.excluded_runs import narrowed_run
from rankgauge.engine.runs import installed
from rankgauge.errors import NothingToEvaluateError, Problem
from rankgauge.features.agreement.measures import DEFAULT_MEASURES, HeldRun, Measure, paired, read_measures
from rankgauge.features.agreement.rank_agreement import AgreementMeasure, RankAgreement
from rankgauge.io.excluded_files import opened_options
from rankgauge.io.open_sources import QrelsLike, RunLike, open_qrels, open_run
from rankgauge.judging import ScatteredError
from rankgauge.judging.ranking import shown
from rankgauge.judging.threads import thread_count, work_on_parts
from rankgauge.judging.whole_runs import WholeRankings, WholeReader, check_whole
from rankgauge.planning.filters import with_filters
from rankgauge.policy import Policy, Profile, profile

__all__ = ["rank_agreement", "rank_agreements"]


def rank_agreement(
    run: RunLike,
    other: RunLike,
    measures: Sequence[str] | str = DEFAULT_MEASURES,
    *,
    qrels: QrelsLike | None = None,
    profile: str | Policy | Profile = "trec10",
    policy: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    catalog: Catalog | None = None,
) -> RankAgreement:
    """
    Return how much the rankings of two runs agree; no judgments are needed.

    ::

        agreement = rankgauge.rank_agreement("new.run", "old.run", ["tau_ap", "rbo(p=0.98)", "overlap@10"])
        agreement["overlap@10"].mean

    Queries that only one of the runs has are left out and listed.

    Args:
        run: The run, as in `evaluate`.

        other: The run to compare with. It is held in memory (12 bytes a row); the first one is not.

        measures: `tau_a`, `tau_b`, `tau_ap`, `rbo`, `rbo_min`, `rbo_res`, `overlap`, `jaccard`; a number after ``@``
            cuts both rankings first.

        qrels: Judgments, as in `evaluate`, if only their queries should be compared.

        profile: The conventions for order, ties and duplicates; trec_eval's by default.

        policy: Policy options that differ from the profile's, such as ``{"depth": 100}``.

        columns: The tables' own names for `query`, `document` and `score`.

        catalog: What plugins offer, for files in their formats; by default everything that is installed.

    Returns:
        A value for each measure and query that both runs have, and their means.

    Raises:
        UnknownNameError: A measure that does not exist.

        ParameterError: A parameter or cutoff that it does not take.

        PolicyError: A policy under which a ranking is not one order of distinct documents.

        DataError: Runs that cannot be used.

        NothingToEvaluateError: The runs have no query in common.
    """
    asked: dict[str, Any] = {"qrels": qrels, "profile": profile, "policy": policy, "columns": columns}
    return rank_agreements({"run": run}, other, measures, catalog=catalog, **asked)["run"]


def rank_agreements(
    runs: Mapping[str, RunLike],
    other: RunLike,
    measures: Sequence[str] | str = DEFAULT_MEASURES,
    *,
    qrels: QrelsLike | None = None,
    profile: str | Policy | Profile = "trec10",
    policy: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    catalog: Catalog | None = None,
) -> dict[str, RankAgreement]:
    """Return what `rank_agreement` does for several runs by name; the other one is read once."""
    chosen = read_measures([measures] if isinstance(measures, str) else measures)
    catalog = catalog or installed()
    adapted = _profile(profile).adapted(opened_options(policy or {}))
    options = with_filters(adapted, catalog, by_id=True).policy
    check_whole(options)
    if qrels is not None and not isinstance(qrels, Qrels):
        qrels = open_qrels(qrels, columns=columns, catalog=catalog)
    wanted: Callable[[bytes], bool] = set(qrels.queries).__contains__ if qrels is not None else lambda _: True

    def opened(run: RunLike) -> RunSource:
        return narrowed_run(open_run(run, columns=columns, catalog=catalog), options)

    held = _held(opened(other), options, wanted)
    return {name: _agreement(opened(run), held, chosen, options, wanted) for name, run in runs.items()}


_profile = profile
_Taken = TypeVar("_Taken")

_OPTIONS = ("order", "ties", "score_dtype", "duplicates", "depth", "exclude_self", "excluded", "filters")
"""The policy options that decide how a ranking is ordered."""


class _Other(NamedTuple):
    """The run that others are compared with: where it came from, its rankings, and its queries that are wanted."""

    source: RunSource
    rankings: HeldRun
    queries: set[bytes]


def _held(source: RunSource, policy: Policy, wanted: Callable[[bytes], bool]) -> _Other:
    lock = threading.Lock()

    def begin() -> tuple[HeldRun, Callable[[WholeRankings], None]]:
        held = HeldRun()

        def take(rankings: WholeRankings) -> None:
            with lock:
                held.add(rankings)

        return held, take

    held, queries = _read(source, policy, wanted, begin)
    return _Other(source, held, set(filter(wanted, queries)))


def _agreement(
    source: RunSource, other: _Other, measures: Sequence[Measure], policy: Policy, wanted: Callable[[bytes], bool]
) -> RankAgreement:
    lock = threading.Lock()

    def begin() -> tuple[list[tuple[list[bytes], list[Floats]]], Callable[[WholeRankings], None]]:
        parts: list[tuple[list[bytes], list[Floats]]] = []

        def take(rankings: WholeRankings) -> None:
            pairs = paired(rankings, other.rankings.of(rankings.names))
            values = [measure.function(pairs) for measure in measures]
            with lock:
                parts.append((rankings.names, values))

        return parts, take

    parts, queries = _read(source, policy, lambda name: wanted(name) and name in other.rankings, begin)
    queries = set(filter(wanted, queries))
    names = [name for part, _ in parts for name in part]
    if not names:
        raise _nothing_in_common(source, queries, other.queries)
    order = sorted(range(len(names)), key=names.__getitem__)
    return RankAgreement(
        run=source.name,
        other=other.source.name,
        queries=tuple(shown(names[place]) for place in order),
        measures={
            measure.name: AgreementMeasure(
                measure.name, measure.summary, np.concatenate([values[number] for _, values in parts])[order]
            )
            for number, measure in enumerate(measures)
        },
        only=tuple(map(shown, sorted(queries - other.queries))),
        only_other=tuple(map(shown, sorted(other.queries - queries))),
        policy={option: value for option, value in policy.plain().items() if option in _OPTIONS},
        notes=(*source.notes, *other.source.notes),
    )


def _read(
    source: RunSource,
    policy: Policy,
    wanted: Callable[[bytes], bool],
    begin: Callable[[], tuple[_Taken, Callable[[WholeRankings], None]]],
) -> tuple[_Taken, set[bytes]]:
    """Rank a whole run; *begin* returns what collects it, anew if the lines of its queries are not together."""
    taken, take = begin()
    reader = WholeReader(policy, wanted, take)
    try:
        work_on_parts(source.parts(thread_count()), reader.begin)
    except ScatteredError:
        logger("engine").info("the lines of a query are not together in %s; grouping them first", source.name)
        taken, take = begin()
        reader = WholeReader(policy, wanted, take)
        work_on_parts([source.grouped()], reader.begin)
    return taken, reader.finish(source.name or "the run")


def _nothing_in_common(run: RunSource, queries: set[bytes], others: set[bytes]) -> NothingToEvaluateError:
    own, its = (f"queries like `{shown(min(names))}`" if names else "no query" for names in (queries, others))
    msg = f"cannot compare the rankings of {run.name or 'the run'}:"
    problem = f"the runs have no query in common: the run has {own}, the other one has {its}"
    return NothingToEvaluateError(msg, [Problem(problem)])
