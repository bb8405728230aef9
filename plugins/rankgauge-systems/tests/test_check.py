"""`systems check`: what it says of the answers of an engine, and of real engines as they are."""

import json
from dataclasses import replace

import pytest

from draws import in_thorough_suite
from engines_page import CONFIGS, PAGE, asked, row
from rankgauge_systems.check_documents import SCRIPTS, TWINS, documents, embed, exact, questions
from rankgauge_systems.check_facts import Observations, facts_of
from rankgauge_systems.check_observations import DEPTHS, Observed
from rankgauge_systems.check_own import own_facts
from sea_documents import EVERY, needs


def observed(**changes):
    """Return the answers of an exact search by vectors, with some changed."""
    whole = [exact(question, by_vectors=True) for question in questions()]
    found = Observed(
        version="an engine",
        zeros=1,
        rankings={depth: [names[:depth] for names in whole] for depth in DEPTHS},
        scores=[[0.9, 0.5, 0.5, -0.2]] * len(whole),
        again=[names[: DEPTHS[0]] for names in whole],
        twins=(TWINS, TWINS[:3]),
        nothing=-1,
        scripts={},
    )
    return replace(found, **changes)


def facts(first=None, reopened=None, elsewhere=None, loaded_again=None, **options):
    four = (each or observed() for each in (first, reopened, elsewhere, loaded_again))
    return {fact.name: fact for fact in facts_of(Observations(*four), by_vectors=True, **options)}


def with_lists(depth, lists):
    return observed(rankings={**observed().rankings, depth: lists})


class TestFacts:
    def test_an_exact_search_spoils_nothing(self):
        found = facts()
        assert not [fact for fact in found.values() if fact.spoils]
        assert found["scores"].told == "fall; from 0.9 to -0.2"
        assert found["recall of exact search"].told == "1.000 at 10, 1.000 at 100, 1.000 at 1100"
        assert found["equal scores"].told == "as loaded"

    @pytest.mark.parametrize(
        ("scores", "told"),
        [
            ([0.2, 0.3], "rise along rankings 20 times"),
            ([None, 0.3], "20 scores missing, or no finite number"),
        ],
    )
    def test_scores_that_rise_or_are_none(self, scores, told):
        fact = facts(observed(scores=[scores] * 20))["scores"]
        assert (fact.told, fact.spoils) == (told, True)

    def test_too_few_results(self):
        names = observed().rankings[DEPTHS[-1]]
        fact = facts(with_lists(DEPTHS[-1], [each[:252] for each in names]))["k above the corpus"]
        assert (fact.told, fact.spoils) == ("as few as 25% of what there is", True)  # 252 of 1,008

    def test_another_ranking_spoils_wherever_it_comes_from(self):
        """One of 20 lists has its first two exchanged, so that all share all of their documents."""
        turned = [list(names) for names in observed().again]
        turned[3][:2] = turned[3][1::-1]
        told = "other rankings for 1 of 20 questions; the lists share 100%"
        asked = {
            "asked again": facts(observed(again=turned)),
            "reopened": facts(reopened=with_lists(10, turned)),
            "another process": facts(elsewhere=with_lists(10, turned)),
        }
        for name, found in asked.items():
            assert (found[name].told, found[name].spoils) == (told, True)
            assert sum(fact.spoils for fact in found.values()) == 1
        again = facts(loaded_again=with_lists(10, turned))["loaded again"]
        assert (again.told, again.spoils) == (told, False)  # an approximate index is another one each time

    def test_recall_is_a_range_over_two_indexes(self):
        """Of the first ten, six and five are found."""
        names = observed().rankings[10]
        six, five = ([[*each[:n], *map(str, range(10 - n))] for each in names] for n in (6, 5))
        found = facts(with_lists(10, six), loaded_again=with_lists(10, five), least_recall=0.65)
        fact = found["recall of exact search"]
        assert fact.told.startswith("0.500 to 0.600 at 10, 1.000 at 100")
        assert fact.spoils
        assert not facts(with_lists(10, six), least_recall=0.6)["recall of exact search"].spoils

    def test_first_results_that_depend_on_k_spoil_an_exact_search(self):
        turned = [each[::-1] for each in observed().rankings[100]]
        fact = facts(with_lists(100, turned))["first results"]
        assert (fact.told, fact.spoils) == ("depend on k for 20 of 20 questions", True)

    @pytest.mark.parametrize(
        ("twins", "told"),
        [
            ((tuple(sorted(TWINS)), tuple(sorted(TWINS))[:3]), "by id"),
            ((TWINS[::-1], TWINS[:-4:-1]), "last loaded first"),
            ((TWINS, TWINS[-3:]), "as loaded; a shorter list has others of them"),
            ((("d1", *TWINS[:7]), TWINS[:3]), "only 7 of 8 equal documents come first"),
        ],
    )
    def test_ties(self, twins, told):
        every = observed(twins=twins)
        assert facts(every, every, every, every)["equal scores"].told == told

    def test_ties_that_differ_from_process_to_process(self):
        other = observed(twins=(TWINS[::-1], TWINS[:-4:-1]))
        told = "in another order each time; which of them a shorter list has differs, too"
        assert facts(elsewhere=other)["equal scores"].told == told

    def test_scripts_that_are_not_found_are_named(self):
        every = {name: name not in {"Thai", "C++"} for name in SCRIPTS}
        fact = facts(observed(scripts=every))["11 scripts"]
        assert fact.told == "a word does not find its text in Thai, C++"


