#!/usr/bin/env python3
"""Installs what a build directory has built into its prefix, and prints the next command to type.

    install.py BUILD_DIRECTORY

`meson install` builds the tests first, and shows nothing of what its scripts print.
"""

import pathlib
import shlex
import shutil
import subprocess
import sys

from package_support import options


def main():
    build = sys.argv[1]
    subprocess.run(['meson', 'install', '-C', build, '--no-rebuild', '--quiet'], check=True)
    values = options(build)
    binary = pathlib.Path(values['prefix']) / values['bindir'] / 'autopack'
    command = 'autopack' if shutil.which('autopack') == str(binary) else shlex.quote(str(binary))
    print(f'autopack is at {binary}; next: cd examples/script && {command} run')


main()
