#!/usr/bin/env bash
# A file of milvus-lite stays locked until the process ends, although its client was closed: what serves the file goes on.
# Whoever builds an index in a notebook, closes the client and starts an evaluation beside it gets "Open local milvus
# failed" there, and a process that opens many files keeps a server for each.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/python -m pip install --quiet --disable-pip-version-check pymilvus==3.0.2 milvus-lite==3.2.2

cat >try.py <<'PYTHON'
import subprocess
import sys
from importlib.metadata import version

from pymilvus import MilvusClient

client = MilvusClient("try.db")
client.create_collection("documents", dimension=2)
client.close()
source = "from pymilvus import MilvusClient; print(MilvusClient('try.db').list_collections())"
other = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
print(f"version: milvus-lite {version('milvus-lite')}, pymilvus {version('pymilvus')}")
print("expected by most: another process opens the file once its client is closed")
seen = other.stdout.strip() or other.stderr.strip().splitlines()[-1]
print(f"seen: {seen}")
sys.exit("Open local milvus failed" not in seen)
PYTHON
environment/bin/python try.py 2>/dev/null
