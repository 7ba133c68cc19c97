"""The parts of integration tests: an engine, registries, an executor image, wheels, a clean environment.

Everything is on loopback. Processes of a test are ended by their ids when the tests end.
"""

import atexit
import contextlib
import fcntl
import functools
import hashlib
import itertools
import json
import math
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

import secret_watch
import wheel_writer

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / 'examples'
SUPPORT = EXAMPLES / 'support.sh'
EXECUTOR = 'autopack-tests/python:1'
SHARED_REGISTRY = 'AUTOPACK_TESTS_REGISTRY'
DEBIAN_WHEELS = pathlib.Path('/usr/share/python-wheels')
# Debian's own Python has its build module; another one on PATH may not.
SYSTEM_PYTHON = '/usr/bin/python3'

# The size of sweeps: `daily` takes a sample, `nightly` a larger one, `long` everything.
FORM = os.environ.get('AUTOPACK_TESTS', 'daily')



def nightly(daily):
    """Marks a test that the daily form leaves out, because `daily` covers its kind; the others run it."""
    def mark(test):
        test.covered_by = daily
        return test
    return mark


def daily_sample(items, count):
    """Returns at most `count` of `items` in the daily form, spread over all of them, else all."""
    items = list(items)
    return items[::math.ceil(len(items) / count)] if FORM == 'daily' and items else items


binary = None
# The integration tests increase it, because the output with -vv is searched for secrets.
verbosity = 'warning'
_on_exit = contextlib.ExitStack()
atexit.register(_on_exit.close)


def at_exit(function, *arguments):
    """Calls `function` when the tests end, in reverse order."""
    _on_exit.callback(function, *arguments)


class SetupError(Exception):
    """A part that tests need is not available."""


@functools.cache
def scratch():
    path = pathlib.Path(tempfile.mkdtemp(prefix='autopack-tests-'))
    _on_exit.callback(shutil.rmtree, path, ignore_errors=True)
    return path


MEMORY = pathlib.Path('/dev/shm')


@functools.cache
def memory():
    """Returns a folder in memory if there is plenty, else the scratch folder: a registry waits for the disk at each file
    that it writes, which is half of a push."""
    if not MEMORY.is_dir() or shutil.disk_usage(MEMORY).free < 2 << 30:
        return scratch()
    for left in MEMORY.glob('autopack-tests-*-*'):  # by a run that was killed
        if not pathlib.Path('/proc', left.name.split('-')[2]).exists():
            shutil.rmtree(left, ignore_errors=True)
    path = pathlib.Path(tempfile.mkdtemp(prefix=f'autopack-tests-{os.getpid()}-', dir=MEMORY))
    _on_exit.callback(shutil.rmtree, path, ignore_errors=True)
    return path


_numbers = itertools.count(1)


def number_from(first):
    """Numbers created objects from `first` on: names in the engine must differ from those of concurrent runs."""
    global _numbers
    _numbers = itertools.count(first)


def new_folder(name='folder', place=None):
    path = (place or scratch()) / f'{name}-{next(_numbers)}'
    path.mkdir()
    return path


@functools.cache
def base_environment():
    """Returns the environment of a person with an empty home and none of this machine's settings."""
    home = scratch() / 'home'
    home.mkdir()
    kept = {name: value for name, value in os.environ.items()
            if name in ('PATH', 'DOCKER_HOST', 'TMPDIR', 'ASAN_OPTIONS', 'LSAN_OPTIONS', 'UBSAN_OPTIONS', 'TSAN_OPTIONS')}
    return kept | {'HOME': str(home), 'XDG_CACHE_HOME': str(home / '.cache'), 'LC_ALL': 'C.UTF-8', 'PIP_CONFIG_FILE': '/dev/null',
                   'NO_COLOR': '1', 'NO_GCE_CHECK': 'true', 'AUTOPACK_VERBOSITY': verbosity, 'AUTOPACK_UV': str(uv())}


def environment(**changes):
    result = dict(base_environment())
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = str(value)
    return result