class TestOwnFusion:
    """Two surprises of engines: where these are gone, the fact says the other thing, and the page is out of date."""

    def test_of_lancedb(self, tmp_path):
        """By hand: d6 is 7th by vectors and first by words, so it leads as soon as both lists have it."""
        needs("lancedb")
        (fact,) = own_facts("lancedb", tmp_path)
        assert (fact.name, fact.spoils) == ("hybrid search", False)
        assert fact.told.endswith("cut before they are fused: d0 with limit 1, d6 with limit 10")

    def test_of_qdrant(self, tmp_path):
        """By the definition, 3 / (k + 1) for the first of the heavy list is more than any sum with weight 1 there."""
        needs("qdrant")
        (fact,) = own_facts("qdrant", tmp_path)
        assert (fact.told, fact.spoils) == ("a list of three times the weight decides less", False)

    def test_of_others(self, tmp_path):
        assert list(own_facts("sqlite", tmp_path)) == []


class TestDocuments:
    def test_they_are_the_same_each_time_and_no_two_have_one_vector_but_twins(self):
        rows = documents(by_vectors=True)
        assert rows == documents(by_vectors=True)
        vectors = [tuple(vector) for vector in embed([row.text for row in rows])]
        assert len(rows) == 1009
        assert len(set(vectors)) == 1002
        assert len({row.id for row in documents(by_vectors=False)}) == 1008 + len(SCRIPTS)

    def test_questions_have_answers(self):
        assert min(len(exact(question, by_vectors=False)) for question in questions()) > 20


from_here = (lambda test: test) if EVERY else in_thorough_suite()  # an engine is loaded twice, in two processes


class TestCommand:
    @from_here
    def test_an_engine_that_spoils_nothing(self, config, rankgauge, folder):
        done = rankgauge("systems", "check", config(system={"kind": "sqlite", "path": "mine.db"}), "--json")
        assert done.code == 0, done.err
        assert done.json["version"].startswith("SQLite ")
        told = {fact["fact"]: fact["told"] for fact in done.json["facts"]}
        same = ("asked again", "reopened", "another process", "loaded again")
        assert {told[name] for name in same} == {"the same rankings"}
        assert told["first results"] == "do not depend on k"
        assert told["k above the corpus"] == "all documents with one of the words"
        assert not list(folder.glob("mine*"))

    @from_here
    def test_an_index_that_finds_too_little_exits_with_1(self, config, rankgauge):
        needs("lancedb")
        system = {"kind": "lancedb", "path": "mine", "embed": "letters.py:embed", "index_kind": "ivf_pq"}
        done = rankgauge("systems", "check", config(system=system))
        assert done.code == 1
        assert "spoils  recall of exact search" in done.out
        assert "a comparison over this engine would be spoiled by: " in done.out

    @pytest.mark.parametrize(
        ("system", "told"),
        [
            ({"kind": "http", "url": "http://localhost"}, "of the kind 'http' cannot be loaded with documents"),
            ({"kind": "sqlite"}, "system.path: Field required"),
            (None, "has no system under test"),
        ],
    )
    def test_what_is_no_engine(self, config, rankgauge, folder, system, told):
        path = config(system=system)
        if system is None:
            path.write_text(json.dumps({"version": 1}), encoding="utf-8")
        done = rankgauge("systems", "check", path)
        assert done.code == 2
        assert told in done.err


@pytest.mark.skipif(not EVERY, reason="`make test-systems` has every engine")
@pytest.mark.parametrize("name", [name for name in CONFIGS if not name.startswith("postgres")])
def test_the_page_says_what_engines_do(name):
    """An approximate index is another one each time; of it only what holds for all is compared. Versions may differ."""
    lines = (line.strip("| ").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines())
    written = next(cells for cells in lines if cells[0] == name)
    found = row(name, asked(name, url=""))
    assert found[4] == written[4]
    if " to " not in written[-1]:
        assert (found[2], *found[5:]) == (written[2], *written[5:])
