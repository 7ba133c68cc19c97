#!/bin/bash
# Parses every shell script of the project and runs shellcheck over them.   check_shell.sh ROOT
set -euo pipefail
cd "$1"
command -v shellcheck >/dev/null || {
  echo 'shellcheck is not installed: apt-get install shellcheck' >&2
  exit 1
}
scripts=(.ci/run)
while IFS= read -r -d '' file; do
  scripts+=("$file")
done < <(find tests examples -name '*.sh' -print0 | sort -z)
for script in "${scripts[@]}"; do
  bash -n "$script"
done
shellcheck --external-sources --source-path=SCRIPTDIR --shell=bash "${scripts[@]}"
echo "${#scripts[@]} scripts are clean"
