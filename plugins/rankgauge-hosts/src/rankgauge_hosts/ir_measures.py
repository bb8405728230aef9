"""
rankgauge behind ir_measures: its measures are computed here, and rankgauge's metrics are measures there.

Importing this module puts `RankgaugeProvider` before all others in `ir_measures.DefaultPipeline`, which
`calc_aggregate`, `iter_calc` and PyTerrier's experiments use. As ``python -m rankgauge_hosts.ir_measures`` it is the
command line of ir_measures with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import ir_measures
from ir_measures.measures import ParamInfo, register, registry
from ir_measures.providers.base import NOT_PROVIDED
from ir_measures.util import Metric, QrelsConverter, RunConverter

import rankgauge
from rankgauge.errors import NothingToEvaluateError

__all__ = ["RankgaugeEvaluator", "RankgaugeMeasure", "RankgaugeProvider"]

_OF_TREC_EVAL = frozenset({"AP", "Bpref", "ERR", "IPrec", "NumQ", "NumRel", "NumRet", "P", "R", "RR", "Rprec"})
_OF_TREC_EVAL |= {"SetAP", "SetF", "SetP", "SetR", "Success", "infAP", "nDCG"}
_OF_CWL = frozenset(("BPM", "INSQ", "INST", "NERR10", "NERR11", "NERR8", "NERR9", "RBP", "SDCG"))
_OF_NDEVAL = frozenset(("AP_IA", "ERR_IA", "NRBP", "P_IA", "StRecall", "alpha_DCG", "alpha_nDCG", "nERR_IA", "nNRBP"))
_ASCENDING = _OF_NDEVAL | {"Compat", "Judged"}
_AGGREGATES = frozenset({"mean", "sum", "geometric"})
_FLOOR = 1e-5  # of geometric means, as in trec_eval


class _Conventions(NamedTuple):
    """What measures that are computed at once have in common."""

    ties: str = "descending"
    judged_only: bool = False
    by_intent: bool = False

    @property
    def policy(self) -> dict[str, Any]:
        """Return them as options; trec_eval compares scores in single precision, the other tools in double."""
        if self.ties == "descending":
            return {"judged_only": self.judged_only}
        return {"judged_only": self.judged_only, "ties": "given", "score_dtype": "float64"}


class RankgaugeMeasure(ir_measures.Measure):
    """
    A metric of rankgauge or of one of its plugins as a measure, such as ``parse_measure("first_rank@10")``.

    There is one for each metric over ids and grades, by those of its short names that Python can read and ir_measures
    has not taken. Its parameters are the metric's, and `rel`. A query that the run lacks has the worst value of the
    metric's range; where that has none, it counts nowhere, as an undefined value does.
    """

    aggregate = "mean"
    by_intent = False

    def aggregator(self) -> _Aggregator:
        """Return what makes one value of those of all queries, as the metric declares it."""
        return _Aggregator(self.aggregate)


class _Aggregator:
    """The mean, the sum or the geometric mean of the values that are defined."""

    def __init__(self, how: str) -> None:
        self.how, self.values = how, list[float]()

    def add(self, value: float) -> None:
        """Take the value of one more query."""
        if not math.isnan(value):
            self.values.append(math.log(max(value, _FLOOR)) if self.how == "geometric" else value)

    def result(self) -> float:
        """Return the value of all."""
        total = math.fsum(self.values)
        if self.how == "sum":
            return total
        mean = total / len(self.values) if self.values else math.nan
        return math.exp(mean) if self.how == "geometric" else mean


class RankgaugeProvider(ir_measures.Provider):
    """
    What computes measures for ir_measures, with the numbers of the providers that it precedes.

    It takes each measure that rankgauge has a metric for; it leaves `Accuracy`, what `ir_measures.define` makes, and
    measures of other packages to the others.
    """

    NAME = "rankgauge"

    def supports(self, measure: ir_measures.Measure) -> bool:
        """Return whether a measure is computed here, parameters included."""
        measure.validate_params()
        return _translated(measure) is not None

    def _evaluator(self, measures: Iterable[ir_measures.Measure], qrels: Any) -> RankgaugeEvaluator:  # noqa: ANN401
        return RankgaugeEvaluator(measures, qrels)


class RankgaugeEvaluator(ir_measures.Evaluator):
    """Measures with judgments, for any number of runs."""

    def __init__(self, measures: Iterable[ir_measures.Measure], qrels: Any) -> None:  # noqa: ANN401
        """
        Take measures that `RankgaugeProvider.supports`, and judgments in any of the forms that ir_measures takes.

        Raises:
            ValueError: A measure is not computed here, or the judgments are in none of these forms.
        """
        measures = list(measures)
        self._groups: dict[_Conventions, list[tuple[ir_measures.Measure, str]]] = {}
        for measure in measures:
            translated = _translated(measure)
            if translated is None:
                raise ValueError(f"rankgauge does not compute {measure}; ir_measures.DefaultPipeline finds who does")
            self._groups.setdefault(translated[0], []).append((measure, translated[1]))
        self._intents: Any = None
        if any(conventions.by_intent for conventions in self._groups):
            qrels = self._intents = list(QrelsConverter(qrels).as_namedtuple_iter())
        self._qrels = QrelsConverter(qrels).as_dict_of_dict()
        super().__init__(measures, set(self._qrels))

    def _iter_calc(self, run: Any) -> Iterator[Metric]:  # noqa: ANN401
        converter = RunConverter(run)
        if converter.predict_type()[0] != "pd_dataframe":
            run = converter.as_dict_of_dict()
        for conventions, measures in self._groups.items():
            yield from self._values(run, conventions, measures)

    def _values(
        self,
        run: Any,  # noqa: ANN401
        conventions: _Conventions,
        measures: list[tuple[ir_measures.Measure, str]],
    ) -> Iterator[Metric]:
        """Yield the values of measures that are computed at once."""
        if conventions.ties == "ascending":  # listed like this, equal scores are ranked as they are listed
            scores = RunConverter(run).as_dict_of_dict()
            run = {query: dict(sorted(documents.items())) for query, documents in scores.items()}
        qrels, columns = (self._intents, {"intent": "iteration"}) if conventions.by_intent else (self._qrels, None)
        specs = [{"metric": spec, "as": f"m{place}"} for place, (_, spec) in enumerate(measures)]
        try:
            result = rankgauge.evaluate(qrels, run, specs, profile="trec9", policy=conventions.policy, columns=columns)
        except NothingToEvaluateError:  # no query of the run is judged
            return
        for (measure, _), column in zip(measures, result.metrics.values(), strict=True):
            for query, value in zip(result.sample_ids, column.values.tolist(), strict=True):
                yield Metric(query, measure, value)


def _translated(measure: ir_measures.Measure) -> tuple[_Conventions, str] | None:
    """Return by which conventions and as which metric a measure is computed; None if it is not computed here."""
    if isinstance(measure, RankgaugeMeasure):
        return _Conventions(by_intent=measure.by_intent), str(measure)
    name, home = measure.NAME, type(measure).__module__
    if name not in _OF_TREC_EVAL | _OF_CWL | _ASCENDING or not home.startswith("ir_measures.measures."):
        return None
    params = {key: value for key in measure.SUPPORTED_PARAMS if (value := measure[key]) is not NOT_PROVIDED}
    cutoff = params.pop("cutoff", None)
    conventions = _Conventions(
        "as listed"
        if name in _OF_CWL
        else "ascending"
        if name in _ASCENDING or (name == "RR" and cutoff)
        else "descending",
        judged_only=bool(params.pop("judged_only", False)),
        by_intent=name in _OF_NDEVAL,
    )
    if name in _OF_CWL and ("rel" not in params or cutoff is not None if name == "RBP" else "max_rel" not in params):
        return None  # as cwl_eval
    if name == "ERR":
        params["max_grade"] = 4
    if name == "SetF":
        params["beta"] = math.sqrt(params["beta"])
    if name == "IPrec":
        params["recall"] = round(params["recall"], 2)  # as it is written on its way to trec_eval
    if "gains" in params:
        params["gains"] = ",".join(f"{grade}={gain}" for grade, gain in params["gains"].items())
    written = ",".join(f"{key}={value!r}" for key, value in params.items())
    return conventions, f"{name}({written})" + (f"@{cutoff}" if cutoff is not None else "")


def _register(declaration: Any) -> None:  # noqa: ANN401  # what a plugin declares
    """Make a metric a measure by those of its names that Python can read and are not taken."""
    names = [name for name in declaration.short if name.isidentifier() and name not in registry]
    judging, (low, high) = declaration.judging, declaration.range
    of_ids = judging.judges == "retrieved" and "relevant" in judging.gold
    if (
        not names
        or not of_ids
        or not {"ids", "intents"}.issuperset(judging.needs)
        or declaration.aggregate not in _AGGREGATES
    ):
        return
    worst = low if declaration.higher_is_better else high
    params = {parameter.name: ParamInfo() for parameter in declaration.parameters}
    if declaration.cutoff.kind != "none":
        params["cutoff"] = ParamInfo(dtype=int, required=declaration.cutoff.kind == "required")
    if judging.uses_rel:
        params["rel"] = ParamInfo(dtype=int)
    facts = {
        "__name__": names[0],
        "NAME": names[0],
        "PRETTY_NAME": declaration.alias,
        "SHORT_DESC": (declaration.source.__doc__ or "").strip().partition("\n")[0],
        "SUPPORTED_PARAMS": params,
        "DEFAULT": math.nan if worst is None else worst,
        "aggregate": declaration.aggregate,
        "by_intent": "intents" in judging.needs,
    }
    register(type(names[0], (RankgaugeMeasure,), facts)(), names[1:], names[0])


for _claim in rankgauge.Catalog.discover().metrics.values():
    _register(_claim.declaration)
ir_measures.providers.register(RankgaugeProvider())
ir_measures.DefaultPipeline.providers.insert(0, ir_measures.providers.registry[RankgaugeProvider.NAME])

if __name__ == "__main__":
    from ir_measures.__main__ import main_cli

    main_cli()
