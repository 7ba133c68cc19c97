"""Compares what is read about an image's Python with what that Python reports in a container.

    python_of_images.py --binary build/tests/support/image_python [KIND...]

Each base is read from the engine's copy and from a registry's layers: both must give the same. Prints the cost.
"""

import functools
import json
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'support'))
sys.dont_write_bytecode = True

import bases  # noqa: E402
import testbed  # noqa: E402
from testbed import docker, run  # noqa: E402

# A virtual environment behind a link, with the system's packages and distributions of every kind.
ODD = '''FROM {executor}
COPY wheels /tmp/wheels
COPY extra /opt/extra
COPY legacy /tmp/legacy
COPY pip.conf /opt/odd/pip.conf
COPY pip.conf /etc/pip.conf
RUN python3 -m venv --copies --system-site-packages --without-pip /opt/odd && ln -s odd /opt/link && \\
    /opt/odd/bin/python3 -m pip install --quiet --no-index --no-cache-dir --ignore-installed /tmp/wheels/wheel-*.whl && \\
    cp -r /tmp/legacy/. /opt/odd/lib/python3*/site-packages/ && rm -r /tmp/wheels /tmp/legacy
RUN touch /opt/odd/bin/gone && rm /opt/odd/lib/python3*/site-packages/leaving-1.0.dist-info/METADATA
ENV PATH=/opt/link/bin:{path} PYTHONPATH=/opt/extra
'''
ODD_FILES = {
    'pip.conf': '[global]\nno-index = true\n',
    'extra/before-2.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: Before_It\nVersion: 2.0\n\nText\n',
    'legacy/old-1.0.egg-info': 'Metadata-Version: 1.0\nName: old\nVersion: 1.0\n',
    'legacy/listed-1.5-py3.egg-info/PKG-INFO': 'Metadata-Version: 1.1\nName: listed\nVersion: 1.5\n',
    'legacy/listed-1.5-py3.egg-info/installed-files.txt': '../listed.py\nPKG-INFO\ninstalled-files.txt\n',
    'legacy/listed.py': '',
    'legacy/no_record-3.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: no.record\nVersion: 3.0\n',
    'legacy/leaving-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: leaving\nVersion: 1.0\n',
    'legacy/beside.pth': '# a comment\nimport sys\n/opt/beside\nnowhere\n',
}
KINDS = (*bases.KINDS, 'odd')

# Run as root by the interpreter in question.
SAYS = '''
import importlib.metadata, json, os, pathlib, platform, re, sys
from pip._internal.locations import get_scheme
scheme = get_scheme('x')
real = os.path.realpath
def name_of(name):
    return re.sub('[-_.]+', '-', name).lower()
library = real(os.path.dirname(os.__file__))
path = [entry for entry in map(real, filter(None, sys.path)) if os.path.isdir(entry) and not entry.startswith(library + '/lib-') and entry != library]
installed, files = [], {}
for entry in filter(None, sys.path):
    for found in importlib.metadata.distributions(path=[entry]):
        if found.metadata['Name'] is None:
            continue
        one = [name_of(found.metadata['Name']), found.version, real(str(found._path.parent))]
        if one in installed:
            continue
        installed.append(one)
        places = [os.path.normpath(str(file.locate())) for file in found.files or ()]
        files[' '.join(one)] = sorted({real(os.path.dirname(place)) + '/' + os.path.basename(place) for place in places
                                       if os.path.lexists(place)})
directories = set()
for place in (scheme.purelib, scheme.platlib, scheme.scripts, os.path.dirname(scheme.headers), scheme.data):
    directories |= {str(above) for above in [pathlib.Path(real(place)), *pathlib.Path(real(place)).parents] if above.is_dir()}
libc = platform.libc_ver()
from pip._internal.models.index import PyPI
print(json.dumps({
    'default_index': PyPI.simple_url,
    'interpreter': {
        'executable': sys.executable, 'version': platform.python_version(), 'implementation': sys.implementation.name,
        'abi_flags': sys.abiflags, 'machine': platform.machine(), 'libc': libc[0], 'libc_major': int(libc[1].split('.')[0]),
        'libc_minor': int(libc[1].split('.')[1]), 'purelib': real(scheme.purelib), 'platlib': real(scheme.platlib),
        'scripts': real(scheme.scripts), 'headers': real(os.path.dirname(scheme.headers)), 'data': real(scheme.data)},
    'search_path': path, 'installed': sorted(installed), 'files': files, 'directories': sorted(directories - {'/'})}))
'''

# The files that pip removes with a distribution: those that existed before, and not after.
UNINSTALLS = '''
import json, os, subprocess, sys
def files():
    return {os.path.join(directory, name) for top in ('/opt', '/usr/local', '/usr/include') for directory, _, names in os.walk(top)
            for name in names}
before = files()
subprocess.run([sys.executable, '-m', 'pip', '--disable-pip-version-check', 'uninstall', '--yes', '--quiet', *sys.argv[1:]], check=True)
print(json.dumps(sorted(before - files())))
'''


