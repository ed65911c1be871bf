#!/usr/bin/env bash
# Builds the playground: a page that compiles and runs programs in the browser, in build/site/playground. The first build takes about
# three minutes of CPU; a later one builds only what has changed. docs/howto/playground.md describes it. Why no kept tool:
# no packaged page compiles C++ in the browser with headers of one's choice.
#
#   bash tools/playground.sh              # installs what is missing, then builds
#   bash tools/playground.sh --no-setup   # installs nothing
#
# It needs a server, which may be any that serves files: python3 -m http.server --bind 127.0.0.1 --directory build/site
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  "") bash tools/setup.sh playground ;;
  --no-setup) ;;
  *)
    echo "playground: unknown option $1; there is --no-setup" >&2
    exit 2
    ;;
esac

node tools/playground/build.mjs
mkdir -p build/site
rm -rf build/site/playground
cp -r build/playground/site build/site/playground
echo "the playground: build/site/playground"
