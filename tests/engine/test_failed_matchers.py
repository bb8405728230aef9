"""Code that a metric depends on and that fails for every sample: an error, as of the metric's own, on every road."""

from __future__ import annotations

import asyncio
import json

import pytest

from rankgauge import Catalog, Engine
from rankgauge.errors import MetricFailedError
from rankgauge.plugin import comparer, hookimpl, normalizer, ranking_filter, tokenizer
from rankgauge.scale import ShardedSamples

SAMPLES = [
    {
        "id": name,
        "expected_output": {"relevant": [name], "passages": [f"the text of {name}"], "forbidden": [{"text": "secret"}]},
        "actual_output": {"retrieved": [{"id": name, "text": f"the text of {name}", "score": 1.0}], "answer": "x"},
    }
    for name in "abc"
]


@comparer("bad-comparer")
def bad_comparer(retrieved, gold):
    """Fail for every text, with another message for each."""
    raise KeyError(gold)


@normalizer("bad-normalizer", stage="fold")
def bad_normalizer(text):
    """Fail for every text in one of two ways."""
    raise OSError(text) if "a" in text else LookupError(text)


@tokenizer("bad-tokenizer")
def bad_tokenizer(text):
    """Count no text."""
    raise OSError("the model is not there")


@tokenizer("odd-tokenizer")
def odd_tokenizer(text):
    """Return something else than a count."""
    return text


@ranking_filter("bad-filter")
def bad_filter(ids):
    """Keep nothing, and say nothing."""
    raise OSError("the model is not there")


class Plugin:
    @hookimpl
    def rankgauge_comparers(self):
        return [bad_comparer]

    @hookimpl
    def rankgauge_normalizers(self):
        return [bad_normalizer]

    @hookimpl
    def rankgauge_tokenizers(self):
        return [bad_tokenizer, odd_tokenizer]

    @hookimpl
    def rankgauge_ranking_filters(self):
        return [bad_filter]


CATALOG = Catalog.discover(plugins={"bad": Plugin()}, own_only=True)


def asked(what, data=SAMPLES):
    evaluation = Engine(catalog=CATALOG).dataset(data)
    metric = {
        "comparer": {"metric": "hit@5", "gold": "passages", "matcher": "bad-comparer >= 1"},
        "normalizer": {"metric": "hit@5", "gold": "passages", "matcher": "bad-normalizer > equal >= 1"},
        "forbidden": {"metric": "forbidden_rate@5", "matcher": "bad-normalizer > equal >= 1"},
        "tokenizer": {"metric": "recall", "budget": "50tok", "tokenizer": "bad-tokenizer"},
        "count": {"metric": "recall", "budget": "50tok", "tokenizer": "odd-tokenizer"},
        "filter": "recall@5",
    }[what]
    evaluation = evaluation.with_metrics([metric, "RR"])
    return evaluation.with_profile(filters="bad-filter") if what == "filter" else evaluation


WHAT = ("comparer", "normalizer", "forbidden", "tokenizer", "count", "filter")


@pytest.mark.parametrize("what", WHAT)
def test_it_is_an_error_on_every_road(what, tmp_path):
    file = tmp_path / "samples.jsonl"
    file.write_text("".join(json.dumps(sample) + "\n" for sample in SAMPLES))
    evaluation = asked(what)
    outputs = {sample["id"]: sample["actual_output"] for sample in SAMPLES}
    sharded = ShardedSamples(evaluation)
    for road in (
        evaluation.run,
        lambda: asyncio.run(evaluation.arun()),
        lambda: evaluation.run(batch_size=1),
        lambda: evaluation.run(outputs=outputs),
        lambda: list(evaluation.stream(batch_size=2)),
        asked(what, file).run,
        lambda: asked(what, file).run(workers=2),
        lambda: sharded.merge([sharded.shard([sample]) for sample in SAMPLES]),
    ):
        with pytest.raises(MetricFailedError, match="failed for every sample") as failed:
            road()
        assert failed.value.exit_code == 3


@pytest.mark.parametrize("what", ["comparer", "filter"])
def test_the_error_names_the_metric_and_what_failed(what):
    with pytest.raises(MetricFailedError) as failed:
        asked(what).run()
    first = str(failed.value.problems[0])
    name = {"comparer": "bad-comparer", "filter": "bad-filter"}[what]
    assert first.startswith("metric '")
    assert name in first
    assert "failed: " in first
