"""A name loads its own family only: the table of names is held to the declarations, loading is seen in a process."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

import rankgauge.metrics
from rankgauge.catalog import Catalog
from rankgauge.catalog.claims import plain_template
from rankgauge.expression import parse
from rankgauge.metrics import FAMILIES
from rankgauge.plugin.signature import declared_in
from tables import rows

FOLDER = Path(rankgauge.metrics.__file__).parent


def names_in(family):
    """Return the names that a module declares, as the table writes them."""
    declared = [function.__rankgauge__ for function in declared_in(import_module(f"rankgauge.metrics.{family}"))]
    return list(dict.fromkeys(plain_template(name).casefold() for metric in declared for name in metric.names))


@rows("family", sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"))
def test_the_table_has_the_names_that_a_module_declares(family):
    assert FAMILIES.get(family, "").split() == names_in(family)


def test_no_two_families_have_a_name_in_common():
    names = [name for names in FAMILIES.values() for name in names.split()]
    assert len(names) == len(set(names))


def families_after(*expressions):
    script = (
        "import json, sys\nfrom rankgauge.catalog import Catalog\nfrom rankgauge.expression import parse\n"
        f"catalog = Catalog.discover()\nfor each in {expressions!r}: catalog.read(parse(each))\n"
        "print(json.dumps([name.rpartition('.')[2] for name in sys.modules if name.startswith('rankgauge.metrics.')]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout)) & FAMILIES.keys()


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    ("expressions", "families"),
    [
        (["P@5"], {"precision"}),
        (["recall_100", "Recall@5", "retrieval-recall-at-10"], {"recall"}),
        (["iprec_at_recall_0.10"], {"precision"}),
        (["AP", "recip_rank"], {"average_precision", "reciprocal_rank"}),
    ],
)
def test_a_name_loads_its_family_and_no_other(expressions, families):
    assert families_after(*expressions) == families


def test_a_metric_is_the_same_whether_its_family_was_loaded_alone_or_with_all_others():
    alone, whole = Catalog.discover(own_only=True), Catalog.discover(own_only=True)
    assert whole.metrics
    for name in ("ndcg@10", "P_5", "retrieval-map"):
        assert alone.read(parse(name)) == whole.read(parse(name))


def test_a_name_is_found_after_all_others_were_asked_for():
    catalog = Catalog.discover(own_only=True)
    before = catalog.read(parse("RR"))
    own = [plugin.name for plugin in catalog.plugins if plugin.distribution == "rankgauge"]
    assert own == ["matchers", "metrics", "readers", "reporters", "tests"]
    assert catalog.faults == ()
    assert catalog.read(parse("RR")) == before
    assert catalog.read(parse("RR")).claim.declaration is before.claim.declaration


def test_names_may_be_asked_for_in_several_threads_at_once():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            for _ in range(5):
                catalog = Catalog.discover(own_only=True)
                names = [names.split()[0] for names in FAMILIES.values()]
                assert [claim.declaration.alias for claim in pool.map(partial(_claim, catalog), names)] == names
    finally:
        sys.setswitchinterval(before)


def _claim(catalog, name):
    return catalog.read(parse(name)).claim
