"""Writes an item of a dataset of Langfuse, and the observation of a retriever, as its client's models do."""

import datetime as dt
import json
from pathlib import Path

from langfuse.api.commons.types.dataset_item import DatasetItem
from langfuse.api.commons.types.dataset_status import DatasetStatus
from langfuse.api.commons.types.observation_v2 import ObservationV2

now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
item = DatasetItem(
    id="q1",
    status=DatasetStatus.ACTIVE,
    input={"question": "When was the bridge opened?"},
    expected_output={"answer": "1932", "relevant": ["d3"], "passages": ["The bridge was opened in 1932."]},
    metadata={"language": "en"},
    dataset_id="s1",
    dataset_name="bridges",
    created_at=now,
    updated_at=now,
    media_references=[],
)
with Path("langfuse_items.json").open("w", encoding="utf-8") as file:
    json.dump({"data": [json.loads(item.json(by_alias=True))], "meta": {"page": 1}}, file)
found = [
    {"id": "d3", "text": "The bridge was opened in 1932.", "score": 0.8},
    {"id": "d1", "text": "Ferries ran before.", "score": 0.5},
]
seen = ObservationV2(
    id="q1",
    trace_id="t1",
    start_time=now,
    project_id="p1",
    type="RETRIEVER",
    input="When was the bridge opened?",
    output={"documents": found, "answer": "In 1932."},
)
with Path("langfuse_observations.jsonl").open("w", encoding="utf-8") as file:
    file.write(json.dumps(json.loads(seen.json(by_alias=True))))
