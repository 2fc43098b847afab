#!/usr/bin/env bash
# tools/page_figures.sh       measures the web page: bytes, times, frames, Lighthouse; prints rows
#                             of docs/benchmarks.md
# tools/page_figures.sh cold  also how long the page takes to build on a machine that has no package
# It needs the built program ($DORMOUSE, default: build/release/dormouse) and Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
export DORMOUSE=${DORMOUSE:-$PWD/build/release/dormouse}
export PATH=$PWD/build/programs/bin:$PATH
figures=web/test/figures
row() { printf '| %s | %s | %s |\n' "$1" "$2" "$3"; }

tools/web_page.sh --tests
if ! cmp -s "$figures/package-lock.json" "$figures/node_modules/.lock"; then
  (cd "$figures" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >/dev/null
  cp "$figures/package-lock.json" "$figures/node_modules/.lock"
fi
playwright() { (cd web && node node_modules/@playwright/test/cli.js test -c "$@" --reporter=list); }

sizes=$(playwright test/browser size)
size() { sed -nE "s/.*$1: ([0-9]+) bytes.*/\\1 bytes/p" <<<"$sizes"; }
row 'first load of `/`, with heads and data' '150,000 bytes' "$(size 'first load')"
row 'files of the page in the program' '1,000,000 bytes' "$(size 'files of the page')"
playwright test/figures | grep '^| '

if [ "${1-}" = cold ]; then
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' EXIT
  git ls-files -z web clients tools src/http/resources/operations |
    xargs -0 cp --parents -t "$copy"
  # No kept page, no kept package.
  begin=$(date +%s)
  (cd "$copy" && HOME=$copy XDG_CACHE_HOME=$copy/cache npm_config_cache=$copy/npm tools/web_page.sh)
  row 'building the page on a cold machine, alone' '40 s' "$(($(date +%s) - begin)) s"
fi
