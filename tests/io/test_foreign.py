"""Judgments and runs in a format of a plugin, and results printed in one."""

import gzip
import io

import pytest

import rankgauge
from rankgauge.cli import call
from rankgauge.errors import DataError

PLUGIN = '''\
    from rankgauge.plugin import Record, hookimpl, reader, reporter

    @reader("acme-lines", suffixes=(".acme",))
    def acme(source):
        """Read key=value pairs, one record a line."""
        for number, line in enumerate(source.stream, 1):
            if line.startswith(b"!"):
                raise ValueError("no idea")
            pairs = (part.split("=", 1) for part in line.decode().split())
            yield Record({key: float(value) if key in ("rel", "sim") else value for key, value in pairs}, number)

    @reporter("acme-report", suffix=".txt")
    def acme_report(result):
        """Print the means."""
        return "".join(f"{name}: {column.mean:g}\\n" for name, column in result.metrics.items())

    @hookimpl
    def rankgauge_readers():
        return [acme]

    @hookimpl
    def rankgauge_reporters():
        return [acme_report]
'''
QRELS = "qid=q1 docno=a rel=1\nqid=q1 docno=b rel=0\nqid=q2 docno=c rel=2\n"
RUN = "qid=q1 docno=b sim=2.0\nqid=q1 docno=a sim=1.0\nqid=q2 docno=c sim=0.5\n"  # relevant at ranks 2 and 1


@pytest.fixture(autouse=True)
def _files(installed, tmp_path, monkeypatch):
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS", raising=False)
    monkeypatch.chdir(tmp_path)
    installed.add("acme-tools", PLUGIN)
    (tmp_path / "qrels.acme").write_text(QRELS, encoding="utf-8")
    (tmp_path / "run.acme.gz").write_bytes(gzip.compress(RUN.encode()))


@pytest.fixture
def catalog():
    return rankgauge.Catalog.discover()


def test_both_are_read_by_the_ending_of_the_file(catalog):
    result = rankgauge.evaluate("qrels.acme", "run.acme.gz", ["RR", "P@1"], catalog=catalog)
    assert (result["RR"].mean, result["P@1"].mean, result.sample_ids) == (0.75, 0.5, ("q1", "q2"))


def test_columns_may_be_named(catalog, tmp_path):
    (tmp_path / "run.acme").write_text(RUN.replace("docno", "page"), encoding="utf-8")
    with pytest.raises(DataError, match=r"run\.acme: .*document"):
        rankgauge.evaluate("qrels.acme", "run.acme", ["RR"], catalog=catalog)
    columns = {"run.document": "page"}
    assert rankgauge.evaluate("qrels.acme", "run.acme", ["RR"], columns=columns, catalog=catalog)["RR"].mean == 0.75


def test_trec_text_is_trec_text_whatever_its_ending(catalog, tmp_path):
    (tmp_path / "trec.acme").write_text("q1 Q0 a 1 2.0 t\nq2 Q0 c 1 1.0 t\n", encoding="utf-8")
    assert rankgauge.evaluate("qrels.acme", "trec.acme", ["RR"], catalog=catalog)["RR"].mean == 1.0


