#!/usr/bin/env bash
# tests/fuzz/run.sh -- random formulas against float64, for long and on every architecture that this machine has.
#
#   bash tests/fuzz/run.sh [seconds for each architecture: 300] [seed: 1] [options of fuzz, such as --family mask]
#
# Builds the preset release first. Exits with 1 where a formula failed; its line says how to see it again.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-300}
seed=${2:-1}
shift $(($# < 2 ? $# : 2))

cmake --preset release > /dev/null
cmake --build --preset release --target fuzz
failed=0
for architecture in avx512 avx2 sse4 sse2; do
  echo "--- $architecture"
  DIMWISE_ARCHITECTURE=$architecture build/release/tests/fuzz --seed "$seed" --seconds "$seconds" "$@" || failed=1
  seed=$((seed + 1000000))
done
exit $failed
