"""
Requests under the profile of a tool: its own spellings, and what our names mean there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from rankgauge.errors import ParameterError
from rankgauge.expression import MetricExpression, Value, as_written
from rankgauge.planning.cutoffs import Conventions
from rankgauge.planning.requests import Located, Request, read_requests, request_of
from rankgauge.plugin.signature import ENGINE
from rankgauge.tool_measures import Tool, ToolMeasure

__all__ = ["meant", "requests_under"]


def requests_under(tool: Tool | None, spec: object) -> list[Request]:
    """Return the requests for a spec, one for each column; a spelling of the tool comes before ours."""
    plain = as_written(spec.spec if isinstance(spec, Located) else spec)
    found = None if tool is None else _of_tool(plain, tool)
    return read_requests(spec) if found is None else [found]


def meant(request: Request, conventions: Conventions) -> Request:
    """
    Return the request for what a name of ours means under the profile of a tool, or the request itself.

    What it says explicitly comes before what the tool has by default; its column keeps the name that was asked for.
    """
    tool = conventions.profile.tool
    if tool is None or request.of_tool or request.given is not None:
        return request
    reading = conventions.catalog.read(request.expression)
    alias = reading.claim.declaration.alias
    measure = tool.aliases.get(alias)
    if measure is None:
        return request
    _check_computed(measure, tool, request.written)
    asked, own = request.expression, measure.at(reading.k)
    target = own.name if reading.is_short else conventions.catalog.read(own).claim.declaration.alias
    given = dict(asked.params)
    defaults: dict[str, Value] = {key: value for key, value in own.params if key not in ENGINE}
    engine: dict[str, Value] = {key: value for key, value in own.params if key in ENGINE}
    metric = reading.claim.declaration
    names = [each.lower() for each in metric.plain_short]
    name = asked.name.lower() if asked.name.lower() in names else names[0] if reading.is_short else alias
    unusual = {**given, **{key: value for key, value in request.engine.items() if engine.get(key) != value}}
    return dataclasses.replace(
        request,
        expression=MetricExpression(target, {**defaults, **given}, k=own.k, unit=asked.unit),
        engine={**engine, **request.engine},
        name=request.name or str(MetricExpression(name, unusual, k=reading.k, unit=asked.unit)),
        of_tool=True,
    )


def _of_tool(spec: object, tool: Tool) -> Request | None:
    """Return the request for a measure in the tool's own spelling; None for any other."""
    written = spec.get("metric") if isinstance(spec, Mapping) else spec
    found = tool.read(written) if isinstance(written, str) else None
    if found is None:
        return None
    more = {key: value for key, value in spec.items() if key != "metric"} if isinstance(spec, Mapping) else {}
    measure, k = found
    _check_computed(measure, tool, written)
    own = measure.at(k)
    # a column under one of our names is called by it, so that both spellings are one column
    is_ours = measure.name and (own.k is None or own.k == k)
    name = str(MetricExpression(measure.name.lower(), k=k)) if is_ours else str(written).strip()
    params = {**dict(own.params), "as": name, **more}
    request = request_of(str(written), MetricExpression(own.name, params, k=own.k))
    return dataclasses.replace(request, of_tool=True)


def _check_computed(measure: ToolMeasure, tool: Tool, written: object) -> None:
    if measure.refused:
        raise ParameterError(f"{written!r} under the profile of {tool.title}: {measure.refused}")
