"""Measures requirements that become layers of wheels beside docker's command line.

    wheels.py [--binary build-release/src/autopack] [--rounds 5] [--docker-rounds 5] [--set NAME...] [--case NAME...]

There are two sets, made on the spot, with hashes in requirements.txt: `made` has 34 wheels of 390 MB, 570 MB installed;
`real` has numpy, scipy, pandas, torch and what they need, from Debian's packages. Index and registry are on loopback.
docker is given a Dockerfile that is written for its cache, and a cache of downloads where it has one; neither it nor
autopack makes byte code. `--docker-rounds=0` leaves docker out. The image for arm64 is made on Debian's own packages for
it, which nothing runs, and of the set `made` alone, whose wheels are for any platform.
"""

import argparse
import datetime
import hashlib
import os
import pathlib
import platform
import random
import resource
import shutil
import statistics
import sys
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
from wheel_sets import SETS  # noqa: E402

DOCKERFILE = """FROM {base}
WORKDIR /usr/app
ENV HOME=/home
COPY requirements.txt .
RUN {mount}python3 -m pip install --break-system-packages --no-compile {cache} --index-url {index} -r requirements.txt
COPY train.py .
ENTRYPOINT ["python3", "train.py"]
"""


def serve(wheels, raised):
    """The URL of an index that has the set's wheels, and `raised` later versions of those that are raised."""
    for name in (wheels.small, wheels.middle):
        for number in range(1, raised + 1):
            wheels.wheel(name, number)
    wheels.wheels()
    index = Index([wheels.folder])
    testbed.at_exit(index.close)
    return index.url


def put_base(wheels, registry):
    name = f'{registry}/bench/base:1'
    testbed.docker('tag', wheels.executor(), name)
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

    def __init__(self, name, command, environment, wheels, base):
        super().__init__(name, command, environment)
        self.wheels = wheels
        self.folder = testbed.write_tree({'train.py': 'print("trained")\n', 'requirements.txt': wheels.requirements()},
                                         testbed.new_folder('bench'))
        self.base, self.is_docker = base, name != 'autopack'
        self.target = f'{base.rpartition("/")[0]}/wheels-{time.time_ns()}:t'

    def raise_to(self, name, number):
        (self.folder / 'requirements.txt').write_text(self.wheels.requirements(name, number))

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


def contestants(wheels, base, *flags, docker=True):
    found = [Contestant('autopack', autopack_command(base), our_environment(wheels.index), wheels, base)]
    if docker:
        kits = (('docker, classic', 'docker', ''), ('docker, BuildKit', testbed.buildkit_command()[0], '1'))
        for name, tool, kit in kits:
            found.append(Contestant(name, docker_command(tool, base, wheels.index, kit, *flags),
                                    testbed.environment(DOCKER_BUILDKIT=kit or '0'), wheels, base))
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


def tell_floor(wheels, used):
    """How near a first build is to what the processors allow. `used` holds differences of processors_used."""
    parts = [statistics.median(column) for column in zip(*used, strict=True)]
    print('\nprocessor time of a first build: autopack {:.1f} s, registry {:.1f} s, index {:.1f} s; '.format(*parts)
          + f'{os.cpu_count()} cores cannot do it in less than {sum(parts) / os.cpu_count():.1f} s')
    hashed, inflated = 0, 0
    for path in wheels.wheels():
        packed = path.read_bytes()
        begin = time.perf_counter()
        hashlib.sha256(packed).digest()
        hashed += 2 * (time.perf_counter() - begin)  # against the lock, and as a layer
        with zipfile.ZipFile(path) as archive:
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


def arm64_contestant(wheels, registry):
    base = put_arm64_base(registry)
    return Contestant('autopack', autopack_command(base, '--platform=linux/arm64'),
                      our_environment(wheels.index, DOCKER_HOST='unix:///nowhere'), wheels, base)


def case_raise(which, for_arm64=False):
    def case(arguments, wheels):
        name = (wheels.small, wheels.middle)[which]
        if for_arm64:
            found = [arm64_contestant(wheels, testbed.registry())]
        else:
            found = contestants(wheels, put_base(wheels, testbed.registry()), docker=arguments.docker_rounds > 0)
        for contestant in found:
            contestant.go()

        def turn(contestant):
            def action(number):
                contestant.raise_to(name, number + 1)
                return contestant.go()
            return action

        seconds = medians([(turn(contestant), numbers_of(arguments, contestant)) for contestant in found])
        bench.table(f'{name} ({wheels.wheel(name).stat().st_size / 1e6:.1f} MB) raised{" for arm64" * for_arm64}',
                    [contestant.name for contestant in found], seconds)
        ours = found[0]
        ours.raise_to(name, arguments.rounds + 2)
        tell_peak(bench.peak_memory(ours.command(ours.folder, ours.target)[0], ours.folder, PIP_INDEX_URL=wheels.index))
    return case


