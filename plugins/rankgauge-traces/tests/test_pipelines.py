"""How retrievals of a trace become stages: branches, wrappers, joints, names, and what traces lack."""

import json
from pathlib import Path


def test_a_retriever_around_others_comes_from_them(search, write, samples_of, stages_of):
    spans = [
        search("fused", ["a", "b", "c"]),
        search("dense", ["a", "b"], parent="fused", start=1),
        search("sparse", ["c"], parent="fused", start=2),
    ]
    (sample,) = samples_of(write(*spans))
    assert stages_of(sample) == [
        ("dense", ["a", "b"], []),
        ("sparse", ["c"], []),
        ("fused", ["a", "b", "c"], ["dense", "sparse"]),
    ]
    # a span takes half a second, by `span`
    assert [stage["seconds"] for stage in sample["actual_output"]["stages"]] == [0.5, 0.5, 0.5]
    assert sample["input"] == "who?"
    spans = {name: name for name in ("dense", "sparse", "fused")}
    assert sample["metadata"] == {"trace_id": "t1", "span_id": "fused", "stage_spans": spans}


def test_the_order_is_that_of_time_and_not_of_lines(search, rerank, write, samples_of, stages_of):
    spans = [rerank("rerank", ["a", "b"], ["b"], start=5), search("dense", ["a", "b"], start=1)]
    (sample,) = samples_of(write(*spans))
    assert stages_of(sample) == [("dense", ["a", "b"], []), ("rerank", ["b"], ["dense"])]


def test_spans_between_retrievals_do_not_matter(span, search, write, samples_of, stages_of):
    spans = [
        search("outer", ["a"]),
        span("chain", {"openinference.span.kind": "CHAIN"}, parent="outer", start=1),
        search("inner", ["a", "b"], parent="chain", start=2),
    ]
    (sample,) = samples_of(write(*spans))
    assert stages_of(sample) == [("inner", ["a", "b"], []), ("outer", ["a"], ["inner"])]


def test_what_a_reranker_was_given_is_a_stage_if_no_stage_found_it(search, rerank, write, samples_of, stages_of):
    spans = [
        search("dense", ["a", "b"]),
        search("sparse", ["c"], start=1),
        rerank("rerank", ["a", "c", "b"], ["c", "a"], start=2),
    ]
    (sample,) = samples_of(write(*spans))
    assert stages_of(sample)[2:] == [
        ("rerank-input", ["a", "c", "b"], ["dense", "sparse"]),
        ("rerank", ["c", "a"], ["rerank-input"]),
    ]
    assert "seconds" not in sample["actual_output"]["stages"][2]


def test_all_traces_of_a_pipeline_have_the_same_stages(search, rerank, write, samples_of, stages_of):
    def spans(trace, dense, sparse, given):
        return [
            search("dense", dense, trace=trace),
            search("sparse", sparse, trace=trace, start=1),
            rerank("rerank", given, given[:1], trace=trace, start=2),
        ]

    # In the second trace what was joined is what dense found; the first one shows that it is joined.
    first, second = samples_of(write(*spans("t1", ["a"], ["b"], ["a", "b"]), *spans("t2", ["a"], [], ["a"])))
    assert [name for name, _, _ in stages_of(first)] == [name for name, _, _ in stages_of(second)]
    assert stages_of(second)[2] == ("rerank-input", ["a"], ["dense", "sparse"])


def test_a_reranker_of_one_branch_leaves_the_other_open(search, rerank, write, rankgauge):
    spans = [
        search("dense", ["a", "b"]),
        search("sparse", ["c"], start=1),
        rerank("rerank", ["a", "b"], ["b"], start=2),
    ]
    done = rankgauge("traces", "read", write(*spans), "-o", "out.jsonl")
    assert "stage rerank (from dense)" in done.out
    assert "nothing joins the branches of 1 trace; the last one counts as the result" in done.err


def test_a_wrapper_that_tells_nothing_is_no_stage(span, search, write, samples_of, stages_of):
    untold = {"openinference.span.kind": "RETRIEVER"}
    spans = [
        search("Fusion.retrieve", ["a", "b"]),
        span("Fusion._retrieve", untold, parent="Fusion.retrieve", start=1),
        search("BM25.retrieve", ["a"], parent="Fusion._retrieve", start=2),
        span("BM25._retrieve", untold, parent="BM25.retrieve", start=3),
    ]
    (sample,) = samples_of(write(*spans))
    assert stages_of(sample) == [("BM25", ["a"], []), ("Fusion", ["a", "b"], ["BM25"])]


def test_a_branch_that_tells_nothing_found_nothing(span, search, write, rankgauge, stages_of):
    spans = [
        search("fused", ["a"]),
        search("dense", ["a"], parent="fused", start=1),
        span("sparse", {"openinference.span.kind": "RETRIEVER"}, parent="fused", start=2),
    ]
    done = rankgauge("traces", "read", write(*spans), "-o", "out.jsonl")
    (line,) = Path("out.jsonl").read_text(encoding="utf-8").splitlines()
    assert stages_of(json.loads(line))[1] == ("sparse", [], [])
    assert "no results are logged by 1 retrieval, counted as empty" in done.err


