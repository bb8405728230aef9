"""What explains a mutant is found by function and text, wherever its file is."""

import tomllib
from pathlib import Path

import pytest

import mutant_changes
from draws import in_thorough_suite
from mutant_changes import SOURCES, mutants_of
from mutants import EXPLAINED, explained

SOURCE = """\
LIMIT = 10


def take(rows, most=5):
    return rows[:most] if len(rows) > LIMIT else rows


class Table:
    width = 3

    def cut(self, rows):
        def short(row):
            return row < self.width

        return [row for row in rows if short(row)]
"""


@pytest.fixture
def keys(tmp_path, monkeypatch):
    """Return a function that writes the source to a file, and returns the keys of its mutants."""
    monkeypatch.setattr(mutant_changes, "SOURCES", tmp_path)

    def written(name, source=SOURCE):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, encoding="utf-8")
        return {mutant.key for mutant in mutants_of(path)}

    return written


def test_a_key_is_the_function_the_line_and_the_change(keys):
    found = keys("tables.py")
    assert ("tables.py", "LIMIT = 10", "10 -> 11") in found
    assert ("take", "def take(rows, most=5):", "5 -> 6") in found
    assert ("Table", "width = 3", "3 -> 4") in found
    assert ("Table.cut.short", "return row < self.width", "row < self.width -> row <= self.width") in found
    assert ("Table.cut", "return [row for row in rows if short(row)]", "short(row) -> True") in found


def test_a_file_that_moves_and_lines_that_come_before_change_no_key(keys):
    assert keys("here/tables.py") == keys("there/tables.py", f'"""Tables."""\n\nimport re\n\n\n{SOURCE}')


def test_the_same_line_in_another_function_has_another_key(keys):
    assert keys("tables.py").isdisjoint(keys("others.py", SOURCE.replace("take", "give").replace("Table", "Other")))


def test_no_explanation_is_written_twice_or_points_to_another():
    scopes = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))
    entries = [(scope, entry) for scope, written in scopes.items() for entry in written]
    changes = [(scope, entry["line"], change) for scope, entry in entries for change in entry["changes"]]
    assert len(changes) == len(explained()) > 0
    assert [entry["reason"] for _, entry in entries if entry["reason"].startswith("As for")] == []


@in_thorough_suite()
@pytest.mark.skipif(not SOURCES.exists(), reason="wheels are tested away from the source")
def test_no_explanation_excuses_a_change_that_it_was_not_written_for():
    """The names of the rooms' functions and the texts of their lines tell every explained change apart."""
    of_files = {}
    for path in Path(SOURCES).rglob("*.py"):
        for mutant in mutants_of(path):
            of_files.setdefault(mutant.key, set()).add(path)
    assert [key for key in explained() if len(of_files.get(key, ())) > 1] == []
