"""
The part of the schema that is made from `Policy`, `Contract` and `Profile`, so that the two cannot differ.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, create_model

from rankgauge.base.plain_text import read_share
from rankgauge.policy import Contract, Policy, Profile

__all__ = ["Model", "PolicyConfig", "ProfileConfig"]

_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)


class Model(BaseModel):
    """A part of a config; an unknown key is an error."""

    model_config = _STRICT


def _share(value: object) -> object:
    return read_share(value) if isinstance(value, str) and value.rstrip().endswith("%") else value


_SHARE = {"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "string", "pattern": "%$"}]}
_BOUNDS: Mapping[str, Any] = {
    "max_failed": Annotated[float, Field(ge=0, le=1), BeforeValidator(_share), WithJsonSchema(_SHARE)],
    "depth": Annotated[int, Field(ge=1)],
}


def _optional(options: type, names: Iterable[str]) -> dict[str, Any]:
    """Return fields of a model for options, each of which may be left out."""
    hints = get_type_hints(options)
    return {name: (_BOUNDS.get(name, hints[name]) | None, None) for name in names}


_POLICY = _optional(Policy, [field.name for field in dataclasses.fields(Policy)])
_CONTRACT = _optional(Contract, Contract._fields)
_POLICY_DOC = "Policy options; the profile decides the others."
_CONTRACT_DOC = "How strictly data is read; the extended profile decides the rest."
PolicyConfig = create_model("PolicyConfig", __config__=_STRICT, __doc__=_POLICY_DOC, **_POLICY)
_ContractConfig = create_model("ContractConfig", __config__=_STRICT, __doc__=_CONTRACT_DOC, **_CONTRACT)

_CONVENTIONS = {
    "relevance": "What counts as relevant, or the lowest grade that does.",
    "negatives": "What a grade below 0 is.",
    "duplicate_texts": "What identifies a retrieved item that is judged by text.",
    "missing_texts": "Whether an item without a text, where one is needed, fails its sample or counts as empty.",
}
_Parameters = dict[str, dict[str, str | bool | int | float | None]]
_FIELDS: dict[str, Any] = {
    "extends": (str, Field("default", description="The other profile: built in, of this file, or of a plugin.")),
    "policy": (PolicyConfig | None, Field(None, description="Policy options.")),
    **{
        name: (get_type_hints(Profile)[name] | None, Field(None, description=what))
        for name, what in _CONVENTIONS.items()
    },
    "parameters": (
        _Parameters,
        Field(default_factory=dict, description="Parameters by metric, such as `ndcg: {gain: exponential}`."),
    ),
    "contract": (_ContractConfig | None, Field(None, description="How strictly data is read.")),
}
ProfileConfig = create_model(
    "ProfileConfig", __config__=_STRICT, __doc__="A profile: what it changes of another.", **_FIELDS
)