def run(command, *, check=True, **options):
    """Runs a program to its end; its output must contain no secret."""
    options.setdefault('env', environment())
    options.setdefault('timeout', 300)
    if 'input' not in options:
        options.setdefault('stdin', subprocess.DEVNULL)
    secret_watch.given(options['env'])
    result = subprocess.run([str(part) for part in command], capture_output=True, check=False, **options)
    secret_watch.require_none(command, result.stdout, result.stderr)
    if check and result.returncode != 0:
        raise AssertionError(f'{command} ended with {result.returncode}:\n'
                             f'{result.stdout.decode(errors="replace")}\n{result.stderr.decode(errors="replace")}')
    return result


class Answer:
    """The result of a call of autopack."""

    def __init__(self, arguments, result):
        self.arguments = arguments
        self.status = result.returncode
        self.out = result.stdout.decode(errors='replace')
        self.err = result.stderr.decode(errors='replace')

    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return f'autopack {" ".join(self.arguments)}\nstatus {self.status}\n--- stdout\n{self.out}\n--- stderr\n{self.err}'


def autopack(*arguments, cwd=None, env=None, status=0, **options):
    """Runs the binary under test; raises AssertionError with all output if `status` differs."""
    arguments = [str(argument) for argument in arguments]
    answer = Answer(arguments, run([binary, *arguments], check=False, cwd=cwd or scratch(),
                                   env=env or environment(), **options))
    if status is not None and answer.status != status:
        raise AssertionError(f'expected status {status}\n{answer}')
    return answer


class Process(subprocess.Popen):
    """The binary under test, running; its output must contain no secret."""

    def __init__(self, *arguments, env=None, **options):
        env = env or environment()
        secret_watch.given(env)
        options.setdefault('stdout', subprocess.PIPE)
        super().__init__([binary, *map(str, arguments)], env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         **options)

    def communicate(self, *arguments, **options):
        said = super().communicate(*arguments, **options)
        secret_watch.require_none(self.args, *(text for text in said if text is not None))
        return said


def docker(*arguments, **options):
    return run(['docker', *arguments], **options).stdout.decode(errors='replace').strip()


def run_image(*arguments, **options):
    """Runs an image in the machine's own network, because a network for each container takes a third of its start."""
    return docker('run', '--rm', '--network=host', *arguments, **options)


@functools.cache
def buildkit_command():
    """A docker command that builds with BuildKit; newer ones need the plug-in buildx for it."""
    for name in ('docker', '/usr/bin/docker'):
        answer = run([name, 'build', '--help'], check=False, env=environment(DOCKER_BUILDKIT='1'))
        if answer.returncode == 0 and b'buildx' not in answer.stderr:
            return [name]
    raise SetupError('no docker command that can use BuildKit: apt-get install docker-buildx')


@functools.cache
def engine():
    """Ensures that a Docker Engine is running; stops at exit the one that it had to start."""
    log = scratch() / 'dockerd.log'
    started = subprocess.run(['bash', SUPPORT, 'start_engine', log], stdout=subprocess.PIPE, check=False)
    if started.returncode != 0:
        raise SetupError('no Docker Engine')
    pid = started.stdout.decode().strip()
    if pid:
        _on_exit.callback(subprocess.run, ['bash', SUPPORT, 'end_process', pid], check=False)
    return True


@functools.cache
def loads_parts():
    """Returns whether the engine loads an image without its existing lower layers; containerd's store needs whole
    images."""
    engine()
    return 'io.containerd.snapshotter' not in docker('info', '--format', '{{.DriverStatus}}')


@functools.cache
def executor():
    """Returns the name of an image of this machine's distribution with Python, pip and numpy."""
    engine()
    if subprocess.run(['bash', SUPPORT, 'make_executor_image', EXECUTOR], check=False).returncode != 0:
        raise SetupError('the executor image could not be made')
    return EXECUTOR


