#!/usr/bin/env bash
# Installs what the tests need, builds them, runs all of them. The last line is "N passed, N failed".
#
#   bash tools/test.sh                  # the preset dev: g++, every test
#   bash tools/test.sh asan ci-clang14  # other presets of CMakePresets.json, one after another
#   DIMWISE_JOBS=8 bash tools/test.sh   # how many compilers at once (default: as many as there are cores)
set -euo pipefail
cd "$(dirname "$0")/.."

# However this ends, it ends with the count. Without a result, something failed: say so.
finish() {
  code=$?
  trap - EXIT
  if [ "$code" != 0 ] && [ "${counted:-no}" = no ]; then
    echo "== stopped: ${step:-} did not succeed (code $code)"
    echo "0 passed, 1 failed"
  fi
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT TERM

jobs="${DIMWISE_JOBS:-$(nproc 2> /dev/null || echo 2)}"
results=""
broken_builds=0

step="installing packages"
echo "== packages"
bash tools/setup.sh tests

for preset in "${@:-dev}"; do
  step="configuring $preset"
  echo "== $preset: configuring"
  cmake --preset "$preset"

  step="building $preset"
  echo "== $preset: building with $jobs jobs"
  # -k 0: what can be built is built and tested, also when something else is broken.
  if ! cmake --build --preset "$preset" --parallel "$jobs" -- -k 0; then
    echo "== $preset: the build failed; going on with what was built"
    broken_builds=$((broken_builds + 1))
  fi

  step="testing $preset"
  echo "== $preset: running the tests"
  result="$PWD/build/$preset/test_results.xml"
  rm -f "$result"
  # The count below decides, not the exit code.
  ctest --preset "$preset" --parallel "$jobs" --output-junit "$result" --test-output-size-passed 10000000 \
    --test-output-size-failed 10000000 || true
  if [ ! -s "$result" ]; then
    echo "== $preset: the tests could not be run"
    exit 1
  fi
  results="$results $result"
done

step="counting"
counted=yes
echo "== results"
# shellcheck disable=SC2086  # a list of words
python3 -B tools/count_tests.py --extra-failed "$broken_builds" $results
