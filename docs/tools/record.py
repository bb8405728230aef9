# ruff: noqa: ANN401, S603  # arguments of other libraries; what is run is listed below
"""
Record what one tool computes on the drawn data, into `docs/tools/recorded`.

Run ``make record-tools TOOLS="lightgbm ranx"``, which makes an environment for each, or ``python docs/tools/record.py
NAME`` in one that has the tool; rankgauge need not be in it.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import subprocess
import sys
import venv
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import search_tools
from drawn import FOLDER, LABELS, Case, cases
from recording import Number, Recording, Score, flat, mean

__all__ = ["main"]

_RECORDED = FOLDER / "recorded"


def main() -> None:
    """Record the tools that are named, each in an environment of its own, or in this one."""
    arguments = sys.argv[1:]
    if arguments[:1] != ["--environments"]:
        for name in arguments:
            _record(name)
        return
    folder, *names = arguments[1:]
    lost = [name for name in names or sorted(_TOOLS) if not _recorded_in(Path(folder, name), name)]
    if lost:
        sys.exit(f"not recorded, for the reasons above: {', '.join(lost)}")


def _recorded_in(environment: Path, name: str) -> bool:
    """Record a tool in an environment of its own, which is removed if it was recorded; return whether it was."""
    venv.create(environment, with_pip=True)
    python = environment / "bin/python"
    tool = _TOOLS[name]
    own, others = tool.packages[:1], tool.packages[1:]
    for packages in [("--no-deps", *own), others] if tool.is_alone else [tool.packages]:
        uv = shutil.which("uv")  # it shares files between environments, of which several have PyTorch
        command = [uv, "pip", "install", "--quiet", "--python", python, *packages] if uv else ["false"]
        if subprocess.run(command, check=False).returncode:
            subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    print(f"{name} ...", flush=True)
    done = subprocess.run([python, __file__, name], check=False)
    if not done.returncode:
        shutil.rmtree(environment)
    return not done.returncode


def _record(name: str) -> None:
    tool = _TOOLS[name]
    warnings.simplefilter("ignore")
    found: dict[str, Any] = {}
    for spelling, data, labels, score in tool.recordings():
        key = f"{spelling} {data} {labels}"
        values = [_finite(score(case)) for case in cases(data)]
        found[key] = {"spelling": spelling, "data": data, "labels": labels, "values": values}
    package = tool.packages[0].partition("==")[0]
    document = {"versions": {package: version(package)}, "measures": list(found.values())}
    _RECORDED.mkdir(exist_ok=True)
    text = json.dumps(document, indent=1, sort_keys=True)
    (_RECORDED / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def _finite(value: Number) -> Number:
    return None if value is None or math.isnan(value) else float(value)


# -- learning to rank


def _lightgbm() -> Iterator[Recording]:
    import lightgbm
    import numpy as np

    def score(metric: str) -> Score:
        def of(case: Case) -> Number:
            labels, scores, _ = flat(case, "grades")
            sizes = [len(grades) for grades, _ in case.queries]
            quiet = {"verbose": -1, "min_data_in_bin": 1, "feature_pre_filter": False}
            seen = lightgbm.Dataset(np.array([[0.0], [1.0]] * 5), label=[0, 1] * 5, group=[2] * 5, params=quiet)
            held = lightgbm.Dataset(
                np.zeros((len(labels), 1)), label=labels, group=sizes, init_score=np.array(scores), reference=seen
            )
            model = lightgbm.Booster(
                {"objective": "lambdarank", "metric": metric, "eval_at": [case.k], "verbose": -1, "num_threads": 1},
                seen,
            )
            model.add_valid(held, "held")
            return float(model.eval_valid()[0][2])

        return of

    for metric in ("ndcg", "map"):
        for data in ("ties", "noties"):
            yield Recording(metric + "@{k}", data, "grades", score(metric))


def _xgboost() -> Iterator[Recording]:
    import numpy as np
    import xgboost

    def score(metric: str, labels: str) -> Score:
        def of(case: Case) -> Number:
            rows, scores, _ = flat(case, labels)
            matrix = xgboost.DMatrix(np.zeros((len(rows), 1)), label=rows, base_margin=np.array(scores))
            matrix.set_group([len(grades) for grades, _ in case.queries])
            asked = {"objective": "rank:ndcg", "base_score": 0.0, "eval_metric": metric.format(k=case.k)}
            return float(xgboost.Booster(asked, [matrix]).eval(matrix).rpartition(":")[2])

        return of

    for metric in ("ndcg@{k}", "ndcg@{k}-", "ndcg", "ndcg-"):
        yield Recording(metric, "ties", "grades", score(metric, "grades"))
    for metric in ("map@{k}", "map@{k}-", "pre@{k}"):
        yield Recording(metric, "ties", "binary", score(metric, "binary"))


def _catboost() -> Iterator[Recording]:
    from catboost.utils import eval_metric

    def score(metric: str, labels: str) -> Score:
        def of(case: Case) -> Number:
            rows, scores, queries = flat(case, labels)
            return float(eval_metric(rows, scores, metric.format(k=case.k), group_id=queries)[0])

        return of

    wanted = {
        "grades": (
            *("NDCG:top={k}", "NDCG:top={k};type=Exp", "NDCG:top={k};denominator=Position", "DCG:top={k}"),
            *("DCG:top={k};type=Exp", "MAP:top={k}", "MRR:top={k}", "PrecisionAt:top={k}", "RecallAt:top={k}"),
        ),
        "probabilities": ("ERR:top={k}", "PFound:top={k}"),
        "binary": ("QueryAUC",),
    }
    for labels, metrics in wanted.items():
        for metric in metrics:
            for data in ("ties", "noties"):
                yield Recording(metric, data, labels, score(metric, labels))


def _scikit_learn() -> Iterator[Recording]:
    from sklearn.metrics import dcg_score, label_ranking_average_precision_score, ndcg_score

    def score(function: Callable[..., float], labels: str, *, cut: bool) -> Score:
        def of(case: Case) -> Number:
            more = {"k": case.k} if cut else {}
            grade = LABELS[labels]
            return mean(
                float(function([[grade(each) for each in grades]], [scores], **more)) for grades, scores in case.queries
            )

        return of

    for data in ("ties", "noties"):
        yield Recording("ndcg_score(k={k})", data, "grades", score(ndcg_score, "grades", cut=True))
        yield Recording("ndcg_score", data, "grades", score(ndcg_score, "grades", cut=False))
        yield Recording("dcg_score(k={k})", data, "grades", score(dcg_score, "grades", cut=True))
        lrap = label_ranking_average_precision_score
        yield Recording("label_ranking_average_precision_score", data, "binary", score(lrap, "binary", cut=False))


def _torchmetrics() -> Iterator[Recording]:
    import torch
    from torchmetrics import retrieval

    def score(name: str, labels: str, *, cut: bool = True) -> Score:
        def of(case: Case) -> Number:
            rows, scores, queries = flat(case, labels)
            metric = getattr(retrieval, name)(**({"top_k": case.k} if cut else {}))
            targets = torch.tensor([int(row) for row in rows])
            metric.update(torch.tensor(scores, dtype=torch.float64), targets, indexes=torch.tensor(queries))
            return float(metric.compute())

        return of

    gain = "RetrievalNormalizedDCG"
    for data in ("ties", "noties"):
        yield Recording(f"{gain}(top_k={{k}})", data, "grades", score(gain, "grades"))
    yield Recording(gain, "ties", "grades", score(gain, "grades", cut=False))
    for name in ("MAP", "MRR", "Precision", "Recall", "HitRate", "FallOut", "AUROC"):
        full = f"Retrieval{name}"
        yield Recording(f"{full}(top_k={{k}})", "noties", "binary", score(full, "binary"))
    for name in ("RetrievalRPrecision", "RetrievalMAP", "RetrievalMRR", "RetrievalAUROC"):
        yield Recording(name, "noties", "binary", score(name, "binary", cut=False))


def _ignite() -> Iterator[Recording]:
    import torch
    from ignite.exceptions import NotComputableError
    from ignite.metrics.rec_sys import NDCG

    def score(**options: Any) -> Score:
        def of(case: Case) -> Number:
            metric = NDCG(top_k=[case.k], **options)
            for grades, scores in case.queries:
                metric.update((torch.tensor([scores]), torch.tensor([[float(grade) for grade in grades]])))
            try:
                return float(metric.compute()[0])
            except NotComputableError:
                return None

        return of

    for data in ("ties", "noties"):
        yield Recording("NDCG(top_k=[{k}])", data, "grades", score())
        linear = score(gain_function="linear_rank")
        yield Recording("NDCG(top_k=[{k}],gain_function=linear_rank)", data, "grades", linear)
        yield Recording("NDCG(top_k=[{k}],ignore_zero_hits=False)", data, "grades", score(ignore_zero_hits=False))


def _rax() -> Iterator[Recording]:
    import jax
    import numpy as np
    import rax

    jax.config.update("jax_enable_x64", True)

    def score(name: str, labels: str, *, cut: bool) -> Score:
        def of(case: Case) -> Number:
            shape = (len(case.queries), max(len(grades) for grades, _ in case.queries))
            rows, scores, known = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=bool)
            for place, (grades, given) in enumerate(case.queries):
                rows[place, : len(grades)] = [LABELS[labels](grade) for grade in grades]
                scores[place, : len(grades)] = given
                known[place, : len(grades)] = True
            return float(getattr(rax, name)(scores, rows, where=known, **({"topn": case.k} if cut else {})))

        return of

    for name in ("ndcg_metric", "dcg_metric"):
        yield Recording(name + "(topn={k})", "ties", "grades", score(name, "grades", cut=True))
        yield Recording(name, "ties", "grades", score(name, "grades", cut=False))
    for name in ("ap_metric", "mrr_metric", "precision_metric", "recall_metric"):
        yield Recording(name + "(topn={k})", "ties", "binary", score(name, "binary", cut=True))
    for name in ("ap_metric", "mrr_metric"):
        yield Recording(name, "ties", "binary", score(name, "binary", cut=False))
    for labels in ("binary", "grades"):
        yield Recording("opa_metric", "noties", labels, score("opa_metric", labels, cut=False))


def _keras_rs() -> Iterator[Recording]:
    os.environ["KERAS_BACKEND"] = "torch"
    import numpy as np
    from keras_rs import metrics

    def score(name: str, labels: str) -> Score:
        def of(case: Case) -> Number:
            metric = getattr(metrics, name)(k=case.k)
            for grades, scores in case.queries:
                metric.update_state(
                    np.array([[LABELS[labels](grade) for grade in grades]], "float32"), np.array([scores], "float32")
                )
            return float(metric.result())

        return of

    for name in ("NDCG", "DCG"):
        yield Recording(name + "(k={k})", "noties", "grades", score(name, "grades"))
    for name in ("MeanAveragePrecision", "MeanReciprocalRank", "PrecisionAtK", "RecallAtK"):
        yield Recording(name + "(k={k})", "noties", "binary", score(name, "binary"))


def _allrank() -> Iterator[Recording]:
    from unittest.mock import MagicMock

    for name in ("torchvision", "torchvision.transforms", "gcsfs"):  # imported there, and not used by its metrics
        sys.modules[name] = MagicMock()
    import torch
    from allrank.models import metrics

    def score(name: str) -> Score:
        def of(case: Case) -> Number:
            return mean(
                float(getattr(metrics, name)(torch.tensor([scores]), torch.tensor([grades]).float(), ats=[case.k]))
                for grades, scores in case.queries
            )

        return of

    for name in ("ndcg", "dcg", "mrr"):
        yield Recording(name + "_{k}", "noties", "grades", score(name))


def _tensorflow_ranking() -> Iterator[Recording]:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import numpy as np
    import tensorflow as tf
    import tensorflow_ranking

    def score(name: str, labels: str, *, cut: bool = True) -> Score:
        def of(case: Case) -> Number:
            if not cut and not any(len(set(grades)) > 1 for grades, _ in case.queries):
                return None  # 0 for the mean of no pairs
            shape = (len(case.queries), max(len(grades) for grades, _ in case.queries))
            rows, scores = np.full(shape, -1.0), np.zeros(shape)
            for place, (grades, given) in enumerate(case.queries):
                rows[place, : len(grades)] = [LABELS[labels](grade) for grade in grades]
                scores[place, : len(grades)] = given
            metric = getattr(tensorflow_ranking.keras.metrics, name)(**({"topn": case.k} if cut else {}))
            metric.update_state(tf.constant(rows, tf.float32), tf.constant(scores, tf.float32))
            return float(metric.result())

        return of

    for name in ("NDCGMetric", "DCGMetric"):
        yield Recording(name + "(topn={k})", "noties", "grades", score(name, "grades"))
    for name in ("MeanAveragePrecision", "MRR", "Precision", "Recall", "Hits"):
        yield Recording(f"{name}Metric(topn={{k}})", "noties", "binary", score(f"{name}Metric", "binary"))
    for name in ("OPAMetric", "ARPMetric"):
        yield Recording(name, "noties", "grades", score(name, "grades", cut=False))


# -- recommenders


def _rectools() -> Iterator[Recording]:
    import pandas as pd
    from rectools import metrics

    def score(name: str, **options: Any) -> Score:
        def of(case: Case) -> Number:
            liked = [(user, item) for user, (_, items) in enumerate(case.queries) for item in items]
            shown = [
                (user, item, rank) for user, (items, _) in enumerate(case.queries) for rank, item in enumerate(items, 1)
            ]
            if not liked:
                return None
            metric = getattr(metrics, name)(case.k, **options)
            columns = ["user_id", "item_id"]
            return float(
                metric.calc(pd.DataFrame(shown, columns=[*columns, "rank"]), pd.DataFrame(liked, columns=columns))
            )

        return of

    for name in ("NDCG", "MAP", "MRR", "Precision", "Recall", "HitRate", "F1Beta"):
        yield Recording(name + "(k={k})", "lists", "binary", score(name))
    for name, option in (("NDCG", "divide_by_achievable"), ("MAP", "divide_by_k"), ("Precision", "r_precision")):
        yield Recording(f"{name}(k={{k}},{option}=True)", "lists", "binary", score(name, **{option: True}))


def _lenskit() -> Iterator[Recording]:
    from lenskit.data import ItemList, ItemListCollection
    from lenskit.metrics import DCG, NDCG, RBP, Hit, Precision, Recall, RecipRank, RunAnalysis
    from lenskit.metrics.ranking import AveragePrecision

    def score(kind: Callable[..., Any], **options: Any) -> Score:
        def of(case: Case) -> Number:
            shown, wanted = ItemListCollection(["user_id"]), ItemListCollection(["user_id"])
            for user, (items, liked) in enumerate(case.queries):
                shown.add(ItemList(item_ids=items, ordered=True), user_id=user)
                wanted.add(ItemList(item_ids=liked), user_id=user)
            analysis = RunAnalysis()
            analysis.add_metric(kind(case.k, **options), "it")
            try:
                return float(analysis.measure(shown, wanted).list_summary()["mean"]["it"])
            except ZeroDivisionError:  # average precision, and normalized RBP, of a user without test items
                return None

        return of

    for kind in (NDCG, DCG, Recall, Precision, RecipRank, Hit, RBP, AveragePrecision):
        yield Recording(kind.__name__ + "({k})", "lists", "binary", score(kind))
    yield Recording("RBP({k},normalize=True)", "lists", "binary", score(RBP, normalize=True))


def _cornac() -> Iterator[Recording]:
    import numpy as np
    from cornac import metrics

    def score(name: str, *, cut: bool) -> Score:
        def of(case: Case) -> Number:
            metric = getattr(metrics, name)(**({"k": case.k} if cut else {}))
            found = []
            for grades, scores in case.queries:
                labels, items = np.array(grades), np.arange(len(grades))
                liked, others = np.flatnonzero(labels), np.flatnonzero(labels == 0)
                if not len(liked) or (name == "AUC" and not len(others)):
                    continue
                given = np.array(scores)
                found.append(
                    float(
                        metric.compute(
                            gt_pos=liked,
                            gt_neg=others,
                            pd_rank=items[np.argsort(-given, kind="stable")],
                            pd_scores=given,
                            item_indices=items,
                        )
                    )
                )
            return mean(found)

        return of

    for name in ("NDCG", "NCRR", "Precision", "Recall", "FMeasure", "HitRatio"):
        yield Recording(name + "(k={k})", "noties", "binary", score(name, cut=True))
    yield Recording("MRR", "noties", "binary", score("MRR", cut=False))
    for data in ("ties", "noties"):
        for name in ("MAP", "AUC"):
            yield Recording(name, data, "binary", score(name, cut=False))


def _recpack() -> Iterator[Recording]:
    import numpy as np
    from recpack import metrics
    from scipy.sparse import csr_matrix

    def score(name: str) -> Score:
        def of(case: Case) -> Number:
            liked, shown = np.zeros((len(case.queries), 16)), np.zeros((len(case.queries), 16))
            for user, (items, wanted) in enumerate(case.queries):
                liked[user, wanted] = 1
                for rank, item in enumerate(items):
                    shown[user, item] = 100 - rank
            if not liked.any():
                return None
            metric = getattr(metrics, name)(case.k)
            metric.calculate(csr_matrix(liked), csr_matrix(shown))
            return float(metric.value)

        return of

    for name in ("NDCGK", "DCGK", "RecallK", "CalibratedRecallK", "PrecisionK", "HitK", "ReciprocalRankK"):
        yield Recording(name + "({k})", "lists", "binary", score(name))


def _recommenders() -> Iterator[Recording]:
    import pandas as pd
    from recommenders.evaluation import python_evaluation

    def score(name: str, **options: Any) -> Score:
        def of(case: Case) -> Number:
            liked = [(user, item, 1.0 + item % 4) for user, (_, items) in enumerate(case.queries) for item in items]
            shown = [
                (user, item, float(len(items) - rank))
                for user, (items, _) in enumerate(case.queries)
                for rank, item in enumerate(items)
            ]
            both = {user for user, *_ in liked} & {user for user, *_ in shown}
            if not both:
                return None
            return float(
                getattr(python_evaluation, name)(
                    pd.DataFrame(liked, columns=["userID", "itemID", "rating"]),
                    pd.DataFrame(shown, columns=["userID", "itemID", "prediction"]),
                    k=case.k,
                    **options,
                )
            )

        return of

    for name in ("ndcg_at_k", "map_at_k", "map", "precision_at_k", "recall_at_k"):
        yield Recording(name + "(k={k})", "lists", "ratings", score(name))
    for kind in ("raw", "exp"):
        named = f"ndcg_at_k(k={{k}},score_type={kind})"
        yield Recording(named, "lists", "ratings", score("ndcg_at_k", score_type=kind))

    def with_hits(case: Case) -> Number:
        value = score("r_precision_at_k")(case)
        return value or None  # without any hit there is no user whose mean it could be

    yield Recording("r_precision_at_k(k={k})", "lists", "ratings", with_hits)


def _implicit() -> Iterator[Recording]:
    import numpy as np
    from implicit.evaluation import ranking_metrics_at_k
    from scipy.sparse import csr_matrix

    def score(name: str) -> Score:
        def of(case: Case) -> Number:
            if not any(wanted for _, wanted in case.queries):
                return None
            liked = np.zeros((len(case.queries), 40))
            for user, (_, wanted) in enumerate(case.queries):
                liked[user, wanted] = 1
            # it wants K items of each user: lists go on with items that nobody likes
            lists = [[*items, *range(20, 40)][: case.k] for items, _ in case.queries]

            def recommend(users: Any, *_: Any, **__: Any) -> Any:  # the model's method
                ids = np.array([lists[user] for user in users], dtype=np.int32)
                return ids, np.ones(ids.shape, dtype=np.float32)

            model = SimpleNamespace(recommend=recommend)
            known = csr_matrix(np.zeros_like(liked))
            return float(ranking_metrics_at_k(model, known, csr_matrix(liked), K=case.k, show_progress=False)[name])

        return of

    for name in ("ndcg", "map", "precision"):
        yield Recording(name + "@{k}", "lists", "binary", score(name))


def _recbole() -> Iterator[Recording]:
    import numpy as np

    for old, new in (("float", float), ("float_", np.float64), ("complex_", np.complex128), ("unicode_", np.str_)):
        setattr(np, old, new)  # names of NumPy 1 that RecBole asks for
    import torch
    from recbole.evaluator import metrics

    def score(name: str) -> Score:
        def of(case: Case) -> Number:
            users = [(items, liked) for items, liked in case.queries if liked]
            if not users:
                return None
            rows = [
                [*(int(item in liked) for item in [*items, *range(20, 40)][: case.k]), len(liked)]
                for items, liked in users
            ]
            data = SimpleNamespace(get=lambda _: torch.tensor(rows))
            metric = getattr(metrics, name)({"topk": [case.k], "metric_decimal_place": 15})
            return float(metric.calculate_metric(data)[f"{name.lower()}@{case.k}"])

        return of

    for name in ("Recall", "MRR", "NDCG", "Hit", "Precision", "MAP"):
        yield Recording(name.lower() + "@{k}", "lists", "binary", score(name))


def _pyspark() -> Iterator[Recording]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")

    def score(name: str, *, cut: bool) -> Score:
        def of(case: Case) -> Number:
            if not any(liked for _, liked in case.queries):
                return None
            pairs = [([item + 1 for item in items], [item + 1 for item in liked]) for items, liked in case.queries]
            metrics = RankingMetrics(session.sparkContext.parallelize(pairs, 1))
            return float(getattr(metrics, name)(case.k) if cut else getattr(metrics, name))

        return of

    yield Recording("meanAveragePrecision", "lists", "binary", score("meanAveragePrecision", cut=False))
    for name in ("meanAveragePrecisionAt", "precisionAt", "recallAt", "ndcgAt"):
        yield Recording(name + "({k})", "lists", "binary", score(name, cut=True))


def _replay() -> Iterator[Recording]:
    from replay import metrics

    def score(name: str) -> Score:
        def of(case: Case) -> Number:
            liked = {user: items for user, (_, items) in enumerate(case.queries)}
            shown = {
                user: [(item, float(len(items) - rank)) for rank, item in enumerate(items)]
                for user, (items, _) in enumerate(case.queries)
            }
            return float(next(iter(getattr(metrics, name)(case.k)(shown, liked).values())))

        return of

    for name in ("NDCG", "MAP", "MRR", "Precision", "Recall", "HitRate", "RocAuc"):
        yield Recording(name + "@{k}", "lists", "binary", score(name))


def _rexmex() -> Iterator[Recording]:
    from rexmex.metrics import ranking

    def score(name: str) -> Score:
        def of(case: Case) -> Number:
            return mean(
                float(getattr(ranking, name)(liked, items, case.k)) for items, liked in case.queries if items and liked
            )

        return of

    for name in ("average_precision_at_k", "average_recall_at_k", "hits_at_k"):
        yield Recording(name + "(k={k})", "lists", "binary", score(name))


def _rs_metrics() -> Iterator[Recording]:
    import rs_metrics

    def score(name: str) -> Score:
        def of(case: Case) -> Number:
            liked = {user: items for user, (_, items) in enumerate(case.queries) if items}
            shown = {user: items for user, (items, _) in enumerate(case.queries) if items}
            with contextlib.suppress(ZeroDivisionError):
                return float(getattr(rs_metrics, name)(liked, shown, k=case.k)) if liked else None
            return None

        return of

    for name in ("ndcg", "hitrate", "precision", "recall", "mapr", "mrr"):
        yield Recording(name + "(k={k})", "lists", "binary", score(name))


class _Tool(NamedTuple):
    """How a tool is installed and asked; its own package comes first."""

    packages: tuple[str, ...]
    recordings: Callable[[], Iterator[Recording]]
    is_alone: bool = False  # whether its own package is installed without what it asks for, which no longer exists


_TOOLS = {
    "lightgbm": _Tool(("lightgbm==4.7.0", "scikit-learn"), _lightgbm),
    "xgboost": _Tool(("xgboost==3.2.0",), _xgboost),
    "catboost": _Tool(("catboost==1.2.10",), _catboost),
    "scikit-learn": _Tool(("scikit-learn==1.9.1",), _scikit_learn),
    "torchmetrics": _Tool(("torchmetrics==1.9.0", "torch"), _torchmetrics),
    "ignite": _Tool(("pytorch-ignite==0.5.5", "torch"), _ignite),
    "rax": _Tool(("rax==0.4.0",), _rax),
    "allrank": _Tool(
        ("allRank==1.4.3", "torch", "numpy", "scikit-learn", "attrs", "setuptools<81"), _allrank, is_alone=True
    ),
    "keras-rs": _Tool(("keras-rs==0.4.0", "torch"), _keras_rs),
    "tensorflow-ranking": _Tool(("tensorflow-ranking==0.5.5", "tensorflow==2.14.0", "numpy<2"), _tensorflow_ranking),
    "rectools": _Tool(("rectools==0.19.0",), _rectools),
    "lenskit": _Tool(("lenskit==2025.8.1",), _lenskit),
    "cornac": _Tool(("cornac==3.0.1",), _cornac),
    "recpack": _Tool(("recpack==0.3.6",), _recpack),
    "recommenders": _Tool(("recommenders==1.2.1",), _recommenders),
    "implicit": _Tool(("implicit==0.7.3",), _implicit),
    "recbole": _Tool(("recbole==1.2.1", "setuptools"), _recbole),
    "pyspark": _Tool(("pyspark==4.3.0", "numpy", "setuptools"), _pyspark),
    "replay": _Tool(("replay-rec==0.22.0",), _replay),
    "rexmex": _Tool(("rexmex==0.1.3", "six"), _rexmex),
    "ranx": _Tool(("ranx==0.3.21",), search_tools.ranx),
    "ir_measures": _Tool(("ir_measures==0.4.3",), search_tools.ir_measures),
    "mlflow": _Tool(("mlflow==3.17.2",), search_tools.mlflow),
    "llama-index": _Tool(("llama-index-core==0.14.25",), search_tools.llama_index),
    "rs-metrics": _Tool(("rs_metrics==0.6.0",), _rs_metrics),
    "beir": _Tool(("beir==2.2.0",), search_tools.beir),
    "mteb": _Tool(("mteb==2.26.0",), search_tools.mteb),
    "sentence-transformers": _Tool(("sentence-transformers==6.2.0",), search_tools.sentence_transformers),
    "evidently": _Tool(("evidently==0.7.23", "pandas<3"), search_tools.evidently),
    "autorag": _Tool(("AutoRAG==0.3.27",), search_tools.autorag),
    "deepeval": _Tool(("deepeval==4.3.1",), search_tools.deepeval),
    "ragas": _Tool(("ragas==0.4.3", "langchain-community<0.4.2"), search_tools.ragas),
    "haystack-3.0": _Tool(("haystack-ai==3.0.0",), search_tools.haystack),
    "haystack-2.31": _Tool(("haystack-ai==2.31.0",), search_tools.haystack),
    "haystack-2.25": _Tool(("haystack-ai==2.25.0",), search_tools.haystack_2_25),
    "trulens": _Tool(("trulens==2.16.0",), search_tools.trulens),
}

if __name__ == "__main__":
    main()
