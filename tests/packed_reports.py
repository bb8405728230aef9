"""The data of an HTML report, read as its script reads them."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any

import numpy as np

__all__ = ["payload"]


def payload(text: str) -> dict[str, Any]:
    """Return the header of a report's data with every column in the place of its number."""
    found = re.search(r'id="data">([^<]*)</script>', text)
    assert found is not None
    data = gzip.decompress(base64.b64decode(found[1]))
    at = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:at])
    columns: list[list[Any]] = []
    for kind, length in header["columns"]:
        if kind == "text":
            columns.append(data[at : at + length].decode().split("\0"))
            at += length
            continue
        size = int(kind[1])
        planes = np.frombuffer(data, np.uint8, length * size, at).reshape(size, length)
        columns.append(np.ascontiguousarray(planes.T).view(f"<{kind}").ravel().tolist())
        at += length * size

    def floats(pair):
        codes, *table = (columns[number] for number in pair)
        return [table[0][code] for code in codes] if table else codes

    header["values"] = [list(map(floats, run)) for run in header["values"]]
    header["unjudged"] = header["unjudged"] and list(map(floats, header["unjudged"]))
    for name in ("ids", "inputs", "texts", "tags"):
        header[name] = None if header[name] is None else columns[header[name]]
    for own in header["sets"]:
        own |= {name: columns[own[name]] for name in ("names", "named")}
        gold = own["gold"]
        gold["grade"] = floats(gold["grade"])
        gold |= {name: columns[gold[name]] for name in ("count", "item", "text") if name in gold}
        for run in filter(None, own["runs"]):
            dropped = run.pop("dropped")
            run |= {name: columns[number] for name, number in run.items() if number is not None}
            run["dropped"] = (
                [
                    (sample, gold, rank, dropped["steps"][step])
                    for sample, gold, rank, step in zip(
                        *(columns[dropped[name]] for name in ("sample", "gold", "rank", "step")), strict=True
                    )
                ]
                if dropped
                else []
            )
    for fact in (fact for run in header["facts"] for fact in run if fact is not None):
        fact |= {name: floats(fact[name]) for name in ("gain", "discount", "divisor")}
    header["blocks"]["texts"] = columns[header["blocks"]["texts"]]
    header["codes"] = [[code if code is None else columns[code] for code in run] for run in header["codes"]]
    for why in filter(None, header["reasons"]):
        why["which"] = [which if which is None else columns[which] for which in why["which"]]
    return header
