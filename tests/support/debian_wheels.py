"""Packs wheels with real content from Debian's own Python packages, including the shared libraries that they need.

    debian_wheels.py --to DIRECTORY [--as NAME==VERSION]... PACKAGE...

PACKAGE is a name such as python3-numpy; its dependencies are packed too. Packages are downloaded by apt, not
installed. `--as` packs a distribution again under another version, for projects that pin one.
"""

import argparse
import contextlib
import fcntl
import functools
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import wheel_writer

CACHE = pathlib.Path(os.environ.get('XDG_CACHE_HOME', pathlib.Path.home() / '.cache')) / 'autopack-tests'
# Libraries of every base with glibc.
SYSTEM_LIBRARIES = re.compile(r'(ld-linux.*|lib(c|m|dl|pthread|rt|util|resolv|mvec|anl|nsl))\.so\b.*')
# Distribution -> its package, and the directory of data that Debian moved out of it.
DATA = {'pytz': ('pytz', 'usr/share/zoneinfo'), 'matplotlib': ('matplotlib', 'usr/share/matplotlib/mpl-data')}
# Not packed, because every environment has its own.
INSTALLERS = {'pip', 'setuptools', 'wheel'}


@contextlib.contextmanager
def alone_in(folder):
    """Waits until no other process is working in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / 'lock', 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def output(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, **options).stdout


def normalise(name):
    return re.sub(r'[-_.]+', '-', name).lower()


def download(packages, cache):
    """Returns the archives of `packages` and of all their dependencies, as on a machine with nothing installed."""
    (cache / 'archives' / 'partial').mkdir(parents=True, exist_ok=True)
    (cache / 'status').touch()
    apt = ['apt-get', '-o', f'Dir::State::status={cache}/status', '-o', f'Dir::Cache::archives={cache}/archives',
           '-o', 'Debug::NoLocking=true', '-o', 'APT::Sandbox::User=root', '--no-install-recommends', '--yes', '--quiet=2']
    output(*apt, '--download-only', 'install', *packages)
    listed = output(*apt, '--simulate', 'install', *packages).decode()
    names = re.findall(r'^Inst (\S+) \((\S+) .*?\[(\w+)\]\)', listed, re.M)
    return {name: cache / 'archives' / f'{name}_{version.replace(":", "%3a")}_{architecture}.deb'
            for name, version, architecture in names}


def unpack(archive, cache):
    folder = cache / 'unpacked' / archive.stem
    if not folder.exists():
        partial = folder.with_name(f'{folder.name}.{os.getpid()}')
        partial.mkdir(parents=True, exist_ok=True)
        output('dpkg-deb', '--extract', archive, partial)
        partial.rename(folder)
    return folder


class Debian:
    """The contents of the unpacked packages: distributions and shared libraries."""

    def __init__(self, packages, cache=CACHE / 'debian'):
        with alone_in(cache):
            archives = download(packages, cache)
            self.folders = {name: unpack(archive, cache) for name, archive in archives.items()}
        self.archives = archives
        self.libraries = {}
        for folder in self.folders.values():
            for path in [*folder.glob('usr/lib/*.so*'), *folder.glob('usr/lib/*-linux-gnu*/**/*.so*'),
                         *folder.glob('lib/*-linux-gnu*/*.so*')]:
                self.libraries.setdefault(path.name, path)

    @functools.cached_property
    def distributions(self):
        """Normalised name -> Distribution, of every package that has metadata."""
        parts, without_metadata = {}, {}
        for package, folder in self.folders.items():
            root = folder / 'usr' / 'lib' / 'python3' / 'dist-packages'
            if not root.is_dir():
                continue
            metadata = [path for path in root.iterdir() if path.name.endswith(('.egg-info', '.dist-info'))]
            if len(metadata) == 1:
                parts[package] = Distribution(self, package, metadata[0], [root])
            elif not metadata:
                without_metadata[package] = root
        for package, root in without_metadata.items():
            owners = [name for name in parts if package.startswith(name) or f'{name}-' in package.replace('-lib', '-')]
            if owners:
                parts[max(owners, key=len)].add(package, root)
        for part in parts.values():
            part.needs = [parts[name] for name in part.depends() if name in parts and parts[name] is not part]
        return {normalise(part.name): part for part in parts.values() if normalise(part.name) not in INSTALLERS}

    def find(self, path):
        """Returns the target of `path`, a file of an unpacked package, in any package; None for a dangling link."""
        for _ in range(20):
            if not path.is_symlink():
                return path if path.exists() else None
            inside = pathlib.PurePosixPath('/') / path.relative_to(self.owner(path))
            target = pathlib.PurePosixPath(os.path.normpath(inside.parent / os.readlink(path)))
            places = [folder / target.relative_to('/') for folder in self.folders.values()]
            found = [place for place in places if place.is_symlink() or place.exists()]
            if not found:
                return None
            path = found[0]
        return None

    def owner(self, path):
        return next(folder for folder in path.parents if folder.parent.name == 'unpacked')


def needed(path):
    text = output('objdump', '-p', path, stderr=subprocess.DEVNULL).decode(errors='replace')
    return [name for name in re.findall(r'^\s+NEEDED\s+(\S+)', text, re.M) if not SYSTEM_LIBRARIES.fullmatch(name)]


def is_elf(path):
    with open(path, 'rb') as file:
        return file.read(4) == b'\x7fELF'


def pack_recorded(metadata, house):
    """Packs one of several distributions in a package, by its RECORD."""
    root = metadata.parent
    name, version = metadata.name[:-len('.dist-info')].split('-')
    files = [line.split(',')[0] for line in (metadata / 'RECORD').read_text().splitlines()]
    with zipfile.ZipFile(house / f'{name}-{version}-py3-none-any.whl', 'w', zipfile.ZIP_DEFLATED) as wheel:
        for file in files:
            if '__pycache__' not in file and (root / file).is_file():
                wheel.write(root / file, file)


class Distribution:
    """The content of one wheel: a Python package of Debian and the parts that Debian split off."""

    def __init__(self, debian, package, metadata, roots):
        self.debian, self.packages, self.metadata_path, self.roots = debian, [package], metadata, roots
        self.folder = debian.folders[package]
        text = next((metadata / name for name in ('METADATA', 'PKG-INFO') if (metadata / name).exists()), metadata)
        self.text = text.read_text(encoding='utf-8', errors='replace')
        self.name = re.search(r'^Name: *(\S+)', self.text, re.M)[1]
        self.version = re.search(r'^Version: *(\S+)', self.text, re.M)[1]
        if not re.fullmatch(r'[\d.]+(\.?(post|rc|a|b)\d+)?', self.version):
            debians = output('dpkg-deb', '--field', debian.archives[package], 'Version').decode()
            self.version = re.match(r'(?:\d+:)?([\d.]*\d)', debians)[1]
        self.needs = []

    def add(self, package, root):
        self.packages.append(package)
        self.roots.append(root)

    def depends(self):
        """Returns the packages that Debian lists as dependencies."""
        fields = ''.join(output('dpkg-deb', '--field', self.debian.archives[name], 'Depends').decode() + ','
                         for name in self.packages)
        return sorted({re.split(r'[ :(|]', field.strip())[0] for field in fields.split(',') if field.strip()})

    @functools.cached_property
    def requires(self):
        """Returns its requirements: those of its metadata without extras, and those that Debian moved into separate
        ones."""
        if self.metadata_path.is_dir() and (self.metadata_path / 'requires.txt').exists():
            lines = (self.metadata_path / 'requires.txt').read_text().split('\n[')[0].splitlines()
            own = [line.strip() for line in lines if line.strip() and not line.startswith('[')]
        else:
            own = [line for line in re.findall(r'^Requires-Dist: *(.*)$', self.text, re.M) if 'extra ==' not in line]
        named = {normalise(re.match(r'[\w.-]+', line)[0]) for line in own}
        return own + [other.name for other in self.needs if normalise(other.name) not in named | INSTALLERS]

    @functools.cached_property
    def files(self):
        """Path in the wheel -> file on disk."""
        result = {}
        for root in self.roots:
            for path in sorted(root.rglob('*')):
                inside = path.relative_to(root)
                if '__pycache__' in inside.parts or inside.parts[0].endswith(('.egg-info', '.dist-info')):
                    continue
                found = self.debian.find(path)
                if found and found.is_file():
                    result[str(inside)] = found
                elif found and found.is_dir() and path.is_symlink():
                    result |= {f'{inside}/{file.relative_to(found)}': file for file in found.rglob('*') if file.is_file()}
        return result | self.data()

    @functools.cached_property
    def extensions(self):
        return {name: path for name, path in self.files.items() if '.so' in pathlib.Path(name).name and is_elf(path)}

    @property
    def libraries_folder(self):
        return f'{self.name}.libs'.replace('-', '_')

    @functools.cached_property
    def libraries(self):
        """Returns shared libraries to put beside it: name -> file. Excludes those of the distributions that it
        needs."""
        theirs = {name for other in self.all_needed if self not in other.all_needed for name in other.libraries}
        own = {pathlib.Path(name).name for name in self.files}
        found, waiting = {}, [name for path in self.extensions.values() for name in needed(path)]
        while waiting:
            name = waiting.pop()
            if name in found or name in theirs or name in own or name not in self.debian.libraries:
                continue
            found[name] = self.debian.find(self.debian.libraries[name])
            waiting += needed(found[name])
        return found

    @functools.cached_property
    def all_needed(self):
        result, waiting = [], list(self.needs)
        while waiting:
            other = waiting.pop()
            if other is not self and other not in result:
                result.append(other)
                waiting += other.needs
        return result

    @property
    def tag(self):
        if not self.extensions:
            return 'py3-none-any'
        version = '{}{}'.format(*re.search(r'\((\d+)\.(\d+)', output('/usr/bin/python3', '-c', 'import sys; print(sys.version_info[:2])')
                                           .decode().replace(', ', '.')).groups())
        machine = os.uname().machine
        return f'cp{version}-cp{version}-linux_{machine}'

    def metadata(self, version):
        head = f'Metadata-Version: 2.1\nName: {self.name}\nVersion: {version}\n'
        return head + ''.join(f'Requires-Dist: {line}\n' for line in self.requires)

    def entry_points(self):
        path = self.metadata_path / 'entry_points.txt'
        return path.read_bytes() if self.metadata_path.is_dir() and path.exists() else None

    def pack(self, house, version=None):
        """Writes the wheel into `house` unless it exists; returns its path."""
        version = version or self.version
        stem = f'{re.sub(r"[-.]+", "_", self.name)}-{version}'
        wheel = house / f'{stem}-{self.tag}.whl'
        if wheel.exists():
            return wheel
        partial = wheel.with_suffix('.partial')
        with wheel_writer.Writer(partial, f'{stem}.dist-info') as writer:
            for name, path in self.files.items():
                writer.add(name, self.relocated(name, path) if name in self.extensions else self.content(name, path))
            for name, path in self.libraries.items():
                writer.add(f'{self.libraries_folder}/{name}', self.relocated(f'{self.libraries_folder}/{name}', path))
            writer.add_metadata(self.metadata(version), self.tag, self.entry_points())
        partial.rename(wheel)
        return wheel

    def content(self, name, path):
        """Returns a file's content; reads data that Debian keeps below /usr/share from the package."""
        content = path.read_bytes()
        package, place = DATA.get(self.name, (None, None))
        if name == f'{package}/__init__.py':
            for quote in (b'"', b"'"):
                inside = b'__file__[:-11] + ' + quote + pathlib.Path(place).name.encode()
                content = content.replace(quote + b'/' + place.encode(), inside)
            content = content.replace(b"'/etc/matplotlibrc'", b"get_data_path() + '/matplotlibrc'")
        return content

    def data(self):
        """Returns files that Debian keeps elsewhere: path in the wheel -> file."""
        package, place = DATA.get(self.name, (None, None))
        found = [(folder / place) for folder in self.debian.folders.values() if place and (folder / place).is_dir()]
        return {f'{package}/{pathlib.Path(place).name}/{path.relative_to(root)}': path.resolve()
                for root in found for path in root.rglob('*') if path.is_file() and path.resolve().is_relative_to(root)}

    def relocated(self, name, path):
        """Returns the library's bytes, patched to search for other libraries in the wheels' own folders."""
        up = '/'.join(['..'] * (len(pathlib.PurePosixPath(name).parts) - 1))
        places = {pathlib.PurePosixPath(other).parent for other in self.extensions if '/lib/' in f'/{other}'}
        folders = [str(place) for place in sorted(places)] + [self.libraries_folder]
        for other in self.all_needed:
            folders += sorted({str(pathlib.PurePosixPath(file).parent) for file in other.extensions if '/lib/' in f'/{file}'})
            folders.append(other.libraries_folder)
        search = ':'.join(['$ORIGIN'] + [f'$ORIGIN/{up}/{folder}' for folder in folders])
        copy = self.debian.owner(self.folder / 'usr').parent.parent / f'relocated-{os.getpid()}.so'
        copy.write_bytes(path.read_bytes())
        try:
            output('patchelf', '--set-rpath', search, copy)
            return copy.read_bytes()
        finally:
            copy.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--to', type=pathlib.Path, required=True)
    parser.add_argument('--as', dest='also', action='append', default=[], metavar='NAME==VERSION')
    parser.add_argument('packages', nargs='+')
    arguments = parser.parse_args()
    arguments.to.mkdir(parents=True, exist_ok=True)
    distributions = Debian(arguments.packages).distributions
    for distribution in distributions.values():
        print(distribution.pack(arguments.to), flush=True)
    for name, version in (line.split('==') for line in arguments.also):
        print(distributions[normalise(name)].pack(arguments.to, version), flush=True)


if __name__ == '__main__':
    sys.exit(main())
