"""Measures autopack beside the docker command line and, where it is on PATH, gcloud.

    bench.py [--binary build-release/src/autopack] [--rounds 7] [--case NAME...] [--crane BINARY]

All contestants of a case take turns in one run; the table holds medians. The registry, the API stand-in and the
packages are on loopback, so no network is measured. gcloud pushes to Google's names alone: the `docker` that it
finds is a wrapper of two lines that puts the loopback registry's name in their place. skopeo builds nothing, and so
has no row; crane has one when its binary is named.
"""

import argparse
import contextlib
import datetime
import functools
import os
import pathlib
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'support'))
sys.dont_write_bytecode = True

import testbed  # noqa: E402
from relay import Relay  # noqa: E402
from vertex_server import VertexServer  # noqa: E402

GOOGLE_NAME = 'bench-docker.pkg.dev'
WHEEL_MEGABYTES = 20
crane = None


@functools.cache
def base_with_wheels():
    """An executor image that finds its packages in itself, so that every builder installs the same way."""
    house = testbed.new_folder('house')
    data = testbed.write_tree({
        'setup.py': 'from setuptools import setup\nsetup(name="bulky", version="1.0", packages=["bulky"], '
                    'package_data={"bulky": ["*.bin"]})\n',
        'bulky/__init__.py': ''})
    (data / 'bulky' / 'weights.bin').write_bytes(random.Random(1).randbytes(WHEEL_MEGABYTES << 20))
    testbed.run([testbed.SYSTEM_PYTHON, '-m', 'build', '--no-isolation', '--wheel', '--outdir', house, data])
    (house / 'pip.conf').write_text(
        '[global]\nno-index = true\nfind-links = /wheels\n[install]\nbreak-system-packages = true\n')
    (house / 'Dockerfile').write_text(
        f'FROM {testbed.executor()}\nCOPY *.whl /wheels/\nCOPY pip.conf /etc/pip.conf\n')
    name = f'{testbed.registry()}/bench/base:1'
    testbed.docker('build', '-q', '-t', name, house)
    testbed.docker('push', '--quiet', name)
    return name


def module(number, size):
    """About `size` bytes of Python that compress to a third."""
    chosen = random.Random(number)
    words = [''.join(chosen.choices('etaoinshrdlu', k=chosen.randint(3, 9))) for _ in range(80)]
    lines = [f'"""Part {number}."""']
    while sum(len(line) + 1 for line in lines) < size:
        name, *others = chosen.sample(words, 5)
        lines += [f'def {name}_{len(lines)}({others[0]}, {others[1]}):',
                  f'    return {others[0]}.{others[2]}({others[1]}, {others[3]}={chosen.randint(0, 999)})', '']
    return '\n'.join(lines)


