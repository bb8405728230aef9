"""Plain samples read as columns come to what they come to one by one: scores to the last bit, keys and messages."""

from __future__ import annotations

import json
from itertools import pairwise
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Engine
from rankgauge.errors import RankgaugeError
from rankgauge.io import datasets, output_files
from rankgauge.plugin import metric
from rankgauge.samples import Block, read_block
from tables import rows

METRICS = ("hit@2", "recall@4", "retrieval-ndcg-at-k", "AP", "RR", "judged@3")
IDS = ("a", "b", "é", "\ud800", "d-with-a-longer-name", "x", "l" * 255)
TWO_LINES = "a\nb"
"""An id that no block holds."""

PLAIN_GOLD = (
    ["a"],
    ["b", "a"],
    [],
    ["a", "é", "x"],
    {"a": 3, "b": 0},
    {"x": 0.5, "é": -1},
    {},
    ["\ud800"],
    [*"abcdefghijklmnopqrstuvwxyz"],
)
FORMS_OF_GOLD = """
{"relevant": ["a"]}
{"relevant": {"a": 2, "b": 0.5}}
{"relevant": []}
{"relevant": {}}
{"relevant": ["a", "a"]}
{"relevant": {"relevant": 1}}
{"relevant": ["a"], "answer": null}
{"relevant": ["a"], "passages": [], "answer": []}
{"relevant": ["b", "a"], "answer": "a", "keywords": ["b", "c"]}
{"relevant": ["a", "b"], "passages": ["a b c", "d e f"]}
{"relevant": {"a": 1}, "passages": "a b c"}
{"relevant": ["a"], "spans": [{"document": "a", "start": 1, "end": 3, "mine": 1}]}
{"relevant": ["a"], "nuggets": ["u", {"text": "t", "label": 1}]}
["a", "a", "b"]
[{"id": "b", "gain": 2}, {"id": "a"}]
[{"id": "b"}, "a"]
[{"id": "a", "intent": "1"}]
[{"id": "a", "intent": "1"}, {"id": "a", "intent": "2", "gain": 3}, {"id": "x", "gain": 0, "metadata": {"u": 1}}]
[{"id": "a", "grade": 2, "mine": 1}]
"""
ODD_GOLD = (
    *([""], ["a", 7], {"": 1}, {"a": "high"}, {"answer": "a"}, {"answer": 1}, {"passages": ["a"]}, "a", 5, None),
    *({"a": True}, [TWO_LINES], {TWO_LINES: 1}, [["a"], ["a"]], ["a", ["b"]], [{}, "a"], ["a", {"id": "b"}], [[]]),
    *([{"id": "", "gain": 2}], [{"id": "a", "gain": "much"}], [{"id": TWO_LINES}], [{"gain": 1}]),
    *({"relevant": None}, {"relevant": 5}, {"relevant": "a"}, {"relevant": {"a": "1"}}, {"relevant": {"": 1}}),
    *(
        {"relevant": [[]]},
        {"relevant": [], "answer": "a"},
        {"relevant": ["a"], "b": 1},
        {"relevant": ["a"], "answer": 5.5},
    ),
    *(
        {"relevant": ["a"], "answer": " "},
        {"relevant": ["a"], "nuggets": ["t", "t"]},
        {"relevant": ["a"], "spans": [{}]},
    ),
)
MORE_OF_ITEMS = """
{"text": "a b c"}
{"text": null, "score": 1}
{"text": "a b c", "score": 0.5, "metadata": {"u": 1}}
{"content": "a"}
{"document": "a", "start": 0, "end": 9}
{"document": "a", "start": 5}
{"document": "a"}
{"start": null, "end": 3}
{"metadata": 5, "mine": 1}
{"score": null}
"""
FORMS_OF_OUTPUT = """
"[]"
"[\\"a\\"]"
"{\\"retrieved\\": [{\\"id\\": \\"a\\", \\"score\\": 2}, {\\"id\\": \\"b\\", \\"score\\": 3}]}"
{"retrieved": ["a"], "support": {}}
{"retrieved": ["a"], "support": null, "contexts": []}
{"retrieved": ["b"], "support": {"n1": "support"}, "answer": ""}
"""
ODD_OUTPUT = (
    *(None, "[", '"[]"', 5, {}, {"retrieved": None}, {"answer": "a"}, {"retrieved": [], "answer": 5}, [""], ["a", 7]),
    *([{"id": ""}], [{"text": "a"}], "", '{"retrieved": [""]}', [{"id": "a", "text": 5}], [{"id": "a", "score": "x"}]),
    *([{"id": "a", "score": True}], [{"id": 5}], ["a", {"id": "b"}], {"retrieved": ["a"], "support": {"n1": "much"}}),
    *({"retrieved": ["a"], "support": 5}, [{"document": "a", "start": 0, "end": 3}], [[]], {"retrieved": {"a": 1}}),
    *([None], ["a", TWO_LINES], [{"id": TWO_LINES, "score": 1}], ["a", ["b"]]),
)
METADATA = (None, {}, {"k": 1}, {"tags": ["t", " u "]}, {"tags": "t", "k": 3}, {"answerable": True, "mine": [1]})
ODD_METADATA = (5, {"k": 0}, {"k": "3"}, {"tags": [1]}, {"answerable": False}, {"answerable": "no"})


