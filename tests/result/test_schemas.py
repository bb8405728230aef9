"""JSON Schemas of what services store: they are current, accept what is written, and keys are only ever added."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

import rankgauge
from gates.test_stored import judged
from rankgauge import Explanation, GateReport, Result
from rankgauge.errors import DataError, SampleRefusedError
from result.test_stored import CATALOG, FILTERS, MADE, OWN
from roads.case import cases
from roads.road import as_mappings

CONFIGS = Path(__file__).parents[2] / "configs"
KEPT = Path(__file__).parent / "kept"
STORED = {"result": Result, "gate-report": GateReport, "explanation": Explanation}


def check(stored):
    """Assert that what was written fits the schema of its kind."""
    found = json.loads(json.dumps(stored.to_dict(), allow_nan=False))
    errors = Draft202012Validator(type(stored).json_schema()).iter_errors(found)
    assert [error.message for error in errors] == []


@pytest.mark.parametrize("name", STORED)
def test_the_file_is_fresh_and_a_schema(name):
    # Written by `make docs`.
    schema = STORED[name].json_schema()
    assert f"{json.dumps(schema, indent=2)}\n" == (CONFIGS / f"{name}.schema.json").read_text(encoding="utf-8")
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:rankgauge:{name}:1"


@pytest.mark.parametrize("name", STORED)
def test_it_says_what_every_key_is_for(name):
    schema = STORED[name].json_schema()
    for described in (schema, *schema["$defs"].values()):
        assert described["description"]
        assert [key for key, entry in described["properties"].items() if not entry.get("description")] == []


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_results_of_every_road_fit(made):
    check(made())


@given(case=cases())
def test_drawn_results_fit(case):
    qrels, run = as_mappings(case)
    try:
        result = rankgauge.evaluate(qrels, run, case.metrics, profile=case.profile, catalog=FILTERS)
    except (DataError, SampleRefusedError):
        return
    check(result)


def test_explanations_fit():
    result = MADE["samples with texts"]()
    for sample in result.sample_ids:
        for metric in result:
            check(result.explain(sample, metric))


def test_reports_of_gates_fit():
    check(judged())
    check(GateReport())


def test_it_refuses_what_is_no_result():
    """So that the tests above can fail."""
    validator = Draft202012Validator(Result.json_schema())
    stored = MADE["samples"]().to_dict()
    for wrong in ({"schema_version": "rankgauge.result.v2"}, {"metrics": [{}]}, {"errors": [1]}, {"per_sample": []}):
        assert not validator.is_valid(stored | wrong)


def lost(kept, now, place=""):
    """Yield the parts of a stored object that one of today lacks, or has otherwise."""
    if isinstance(kept, dict) and isinstance(now, dict):
        for key, part in kept.items():
            if key in now:
                yield from lost(part, now[key], f"{place}.{key}")
            else:
                yield f"{place}.{key}"
    elif isinstance(kept, list) and isinstance(now, list) and len(kept) == len(now):
        for number, parts in enumerate(zip(kept, now, strict=True)):
            yield from lost(*parts, f"{place}[{number}]")
    elif kept != now:
        yield place


class TestFirstForm:
    """Objects as the first version wrote them: they go on loading, and no key of theirs goes or changes."""

    @pytest.mark.parametrize("name", STORED)
    def test_nothing_of_it_is_lost(self, name):
        kept = json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))
        found = STORED[name].from_dict(kept, catalog=OWN)
        assert list(lost(kept, found.to_dict())) == []

    @pytest.mark.parametrize("name", STORED)
    def test_it_fits_the_schema_of_today(self, name):
        kept = json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))
        assert [error.message for error in Draft202012Validator(STORED[name].json_schema()).iter_errors(kept)] == []

    @pytest.mark.parametrize("name", STORED)
    def test_it_has_every_key_that_was_described_then(self, name):
        """`keys.json` holds the properties of the first schemas."""
        then = json.loads((KEPT / "keys.json").read_text(encoding="utf-8"))[name]
        schema = STORED[name].json_schema()
        now = {each: list(part["properties"]) for each, part in {"": schema, **schema["$defs"]}.items()}
        assert [(each, key) for each, keys in then.items() for key in keys if key not in now.get(each, ())] == []

    def test_its_numbers_are_these(self):
        result = Result.from_dict(json.loads((KEPT / "result.json").read_text(encoding="utf-8")), catalog=CATALOG)
        assert result.sample_ids == ("q1", "é", "lost", "broken")
        assert (result["rr"].mean, result["rr"].counts) == (1 / 6, {"n": 3, "undefined": 1, "missing": 1, "failed": 1})
        assert result["stored-depth"].mean == 0.0  # of 2, 0 and 0
        report = GateReport.from_dict(json.loads((KEPT / "gate-report.json").read_text(encoding="utf-8")), catalog=OWN)
        assert (report.exit_code, len(report.outcomes), len(report.of("failed"))) == (2, 15, 6)
        explanation = Explanation.from_dict(json.loads((KEPT / "explanation.json").read_text(encoding="utf-8")))
        assert (explanation.sample, explanation.metric, explanation.score) == ("q1", "rr", 0.5)
