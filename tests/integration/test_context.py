"""The files that go into the image: the whole working directory, except what rules exclude."""

import os
import unittest

import testbed
from testbed import autopack, write_tree

GIT = {'GIT_AUTHOR_NAME': 'a', 'GIT_AUTHOR_EMAIL': 'a@b', 'GIT_COMMITTER_NAME': 'a', 'GIT_COMMITTER_EMAIL': 'a@b'}


def repository(files, *forced):
    folder = write_tree(files)
    testbed.run(['git', 'init', '-q', folder])
    git(folder, 'add', '-A')
    for path in forced:
        git(folder, 'add', '-f', path)
    git(folder, 'commit', '-q', '-m', 'first')
    return folder


def git(folder, *arguments):
    return testbed.run(['git', *arguments], cwd=folder, env=testbed.environment(**GIT))


def run(folder, *flags, **options):
    return autopack('run', '--executor-image-uri', testbed.executor(), *flags, cwd=folder, **options)


class WhatRuns(unittest.TestCase):
    """A program that ran in the directory runs in the image, whatever the entry reads."""

    def test_a_script_reads_files_at_the_root_and_beside_it(self):
        folder = write_tree({'params.yaml': 'a\n', 'src/train.py': 'print(open("params.yaml").read(), open("src/data/b").read())',
                             'src/data/b': 'b', '.project-root': ''})
        self.assertEqual(run(folder, '--script=src/train.py').out.split(), ['a', 'b'])

    def test_a_bash_script_goes_one_directory_up(self):
        folder = write_tree({'scripts/train.sh': 'cd "$(dirname "$0")/.." && python3 -m pkg.train\n',
                             'pkg/train.py': 'import other.x\nprint("trained", other.x.a)\n', 'other/x.py': 'a = 1\n'})
        self.assertEqual(run(folder, '--script=scripts/train.sh').out.strip(), 'trained 1')

    def test_links_are_copied_as_they_are_and_dangling_ones_are_a_warning(self):
        folder = write_tree({'train.py': 'print(open("l/a").read())', 'd/a': 'x'})
        os.symlink('d', folder / 'l')
        self.assertEqual(run(folder, '--script=train.py').out.strip(), 'x')
        os.symlink('/nowhere/data', folder / 'gone')
        answer = run(folder, '--script=train.py')
        self.assertEqual(answer.out.strip(), 'x')
        said = answer.err
        self.assertIn('`gone` is a symbolic link to `/nowhere/data`, which is outside the working directory', said)
        self.assertEqual(run(folder, '--script=train.py', '--exclude=gone').out.strip(), 'x')

    def test_a_single_file_from_outside(self):
        folder = write_tree({'train.py': 'print(open("more.txt").read())'})
        write_tree({f'{folder.name}-more/more.txt': 'more'}, folder.parent)
        self.assertEqual(run(folder, '--script=train.py', f'--extra-dirs=../{folder.name}-more/more.txt').out.strip(), 'more')


