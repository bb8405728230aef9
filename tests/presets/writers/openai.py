"""Writes a chat in which a tool retrieves, the line of a batch's output, and a response with a file search."""

import json
from pathlib import Path

from openai.types.chat import ChatCompletion
from openai.types.responses import Response

question = {"role": "user", "content": "When was the bridge opened?"}
texts = [("d3", "The bridge was opened in 1932.", 0.8), ("d1", "Ferries ran before.", 0.5)]
completion = ChatCompletion(
    id="c1",
    object="chat.completion",
    created=0,
    model="m",
    choices=[{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "In 1932."}}],
)
tools = [{"role": "tool", "tool_call_id": name, "content": text} for name, text, _ in texts]
answer = completion.choices[0].message.model_dump(exclude_none=True)
with Path("openai.jsonl").open("w", encoding="utf-8") as file:
    file.write(json.dumps({"id": "q1", "messages": [question, *tools, answer], "ideal": "1932"}))
search = {
    "id": "f1",
    "type": "file_search_call",
    "status": "completed",
    "queries": [],
    "results": [{"file_id": name, "text": text, "score": score} for name, text, score in texts],
}
message = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "In 1932.", "annotations": []}],
}
response = Response(
    id="r1",
    object="response",
    created_at=0,
    model="m",
    output=[search, message],
    parallel_tool_calls=False,
    tool_choice="auto",
    tools=[],
)
with Path("openai_response.json").open("w", encoding="utf-8") as file:
    json.dump({"q1": response.model_dump(mode="json")}, file)
