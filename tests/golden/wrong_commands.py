"""Runs every command of wrong_commands.txt, each of which is wrong, and holds the answer against the text there.

    wrong_commands.py --binary build/src/autopack [--accept]

A case is a line `$ autopack ...`, before it `NAME=value` for variables, then what stands on standard error, and the
exit status. `--accept` writes the answers anew: read them as a person would. Nothing is asked of an engine or a server.
The last line is `N passed, N failed`.
"""

import pathlib
import shlex
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'support'))
sys.dont_write_bytecode = True

import testbed  # noqa: E402

TABLE = HERE / 'wrong_commands.txt'
PROGRAM = 'if __name__ == "__main__":\n    print(1)\n'
POOL = '- machine-type: n1-standard-4\n  container-image-uri: gcr.io/p/i:v1\n'
PROJECT = {
    'taxi/train.py': PROGRAM,
    'taxi/trainer/__init__.py': '',
    'taxi/trainer/task.py': 'print(1)\n',
    'taxi/notes.ipynb': '{"nbformat": 4, "cells": [{"cell_type": "code", "source": "x = 1\\n!ls"}]}\n',
    'taxi/job.yaml': 'workerPoolSpecs:\n' + ''.join(
        f'- machineSpec: {{machineType: {machine}}}\n  replicaCount: 1\n  containerSpec: {{imageUri: gcr.io/p/i}}\n'
        for machine in ('n1-standard-4', 'n1-standard-8')),
    'taxi/typo.yaml': 'workerPoolSpec: []\n',
    'taxi/broken.yaml': 'a: [\n',
    'empty/README.md': '',
    'several/one.py': PROGRAM,
    'several/two.py': PROGRAM,
    'unknown-setting/autopack.yaml': 'regoin: us-central1\nmachine_type: n1-standard-4\n',
    'arguments/autopack.yaml': 'epochs: 3\n',
    'no-list/autopack.yaml': 'wait: [1]\nregion: null\n',
    'tab/autopack.yaml': 'region: us-central1\n\tproject: p\n',
    'two-pools/autopack.yaml': 'worker-pool-spec:\n' + POOL * 2,
    'image-and-script/autopack.yaml': 'container-image-uri: gcr.io/p/i\nscript: train.py\n',
    'image-and-script/train.py': PROGRAM,
    'lines/autopack.yaml': 'executor-image-uri: python:3.11\nscript: trian.py\nmachine-type: n1-standard-3\n',
    'lines/train.py': PROGRAM,
}


def alone():
    """An environment in which nothing but the files can answer."""
    return testbed.environment(DOCKER_HOST='unix:///nowhere/docker.sock', XDG_CACHE_HOME=testbed.new_folder('cache'),
                               NO_GCE_CHECK='true', HTTPS_PROXY='http://127.0.0.1:1', HTTP_PROXY='http://127.0.0.1:1')


def read_cases():
    """The heading of the table, and its commands as they stand there with their answers."""
    heading, *blocks = TABLE.read_text().split('\n$ ')
    return heading, [block.split('\n', 1) for block in blocks]


def answer_of(line, folder):
    words = shlex.split(line)
    variables = dict(word.split('=', 1) for word in words[:words.index('autopack')])
    answer = testbed.autopack(*words[len(variables) + 1:], cwd=folder / 'taxi', env={**alone(), **variables}, status=None)
    assert not answer.out, f'{line}: {answer.out}'
    assert answer.status != 0, f'{line}: it succeeds'
    text = answer.err.replace(str(folder), 'FOLDER')
    return f'{text}status: {answer.status}\n'


def main():
    accept = '--accept' in testbed.main_binary(sys.argv[1:])
    folder = testbed.write_tree(PROJECT)
    heading, cases = read_cases()
    passed, told, table = 0, [], heading
    for line, *wanted in cases:
        try:
            answer = answer_of(line, folder)
        except (AssertionError, OSError, ValueError) as error:
            answer = f'{error}\n'
        table += f'\n$ {line}\n{answer}'
        good = accept or ''.join(wanted).strip() == answer.strip()
        passed += good
        if not good:
            told.append(f'FAILED $ {line}\nwanted:\n{"".join(wanted).rstrip()}\nanswered:\n{answer}')
    if accept:
        TABLE.write_text(table)
    print('\n'.join([*told, f'{passed} passed, {len(told)} failed']))
    sys.exit(1 if told or passed < 100 else 0)


if __name__ == '__main__':
    main()
