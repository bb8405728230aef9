"""Licences: everything that is installed along with rankgauge may be used wherever rankgauge may be."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

ALLOWED = {
    *("0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "PSF-2.0", "Zlib"),
    "MPL-2.0",  # orjson: copyleft of its own files only, which rankgauge does not change
}
"""SPDX names of the licences that need nothing but to be named."""

_BY_CLASSIFIER = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
_PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", name)[0]).lower()


def _required() -> Iterator[metadata.Distribution]:
    """Yield every distribution that rankgauge needs, directly or not, and that is installed here."""
    pending = list(map(_plain, tomllib.loads(_PROJECT.read_text("utf-8"))["project"]["dependencies"]))
    seen: set[str] = set()
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # for another system, such as colorama
            continue
        yield found
        pending += [_plain(each) for each in found.requires or () if "extra ==" not in each]


def licences(found: metadata.Metadata | metadata.PackageMetadata) -> set[str]:
    """Return the licences that metadata name: by an SPDX expression, by classifiers, or in a short field."""
    if expression := found.get("License-Expression"):
        return set(re.findall(r"[\w.+-]+", expression)) - {"AND", "OR", "WITH"}
    classifiers = [each.rpartition(" :: ")[2] for each in found.get_all("Classifier") or () if each.startswith("Licen")]
    return {_BY_CLASSIFIER.get(each, each) for each in classifiers} or {found.get("License") or "unknown"}


def test_every_dependency_has_an_allowed_licence():
    found = {each.name: licences(each.metadata) for each in _required()}
    assert len(found) > 12
    assert {name: names for name, names in found.items() if not names <= ALLOWED} == {}


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"License-Expression": "MPL-2.0 AND (Apache-2.0 OR MIT)"}, {"MPL-2.0", "Apache-2.0", "MIT"}),
        ({"Classifier": "License :: OSI Approved :: MIT License", "License": "a long text"}, {"MIT"}),
        ({"License": "MIT"}, {"MIT"}),
        ({"Classifier": "License :: Other/Proprietary License"}, {"Other/Proprietary License"}),
        ({}, {"unknown"}),
    ],
)
def test_licences_are_read_from_the_metadata(fields, names):
    from email.message import Message

    message = Message()
    for key, value in fields.items():
        message[key] = value
    assert licences(message) == names
