"""
`rankgauge init`: write a commented config and a tiny dataset that runs.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rankgauge.cli.command_line import Command
from rankgauge.cli.console import echo
from rankgauge.cli.shared_options import path
from rankgauge.errors import ResultError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["INIT"]

_FILES = {
    "rankgauge.yaml": "starter.yaml",
    "samples.jsonl": "starter.jsonl",
    "rankgauge.schema.json": "schema.json",  # the config's first line names it
}
"""What is written, and where in `rankgauge.config` it stands."""


def _add_options(parser: argparse.ArgumentParser) -> None:
    folder = "The folder; created if needed. [default: the working directory]"
    parser.add_argument("directory", metavar="FOLDER", nargs="?", default=".", type=path, help=folder)


def _init(given: argparse.Namespace) -> int:
    folder: Path = given.directory
    sources = path(__file__).parents[1] / "config"
    files = {folder / name: (sources / source).read_bytes() for name, source in _FILES.items()}
    if taken := [str(file) for file in files if file.exists()]:
        raise ResultError(f"{' and '.join(taken)} would be overwritten; nothing was written. Choose another folder")
    from rankgauge.io.whole_files import write_new

    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_new(files)
    except OSError as error:
        raise ResultError(f"cannot write to {folder}: {error.strerror or error}") from error
    for file in files:
        echo(f"wrote {file}")
    echo(f"now run: rankgauge run {folder / 'rankgauge.yaml'}")
    return 0


INIT = Command("[FOLDER]", "Nothing is ever overwritten.", _add_options, _init)