@functools.cache
def base(kind):
    if kind != 'odd':
        return bases.base(kind)
    name = 'autopack-tests/python-odd:1'
    context = testbed.write_tree(ODD_FILES | {'Dockerfile': ODD.format(executor=testbed.executor(), path=bases.PATH)})
    shutil.copytree(testbed.DEBIAN_WHEELS, context / 'wheels')
    docker('build', '--quiet', '--tag', name, context)
    return name


def in_container(image, program, *arguments):
    # Writes no byte code, because the files before and after are compared.
    return json.loads(docker('run', '--rm', '--network=none', '--env=PYTHONDONTWRITEBYTECODE=1', image, 'python3', '-c', program,
                             *arguments))


def facts(place, image):
    cache = testbed.new_folder('cache')
    answer = run([testbed.binary, place, image, 'linux/amd64'], env=testbed.environment(XDG_CACHE_HOME=cache))
    return json.loads(answer.stdout)


def pushed(kind):
    name = f'{testbed.registry()}/bases/python-of-{kind}:1'
    docker('tag', base(kind), name)
    docker('push', '--quiet', name)
    return name


def differences(kind, read):
    """Returns how `read` differs from the interpreter itself, in words."""
    says = in_container(base(kind), SAYS)
    for key in ('interpreter', 'search_path', 'directories', 'default_index'):
        if read.get(key) != says[key]:
            yield f'{key}: {read.get(key)}, says {says[key]}'
    found = sorted([one['name'], one['version'], one['directory']] for one in read['installed'])
    if found != says['installed']:
        yield f'installed: {found}, says {says["installed"]}'
    removable = []
    for one, files in zip(read['installed'], read['files']):
        name = ' '.join((one['name'], one['version'], one['directory']))
        if one['kept_by']:
            if files:
                yield f'{name} is kept, and has files'
            continue
        removable.append(one['name'])
        missing = set(says['files'].get(name, ())) - set(files)
        if missing:
            yield f'{name} lacks {sorted(missing)[:5]}'
    yield from uninstalled(kind, read, [name for name in removable if name != 'pip'])


def uninstalled(kind, read, names):
    """Returns how the files of `names` differ from those that pip removes."""
    if not names:
        return
    gone = set(in_container(base(kind), UNINSTALLS, *names))
    ours = {file for one, files in zip(read['installed'], read['files']) if one['name'] in names for file in files}
    if gone != ours:
        yield f'pip takes {sorted(gone - ours)[:5]} more, and leaves {sorted(ours - gone)[:5]}'


def cost(read):
    return f'{read["milliseconds"]:.0f} ms, {read["bytes"] / 1e6:.1f} MB, {read["requests"]} requests, again {read["milliseconds_again"]:.2f} ms'


def check(kind):
    """Returns the errors for one kind of base."""
    in_engine, in_registry = facts('engine', base(kind)), facts('layers', pushed(kind))
    print(f'{kind}: engine {cost(in_engine)}; layers {cost(in_registry)}; {len(in_engine["installed"])} distributions, '
          f'{sum(map(len, in_engine["files"]))} files', flush=True)
    for read in (in_engine, in_registry):
        if not read['remembered']:
            yield 'it was read twice'
    unlike = ('milliseconds', 'milliseconds_again', 'bytes', 'requests')
    for key in in_engine:
        if key not in unlike and in_engine[key] != in_registry[key]:
            yield f'{key}: the engine has {in_engine[key]}, the layers {in_registry[key]}'
    yield from differences(kind, in_engine)
    if kind == 'odd':
        yield from odd_faults(in_engine)


def odd_faults(read):
    kept = {one['name']: one['kept_by'] for one in reversed(read['installed'])}
    for name, why in (('old', 'distutils'), ('no-record', 'no RECORD'), ('before-it', '/opt/extra'), ('numpy', '/usr/lib'),
                      ('listed', ''), ('wheel', '')):
        if not (why in kept[name] if why else kept[name] == ''):
            yield f'{name} is kept by {kept[name]!r}'
    if list(read['pip_files']) != ['/etc/pip.conf', '/opt/odd/pip.conf'] or 'no-index' not in read['pip_files']['/etc/pip.conf']:
        yield f'pip: {read["pip_files"]}'
    if read['remarks'] != ['the image sets `PYTHONPATH`']:
        yield f'remarks: {read["remarks"]}'


def main():
    kinds = testbed.main_binary(sys.argv[1:]) or KINDS
    testbed.engine()
    failed = 0
    for kind in kinds:
        faults = list(check(kind))
        failed += bool(faults)
        for fault in faults:
            print(f'FAILED {kind}: {fault}')
    print(f'{len(kinds) - failed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
