"""
The description that package indexes show: README.md, with links that work there.

Links of the README lead to files beside it. Where `RANKGAUGE_SOURCE_URL` says where the source is kept, as the release
workflow does, they lead to the tag of this version there; without it, as in any other build, they stay as they are.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

__all__ = ["ReadmeHook", "with_absolute_links"]


class ReadmeHook(MetadataHookInterface):
    """Sets the field `readme` of the metadata."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set it."""
        root = Path(self.root)
        text = (root / "README.md").read_text(encoding="utf-8")
        if url := os.environ.get("RANKGAUGE_SOURCE_URL"):
            (version,) = re.findall(r'"(\d.*)"', (root / "src/rankgauge/version.py").read_text(encoding="utf-8"))
            text = with_absolute_links(text, url.rstrip("/"), f"v{version}")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def with_absolute_links(text: str, url: str, tag: str) -> str:
    """Return Markdown whose relative links lead to a tag of a repository; images to the file and not to its page."""

    def absolute(match: re.Match[str]) -> str:
        kind = "raw" if match["label"].startswith("!") else "blob"
        return f"{match['label']}({url}/{kind}/{tag}/{match['path']})"

    return re.sub(r"(?P<label>!?\[[^]]*\])\((?P<path>(?!#|[a-z]+:)[^)\s]+)\)", absolute, text)
