#!/usr/bin/env bash
# Fuzzes the readers of files under libFuzzer with address and undefined-behaviour checks.
#
#   bash tests/fuzz_files/run.sh [RUNS] [FORMAT...]     RUNS executions of each (10000000 unless said): safetensors gguf npy npz
#                                                 settings arrays generation sentences static_embedding tokenizer merges vocabulary
#                                                 marian sentencepiece
#
# Needs clang-14, libclang-rt-14-dev, libzip-dev, libpcre2-dev and libutf8proc-dev (Debian). What was found is left in build/fuzz_files.
set -euo pipefail
cd "$(dirname "$0")/../.."
runs="${1:-10000000}"
shift || true
formats="${*:-safetensors gguf npy npz settings arrays generation sentences static_embedding tokenizer merges vocabulary marian sentencepiece}"
place=build/fuzz_files
mkdir -p "$place"/seeds/{safetensors,gguf,npy,npz,settings,arrays,generation,sentences,static_embedding,tokenizer,merges,vocabulary,marian,sentencepiece}
clang++-14 -std=c++20 -O1 -DDIMWISE_DATA_DIR='"tests/data"' -Iinclude -Itests tests/fuzz_files/main.cpp -lzip -lutf8proc -lpcre2-8 \
  -o "$place/fuzz_files"
"$place/fuzz_files" --write "$place/seeds"
# A program for each format, no stacks of allocations and a small quarantine, no scheduling by entropy (its time grows with the corpus): up to
# four times as fast. Leaks are looked for in the fixed runs of main.cpp.
export ASAN_OPTIONS="malloc_context_size=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=64:max_malloc_fill_size=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
for format in $formats; do
  mkdir -p "$place/corpus_$format"
  clang++-14 -std=c++20 -O2 -g1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Iinclude -DDIMWISE_FUZZ_TARGET="$format" \
    tests/fuzz_files/libfuzzer.cpp -lzip -lutf8proc -lpcre2-8 -o "$place/fuzz_$format"
  echo "fuzz_files: $format, $runs executions"
  "$place/fuzz_$format" -runs="$runs" -entropic=0 -detect_leaks=0 -max_len=4096 -timeout=60 -rss_limit_mb=512 -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="$place/found_$format." "$place/corpus_$format" "$place/seeds/$format"
done
