#!/usr/bin/env bash
# Installs the Debian packages that dimwise needs, and names them. apt installs; this has the lists, and goes on without optional ones.
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
optional_packages="lld clang-19 clang-tidy-14 clang-format-19 shellcheck codespell unifdef qemu-user g++-aarch64-linux-gnu"
# The tests in a browser; playwright-core comes by npm. A Node.js from elsewhere brings npm, which Debian's conflicts with.
browser_packages="chromium"
if ! command -v npm > /dev/null; then browser_packages="nodejs npm $browser_packages"; fi
# Models in pages are compiled by it: a download of 125 MB, 880 MB installed.
live_packages="emscripten"
playwright="playwright-core@1.48.2"
# The documentation as a site: pages, the API, formulas; the page of errors compiles their examples.
site_packages="$notebook_packages python3 mkdocs mkdocs-material doxygen libjs-katex unifdef"
# The playground: Hana's headers, and the sources of libc++abi, which are part of emscripten. npm installs the compiler and the editor,
# 110 MB, of the versions in tools/playground/package-lock.json.
playground_packages="libboost-dev emscripten"
if ! command -v npm > /dev/null; then playground_packages="nodejs npm $playground_packages"; fi
# Rivals of the benchmarks; llama.cpp and ONNX Runtime come by npm, 375 MB.
bench_packages="libtbb-dev libopenblas-dev libeigen3-dev libdnnl-dev python3-torch python3-onnx"
if ! command -v npm > /dev/null; then bench_packages="$bench_packages nodejs npm"; fi
rivals="node-llama-cpp@3.22.1 @node-llama-cpp/linux-x64@3.22.1 onnxruntime-node@1.30.0"

case "${1:-tests}" in
  notebook) wanted="$notebook_packages" optional="" ;;
  tests) wanted="$notebook_packages $test_packages" optional="$optional_packages" ;;
  browser) wanted="$notebook_packages $test_packages $browser_packages" optional="$optional_packages $live_packages" ;;
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

# One answer for every question that a package might ask, so that nothing waits for a key (tzdata does).
apt() {
  if [ "$(id -u)" = 0 ]; then
    env DEBIAN_FRONTEND=noninteractive TZ=Etc/UTC apt-get "$@"
  elif command -v sudo > /dev/null; then
    sudo env DEBIAN_FRONTEND=noninteractive TZ=Etc/UTC apt-get "$@"
  else
    echo "setup: packages are missing, and this is neither root nor is there sudo. As root: apt-get $*" >&2
    return 1
  fi
}

# Into build/browser, where the tests look for it.
install_playwright() {
  if [ "$1" = browser ] && [ ! -d build/browser/node_modules/playwright-core ]; then
    echo "setup: installing $playwright into build/browser"
    mkdir -p build/browser
    npm install --silent --no-audit --no-fund --prefix build/browser "$playwright"
  fi
}

# Into build/playground, where tools/playground.sh looks for it.
install_playground() {
  if [ "$1" = playground ] && ! cmp -s tools/playground/package-lock.json build/playground/node_modules/package-lock.json; then
    echo "setup: installing the packages of tools/playground/package-lock.json into build/playground"
    mkdir -p build/playground
    cp tools/playground/package.json tools/playground/package-lock.json build/playground
    npm ci --silent --no-audit --no-fund --prefix build/playground
    cp tools/playground/package-lock.json build/playground/node_modules  # these are installed
  fi
}

# Into build/rivals, where the comparisons look for them.
install_rivals() {
  if [ "$1" = bench ] && [ ! -d build/rivals/node_modules/node-llama-cpp ] && command -v npm > /dev/null; then
    echo "setup: installing $rivals into build/rivals"
    mkdir -p build/rivals
    # shellcheck disable=SC2086
    npm install --silent --ignore-scripts --omit=optional --no-audit --no-fund --prefix build/rivals $rivals ||
      echo "setup: warning: the comparisons will be without llama.cpp and ONNX Runtime" >&2
  fi
}

# shellcheck disable=SC2086  # lists of words
missing=$(missing_of $wanted)
# shellcheck disable=SC2086
missing_optional=$(missing_of $optional)
if [ -z "$missing$missing_optional" ]; then
  echo "setup: every needed package is installed"
  install_playwright "${1:-tests}"
  install_playground "${1:-tests}"
  install_rivals "${1:-tests}"
  exit 0
fi

if [ -n "$missing" ]; then
  echo "setup: installing $(echo "$missing" | tr '\n' ' ')"
fi
updated=no
if apt update -q; then updated=yes; fi
if [ -n "$missing" ]; then
  if [ "$updated" = no ]; then echo "setup: the package lists could not be updated; trying with the old ones" >&2; fi
  # shellcheck disable=SC2086
  apt install -q -y --no-install-recommends $missing
fi
for package in $missing_optional; do
  echo "setup: installing $package (optional)"
  # The tests name the compilers that they find.
  apt install -q -y --no-install-recommends "$package" ||
    echo "setup: warning: $package is not available; its part of the tests is left out" >&2
done
install_playwright "${1:-tests}"
install_playground "${1:-tests}"
install_rivals "${1:-tests}"
echo "setup: done"
