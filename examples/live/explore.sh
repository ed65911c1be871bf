#!/usr/bin/env bash
# Compiles the page "See attention": the trained model of examples/24_induction as WebAssembly, into build/explore/explore.wasm. tools/site.sh
# calls it where em++ is installed (tools/setup.sh playground or browser). Nothing is done if no source has changed.
set -euo pipefail
cd "$(dirname "$0")/../.."

out=build/explore
model=tests/data/induction.safetensors
if [ -f $out/explore.wasm ] && [ -z "$(find include examples/live examples/support $model -newer $out/explore.wasm ! -name "*.js" -print -quit)" ]; then
  exit 0
fi
# emscripten has a C library of its own: of the system's headers it sees these alone.
mkdir -p $out/include
for folder in boost xtensor xtl xsimd nlohmann; do ln -sfn "/usr/include/$folder" "$out/include/$folder"; done
em++ -std=c++20 -O2 -fwasm-exceptions --no-entry -sSTANDALONE_WASM -sINITIAL_MEMORY=67108864 -DDIMWISE_PLAIN_ONLY \
  "-DDIMWISE_EMBEDDED=\"$PWD/$model\"" -isystem $out/include -Iinclude -Itests -include examples/live/libcxx13.hpp \
  examples/live/explore.cpp -o $out/explore.new.wasm
mv $out/explore.new.wasm $out/explore.wasm
echo "explore: $out/explore.wasm, $(wc -c < $out/explore.wasm) bytes"
