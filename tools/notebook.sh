#!/usr/bin/env bash
# The notebook example: installs what it needs, builds it and nothing else, runs it.
#
#   bash tools/notebook.sh
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== 1/3 packages"
bash tools/setup.sh notebook

echo "== 2/3 building the notebook example into build/notebook"
cmake --preset notebook
cmake --build --preset notebook

echo "== 3/3 running it"
for source in examples/*_notebook.cpp; do
  "build/notebook/examples/$(basename "$source" .cpp)"
done
