#!/usr/bin/env python3
"""embed.py OUTPUT FILE...: writes C++ that holds each file's text under its name."""

import pathlib
import sys


def main() -> None:
    output, *files = (pathlib.Path(name) for name in sys.argv[1:])
    text = '#include "plan/templates.hpp"\n\nnamespace autopack::plan {\n\n'
    text += "std::span<const Template> embedded_templates() {\n"
    text += f"  static constexpr std::array<Template, {len(files)}> all{{{{\n"
    for file in files:
        text += f'      {{"{file.name}", R"template({file.read_text(encoding="utf-8")})template"}},\n'
    text += "  }};\n  return all;\n}\n\n}  // namespace autopack::plan\n"
    output.write_text(text, encoding="utf-8")


main()
