"""
Any search service over HTTP: a request made of a template, and paths into what it answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from pydantic import Field

from rankgauge.errors import ParameterError
from rankgauge.files import values_at
from rankgauge.text import listed
from rankgauge_systems.engines import question_of
from rankgauge_systems.options import SystemOptions

if TYPE_CHECKING:
    import httpx

__all__ = ["HttpOptions", "HttpSystem", "checked_answer", "filled"]

_SLOT = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*)\}")
_SHOWN = 300


class HttpOptions(SystemOptions):
    """Options of a service over HTTP."""

    url: str = Field(pattern="^https?://", description="Where it is; '{question}' stands for the question, escaped.")
    method: Literal["GET", "POST"] = Field("POST", description="How it is asked.")
    params: Mapping[str, Any] = Field(default_factory=dict, description="Parameters of the URL.")
    headers: Mapping[str, str] = Field(
        default_factory=dict, description="Headers, such as `Authorization: Bearer ${KEY}`."
    )
    body: Any = Field(None, description="What is sent as JSON; '{question}' and fields of the input are filled in.")
    results: str | None = Field(
        None, description="The path to the results in the answer, such as hits[]; by default the answer is an output."
    )
    id: str = Field("id", min_length=1, description="The path to the id in a result.")
    text: str | None = Field(None, description="The path to the text in a result.")
    score: str | None = Field(None, description="The path to the score in a result.")
    answer: str | None = Field(None, description="The path to the generated answer.")
    k: int | None = Field(None, ge=1, description="How many results are asked for, where the request has '{k}'.")
    timeout: float = Field(30.0, gt=0, description="Seconds for each request.")
    connections: int = Field(32, ge=1, description="How many connections are kept.")


class HttpSystem:
    """A service over HTTP as a system under test."""

    def __init__(self, options: HttpOptions) -> None:
        """Connect to nothing yet."""
        import httpx  # noqa: PLC0415  # the plugin loads for every run

        self._options = options
        limits = httpx.Limits(max_connections=options.connections, max_keepalive_connections=options.connections)
        self._client = httpx.Client(timeout=options.timeout, limits=limits, headers=dict(options.headers))

    def __call__(self, given: object) -> dict[str, Any]:
        """Return what the service answers for a sample's input, how long that took, and how many bytes it has."""
        import httpx  # noqa: PLC0415  # as above

        options = self._options
        fields = {**(given if isinstance(given, Mapping) else {}), "question": _question(given)}
        if options.k is not None:
            fields["k"] = options.k
        escaped = {name: quote(str(value), safe="") for name, value in fields.items() if value is not None}
        response = self._client.request(
            options.method,
            httpx.URL(filled(options.url, escaped)).copy_merge_params(filled(dict(options.params), fields)),
            json=None if options.body is None else filled(options.body, fields),
        )
        output = self._output(checked_answer(response))
        output.setdefault("bytes", len(response.content))
        output.setdefault("seconds", round(response.elapsed.total_seconds(), 6))
        return output

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _output(self, answer: Any) -> dict[str, Any]:  # noqa: ANN401  # any JSON value
        options = self._options
        if options.results is None:
            return {"retrieved": answer} if isinstance(answer, list) else dict(answer)
        _check_results(answer, options.results)
        items = []
        for row in values_at(answer, options.results):
            item: dict[str, Any] = {"id": _scalar(row, options.id, "id")}
            for key, path in (("text", options.text), ("score", options.score)):
                if path is not None and (value := _scalar(row, path, key)) is not None:
                    item[key] = value
            items.append(item)
        output: dict[str, Any] = {"retrieved": items}
        if options.answer is not None:
            output["answer"] = next(values_at(answer, options.answer), None)
        return output


def _check_results(answer: Any, path: str) -> None:  # noqa: ANN401  # any JSON value
    """Refuse an answer without what a path with brackets begins with; an empty one has found nothing."""
    head, bracket, _ = path.partition("[")
    if not answer or not head or not bracket:
        return
    found = list(values_at(answer, head))
    if not found or not isinstance(found[0], list | str | None):
        has = listed([*map(str, answer)]) if isinstance(answer, Mapping) else "a list"
        raise ValueError(f"the answer has no list {head!r}, which is where results should be; it has {has}")


def checked_answer(response: httpx.Response) -> Any:  # noqa: ANN401  # any JSON value
    """Return what a service answered as JSON; a `ValueError` says what it answered instead."""
    if not response.is_success:
        where = f" to {response.headers.get('Location')}" if response.is_redirect else ""
        raise ValueError(f"HTTP {response.status_code}{where}: {response.text[:_SHOWN]}")
    try:
        answer = response.json()
    except ValueError:
        raise ValueError(f"the answer is not JSON: {response.text[:_SHOWN]!r}") from None
    if not isinstance(answer, dict | list):
        raise ValueError(f"the answer is neither an object nor a list: {response.text[:_SHOWN]!r}")  # noqa: TRY004
    return answer


def filled(template: Any, fields: Mapping[str, Any]) -> Any:  # noqa: ANN401  # any JSON value
    """
    Return a template with fields in place of ``{name}``; a text that is one such slot becomes the value itself.

    ``{{`` and ``}}`` stand for braces. A `ParameterError` names a field that there is not.
    """
    if isinstance(template, Mapping):
        return {key: filled(value, fields) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [filled(value, fields) for value in template]
    if not isinstance(template, str):
        return template
    whole = _SLOT.fullmatch(template)
    if whole is not None and whole[1]:
        return _field(whole[1], fields)
    return _SLOT.sub(lambda slot: str(_field(slot[1], fields)) if slot[1] else slot[0][0], template)


def _field(name: str, fields: Mapping[str, Any]) -> Any:  # noqa: ANN401  # any JSON value
    if name not in fields or fields[name] is None:
        known = ", ".join(sorted(key for key, value in fields.items() if value is not None)) or "none"
        raise ParameterError(
            f"the request needs {{{name}}}, and the sample's input has {known} (braces are written {{{{)"
        )
    return fields[name]


def _question(given: object) -> str | None:
    try:
        return question_of(given)
    except ValueError:
        return None


def _scalar(row: Any, path: str, key: str) -> Any:  # noqa: ANN401  # any JSON value
    value = next(values_at(row, path), None)
    if value is None and key == "id":
        raise ValueError(f"a result has no {path!r}, which is where its id should be: {str(row)[:_SHOWN]}")
    return str(value) if key == "id" and isinstance(value, int) and not isinstance(value, bool) else value
