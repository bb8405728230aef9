"""
What can be typed for the commands that make, read and check judgments: judge and gold.
"""

from __future__ import annotations

from rankgauge.arguments import finite, share
from rankgauge.cli.shared_options import (
    AS_JSON,
    COLUMNS,
    FIELDS,
    LETTERS,
    OF_RUNS,
    READER,
    RUN_READER,
    Command,
    Options,
    count,
    file,
    flag,
    policy,
    value,
)

_HERE = "rankgauge.features.labels"
_ABOUT_QUEUE = """\
Without --qrels it queues whole questions: every document in the first results of any run, for judgments from scratch.
With --qrels it queues the documents that can change the comparison most.

Writes FILE for a judge, and FILE.key.jsonl with runs, ranks and priorities, which the judge should not see. With
--qrels about one document in ten was judged before, to measure agreement.

Exit codes: 0 done, 2 usage or unreadable input, 4 nothing to judge.
"""
QUEUE_LIMIT = 200
_METRIC = "The metric to compare by; its cutoff is the depth."
_GRADES = "Grades that a judge may give, such as 0,1,2 or 0-3."
_QUEUE_OPTIONS: Options = (
    value("runs", "RUN", "The runs; two are compared.", nargs="+"),
    value("--qrels", "QRELS", "The judgments.", says="none, nothing is judged yet"),
    file("-o --output", "The queue, JSON lines.", required=True),
    value("-m --metric", "METRIC", _METRIC, default="ndcg@10"),
    value("--limit", "N", "With --qrels: most documents in the queue.", says=str(QUEUE_LIMIT), type=int),
    value("--questions", "N", "Without --qrels: how many questions, drawn at random.", says="all", type=int),
    value("--depth", "N", "Results of each query to look at.", says="the metric's cutoff, else 100", type=int),
    file("--texts", "The documents' texts, by id."),
    file("--queries", "The queries' texts, by id."),
    value("--guideline", "TEXT", "What to tell the judge.", default="", says=""),
    value("--grades", "GRADES", _GRADES, says="0 and those of the judgments; 0,1 without"),
    value("--seed", "N", "Chooses the questions, or the documents that were judged before.", type=int, default=0),
    *policy(OF_RUNS),
    COLUMNS,
    LETTERS,
    RUN_READER,
    AS_JSON,
)
JUDGE_QUEUE = Command(
    "[OPTIONS] -o FILE RUN [RUN ...]",
    _ABOUT_QUEUE,
    _QUEUE_OPTIONS,
    f"{_HERE}.judge_command:execute_queue",
)

_ABOUT_READ = """\
Writes new qrels, and FILE.provenance.jsonl, which says who judged what. Documents that were judged before keep their
grade, and show how well the judges agree.

Exit codes: 0 done, 2 usage, or a queue that cannot be used.
"""
_READ_OPTIONS: Options = (
    file("queue", "A queue that was filled in.", "QUEUE"),
    value("--qrels", "QRELS", "The judgments that the queue was made for, if any."),
    file("-o --output", "The new judgments, TREC qrels.", required=True),
    value("--judge", "NAME", "Who judged the lines that name no judge; model:NAME for a model.", default="", says=""),
    flag("--with-models", "Take grades given by models."),
    value("--rel", "GRADE", "Lowest grade of a relevant document.", type=finite, default=1.0),
    COLUMNS,
    LETTERS,
    AS_JSON,
)
JUDGE_READ = Command("[OPTIONS] -o FILE QUEUE", _ABOUT_READ, _READ_OPTIONS, f"{_HERE}.judge_command:execute_read")

_LABELS: Options = (
    file("data", "The samples, or a config that has them.", "DATA", nargs="?"),
    value("--dataset", "NAME", "The dataset of a config that has several."),
    value("--qrels", "QRELS", "Judgments in place of samples: TREC qrels, JSON, a table."),
    file("--queries", "The texts of the queries of --qrels, by id."),
    COLUMNS,
    LETTERS,
    file("--corpus", "The documents: a file, or a folder of texts.", required=True),
    file("--before", "The documents on which the labels were made: finds by text what became of ids."),
    *FIELDS,
    READER,
    AS_JSON,
)

_USAGE_CHECK = "[OPTIONS] DATA --corpus FILE\n[OPTIONS] --qrels QRELS --corpus FILE"
_ABOUT_CHECK = """\
Looks up each gold id, text and span of DATA, samples or a config, in a corpus: a file of documents (JSONL, Parquet,
TSV, JSON, YAML) with an id and a text, or a folder of text files. With --qrels, ids of judgments are looked up. A label
is valid, moved, edited, split over documents, ambiguous or gone. Also reported: near-duplicates of relevant documents
that have no label, questions that are in the corpus, answers that are in no gold text, the same question with other
gold, and gold of another document's title.

Exit codes: 0 done, 1 something was found (with --strict), 2 usage or unreadable input, 4 nothing to check.
"""
_CHECK_OPTIONS: Options = (
    *_LABELS,
    flag("--strict", "Exit with 1 if anything was found."),
    count("--limit", "Findings to print; 0 for all.", 0, default=20),
)
GOLD_CHECK = Command(_USAGE_CHECK, _ABOUT_CHECK, _CHECK_OPTIONS, f"{_HERE}.gold_command:execute_check")

_USAGE_REPAIR = "[OPTIONS] DATA --corpus FILE -o FILE\n[OPTIONS] --qrels QRELS --corpus FILE -o FILE"
_ABOUT_REPAIR = """\
Writes the samples of DATA as JSON lines, or the judgments of --qrels, to a new file. Ids and spans that moved to one
other place get it; --twins and --edited change more. Each change is printed; what may be one thing or another, and a
text of which only a sibling is left (the same words, other facts), stay as they are. DATA does not change.

Exit codes: 0 done, 2 usage or unreadable input, 4 nothing to check.
"""
_REPAIR_OPTIONS: Options = (
    *_LABELS,
    file("-o --output", "The new samples, JSON lines.", required=True),
    flag("--twins", "Make near-duplicates of relevant documents relevant, too."),
    flag("--edited", "Give texts that were edited the wording of the corpus."),
    flag("--to-other-documents", "With --edited: also if only another document has the edited text."),
    file("--result", "A result folder of DATA: say what changes in its scores.", "FOLDER"),
)
GOLD_REPAIR = Command(_USAGE_REPAIR, _ABOUT_REPAIR, _REPAIR_OPTIONS, f"{_HERE}.gold_command:execute_repair")

_ABOUT_COPIES = """\
Finds documents of SECOND that are copies of documents of FIRST, or nearly so: pages that a model was trained on, crawls
that overlap, old versions that stayed in an index. A corpus is a file of documents (JSONL, Parquet, TSV, JSON, YAML)
with an id and a text, or a folder of text files. Words are compared; case, markup and punctuation do not count.

Exit codes: 0 done, 1 a copy was found (with --strict), 2 usage or unreadable input, 4 nothing to compare.
"""
_LEAST = "Which share of the words of both documents is in common at least, such as 0.9."
_COPIES_OPTIONS: Options = (
    file("first", "The documents that may have been copied.", "FIRST"),
    file("second", "The documents that are looked at.", "SECOND"),
    value("--least", "SHARE", _LEAST, type=share, default=0.8),
    flag("--strict", "Exit with 1 if a copy was found."),
    count("--limit", "Copies to print; 0 for all.", 0, default=20),
    AS_JSON,
)
GOLD_COPIES = Command("[OPTIONS] FIRST SECOND", _ABOUT_COPIES, _COPIES_OPTIONS, f"{_HERE}.gold_command:execute_copies")
