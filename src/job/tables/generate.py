#!/usr/bin/env python3
"""Writes the tables of this directory as one C++ file: generate.py DIRECTORY OUTPUT."""

import itertools
import pathlib
import re
import sys


def rows(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.rstrip()


def expand(word):
    """`a{b,c}d` as [abd, acd]."""
    parts = [part.split(",") for part in re.split(r"[{}]", word)]
    return ["".join(choice) for choice in itertools.product(*parts)]


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Writer:
    """Gathers constant arrays; equal ones are shared."""

    def __init__(self):
        self.text, self.names = [], {}

    def array(self, kind, items):
        if not items:
            return "{}"
        key = (kind, tuple(items))
        if key not in self.names:
            self.names[key] = f"array_{len(self.names)}"
            body = ", ".join(items)
            self.text.append(f"constexpr {kind} {self.names[key]}[] = {{{body}}};")
        return self.names[key]

    def words(self, items):
        return self.array("std::string_view", [quoted(item) for item in items])


def machine(out, name, attributes):
    fixed, attached, topologies, disk, flags = [], [], [], None, set()
    for attribute in attributes:
        kind, *values = attribute.split()
        if kind in ("fixed", "attach"):
            pairs = [value.split("=") for value in values]
            entry = [f"{{{quoted(t)}, {out.array('int', n.split(','))}}}" for t, n in pairs]
            fixed, attached = (entry, attached) if kind == "fixed" else (fixed, entry)
        elif kind == "disk":
            disk = values[0]
        else:
            flags.add(kind)
            topologies = values or topologies
    assert flags <= {"tpu", "topology", "arm64"}, (name, flags)
    booleans = ", ".join(str(f in flags).lower() for f in ("tpu", "topology", "arm64"))
    return (
        f"{{{quoted(name)}, {out.array('Accelerators', fixed)}, {out.array('Accelerators', attached)}, "
        f"{booleans}, {out.words(topologies)}, {quoted(disk) if disk else 'std::nullopt'}}}"
    )


def machines(out, path):
    entries = []
    for row in rows(path):
        names, *attributes = row.split("|")
        for name in itertools.chain.from_iterable(expand(n) for n in names.split()):
            entries.append(machine(out, name, attributes))
    return out.array("Machine", sorted(entries))


def prebuilt_images(out, path):
    entries = []
    for row in rows(path):
        names, support, available = row.split()
        entries += [f"{{{quoted(n)}, {quoted(support)}, {quoted(available)}}}" for n in expand(names)]
    return out.array("PrebuiltImage", entries)


BASIC = {"string", "int32", "int64", "double", "bool", "duration", "timestamp", "map", "any", "output"}


def field(out, row, enums):
    name, kind, *flags = row.split()
    assert set(flags) <= {"keyed", "list", "required"}, row
    message, values, open_enum = "", [], False
    if kind in enums:
        kind, (values, open_enum) = "enumeration", enums[kind]
    elif kind not in BASIC:
        kind, message = "message", kind
    kind = {"bool": "boolean", "map": "string_map", "double": "floating"}.get(kind, kind)
    booleans = ", ".join(str(flag in flags).lower() for flag in ("list", "keyed", "required"))
    return (
        f"{{{quoted(name)}, Type::{kind}, {booleans}, {quoted(message)}, {out.words(values)}, "
        f"{str(open_enum).lower()}}}"
    )


def schema(out, paths):
    enums, messages, groups = {}, {}, {}
    for row in itertools.chain.from_iterable(rows(path) for path in paths):
        if row.startswith("enum"):
            keyword, name, *values = row.split()
            enums[name] = (values, keyword == "enum*")
        elif row.startswith("  oneof "):
            groups[name].append(f"{{{out.words(row.split()[1:])}}}")
        elif row.startswith(" "):
            messages[name].append(field(out, row, enums))
        else:
            name = row
            messages[name], groups[name] = [], []
    entries = [
        f"{{{quoted(n)}, {out.array('Field', fields)}, {out.array('OneOf', groups[n])}}}"
        for n, fields in messages.items()
    ]
    return out.array("Message", entries)


def main(directory, output):
    directory, out = pathlib.Path(directory), Writer()
    tables = {
        "std::span<const Message> messages": schema(
            out, [directory / "schema.txt", directory / "legacy_schema.txt"]
        ),
        "std::span<const Machine> machines": machines(out, directory / "machines.txt"),
        "std::span<const std::string_view> regions": out.words(rows(directory / "regions.txt")),
        "std::span<const PrebuiltImage> prebuilt_images": prebuilt_images(
            out, directory / "prebuilt_images.txt"
        ),
    }
    functions = [f"{head}() {{\n  return {name};\n}}" for head, name in tables.items()]
    pathlib.Path(output).write_text(
        "\n".join(
            ['#include "job/tables.hpp"', "", "namespace autopack::job::tables {", "namespace {"]
            + out.text
            + ["}  // namespace", ""]
            + functions
            + ["", "}  // namespace autopack::job::tables", ""]
        ),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
