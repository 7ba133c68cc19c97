"""Tells how autopack fares on real checkouts: a table of verdict, warnings, time and judgement.

    repositories.py --binary PATH [--base IMAGE] [--starts FILE] [--wheels DIRECTORY]... [--run] DIRECTORY [NAME...]

DIRECTORY holds one checkout per folder. FILE (YAML, starts.yaml beside this script unless told otherwise) says how each
is started, as its README does:

    owner+name:
      in: projects/adder                  # where the command is typed; default: the root
      start: [--script=train.py]          # what autopack is given
      arguments: [--epochs=1]             # what the program is given
      prepare: python3 "$TINY" mnist data # bash, in a copy of the checkout: tiny data, of tiny_data.py or made in "$BASE"
      expect: "loss"                      # what it prints when training has begun (with --run)
      judged: works as it is              # by reading the repository; see REPOSITORIES.md
      because: its data is in the tree
      wrong: 1                            # how many of its warnings are wrong

Without --run each is only planned (`explain --check`). With --run it is built and run without a network; an index
on loopback serves the wheels of --wheels (see tests/support/debian_wheels.py) under every version that the checkout
mentions, and an empty wheel for every other name, so that only autopack's own mistakes stop a build.
Without --base an image with Python under /usr/local is made that holds the wheels of the first --wheels. Checkouts
are only read; programs run in containers.
"""

import argparse
import functools
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'support'))

import bases  # noqa: E402
import package_index  # noqa: E402
import testbed  # noqa: E402
import wheel_writer  # noqa: E402
import yaml  # noqa: E402

PIN = re.compile(r'(?:^|[\s"\'\[,(-])([A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*(?:===?|>=|~=|\^|=)\s*[="\'^~]*(\d[\w.]*)', re.M)
OTHER_NAMES = {'cv2': 'opencv-python', 'skimage': 'scikit-image', 'git': 'gitpython', 'hydra': 'hydra-core'}
BASE = 'autopack-tests/repositories:1'
COUNT = itertools.count()
TEXTS = ('*.txt', '*.toml', '*.cfg', 'setup.py', '*.yml', '*.yaml', 'Pipfile*')


def mentioned_versions(folder):
    """Name -> versions that the checkout's files of requirements mention."""
    result = {}
    for pattern in TEXTS:
        for path in folder.rglob(pattern):
            if path.is_file() and path.stat().st_size < 1_000_000:
                for name, version in PIN.findall(path.read_text(encoding='utf-8', errors='replace')):
                    version = re.sub(r'[.*]+$', '', version)
                    if re.fullmatch(r'\d+(\.\d+)*((a|b|rc|\.post|\.dev)\d+)?', version):
                        result.setdefault(package_index.normalise(name), set()).add(version)
    return result


def without_bounds(metadata):
    """What is needed may come in any version: versions are stand-ins here."""
    return re.sub(r'^Requires-Dist: ([\w.-]+)[^;\n]*(;.*)?$', r'Requires-Dist: \1\2', metadata, flags=re.M)


def unbounded(wheel, house):
    name, version, _ = wheel.name.split('-', 2)
    with zipfile.ZipFile(wheel) as source:
        metadata = source.read(f'{name}-{version}.dist-info/METADATA').decode()
    return wheel if metadata == without_bounds(metadata) else relabelled(wheel, version, house)


def relabelled(wheel, version, house):
    """A copy of a wheel that says it is another version."""
    name, old, tag = wheel.name[:-4].split('-', 2)
    target = house / f'{name}-{version}-{tag}.whl'
    if not target.exists():
        # Large ones take long: pip may ask again meanwhile.
        partial = house / f'{target.name}.{next(COUNT)}'
        with zipfile.ZipFile(wheel) as source, wheel_writer.Writer(partial, f'{name}-{version}.dist-info') as writer:
            for entry in source.infolist():
                folder, _, file = entry.filename.partition('/')
                if folder != f'{name}-{old}.dist-info':
                    writer.add(entry.filename, source.read(entry))
            metadata = source.read(f'{name}-{old}.dist-info/METADATA').decode()
            metadata = without_bounds(metadata)
            entry_points = f'{name}-{old}.dist-info/entry_points.txt'
            writer.add_metadata(re.sub(r'^Version: .*$', f'Version: {version}', metadata, count=1, flags=re.M), tag,
                                source.read(entry_points) if entry_points in source.namelist() else None)
        partial.rename(target)
    return target