def test_a_reader_that_fails_makes_its_file_unreadable_and_is_named(catalog, tmp_path):
    (tmp_path / "run.acme").write_text(f"{RUN}!\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"run\.acme: reader 'acme-lines' \(by acme-tools 1\.0.*no idea"):
        rankgauge.evaluate("qrels.acme", "run.acme", ["RR"], catalog=catalog)


def test_ids_that_are_no_ids_are_refused_with_the_column(catalog, tmp_path):
    (tmp_path / "run.acme").write_text(RUN.replace("docno=", "doc=x rel="), encoding="utf-8")
    with pytest.raises(DataError, match="run\\.acme"):
        rankgauge.evaluate("qrels.acme", "run.acme", ["RR"], catalog=catalog, columns={"run.document": "rel"})


def test_the_command_line_reads_and_prints_them(capsys):
    assert call(["trec", "qrels.acme", "run.acme.gz", "-m", "RR", "-f", "acme-report"], debug=False) == 0
    assert capsys.readouterr().out == "rr: 0.75\n"
    assert call(["explain", "--qrels", "qrels.acme", "--run", "run.acme.gz", "q1", "-m", "RR"], debug=False) == 0


def test_a_saved_result_finds_its_files_again(catalog, tmp_path):
    rankgauge.evaluate("qrels.acme", "run.acme.gz", ["RR"], catalog=catalog).save(tmp_path / "out")
    assert rankgauge.Result.load(tmp_path / "out").explain("q1", "RR").score == 0.5


def test_an_unknown_format_is_told_with_all_there_are(capsys):
    assert call(["trec", "qrels.acme", "run.acme.gz", "-f", "acme-reprot"], debug=False) == 2
    told = capsys.readouterr().err
    assert "there is no format 'acme-reprot' (did you mean 'acme-report'?); known are table, trec, json" in told


def test_rankings_are_compared_in_any_format(catalog, capsys):
    found = rankgauge.rank_agreement("run.acme.gz", "run.acme.gz", "overlap", qrels="qrels.acme", catalog=catalog)
    assert (found["overlap"].mean, found.queries) == (1.0, ("q1", "q2"))
    assert call(["trec", "run.acme.gz", "--against", "run.acme.gz", "-m", "jaccard"]) == 0
    assert "jaccard  1.0000" in capsys.readouterr().out


def test_rows_may_have_intents(catalog, tmp_path):
    lines = "qid=q1 docno=a rel=1 subtopic=x\nqid=q1 docno=a rel=1 subtopic=y\nqid=q1 docno=b rel=1 subtopic=z\n"
    (tmp_path / "qrels.acme").write_text(lines, encoding="utf-8")
    result = rankgauge.evaluate("qrels.acme", "run.acme.gz", ["StRecall@1", "num_rel"], catalog=catalog)
    assert (result["StRecall@1"].mean, result["num_rel"].mean) == (pytest.approx(1 / 3), 2)


@pytest.fixture
def samples(tmp_path):
    """Write samples, outputs and a run in the format of the plugin, with endings that say something else."""
    (tmp_path / "samples.data").write_text(
        "id=q1 expected_output=Paris\nid=q2 expected_output=Rome\n", encoding="utf-8"
    )
    (tmp_path / "answers.json").write_text(
        'id=q1 actual_output={"answer":"Paris"}\nid=q2 actual_output={"answer":"x"}\n'
    )
    (tmp_path / "run.jsonl").write_text(RUN, encoding="utf-8")
    (tmp_path / "qrels.json").write_text(QRELS, encoding="utf-8")


@pytest.mark.usefixtures("samples")
def test_a_reader_is_chosen_by_its_name_whatever_the_ending(capsys, monkeypatch, tmp_path):
    named = ["--reader", "acme-lines", "--reader", "qrels=acme-lines"]
    assert call(["trec", "qrels.json", "run.jsonl", "-m", "RR", *named]) == 0
    assert "0.7500" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(RUN.encode())))
    assert call(["trec", "qrels.acme", "-", "-m", "RR", *named[:2]]) == 0
    assert "0.7500" in capsys.readouterr().out
    assert call(["validate", "qrels.json", "run.jsonl", *named]) == 0
    assert call(["compare", "--qrels", "qrels.json", "run.jsonl", "run.acme.gz", "-m", "RR", *named]) == 0
    assert call(["judge", "queue", "run.jsonl", "-o", "queue.jsonl", "--depth", "2", *named[:2]]) == 0
    assert rankgauge.preflight("qrels.acme", "run.acme.gz").ok
    capsys.readouterr()
    data = ["samples.data", "--reader", "acme-lines", "--outputs", "answers.json", "--reader", "outputs=acme-lines"]
    assert call(["run", "--data", *data, "-m", "EM", "-o", "kept"]) == 0
    assert "0.5000" in capsys.readouterr().out
    assert call(["validate", *data]) == 0
    assert call(["rescore", "kept", "-o", "again", "-m", "EM"]) == 0
    assert "0.5000" in capsys.readouterr().out
    (tmp_path / "config.yaml").write_text(
        "version: 1\nmetrics: {use: [EM]}\ndatasets:\n  mine: {path: samples.data, reader: acme-lines, "
        "outputs: answers.json, outputs_reader: acme-lines}\n"
    )
    assert call(["validate", "config.yaml"]) == 0
    assert call(["run", "config.yaml"]) == 0
    assert "0.5000" in capsys.readouterr().out