def listed(lines):
    return list(map(json.loads, lines.split("\n")[1:-1]))


@st.composite
def records(draw, *, odd=True):
    """Draw a sample: plain in most parts, so that blocks are met as well as their edges."""
    bare = st.lists(st.sampled_from(IDS), max_size=6)
    if odd:
        bare |= bare.map(lambda ids: [{"id": name, "score": place} for place, name in enumerate(ids)])
        bare |= bare.map(lambda ids: [{"id": name} if isinstance(name, str) else name for name in ids])
        more = draw(st.lists(st.sampled_from(listed(MORE_OF_ITEMS)), min_size=1, max_size=3))
        bare |= st.lists(st.sampled_from(IDS), max_size=6).map(
            lambda ids: [{"id": name, **more[place % len(more)]} for place, name in enumerate(ids)]
        )
    outputs = bare | bare.map(lambda items: {"retrieved": items}) | bare.map(lambda it: {"retrieved": it, "answer": ""})
    gold, metadata = st.sampled_from(PLAIN_GOLD), st.sampled_from(METADATA)
    if odd:
        gold |= st.sampled_from(listed(FORMS_OF_GOLD))
        outputs |= st.sampled_from(listed(FORMS_OF_OUTPUT))
    if odd and draw(st.integers(0, 5)) == 0:
        gold |= st.sampled_from(ODD_GOLD)
        outputs |= st.sampled_from(ODD_OUTPUT)
        metadata |= st.sampled_from(ODD_METADATA)
    record = {"expected_output": draw(gold), "actual_output": draw(outputs), "input": "?", "metadata": draw(metadata)}
    if odd and draw(st.integers(0, 5)) == 0:
        record |= draw(st.sampled_from([{"query": "?"}, {"mine": 1, "input": None}, {"query_id": "q"}]))
    if odd and draw(st.integers(0, 30)) == 0:
        del record[draw(st.sampled_from(sorted(record)))]
    return record


def lines_of(drawn, odd_lines, ids):
    """Return records as lines with ids, and lines that hold no sample at some places."""
    lines = [json.dumps({"id": f"q{number}", **record}) for number, record in enumerate(drawn)]
    lines = [line.replace("\\ud800", "é") if "\\ud800" in line else line for line in lines]  # JSON refuses half a pair
    for place, line in odd_lines:
        lines.insert(place % (len(lines) + 1), line)
    return [line.replace('"q1"', json.dumps(ids)) for line in lines]


def found(path, **how):
    """Return everything that a run finds out, or what is wrong."""
    evaluation = Engine().dataset(path).with_metrics(METRICS)
    evaluation.plan()  # what is wrong with this is no outcome
    try:
        result = evaluation.run(sketch_ids=True, **how)
    except RankgaugeError as error:
        return type(error), str(error), list(map(str, error.problems))
    columns = {
        name: (column.values.tobytes(), column.codes.tobytes(), column.reasons)
        for name, column in result.metrics.items()
    }
    manifest = [result.manifest[name] for name in ("retrieved_ids", "outputs")]
    return result.sample_ids, result.tags, result.gold_keys.tolist(), columns, result.notes, manifest


ODD_LINES = ("", "  ", "{", "[]", "7", '"q"', "null", '{"id": "q0"}')


ODD_ROWS = (
    *("", "{", "7", '{"q0": ["a"]}', '{"id": "q0", "actual_output": ["a"]}', '{"id": "new", "actual_output": ["a"]}'),
    *('{"id": "q1", "error": "no"}', '{"id": "q2", "actual_output": ["a"], "attempt": 2}', '{"id": ""}'),
    '{"id": "q3", "actual_output": ["b"], "repeat": 2}',
)


