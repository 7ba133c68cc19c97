#!/bin/bash
# The whole path on this machine, without any account: packages the example in examples/script, builds
# it with a real Docker Engine, pushes it to a real registry on loopback and runs it from its digest.
#
#   examples/quickstart.sh [--no-engine] [--binary AUTOPACK]
#
# Where no engine can run, or with --no-engine, the base is an OCI layout, the image is put together without an
# engine and written to another layout, and the program is run in a changed root where that is allowed.
# An autopack that is installed is used, else it is built. On a fresh Debian or Ubuntu machine run it as root: it
# installs what is missing. What it starts it ends.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
# shellcheck source=support.sh
. "$here/support.sh"

engine=yes
binary=
while [ $# -gt 0 ]; do
  case $1 in
    --no-engine) engine=no ;;
    --binary) binary=$(realpath "$2"); shift ;;
    *) say "usage: quickstart.sh [--no-engine] [--binary AUTOPACK]"; exit 2 ;;
  esac
  shift
done

step() {
  printf '\n== %s\n' "$*"
}

show() {
  printf '$ %s\n' "$*"
  "$@"
}

scratch=$(mktemp -d)
engine_pid=
registry_pid=
target=

# shellcheck disable=SC2317  # called by the trap
clean_up() {
  [ -n "$target" ] && docker images --format '{{.Repository}}:{{.Tag}}' "$target" 2>/dev/null |
    grep -v '<none>' | xargs -r docker rmi --force >/dev/null 2>&1
  [ -n "$registry_pid" ] && end_process "$registry_pid"
  [ -n "$engine_pid" ] && end_process "$engine_pid"
  rm -rf "$scratch"
}
trap clean_up EXIT

if [ -z "$binary" ] && binary=$(command -v autopack); then
  echo "The autopack that is installed is used: $binary. Another one: --binary AUTOPACK"
fi

step 'Install what is missing'
[ -n "$binary" ] || need_packages "${autopack_build_packages[@]}"
need_packages "${autopack_base_packages[@]}"
if [ "$engine" = yes ] && ! need_packages "${autopack_engine_packages[@]}"; then
  engine=no
fi

if [ -z "$binary" ]; then
  step 'Build autopack, which takes some minutes'
  if [ ! -f "$root/build-release/build.ninja" ]; then
    meson setup "$root/build-release" "$root" --buildtype=release >"$scratch/build.log" ||
      { cat "$scratch/build.log"; exit 1; }
  fi
  ninja -C "$root/build-release" src/autopack >"$scratch/build.log" || { cat "$scratch/build.log"; exit 1; }
  binary=$root/build-release/src/autopack
fi
autopack() {
  "$binary" "$@"
}
show autopack --version

step 'A copy of the project in examples/script, free to be edited'
cp -r "$here/script" "$scratch/script"
cd "$scratch/script"
find . -type f

without_engine() {
  local base=oci:$scratch/base image=$scratch/image
  local build=(autopack build --executor-image-uri="$base" --script=trainer/task.py --engine=direct
    --display-name=quickstart --output="oci:$image")

  step 'Make an executor image with Python and numpy, as an OCI layout'
  make_executor_layout "$scratch/base"
  du -sh "$scratch/base"

  step 'Package: the image is put together without an engine and written to an OCI layout'
  show "${build[@]}" --output="tar:$scratch/image.tar"
  ls -l "$image" "$scratch/image.tar"

  step 'Run it'
  run_without_engine "$image"

  step 'Edit one line and do it again: only the code is made and written'
  sed -i 's/default=200/default=400/' trainer/task.py
  show "${build[@]}"
  run_without_engine "$image"

  step 'With a Google project: what would be sent to Vertex AI'
  show autopack submit --display-name=quickstart --project=my-project --region=us-central1 --dry-run \
    --worker-pool-spec="machine-type=n1-standard-4,executor-image-uri=$base,local-package-path=.,script=trainer/task.py"

  step 'Done, without an engine'
  echo 'Not done here: a push. With --output-image-uri=REGISTRY/NAME the same command pushes, without an engine too.'
}

run_without_engine() {
  local status=0
  echo '(its layers unpacked, in a changed root: no container, no limits)'
  run_layout "$1" "$scratch" || status=$?
  if [ "$status" = 77 ]; then
    echo 'NOT RUN: changing the root needs root or user namespaces, and this machine allows neither.'
  elif [ "$status" != 0 ]; then
    return "$status"
  fi
}

if [ "$engine" = yes ] && ! engine_pid=$(start_engine "$scratch/dockerd.log"); then
  engine=no
fi
if [ "$engine" = no ]; then
  step 'No engine: the job is done with an OCI layout instead'
  without_engine
  exit
fi

step 'Start a registry'
port=$(free_port)
bash "$here/support.sh" run_registry "$scratch/registry" "$port" >"$scratch/registry.log" 2>&1 </dev/null &
registry_pid=$!
wait_for_url "http://127.0.0.1:$port/v2/"
target=127.0.0.1:$port/team/script
echo "registry at 127.0.0.1:$port"

step 'Make an executor image with Python and numpy'
executor=autopack-examples/python:1
make_executor_image "$executor"
docker images "$executor"

step 'The Dockerfile that autopack writes for it'
show autopack dockerfile --executor-image-uri="$executor" --script=trainer/task.py

pool=machine-type=n1-standard-4,executor-image-uri=$executor,local-package-path=.,script=trainer/task.py
pool+=,output-image-uri=$target:v1
submit=(autopack submit --display-name=quickstart --worker-pool-spec="$pool")

step 'Package, build, push, and run the pushed digest as a job'
show "${submit[@]}" --submitter=local

step 'Edit one line and do it again: only the code is built and pushed'
sed -i 's/default=200/default=400/' trainer/task.py
started=$(date +%s%N)
show "${submit[@]}" --submitter=local
echo "took $((($(date +%s%N) - started) / 1000000)) ms, training included"

step 'The same command line with a Google project: what would be sent to Vertex AI'
show "${submit[@]}" --project=my-project --region=us-central1 --dry-run

step 'Done'
