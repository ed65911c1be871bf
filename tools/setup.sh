#!/usr/bin/env bash
# Installs the Debian packages that dimwise needs, and names them. Why no kept tool: apt installs; this has the lists, and goes on
# without optional ones.
#
#   bash tools/setup.sh notebook    # what the notebook example needs
#   bash tools/setup.sh tests       # what the notebook and the tests need (the default)
#   bash tools/setup.sh browser     # the same, a browser with what drives it, and emscripten: pages that compute, and their test
#   bash tools/setup.sh site        # what tools/site.sh needs, alone
#   bash tools/setup.sh playground  # what tools/playground.sh needs, alone
#   bash tools/setup.sh bench       # the same, and the libraries that the benchmarks compare with
#
# As root, or through sudo. Does nothing when all packages are there. Without apt it only says what is needed.
set -euo pipefail

notebook_packages="g++ cmake ninja-build libboost-dev libxtensor-dev libxsimd-dev nlohmann-json3-dev libcli11-dev"
test_packages="python3 clang-14 libclang-rt-14-dev doctest-dev librapidcheck-dev libtbb-dev libbenchmark-dev libutf8proc-dev libpcre2-dev libzip-dev"
# qemu-user and the cross compiler run the tests of other processors: 60 MB, under a minute.
optional_packages="lld clang-19 clang-tidy-14 clang-format-19 shellcheck codespell unifdef qemu-user g++-aarch64-linux-gnu openmpi-bin libopenmpi-dev"
# A Node.js from elsewhere brings npm, which Debian's conflicts with.
node=""
if ! command -v npm > /dev/null; then node="nodejs npm"; fi
# The tests in a browser: Chromium without windows, which takes three quarters of the time. playwright-core comes by npm.
browser_packages="$node chromium-headless-shell"
# A second browser opens pages and the playground.
second_browser="firefox-esr"
# Models in pages are compiled by it: a download of 125 MB, 880 MB installed.
live_packages="emscripten"
playwright="playwright-core@1.48.2"
# What finds pages that not everyone can read.
axe="axe-core@4.14.1"
# The documentation as a site: pages, the API, formulas; the page of errors compiles their examples.
site_packages="$notebook_packages python3 mkdocs mkdocs-material doxygen libjs-katex unifdef"
# The playground: headers of Hana and nlohmann-json, and the sources of libc++abi, which are part of emscripten. npm installs the compiler
# and the editor, 110 MB, of the versions in tools/playground/package-lock.json.
playground_packages="$node libboost-dev nlohmann-json3-dev emscripten"
# Rivals of the benchmarks; llama.cpp and ONNX Runtime come by npm, 375 MB.
bench_packages="libtbb-dev libopenblas-dev libeigen3-dev libdnnl-dev python3-torch python3-onnx $node"
rivals="node-llama-cpp@3.22.1 @node-llama-cpp/linux-x64@3.22.1 onnxruntime-node@1.30.0"

case "${1:-tests}" in
  notebook) wanted="$notebook_packages" optional="" ;;
  tests) wanted="$notebook_packages $test_packages" optional="$optional_packages" ;;
  browser) wanted="$notebook_packages $test_packages $browser_packages" optional="$optional_packages $live_packages $second_browser" ;;
  site) wanted="$site_packages" optional="" ;;
  playground) wanted="$playground_packages" optional="" ;;
  bench) wanted="$notebook_packages $test_packages" optional="$bench_packages" ;;
  *)
    echo "setup: expected 'notebook', 'tests', 'browser', 'site', 'playground' or 'bench', not '$1'" >&2
    exit 2
    ;;
esac

if ! command -v apt-get > /dev/null || ! command -v dpkg-query > /dev/null; then
  echo "setup: no apt here. Please install what these Debian packages hold, then go on: $wanted $optional"
  exit 0
fi

# Prints those of its arguments that are not installed.
missing_of() {
  for package in "$@"; do
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)" != installed ]; then
      echo "$package"
    fi
  done
}

# One answer for every question that a package might ask, so that nothing waits for a key (tzdata does). Another run may be installing.
apt() {
  local as_root=sudo
  if [ "$(id -u)" = 0 ]; then as_root=""; fi
  $as_root env DEBIAN_FRONTEND=noninteractive TZ=Etc/UTC apt-get -o DPkg::Lock::Timeout=600 "$@" ||
    { echo "setup: this did not succeed; as root: apt-get $*" >&2; return 1; }
}

# shellcheck disable=SC2086  # lists of words
missing=$(missing_of $wanted)
# shellcheck disable=SC2086
missing_optional=$(missing_of $optional)
if [ -n "$missing$missing_optional" ] && ! apt update -q; then
  echo "setup: the package lists could not be updated; trying with the old ones" >&2
fi
if [ -n "$missing" ]; then
  echo "setup: installing $(echo "$missing" | tr '\n' ' ')"
  # shellcheck disable=SC2086
  apt install -q -y --no-install-recommends $missing
fi
# At once; where one of them is not available, one by one.
if [ -n "$missing_optional" ]; then
  echo "setup: installing $(echo "$missing_optional" | tr '\n' ' ')(optional)"
  # shellcheck disable=SC2086
  if apt install -q -y --no-install-recommends $missing_optional; then missing_optional=""; fi
fi
for package in $missing_optional; do
  echo "setup: installing $package (optional)"
  # The tests name the compilers that they find.
  apt install -q -y --no-install-recommends "$package" ||
    echo "setup: warning: $package is not available; its part of the tests is left out" >&2
done

# Packages of npm, into the folders where their users look for them.
npm="npm --silent --no-audit --no-fund --prefix"
case "${1:-tests}" in
  browser)
    mkdir -p build/browser
    if [ ! -d build/browser/node_modules/playwright-core ]; then $npm build/browser install "$playwright"; fi
    if [ ! -d build/browser/node_modules/axe-core ]; then $npm build/browser install "$axe"; fi
    ;;
  playground)
    mkdir -p build/playground
    if ! cmp -s tools/playground/package-lock.json build/playground/node_modules/.installed.json; then
      cp tools/playground/package.json tools/playground/package-lock.json build/playground
      $npm build/playground ci
      cp tools/playground/package-lock.json build/playground/node_modules/.installed.json
    fi
    ;;
  bench)
    mkdir -p build/rivals
    # shellcheck disable=SC2086
    if [ ! -d build/rivals/node_modules/node-llama-cpp ] && command -v npm > /dev/null; then
      $npm build/rivals install --ignore-scripts --omit=optional $rivals ||
        echo "setup: warning: the comparisons will be without llama.cpp and ONNX Runtime" >&2
    fi
    ;;
esac
echo "setup: done"