class RulesOfGit(unittest.TestCase):
    FILES = {'.gitignore': 'out/\n*.ckpt\n_version.py\nvocab.txt\n', 'train.py': 'import pkg\nprint(pkg.v, open("vocab.txt").read())\n',
             'pkg/__init__.py': 'from ._version import v\n', 'pkg/.gitignore': '/tmp\n!keep.ckpt\n', 'pkg/keep.ckpt': 'k',
             'kept.ckpt': 'tracked', 'docs/index.md': 'd\n'}
    MORE = {'out/run1/log': 'x', 'model.ckpt': 'x', 'pkg/_version.py': 'v = 7\n', 'vocab.txt': 'words', 'pkg/tmp/a': 'x',
            'env/pyvenv.cfg': '', 'env/lib/x.py': ''}

    def setUp(self):
        self.folder = repository(self.FILES, 'kept.ckpt')
        write_tree(self.MORE, self.folder)

    def explain(self, *flags):
        return autopack('explain', '--executor-image-uri', testbed.executor(), '--script=train.py', *flags, '--format=json',
                        cwd=self.folder).json()

    def test_each_path_is_in_or_out_for_a_reason(self):
        report = self.explain()
        paths = {entry['path'] for entry in report['code']}
        self.assertLessEqual({'train.py', 'pkg/_version.py', 'vocab.txt', 'kept.ckpt', 'pkg/keep.ckpt', 'docs/index.md'}, paths)
        self.assertEqual([path for path in ('out', 'out/run1/log', 'model.ckpt', 'pkg/tmp', 'env', '.gitignore') if path in paths], [])
        rules = {(one['file'], one['line']): one['paths'] for one in report['left_out']}
        self.assertEqual(rules['.gitignore', 1], ['out/'])
        self.assertEqual(rules['.gitignore', 2], ['model.ckpt'])
        self.assertEqual(rules['pkg/.gitignore', 1], ['pkg/tmp/'])
        self.assertEqual({one['path']: one['why'] for one in report['kept']},
                         {'pkg/_version.py': '`pkg/__init__.py` line 1 imports it', 'vocab.txt': '`train.py` line 2 names it'})
        answer = run(self.folder, '--script=train.py')
        self.assertEqual(answer.out.strip(), '7 words')
        self.assertIn('`pkg/_version.py`, `vocab.txt` too, which git ignores and the program needs', answer.err)

    def test_the_index_holds_what_is_tracked(self):
        paths = {entry['path'] for entry in self.explain('--source=index')['code']}
        self.assertIn('kept.ckpt', paths)
        self.assertNotIn('model.ckpt', paths)

    def test_docker_takes_the_same(self):
        write_tree({'b.log/x': 'directory', 'a b/c': '', '#x': ''}, self.folder)
        (self.folder / '.gitignore').write_text((self.folder / '.gitignore').read_text() + 'docs/*\n!docs/index.md\n*.log/\na[[:space:]]b\n')
        write_tree({'a.log': 'a file'}, self.folder)
        git(self.folder, 'add', '-A')
        ours = autopack('build', '--executor-image-uri', testbed.executor(), '--script=train.py', '--no-push', '--engine=docker',
                        '--output-image-uri', testbed.image_name('context') + ':ours', cwd=self.folder).out.strip()
        autopack('dockerfile', '--executor-image-uri', testbed.executor(), '--script=train.py', '-o', 'Dockerfile', cwd=self.folder)
        theirs = testbed.image_name('context') + ':theirs'
        testbed.run([*testbed.buildkit_command(), 'build', '-q', '-t', theirs, '-f', 'Dockerfile', '.'], cwd=self.folder,
                    env=testbed.environment(DOCKER_BUILDKIT='1'))
        self.addCleanup(testbed.remove_images_later, theirs.rsplit(':', 1)[0])
        self.assertEqual(sorted(testbed.file_tree(ours, '/usr/app')), sorted(testbed.file_tree(theirs, '/usr/app')))
        # The image from git equals the one from the disk.
        git(self.folder, 'add', '-A')
        autopack('dockerfile', '--source=index', '--executor-image-uri', testbed.executor(), '--script=train.py',
                 '--check=Dockerfile', cwd=self.folder)


class Weight(unittest.TestCase):
    def test_ballast_stays_out_and_is_told(self):
        folder = write_tree({'train.py': 'print(1)\n'})
        (folder / 'assets').mkdir()
        with open(folder / 'assets/a.bin', 'wb') as file:
            file.truncate(70_000_000)
        flags = ['explain', '--executor-image-uri', testbed.executor(), '--script=train.py']
        left = autopack(*flags, cwd=folder)
        self.assertIn('`assets/` stays out: 70.0 MB in 1 file, no code, and nothing names it', left.err)
        self.assertIn('--include=assets', left.err)
        self.assertIn('70.0 MB  default no code, named nowhere, over 50 MB', left.out)
        taken = autopack(*flags, '--include=assets', cwd=folder)
        self.assertIn('`assets/`, 1 file and no code, is 70.0 MB of the image', taken.err)


if __name__ == '__main__':
    unittest.main()
