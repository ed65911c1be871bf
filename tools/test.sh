#!/usr/bin/env bash
# Installs what the tests need, builds them, runs all of them. The last line is "N passed, N failed". Why no kept tool: CMake
# builds and CTest runs; this calls them for several presets, and builds the tests of one name only.
#
#   bash tools/test.sh                  # the preset dev: every unit test, and every compile error, with g++
#   bash tools/test.sh quick            # before a commit, a minute: format, words, sources, names of other libraries, budget
#   bash tools/test.sh checks           # what dev leaves out: other compilers, examples, programs, pages
#   bash tools/test.sh asan ci-clang14  # other presets of CMakePresets.json, one after another
#   bash tools/test.sh softmax          # test files and compile errors with that name in their path, with g++
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

# What is done now: printed, and named if it does not succeed.
begin() {
  step=$1
  echo "== $step"
}

jobs="${DIMWISE_JOBS:-$(nproc 2> /dev/null || echo 2)}"
results=""
broken_builds=0

# An operation that was edited: its test files as programs of their own, then its compile errors.
test_name() {
  local names passed=0 failed=0 log
  names=$(find tests -name '*.test.cpp' | sed -e 's|^tests/||' -e 's|[.]test[.]cpp$||' | grep -E -- "$1" | tr / . | sort || true)
  log=$(mktemp)
  if [ -n "$names" ]; then
    cmake --preset dev > "$log" || { cat "$log"; exit 1; }
    # shellcheck disable=SC2046,SC2086  # a list of words
    cmake --build --preset dev --parallel "$jobs" --target $(printf 'one.%s ' $names)
    for name in $names; do
      count "build/dev/tests/one.$name" --no-intro
    done
  fi
  if grep -qE -- "$1" <<< "$(cd tests/compile_fail && find . -name '*.cpp')"; then
    count python3 -B tools/compile_fail.py --compiler g++ --filter "$1"
  elif [ -z "$names" ]; then
    echo "test: '$1' is neither a preset of CMakePresets.json nor in the path of a test" >&2
    failed=1
  fi
  rm -f "$log"
  counted=yes
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

# Runs a command of test_name, and adds the count in its last lines, which doctest writes as "N passed | M failed"; no count is a failure.
count() {
  echo "== $*"
  "$@" | tee "$log" || true
  if [[ "$(tail -n 3 "$log")" =~ ([0-9]+)\ passed[,\ |]+([0-9]+)\ failed ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
  fi
}

if [ $# = 1 ] && ! grep -q "\"name\": \"$1\"" CMakePresets.json; then
  step="building the tests called $1"
  test_name "$1"
  exit
fi

begin "installing packages"
bash tools/setup.sh tests

for preset in "${@:-dev}"; do
  begin "configuring $preset"
  cmake --preset "$preset"

  begin "building $preset with $jobs jobs"
  # -k 0: what can be built is built and tested, also when something else is broken.
  if ! cmake --build --preset "$preset" --parallel "$jobs" -- -k 0; then
    echo "== $preset: the build failed; going on with what was built"
    broken_builds=$((broken_builds + 1))
  fi

  begin "testing $preset"
  result="$PWD/build/results/$preset.xml"
  rm -f "$result"
  # The count below decides, not the exit code. One test more than cores: a test that compiles with every core waits for one of them at
  # its end, and browsers and downloads wait by themselves.
  ctest --preset "$preset" --parallel "$((jobs + 1))" --output-junit "$result" --test-output-size-passed 10000000 \
    --test-output-size-failed 10000000 || true
  if [ ! -s "$result" ]; then
    echo "== $preset: the tests could not be run"
    exit 1
  fi
  results="$results $result"
done

begin "counting"
counted=yes
# shellcheck disable=SC2086  # a list of words
python3 -B tools/count_tests.py --extra-failed "$broken_builds" $results
