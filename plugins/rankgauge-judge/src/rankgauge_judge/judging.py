"""
Judging documents: a grade for each by a model, with votes.
"""

from __future__ import annotations

from dataclasses import dataclass

from rankgauge_judge.answers import Answer, read_grade
from rankgauge_judge.asking import Count, Model
from rankgauge_judge.endpoint import CallFailedError
from rankgauge_judge.rubric import Rubric

__all__ = ["Judge", "Judged", "Task"]


@dataclass(frozen=True, slots=True)
class Task:
    """A document to judge: its place in the queue, and the texts."""

    place: int
    query: str
    document: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What became of a document: a grade with its votes and the reason of the first, or why there is none."""

    place: int
    grade: float | None = None
    votes: tuple[float, ...] = ()
    answers: tuple[Answer, ...] = ()
    reason: str = ""
    failure: str = ""
    is_unreachable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """
    A model as a judge.

    Attributes:
        model: Who is asked.

        rubric: What it is to go by.

        votes: How many answers make a grade: their median, the lower one of two.
    """

    model: Model
    rubric: Rubric
    votes: int = 1

    def judge(self, task: Task, count: Count) -> Judged:
        """Return the grade of a document; *count* is called with where each vote came from."""
        messages, schema = self.rubric.messages(task.query, task.document), self.rubric.schema_of_answers
        given: list[tuple[tuple[float, str], Answer]] = []
        failure = ""
        for vote in range(self.votes):
            try:
                given.append(
                    self.model.ask(
                        messages,
                        schema,
                        lambda text: read_grade(text, self.rubric.grades),
                        count,
                        vote=vote,
                        as_before="with the grade that you would have given",
                    )
                )
            except CallFailedError as error:
                return Judged(place=task.place, failure=str(error), is_unreachable=error.is_unreachable)
            except ValueError as error:
                failure = str(error)
        if 2 * len(given) <= self.votes:
            return Judged(place=task.place, failure=f"the answer cannot be used: {failure}")
        votes = tuple(grade for (grade, _), _ in given)
        return Judged(
            place=task.place,
            grade=sorted(votes)[(len(votes) - 1) // 2],
            votes=votes,
            answers=tuple(answer for _, answer in given),
            reason=given[0][0][1],
        )
