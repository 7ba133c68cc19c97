"""Measures open requirements beside docker's command line, with pip and with uv in the Dockerfile.

    resolve.py [--binary build-release/src/autopack] [--rounds 3] [--docker-rounds 3] [--real] [--set NAME...] [--steps STEP...]

Each contestant starts from an executor image in a loopback registry and ends with the pushed image:

    cold     nothing is cached, but the executor image and the program uv
    cached   the wheels are cached, another repository gets the image
    added    one more package is required
    edit     a line of the program is edited

The Dockerfiles are written for docker's cache, and mount a cache of downloads. Without --real the wheels are made on the
spot and come from an index on loopback; with it the sets of SETS come from the index in pip's settings, up to 3 GB of
them. The set `git` requires a repository of one module on loopback; git is installed into the image for docker.
"""

import argparse
import datetime
import functools
import http.server
import os
import pathlib
import platform
import shutil
import statistics
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'support')]
sys.dont_write_bytecode = True

import bench  # noqa: E402
import testbed  # noqa: E402
from package_index import Index  # noqa: E402
from repositories import git  # noqa: E402
from wheel_sets import SETS as WHEEL_SETS  # noqa: E402

SETS = {
    'fastapi': ['fastapi', 'uvicorn[standard]'],
    'scikit-learn': ['scikit-learn', 'pandas'],
    'transformers': ['transformers', 'torch'],
    'tensorflow': ['tensorflow'],
    'jax': ['jax', 'flax', 'optax'],
    'hydra': ['hydra-core', 'omegaconf'],
    'lightning': ['lightning'],
    'git': ['rich', 'measured @ git+{git}'],
}
MADE = ['part00', 'part01', 'part02', 'part03', 'middle']
STEPS = ('cold', 'cached', 'added', 'edit')
CERTIFICATES = os.environ.get('SSL_CERT_FILE', '/etc/ssl/certs/ca-certificates.crt')
DOCKERFILE = """FROM {base}
WORKDIR /usr/app
COPY requirements.txt .
RUN --mount=type=cache,id={cache},target=/cache {install}
COPY train.py .
ENTRYPOINT ["python3", "train.py"]
"""
INSTALL = {
    # In the image, PIP_CERT would be a setting of pip that autopack leaves to pip.
    'docker, pip': 'PIP_CERT=$SSL_CERT_FILE python3 -m pip install --break-system-packages --cache-dir /cache {index} '
                   '-r requirements.txt',
    'docker, uv': 'UV_CACHE_DIR=/cache uv pip install --system --break-system-packages {index} -r requirements.txt',
}


class Project:
    """The files of one contestant."""

    def __init__(self, requirements):
        self.requirements, self.number = requirements, 0
        self.folder = testbed.write_tree({'train.py': 'print("trained")\n'}, testbed.new_folder('bench'))
        self.write(requirements)

    def write(self, requirements):
        (self.folder / 'requirements.txt').write_text('\n'.join(requirements) + '\n')

    def prepare(self, step, added):
        if step == 'added':
            self.write([*self.requirements, added])
        elif step == 'edit':
            self.number += 1
            (self.folder / 'train.py').write_text(f'print("edit {self.number}")\n')


def new_name():
    return f'{testbed.registry()}/resolve/{time.time_ns()}:t'


class Autopack:
    name = 'autopack'

    def __init__(self, requirements, base, environment):
        self.project, self.base = Project(requirements), base
        self.cache = testbed.new_folder('cache')
        self.environment = {**environment, 'XDG_CACHE_HOME': str(self.cache)}
        self.target = new_name()
        # What an earlier project left: the description of the executor image.
        testbed.run([testbed.binary, 'explain', '--executor-image-uri', base, '--script=train.py'], cwd=self.project.folder,
                    env=self.environment)

    def commands(self, step):
        if step == 'cached':
            self.target = new_name()
        return [[testbed.binary, 'build', '--executor-image-uri', self.base, '--script=train.py',
                 '--output-image-uri', self.target]]

    def end(self):
        shutil.rmtree(self.cache)