def executor_tar():
    """Returns the tar of the files of the executor image."""
    said = subprocess.run(['bash', SUPPORT, 'executor_tar'], stdout=subprocess.PIPE, check=True).stdout
    return pathlib.Path(said.decode().strip())


def cache_folder():
    """Returns the folder of this user's cache for what takes long to make."""
    return pathlib.Path(os.environ.get('XDG_CACHE_HOME', pathlib.Path.home() / '.cache')) / 'autopack-tests'


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def end(process, how=signal.SIGTERM):
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until(condition, seconds=20, what='condition'):
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f'{what} did not come true in {seconds} s')


def hold_podman(add_cleanup):
    """Lets one test at a time use podman, until its cleanup: all storages share the machine's locks,
    and `podman system reset` removes them."""
    lock = open(pathlib.Path(tempfile.gettempdir()) / 'autopack-tests-podman.lock', 'wb')
    add_cleanup(lock.close)
    fcntl.flock(lock, fcntl.LOCK_EX)


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(('127.0.0.1', port)) == 0


def start_registry(login=None, folder=None):
    """Starts a registry, with `login` = (user, password) a closed one, its data in `folder`. Returns
    `127.0.0.1:PORT`."""
    folder, port = folder or new_folder('registry', memory()), free_port()
    command = ['bash', SUPPORT, 'run_registry', folder, str(port)]
    if login:
        passwords = folder / 'htpasswd'
        passwords.write_bytes(run(['htpasswd', '-Bbn', *login]).stdout)
        command.append(passwords)
    with open(folder / 'log', 'wb') as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    _on_exit.callback(end, process)
    wait_until(lambda: listens(port), what='the registry')
    address = f'127.0.0.1:{port}'
    _on_exit.callback(remove_images, address + '/')
    return address


@functools.cache
def registry_and_folder():
    """Returns the registry of all lanes and the folder of its data: the layers of the executor image are compressed and
    pushed once."""
    engine()
    if os.environ.get(SHARED_REGISTRY):
        address, folder = os.environ[SHARED_REGISTRY].split(' ', 1)
        return address, pathlib.Path(folder)
    folder = new_folder('registry', memory())
    return start_registry(folder=folder), folder


def registry():
    return registry_and_folder()[0]


def push(name):
    docker('tag', executor(), name)
    docker('push', '-q', name)
    return name


@functools.cache
def _push_first():
    """Pushes the executor image for the first time. The user's cache keeps its compressed layers: an engine that has
    pushed them before asks only whether they are there, and compresses nothing."""
    address, folder = registry_and_folder()
    if os.environ.get(SHARED_REGISTRY):
        return  # the process that started the registry did it
    known = docker('image', 'inspect', '--format', '{{.Id}}', executor()) + docker('info', '--format', '{{.ID}}')
    kept = cache_folder() / f'pushed-{hashlib.sha256(known.encode()).hexdigest()[:16]}'
    place = folder / 'docker'
    if kept.exists():
        with contextlib.suppress(OSError, shutil.Error):  # replaced meanwhile
            shutil.copytree(kept, place, dirs_exist_ok=True)
    push(f'{address}/executor:1')
    if not kept.exists():
        new = kept.with_name(f'{kept.name}.{os.getpid()}')
        shutil.copytree(place / 'registry/v2/blobs', new / 'registry/v2/blobs')
        shutil.copytree(place / 'registry/v2/repositories/executor', new / 'registry/v2/repositories/executor')
        for old in cache_folder().glob('pushed-*'):
            if old != new:
                shutil.rmtree(old, ignore_errors=True)
        with contextlib.suppress(OSError):  # another process was first
            new.rename(kept)


def pushed_executor(name):
    """Pushes the executor image to the registry under this name."""
    _push_first()
    return push(f'{registry()}/{name}')


def images(prefix):
    listed = docker('images', '--format', '{{.Repository}}:{{.Tag}}').split('\n')
    return sorted(name for name in listed if name.startswith(prefix))


