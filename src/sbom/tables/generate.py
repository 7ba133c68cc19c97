#!/usr/bin/env python3
"""Writes the tables of this directory as one C++ file: generate.py DIRECTORY OUTPUT."""

import pathlib
import sys


def main():
    folder, output = map(pathlib.Path, sys.argv[1:])
    lines = (folder / 'licences.txt').read_text(encoding='utf-8').splitlines()
    words = sorted(' '.join(line for line in lines if not line.startswith('#')).split(), key=str.lower)
    body = ''.join(f'    "{word}",\n' for word in words)
    output.write_text(f"""#include "sbom/licence.hpp"

namespace autopack::sbom {{

namespace {{

constexpr std::string_view licence_names[] = {{
{body}}};

}}  // namespace

std::span<const std::string_view> known_licences() {{
  return licence_names;
}}

}}  // namespace autopack::sbom
""", encoding='utf-8')


if __name__ == '__main__':
    main()
