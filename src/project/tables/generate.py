#!/usr/bin/env python3
"""Writes the tables of this directory as one C++ file: generate.py DIRECTORY OUTPUT."""

import pathlib
import sys


def rows(path):
    """The rows of a table; an indented line continues the row above it."""
    joined = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            joined[-1] += " " + line.strip()
        elif line and not line.startswith("#"):
            joined.append(line)
    return joined


def words(path):
    return " ".join(rows(path)).split()


def pairs(path):
    return [line.split(": ", 1) for line in rows(path)]


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def array(kind, name, items):
    body = "".join(f"    {item},\n" for item in items)
    return f"constexpr {kind} {name}[] = {{\n{body}}};\n"


def pair_array(name, table):
    return array("DistributionRow", name, [f"{{{quoted(left)}, {quoted(right)}}}" for left, right in table])


def word_array(name, items):
    return array("std::string_view", name, map(quoted, sorted(items)))


def removed_row(line):
    module, names, version, instead = (part.strip() for part in line.split("|"))
    minor = int(version.removeprefix("3."))
    advice = quoted(instead) if instead else "{}"
    return f"{{{quoted(module)}, {quoted(names)}, {minor}, {advice}}}"


def main():
    folder, output = map(pathlib.Path, sys.argv[1:])
    text = [
        '#include "project/tables/tables.hpp"\n',
        "namespace autopack::project {\n",
        "namespace {\n",
        pair_array("requirement_rows", pairs(folder / "distribution_requirements.txt")),
        pair_array("module_rows", pairs(folder / "module_distributions.txt")),
        word_array("same_names", words(folder / "same_names.txt")),
        word_array("standard_modules", words(folder / "standard_modules.txt")),
        array("RemovedName", "removed", map(removed_row, rows(folder / "removed_names.txt"))),
        "}  // namespace\n",
    ]
    functions = [
        ("DistributionRow", "known_requirements", "requirement_rows"),
        ("DistributionRow", "modules_of_other_names", "module_rows"),
        ("std::string_view", "modules_of_same_names", "same_names"),
        ("std::string_view", "standard_module_names", "standard_modules"),
        ("RemovedName", "removed_names", "removed"),
    ]
    for kind, name, table in functions:
        text.append(f"std::span<const {kind}> {name}() {{\n  return {table};\n}}\n")
    text.append("}  // namespace autopack::project\n")
    output.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
