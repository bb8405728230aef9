import dataclasses
import json
from pathlib import Path

import pytest
from pydantic import ValidationError

import rankgauge.config
from rankgauge.config import Config, json_schema
from rankgauge.policy import Policy
from tables import rows

CONFIGS = Path(__file__).parents[2] / "configs"


def test_the_schema_file_is_fresh():
    # Written by: json.dumps(json_schema(), indent=2) and a line feed.
    assert json_schema() == json.loads((CONFIGS / "schema.json").read_text(encoding="utf-8"))


def test_the_schema_file_is_laid_out_for_people():
    assert f"{json.dumps(json_schema(), indent=2)}\n" == (CONFIGS / "schema.json").read_text(encoding="utf-8")


def test_the_same_schema_is_installed():
    installed = Path(rankgauge.config.__file__).parent / "schema.json"
    assert installed.read_bytes() == (CONFIGS / "schema.json").read_bytes()


def test_the_schema_has_a_name_and_no_host():
    assert json_schema()["$id"] == "urn:rankgauge:config:1"
    assert json_schema()["title"] == "rankgauge config"


def test_the_schema_allows_no_unknown_keys():
    schema = json_schema()
    models = [schema, *schema["$defs"].values()]
    assert all(model["additionalProperties"] is False for model in models)


def test_the_schema_says_what_every_key_is_for():
    schema = json_schema()
    for model in [schema, *schema["$defs"].values()]:
        for key, entry in model["properties"].items():
            refers = "$ref" in entry or any("$ref" in option for option in entry.get("anyOf", ()))
            plain = model.get("title") in {"PolicyConfig", "ContractConfig"}  # `Policy` and `Contract` describe those
            assert entry.get("description") or refers or plain, key


def test_policy_options_of_the_schema_are_those_of_the_policy():
    assert {field.name for field in dataclasses.fields(Policy)} == set(
        json_schema()["$defs"]["PolicyConfig"]["properties"]
    )


def test_the_smallest_config_has_defaults_for_all_the_rest():
    config = Config.model_validate({"version": 1})
    assert config.datasets == {}
    assert config.profile == "default"
    assert config.policy is None
    assert config.metrics.use == []
    assert config.output.directory is None


@rows(
    "change",
    [
        {"version": 2},
        {"version": "1"},
        {"version": True},
        {"metrics": {"retrieval": {"default_k": 0}}},
        {"metrics": {"retrieval": {"default_k": "5"}}},
        {"metrics": {"retrieval": {"default_k": 5.0}}},
        {"metrics": {"use": "ndcg@10"}},
        {"metrics": {"use": [3]}},
        {"metrics": {"use": [" "]}},
        {"metrics": {"use": [{"as": "x"}]}},
        {"metrics": {"use": [{"set": "x", "as": "y"}]}},
        {"metrics": {"use": [{"set": 3}]}},
        {"datasets": {"x": {}}},
        {"datasets": {"x": {"path": 3}}},
        {"datasets": {"x": {"path": "a", "fields": {"id": 3}}}},
        {"datasets": ["a.jsonl"]},
        {"policy": {"max_failed": "0.1"}},
        {"policy": {"judged_only": "no"}},
        {"policy": {"order": "best"}},
        {"matchers": {"x": {"threshold": 0}}},
        {"matchers": {"x": {"threshold": 1.5}}},
        {"plugins": {"disable": "x"}},
        {"output": {"details": "yes"}},
        {"profile": 3},
        {"code": "import os"},
    ],
    ids=str,
)
def test_wrong_types_and_values_are_refused_and_never_bent(change):
    with pytest.raises(ValidationError):
        Config.model_validate({"version": 1, **change})


def test_a_config_is_frozen():
    config = Config.model_validate({"version": 1})
    with pytest.raises(ValidationError):
        config.profile = "eval-harness"
