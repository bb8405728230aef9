"""Where files can be written, as far as it can be known before."""

from pathlib import Path

from rankgauge.io.writing import obstacle


def test_what_stands_in_the_way_of_a_file_is_known_before_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert obstacle(tmp_path) == "it is a folder"
    assert obstacle(tmp_path / "file/b.json") == f"{tmp_path / 'file'} is not a folder"
    assert obstacle(tmp_path / "new/deep/b.json") == ""
    assert obstacle(tmp_path / "file") == ""  # it would be replaced
