"""
The plugin: its commands with their options. What they need is imported when they run, so that listings stay fast.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from rankgauge.arguments import add_json, finite, inner_share, path, whole_number
from rankgauge.plugin import Console, command

__all__ = ["judge_agree", "judge_nuggets", "judge_page", "judge_questions", "judge_run"]

RANKGAUGE_API = (1, 0)


def _run_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("queue", metavar="QUEUE", type=path, help="A queue with texts, as `judge queue` writes it.")
    add("-o", "--output", required=True, type=path, metavar="FILE", help="The queue with grades, for `judge read`.")
    add("--partial", action="store_true", help="Write FILE with the grades that there are, even if some are missing.")
    add_json(parser)

    add = _add_model(parser)
    rubric = "What the judge goes by: graded (0 to 3), binary, or a YAML file. [default: %(default)s]"
    add("--rubric", default="graded", metavar="RUBRIC", help=rubric)
    votes = "Answers for each document; their median is the grade. [default: %(default)s]"
    add("--votes", type=whole_number(1), default=1, metavar="K", help=votes)
    longest = "Characters of a document that are shown; the rest is cut off. [default: %(default)s]"
    add("--max-chars", type=whole_number(1), default=20_000, metavar="N", help=longest)
    lock = "Pins model, rubric and these options: written the first time, held to after that."
    add("--lock", type=path, metavar="FILE", help=lock)
    _add_calls(parser)


def _nuggets_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("samples", metavar="SAMPLES", type=path, help="Samples as JSON lines, with nuggets or passages, and answers.")
    add("-o", "--output", required=True, type=path, metavar="FILE", help="The same with what the model said.")
    add("--draft", action="store_true", help="Draft the nuggets of samples without any, from their passages.")
    kept = "Nuggets of a draft that are kept, vital ones first. [default: %(default)s]"
    add("--max-nuggets", type=whole_number(1), default=20, metavar="N", help=kept)
    add("--partial", action="store_true", help="Write FILE with what there is, even if some samples lack it.")
    add_json(parser)
    _add_model(parser)
    _add_calls(parser)


def _questions_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("corpus", metavar="CORPUS", type=path, help="The documents: a file of rows with id and text, or a folder.")
    add("-o", "--output", required=True, type=path, metavar="FILE", help="The questions with gold, samples for `run`.")
    most = "Documents to draw, each with a question at most. [default: %(default)s]"
    add("--questions", type=whole_number(1), default=50, metavar="N", help=most)
    longest = "Characters of a document that are shown; longer ones show a part. [default: %(default)s]"
    add("--max-chars", type=whole_number(100), default=6_000, metavar="N", help=longest)
    add("--partial", action="store_true", help="Write FILE with the questions that there are, even if some failed.")
    add_json(parser)
    _add_model(parser, "Draws documents, and is sent where the endpoint takes one. [default: %(default)s]")
    _add_calls(parser)


def _add_model(
    parser: argparse.ArgumentParser,
    seed: str = "Sent with the first vote, where the endpoint takes one. [default: %(default)s]",
) -> Callable[..., argparse.Action]:
    """Add the options that say who is asked; return what adds more of them."""
    add = parser.add_argument_group("the judge").add_argument
    add("--model", required=True, metavar="NAME", help="The model, as the endpoint calls it.")
    url = "An OpenAI-compatible endpoint, such as http://localhost:8000/v1."
    add("--base-url", metavar="URL", help=url)
    key = "The environment variable that has the key. [default: %(default)s]"
    add("--key-env", default="RANKGAUGE_JUDGE_KEY", metavar="VARIABLE", help=key)
    add("--temperature", type=finite, default=0.0, metavar="T", help="Sent with each request. [default: %(default)s]")
    add("--seed", type=int, default=0, metavar="N", help=seed)
    return add


def _add_calls(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how often is asked, and what that may cost."""
    add = parser.add_argument_group("calls and cost").add_argument
    add("--concurrency", type=whole_number(1), default=4, metavar="N", help="Calls at a time. [default: %(default)s]")
    add("--timeout", type=float, default=60.0, metavar="SECONDS", help="For each call. [default: %(default)s]")
    add("--max-calls", type=whole_number(1), metavar="N", help="Make no more calls than this, tries included.")
    add("--max-cost", type=float, metavar="COST", help="Make no call that could cost more in all; needs --prices.")
    prices = "What a million tokens of prompts and of answers cost, such as 0.15,0.6."
    add("--prices", metavar="IN,OUT", help=prices)
    kept = "Where answers are kept, and looked up before anything is asked. [default: in the user's cache folder]"
    add("--answers", type=path, metavar="FILE", help=kept)
    add("--offline", action="store_true", help="Use kept answers only, and call nothing.")


@command(options=_run_options, usage="[OPTIONS] --model NAME -o FILE QUEUE")
def judge_run(given: argparse.Namespace, console: Console) -> int:
    """
    Have a model fill in a queue.

    Asks the model for a grade of every document without one, and writes FILE, which `judge read --with-models` adds to
    judgments. Answers are kept as they arrive: after an interrupt, a spent budget or an error, the same command goes on
    where it ended. Without --partial, FILE is written only if every document has a grade.

    Exit codes: 0 done, 2 usage, or a queue or endpoint that cannot be used, 3 some documents have no grade.
    """
    from rankgauge_judge.run_command import run  # noqa: PLC0415  # see above

    return run(given, console)


