"""A run and its judgments with everything that a format could get wrong."""

import random

import pytest

from ranked_tables import scores_of, write_qrels, write_run


@pytest.fixture(scope="session")
def generated():
    """Return judgments and a run with ids of every length, ties, scores to the last digit, and unjudged queries."""
    seeded = random.Random(20)  # noqa: S311  # data for tests
    styles = ("{}", "doc-{:08d}", "clueweb22-en{:05d}-00-00001", "é{}", "d{}")
    qrels, run = [], []
    for number in range(60):
        query = f"query-{number}" if number % 3 else str(number)
        pool = seeded.sample(range(400), 80)
        names = [styles[(number + at % 3) % len(styles)].format(document) for at, document in enumerate(pool)]
        if number % 7:
            qrels += [(query, name, seeded.choice([0, 1, 1, 2, 3])) for name in names[::4]]
        run += [(query, name, seeded.choice([seeded.gauss(0, 10), 1.5])) for name in names[number % 5 :]]
    return qrels, run


@pytest.fixture
def as_trec(generated, tmp_path):
    """Return the scores of the generated data, read as TREC text."""
    qrels, run = generated
    return scores_of(write_qrels(tmp_path / "qrels", qrels), write_run(tmp_path / "run", run))
