"""What the scripts that make packages share: installing into a folder, and the libraries that the binary loads."""

import functools
import json
import pathlib
import re
import shutil
import subprocess
import tempfile


def output(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def version(build):
    return json.loads(output('meson', 'introspect', '--projectinfo', build))['version']


def options(build):
    """Returns the values of meson's options, by name."""
    return {option['name']: option['value'] for option in json.loads(output('meson', 'introspect', '--buildoptions', build))}


def install(build, stage):
    """Installs below /usr, whatever prefix the build has; returns the binary, without symbols."""
    with tempfile.TemporaryDirectory() as given:
        subprocess.run(['meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', given], check=True)
        shutil.copytree(given + options(build)['prefix'], stage / 'usr', symlinks=True)
    binary = stage / 'usr' / 'bin' / 'autopack'
    subprocess.run(['strip', binary], check=True)
    return binary


@functools.cache
def headers(file):
    return output('objdump', '--private-headers', file)


def linked_libraries(file):
    return re.findall(r'NEEDED +(\S+)', headers(file))


def opened_libraries(binary):
    """The libraries that the binary names without being linked to them."""
    named = set(re.findall(rb'(?<![\w+./:-])(lib[\w+-]+\.so\.[0-9.]*[0-9])\0', pathlib.Path(binary).read_bytes()))
    return sorted({name.decode() for name in named} - set(linked_libraries(binary)))


def library_of_opened(binary, directory):
    """Makes a library that is linked to the opened libraries, for tools that follow only such links."""
    stub = directory / 'opened.so'
    libraries = [f'-l:{name}' for name in opened_libraries(binary)]
    subprocess.run(['g++', '-shared', '-nostdlib', '-o', stub, '-Wl,--no-as-needed', *libraries], check=True)
    return stub