@pytest.mark.usefixtures("samples")
def test_rows_of_a_reader_are_data_and_outputs(capsys, tmp_path):
    """A ranking of two results for q1 with the relevant one second, and one for q2: 1/2 and 1."""
    named = ["--reader", "acme-lines", "--reader", "outputs=acme-lines"]
    for files in (["qrels.acme", "--outputs", "run.acme.gz"], ["qrels.json", "--outputs", "run.jsonl", *named]):
        assert call(["run", "--data", *files, "-m", "RR", "-o", f"kept-{files[0]}"]) == 0
        assert "0.7500" in capsys.readouterr().out
        assert call(["rescore", f"kept-{files[0]}", "-m", "P@1"]) == 0
        assert "0.5000" in capsys.readouterr().out


@pytest.mark.usefixtures("samples")
def test_a_reader_that_is_not_there_is_refused(capsys, tmp_path):
    for arguments in (
        ["trec", "qrels.acme", "run.jsonl", "--reader", "acme-line"],
        ["run", "--data", "samples.data", "-m", "EM", "--reader", "acme-line"],
        ["validate", "samples.data", "--reader", "acme-line"],
        ["validate", "qrels.acme", "run.jsonl", "--reader", "acme-line"],
        ["trec", "qrels.acme", "run.jsonl", "--reader", "outputs=acme-lines"],
    ):
        assert call(arguments) == 2
        assert "acme-line" in capsys.readouterr().err
    (tmp_path / "config.yaml").write_text(
        "version: 1\nmetrics: {use: [EM]}\ndatasets:\n  mine: {path: samples.data, reader: acme-line}\n"
    )
    assert call(["validate", "config.yaml"]) == 2
    assert "did you mean 'acme-lines'" in capsys.readouterr().err


def test_an_ending_may_end_in_a_built_in_one(installed, tmp_path):
    installed.add(
        "acme-turns",
        PLUGIN.replace("acme-lines", "acme-turns").replace('".acme"', '".turns.json"').replace("acme-report", "r2"),
    )
    (tmp_path / "run.turns.json").write_text(RUN, encoding="utf-8")
    (tmp_path / "run.turns.json.gz").write_bytes(gzip.compress(RUN.encode()))
    (tmp_path / "plain.json").write_text('{"q1": {"a": 1.0}, "q2": {"c": 1.0}}', encoding="utf-8")
    (tmp_path / "my.plain.json").write_text('{"q1": {"a": 1.0}, "q2": {"c": 1.0}}', encoding="utf-8")
    (tmp_path / "samples.turns.json").write_text("id=q1 expected_output=Paris\n", encoding="utf-8")
    means = {}
    for name in ("run.turns.json", "run.turns.json.gz", "plain.json", "my.plain.json"):
        means[name] = rankgauge.evaluate("qrels.acme", name, ["RR"], catalog=rankgauge.Catalog.discover())["RR"].mean
        assert rankgauge.preflight("qrels.acme", name).ok
    assert list(means.values()) == [0.75, 0.75, 1.0, 1.0]
    evaluation = rankgauge.Engine().dataset(tmp_path / "samples.turns.json").with_metrics("EM")
    assert evaluation.run(outputs={"q1": {"answer": "Paris"}})["em"].mean == 1.0
