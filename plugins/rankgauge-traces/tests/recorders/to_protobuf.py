"""Writes OTLP JSON lines as protobuf by OpenTelemetry's own classes: one request, and requests behind their lengths."""

import base64
import json
import sys
from pathlib import Path

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

lines, name = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines(), sys.argv[2]
whole, framed = ExportTraceServiceRequest(), b""
for line in lines:
    document = json.loads(line)
    for span in (span for each in document["resourceSpans"] for scope in each["scopeSpans"] for span in scope["spans"]):
        for key in {"traceId", "spanId", "parentSpanId"} & span.keys():
            span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    request = ParseDict(document, ExportTraceServiceRequest())
    whole.MergeFrom(request)
    data = request.SerializeToString()
    framed += len(data).to_bytes(4, "big") + data
Path(f"{name}.pb").write_bytes(whole.SerializeToString())
Path(f"{name}_framed.pb").write_bytes(framed)