def case_first(arguments, wheels):
    """Each time with a registry that has the executor image alone; docker has that in its engine."""
    peaks, used = [], []

    def turn(place):
        def action(number):
            folder = testbed.new_folder('registry')
            base = put_base(wheels, testbed.start_registry(folder=folder))
            contestant = contestants(wheels, base, '--no-cache', docker=place > 0)[place]
            cache = str(testbed.new_folder('cache'))
            seconds = 0
            if number == 0:
                command = contestant.command(contestant.folder, contestant.target)[0]
                peaks.append(bench.peak_memory(command, contestant.folder, PIP_INDEX_URL=wheels.index,
                                               XDG_CACHE_HOME=cache))
            else:
                os.sync()  # nobody waits for what the turn before wrote
                before = processors_used(folder)
                seconds = contestant.go(XDG_CACHE_HOME=cache)
                if place == 0:
                    used.append([now - then for now, then in zip(processors_used(folder), before, strict=True)])
            for path in (folder / 'docker', cache):
                shutil.rmtree(path, ignore_errors=True)
            testbed.remove_images(base.partition('/')[0])
            return seconds
        return action

    found = contestants(wheels, put_base(wheels, testbed.registry()), docker=arguments.docker_rounds > 0)
    seconds = medians([(turn(place), numbers_of(arguments, contestant)) for place, contestant in enumerate(found)])
    bench.table('first build and push, nothing in any cache', [contestant.name for contestant in found], seconds)
    tell_floor(wheels, used)
    tell_peak(peaks[0])


def case_first_for_arm64(arguments, wheels):
    def action(_):
        folder = testbed.new_folder('registry')
        cache = str(testbed.new_folder('cache'))
        seconds = arm64_contestant(wheels, testbed.start_registry(folder=folder)).go(XDG_CACHE_HOME=cache)
        for path in (folder / 'docker', cache):
            shutil.rmtree(path, ignore_errors=True)
        return seconds

    bench.table('first build and push for arm64, nothing in any cache', ['autopack'],
                medians([(action, range(arguments.rounds + 1))]))


def case_elsewhere(arguments, wheels):
    """On a machine that has built nothing, to a registry that has the image. docker would install anew."""
    contestant = contestants(wheels, put_base(wheels, testbed.registry()), docker=False)[0]
    contestant.go()

    def action(_):
        return contestant.go(XDG_CACHE_HOME=str(testbed.new_folder('cache')))

    bench.table('nothing changed, an empty cache', ['autopack'], medians([(action, numbers_of(arguments, contestant))]))
    command = contestant.command(contestant.folder, contestant.target)[0]
    tell_peak(bench.peak_memory(command, contestant.folder, PIP_INDEX_URL=wheels.index,
                                XDG_CACHE_HOME=str(testbed.new_folder('cache'))))
    host, port = testbed.registry().split(':')
    relay = Relay((host, int(port)))
    counted = [str(part).replace(testbed.registry(), f'{host}:{relay.port}') for part in command]
    testbed.run(counted, cwd=contestant.folder, env=our_environment(wheels.index, XDG_CACHE_HOME=str(testbed.new_folder('cache'))))
    print(f'\nreceived from the registry: {relay.received / 1e3:.0f} kB, sent to it: {relay.sent / 1e3:.0f} kB', flush=True)


CASES = {
    'small': case_raise(0),
    'middle': case_raise(1),
    'first': case_first,
    'elsewhere': case_elsewhere,
    'arm64-small': case_raise(0, for_arm64=True),
    'arm64-first': case_first_for_arm64,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--binary', default=str(testbed.ROOT / 'build-release' / 'src' / 'autopack'))
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--docker-rounds', type=int, default=5)
    parser.add_argument('--set', nargs='+', choices=SETS, default=list(SETS))
    parser.add_argument('--case', nargs='+', choices=CASES, default=list(CASES))
    arguments = parser.parse_args()
    testbed.binary = str(pathlib.Path(arguments.binary).resolve())
    testbed.engine()
    print(f'{datetime.date.today()}, {os.cpu_count()} cores, Linux {platform.release()}, Docker Engine '
          f'{testbed.docker("version", "--format", "{{.Server.Version}}")}; median of {arguments.rounds}, '
          f'docker {arguments.docker_rounds}', flush=True)
    for kind in arguments.set:
        wheels = SETS[kind]()
        wheels.index = serve(wheels, max(arguments.rounds, arguments.docker_rounds) + 3)
        unpacked = sum(member.file_size for path in wheels.wheels() for member in zipfile.ZipFile(path).infolist())
        print(f'\n## the set `{kind}`: {len(wheels.wheels())} wheels of '
              f'{sum(path.stat().st_size for path in wheels.wheels()) / 1e6:.0f} MB, {unpacked / 1e6:.0f} MB installed', flush=True)
        for name in arguments.case:
            if wheels.for_any_platform or 'arm64' not in name:
                CASES[name](arguments, wheels)


if __name__ == '__main__':
    main()
