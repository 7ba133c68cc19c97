#!/bin/bash
# Builds autopack and runs every test, from any directory, on a fresh Debian or Ubuntu machine.
# As root it installs what is missing. The last line is `N passed, N failed`.
# The daily form takes a sample of each sweep, runs unit and golden tests in the sanitized build alone, replays the
# corpora of the fuzz targets, and compiles with clang alone. With --nightly sweeps take more, both tests also run in an
# ordinary build by g++, and each target is fuzzed for ten seconds. With --long sweeps take everything: hours instead of minutes. With --tidy-all clang-tidy
# looks at every file.
# With --coverage unit, golden and integration tests run in a build that counts lines, and nothing else does.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
exec </dev/null

# The nightly form fuzzes with one seed, so that a change does not fail because of earlier ones; the long form takes
# another seed each time.
fuzz=(--replay)
compiler=clang++
options=(-Dcpp_args="-O0 -g1")
suites=(lint integration)
sanitized=build-asan
instrumented=false
# Checks at each access to a member, a quarter of the compiler's time: a null pointer ends the program anyway.
checks=" -fno-sanitize=null,alignment,vptr,object-size"
tidy_files=()
coverage=
for option in "$@"; do
  case "$option" in
    --nightly) export AUTOPACK_TESTS=nightly && fuzz=(--seconds 10 --seed 1) ;;
    --long) export AUTOPACK_TESTS=long && fuzz=(--seconds 3600) ;;
    --tidy-all) tidy_files=(--all) ;;
    --coverage) coverage=1 ;;
    *) echo "usage: tests/run.sh [--nightly] [--long] [--tidy-all] [--coverage]" && exit 2 ;;
  esac
done
# Reading a corpus needs no instrumentation, which costs the compiler a fifth of its time: a build that fuzzes has a
# directory of its own.
if [ "${fuzz[0]}" != --replay ]; then
  compiler=g++
  options=(-Dcpp_args=-g1)
  suites=(unit golden lint integration)
  sanitized=build-asan-fuzz
  instrumented=true
  checks=
fi

# shellcheck source=../examples/support.sh
. examples/support.sh

# This machine's package settings are not the tests'.
for name in ${!PIP_*} ${!AUTOPACK_*} ${!CLOUDSDK_*}; do
  [ "$name" = AUTOPACK_TESTS ] || unset "$name"
done

passed=0
failed=0
failures=()
targets=()

