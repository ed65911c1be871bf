#!/usr/bin/env bash
# Builds the documentation as a site and checks it: pages by MkDocs, the API by Doxygen, without a warning; every link leads somewhere.
# Why no kept tool: MkDocs and Doxygen do not call each other. First it makes the page of compile errors (tools/errors_page.py).
# The playground is part of the site if tools/playground.sh has built it.
#
#   bash tools/site.sh                            # installs what is missing, builds into build/site
#   bash tools/site.sh --no-setup --into FOLDER   # installs nothing; builds into another folder
#
# A browser shows the pages from the disk; the search box needs a server: python3 -m http.server --bind 127.0.0.1 --directory build/site
set -euo pipefail
cd "$(dirname "$0")/.."

setup=yes
folder=build/site
while [ $# -gt 0 ]; do
  case "$1" in
    --no-setup) setup=no ;;
    --into) folder="${2:?--into needs a folder}"; shift ;;
    *)
      echo "site: unknown option $1; there are --no-setup and --into FOLDER" >&2
      exit 2
      ;;
  esac
  shift
done
if [ "$setup" = yes ]; then bash tools/setup.sh site; fi

python3 -B tools/errors_page.py
if command -v em++ > /dev/null; then
  bash examples/live/explore.sh
else
  echo "site: em++ is not installed, so the page \"See attention\" does not compute (tools/setup.sh browser)" >&2
fi

report=build/explore/report.html
induction=${DIMWISE_INDUCTION:-$(find build -maxdepth 3 -path '*/examples/24_induction' -type f 2> /dev/null | head -n 1)}
mkdir -p build/explore
if [ -n "$induction" ]; then
  "$induction" --report $report > /dev/null
else
  rm -f $report
  echo "site: 24_induction is not built, so the site has no report (cmake --build --preset dev --target example_24_induction live_induction)" >&2
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! PYTHONWARNINGS=ignore mkdocs build --strict --site-dir "$(realpath -m "$folder")" > "$log" 2>&1; then
  grep -vE '^INFO|^  - source/' "$log" >&2  # what is left are warnings and errors
  exit 1
fi
python3 -B tools/site/api.py "$folder/api"
if [ -d build/playground/site ]; then cp -r build/playground/site "$folder/playground"; fi
python3 -B tests/docs/links.py "$folder"
echo "the site: $folder/index.html; with a search box: python3 -m http.server --bind 127.0.0.1 --directory $folder"
