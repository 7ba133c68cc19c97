"""Measures two binaries of autopack beside each other: the one before a change and the one after it.

    before_after.py BEFORE AFTER [--rounds 11] [--files 100000]

Both take turns in one run, each with a copy of every project, a cache and a repository of its own. Index and registry
are on loopback, the registry's data in memory. Prints medians and their ratio; how far the two may lie apart by chance
tells the last column, in which BEFORE is measured against a copy of itself.
"""

import argparse
import pathlib
import shutil
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'support')]
sys.dont_write_bytecode = True

import bench  # noqa: E402
import testbed  # noqa: E402


class Side:
    """One binary, with a copy of the project; `command(side)` is what is measured."""

    def __init__(self, binary, number, project, registry):
        self.binary = binary
        self.folder = testbed.new_folder('side') / 'project'
        shutil.copytree(project, self.folder, symlinks=True)
        self.environment = testbed.environment(XDG_CACHE_HOME=str(testbed.new_folder('cache')))
        self.target = f'{registry}/side-{number}-{time.time_ns()}:t'
        self.base = f'{registry}/bench/base:1'

    def run(self, verb, *flags):
        command = [self.binary, verb, '--executor-image-uri', self.base, '--script=trainer/task.py', *flags]
        begin = bench.now()
        testbed.run(command, cwd=self.folder, env=self.environment, timeout=600)
        return time.perf_counter() - begin

    def build(self, _=None):
        return self.run('build', '--output-image-uri', self.target)

    def edit(self, number):
        with open(self.folder / 'trainer' / 'task.py', 'a', encoding='utf-8') as out:
            out.write(f'print("edit {number} {time.time_ns()}")\n')
        return self.build()

    def explain(self, _):
        return self.run('explain')

    def start(self, _):
        begin = bench.now()
        testbed.run([self.binary, '--version'], env=self.environment)
        return time.perf_counter() - begin


def compare(title, rounds, sides, action):
    """A row of the table."""
    before, after, again = bench.interleaved(rounds, [lambda number, side=side: action(side, number) for side in sides])
    return f'| {title} | {before * 1000:.1f} ms | {after * 1000:.1f} ms | {after / before:.2f} | {again / before:.2f} |'


def measure(project, what, rounds, binaries, registry):
    sides = [Side(binary, number, project, registry) for number, binary in enumerate(binaries)]
    for side in sides:
        side.build()
    yield compare(f'{what}, an edit', rounds, sides, Side.edit)
    for side in sides:
        side.build()
    yield compare(f'{what}, nothing changed', rounds, sides, Side.build)
    yield compare(f'{what}, `explain`', rounds, sides, Side.explain)
    for side in sides:
        shutil.rmtree(side.folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('before', type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument('after', type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument('--rounds', type=int, default=11)
    parser.add_argument('--files', type=int, default=100_000)
    arguments = parser.parse_args()
    binaries = [arguments.before, arguments.after, arguments.before]
    with bench.registry_in_memory() as registry:
        sides = [Side(binary, number, testbed.new_folder('empty'), registry) for number, binary in enumerate(binaries)]
        rows = [compare('start-up', 3 * arguments.rounds, sides, Side.start)]
        for project, what in ((bench.make_project(requirement=False), '200 files'),
                              (bench.big_project(arguments.files, 1_000), f'{arguments.files:,} files')):
            rows += measure(project, what, arguments.rounds, binaries, registry)
    print('\n| | before | after | ratio | before against itself |\n|---|---|---|---|---|', *rows, sep='\n')


if __name__ == '__main__':
    main()