@given(
    drawn=st.lists(records(), min_size=1, max_size=14),
    odd_lines=st.lists(st.tuples(st.integers(0, 14), st.sampled_from(ODD_LINES)), max_size=1),
    ids=st.sampled_from(["q1", "q1", "q1", "q0", "", 5, None]),
    sizes=st.sampled_from([{"_BLOCK": 64}, {"_BLOCK": 3, "_ROWS": 8, "_SMALLEST": 1}]),
)
def test_blocks_find_what_single_samples_do(tmp_path_factory, drawn, odd_lines, ids, sizes):
    """A limit turns blocks off, and nothing else."""
    path = tmp_path_factory.getbasetemp() / "samples.jsonl"
    path.write_text("\n".join(lines_of(drawn, odd_lines, ids)), encoding="utf-8")
    with mock.patch.multiple(datasets, **sizes):
        assert found(path) == found(path, limit=10**6)
        assert found(path, batch_size=3) == found(path, limit=10**6)


@given(
    drawn=st.lists(records(), min_size=1, max_size=14),
    odd_rows=st.lists(st.tuples(st.integers(0, 14), st.sampled_from(ODD_ROWS)), max_size=1),
    kinds=st.lists(st.sampled_from(["moved", "moved", "moved", "kept", "both"]), min_size=14, max_size=14),
    chance=st.randoms(use_true_random=False),
    sizes=st.sampled_from([{"_BLOCK": 64}, {"_BLOCK": 3, "_ROWS": 8, "_SMALLEST": 1}]),
)
def test_outputs_in_a_file_of_their_own_are_attached_as_to_single_samples(
    tmp_path_factory, drawn, odd_rows, kinds, chance, sizes
):
    """In any order, beside outputs of the samples or instead of them; the number of these is the manifest's."""
    data, outputs = (tmp_path_factory.getbasetemp() / name for name in ("data.jsonl", "outputs.jsonl"))
    rows = []
    for number, (record, kind) in enumerate(zip(drawn, kinds, strict=False)):
        if kind != "kept" and "actual_output" in record:
            rows.append(json.dumps({"id": f"q{number}", "actual_output": record["actual_output"], "mine": 1}))
            record["actual_output"] = ["x"] if kind == "both" else None
    chance.shuffle(rows)
    for place, row in odd_rows:
        rows.insert(place % (len(rows) + 1), row)
    outputs.write_text("\n".join(rows).replace("\\ud800", "é"), encoding="utf-8")
    data.write_text("\n".join(lines_of(drawn, [], "q1")), encoding="utf-8")
    with mock.patch.multiple(datasets, **sizes), mock.patch.object(output_files, "_BLOCK", sizes["_BLOCK"]):
        in_blocks = found(data, outputs=outputs)
        with mock.patch.object(output_files, "read_id_outputs", return_value=None):
            assert in_blocks == found(data, outputs=outputs)


def test_outputs_of_plain_samples_are_read_once_and_in_columns(tmp_path, monkeypatch):
    """Only a sample that is not plain needs its output as an object, and then all are read again."""
    data, outputs = tmp_path / "data.jsonl", tmp_path / "outputs.jsonl"
    rows = [{"id": f"q{n}", "actual_output": [{"id": "a", "score": 1}, {"id": "b", "score": 2}]} for n in range(70)]
    outputs.write_text("".join(json.dumps(row) + "\n" for row in reversed(rows)), encoding="utf-8")
    gold = [["b"] if n else {"answer": "a"} for n in range(70)]
    read = mock.Mock(side_effect=output_files.read_output)
    monkeypatch.setattr("rankgauge.samples.sample_outputs.read_output", read)
    for first, calls in ((1, 0), (0, 70)):
        lines = [json.dumps({"id": f"q{n}", "expected_output": gold[max(n, first)]}) + "\n" for n in range(70)]
        data.write_text("".join(lines), encoding="utf-8")
        result = Engine().dataset(data).with_metrics("RR").run(outputs=outputs)
        assert (result["RR"].mean, result["RR"].n, read.call_count) == (0.5, 69 + first, calls)
        assert any("q0" in note and "score" in note for note in result.notes)


def test_a_sample_without_output_is_left_out_where_the_policy_says_so(tmp_path):
    """Of 70 plain samples one has no output and one not even the field: 68 count; a limit turns blocks off."""
    rows = [{"id": f"q{n}", "expected_output": ["a"], "actual_output": ["a", "b"]} for n in range(70)]
    rows[3]["actual_output"] = None
    del rows[4]["actual_output"]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    one = Engine().dataset(tmp_path / "s.jsonl").with_metrics("hit@1")
    one = one.with_profile(queries="intersection")
    assert [one.run(limit=limit)["hit@1"].n for limit in (None, 100)] == [68, 68]


