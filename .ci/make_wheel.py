#!/usr/bin/env python3
"""Makes a Python wheel of what a build directory installs, with the shared libraries that the binary loads.

    make_wheel.py BUILD_DIRECTORY OUTPUT_DIRECTORY [COMPRESSION_LEVEL]

The wheel runs on any distribution with the glibc that its tag names, or a newer one, and needs none of its libraries:
build on the oldest release that it has to run on. The same build gives the same bytes.
"""

import base64
import hashlib
import pathlib
import platform
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile

from package_support import headers, install, library_of_opened, linked_libraries, opened_libraries, output, version

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Zip files have no earlier one.
TIME = (1980, 1, 1, 0, 0, 0)
# Below the prefix, beside `bin`. `pip install --target` leaves out what a wheel has in `lib`.
LIBRARIES = 'libexec/autopack'
# Belong to the machine: they must fit its loader and its configuration.
GLIBC = re.compile(r'(ld-linux[\w-]*|ld64|lib(anl|c|dl|m|mvec|pthread|resolv|rt|util))\.so\.\d+')
# libcurl and libarchive are linked to these for protocols and formats that autopack never uses: LDAP, RTMP, and xar
# archives. Together with what they need, they would be two thirds of the wheel.
UNUSED = re.compile(r'lib(lber|ldap|rtmp|xml2)[.-]')


def loaded_libraries(binary, directory):
    """Returns name -> path of the libraries that the binary loads, and the names of unused ones -> who is linked to them."""
    listed = ''.join(output('ldd', file) for file in (binary, library_of_opened(binary, directory)))
    paths = dict(re.findall(r'(\S+) => (/\S+)', listed))
    loaded, unused = {}, {}
    left = [(name, binary) for name in linked_libraries(binary) + opened_libraries(binary)]
    while left:
        name, user = left.pop()
        if UNUSED.match(name):
            unused.setdefault(name, []).append(user)
        elif name not in loaded and not GLIBC.fullmatch(name):
            loaded[name] = pathlib.Path(paths[name])
            left += [(needed, loaded[name]) for needed in linked_libraries(loaded[name])]
    return loaded, {name: (pathlib.Path(paths[name]), users) for name, users in unused.items()}


def symbols(file, which):
    lines = output('nm', '--dynamic', f'--{which}-only', file).splitlines()
    return {fields[-1].replace('@@', '@'): fields[-2] for fields in map(str.split, lines)}


def make_stub(target, library, users):
    """Makes a library with the functions of `library` that its users are linked to. They end the process."""
    defined = symbols(library, 'defined')
    used = sorted({name for user in users for name in symbols(user, 'undefined')} & defined.keys())
    assert all(defined[name] in 'TWi' for name in used), f'{library} has data that is used'
    versions = {}
    for name, _, tag in (one.partition('@') for one in used):
        versions.setdefault(tag, []).append(name)
    script = target.with_suffix('.map')
    script.write_text(''.join(f'{tag} {{ {"; ".join(names)}; }};\n' for tag, names in versions.items()))
    functions = (name for names in versions.values() for name in names)
    source = ''.join(f'extern "C" void {name}() {{ __builtin_trap(); }}\n' for name in functions)
    subprocess.run(['g++', '-shared', '-fPIC', '-nostdlib', '-s', '-Wl,--build-id=none', f'-Wl,-soname,{target.name}',
                    f'-Wl,--version-script={script}', '-o', target, '-x', 'c++', '-'], input=source, text=True, check=True)
    script.unlink()


def make_libraries(binary, target):
    """Copies what the binary loads to `target`, and makes it look there; returns the paths of the originals."""
    target.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        loaded, unused = loaded_libraries(binary, pathlib.Path(scratch))
    for name, path in loaded.items():
        shutil.copyfile(path, target / name)
        # A library with a path of its own ignores that of the binary.
        if re.search(r' R(UN)?PATH ', headers(path)):
            subprocess.run(['patchelf', '--remove-rpath', target / name], check=True)
    for name, (path, users) in unused.items():
        make_stub(target / name, path, users)
    # An RPATH also holds for what the libraries need, and for those that the binary opens.
    subprocess.run(['patchelf', '--force-rpath', '--set-rpath', f'$ORIGIN/../{LIBRARIES}', binary], check=True)
    return loaded.values()


