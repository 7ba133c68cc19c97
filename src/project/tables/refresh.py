#!/usr/bin/env python3
"""Compares the tables of this directory with public data of today, and prints what no longer holds.

    refresh.py [--write]

Asks pip for the metadata of each distribution's newest release; nothing is installed. With --write, requirements that a
newest release no longer has are removed from `distribution_requirements.txt`, modules of this Python's own library are
added to `standard_modules.txt`, and both get today's date. `module_distributions.txt`, `same_names.txt` and
`removed_names.txt` are edited by hand. The exit status is 3 if something differs.
"""

import argparse
import datetime
import json
import pathlib
import re
import subprocess
import sys
import textwrap

import generate

FOLDER = pathlib.Path(__file__).resolve().parent
WIDTH = 116


def normalise(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def newest_requirements(distribution):
    """The names that the newest release requires without an extra; None if pip finds no metadata."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps", "--ignore-installed",
               "--only-binary=:all:", "--report=-", distribution]
    answer = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    if answer.returncode != 0:
        return None
    metadata = json.loads(answer.stdout)["install"][0]["metadata"]
    return {normalise(re.match(r"[\w.-]+", line).group())
            for line in metadata.get("requires_dist", []) if "extra ==" not in line}


def wrapped(text):
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def write(name, lines):
    path = FOLDER / name
    head = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    today = datetime.date.today().isoformat()
    head = [re.sub(r"\d{4}-\d\d-\d\d", today, line) for line in head]
    path.write_text("\n".join(head + lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    differs = False
    kept = []
    for distribution, row in generate.pairs(FOLDER / "distribution_requirements.txt"):
        newest = newest_requirements(distribution)
        words = row.split()
        gone = [word for word in words if newest is not None and word not in newest]
        if newest is None:
            print(f"{distribution}: no wheel with metadata; not compared")
        elif gone:
            differs = True
            print(f"{distribution}: its newest release does not require {' '.join(gone)}")
        left = " ".join(word for word in words if word not in gone)
        if left:
            kept += wrapped(f"{distribution}: {left}")
    known = generate.words(FOLDER / "standard_modules.txt")
    added = sorted(name for name in sys.stdlib_module_names if not name.startswith("_") and name not in known)
    if added:
        differs = True
        print(f"standard modules that are missing: {' '.join(added)}")
    if arguments.write:
        write("distribution_requirements.txt", kept)
        write("standard_modules.txt", wrapped(" ".join(sorted([*known, *added]))))
    sys.exit(3 if differs and not arguments.write else 0)


if __name__ == "__main__":
    main()
