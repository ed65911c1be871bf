#!/usr/bin/env bash
# The notebook example in one command: installs what it needs, builds it by CMake's preset notebook, runs it. Why no kept tool: CMake's workflow
# presets install no packages and run no program.
#
#   bash tools/notebook.sh
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh notebook
cmake --preset notebook
cmake --build --preset notebook
for source in examples/*_notebook.cpp; do
  "build/notebook/examples/$(basename "$source" .cpp)"
done
