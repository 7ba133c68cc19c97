"""Compares the files that go into an image of a work tree with those that git does not ignore, on generated trees.

    gitignore_semantics.py --binary build/tests/support/selected_paths [ROUNDS]

Each round is a repository with random names, patterns and tracked files, ignore files at several depths, in
`.git/info/exclude`, above the directory and in the global excludes file.
"""

import os
import pathlib
import random
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'support'))
sys.dont_write_bytecode = True

import testbed  # noqa: E402
from testbed import run  # noqa: E402

NAMES = ['a', 'b', 'ab', 'a.py', 'b.txt', 'out', 'data', 'x-1', '[x]', 'a b', '#n', '!n', 'n*', 'C', 'Out', 'B.TXT', 'Data']
PATTERNS = ['a', 'b/', '/ab', '*.py', '!a.py', 'out', 'out/', '/out/', 'data/*', '!data/a', 'data/**', '**/data', '**/a/b',
            'a/**/b', '*', '!*/', '!/a', '[ab]', '[!a]*', '[a-b].*', '?', '??', '/*', '!b.txt', '*/a', 'x-[0-9]', 'x-[[:digit:]]',
            '\\#n', '\\!n', '#n', 'n\\*', 'n*', 'a\\ b', 'a b ', '\\[x\\]', '/a/*', '!/a/b', '**', 'a**', '*a*', 'a/', '!a/',
            'data/a/', '*/*.py', '**/b.txt', 'out/**/a', 'foo**/bar', 'a*/b', '[', '[x', 'a\\', '/', '!', 'b.tx[!t]', '*.p?', '***/a',
            'a/b', 'b.txt\r', '[[:alpha:]]', '[]x[]*', '[^a]', 'C', 'ab*/', 'data/*/', '/a**/b', 'o[[:lower:]]t',
            'A', 'OUT/', '*.PY', 'c', '[A-B]', '[C]', '\\C', '/D*/A', '[[:upper:]]', 'B.tx?', '!A.py', 'X-[0-9]']


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding='utf-8', newline='')


def some_rules(chance):
    return '\n'.join(chance.choices(PATTERNS, k=chance.randint(1, 5))) + '\n' * chance.randint(0, 1)


def has_twin(path):
    """Names that differ only in case are the same if `core.ignorecase` is set."""
    return any(other.name.lower() == path.name.lower() for other in path.parent.iterdir())


def make_tree(root, chance):
    directories = ['']
    for _ in range(chance.randint(2, 8)):
        parent = chance.choice(directories)
        name = os.path.join(parent, chance.choice(NAMES))
        if not has_twin(root / name):
            (root / name).mkdir()
            directories.append(name)
    for _ in range(chance.randint(5, 30)):
        path = root / chance.choice(directories) / chance.choice(NAMES)
        if not has_twin(path):
            path.write_text('x')
    if chance.random() < 0.3:
        link = root / chance.choice(directories) / 'link'
        link.symlink_to(chance.choice(['a', 'data', 'out']))
    for directory in directories:
        if chance.random() < (0.9 if not directory else 0.25):
            write(root / directory / '.gitignore', some_rules(chance))
    return directories


def not_ignored(folder, env):
    listed = run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=folder, env=env).stdout
    paths = {os.fsdecode(path) for path in listed.split(b'\0') if path}
    return {path for path in paths if not path.endswith('.gitignore') and os.path.lexists(folder / path)}


def difference(number):
    chance = random.Random(number)
    root = testbed.new_folder('ignored')
    home = testbed.new_folder('home')
    env = testbed.environment(HOME=str(home), XDG_CONFIG_HOME=None, GIT_CONFIG_NOSYSTEM='1', GIT_CONFIG_GLOBAL=None)
    run(['git', 'init', '-q', root], env=env)
    if chance.random() < 0.3:
        run(['git', '-C', root, 'config', 'core.ignorecase', chance.choice(['true', 'yes', 'false'])], env=env)
    directories = make_tree(root, chance)
    if chance.random() < 0.3:
        write(root / '.git/info/exclude', some_rules(chance))
    if chance.random() < 0.3:
        write(home / '.config/git/ignore', some_rules(chance))
    for directory in directories:
        for name in os.listdir(root / directory):
            path = os.path.join(directory, name)
            if chance.random() < 0.1 and not (root / path).is_dir():
                run(['git', '-C', root, 'add', '-f', '--', path], env=env)
    folder = root
    if len(directories) > 1 and chance.random() < 0.3:
        inside = chance.choice(directories[1:])
        ignored = run(['git', '-C', root, 'check-ignore', '-q', '--no-index', '--', inside + '/'], env=env, check=False)
        folder = root if ignored.returncode == 0 else root / inside
    ours = {os.fsdecode(path) for path in run([testbed.binary, folder], env=env).stdout.split(b'\0') if path}
    theirs = not_ignored(folder, env)
    if ours != theirs:
        files = [str(path.relative_to(root)) for path in root.rglob('.gitignore')]
        return (f'round {number}, {folder}\n  only ours: {sorted(ours - theirs)}\n  only git\'s: {sorted(theirs - ours)}\n' +
                '\n'.join(f'  {name}: {(root / name).read_text()!r}' for name in files))
    shutil.rmtree(root)
    shutil.rmtree(home)
    return None


def main():
    rest = testbed.main_binary(sys.argv[1:])
    rounds = int(rest[0]) if rest else 100 if testbed.FORM == 'daily' else 300
    failed = [text for text in map(difference, range(rounds)) if text]
    print('\n'.join(failed[:5]))
    print(f'{rounds - len(failed)} passed, {len(failed)} failed')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
