"""Parts of a run, each in a thread: which error is raised where several fail."""

from __future__ import annotations

import threading

import pytest

from rankgauge.judging import ScatteredError
from rankgauge.judging.threads import Task, in_order, work_on_parts
from tables import rows


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


@rows("threads", [1, 2, 5])
@rows("count", [0, 1, 7])
def test_results_come_in_the_order_of_their_tasks(threads, count):
    tasks = [Task(lambda number=number: number * number, may_wait=number == 3) for number in range(count)]
    assert list(in_order(tasks, threads)) == [number * number for number in range(count)]


def test_only_a_few_tasks_are_begun_ahead():
    """With two threads the third result is begun when the first is taken, so that results do not pile up."""
    begun = []

    def tasks():
        for number in range(9):
            begun.append(number)
            yield Task(lambda number=number: number)

    results = in_order(tasks(), 2)
    assert next(results) == 0
    assert begun == [0, 1, 2]
    results.close()
    assert begun == [0, 1, 2]


def test_two_tasks_are_under_way_at_once_and_one_that_may_wait_stays_in_its_thread():
    """Each of the two waits for the other to begin: one after the other they would never end."""
    met = threading.Barrier(2, timeout=30)

    def meet():
        met.wait()
        return threading.current_thread().name.partition("_")[0]

    here = threading.current_thread().name
    tasks = [Task(meet), Task(meet), Task(lambda: threading.current_thread().name, may_wait=True)]
    assert list(in_order(tasks, 2)) == ["rankgauge-run", "rankgauge-run", here]


def test_the_first_failure_in_order_is_raised():
    def fail(number):
        raise ValueError(number)

    tasks = [Task(lambda: "fine"), Task(lambda: fail(1)), Task(lambda: fail(2))]
    results = in_order(tasks, 2)
    assert next(results) == "fine"
    with pytest.raises(ValueError, match="1"):
        next(results)
