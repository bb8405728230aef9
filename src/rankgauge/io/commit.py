"""
The git commit that a folder is at, read from git's own files, because git itself may not be installed.
"""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["commit_of"]

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def commit_of(folder: Path) -> str:
    """Return the commit checked out at or above a folder; empty where there is none, or it cannot be read."""
    try:
        found = next((each / ".git" for each in (folder, *folder.parents) if (each / ".git").exists()), None)
        commit = "" if found is None else _head(found)
    except (OSError, UnicodeDecodeError):
        return ""
    return commit if _HASH.fullmatch(commit) else ""


def _head(git: Path) -> str:
    if git.is_file():  # a worktree or a submodule, whose file says where its folder is
        git = git.parent / git.read_text("utf-8").removeprefix("gitdir:").strip()
    head = (git / "HEAD").read_text("utf-8").strip()
    if not head.startswith("ref:"):
        return head
    ref = head.removeprefix("ref:").strip()
    common = git / "commondir"
    shared = git / common.read_text("utf-8").strip() if common.exists() else git
    for place in (git, shared):
        if (place / ref).is_file():
            return (place / ref).read_text("utf-8").strip()
    packed = shared / "packed-refs"
    lines = packed.read_text("utf-8").splitlines() if packed.exists() else []
    return next((line.split(" ")[0] for line in lines if line.endswith(f" {ref}")), "")
