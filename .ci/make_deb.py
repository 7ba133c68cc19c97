#!/usr/bin/env python3
"""Makes a Debian package of what a build directory installs.

    make_deb.py BUILD_DIRECTORY OUTPUT_DIRECTORY

The package depends on what the binary is linked to and on what it opens when it first needs it, both as
dpkg-shlibdeps reckons it for the release this runs on: build on the release you install on. The same build
gives the same bytes when SOURCE_DATE_EPOCH is set.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from package_support import install, library_of_opened, output, version

DESCRIPTION = """package training code as container images and run it on Vertex AI
 autopack scans a directory with training code, writes a Dockerfile that can be
 reviewed, builds and pushes the image and submits the job by its digest."""

# Only the first installation, which has no older version as its second argument.
POSTINST = """#!/bin/sh
if [ "$1" = configure ] && [ -z "$2" ]; then
  echo "autopack is at /usr/bin/autopack; next: cd /usr/share/doc/autopack/examples/script && autopack run"
fi
"""


def dependencies(binary, directory):
    """The packages of the libraries. Those that are opened are asked for through a library linked to them."""
    (directory / 'debian').mkdir()
    (directory / 'debian' / 'control').write_text('Source: autopack\n\nPackage: autopack\nArchitecture: any\n')
    stub = library_of_opened(binary, directory)
    said = output('dpkg-shlibdeps', '-O', '--warnings=0', f'-e{binary}', f'-e{stub}', cwd=directory,
                  stderr=subprocess.DEVNULL)
    return re.search(r'^shlibs:Depends=(.*)$', said, re.M).group(1)


def main():
    build, target = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    architecture = output('dpkg', '--print-architecture').strip()
    with tempfile.TemporaryDirectory() as scratch:
        stage = pathlib.Path(scratch) / 'stage'
        binary = install(build, stage)
        completions = stage / 'usr' / 'share' / 'zsh'
        (completions / 'site-functions').rename(completions / 'vendor-completions')
        page = stage / 'usr' / 'share' / 'man' / 'man1' / 'autopack.1'
        subprocess.run(['gzip', '-9n', page], check=True)
        documents = stage / 'usr' / 'share' / 'doc' / 'autopack'
        shutil.copy(pathlib.Path(__file__).parent.parent / 'LICENSE', documents / 'copyright')
        size = sum(path.lstat().st_size for path in stage.rglob('*') if path.is_file()) // 1024 + 1
        (stage / 'DEBIAN').mkdir()
        (stage / 'DEBIAN' / 'control').write_text(
            f'Package: autopack\nVersion: {version(build)}\nArchitecture: {architecture}\nSection: science\nPriority: optional\n'
            f'Maintainer: The authors of autopack <autopack@localhost>\nInstalled-Size: {size}\n'
            f'Depends: {dependencies(binary, pathlib.Path(scratch))}, ca-certificates\n'
            f'Suggests: docker.io | podman, git\nDescription: {DESCRIPTION}\n')
        (stage / 'DEBIAN' / 'postinst').write_text(POSTINST)
        (stage / 'DEBIAN' / 'postinst').chmod(0o755)
        for path in [stage, *stage.rglob('*')]:
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        target.mkdir(parents=True, exist_ok=True)
        package = target / f'autopack_{version(build)}_{architecture}.deb'
        subprocess.run(['dpkg-deb', '--root-owner-group', '--build', stage, package], check=True, stdout=subprocess.DEVNULL)
    print(package)
    print(f'next: sudo apt install {package}', file=sys.stderr)


main()
