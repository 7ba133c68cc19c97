"""Measures requirements that become layers of wheels beside docker's command line.

    wheels.py [--binary build-release/src/autopack] [--rounds 5] [--docker-rounds 5] [--case NAME...]

The set is made on the spot: 34 wheels of 390 MB, 570 MB installed, with hashes in requirements.txt. It is kept in a
folder of its own beside the scratch folders, for the next run. Index and registry are on loopback. docker is given a
Dockerfile that is written for its cache, and a cache of downloads where it has one; neither it nor autopack makes byte
code. `--docker-rounds=0` leaves docker out. The image for arm64 is made on Debian's own packages for it, which nothing runs.
"""

import argparse
import datetime
import functools
import hashlib
import os
import pathlib
import platform
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'support')]
sys.dont_write_bytecode = True

import bench  # noqa: E402
import testbed  # noqa: E402
from package_index import Index  # noqa: E402
from relay import Relay  # noqa: E402
from stored_image import push_image  # noqa: E402
from wheel_writer import Writer  # noqa: E402

# In MB, packed. `small` and `middle` are the ones that are raised.
SIZES = {'small': 0.2, 'middle': 30} | {
    f'part{number:02}': size for number, size in enumerate(
        [120, 60, 40, 20, 15, 12, 10, 8, 7, 6, 5, 5, 4, 4, 3, 3, 3, 2, 2, 2] + [0.75] * 12)}
# Bytes of 40 kinds, which deflate packs as it packs machine code: to two thirds.
MACHINE_CODE = bytes(byte % 40 for byte in range(256))
BINARY_SHARE, TEXT_SHARE, LIBRARY_SIZE, MODULE_SIZE = 1.42, 0.12, 4_000_000, 8_000
DOCKERFILE = """FROM {base}
WORKDIR /usr/app
ENV HOME=/home
COPY requirements.txt .
RUN {mount}python3 -m pip install --break-system-packages --no-compile {cache} --index-url {index} -r requirements.txt
COPY train.py .
ENTRYPOINT ["python3", "train.py"]
"""


@functools.cache
def modules():
    return [bench.module(number, MODULE_SIZE) for number in range(50)]


