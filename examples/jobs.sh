#!/bin/bash
# Jobs without an account: starts the stand-in of Google's APIs on loopback, submits a job to it, follows it to its
# end, lists what is there and cancels another. Needs autopack on PATH, or built in this checkout, and Python.
#
#   examples/jobs.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
PATH=$PATH:$root/build-release/src:$root/build/src

show() {
  printf '$ %s\n' "$*"
  "$@"
}

scratch=$(mktemp -d)
server=

# shellcheck disable=SC2317  # called by the trap
clean_up() {
  if [ -n "$server" ]; then
    kill "$server"
    wait "$server" || true
  fi
  rm -rf "$scratch"
}
trap clean_up EXIT

python3 "$root/tests/support/vertex_server.py" --states 'PENDING,RUNNING*2,SUCCEEDED' >"$scratch/port" &
server=$!
for _ in $(seq 100); do
  [ -s "$scratch/port" ] && break
  sleep 0.1
done
address=http://127.0.0.1:$(cat "$scratch/port")/
export CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=$address CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING=$address
echo 'a-token-of-the-stand-in' >"$scratch/token"
export CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=$scratch/token
export CLOUDSDK_CORE_PROJECT=my-project CLOUDSDK_AI_REGION=us-central1

image=us-docker.pkg.dev/my-project/team/train:v1
show autopack submit --display-name=first "--container-image-uri=$image" --stream-logs --polling-interval=1
show autopack submit --display-name=second "--container-image-uri=$image" --machine-type=n1-highmem-4
show autopack jobs list
show autopack jobs cancel second
show autopack jobs describe --latest '--format=value(state)'