def make_project(files=200, requirement=True, ballast_megabytes=0):
    """A project of `files` modules, 1 MB for 200, in trainer/; the ballast lies beside it and is needed by nobody."""
    tree = {f'trainer/part_{number:03}.py': module(number, 5_000) for number in range(files - 2)}
    tree['trainer/__init__.py'] = ''
    tree['trainer/task.py'] = 'print("trained")\n'
    if requirement:
        tree['requirements.txt'] = 'bulky\n'
    folder = testbed.write_tree(tree, testbed.new_folder('bench'))
    if ballast_megabytes:
        (folder / 'data').mkdir()
        numbers = random.Random(2)
        for number in range(2000):
            (folder / 'data' / f'{number:04}.bin').write_bytes(
                numbers.randbytes((ballast_megabytes << 20) // 2000))
    return folder


HAND_WRITTEN = """FROM {base}
RUN mkdir -p /usr/app
WORKDIR /usr/app
ENV HOME=/home PYTHONDONTWRITEBYTECODE=1
{install}COPY trainer trainer
ENTRYPOINT ["python3", "trainer/task.py"]
"""


def now():
    """The clock, when the disk has what was written before: nobody waits for another's bytes."""
    os.sync()
    return time.perf_counter()


class Contestant:
    """One way from a project to a pushed image: `command(folder, target)` gives argument lists to run in order."""

    def __init__(self, name, command, environment):
        self.name, self.command, self.environment = name, command, environment
        self.folder = self.target = None

    def edit(self, number):
        with open(self.folder / 'trainer' / 'task.py', 'a', encoding='utf-8') as out:
            out.write(f'print("edit {number} {time.time_ns()}")\n')

    def go(self, **changes):
        commands = self.command(self.folder, self.target)
        begin = now()
        for command in commands:
            testbed.run(command, cwd=self.folder, env=self.environment | changes, timeout=600)
        return time.perf_counter() - begin


def docker_commands(tool, base, requirement):
    def command(folder, target):
        install = 'COPY requirements.txt .\nRUN pip install --no-cache-dir -r requirements.txt\n'
        (folder / 'Dockerfile').write_text(HAND_WRITTEN.format(base=base, install=install if requirement else ''))
        return [[tool, 'build', '-q', '-t', target, '.'], [tool, 'push', '--quiet', target]]
    return command


def buildah_commands(base, requirement):
    build = docker_commands('buildah', base, requirement)

    def command(folder, target):
        build(folder, target)
        return [['buildah', 'build', '--quiet', '--layers', '--isolation=chroot', '--tls-verify=false', '-t', target, '.'],
                ['buildah', 'push', '--quiet', '--tls-verify=false', target, f'docker://{target}']]
    return command


@functools.cache
def image_with_dependencies(base):
    """What crane needs to be handed: it knows no dependencies."""
    folder = testbed.write_tree({'requirements.txt': 'bulky\n', 'Dockerfile': (
        f'FROM {base}\nWORKDIR /usr/app\nCOPY requirements.txt .\nRUN pip install --no-cache-dir -r requirements.txt\n')})
    name = f'{testbed.registry()}/bench/dependencies:1'
    testbed.docker('build', '-q', '-t', name, folder)
    testbed.docker('push', '--quiet', name)
    return name


class CraneAppend(Contestant):
    """Appends a ready layer to a ready image: only that is timed, not the packing of the layer."""

    def __init__(self, program, base, environment):
        super().__init__('crane append', lambda folder, target: [
            [program, 'append', '--insecure', '-b', base, '-f', self.layer, '-t', target]], environment)

    @property
    def layer(self):
        return self.folder.parent / f'{self.folder.name}.tar'

    def go(self, **changes):
        testbed.run(['tar', '-cf', self.layer, '-C', self.folder, '--transform', 's,^,usr/app/,', 'trainer'])
        return super().go(**changes)


def contestants(api, base, requirement):
    token = testbed.write_tree({'token': 'ya29.bench'}) / 'token'
    google = {
        'CLOUDSDK_CORE_PROJECT': 'bench', 'CLOUDSDK_AI_REGION': 'us-central1',
        'CLOUDSDK_AUTH_ACCESS_TOKEN_FILE': str(token), 'CLOUDSDK_CORE_DISABLE_PROMPTS': '1',
        'CLOUDSDK_CONFIG': str(testbed.new_folder('gcloud')), 'CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM': api.url,
        'CLOUDSDK_CORE_DISABLE_USAGE_REPORTING': '1', 'CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK': '1',
    }

    def pool(target):
        return (f'--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri={base},local-package-path=.,'
                f'script=trainer/task.py,output-image-uri={target}')

    def build(_, target):
        return [[testbed.binary, 'build', '--executor-image-uri', base, '--script=trainer/task.py',
                 '--output-image-uri', target]]

    def build_without_tag(folder, target):
        return build(folder, target.rpartition(':')[0])

    def submit(_, target):
        return [[testbed.binary, 'submit', '--display-name=bench', pool(target)]]

    def gcloud(_, target):
        name = GOOGLE_NAME + target[target.index('/'):]
        return [['gcloud', 'ai', 'custom-jobs', 'create', '--region=us-central1', '--display-name=bench', pool(name)]]

    plain = testbed.environment()
    found = [Contestant('autopack build', build, plain),
             Contestant('autopack build, no tag of its own', build_without_tag, plain),
             Contestant('autopack submit', submit, testbed.environment(**google)),
             Contestant('docker, classic', docker_commands('docker', base, requirement), plain | {'DOCKER_BUILDKIT': '0'})]
    tool = testbed.buildkit_command()[0]
    found.append(Contestant('docker, BuildKit', docker_commands(tool, base, requirement), plain | {'DOCKER_BUILDKIT': '1'}))
    if shutil.which('buildah'):
        found.append(Contestant('buildah', buildah_commands(base, requirement), plain))
    if crane:
        found.append(CraneAppend(crane, image_with_dependencies(base) if requirement else base, plain))
    if shutil.which('gcloud'):
        for label, program, kit in (('classic', 'docker', '0'), ('BuildKit', tool, '1')):
            wrapper = testbed.new_folder('bin')
            (wrapper / 'docker').write_text(
                f'#!/bin/bash\nexec {shutil.which(program)} "${{@//{GOOGLE_NAME}/${{BENCH_REGISTRY}}}}"\n')
            (wrapper / 'docker').chmod(0o755)
            environment = testbed.environment(**google) | {
                'PATH': f'{wrapper}:{os.environ["PATH"]}', 'DOCKER_BUILDKIT': kit, 'BENCH_REGISTRY': testbed.registry()}
            found.append(Contestant(f'gcloud, {label}', gcloud, environment))
    return found


def processor_times():
    """Of all processors, since the start: what the host gave to others while something here was ready to run, and all."""
    times = [int(field) for field in pathlib.Path('/proc/stat').read_text().split('\n', 1)[0].split()[1:9]]
    return times[7], sum(times)


def interleaved(rounds, actions):
    """Median seconds of each action; they take turns, after one turn that is not counted. Who follows whom changes, for
    what one leaves behind (the daemon's work, the registry's) costs the next. Prints how much the host took away."""
    stolen, total = processor_times()
    times = [[] for _ in actions]
    order = list(zip(actions, times))
    shuffle = random.Random(7).shuffle
    for number in range(rounds + 1):
        for action, kept in order:
            seconds = action(number)
            if number:
                kept.append(seconds)
        shuffle(order)
    stolen_now, total_now = processor_times()
    print(f'\nthe host took {100 * (stolen_now - stolen) / max(total_now - total, 1):.1f} % of the processors', flush=True)
    return [statistics.median(kept) for kept in times]


def turn(contestant, edit):
    def action(number):
        if edit:
            contestant.edit(number)
        return contestant.go()
    return action


def timed(command, **options):
    def action(_):
        begin = now()
        testbed.run(command, **options)
        return time.perf_counter() - begin
    return action


def table(title, names, seconds, sent=None):
    print(f'\n### {title}\n')
    print('| | median | against autopack |' + (' bytes sent |' if sent else ''))
    print('|---|---|---|' + ('---|' if sent else ''))
    for number, (name, value) in enumerate(zip(names, seconds)):
        text = f'{value * 1000:.1f} ms' if value < 0.1 else f'{value:.2f} s'
        ratio = value / seconds[0]
        row = f'| {name} | {text} | {ratio:.{2 if ratio < 2 else 1}f} |'
        if sent:
            row += f' {sent[number] / 1e6:.2f} MB |'
        print(row, flush=True)


def case_startup(rounds, _):
    commands = [[testbed.binary, '--version'], ['docker', '--version']]
    if shutil.which('gcloud'):
        commands.append(['gcloud', '--version'])
    names = [' '.join([pathlib.Path(command[0]).name, command[1]]) for command in commands]
    table('start-up', names, interleaved(rounds, [timed(command) for command in commands]))


def case_dockerfile(rounds, _):
    folder = make_project()
    command = [testbed.binary, 'dockerfile', '--executor-image-uri', base_with_wheels(), '--script=trainer/task.py']
    names = ['autopack dockerfile, 200 files, base known']
    table('the Dockerfile', names, interleaved(rounds, [timed(command, cwd=folder)]))


def bytes_sent(contestant, number):
    """What the engine and the registry are sent for one more edit, seen by relays; not timed."""
    engine = str(testbed.new_folder('relay') / 'docker.sock')
    to_engine = Relay(testbed.base_environment().get('DOCKER_HOST', 'unix:///var/run/docker.sock').removeprefix('unix://'),
                      engine)
    kept = contestant.target
    registry = kept.partition('/')[0]
    host, port = registry.split(':')
    to_registry = Relay((host, int(port)))
    address = f'127.0.0.1:{to_registry.port}'
    # The first push through the relay's name finds nothing mounted; the second is the one that counts.
    contestant.target = kept.replace(registry, address)
    changes = {'DOCKER_HOST': f'unix://{engine}', 'BENCH_REGISTRY': address}
    try:
        contestant.go(**changes)
        before = to_engine.sent + to_registry.sent
        if number is not None:
            contestant.edit(number)
        contestant.go(**changes)
        return to_engine.sent + to_registry.sent - before
    finally:
        testbed.remove_images(address)
        contestant.target = kept


def case_pushes(title, rounds, api, *, edit, **project):
    base = base_with_wheels()
    found = contestants(api, base, project.get('requirement', True))
    for number, contestant in enumerate(found):
        contestant.folder = make_project(**project)
        contestant.target = f'{testbed.registry()}/bench/{title.split()[0]}-{number}-{time.time_ns()}:t'

    for contestant in found:
        contestant.go()
    seconds = interleaved(rounds, [turn(contestant, edit) for contestant in found])
    sent = [bytes_sent(contestant, 99 if edit else None) for contestant in found]
    table(title, [contestant.name for contestant in found], seconds, sent)
    for contestant in found:
        shutil.rmtree(contestant.folder)


def write_files(folder, count, size):
    """`count` files of `size` bytes that compress to about half, 100 to a directory."""
    numbers = random.Random(3)
    for number in range(count):
        path = folder / 'trainer' / f'part_{number // 100:04}' / f'{number % 100:02}.txt'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(numbers.randbytes(size // 2).hex().encode())


def big_project(count, size):
    """A git repository of `count` files of `size` bytes and one program, all committed."""
    folder = testbed.write_tree({'trainer/task.py': 'print("trained")\n', 'trainer/__init__.py': ''},
                                testbed.new_folder('bench'))
    write_files(folder, count, size)
    commit_all(folder)
    return folder


def commit_all(folder):
    for command in (['init', '-q'], ['config', 'gc.auto', '0'], ['add', '.'],
                    ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com', 'commit', '-qm', 'all']):
        testbed.run(['git', *command], cwd=folder)


def importing_project(count, modules):
    """A git repository of `count` files, of which the program reaches `modules` by imports, all committed."""
    def place(number):
        return f'group_{number // 50:02}', f'part_{number % 50:02}'

    tree = {'trainer/__init__.py': '', 'trainer/task.py': 'from trainer.group_00 import part_00\n'}
    for number in range(modules):
        group, name = place(number)
        later = [place(min(number * 3 + step, modules - 1)) for step in (1, 2, 3)]
        lines = ['import json', 'import os', 'from pathlib import Path', '', 'import numpy as np',
                 *(f'from trainer.{folder} import {other}' for folder, other in later[:2]),
                 f'from ..{later[2][0]} import {later[2][1]}', '', f'DEFAULTS = "configs/{name}.yaml"', '']
        tree[f'trainer/{group}/__init__.py'] = ''
        tree[f'trainer/{group}/{name}.py'] = '\n'.join(lines) + module(number, 5_000)
    folder = testbed.write_tree(tree, testbed.new_folder('bench'))
    write_files(folder, count - len(tree), 1_000)
    commit_all(folder)
    return folder


def build_command(target, *more, base=None):
    return [testbed.binary, 'build', '--executor-image-uri', base or base_with_wheels(), '--script=trainer/task.py',
            '--output-image-uri', target, *more]


def peak_memory(command, folder, **environment):
    """The most memory, in MiB, that `command` held; looked at every 2 ms, because wait4 counts this program's own in."""
    process = subprocess.Popen([str(part) for part in command], cwd=folder, env=testbed.environment(**environment),
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        for line in pathlib.Path(f'/proc/{process.pid}/status').read_text().splitlines():
            if line.startswith('VmHWM:'):
                peak = max(peak, int(line.split()[1]))
        time.sleep(0.002)
    if process.returncode:
        raise AssertionError(f'{command} ended with {process.returncode}')
    return peak / 1024


def print_peaks(project):
    """Of commands that know nothing of the tree yet, and of builds that do."""
    target = project.target
    explain = [testbed.binary, 'explain', '--executor-image-uri', base_with_wheels(), '--script=trainer/task.py']
    engine = build_command('bench/memory:t', '--engine=docker', '--no-push')
    peaks = {name: peak_memory(command, project.folder, XDG_CACHE_HOME=str(testbed.new_folder('cache')))
             for name, command in (('explain', explain), ('first push', build_command(target + '-new')),
                                   ('first build by the engine', engine))}
    project.edit(100)
    peaks['an edit'] = peak_memory(build_command(target), project.folder)
    peaks['nothing changed'] = peak_memory(build_command(target), project.folder)
    testbed.remove_images('bench/memory')
    print('\npeak memory: ' + ', '.join(f'{name} {peak:.0f} MiB' for name, peak in peaks.items()), flush=True)


@contextlib.contextmanager
def registry_in_memory():
    """The same registry with its data in memory, and the base in it: without the disk that it waits for."""
    with tempfile.TemporaryDirectory(dir='/dev/shm', prefix='autopack-bench-') as folder:
        address = testbed.start_registry(folder=pathlib.Path(folder))
        base = base_with_wheels().replace(testbed.registry(), address)
        testbed.docker('tag', base_with_wheels(), base)
        testbed.docker('push', '--quiet', base)
        yield address


def case_large(title, rounds, *, count, size, edit):
    """Beside git, which has to look at the same files."""
    folder = big_project(count, size)
    explain = [testbed.binary, 'explain', '--executor-image-uri', base_with_wheels(), '--script=trainer/task.py']
    with registry_in_memory() as memory:
        target = f'bench/large-{time.time_ns()}'
        found = []
        for name, registry, tag in (('autopack build', testbed.registry(), ':t'),
                                    ('autopack build, no tag of its own', testbed.registry(), '-untagged'),
                                    ('autopack build, registry in memory', memory, ':t')):
            base = base_with_wheels().replace(testbed.registry(), registry)
            project = Contestant(name, lambda _, name, base=base: [build_command(name, base=base)], testbed.environment())
            project.folder, project.target = folder, f'{registry}/{target}{tag}'
            print(f'\nfirst push, {name}: {project.go():.1f} s')
            found.append(project)
        actions = [turn(project, edit) for project in found]
        actions += [timed(explain, cwd=folder), timed(['git', 'status', '--short'], cwd=folder)]
        seconds = interleaved(rounds, actions)
        sent = [bytes_sent(project, 99 if edit else None) for project in found]
        table(title, [*(project.name for project in found), 'autopack explain', 'git status'], seconds,
              [*sent, 0, 0])
    print('\nagainst git status: ' + ', '.join(f'{value / seconds[-1]:.1f}' for value in seconds[:-1]))
    print_peaks(found[0])
    shutil.rmtree(folder)


def case_imports(rounds, _):
    """What is paid for following imports, beside git, which reads none."""
    count, modules = 16_000, 2_000
    folder = importing_project(count, modules)
    time.sleep(3)  # files that have just changed are not remembered
    explain = [testbed.binary, 'explain', '--executor-image-uri', testbed.executor(), '--python-module=trainer.task']
    seconds = interleaved(rounds, [timed(explain, cwd=folder), timed(['git', 'status', '--short'], cwd=folder)])
    table(f'{count:,} files, {modules:,} of them reached by imports', ['autopack explain', 'git status'], seconds)
    print(f'\nagainst git status: {seconds[0] / seconds[1]:.1f}')
    shutil.rmtree(folder)


def case_first(rounds, _):
    """A new tree each time: nothing of it is in any cache."""
    base = base_with_wheels()
    tool = testbed.buildkit_command()[0]
    plain = testbed.environment()
    found = [Contestant('autopack build', lambda _, name: [build_command(name)], plain),
             Contestant('docker, classic', docker_commands('docker', base, False), plain | {'DOCKER_BUILDKIT': '0'}),
             Contestant('docker, BuildKit', docker_commands(tool, base, False), plain | {'DOCKER_BUILDKIT': '1'})]

    def action(contestant):
        def once(number):
            contestant.folder = make_project(requirement=False)
            write_files(contestant.folder, 3000, 100_000)
            (contestant.folder / 'trainer' / 'part_0000' / '00.txt').write_text(str(time.time_ns()))
            for path in contestant.folder.glob('trainer/part_*/*.txt'):
                with open(path, 'r+b') as out:
                    out.write(f'{number} {contestant.name} {time.time_ns()}'.encode())
            contestant.target = f'{testbed.registry()}/bench/first-{time.time_ns()}:t'
            seconds = contestant.go()
            shutil.rmtree(contestant.folder)
            return seconds
        return once

    table('first push of a tree of 300 MB', [contestant.name for contestant in found],
          interleaved(rounds, [action(contestant) for contestant in found]))


def case_engine(rounds, _):
    """What `run` waits for: the image in the engine."""
    base = base_with_wheels()
    tool = testbed.buildkit_command()[0]
    plain = testbed.environment()

    def ours(_, name):
        return [[testbed.binary, 'build', '--executor-image-uri', base, '--script=trainer/task.py', '--no-push',
                 '--output-image-uri', name]]

    def built(program):
        commands = docker_commands(program, base, True)
        return lambda folder, name: commands(folder, name)[:1]

    found = [Contestant('autopack build --no-push', ours, plain),
             Contestant('docker, classic', built('docker'), plain | {'DOCKER_BUILDKIT': '0'}),
             Contestant('docker, BuildKit', built(tool), plain | {'DOCKER_BUILDKIT': '1'})]

    for number, contestant in enumerate(found):
        contestant.folder = make_project()
        contestant.target = f'bench/engine-{number}-{time.time_ns()}:t'
        contestant.go()
    table(f'edit of one line, in the engine (200 files, a requirement of {WHEEL_MEGABYTES} MB)',
          [contestant.name for contestant in found], interleaved(rounds, [turn(contestant, True) for contestant in found]))
    for contestant in found:
        testbed.remove_images(contestant.target.partition(':')[0])
        shutil.rmtree(contestant.folder)


def case_firewall(rounds, _):
    """What looking for secrets costs of a first build. There is no build without it to compare with: the same scan of
    the same files is timed by itself, by `secret_rate`, in turns with the builds."""
    rate = pathlib.Path(testbed.binary).parents[1] / 'tests' / 'secret_rate'
    looking = []

    def build(number):
        folder = testbed.new_folder('bench')
        # A tree that people ship; new each time, and with a file of its own, so that nothing of it is in any cache.
        shutil.copytree('/usr/lib/python3', folder / 'trainer', ignore=shutil.ignore_patterns('__pycache__'),
                        ignore_dangling_symlinks=True)
        (folder / 'trainer' / 'task.py').write_text(f'print({time.time_ns()})\n')
        once = Contestant('', lambda _, name: [build_command(name)], testbed.environment())
        once.folder, once.target = folder, f'{testbed.registry()}/bench/firewall-{time.time_ns()}:t'
        seconds = once.go()
        said = testbed.run([rate, folder]).stdout.decode()
        if number:
            looking.append(float(said.split('looking ')[1].split(' s')[0]))
        else:
            print(f'\n{said.split(": ", 1)[1].strip()}')
        shutil.rmtree(folder)
        return seconds

    whole = interleaved(rounds, [build])[0]
    part = statistics.median(looking)
    table('first build of /usr/lib/python3, pushed', ['autopack build', 'of it, looking for secrets'], [whole, part])
    print(f'\nlooking for secrets is {100 * part / whole:.1f} % of the first build')


def case_elsewhere(rounds, where, registry, tools):
    """An edit and nothing changed, with the base and the target in `registry`."""
    base = base_with_wheels().replace(testbed.registry(), registry)
    plain = testbed.environment()

    def ours(_, name):
        return [[testbed.binary, 'build', '--executor-image-uri', base, '--script=trainer/task.py',
                 '--output-image-uri', name]]

    for title, edit in (('edit', True), ('nothing changed', False)):
        found = [Contestant('autopack build', ours, plain)]
        found += [Contestant(f'docker, {label}', docker_commands(program, base, False), plain | {'DOCKER_BUILDKIT': kit})
                  for label, program, kit in tools]
        if crane:
            found.append(CraneAppend(crane, base, plain))
        for number, contestant in enumerate(found):
            contestant.folder = make_project(requirement=False)
            contestant.target = f'{registry}/bench/elsewhere-{number}-{time.time_ns()}:t'
            contestant.go()
        table(f'{title}, {where} (1 MB, no requirement)', [contestant.name for contestant in found],
              interleaved(rounds, [turn(contestant, edit) for contestant in found]))
        for contestant in found:
            shutil.rmtree(contestant.folder)
    testbed.remove_images(registry)


def case_distant(rounds, _):
    process = subprocess.Popen([sys.executable, HERE / 'distance.py', testbed.registry(), '10'], stdout=subprocess.PIPE,
                               text=True)
    try:
        tools = [('classic', 'docker', '0'), ('BuildKit', testbed.buildkit_command()[0], '1')]
        case_elsewhere(rounds, 'to a registry 20 ms away', f'127.0.0.1:{int(process.stdout.readline())}', tools)
    finally:
        testbed.end(process)


def case_in_memory(rounds, _):
    """The registry that crane brings along writes nothing to a disk: what is left is the work of its clients."""
    if not crane:
        return
    log = testbed.new_folder('registry') / 'log'
    with open(log, 'wb') as out:
        process = subprocess.Popen([crane, 'registry', 'serve', '--address=127.0.0.1:0'], stderr=out)
    try:
        testbed.wait_until(lambda: 'serving on port' in log.read_text(), what="crane's registry")
        registry = f'127.0.0.1:{int(log.read_text().partition("serving on port")[2].split()[0])}'
        testbed.run([crane, 'copy', '--insecure', base_with_wheels(),
                     base_with_wheels().replace(testbed.registry(), registry)])
        case_elsewhere(rounds, "to crane's own registry, in memory", registry, [])
    finally:
        testbed.end(process)


CASES = {
    'startup': case_startup,
    'dockerfile': case_dockerfile,
    'edit': lambda rounds, api: case_pushes(
        f'edit of one line, pushed (200 files, a requirement of {WHEEL_MEGABYTES} MB)', rounds, api, edit=True),
    'nothing': lambda rounds, api: case_pushes(
        'nothing changed (the same project)', rounds, api, edit=False),
    'small': lambda rounds, api: case_pushes(
        'small tree, edit (1 MB, no requirement)', rounds, api, edit=True, requirement=False),
    'ballast': lambda rounds, api: case_pushes(
        'tree of 300 MB of which 1 MB is needed, edit (no requirement)', rounds, api, edit=True, requirement=False,
        ballast_megabytes=300),
    'gigabyte': lambda rounds, _: case_large(
        'one edit in 10,000 files of 1 GB', rounds, count=10_000, size=100_000, edit=True),
    'files': lambda rounds, _: case_large(
        '100,000 files of 1 kB, nothing changed', rounds, count=100_000, size=1_000, edit=False),
    'imports': case_imports,
    'first': case_first,
    'engine': case_engine,
    'distant': case_distant,
    'in-memory': case_in_memory,
    'firewall': case_firewall,
}


def first_line(*command):
    try:
        return testbed.run(command).stdout.decode().split('\n')[0]
    except (OSError, AssertionError):
        return ''


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--binary', default=str(testbed.ROOT / 'build-release' / 'src' / 'autopack'))
    parser.add_argument('--crane', help='a crane binary to compare with')
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--case', nargs='+', choices=CASES, default=list(CASES))
    arguments = parser.parse_args()
    global crane
    crane = arguments.crane
    testbed.binary = str(pathlib.Path(arguments.binary).resolve())
    testbed.engine()
    api = VertexServer(oracle='none')  # holding bodies against the schema takes longer than all of a submit
    print(f'{datetime.date.today()}, {os.cpu_count()} cores, Linux {platform.release()}, median of {arguments.rounds}')
    for line in (first_line(testbed.binary, '--version'), first_line('docker', '--version'),
                 'Docker Engine ' + testbed.docker('version', '--format', '{{.Server.Version}}'),
                 first_line('gcloud', '--version')):
        print(line)
    for name in arguments.case:
        CASES[name](arguments.rounds, api)
    api.close()


if __name__ == '__main__':
    main()