def licences(paths):
    """Returns name -> file: the copyright files of the Debian packages that the libraries are from."""
    found = {'autopack/LICENSE': ROOT / 'LICENSE'}
    for path in paths:
        # dpkg knows the names from before /lib became a link, or those from after it.
        names = {str(path), str(path.resolve()), str(path.resolve()).removeprefix('/usr')}
        said = subprocess.run(['dpkg-query', '--search', *names], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, check=False).stdout
        package = said.partition(':')[0]
        found[f'{package}/copyright'] = pathlib.Path('/usr/share/doc', package, 'copyright')
    return found


def platform_tag(files):
    """Returns the tag of the oldest glibc that has all symbols which the files need."""
    text = ''.join(map(headers, files))
    minor = max(int(number) for number in re.findall(r'\bGLIBC_2\.(\d+)', text))
    if 'GLIBC_ABI_DT_RELR' in text:
        minor = max(minor, 36)
    return f'manylinux_2_{minor}_{platform.machine()}'


def metadata(number):
    return (f'Metadata-Version: 2.1\nName: autopack\nVersion: {number}\n'
            'Summary: Package training code as container images and run it on Vertex AI\n'
            'License: Apache-2.0\nClassifier: License :: OSI Approved :: Apache Software License\n'
            'Classifier: Operating System :: POSIX :: Linux\nRequires-Python: >=3.8\n'
            f'Description-Content-Type: text/markdown\n\n{(ROOT / "README.md").read_text(encoding="utf-8")}')


def contents(build, stage):
    """Returns name -> file or text of everything in the wheel but RECORD, and the tag of its platform."""
    binary, number = install(build, stage), version(build)
    libraries = make_libraries(binary, stage / 'usr' / LIBRARIES)
    installed = {str(path.relative_to(stage / 'usr')): path for path in (stage / 'usr').rglob('*') if path.is_file()}
    tag = platform_tag([binary, *libraries])
    del installed['bin/autopack']
    data, about = f'autopack-{number}.data', f'autopack-{number}.dist-info'
    return {
        **{f'autopack/{path.name}': path for path in (ROOT / '.ci' / 'python' / 'autopack').iterdir() if path.is_file()},
        f'{data}/scripts/autopack': binary,
        **{f'{data}/data/{name}': path for name, path in installed.items()},
        **{f'{about}/licenses/{name}': path for name, path in licences(libraries).items()},
        f'{about}/METADATA': metadata(number),
        f'{about}/WHEEL': f'Wheel-Version: 1.0\nGenerator: make_wheel.py\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n',
    }, tag


def write(wheel, files, record, level):
    """Writes the wheel: files in the order of their names, those about the wheel last, as the specification recommends."""
    lines = []
    with zipfile.ZipFile(wheel, 'w', zipfile.ZIP_DEFLATED) as archive:
        def add(name, data, executable):
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix: the mode counts
            entry.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
            archive.writestr(entry, data, compresslevel=level)

        for name in sorted(files, key=lambda name: ('.dist-info/' in name, name)):
            source = files[name]
            data = source.encode() if isinstance(source, str) else source.read_bytes()
            add(name, data, isinstance(source, pathlib.Path) and source.stat().st_mode & 0o100)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
            lines.append(f'{name},sha256={digest},{len(data)}\n')
        add(record, ''.join([*lines, f'{record},,\n']), False)


def main():
    if not shutil.which('patchelf'):
        sys.exit('a wheel is made with patchelf: apt-get install patchelf')
    build, target = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    level = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    with tempfile.TemporaryDirectory() as scratch:
        files, tag = contents(build, pathlib.Path(scratch) / 'stage')
        target.mkdir(parents=True, exist_ok=True)
        wheel = target / f'autopack-{version(build)}-py3-none-{tag}.whl'
        write(wheel, files, f'autopack-{version(build)}.dist-info/RECORD', level)
    print(wheel)
    print(f'next: pip install {wheel}, then: cd examples/script && autopack run', file=sys.stderr)


main()
