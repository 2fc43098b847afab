#!/usr/bin/env bash
# tools/build.sh PRESET TARGET...: set-up, configure and build into build/PRESET, all as far as
# needed. Speaks on standard error only: standard output belongs to the program that is run
# afterwards.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
folder=build/$preset
log=$folder/build.log
fail() { printf 'build failed: %s\n' "$*" >&2; exit 1; }

mkdir -p "$folder"
exec 9>build/lock
flock -n 9 || { echo "build: waiting for another build to end" >&2; flock 9; }

tools/setup.sh 9>&-
# ccache keeps its objects in the home directory, and finds them from any checkout; without a
# home, in here. What it does not find is compiled without being preprocessed first (DEPEND).
[ -n "${HOME-}" ] || export CCACHE_DIR=${CCACHE_DIR:-$PWD/build/ccache}
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1

# The web page is fetched and built while CMake and the compilers run; the build waits for it where
# it is needed, and says then what went wrong.
case " $* " in
  *" dormouse "* | *" all "*) tools/web_page.sh >/dev/null 2>&1 9>&- & ;;
esac

# A build folder that moved with its tree is of no use to CMake.
cache=$folder/CMakeCache.txt
if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
  rm -rf "$folder"
  mkdir -p "$folder"
fi
if [ ! "$folder/build.ninja" -nt CMakePresets.json ]; then
  cmake --preset "$preset" >"$log" 2>&1 9>&- || {
    grep -A 8 '^CMake Error' "$log" >&2 || cat "$log" >&2
    fail "cmake --preset $preset (all of it: $log)"
  }
  touch "$folder/build.ninja"
fi

# One line each tenth of the way; the full output goes to the log, and is shown from the first
# error on.
show_progress() {
  local line percent last=0
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      percent=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      if ((percent / 10 > last && BASH_REMATCH[2] > 5)); then
        last=$((percent / 10))
        printf 'build: %s%% (%s s)\n' "$percent" "$SECONDS" >&2
      fi
    fi
  done
}
export NINJA_STATUS='[%f/%t] '
cmake --build "$folder" --target "$@" -j "${JOBS:-$(nproc)}" 2>&1 9>&- |
  tee "$log" | show_progress || {
    sed -n '/^FAILED:\|^CMake Error\|^ninja: error/,$p' "$log" |
      sed '/^FAILED:/{n;d;}; /^\[[0-9]*\//d' | head -n 60 >&2
    fail "preset $preset (all of it: $log)"
  }
