"""What is built: a description whose links work where packages are shown, the files of a release, and no licence."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import yaml

from environments import plain_variables

ROOT = Path(__file__).parents[2]
URL = "https://code.example/group/rankgauge"

of_sources = pytest.mark.skipif("RANKGAUGE_TEST_WHEEL" in os.environ, reason="there are no sources to build")


def description(folder: Path, **variables: str) -> str:
    """Return the long description of a wheel."""
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, env={**plain_variables(), **variables}, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("METADATA"))
        message: str = Parser().parsestr(archive.read(name).decode()).get_payload()
    return message


@pytest.mark.usefixtures("process")
@of_sources
def test_links_of_a_release_lead_to_its_tag(tmp_path):
    text = description(tmp_path, RANKGAUGE_SOURCE_URL=URL)
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert f"{URL}/blob/v0.1.0/docs/tutorial/quickstart.md" in links
    assert f"{URL}/raw/v0.1.0/docs/images/report.png" in links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


@pytest.mark.usefixtures("process")
@of_sources
def test_without_a_source_the_description_is_the_readme(tmp_path):
    assert description(tmp_path).strip() == (ROOT / "README.md").read_text(encoding="utf-8").strip()


@of_sources
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](docs/a.md#part)", f"[a]({URL}/blob/v1/docs/a.md#part)"),
        ("![a](a.png)", f"![a]({URL}/raw/v1/a.png)"),
        ("[a\nb](A.md), [c](#c)", f"[a\nb]({URL}/blob/v1/A.md), [c](#c)"),
        ("[a](https://else.example/a)", "[a](https://else.example/a)"),
    ],
)
def test_relative_links_become_absolute(text, expected):
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.with_absolute_links(text, URL, "v1") == expected


@of_sources
def test_a_release_is_cited_without_names_of_persons():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    assert cited["authors"] == [{"name": "rankgauge contributors"}]


def test_the_licence_is_the_owners_decision_and_none_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "No licence has been chosen" in (ROOT / "RELEASING.md").read_text(encoding="utf-8")
    assert not {"license", "license-files"} & project.keys()
    assert not [name for name in project["classifiers"] if name.startswith("License")]
