"""Parts of a run, each in a thread: which error is raised where several fail."""

from __future__ import annotations

import threading

import pytest

from rankgauge.judging import ScatteredError
from rankgauge.judging.parts import work_on_parts


@pytest.mark.parametrize(
    ("first", "later", "told"),
    [
        (ScatteredError(), ValueError("line 7"), ValueError),
        (ValueError("line 7"), ScatteredError(), ValueError),
        (ScatteredError(), ScatteredError(), ScatteredError),
        (ValueError("line 7"), KeyError("later"), ValueError),
    ],
)
def test_scattered_queries_are_told_only_where_nothing_else_went_wrong(first, later, told):
    """The caller of a scattered run reads it again; any other error would come again, too, and is what to tell."""
    both_work = threading.Event()

    def begin(number):
        def take(_batch):
            if number == 1:
                both_work.wait()
                raise first
            both_work.set()
            for thread in threading.enumerate():
                if thread.name == "rankgauge-part":
                    thread.join()  # its error stands first
            raise later

        return take

    with pytest.raises(told):
        work_on_parts([iter([None]), iter([None])], begin)
