import copy
import pickle
import re

import pytest

from rankgauge.base.late_pattern import late_pattern


def test_a_late_pattern_does_what_a_compiled_one_does():
    late, early = late_pattern("(a+)(?P<x>B)?", re.IGNORECASE), re.compile("(a+)(?P<x>B)?", re.IGNORECASE)
    for text in ("xAAb", "", "aab ab"):
        assert [match.groups() for match in late.finditer(text)] == [match.groups() for match in early.finditer(text)]
        assert (late.sub("-", text), late.split(text)) == (early.sub("-", text), early.split(text))
    assert late.groupindex == early.groupindex


def test_nothing_is_compiled_before_it_is_used():
    late = late_pattern("(")
    with pytest.raises(re.error):
        late.search("x")


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda late: pickle.loads(pickle.dumps(late))])  # noqa: S301
def test_a_late_pattern_is_copied(again):
    assert again(late_pattern("b+")).search("abba").span() == (1, 3)
