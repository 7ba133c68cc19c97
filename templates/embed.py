#!/usr/bin/env python3
"""Writes C++ that holds the text of files.

    embed.py templates OUTPUT FILE...   each file's text under its name
    embed.py page OUTPUT FILE           the page of `autopack explain --html`
"""

import pathlib
import sys


def literal(file: pathlib.Path) -> str:
    return f'R"template({file.read_text(encoding="utf-8")})template"'


def templates(files: list[pathlib.Path]) -> str:
    text = '#include "plan/templates.hpp"\n\nnamespace autopack::plan {\n\n'
    text += "std::span<const Template> embedded_templates() {\n"
    text += f"  static constexpr std::array<Template, {len(files)}> all{{{{\n"
    for file in files:
        text += f'      {{"{file.name}", {literal(file)}}},\n'
    return text + "  }};\n  return all;\n}\n\n}  // namespace autopack::plan\n"


def page(files: list[pathlib.Path]) -> str:
    text = '#include "cli/explanation_page.hpp"\n\nnamespace autopack::cli {\n\n'
    text += f"std::string_view explanation_template() {{\n  return {literal(files[0])};\n}}\n\n"
    return text + "}  // namespace autopack::cli\n"


def main() -> None:
    what, (output, *files) = sys.argv[1], [pathlib.Path(name) for name in sys.argv[2:]]
    output.write_text({"templates": templates, "page": page}[what](files), encoding="utf-8")


main()
