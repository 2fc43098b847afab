#!/usr/bin/env bash
# tools/web_page.sh           builds the web page into build/web/dist, unless that is up to date
# tools/web_page.sh OUT.cc    also writes the source that embeds it into the program
# tools/web_page.sh --tests   installs what tests of the page need (Vitest, axe); builds nothing
# Its packages are those of web/package-lock.json, from npm's registry. A page that was built once
# is kept in the home directory, as ccache keeps objects, and found from any checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
output=${1-}
folder=$PWD/build/web
log=$folder/build.log
fail() { printf 'the web page could not be built: %s\n' "$*" >&2; exit 1; }

mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9

sources() {
  find web clients/typescript \( -name node_modules -o -name dist -o -name test \) -prune -o \
    -type f ! -name '*.gen.ts' ! -name '*.md' ! -name '*.sh' -print | LC_ALL=C sort
  printf '%s\n' src/http/resources/operations/openapi.json tools/web_page.sh
}
digest=$(sources | xargs sha256sum | sha256sum | cut -c1-32)

node_runs() { "$1" -e '
  const [major, minor] = process.versions.node.split(".").map(Number);
  process.exit(major > 18 || (major === 18 && minor >= 13) ? 0 : 1)' 2>/dev/null; }

# Sets PATH so that `node` is new enough: that of the system, or the one that tests bring.
find_node() {
  command -v npm >/dev/null || fail 'npm is not installed (Debian: apt-get install npm)'
  ! node_runs node || return 0
  if node_runs build/programs/bin/node; then
    export PATH=$PWD/build/programs/bin:$PATH
  else
    fail "Node 18.13 or newer is needed; this one is $(node --version 2>/dev/null || echo missing)"
  fi
}

# $1: more options of npm.
install_packages() {
  local wanted have=web/node_modules/.dormouse-lock
  wanted=$(sha256sum <web/package-lock.json)
  # --tests and web/test.sh install more, and say so in the same file.
  if [ "$(cat "$have" 2>/dev/null)" = "$wanted" ]; then
    [ -n "$1" ] || [ -f web/node_modules/axe-core/axe.min.js ] && return 0
  fi
  # shellcheck disable=SC2086
  (cd web && HOME=${HOME:-$folder} npm ci $1 --ignore-scripts --no-audit --no-fund \
    --prefer-offline --fetch-retries=1 --fetch-retry-mintimeout=1000 \
    --fetch-retry-maxtimeout=4000 --loglevel=error) >"$log" 2>&1 </dev/null ||
    fail "npm ci cannot fetch its packages; is npm's registry in reach?
  $(grep -m 1 -E 'E[A-Z_]{4,}|ERR!|error' "$log" || tail -n 1 "$log")
  (all of it: $log)"
  printf '%s\n' "$wanted" >"$have"
}

build() {
  find_node
  install_packages --omit=dev
  (cd web && node ../clients/typescript/generate.mjs &&
    node node_modules/vite/bin/vite.js build --outDir "$folder/new" --emptyOutDir \
      --logLevel warn && node dev/compress.mjs "$folder/new") >"$log" 2>&1 </dev/null ||
    fail "vite build
$(tail -n 20 "$log")"
  rm -rf "$folder/dist"
  mv "$folder/new" "$folder/dist"
  printf '%s\n' "$digest" >"$folder/digest"
}

if [ "$output" = --tests ]; then
  find_node
  install_packages ""
  exit
fi

kept=${XDG_CACHE_HOME:-${HOME:-$folder}/.cache}/dormouse/web
if [ "$(cat "$folder/digest" 2>/dev/null)" != "$digest" ]; then
  if [ -f "$kept/$digest.tar" ] && rm -rf "$folder/dist" && mkdir "$folder/dist" &&
    tar -xf "$kept/$digest.tar" -C "$folder/dist"; then
    printf '%s\n' "$digest" >"$folder/digest"
  else
    build
    # Not being able to keep it costs time alone.
    { mkdir -p "$kept" && find "$kept" -name '*.tar' -mtime +30 -delete &&
      tar -cf "$kept/$digest.$$" -C "$folder/dist" . &&
      mv "$kept/$digest.$$" "$kept/$digest.tar"; } 2>/dev/null || true
  fi
fi
[ -z "$output" ] || python3 tools/embed_files.py "$folder/dist" "$output"