class Docker:
    def __init__(self, name, requirements, base, environment, index):
        self.name, self.project = name, Project(requirements)
        self.base, self.environment = base, {**environment, 'DOCKER_BUILDKIT': '1'}
        self.install = INSTALL[name].format(index=index)
        self.cache, self.target = f'bench-{time.time_ns()}', new_name()

    def commands(self, step):
        more = ['--no-cache'] if step in ('cold', 'cached') else []
        if step == 'cached':
            self.target = new_name()
        (self.project.folder / 'Dockerfile').write_text(
            DOCKERFILE.format(base=self.base, cache=self.cache, install=self.install))
        return [[*testbed.buildkit_command(), 'build', '-q', '--network=host', *more, '-t', self.target, '.'],
                ['docker', 'push', '--quiet', self.target]]

    def end(self):
        testbed.remove_images(f'{testbed.registry()}/resolve/')
        testbed.run(['docker', 'builder', 'prune', '--force', '--all'], check=False)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve_repository():
    """Returns the address of a repository with one module, which git reads as files."""
    folder = testbed.write_tree({
        'measured.py': 'VALUE = 1\n',
        'pyproject.toml': '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
                          '[project]\nname = "measured"\nversion = "1.0"\ndependencies = ["tqdm"]\n'
                          '[tool.setuptools]\npy-modules = ["measured"]\n'}, testbed.new_folder('repository'))
    for words in (['init', '-q', '-b', 'main'], ['add', '.'], ['commit', '-q', '-m', 'one'], ['update-server-info']):
        git(folder, *words)
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f'http://127.0.0.1:{server.server_port}/.git'


def base_image(needs_git):
    """Returns the executor image with uv and this machine's certificates, as docker's contestants need it."""
    more = 'RUN apt-get update -q && apt-get install -yq --no-install-recommends git\n' if needs_git else ''
    folder = testbed.write_tree({'Dockerfile': (
        f'FROM {testbed.executor()}\n{more}COPY ca.crt /etc/ssl/certs/ca-certificates.crt\nCOPY uv /usr/local/bin/uv\n'
        'ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt\n')})
    shutil.copy(CERTIFICATES, folder / 'ca.crt')
    shutil.copy(testbed.uv(), folder / 'uv')
    name = f'{testbed.registry()}/resolve/base:1'
    testbed.docker('build', '-q', '--network=host', '-t', name, folder)
    testbed.docker('push', '--quiet', name)
    return name


def measure(contestant, added, steps):
    """Returns the seconds of each step."""
    seconds = []
    for step in steps:
        contestant.project.prepare(step, added)
        commands = contestant.commands(step)
        begin = bench.now()
        for command in commands:
            testbed.run(command, cwd=contestant.project.folder, env=contestant.environment, timeout=1800)
        seconds.append(time.perf_counter() - begin)
    contestant.end()
    return seconds


def text_of(samples):
    return f'{statistics.median(samples):.2f} ({min(samples):.2f} to {max(samples):.2f})'


def measure_set(name, requirements, added, base, index, arguments):
    environment = testbed.environment(SSL_CERT_FILE=CERTIFICATES, PIP_CERT=CERTIFICATES, PIP_INDEX_URL=index)
    flag = f'--index-url {index}' if index else ''
    makers = {'autopack': lambda: Autopack(requirements, base, environment)}
    for tool in INSTALL:
        makers[tool] = lambda tool=tool: Docker(tool, requirements, base, environment, flag)
    times = {contestant: [] for contestant in makers}
    for number in range(max(arguments.rounds, arguments.docker_rounds)):
        for contestant, make in makers.items():
            if number < (arguments.rounds if contestant == 'autopack' else arguments.docker_rounds):
                times[contestant].append(measure(make(), added, arguments.steps))
    print(f'\n## {name}: {", ".join(requirements)}\n\n| | ' + ' | '.join(arguments.steps) + ' |\n' + '|---' * (len(arguments.steps) + 1) + '|')
    for contestant, samples in times.items():
        if samples:
            print(f'| {contestant} | ' + ' | '.join(text_of(step) for step in zip(*samples)) + ' |', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--binary', default=str(testbed.ROOT / 'build-release' / 'src' / 'autopack'))
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--docker-rounds', type=int, default=3)
    parser.add_argument('--real', action='store_true')
    parser.add_argument('--set', nargs='+', choices=SETS, default=list(SETS))
    parser.add_argument('--steps', nargs='+', choices=STEPS, default=list(STEPS))
    arguments = parser.parse_args()
    testbed.binary = str(pathlib.Path(arguments.binary).resolve())
    testbed.engine()
    base = base_image(arguments.real and 'git' in arguments.set)
    print(f'{datetime.date.today()}, {os.cpu_count()} cores, Linux {platform.release()}, Docker Engine '
          f'{testbed.docker("version", "--format", "{{.Server.Version}}")}; seconds: median (smallest to largest) of '
          f'{arguments.rounds}, docker {arguments.docker_rounds}', flush=True)
    if arguments.real:
        address = serve_repository() if 'git' in arguments.set else ''
        for name in arguments.set:
            measure_set(name, [line.format(git=address) for line in SETS[name]], 'six' if name == 'git' else 'rich', base, None,
                        arguments)
        return
    wheels = WHEEL_SETS['made']()
    wheels.wheels()
    index = Index([wheels.folder])
    testbed.at_exit(index.close)
    measure_set('made', MADE, 'small', base, index.url, arguments)


if __name__ == '__main__':
    main()
