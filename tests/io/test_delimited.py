"""Tables of text as samples and outputs: CSV, TSV and Excel."""

from __future__ import annotations

import importlib.util
import json
import zipfile

import pytest

from rankgauge import Engine
from rankgauge.errors import DataError, UnreadableError

needs_excel = pytest.mark.skipif(importlib.util.find_spec("fastexcel") is None, reason="the extra `excel`")


def mean(path, metric="recall@2", **more):
    fields = more.pop("fields", {})
    outputs = more.pop("outputs", None)
    evaluation = Engine().dataset(path, **more).with_fields(fields).with_metrics(metric)
    return (evaluation if outputs is None else evaluation.with_outputs(outputs)).run()[metric].mean


def written(folder, name, text):
    path = folder / name
    path.write_bytes(text.encode())
    return path


def sheet(folder, rows):
    """Write the smallest Excel file that holds some texts."""
    texts = [[f'<c t="inlineStr"><is><t>{cell.replace("&", "&amp;")}</t></is></c>' for cell in row] for row in rows]
    cells = "".join(f"<row>{''.join(row)}</row>" for row in texts)
    main = "http://schemas.openxmlformats.org"
    office, package = f"{main}/officeDocument/2006/relationships", f"{main}/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
        f'ContentType="{kind}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" '
        f'ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}/spreadsheetml/2006/main" xmlns:r="{office}"><sheets>'
        '<sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}/spreadsheetml/2006/main"><sheetData>{cells}'
        "</sheetData></worksheet>",
    }
    path = folder / "data.xlsx"
    with zipfile.ZipFile(path, "w") as file:
        for name, text in parts.items():
            file.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return path


class TestCells:
    def test_lists_are_json(self, tmp_path):
        text = 'id,expected_output,actual_output\nq1,"[""d1"",""d2""]","[""d1"",""d9""]"\n'
        assert mean(written(tmp_path, "a.csv", text)) == 0.5

    def test_lists_may_be_as_python_prints_them(self, tmp_path):
        text = 'id,expected_output,actual_output\nq1,"[\'d1\', ""d\'2""]","[\'d1\', \'d9\']"\n'
        assert mean(written(tmp_path, "a.csv", text)) == 0.5

    @pytest.mark.parametrize("array", ["['d1' 'd9']", "['d1'\n 'd9']", "[ 'd1'   ''d9'' ]".replace("''", '""')])
    def test_lists_may_be_as_numpy_prints_them(self, tmp_path, array):
        text = f"id,expected_output,actual_output\nq1,\"['d1' 'd2']\",\"{array}\"\n"
        assert mean(written(tmp_path, "a.csv", text)) == 0.5

    @pytest.mark.parametrize("flag", ["false", "FALSE", "False"])
    def test_flags_and_numbers_are_read_as_spreadsheets_and_pandas_write_them(self, tmp_path, flag):
        text = "id,expected_output,actual_output,metadata.k,metadata.answerable\n"
        text += f"q1,\"['d1']\",\"['d9','d1']\",1.0,\nq2,,[],,{flag}\n"
        result = Engine().dataset(written(tmp_path, "a.csv", text)).with_metrics("retrieval-recall-at-k").run()
        assert result["retrieval-recall-at-k"].values.tolist()[0] == 0.0  # d1 stands at rank 2
        assert result["retrieval-recall-at-k"].n_undefined == 1  # q2 has no answer in the collection

    def test_lists_may_have_a_separator(self, tmp_path):
        text = "id,expected_output.relevant,actual_output.retrieved\nq1,d1|d2 | d3|d4,d1 | d9\n"
        assert mean(written(tmp_path, "a.csv", text), separator="|") == 0.25

    def test_a_separator_splits_fields_that_are_mapped_and_lists_of_texts(self, tmp_path):
        text = "qid\tgold\tcontexts\nq1\tone text;second\tone text; third\n"
        fields = {"id": "qid", "passages": "gold", "retrieved": {"path": "contexts", "strings": "text"}}
        path = written(tmp_path, "a.tsv", text)
        assert mean(path, "recall(gold=passages)@2", fields=fields, separator=";") == 0.5

    @pytest.mark.parametrize("separator", [",", ";", "\t"])
    def test_the_header_says_what_separates_cells(self, tmp_path, separator):
        rows = [["id", "expected_output", "actual_output"], ["q1", '"[""d1""]"', '"[""d1""]"']]
        text = "\ufeff" + "\r\n".join(separator.join(row) for row in rows)
        assert mean(written(tmp_path, "a.csv", text)) == 1.0

    def test_cells_may_have_line_breaks_and_quotes_and_be_empty(self, tmp_path):
        text = 'id,input,expected_output.answer,actual_output.answer,metadata.k\n1,"a\n""b""",x,"x",3\n\n2,,y,,\n'
        result = Engine().dataset(written(tmp_path, "a.csv", text)).with_metrics("answer-exact-match").run()
        assert list(result.sample_ids) == ["1", "2"]
        assert result["answer-exact-match"].n_missing == 1

    def test_metadata_has_cutoffs_flags_and_cohorts(self, tmp_path):
        text = "id,expected_output,actual_output,metadata.k,metadata.answerable,metadata.language\n"
        text += 'q1,"[""d1""]","[""d9"",""d1""]",1,true,de\n'
        evaluation = Engine().dataset(written(tmp_path, "a.csv", text)).with_metrics("retrieval-recall-at-k")
        result = evaluation.with_cohorts(["metadata.language"]).run()
        assert [tuple(tags) for tags in result.tags] == [("language=de",)]
        assert result["retrieval-recall-at-k"].mean == 0.0  # d1 stands at rank 2

    def test_ids_of_digits_stay_texts(self, tmp_path):
        text = "id,expected_output,actual_output\n007,\"['01']\",\"['01']\"\n"
        result = Engine().dataset(written(tmp_path, "a.csv", text)).with_metrics("recall@1").run()
        assert list(result.sample_ids) == ["007"]

    def test_outputs_may_be_tables(self, tmp_path):
        samples = [{"id": "q1", "expected_output": ["d1", "d2"]}]
        outputs = written(tmp_path, "o.csv", "id,actual_output.retrieved\nq1,d1|d3\n")
        assert mean(samples, outputs=outputs, separator="|") == 0.5

    def test_the_separator_is_kept_with_the_result(self, tmp_path):
        path = written(tmp_path, "a.csv", "id,expected_output.relevant,actual_output.retrieved\nq1,d1|d2,d1\n")
        result = Engine().dataset(path, separator="|").with_metrics("recall@2").run()
        assert result.manifest["config"]["datasets"]["a"]["separator"] == "|"


