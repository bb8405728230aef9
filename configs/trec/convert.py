"""Writes the quickstart's judgments and both recorded retrievers as TREC files.

qrels.txt has every judgment of ../quickstart/dataset.yaml, grades of 0 included; bm25.run and
char-ngram.run have every result of ../quickstart/outputs.*.jsonl with the score that was recorded.
Nothing is retrieved anew, so the files say what the quickstart says:

    python convert.py
"""

from pathlib import Path

import orjson
import yaml

HERE = Path(__file__).resolve().parent
QUICKSTART = HERE.parent / "quickstart"


def qrels_lines(dataset: Path) -> list[str]:
    """Return a line a judgment; q37, which nothing in the corpus answers, has none."""
    samples = yaml.safe_load(dataset.read_text(encoding="utf-8"))["samples"]
    return [
        f"{sample['id']} 0 {document} {grade}\n"
        for sample in samples
        for document, grade in dict(sample["expected_output"].get("relevant", {})).items()
    ]


def run_lines(outputs: Path, tag: str) -> list[str]:
    """Return a line a result, in the order recorded: by score, then by id."""
    rows = [orjson.loads(line) for line in outputs.read_bytes().splitlines()]
    return [
        f"{row['id']} Q0 {hit['id']} {rank} {hit['score']} {tag}\n"
        for row in rows
        for rank, hit in enumerate(row["actual_output"]["retrieved"], 1)
    ]


def main() -> None:
    """Write the three files."""
    written = {"qrels.txt": qrels_lines(QUICKSTART / "dataset.yaml")}
    for tag in ("bm25", "char-ngram"):
        written[f"{tag}.run"] = run_lines(QUICKSTART / f"outputs.{tag}.jsonl", tag)
    for name, lines in written.items():
        (HERE / name).write_text("".join(lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
