# the expected value stands first
"""What metrics ask to see stands at the rank at which it was judged, on every road and under every policy."""

from random import Random

import numpy as np
import pytest

from draws import some
from rankgauge import Engine, evaluate
from rankgauge.plugin import Judged, Scores, metric
from rankgauge.policy import Policy

POLICIES = (
    {"order": "score"},
    {"order": "given"},
    {"order": "score", "ties": "given"},
    {"order": "score", "duplicates": "last"},
    {"order": "given", "duplicates": "best"},
    {"order": "score", "duplicates": "keep"},
    {"order": "given", "duplicates": "credit-once"},
    {"order": "score", "depth": 3},
    {"order": "given", "judged_only": True},
    {"order": "score", "judged_only": True, "depth": 4},
    {"order": "score", "exclude_self": True},
)


@metric("retrieval-aligned", needs=("ids", "scores"), defined=lambda judged: np.ones(judged.n, dtype=bool))
def aligned(judged: Judged) -> Scores:
    """Count the judged rows whose id and score are those at their rank; each document has a grade of its own."""
    count = np.zeros(judged.n)
    for sample, rank, grade in zip(judged.rows.sample, judged.rows.rank, judged.rows.grade, strict=True):
        seen = judged.seen[sample]
        assert f"d{grade:g}" == seen.ids[rank - 1]
        assert int(seen.scores[rank - 1]) % 10 == grade
        count[sample] += 1
    for depth, seen in zip(judged.depth.tolist(), judged.seen, strict=True):
        assert depth == len(seen.ids) == len(seen.scores)
    return count


def drawn(random):
    """Return the rankings of some queries, one of them called like a document, with repeats and equal scores."""
    return {
        query: [
            (f"d{n}", float(10 * random.randrange(3) + n))
            for n in random.choices(range(1, 8), k=random.randrange(1, 9))
        ]
        for query in ("q1", "d3", "q2")
    }


@pytest.mark.parametrize("options", some(POLICIES), ids=lambda options: "-".join(map(str, options.values())))
def test_ids_and_scores_stand_at_the_judged_ranks(options, tmp_path):
    random = Random(repr(options))  # noqa: S311  # reproducible
    for number in range(12):
        runs = drawn(random)
        gold = {query: {f"d{n}": n for n in random.sample(range(1, 8), 4)} for query in runs}
        samples = [
            {
                "id": query,
                "expected_output": gold[query],
                "actual_output": [{"id": name, "score": score} for name, score in ranking],
            }
            for query, ranking in sorted(runs.items())
        ]
        of_samples = Engine().dataset(samples).with_metrics([aligned]).with_profile(Policy(**options)).run()
        assert () == of_samples.errors
        lines = [
            f"{query} Q0 {name} {rank} {score} t\n"
            for query, ranking in runs.items()
            for rank, (name, score) in enumerate(ranking)
        ]
        path = tmp_path / f"{number}.run"
        path.write_text("".join(lines))
        of_run = evaluate(gold, str(path), [aligned], profile="default", policy=options)
        assert {"the run has no results for this query"} >= set(of_run["retrieval-aligned"].reasons.values())
        by_sample = dict(zip(of_samples.sample_ids, of_samples["retrieval-aligned"].values, strict=True))
        by_query = dict(zip(of_run.sample_ids, of_run["retrieval-aligned"].values, strict=True))
        assert by_sample == by_query
