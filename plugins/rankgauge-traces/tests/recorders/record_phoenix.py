"""Phoenix: sends it the spans of LlamaIndex, and writes what its client returns: spans, and rows of its data frame."""

import base64
import json
import sys
import time
from pathlib import Path

import httpx
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from phoenix.client import Client

url, spans = sys.argv[1], Path(sys.argv[2])
requests = [json.loads(line) for line in spans.read_text(encoding="utf-8").splitlines()]
for request in requests:
    for span in (span for each in request["resourceSpans"] for scope in each["scopeSpans"] for span in scope["spans"]):
        for key in {"traceId", "spanId", "parentSpanId"} & span.keys():
            span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    data = ParseDict(request, ExportTraceServiceRequest()).SerializeToString()
    headers = {"Content-Type": "application/x-protobuf"}
    httpx.post(f"{url}/v1/traces", content=data, headers=headers).raise_for_status()

client = Client(base_url=url).spans
found, deadline = [], time.monotonic() + 60
while len(found) < len(requests) and time.monotonic() < deadline:  # it stores spans some time after it took them
    time.sleep(0.5)
    found = client.get_spans(project_identifier="default", limit=1000)
frame = client.get_spans_dataframe(project_identifier="default")
kinds = {"RETRIEVER", "RERANKER"}  # and the roots; the others have prompts and no documents
kept = [span for span in found if span["span_kind"] in kinds or span["parent_id"] is None]
Path("phoenix.jsonl").write_text("".join(json.dumps(span) + "\n" for span in kept), encoding="utf-8")
rows = frame[frame["span_kind"].isin(kinds) | frame["parent_id"].isna()]
rows.to_json(
    "phoenix_frame.jsonl", orient="records", lines=True, date_format="iso", date_unit="ns", double_precision=15
)
frame.to_parquet("phoenix_frame.parquet")
