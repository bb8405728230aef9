"""Gives Phoenix what `traces scores --as phoenix` wrote, as the page about traces does, and prints it back."""

import json
import sys
from pathlib import Path

from phoenix.client import Client

client = Client(base_url=sys.argv[1]).spans
scores = [json.loads(line) for line in Path("scores.jsonl").read_text(encoding="utf-8").splitlines()]
client.log_span_annotations(span_annotations=scores, sync=True)
names = {
    span["context"]["span_id"]: span["name"] for span in client.get_spans(project_identifier="default", limit=1000)
}
spans = sorted({score["span_id"] for score in scores})
for each in client.get_span_annotations(span_ids=spans, project_identifier="default"):
    told = [each["name"], names[each["span_id"]], each["result"]["score"], each["metadata"]["fingerprint"]]
    print(json.dumps([*told, each["annotator_kind"]]))
