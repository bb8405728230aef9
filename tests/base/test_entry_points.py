"""Entry points as the metadata on `sys.path` has them: what is read, what wins, and what cannot be read."""

import importlib.metadata
import sys
import zipfile

import pytest

from rankgauge.base.entry_points import EntryPoint, installed_points, normalized

GROUP = "acme.things"


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return what writes the metadata of a distribution into a folder on an otherwise empty path."""
    monkeypatch.setattr(sys, "path", [])

    def write(folder, text, name="acme-coins", version="1.0", place="site", file="METADATA"):
        info = tmp_path / place / folder
        info.mkdir(parents=True)
        (info / "entry_points.txt").write_text(text, encoding="utf-8")
        if file:
            (info / file).write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: body\n")
        if str(tmp_path / place) not in sys.path:
            sys.path.append(str(tmp_path / place))

    return write


def test_groups_names_and_targets_are_read_as_the_standard_library_reads_them(site):
    text = """
    # a comment
    [other]
    x = not.asked.for

    [acme.things]
    a.b = acme.cli:run
      spaced   =   acme : thing   [extra]
    """
    site("acme_coins-1.0.dist-info", text)

    points, unreadable = installed_points((GROUP,))
    assert unreadable == []
    assert points == [
        EntryPoint("acme-coins", "1.0", GROUP, "a.b", "acme.cli:run"),
        EntryPoint("acme-coins", "1.0", GROUP, "spaced", "acme : thing   [extra]"),
    ]
    theirs = sorted((point.name, point.value) for point in importlib.metadata.entry_points(group=GROUP))
    assert theirs == [(point.name, point.target) for point in points]
    assert points[1].module == "acme"


def test_the_first_of_two_distributions_with_one_name_wins(site):
    site("Acme.Coins-1.0.dist-info", f"[{GROUP}]\na = first", name="Acme.Coins", place="one")
    site("acme_coins-2.0.dist-info", f"[{GROUP}]\na = second", version="2.0", place="two")

    assert [(point.version, point.target) for point in installed_points((GROUP,))[0]] == [("1.0", "first")]


def test_eggs_folders_without_metadata_and_zip_files(site, tmp_path):
    site("old.egg-info", f"[{GROUP}]\na = one", name="old", file="PKG-INFO")
    site("bare-1.0.dist-info", f"[{GROUP}]\na = two", file="")
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr("zipped-3.0.dist-info/METADATA", "Name: zipped\nVersion: 3.0\n")
        archive.writestr("zipped-3.0.dist-info/entry_points.txt", f"[{GROUP}]\na = three\n")
    sys.path += [str(tmp_path / "z.zip"), str(tmp_path / "nowhere")]

    found, unreadable = installed_points((GROUP,))
    assert [(point.distribution, point.version, point.target) for point in found] == [
        ("old", "1.0", "one"),
        ("unknown", "unknown", "two"),
        ("zipped", "3.0", "three"),
    ]
    assert unreadable == []


def test_what_cannot_be_read_is_named_and_stops_nothing(site, tmp_path):
    site("broken-1.0.dist-info", "", name="broken")
    (tmp_path / "site/broken-1.0.dist-info/entry_points.txt").write_bytes(f"[{GROUP}]\na = \xff".encode("latin-1"))
    site("whole-1.0.dist-info", f"[{GROUP}]\na = one", name="whole")

    found, ((folder, why),) = installed_points((GROUP,))
    assert [point.distribution for point in found] == ["whole"]
    assert folder.endswith("broken-1.0.dist-info")
    assert why.startswith("UnicodeDecodeError: ")


def test_a_point_loads_what_it_names():
    assert EntryPoint("d", "1", "g", "n", "os.path:join").load() is __import__("os").path.join
    assert EntryPoint("d", "1", "g", "n", "os.path").load() is __import__("os").path
    assert EntryPoint("d", "1", "g", "n", "pathlib:Path.exists [extra]").load() is __import__("pathlib").Path.exists
    with pytest.raises(AttributeError):
        EntryPoint("d", "1", "g", "n", "os:nothing").load()


@pytest.mark.parametrize("name", ["acme-coins", "Acme_Coins", "acme.coins", "acme--coins", "ACME-_.coins"])
def test_names_of_distributions_are_compared_as_indexes_compare_them(name):
    assert normalized(name) == "acme-coins"