def remove_images(*prefixes):
    """Removes the names of the engine's images that start with one of `prefixes`, including those without a tag."""
    listed = docker('images', '--digests', '--format', '{{.Repository}} {{.Tag}} {{.Digest}}').split('\n')
    names = set()
    for repository, tag, digest in (line.split(' ') for line in listed if line.startswith(prefixes)):
        names |= {f'{repository}:{tag}'} if tag != '<none>' else set()
        names |= {f'{repository}@{digest}'} if digest != '<none>' else set()
    if names:
        run(['docker', 'rmi', '--force', *sorted(names)], check=False)


_unneeded = []


def _remove_unneeded():
    if _unneeded:
        remove_images(*_unneeded)
        _unneeded.clear()


def remove_images_later(prefix):
    """Removes images together with those of other tests: an engine needs long to list all its images."""
    if not _unneeded:
        at_exit(_remove_unneeded)
    _unneeded.append(prefix)
    if len(_unneeded) == 20:
        _remove_unneeded()


def image_name(name):
    return f'{registry()}/tests/{name}-{next(_numbers)}'


def example(name):
    """Returns a copy of an example for editing."""
    target = new_folder(name) / name
    shutil.copytree(EXAMPLES / name, target, ignore=shutil.ignore_patterns('__pycache__', '*.egg-info', 'build'))
    return target


def write_tree(files, folder=None):
    folder = folder or new_folder('project')
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding='utf-8')
    return folder


def tree_hash(folder):
    """Returns one digest of all names, modes and contents below `folder`."""
    digest = hashlib.sha256()
    for path in sorted(pathlib.Path(folder).rglob('*')):
        state = path.lstat()
        digest.update(f'{path.relative_to(folder)} {state.st_mode:o}\n'.encode())
        if path.is_symlink():
            digest.update(os.readlink(path).encode())
        elif path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def make_sdist(source, house):
    """Lets the build backend of setuptools pack the folder `source`, in one process; returns the path of the archive."""
    program = 'import sys; from setuptools.build_meta import build_sdist; print(build_sdist(sys.argv[1]))'
    said = run([SYSTEM_PYTHON, '-c', program, house], cwd=source, env=environment(PYTHONPATH='.')).stdout.decode()
    return house / said.strip().split('\n')[-1]


def make_wheel(name, version, body, house, kind='--wheel', requires=()):
    """Makes a small distribution of one module in the folder `house`; returns its path."""
    if kind == '--sdist':
        return make_sdist(write_tree({
            'setup.py': f'from setuptools import setup\nsetup(name={name!r}, version={version!r}, '
                        f'py_modules=[{name!r}], install_requires={list(requires)!r})\n',
            f'{name}.py': body,
        }), house)
    path = house / f'{name}-{version}-py3-none-any.whl'
    with wheel_writer.Writer(path, f'{name}-{version}.dist-info') as wheel:
        wheel.add(f'{name}.py', body.encode())
        needs = ''.join(f'Requires-Dist: {need}\n' for need in requires)
        wheel.add_metadata(f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}', 'py3-none-any')
    return path


@functools.cache
def wheel_house():
    """Makes wheels: `greeter` 1.0 and 2.0, and `counter`, which needs `greeter`."""
    house = new_folder('wheels')
    make_wheel('greeter', '1.0', 'def hello():\n    return "hello one"\n', house)
    make_wheel('greeter', '2.0', 'def hello():\n    return "hello two"\n', house)
    make_wheel('counter', '0.5', 'import greeter\n', house, kind='--sdist', requires=['greeter'])
    return house


def start_index(more=(), **options):
    from package_index import Index
    index = Index([wheel_house(), DEBIAN_WHEELS, *more], **options)
    _on_exit.callback(index.close)
    return index


UV_WHEEL = 'uv-0.13.9-py3-none-musllinux_1_1_x86_64.whl'


def uv_wheel():
    """Returns the wheel of the uv that autopack takes, downloaded once for this user."""
    folder = cache_folder() / 'uv'
    if not (folder / UV_WHEEL).exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([SYSTEM_PYTHON, '-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:', '--dest', folder,
                        '--platform=' + UV_WHEEL.removesuffix('.whl').split('-')[-1], 'uv==' + UV_WHEEL.split('-')[1]],
                       stdin=subprocess.DEVNULL, check=True)
    return folder / UV_WHEEL


