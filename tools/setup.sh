#!/usr/bin/env bash
# Installs what the build needs and fetches SQLite's source into build/sqlite. Does nothing,
# quickly, where all is there.
#   tools/setup.sh        what ./run and ./test need
#   tools/setup.sh ci     also clang-19 and its tools, spin, promtool, what reads completions and
#                         manual, proxies and a browser
#   tools/setup.sh bench  also what bench/run measures beside dormouse
# Needs Debian 12 (or a system with the same package names) and root or sudo only if a package is
# missing.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'set-up: %s\n' "$*" >&2; }
fail() { printf 'set-up failed: %s\n' "$*" >&2; exit 1; }

packages=(g++ cmake ninja-build ccache lld-19 python3 libboost1.81-dev libfmt-dev libspdlog-dev
          libcli11-dev libvalijson-dev librapidcheck-dev libgtest-dev libgmock-dev libbenchmark-dev
          libssl-dev libjemalloc-dev libtomlplusplus-dev libcurl4-openssl-dev
          libqrencode-dev)
[ "${1-}" != ci ] || packages+=(clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev
                             spin zsh fish groff-base mandoc curl jq prometheus
                             nginx-light haproxy bubblewrap chromium-headless-shell)
[ "${1-}" != bench ] || packages+=(postgresql)
sqlite=build/sqlite
pin=tools/sqlite/package.sha512

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else fail "these packages are missing and there is no sudo to install them: ${missing[*]}"
  fi
}

# Sets `missing` to those of the packages named that are not installed.
find_missing() {
  local installed
  # It complains of each package that it has never heard of: those are what we look for.
  installed=$({ dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true; } |
    sed -n 's/ installed$//p')
  mapfile -t missing < <(printf '%s\n' "$@" | grep -vxF -e "$installed" || true)
}

install() {
  command -v apt-get >/dev/null || 
    fail "no apt-get here; install by hand what these Debian packages hold: ${missing[*]}"
  say "installing ${missing[*]}"
  mkdir -p build
  local log=build/setup.log
  { as_root apt-get update -qq &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      "${missing[@]}"
  } >"$log" 2>&1 </dev/null ||
    fail "apt-get: $(grep -E '^E:|^Err' "$log" | tail -n 1 || true) (all of it: $log)"
}

# The packed file is checked against the pinned hash before anything of it is used.
fetch_sqlite() {
  local name package log=build/setup.log
  name=$(sed -n 's/^[0-9a-f]*  \(.*\)\.tgz$/\1/p' "$pin")
  package=${name%-*}@${name##*-}
  say "fetching SQLite's source ($package)"
  mkdir -p build
  folder=$(mktemp -d build/sqlite.XXXXXX)
  trap 'rm -rf "$folder"' EXIT  # `folder` is not local: the trap outlives this function
  (cd "$folder" && HOME=${HOME:-$PWD} npm_config_cache=$PWD/cache npm_config_update_notifier=false \
    npm pack --ignore-scripts --loglevel=error "$package") >"$log" 2>&1 </dev/null ||
    fail "npm could not fetch $package: $(tail -n 1 "$log")"
  (cd "$folder" && sha512sum --check --status "../../$pin") ||
    fail "$package is not the file pinned in $pin"
  tar -xzf "$folder/$name.tgz" -C "$folder" package/deps/sqlite3/sqlite3.{c,h}
  mkdir -p "$sqlite"
  mv "$folder"/package/deps/sqlite3/sqlite3.[ch] "$sqlite"/
  cp "$pin" "$sqlite"/package.sha512
}

find_missing "${packages[@]}"
if [ "${1-}" = bench ] && ! command -v npm >/dev/null; then missing+=(npm); fi
if ! cmp -s "$pin" "$sqlite/package.sha512"; then
  command -v npm >/dev/null || missing+=(npm)
  need_sqlite=yes
fi
[ ${#missing[@]} = 0 ] || install
[ -z "${need_sqlite-}" ] || fetch_sqlite