def empty_wheel(name, version, house):
    name = re.sub(r'[-.]+', '_', name)
    path = house / f'{name}-{version}-py3-none-any.whl'
    if not path.exists():
        with wheel_writer.Writer(path, f'{name}-{version}.dist-info') as writer:
            writer.add_metadata(f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n', 'py3-none-any')
    return path


def make_base(wheels):
    """An image as Python's official ones, with `wheels`, whose needs are as unbounded as those of the index."""
    context = testbed.write_tree({'Dockerfile': bases.recipe('official')})
    (context / 'wheels').mkdir()
    for wheel in [*testbed.DEBIAN_WHEELS.glob('*.whl'), *wheels.glob('*.whl')]:
        made = unbounded(wheel, context / 'wheels')
        if made == wheel:
            shutil.copy(wheel, context / 'wheels')
    return testbed.docker('build', '--quiet', '--tag', BASE, context) and BASE


class StandInIndex(package_index.Index):
    """Serves the given wheels under every version mentioned, and an empty wheel for any other name."""

    def __init__(self, directories, mentioned):
        super().__init__(directories)
        self.real = {name: list(files.values())[0] for name, files in self.files.items()}
        self.mentioned = mentioned
        self.house = pathlib.Path(tempfile.mkdtemp(prefix='stand-in-wheels-'))
        self.empty = set()

    def content(self, path):
        """Wheels are made when they are fetched, and listed without digests: some are large."""
        parts = [part for part in path.split('/') if part]
        if len(parts) == 2 and parts[0] == 'simple':
            names = self.wheels(package_index.normalise(parts[1]))
            links = ''.join(f'<a href="/files/{name}">{name}</a>\n' for name in sorted(names))
            return 200, package_index.page(links), 'text/html'
        if len(parts) == 2 and parts[0] == 'files':
            make = self.wheels(package_index.project_of(parts[1])).get(parts[1])
            return (200, make(), 'application/octet-stream') if make else (404, b'not here', 'text/plain')
        return super().content(path)

    def wheels(self, name):
        """File name -> what makes the wheel of that name."""
        versions = self.mentioned.get(name, set())
        if name not in self.real:
            self.empty.add(name)
            plain = re.sub(r'[-.]+', '_', name)
            return {f'{plain}-{version}-py3-none-any.whl': functools.partial(empty_wheel, name, version, self.house)
                    for version in versions | {'99.0'}}
        wheel = self.real[name]
        plain, own, tag = wheel.name[:-4].split('-', 2)
        return {wheel.name: functools.partial(unbounded, wheel, self.house)} | {
            f'{plain}-{version}-{tag}.whl': functools.partial(relabelled, wheel, version, self.house)
            for version in versions - {own}}

    def close(self):
        super().close()
        shutil.rmtree(self.house, ignore_errors=True)


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip()[:140] if lines else ''


def told(text, word):
    return re.findall(rf'^{word}: (.*)', text, re.M)


class Row:
    def __init__(self, name, start, arguments):
        self.name, self.start, self.arguments = name, start, arguments
        self.folder = arguments.directory / name
        self.commit = testbed.run(['git', '-C', self.folder, 'rev-parse', '--short=10', 'HEAD']).stdout.decode().strip()
        self.verdict, self.warnings, self.seconds, self.output = '', [], 0.0, ''

    def autopack(self, command, *more, env=None, cwd=None, timeout=300):
        begin = time.monotonic()
        answer = testbed.autopack(command, '--executor-image-uri', self.arguments.base, *self.start['start'], *more,
                                  cwd=cwd or self.folder / self.start.get('in', '.'), env=env or testbed.environment(),
                                  status=None, timeout=timeout)
        self.seconds = time.monotonic() - begin
        self.output += str(answer)
        return answer

    def plan(self):
        """Looks into the base first, which `--check` does not."""
        self.warnings = told(self.autopack('explain').err, 'warning')
        return self.judge(self.autopack('explain', '--check'))

    def judge(self, answer):
        errors = told(answer.err, 'error')
        error = re.sub(r' at `\[.*', '', errors[-1] if errors else last_line(answer.err))
        self.verdict = 'planned' if answer.status == 0 else f'refused: {error}'
        return answer.status == 0

    def run(self):
        if not self.plan():
            return
        seconds = self.seconds
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / self.name
            shutil.copytree(self.folder, folder, symlinks=True)
            testbed.run(['bash', '-euc', self.start.get('prepare', '')], cwd=folder, timeout=300,
                        env=os.environ | {'BASE': self.arguments.base, 'TINY': str(HERE / 'tiny_data.py')})
            index = StandInIndex([*self.arguments.wheels, testbed.DEBIAN_WHEELS], mentioned_versions(folder))
            try:
                answer = self.autopack('build', '--build-network=host', cwd=folder / self.start.get('in', '.'),
                                       env=testbed.environment(PIP_INDEX_URL=index.url))
            finally:
                index.close()
                self.seconds = seconds
        if not self.judge(answer):
            return
        try:
            self.begin_training(answer.out.strip(), index.empty)
        finally:
            testbed.run(['docker', 'rmi', '--force', answer.out.strip()], check=False)

    def begin_training(self, image, empty):
        container = testbed.docker('create', '--network=none', '--env=PYTHONUNBUFFERED=1', image, *map(str, self.start.get('arguments', [])))
        try:
            testbed.docker('start', container)
            output, status = self.follow(container)
        finally:
            testbed.docker('rm', '--force', container)
        self.output += f'\n--- program ({status})\n{output}'
        if self.trains(output):
            self.verdict = 'trains'
        elif status in ('0', 'running'):
            self.verdict = 'runs'
        else:
            missing = re.search(r"No module named '([\w]+)", output)
            stand_in = missing and OTHER_NAMES.get(missing[1], package_index.normalise(missing[1])) in empty
            is_told = missing and any(f'`{missing[1]}`' in warning for warning in self.warnings)
            self.verdict = (f'stops at {missing[1]}, as told' if is_told else
                            f'stops at {missing[1]}, of which there is no real wheel' if stand_in else
                            'dies: ' + last_line(output))

    def trains(self, output):
        return bool('expect' in self.start and re.search(self.start['expect'], output))

    def follow(self, container):
        """What the program prints until it trains, ends or its time is over, and how it ended."""
        limit = time.monotonic() + self.arguments.limit
        while True:
            running, status = testbed.docker('inspect', '--format={{.State.Running}} {{.State.ExitCode}}', container).split()
            logs = testbed.run(['docker', 'logs', container])
            output = (logs.stdout + logs.stderr).decode(errors='replace')
            if running == 'false':
                return output, status
            if self.trains(output) or time.monotonic() > limit:
                return output, 'running'
            time.sleep(1)

    def markdown(self):
        start = ' '.join([*(f'({self.start["in"]})' if 'in' in self.start else '').split(), *self.start['start']])
        warnings = str(len(self.warnings)) + (f', {self.start["wrong"]} wrong' if 'wrong' in self.start else '')
        judged = ': '.join(self.start[key] for key in ('judged', 'because') if key in self.start)
        return (f'| {self.name.replace("+", "/")} | {self.commit} | `{start}` | {self.verdict} | {warnings} | {self.seconds:.1f} |'
                f' {judged} |')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--binary', required=True)
    parser.add_argument('--base')
    parser.add_argument('--starts', type=pathlib.Path, default=HERE / 'starts.yaml')
    parser.add_argument('--wheels', type=pathlib.Path, action='append', default=[])
    parser.add_argument('--run', action='store_true')
    parser.add_argument('--limit', type=int, default=120, help='seconds that a program may run')
    parser.add_argument('--log', type=pathlib.Path, help='a folder for all that was said')
    parser.add_argument('directory', type=pathlib.Path)
    parser.add_argument('names', nargs='*')
    arguments = parser.parse_args()
    testbed.binary = str(pathlib.Path(arguments.binary).resolve())
    arguments.base = arguments.base or make_base(arguments.wheels[0])
    print('| repository | commit | started as | verdict | warnings | seconds | judgement |\n|---|---|---|---|---|---|---|', flush=True)
    for name, start in yaml.safe_load(arguments.starts.read_text()).items():
        if arguments.names and name not in arguments.names:
            continue
        row = Row(name, start, arguments)
        try:
            (row.run if arguments.run else row.plan)()
        except (AssertionError, subprocess.TimeoutExpired) as error:
            row.verdict = f'not tried: {last_line(str(error))}'
        print(row.markdown(), flush=True)
        if arguments.log:
            arguments.log.mkdir(parents=True, exist_ok=True)
            (arguments.log / f'{name}.txt').write_text(row.output)


if __name__ == '__main__':
    main()
