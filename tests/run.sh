#!/bin/bash
# Builds autopack and runs every test, from any directory, on a fresh Debian or Ubuntu machine.
# As root it installs what is missing. The last line is `N passed, N failed`.
# With --long the tests that have a long form take it: hours instead of minutes.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
exec </dev/null

# With one seed, lest a change fails for what others left; the long form takes another each time.
fuzz_seconds=10
fuzz_jobs=1
fuzz_seed=1
case "${1:-}" in
  '') ;;
  --long) export AUTOPACK_LONG_TESTS=1 && fuzz_seconds=3600 && fuzz_jobs=$(nproc) && fuzz_seed=0 ;;
  *) echo "usage: tests/run.sh [--long]" && exit 2 ;;
esac

# shellcheck source=../examples/support.sh
. examples/support.sh

# This machine's package settings are not the tests'.
for name in ${!PIP_*} ${!AUTOPACK_*} ${!CLOUDSDK_*}; do
  [ "$name" = AUTOPACK_LONG_TESTS ] || unset "$name"
done

passed=0
failed=0

finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
}

# A part that the suites after it need and that could not be had.
give_up() {
  echo "$1"
  failed=$((failed + $2))
  finish
}

build() {
  local folder=$1 output cxx=${compiler:-g++}
  shift
  command -v ccache >/dev/null && cxx="ccache $cxx"
  if [ ! -f "$folder/build.ninja" ]; then
    output=$(CXX=$cxx meson setup "$folder" "$@" 2>&1) || { echo "$output"; return 1; }
  fi
  output=$(ninja -C "$folder" 2>&1) || { echo "$output"; return 1; }
}

run() {
  local counts good bad
  counts=$(mktemp)
  python3 tests/support/suites.py --count "$counts" "$@"
  if read -r good bad <"$counts"; then
    passed=$((passed + good))
    failed=$((failed + bad))
  else
    failed=$((failed + 1))
  fi
  rm -f "$counts"
}

need_packages "${autopack_build_packages[@]}" "${autopack_engine_packages[@]}" \
  "${autopack_test_packages[@]}" || give_up "the packages could not be had" 6

# Little optimised: compiling takes longer than all the tests. What an optimiser suspects differs from one compiler to
# the next, so that warnings are errors in the sanitized build alone.
build build-tests -Doptimization=1 -Ddebug=false -Dcpp_args=-g1 || give_up "the build failed" 6

engine_log=$(mktemp)
fuzz_log=$(mktemp)
engine_pid=$(start_engine "$engine_log")
trap '[ -n "$engine_pid" ] && end_process "$engine_pid"; rm -f "$engine_log" "$fuzz_log"' EXIT

# By clang, whose libFuzzer the fuzz targets need: one build for them and for the tests. Unoptimised: the sanitizers
# make optimising compilers many times slower. All this while the integration tests wait for engines and registries.
# Without ccache: clang's precompiled headers name the directory they were made in, and ccache hands them to others.
(
  renice -n 10 "$BASHPID" >/dev/null
  export CCACHE_DISABLE=1
  compiler=clang++ build build-asan --werror -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false \
    -Doptimization=0 -Ddebug=false -Dcpp_args=-gline-tables-only || exit
  python3 tests/fuzz/run.py build-asan --seconds "$fuzz_seconds" --jobs "$fuzz_jobs" \
    --seed "$fuzz_seed" >"$fuzz_log" 2>&1 || true
) &
sanitized_build=$!

run build-tests unit golden lint integration

export ASAN_OPTIONS=abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export LSAN_OPTIONS=suppressions=$root/tests/support/leaks.txt:print_suppressions=0
if wait "$sanitized_build"; then
  run --name sanitized build-asan unit golden
  read -r good bad < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$fuzz_log")
  grep -v '^ok ' "$fuzz_log"
  passed=$((passed + ${good:-0}))
  failed=$((failed + ${bad:-1}))
else
  echo "the sanitized build failed"
  failed=$((failed + 3))
fi
finish
