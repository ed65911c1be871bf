#!/usr/bin/env bash
# The notebook example in one command: installs what it needs, builds it by CMake's preset notebook, runs it.
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
