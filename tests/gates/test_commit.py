"""The commit of a folder, from files laid out as git lays them out."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rankgauge.gates.baseline import commit_of

ONE, TWO = "1" * 40, "a" * 64


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_branch_is_followed_from_any_folder_below(tmp_path: Path) -> None:
    write(tmp_path / ".git/HEAD", "ref: refs/heads/main\n")
    write(tmp_path / ".git/refs/heads/main", f"{ONE}\n")
    below = tmp_path / "a/b"
    below.mkdir(parents=True)
    assert commit_of(tmp_path) == commit_of(below) == ONE


def test_a_detached_head_is_the_commit_itself(tmp_path: Path) -> None:
    write(tmp_path / ".git/HEAD", f"{TWO}\n")
    assert commit_of(tmp_path) == TWO


def test_packed_refs_are_read(tmp_path: Path) -> None:
    write(tmp_path / ".git/HEAD", "ref: refs/heads/main\n")
    write(tmp_path / ".git/packed-refs", f"# pack-refs\n{TWO} refs/heads/remain\n{ONE} refs/heads/main\n")
    assert commit_of(tmp_path) == ONE


def test_a_worktree_is_followed_to_the_shared_folder(tmp_path: Path) -> None:
    write(tmp_path / "main/.git/refs/heads/topic", f"{ONE}\n")
    write(tmp_path / "main/.git/worktrees/topic/HEAD", "ref: refs/heads/topic\n")
    write(tmp_path / "main/.git/worktrees/topic/commondir", "../..\n")
    write(tmp_path / "topic/.git", "gitdir: ../main/.git/worktrees/topic\n")
    assert commit_of(tmp_path / "topic") == ONE


@pytest.mark.parametrize("head", ["", "ref: refs/heads/unborn\n", "not a hash\n", "ref:\n"])
def test_what_names_no_commit_is_none(tmp_path: Path, head: str) -> None:
    write(tmp_path / ".git/HEAD", head)
    assert commit_of(tmp_path) == ""


@pytest.mark.usefixtures("process")
@pytest.mark.promise
def test_git_says_the_same_of_this_repository() -> None:
    here = Path(__file__).parent
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=False)  # noqa: S607  # wherever it is installed
    except OSError:
        pytest.skip("git is not installed")
    if done.returncode:
        pytest.skip("not a checkout")
    assert commit_of(here) == done.stdout.strip()