def uv():
    """Returns the program of that wheel, unpacked once."""
    program = uv_wheel().parent / 'uv'
    if not program.exists():
        new = program.with_name(f'uv.{os.getpid()}')
        with zipfile.ZipFile(uv_wheel()) as wheel:
            new.write_bytes(wheel.read(f'uv-{UV_WHEEL.split("-")[1]}.data/scripts/uv'))
        new.chmod(0o755)
        new.rename(program)
    return program


@functools.cache
def index():
    """Starts an open index with the wheel house and Debian's packages for building."""
    return start_index()


def index_environment(**changes):
    return environment(PIP_INDEX_URL=index().url, **changes)


@functools.cache
def _facts_of_executor():
    """Returns the part of autopack's cache that holds facts of the executor image, read from the registry."""
    cache = new_folder('cache')
    autopack('lock', f'--executor-image-uri={pushed_executor("executor:1")}', '--script=task.py',
             cwd=write_tree({'task.py': '', 'requirements.txt': 'greeter==1.0\n'}),
             env=index_environment(XDG_CACHE_HOME=cache, DOCKER_HOST='unix:///nowhere'))
    return cache / 'autopack' / 'bases'


def new_cache():
    """Returns a cache in which autopack finds only facts of the executor image: reading it takes longer than most
    builds."""
    cache = new_folder('cache')
    (cache / 'autopack').mkdir(mode=0o700)
    shutil.copytree(_facts_of_executor(), cache / 'autopack' / 'bases')
    return cache


# What determines the files of a container -> its files, of the images that were read last.
_trees = {}


def file_tree(image, below='/'):
    """Returns the files of `image`: path -> (kind, mode, owner, content digest or link target)."""
    facts = configuration(image)
    # An engine makes the working directory and volumes.
    key = json.dumps([facts['RootFS'].get('Layers'), facts['Config'].get('WorkingDir'), facts['Config'].get('Volumes'), below])
    if key not in _trees:
        while len(_trees) >= 4:
            del _trees[next(iter(_trees))]
        _trees[key] = _read_file_tree(image, below.rstrip('/'))
    return dict(_trees[key])


def _read_file_tree(image, below):
    container = docker('create', image, 'none')
    command = ['docker', 'cp', f'{container}:{below}', '-'] if below else ['docker', 'export', container]
    try:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as exporter:
            start = exporter.stdout.peek(1)
            if not start:
                error = exporter.stderr.read().decode()
                if 'Could not find the file' not in error:
                    raise AssertionError(f'{command}: {error}')
                return {}
            result = {}
            with tarfile.open(fileobj=exporter.stdout, mode='r|') as archive:
                for member in archive:
                    content = member.linkname
                    if member.isreg():
                        content = hashlib.sha256(archive.extractfile(member).read()).hexdigest()
                    path = f'{below.rpartition("/")[0]}/{member.name.rstrip("/")}'
                    result[path] = (member.type.decode(), member.mode & 0o7777, member.uid, member.gid, content)
        return result
    finally:
        docker('rm', '--force', container)


def configuration(image):
    return json.loads(docker('image', 'inspect', image))[0]


def layers(image):
    """Returns digests of the uncompressed layers, from the base upwards."""
    return configuration(image)['RootFS']['Layers']


def without_markup(text):
    return re.sub(r'\x1b\[[0-9;]*[A-Za-z]', '', text)


def set_binary(path):
    global binary
    binary = str(pathlib.Path(path).resolve())


def main_binary(arguments):
    """Removes `--binary PATH` from the front of `arguments`, sets it and returns the rest."""
    if len(arguments) < 2 or arguments[0] != '--binary':
        sys.exit('usage: --binary PATH [PATTERN...]')
    set_binary(arguments[1])
    return arguments[2:]
