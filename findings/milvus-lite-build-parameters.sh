#!/usr/bin/env bash
# milvus-lite builds an ivf_flat index with its own number of parts, whatever was asked for: pymilvus 3 sends each
# parameter of an index by itself, and milvus-lite 3.2 looks for them in one called "params". Nothing is said. With 4
# parts of 40 documents, a search of all 4 should find every document; it finds 4, because there are 40 parts. Whoever
# tunes an index there compares the same index with itself, and whoever reports its recall reports that of another one.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/python -m pip install --quiet --disable-pip-version-check numpy==2.4.6 pymilvus==3.0.2 milvus-lite==3.2.2

cat >try.py <<'PYTHON'
import sys
from importlib.metadata import version

import numpy
from pymilvus import DataType, MilvusClient

vectors = numpy.random.default_rng(0).normal(size=(40, 8)).tolist()
client = MilvusClient("try.db")
schema = client.create_schema(auto_id=False)
schema.add_field("id", DataType.INT64, is_primary=True)
schema.add_field("vector", DataType.FLOAT_VECTOR, dim=8)
client.create_collection("documents", schema=schema)
client.insert("documents", [{"id": at, "vector": vector} for at, vector in enumerate(vectors)])
client.flush("documents")
index = client.prepare_index_params()
index.add_index("vector", index_type="IVF_FLAT", metric_type="COSINE", params={"nlist": 4})
client.create_index("documents", index)
client.load_collection("documents")
asked = {"data": [vectors[0]], "anns_field": "vector", "limit": 40, "search_params": {"params": {"nprobe": 4}}}
(found,) = client.search("documents", **asked)
client.close()
print(f"version: milvus-lite {version('milvus-lite')}, pymilvus {version('pymilvus')}")
print("expected by most: 40 of 40 documents, in 4 of 4 parts")
print(f"seen: {len(found)} of 40 documents")
sys.exit(len(found) != 4)
PYTHON
environment/bin/python try.py 2>/dev/null
