#!/bin/bash
# Prepares data, then trains; a job that is more than one Python file.
set -euo pipefail

here=$(dirname "$0")
workspace=$(mktemp -d)
trap 'rm -rf "$workspace"' EXIT

echo "preparing ${ROWS:-100} rows"
awk -v rows="${ROWS:-100}" 'BEGIN { for (i = 0; i < rows; ++i) print i, 3 * i + 2 }' >"$workspace/data.txt"
python3 "$here/fit.py" "$workspace/data.txt" "$@"