@given(drawn=st.lists(records(odd=False), min_size=1, max_size=14), as_objects=st.booleans())
def test_plain_samples_make_a_block(drawn, as_objects):
    records = [json.loads(line) for line in lines_of(drawn, [], "q1")]
    outputs = [each["actual_output"] for each in records]
    ids = [each["retrieved"] if isinstance(each, dict) else each for each in outputs]
    if as_objects:
        for record, listed in zip(records, ids, strict=True):
            record["actual_output"] = [{"id": name, "score": 1 - place / 3} for place, name in enumerate(listed)]
    block = read_block(records)
    assert isinstance(block, Block)
    assert list(block.ids) == [f"q{number}" for number in range(len(drawn))]
    gold = [each["expected_output"] for each in records]
    assert as_lists(block.retrieved) == ids
    assert as_lists(block.gold) == list(map(list, gold))
    assert list(block.graded) == [place for place, each in enumerate(gold) if isinstance(each, dict)]
    assert block.gains is None or list(block.gains) == [
        gain for each in gold for gain in (each.values() if isinstance(each, dict) else [1] * len(each))
    ]


def as_lists(lists):
    """Return lists of ids as lists of strings."""
    rest = iter(lists.joined.decode().splitlines())
    return [[next(rest) for _ in range(count)] for count in lists.counts]


@given(drawn=st.lists(records(odd=False), min_size=2, max_size=14), cuts=st.sets(st.integers(1, 13)))
def test_blocks_put_together_are_one_block(drawn, cuts):
    records = [json.loads(line) for line in lines_of(drawn, [], "q1")]
    edges = [0, *sorted(cut for cut in cuts if cut < len(records)), len(records)]
    parts = [read_block(records[start:end]) for start, end in pairwise(edges)]
    whole, together = read_block(records), Block.together(parts)
    assert [list(column or ()) for column in together] == [list(column or ()) for column in whole]
    assert together.gains == whole.gains


@rows(
    "part",
    [
        *({"expected_output": each} for each in ODD_GOLD),
        *({"actual_output": each} for each in ODD_OUTPUT),
        *({"metadata": each} for each in ODD_METADATA),
        {"id": ""},
        {"id": 5},
    ],
    ids=str,
)
def test_what_is_not_plain_makes_no_block(part):
    plain = {"id": "q", "expected_output": ["a"], "actual_output": ["b"], "metadata": None}
    assert read_block([plain]) is not None
    assert read_block([plain, {**plain, "id": "r", **part}]) is None


@rows("gold", listed(FORMS_OF_GOLD), ids=str)
@rows("output", [*listed(FORMS_OF_OUTPUT), *([{"id": "b", **more}] for more in listed(MORE_OF_ITEMS))], ids=str)
def test_every_form_with_ids_makes_a_block(gold, output):
    assert read_block([{"id": "q", "expected_output": gold, "actual_output": output}]) is not None


def test_an_odd_sample_leaves_the_others_of_its_block_alone(tmp_path, monkeypatch):
    """Of 64 lines one is odd: 60 come in blocks. After 64 odd ones nothing is tried any more."""
    plain = {"expected_output": ["a"], "actual_output": ["a", "b"]}
    odd = {"expected_output": {"answer": "a"}, "actual_output": ["a", "b"]}
    sizes = []

    def counted(records, attached):
        block = read_block(records, attached)
        sizes.append((len(records), block is not None))
        return block

    monkeypatch.setattr(datasets, "read_block", counted)
    path = tmp_path / "samples.jsonl"
    one_odd = [odd if number == 10 else plain for number in range(64)]
    path.write_text("\n".join(json.dumps({"id": f"q{at}", **each}) for at, each in enumerate([*one_odd, plain])))
    assert Engine().dataset(path).with_metrics(["hit@1"]).run()["hit@1"].mean == 1
    assert sum(size for size, is_block in sizes if is_block) == 60 + 1
    sizes.clear()
    path.write_text("\n".join(json.dumps({"id": f"q{at}", **each}) for at, each in enumerate([odd] * 64 + [plain] * 9)))
    assert Engine().dataset(path).with_metrics(["hit@1"]).run()["hit@1"].mean == 1
    assert not any(is_block for _, is_block in sizes)


@pytest.mark.parametrize(
    "other", ["spans", "passages", "answer", "nuggets", "forbidden", "sets", "answerable", "asked_at"]
)
def test_a_metric_may_fall_back_to_any_kind_of_ground_truth(tmp_path, other):
    """Of the two samples the first finds what is relevant; neither has the other kind."""

    @metric("found", gold=("relevant", other), matcher="contains" if other in {"answer", "forbidden"} else None)
    def found(judged):
        """Count what was found."""
        return judged.found().astype(float)

    rows = [{"id": name, "expected_output": ["a"], "actual_output": [name]} for name in "ab"]
    file = tmp_path / "s.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    assert Engine().dataset(file).with_metrics([found]).run()["found"].mean == 0.5