@functools.cache
def wheel(name, version):
    """The path of that wheel; what a former run made of it is taken as it is."""
    folder = pathlib.Path(tempfile.gettempdir()) / 'autopack-bench-wheels-1'
    folder.mkdir(exist_ok=True)
    path = folder / f'{name}-{version}-py3-none-any.whl'
    if path.exists():
        return path
    partial = path.with_suffix('.part')
    numbers = random.Random(f'{name} {version}')
    size = int(SIZES[name] * 1e6)
    with Writer(partial, f'{name}-{version}.dist-info', zipfile.ZIP_DEFLATED) as made:
        made.add(f'{name}/__init__.py', f'VERSION = "{version}"\n'.encode())
        for number in range(int(size * TEXT_SHARE / MODULE_SIZE)):
            text = f'# {name} {version} {number}\n{modules()[number % len(modules())]}'
            made.add(f'{name}/group_{number // 40}/module_{number}.py', text.encode())
        left = int(size * BINARY_SHARE)
        for number in range(-(-left // LIBRARY_SIZE)):
            piece = numbers.randbytes(min(LIBRARY_SIZE, left)).translate(MACHINE_CODE)
            made.add(f'{name}/library_{number}.so', piece)
            left -= len(piece)
        made.add_metadata(f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n', 'py3-none-any')
    partial.rename(path)
    return path


@functools.cache
def line(name, version):
    with open(wheel(name, version), 'rb') as content:
        return f'{name}=={version} --hash=sha256:{hashlib.file_digest(content, "sha256").hexdigest()}\n'


def requirements(raised=None, version='1.0'):
    return ''.join(line(name, version if name == raised else '1.0') for name in SIZES)


def all_wheels(versions):
    """Every wheel that a run needs, on an index."""
    for name in SIZES:
        wheel(name, '1.0')
    for name in ('small', 'middle'):
        for number in range(1, versions):
            wheel(name, f'1.{number}')
    folder = wheel('small', '1.0').parent
    index = Index([folder])
    testbed.at_exit(index.close)
    return index.url


def put_base(registry):
    name = f'{registry}/bench/base:1'
    testbed.docker('tag', testbed.executor(), name)
    testbed.docker('push', '--quiet', name)
    return name


def put_arm64_base(registry):
    """An executor image of Debian's packages for arm64, unpacked and not configured."""
    tar = testbed.run(['bash', testbed.SUPPORT, 'unpacked_root_tar', 'arm64', 'python3', 'python3-pip', 'python3-numpy'],
                      timeout=600).stdout.decode().strip()
    push_image(registry, 'bench/arm64', '1', [pathlib.Path(tar).read_bytes()], {'architecture': 'arm64'})
    return f'{registry}/bench/arm64:1'


class Contestant(bench.Contestant):
    """A builder and its project; `base` is an executor image in the registry that the target is in."""

    def __init__(self, name, command, environment, base):
        super().__init__(name, command, environment)
        self.folder = testbed.write_tree({'train.py': 'print("trained")\n', 'requirements.txt': requirements()},
                                         testbed.new_folder('bench'))
        self.base, self.is_docker = base, name != 'autopack'
        self.target = f'{base.rpartition("/")[0]}/wheels-{time.time_ns()}:t'

    def raise_to(self, name, number):
        (self.folder / 'requirements.txt').write_text(requirements(name, f'1.{number}'))

    def go(self, **changes):
        before = testbed.docker('images', '--quiet', self.target) if self.is_docker else ''
        seconds = super().go(**changes)
        if before:  # a set takes half a gigabyte
            testbed.run(['docker', 'rmi', '--force', before], check=False)
        return seconds


def autopack_command(base, *flags):
    def command(_, target):
        return [[testbed.binary, 'build', '--executor-image-uri', base, '--script=train.py', '--output-image-uri', target, *flags]]
    return command


def docker_command(tool, base, index, kit, *flags):
    mount, cache = ('--mount=type=cache,target=/pip ', '--cache-dir /pip') if kit else ('', '--no-cache-dir')

    def command(folder, target):
        (folder / 'Dockerfile').write_text(DOCKERFILE.format(base=base, mount=mount, cache=cache, index=index))
        return [[tool, 'build', '-q', '--network=host', *flags, '-t', target, '.'], [tool, 'push', '--quiet', target]]
    return command


def our_environment(index, **changes):
    return testbed.environment(PIP_INDEX_URL=index, **changes)


def contestants(index, base, *flags, docker=True):
    found = [Contestant('autopack', autopack_command(base), our_environment(index), base)]
    if docker:
        kits = (('docker, classic', 'docker', ''), ('docker, BuildKit', testbed.buildkit_command()[0], '1'))
        for name, tool, kit in kits:
            found.append(Contestant(name, docker_command(tool, base, index, kit, *flags),
                                    testbed.environment(DOCKER_BUILDKIT=kit or '0'), base))
    return found


def medians(turns):
    """Median seconds of each action, which take turns in a changing order. `turns` has the actions and the numbers that
    each is called with; what comes of number 0 is not counted."""
    stolen, total = bench.processor_times()
    order = [(action, numbers, []) for action, numbers in turns]
    times = [kept for _, _, kept in order]
    shuffle = random.Random(7).shuffle
    for number in range(max(len(numbers) for _, numbers in turns) + 1):
        for action, numbers, kept in order:
            if number in numbers:
                seconds = action(number)
                kept += [seconds] if number else []
        shuffle(order)
    stolen_now, total_now = bench.processor_times()
    print(f'\nthe host took {100 * (stolen_now - stolen) / max(total_now - total, 1):.1f} % of the processors; '
          f'load {os.getloadavg()[0]:.1f}; autopack from {min(times[0]) * 1000:.0f} to {max(times[0]) * 1000:.0f} ms')
    return [statistics.median(kept) for kept in times]


def numbers_of(arguments, contestant):
    """docker's first turn counts: it takes so long that what is loaded once does not show."""
    return range(1, arguments.docker_rounds + 1) if contestant.is_docker else range(arguments.rounds + 1)


def processor_seconds(folder):
    """What the registry whose data are in `folder` has used of the processors."""
    for process in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            if f'{folder}/config.yml' in (process / 'cmdline').read_text():
                user, system = (process / 'stat').read_text().rpartition(')')[2].split()[11:13]
                return (int(user) + int(system)) / os.sysconf('SC_CLK_TCK')
        except OSError:
            continue
    raise AssertionError(f'no registry keeps its data in {folder}')


def processors_used(folder):
    """By autopack (and whoever else was waited for), by that registry and by the index, which is this program."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime, processor_seconds(folder), time.process_time()


def tell_floor(used):
    """How near a first build is to what the processors allow. `used` holds differences of processors_used."""
    parts = [statistics.median(column) for column in zip(*used, strict=True)]
    print('\nprocessor time of a first build: autopack {:.1f} s, registry {:.1f} s, index {:.1f} s; '.format(*parts)
          + f'{os.cpu_count()} cores cannot do it in less than {sum(parts) / os.cpu_count():.1f} s')
    hashed, inflated = 0, 0
    for name in SIZES:
        packed = wheel(name, '1.0').read_bytes()
        begin = time.perf_counter()
        hashlib.sha256(packed).digest()
        hashed += 2 * (time.perf_counter() - begin)  # against the lock, and as a layer
        with zipfile.ZipFile(wheel(name, '1.0')) as archive:
            for member in archive.infolist():
                begin = time.perf_counter()
                content = archive.read(member)
                middle = time.perf_counter()
                hashlib.sha256(content).digest()
                hashed += 2 * (time.perf_counter() - middle)  # against RECORD, and in the layer's tar
                inflated += middle - begin
    print(f'of that, hashing packed and unpacked bytes takes one core {hashed:.1f} s, inflating by zlib {zlib.ZLIB_RUNTIME_VERSION} '
          f'{inflated:.1f} s', flush=True)


def tell_peak(peak):
    print(f'\nautopack held {peak:.0f} MiB at most', flush=True)


def arm64_contestant(index, registry):
    base = put_arm64_base(registry)
    return Contestant('autopack', autopack_command(base, '--platform=linux/arm64'),
                      our_environment(index, DOCKER_HOST='unix:///nowhere'), base)


def case_raise(name, title, find=None):
    """Of `find(index)`; without it, of autopack and docker."""
    def case(arguments, index):
        found = [find(index)] if find else contestants(index, put_base(testbed.registry()), docker=arguments.docker_rounds > 0)
        for contestant in found:
            contestant.go()

        def turn(contestant):
            def action(number):
                contestant.raise_to(name, number + 1)
                return contestant.go()
            return action

        seconds = medians([(turn(contestant), numbers_of(arguments, contestant)) for contestant in found])
        bench.table(title, [contestant.name for contestant in found], seconds)
        ours = found[0]
        ours.raise_to(name, arguments.rounds + 2)
        tell_peak(bench.peak_memory(ours.command(ours.folder, ours.target)[0], ours.folder, PIP_INDEX_URL=index))
    return case


def case_first(arguments, index):
    """Each time with a registry that has the executor image alone; docker has that in its engine."""
    peaks, used = [], []

    def turn(place):
        def action(number):
            folder = testbed.new_folder('registry')
            base = put_base(testbed.start_registry(folder=folder))
            contestant = contestants(index, base, '--no-cache', docker=place > 0)[place]
            cache = str(testbed.new_folder('cache'))
            seconds = 0
            if number == 0:
                command = contestant.command(contestant.folder, contestant.target)[0]
                peaks.append(bench.peak_memory(command, contestant.folder, PIP_INDEX_URL=index, XDG_CACHE_HOME=cache))
            else:
                before = processors_used(folder)
                seconds = contestant.go(XDG_CACHE_HOME=cache)
                if place == 0:
                    used.append([now - then for now, then in zip(processors_used(folder), before, strict=True)])
            for path in (folder / 'docker', cache):
                shutil.rmtree(path, ignore_errors=True)
            testbed.remove_images(base.partition('/')[0])
            return seconds
        return action

    found = contestants(index, put_base(testbed.registry()), docker=arguments.docker_rounds > 0)
    seconds = medians([(turn(place), numbers_of(arguments, contestant)) for place, contestant in enumerate(found)])
    bench.table('first build and push, nothing in any cache', [contestant.name for contestant in found], seconds)
    tell_floor(used)
    tell_peak(peaks[0])


def case_first_for_arm64(arguments, index):
    def action(_):
        folder = testbed.new_folder('registry')
        cache = str(testbed.new_folder('cache'))
        seconds = arm64_contestant(index, testbed.start_registry(folder=folder)).go(XDG_CACHE_HOME=cache)
        for path in (folder / 'docker', cache):
            shutil.rmtree(path, ignore_errors=True)
        return seconds

    bench.table('first build and push for arm64, nothing in any cache', ['autopack'],
                medians([(action, range(arguments.rounds + 1))]))


def case_elsewhere(arguments, index):
    """On a machine that has built nothing, to a registry that has the image. docker would install anew."""
    contestant = contestants(index, put_base(testbed.registry()), docker=False)[0]
    contestant.go()

    def action(_):
        return contestant.go(XDG_CACHE_HOME=str(testbed.new_folder('cache')))

    bench.table('nothing changed, an empty cache', ['autopack'], medians([(action, numbers_of(arguments, contestant))]))
    command = contestant.command(contestant.folder, contestant.target)[0]
    tell_peak(bench.peak_memory(command, contestant.folder, PIP_INDEX_URL=index,
                                XDG_CACHE_HOME=str(testbed.new_folder('cache'))))
    host, port = testbed.registry().split(':')
    relay = Relay((host, int(port)))
    counted = [str(part).replace(testbed.registry(), f'{host}:{relay.port}') for part in command]
    testbed.run(counted, cwd=contestant.folder, env=our_environment(index, XDG_CACHE_HOME=str(testbed.new_folder('cache'))))
    print(f'\nreceived from the registry: {relay.received / 1e3:.0f} kB, sent to it: {relay.sent / 1e3:.0f} kB', flush=True)


CASES = {
    'small': case_raise('small', 'a package of 200 kB raised'),
    'middle': case_raise('middle', 'a package of 30 MB raised'),
    'first': case_first,
    'elsewhere': case_elsewhere,
    'arm64-small': case_raise('small', 'a package of 200 kB raised, for arm64',
                              lambda index: arm64_contestant(index, testbed.registry())),
    'arm64-first': case_first_for_arm64,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--binary', default=str(testbed.ROOT / 'build-release' / 'src' / 'autopack'))
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--docker-rounds', type=int, default=5)
    parser.add_argument('--case', nargs='+', choices=CASES, default=list(CASES))
    arguments = parser.parse_args()
    testbed.binary = str(pathlib.Path(arguments.binary).resolve())
    testbed.engine()
    index = all_wheels(max(arguments.rounds, arguments.docker_rounds) + 3)
    packed = [wheel(name, '1.0') for name in SIZES]
    unpacked = sum(member.file_size for path in packed for member in zipfile.ZipFile(path).infolist())
    print(f'{datetime.date.today()}, {os.cpu_count()} cores, Linux {platform.release()}, Docker Engine '
          f'{testbed.docker("version", "--format", "{{.Server.Version}}")}; {len(packed)} wheels of '
          f'{sum(path.stat().st_size for path in packed) / 1e6:.0f} MB, {unpacked / 1e6:.0f} MB installed; median of '
          f'{arguments.rounds}, docker {arguments.docker_rounds}', flush=True)
    for name in arguments.case:
        CASES[name](arguments, index)


if __name__ == '__main__':
    main()
