"""Compares the files that our ignore rules keep with those that docker's own builders receive.

    ignore_semantics.py --binary build/tests/kept_paths

Builders differ for wildcards in exceptions: below an excluded directory, the classic one and BuildKit's clients before
23.0 restore nothing. We do as BuildKit does today; the cases here mean the same to all. The unit tests cover the rest,
with the results of github.com/moby/patternmatcher.
"""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'support'))
sys.dont_write_bytecode = True

import testbed  # noqa: E402
from testbed import docker, run  # noqa: E402

FILES = ['.hidden', '#notes', '!bang', '[x]', 'a b', 'a.py', 'a.pyc', 'b.txt', 'back\\slash', 'caf\u00e9', 'star*',
         'data/big.bin', 'data/keep/small.csv', 'data/keep/raw/deep.csv', 'data/sub/big.bin',
         'trainer/__init__.py', 'trainer/__pycache__/task.pyc', 'trainer/task.py', 'trainer/sub/a.py',
         'trainer/sub/data/x.txt', 'x/y/z/a.py', 'x/y/z/b.txt', 'xy/z.txt']

CASES = {
    'nothing': '# a comment\n\n',
    'byte order mark and carriage returns': '\ufeffdata\r\n\r\n*.py\r\n',
    'white space': '  data  \n\ta.py\t\n',
    'comments only in column one': '#notes\n  #notes\n',
    'literal, slashes': '/data\n./trainer/\nx//y/../y/z\n',
    'one level': '*.py\n*/a.py\nb*\n',
    'any level': '**/*.py\n**/data\n',
    'below': 'data/**\ntrainer/**/a.py\n',
    'everything at any level but one': '**\n!x/y/z/b.txt\n',
    'everything but': '*\n!trainer\n!data/keep\n',
    'the last match wins': '*\n!trainer\ntrainer/sub\n!trainer/sub/a.py\n',
    'exceptions below exceptions': 'data\n!data/keep\ndata/keep/raw\n!data/keep/raw/deep.csv\n',
    'classes': '[a-b].*\n[!x]*y\nx/y/z/[^a].txt\n',
    'one character': '?.py\n??\ncaf?\n',
    'escapes': '\\#notes\n\\!bang\nstar\\*\n\\[x\\]\nback\\\\slash\n',
    'double star without slash': '**z.txt\n**task*\n',
    'dots': '.*\n*.*\n',
    'exception with space': 'data\n! data/keep\n',
}


def received_by_buildkit(folder):
    target = testbed.new_folder('received')
    run([*testbed.buildkit_command(), 'build', '--output', target, folder],
        env=testbed.environment(DOCKER_BUILDKIT='1'))
    context = target / 'context'
    return {str(path.relative_to(context)) for path in context.rglob('*') if path.is_file()}


def received_by_classic_builder(folder):
    tag = 'autopack-tests/ignore:1'
    # A search for a cached step fails if another test removes an image meanwhile.
    docker('build', '--quiet', '--no-cache', '--tag', tag, folder, env=testbed.environment(DOCKER_BUILDKIT='0'))
    try:
        tree = testbed.file_tree(tag, below='/context')
        return {path.removeprefix('/context/') for path, entry in tree.items() if entry[0] == '0'}
    finally:
        docker('rmi', '--force', tag)


def differences(name, text):
    folder = testbed.write_tree(dict.fromkeys(FILES, 'text\n'))
    (folder / 'Dockerfile').write_text('FROM scratch\nCOPY . /context/\n')
    (folder / '.dockerignore').write_text(text, encoding='utf-8', newline='')
    ours = set(os.fsdecode(run([testbed.binary, folder]).stdout).split('\n')[:-1])
    for builder in (received_by_buildkit, received_by_classic_builder):
        for path in sorted(ours ^ builder(folder)):
            yield f'{name}, {builder.__name__}: `{path}` is sent by {"us" if path in ours else "docker"} only'


def main():
    testbed.main_binary(sys.argv[1:])
    testbed.engine()
    failed = 0
    for name, text in CASES.items():
        found = list(differences(name, text))
        print('\n'.join(found) or f'ok     {name}', flush=True)
        failed += bool(found)
    print(f'{len(CASES) - failed} passed, {failed} failed')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
