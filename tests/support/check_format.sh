#!/bin/bash
# Holds every C++ file against .clang-format.   check_format.sh ROOT
set -euo pipefail
cd "$1"
tool=$(command -v clang-format-14 || command -v clang-format) || {
  echo 'clang-format is not installed: apt-get install clang-format' >&2
  exit 1
}
find src tests \( -name '*.cpp' -o -name '*.hpp' \) -print0 | sort -z |
  xargs -0 "$tool" --dry-run --Werror
echo "formatted as .clang-format says"