def test_stages_of_one_name_are_numbered_and_can_be_called_otherwise(search, write, samples_of, stages_of):
    spans = [search("BM25.run", ["a"]), search("BM25.run", ["b"], id="2", start=1), search("other", ["c"], start=2)]
    file = write(*spans)
    assert [name for name, _, _ in stages_of(*samples_of(file))] == ["BM25", "BM25-2", "other"]
    names = ["--name", "BM25=words", "--name", "other=last"]
    assert [name for name, _, _ in stages_of(*samples_of(file, *names))] == ["words", "words-2", "last"]


def test_a_name_for_a_span_that_there_is_not_is_told(search, write, rankgauge):
    file = write(search("dense", ["a"]))
    done = rankgauge("traces", "read", file, "-o", "out.jsonl", "--name", "dens=words", "--name", "dense=vectors")
    assert done.code == 0
    assert "--name dens=words: no span that retrieves is called 'dens'; the stages are vectors" in done.err
    assert "--name dense=vectors" not in done.err


def test_the_root_says_question_and_answer(span, search, write, samples_of):
    spans = [
        span("ask", {"input.value": '{"messages": 1, "question": "Who was it?"}', "output.value": "It was me."}),
        search("dense", ["a"], parent="ask", query="rewritten", start=1),
    ]
    (sample,) = samples_of(write(*spans))
    assert sample["input"] == "Who was it?"
    assert sample["actual_output"]["answer"] == "It was me."


def test_each_span_of_a_root_is_a_sample(span, search, write, samples_of, stages_of):
    spans = [span("experiment", {})]
    for number in (1, 2):
        spans.append(span("ask", {"input.value": f"question {number}"}, id=f"ask{number}", parent="experiment"))
        spans.append(search("dense", [f"d{number}"], id=f"s{number}", parent=f"ask{number}", start=number))
    spans.append(search("warm-up", ["zz"], parent="experiment"))
    samples = samples_of(write(*spans), "--root", "ask")
    assert [sample["id"] for sample in samples] == ["t1-ask1", "t1-ask2"]
    assert [sample["input"] for sample in samples] == ["question 1", "question 2"]
    assert [stages_of(sample) for sample in samples] == [[("dense", ["d1"], [])], [("dense", ["d2"], [])]]


def test_ids_texts_and_scores_that_are_missing_are_counted(span, write, rankgauge):
    documents = {
        "retrieval.documents.0.document.id": "a",
        "retrieval.documents.0.document.score": 0.5,
        "retrieval.documents.1.document.content": "b's text",
        "retrieval.documents.1.document.metadata": '{"path": "b.md"}',
        "retrieval.documents.2.document.score": 0.1,
    }
    file = write(span("dense", {"openinference.span.kind": "RETRIEVER", **documents}))
    done = rankgauge("traces", "read", file, "-o", "out.jsonl")
    # of three results, the second and third have no id, the first and third no text, the second no score
    assert "no id in 2 of 3 results (dense): they can be judged by text" in done.err
    assert "--id-key (there is 'path')" in done.err
    assert "no text in 2 of 3 results" in done.err
    assert "no score in 1 of 3 results" in done.err
    assert "neither id nor text in 1 of 3 results (dense): their stages fail" in done.err
    assert "no question in 1 trace" in done.err


def test_ids_can_be_a_key_of_the_metadata(span, write, samples_of, stages_of):
    documents = {
        "retrieval.documents.0.document.id": "a7f3",
        "retrieval.documents.0.document.metadata": '{"path": "b.md"}',
    }
    file = write(span("dense", {"openinference.span.kind": "RETRIEVER", **documents}))
    assert stages_of(*samples_of(file)) == [("dense", ["a7f3"], [])]
    assert stages_of(*samples_of(file, "--id-key", "path")) == [("dense", ["b.md"], [])]


def test_documents_are_ordered_by_their_numbers_and_one_stands_for_any_that_are_missing(
    span, write, samples_of, stages_of
):
    documents = {f"retrieval.documents.{at}.document.id": f"d{at}" for at in (10, 2, 0, 10**15)}
    odd = {"retrieval.documents.x.document.id": "x", f"retrieval.documents.{'9' * 50}.document.id": "y"}
    file = write(span("dense", {"openinference.span.kind": "RETRIEVER", **documents, **odd}))
    assert stages_of(*samples_of(file)) == [("dense", ["d0", None, "d2", None, "d10", None, f"d{10**15}"], [])]


def test_json_has_counts_stages_and_what_is_lacking(span, search, rerank, write, rankgauge):
    spans = [search("dense", ["a"]), search("sparse", ["b"], start=1), rerank("last", ["b", "a"], ["b"], start=2)]
    file = write(*spans, span("other", {}, trace="t2"))
    done = rankgauge("traces", "read", file, "-o", "out.jsonl", "--json")
    told = done.json
    assert [told[key] for key in ("samples", "spans", "traces", "without", "ground_truth")] == [1, 4, 2, 1, None]
    assert told["stages"][2:] == [
        {"name": "last-input", "from": ["dense", "sparse"], "traces": 1},
        {"name": "last", "from": ["last-input"], "traces": 1},
    ]
    assert [sentence[:7] for sentence in told["lacks"]] == ["no text", "no scor"]