class TestFaults:
    def test_rows_are_named(self, tmp_path):
        text = "id,expected_output,actual_output\nq1,\"['d1']\",\"['d1']\"\nq1,\"['d1']\",\"['d1']\"\n"
        with pytest.raises(DataError, match=r"row 2.*duplicate sample id 'q1'"):
            mean(written(tmp_path, "a.csv", text))

    def test_a_row_that_is_too_long(self, tmp_path):
        with pytest.raises(UnreadableError, match="not a readable CSV file: a row has more cells than the header"):
            mean(written(tmp_path, "a.csv", "id,expected_output\nq1,x,y,z\n"))

    def test_a_quotation_mark_that_is_not_closed(self, tmp_path):
        with pytest.raises(UnreadableError, match="is a quotation mark not closed"):
            mean(written(tmp_path, "a.csv", 'id,expected_output\nq1,"x\nq2,y\n'))

    def test_two_columns_of_one_name(self, tmp_path):
        text = "id,expected_output.relevant,expected_output.relevant\nq1,['d1'],['d2']\n"
        with pytest.raises(UnreadableError, match=r"two columns are called 'expected_output\.relevant'"):
            mean(written(tmp_path, "a.csv", text))

    def test_a_text_in_place_of_a_list_is_told_how_to_be_split(self, tmp_path):
        text = "id,expected_output.relevant,actual_output.retrieved\nq1,d1|d2,d1|d3\n"
        with pytest.raises(DataError, match=r"found the string 'd1\|d2'; --separator '\|' splits a text"):
            mean(written(tmp_path, "a.csv", text))
        text = "id,expected_output.relevant,actual_output.retrieved\nq1,['d1'],d1|d3\n"
        result = Engine().dataset(written(tmp_path, "b.csv", text)).with_metrics("recall@2").run()
        assert result["recall@2"].n_failed == 1

    def test_an_empty_file(self, tmp_path):
        with pytest.raises(DataError, match="has no samples"):
            mean(written(tmp_path, "a.csv", ""))

    def test_bytes_that_are_not_utf_8(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_bytes(b"id,expected_output\nq1,caf\xe9\n")
        with pytest.raises(UnreadableError, match="not UTF-8"):
            mean(path)


class TestExcel:
    ROWS = (("id", "expected_output", "actual_output.retrieved"), ("q1", json.dumps(["d1", "d2"]), "d1|d9"))

    @needs_excel
    def test_the_first_sheet_is_read(self, tmp_path):
        assert mean(sheet(tmp_path, self.ROWS), separator="|") == 0.5

    @needs_excel
    def test_a_damaged_file(self, tmp_path):
        with pytest.raises(UnreadableError, match="not a readable Excel file"):
            mean(written(tmp_path, "a.xlsx", "no zip"))

    def test_without_the_extra_it_is_named(self, tmp_path, monkeypatch):
        monkeypatch.setattr("rankgauge.io.builtin_formats.find_spec", lambda name: None)
        with pytest.raises(UnreadableError, match=r"pip install 'rankgauge\[excel\]'"):
            mean(sheet(tmp_path, self.ROWS))