# The failures once more, for the end is what is read of an output of thousands of lines.
finish() {
  [ "${#failures[@]}" = 0 ] || printf 'FAILED %s\n' "${failures[@]}"
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

# Where ccache is installed, another clone of the same commit compiles nothing again. Precompiled headers would prevent
# that, and save little where many files compile as one. Half of src/ as one file takes 2 GB of memory, and two thirds of
# the time of 96 files each.
build() {
  local folder=$1 output cxx=${compiler:-g++}
  shift
  command -v ccache >/dev/null && cxx="ccache $cxx"
  export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
  if [ ! -f "$folder/build.ninja" ]; then
    output=$(CXX=$cxx meson setup "$folder" -Db_pch=false -Dfiles_at_once=270 "$@" 2>&1) || { echo "$output"; return 1; }
  fi
  output=$(ninja -C "$folder" "${targets[@]}" 2>&1) || { echo "$output"; return 1; }
}

# Counts the two numbers in FILE, and a failure where they are missing; the lines behind them name failures.
take_counts() {
  local good bad lines
  mapfile -t lines <"$1"
  if read -r good bad <<<"${lines[0]:-}" && [ -n "$bad" ]; then
    passed=$((passed + good))
    failed=$((failed + bad))
    failures+=("${lines[@]:1}")
  else
    failed=$((failed + 1))
    failures+=("a suite ended without its counts")
  fi
}

run() {
  local counts
  counts=$(mktemp)
  python3 tests/support/suites.py --count "$counts" "$@"
  take_counts "$counts"
  rm -f "$counts"
}

# Prints what is worth reading of the log of a part that counts itself, and counts it.
take_log() {
  local name=$1 log=$2 good bad
  read -r good bad < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log")
  grep -Ev '^ok |^[0-9]+ passed, ' "$log"
  printf '%-20s %s passed, %s failed\n' "$name" "${good:-0}" "${bad:-1}"
  passed=$((passed + ${good:-0}))
  failed=$((failed + ${bad:-1}))
  [ "${bad:-1}" = 0 ] || failures+=("$name, see above")
}

need_packages "${autopack_build_packages[@]}" "${autopack_engine_packages[@]}" \
  "${autopack_test_packages[@]}" || give_up "the packages could not be had" 7

engine_log=$(mktemp)
sanitized_log=$(mktemp)
sanitized_counts=$(mktemp)
fuzz_log=$(mktemp)
engines_log=$(mktemp)
tidy_log=$(mktemp)
engine_pid=
tidy=
trap '[ -n "$engine_pid" ] && end_process "$engine_pid"; [ -n "$tidy" ] && kill -- "-$tidy" 2>/dev/null;
  rm -f "$engine_log" "$sanitized_log" "$sanitized_counts" "$fuzz_log" "$engines_log" "$tidy_log"' EXIT

# Counts go to their file as they are made, so that those of a program that ends by a signal or _exit are not lost.
if [ -n "$coverage" ]; then
  counts=$root/build-coverage/raw/%c%m.profraw
  # What meson tries the compiler with knows no file of counts, and would leave one here.
  export CCACHE_DISABLE=1 LLVM_PROFILE_FILE=/dev/null
  compiler=clang++ build build-coverage -Doptimization=0 -Ddebug=false -Dcpp_link_args=-fprofile-instr-generate \
    "-Dcpp_args=-fprofile-instr-generate=$counts -fcoverage-mapping -mllvm -runtime-counter-relocation" ||
    give_up "the build failed" 4
  unset LLVM_PROFILE_FILE
  rm -rf build-coverage/raw && mkdir build-coverage/raw
  engine_pid=$(start_engine "$engine_log")
  run build-coverage unit golden integration
  python3 tests/support/coverage.py build-coverage >"$tidy_log" 2>&1
  take_log coverage "$tidy_log"
  finish
fi

# clang-tidy reads no other compiler's precompiled headers: a build directory of its own, in which nothing is built.
# It has the time that the other parts leave, and is a group of processes, to end it whole.
set -m
(
  renice -n 19 "$BASHPID" >/dev/null
  if [ ! -f build-tidy/build.ninja ]; then
    output=$(CXX=clang++ meson setup build-tidy -Dfuzz=true -Db_lundef=false -Db_pch=false 2>&1) ||
      { echo "$output"; exit; }
  fi
  ninja -C build-tidy build.ninja >/dev/null && python3 tests/support/tidy.py "${tidy_files[@]}" build-tidy
) >"$tidy_log" 2>&1 &
tidy=$!
set +m

# Unoptimised, by clang, in the daily form, which takes half of g++'s time; a little by g++ in the others. What an
# optimiser suspects differs from one compiler to the next, so that warnings are errors in the sanitized build alone.
[ "${suites[0]}" = unit ] || targets=(integration-programs)
begin=$SECONDS
build build-tests -Doptimization=1 -Ddebug=false "${options[@]}" || give_up "the build failed" 7
echo "built in $((SECONDS - begin)) s"
targets=()

# The engine starts many short processes, in which collecting garbage costs more than it frees.
engine_pid=$(GOGC=400 start_engine "$engine_log")

# By clang, whose libFuzzer the fuzz targets need: one build for them and for the tests. Unoptimised: the sanitizers
# make optimising compilers many times slower. All this while the integration tests wait for engines and registries.
# lld links a sanitized program in a quarter of the time. The daily form builds the programs that it runs.
(
  renice -n 10 "$BASHPID" >/dev/null
  begin=$SECONDS
  export CXX_LD=lld
  [ "${suites[0]}" = unit ] || targets=(src/autopack tests/unit/unit_tests tests/golden/golden tests/fuzz/fuzz_parsers)
  compiler=clang++ build "$sanitized" --werror -Dfuzz=true -Dfuzz_coverage=$instrumented -Db_sanitize=address,undefined \
    -Db_lundef=false -Doptimization=0 -Ddebug=false "-Dcpp_args=-gline-tables-only$checks" || exit
  echo "sanitized build      made in $((SECONDS - begin)) s" >"$sanitized_log"
  ASAN_OPTIONS=abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
    LSAN_OPTIONS=suppressions=$root/tests/support/leaks.txt:print_suppressions=0 \
    python3 tests/support/suites.py --name sanitized --count "$sanitized_counts" "$sanitized" unit golden >>"$sanitized_log" 2>&1
  python3 tests/fuzz/run.py "$sanitized" "${fuzz[@]}" --jobs "$(nproc)" >"$fuzz_log" 2>&1 || true
) &
sanitized_build=$!

run build-tests "${suites[@]}"

# Building, pushing and running with engines of another release. Podman's user may not enter root's directories, which
# are the volumes of two tests.
if [ "${AUTOPACK_TESTS:-daily}" != daily ]; then
  for engine in docker-26 docker-26-containerd podman-5; do
    running=test_run.
    [ "$engine" != podman-5 ] || running=test_run.Run.test_s
    python3 tests/support/other_engines.py "$engine" python3 tests/integration/run.py --binary build-tests/src/autopack \
      --lanes 2 "$running" test_own_dockerfile. test_engines.FailingBuild >"$engines_log" 2>&1 || true
    take_log "$engine" "$engines_log"
  done
fi

# Jobs on Kubernetes, with the real server and its controllers, where the scripts that build and start them are beside this
# repository. The first build of them takes half an hour.
control_plane=../shared/tools/kubernetes/up.sh
if [ "${AUTOPACK_TESTS:-daily}" != daily ] && [ -x "$control_plane" ]; then
  export KUBE=${XDG_CACHE_HOME:-$HOME/.cache}/test-kubernetes
  if "$control_plane" >"$engines_log" 2>&1; then
    AUTOPACK_TESTS=daily python3 tests/integration/run.py --binary build-tests/src/autopack \
      --kubernetes "$KUBE/run/submitter.kubeconfig" test_kubernetes. >"$engines_log" 2>&1 || true
  fi
  take_log kubernetes "$engines_log"
  "$control_plane" down
fi

if wait "$sanitized_build"; then
  cat "$sanitized_log"
  take_counts "$sanitized_counts"
  take_log fuzz "$fuzz_log"
else
  echo "the sanitized build failed"
  failed=$((failed + 3))
fi
wait "$tidy"
take_log clang-tidy "$tidy_log"
echo "ran for $((SECONDS / 60)) min $((SECONDS % 60)) s"
finish