def _agree_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("files", metavar="FILE", nargs="+", type=path, help="Filled queues (each judge in them counts), or qrels.")
    add("--run", dest="runs", action="append", metavar="RUN", help="A run, for ranks and for the order of systems.")
    scale = parser.add_mutually_exclusive_group()
    grades = "The grades that could be given, such as 0-3 or 0,1,2. [default: those of the queues]"
    scale.add_argument("--grades", metavar="GRADES", help=grades)
    rubric = "The rubric whose grades these are: graded (0 to 3), binary, or a YAML file."
    scale.add_argument("--rubric", metavar="RUBRIC", help=rubric)
    metric = "What systems are ordered by, if there are several runs. [default: %(default)s]"
    add("-m", "--metric", default="ndcg@10", metavar="METRIC", help=metric)
    system = "The model behind the system that is evaluated: one that judges itself is named first."
    add("--system-model", action="append", metavar="NAME", help=system)
    shown = "How many disagreements to list. [default: %(default)s]"
    add("--worst", type=whole_number(0), default=10, metavar="N", help=shown)
    confidence = "The confidence of intervals. [default: %(default)s]"
    add("--confidence", type=inner_share, default=0.95, metavar="SHARE", help=confidence)
    add("--seed", type=whole_number(0), default=0, metavar="N", help="Of the bootstrap. [default: %(default)s]")
    add_json(parser)


@command(options=_agree_options, usage="[OPTIONS] FILE FILE [FILE ...]")
def judge_agree(given: argparse.Namespace, console: Console) -> int:
    """
    Say how far judges agree.

    Of each two judges, people or models, over the documents that both judged: weighted kappa, Gwet's AC2 and
    Krippendorff's alpha, with bootstrap intervals over questions; the confusion matrix; agreement by grade, by length
    where queues have texts, and by rank with --run; and the documents on which they differ most. With two runs or more
    also whether both put the systems in the same order, which matters more than any single grade.

    AC2 depends on the grades that could be given, also those that were not given: those of the queue, or of --grades or
    --rubric. Of qrels alone they are not known, and the report says so.

    Exit codes: 0 done, 2 usage, or judgments that cannot be read or have no document in common.
    """
    from rankgauge_judge.agree_command import agree  # noqa: PLC0415  # see above

    return agree(given, console)


def _page_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("queue", metavar="QUEUE", type=path, help="A queue with texts, as `judge queue` writes it.")
    add("-o", "--output", required=True, type=path, metavar="FILE", help="The page, HTML.")
    rubric = "What the grades mean: graded (0 to 3), binary, or a YAML file. [default: by the queue's grades]"
    add("--rubric", metavar="RUBRIC", help=rubric)
    judges = "Share the questions among so many judges, each with a page: FILE-1, ... [default: %(default)s]"
    add("--judges", type=whole_number(1), default=1, metavar="N", help=judges)
    overlap = "Which share of the questions all of them judge, so that `judge agree` can compare them. [default: 0]"
    add("--overlap", type=_part, default=0.0, metavar="SHARE", help=overlap)
    add("--seed", type=int, default=0, metavar="N", help="Shuffles questions and documents. [default: %(default)s]")
    add_json(parser)


def _part(written: str) -> float:
    """Return a share from 0 to 1."""
    value = finite(written)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"a share lies between 0 and 1, not at {written}")
    return value


@command(options=_page_options, usage="[OPTIONS] -o FILE QUEUE")
def judge_page(given: argparse.Namespace, console: Console) -> int:
    """
    Make a page for people who judge a queue.

    The page is one file that works without a network and sends nothing. It shows neither runs, nor ranks, nor what
    others said, and questions and documents in random order; it is used by keyboard, mouse or touch, keeps what was
    judged in the browser, and exports it as FILE of `judge agree` and `judge read`.

    Exit codes: 0 done, 2 usage, or a queue that cannot be used.
    """
    from rankgauge_judge.page_command import page  # noqa: PLC0415  # see above

    return page(given, console)


@command(options=_nuggets_options, usage="[OPTIONS] --model NAME -o FILE SAMPLES")
def judge_nuggets(given: argparse.Namespace, console: Console) -> int:
    """
    Have a model say which nuggets answers support.

    Asks the model about every answer that was not compared with the nuggets of its sample, and writes FILE, which `run`
    scores with `vital_nuggets` and its like. With --draft it first writes the nuggets of samples that have passages and
    no nuggets, and marks these samples. Answers are kept as they arrive, as for `judge run`.

    Exit codes: 0 done, 2 usage, or samples or an endpoint that cannot be used, 3 some samples failed.
    """
    from rankgauge_judge.nuggets_command import judge_samples  # noqa: PLC0415  # see above

    return judge_samples(given, console)


@command(options=_questions_options, usage="[OPTIONS] --model NAME -o FILE CORPUS")
def judge_questions(given: argparse.Namespace, console: Console) -> int:
    """
    Have a model draft questions from documents.

    Draws documents of a corpus, asks the model for a question that each answers, and writes them as samples with gold:
    the document, the sentence that proves the answer, and the answer. What is not in the document word for word
    is sent back once. Questions that are in the corpus or are asked twice are left out, as `gold check` finds them.
    All get the tag "question drafted by a model". Answers are kept as they arrive, as for `judge run`.

    Exit codes: 0 done, 2 usage, or a corpus or endpoint that cannot be used, 3 some documents failed, or no question.
    """
    from rankgauge_judge.questions_command import draft_questions  # noqa: PLC0415  # see above

    return draft_questions(given, console)
