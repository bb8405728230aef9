"""Mutated files through every way in: in this process, and some in processes that are bounded in memory and time."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import is_thorough, some
from faults.campaign import Workshop, cases
from faults.promises import CODES
from faults.ways import SUFFIXES, WAYS, WITHOUT_FILES
from rankgauge.catalog import Catalog
from rankgauge.cli.command_line import command_names

_SEED = 13
_MEMORY = 4 << 30


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """Yield a folder with every input, as the working directory, without installed plugins."""
    folder = tmp_path_factory.mktemp("faults")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("RANKGAUGE_NO_PLUGINS", "1")
        yield Workshop(folder)


def test_every_command_is_in_the_list():
    listed = {way.command for way in WAYS} | WITHOUT_FILES.keys()
    assert set(command_names()) == listed


def test_every_suffix_of_a_reader_is_in_the_list():
    readers = Catalog.discover(own_only=True).all("reader").values()
    suffixes = {reader.declaration.name: reader.declaration.suffixes for reader in readers}
    excel = suffixes.pop("excel")  # only with its extra
    assert (set().union(*suffixes.values()), ".xlsx" in excel) == (SUFFIXES.keys(), True)


@pytest.mark.parametrize("way", some(WAYS), ids=str)
def test_files_with_nothing_wrong_work(way, workshop):
    code, broken, err = workshop.broken(way, way.files[0], workshop.data[way.files[0]])
    assert (code in {0, 1}, broken) == (True, []), err


def test_mutated_files_break_no_promise(workshop):
    count = len(WAYS) * 20 if is_thorough() else len(WAYS) // 3
    found = [
        f"{case.number} {case.way}, {case.file}: {broken} {err[:300]}"
        for case in cases(workshop.data, _SEED, range(count))
        for _, broken, err in [workshop.broken(case.way, case.file, case.data)]
        if broken
    ]
    assert found == []


@given(data=st.binary(max_size=300), number=st.integers(min_value=0, max_value=len(WAYS) - 1))
def test_any_bytes_as_any_file_end_with_a_documented_exit_code(data, number, workshop):
    way = WAYS[number]
    code, broken, err = workshop.broken(way, way.files[0], data)
    assert (code in CODES, broken) == (True, []), err


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("number", some(range(0, 4 * len(WAYS), len(WAYS) - 2)))
def test_a_process_keeps_the_promises_within_its_memory_and_time(number, workshop, bounded):
    """The limits are the kernel's: 4 GB of address space, and half a minute of work."""
    ((_, way, file, data),) = cases(workshop.data, _SEED + 1, range(number, number + 1))
    try:
        (workshop.folder / file).write_bytes(data)
        done = bounded(way.line, workshop.folder)
    finally:
        workshop.clean()
    assert done.returncode in CODES, done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def bounded() -> Callable[[list[str], Path], subprocess.CompletedProcess[str]]:
    """Return what runs the command line in a process that the kernel ends when it takes too much."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (30, 30))

    def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "RANKGAUGE_NO_PLUGINS": "1"}
        return subprocess.run(
            [sys.executable, "-m", "rankgauge", *arguments],
            cwd=folder,
            env=environment,
            preexec_fn=limit,  # nothing runs beside this test
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=120,
            check=False,
        )

    return run
