"""Images of git's index and of commits, made from real repositories: `--source`."""

import json
import os
import subprocess
import unittest

import testbed
from repositories import alone, commit, git, repository
from testbed import autopack, docker, write_tree

FLAGS = ['--executor-image-uri=python:3.11', '--script=trainer/task.py']
UMLAUT = '\N{LATIN SMALL LETTER U WITH DIAERESIS}'


class DockerEngine(unittest.TestCase):
    def setUp(self):
        self.target = testbed.image_name('git')
        self.folder = repository({'trainer/task.py': 'print("one")\n', 'trainer/more/data.txt': 'data\n'})

    def build(self, *flags, folder=None, env=None):
        return autopack('build', '--executor-image-uri', testbed.executor(), '--script=trainer/task.py',
                        '--output-image-uri', self.target, '--no-push', '--format=json', *flags, cwd=folder or self.folder,
                        env=env).json()

    def test_the_same_image_from_worktree_index_and_commit(self):
        first = self.build()
        for source in ('index', 'HEAD', 'main', git(self.folder, 'rev-parse', '--short', 'HEAD').stdout.decode().strip()):
            again = self.build(f'--source={source}')
            self.assertEqual((again['digest'], again['tag'], again['reused']), (first['digest'], first['tag'], True))
        fresh = testbed.image_name('git-fresh')
        alone_built = self.build('--source=HEAD', '--output-image-uri', fresh)
        self.assertEqual((alone_built['digest'], alone_built['reused']), (first['digest'], False))

    def test_no_dirty_file_slips_in(self):
        first = self.build()
        write_tree({'trainer/task.py': 'print("two")\n', 'trainer/new.py': '', '.dockerignore': 'trainer/more\n'}, self.folder)
        (self.folder / 'trainer/more/data.txt').unlink()
        self.assertEqual(self.build('--source=index')['digest'], first['digest'])
        self.assertNotEqual(self.build()['digest'], first['digest'])
        git(self.folder, 'add', 'trainer/task.py')
        staged = self.build('--source=index')
        self.assertNotEqual(staged['digest'], first['digest'])
        self.assertTrue(staged['git']['dirty'])
        self.assertEqual(self.build('--source=HEAD')['digest'], first['digest'])

    def test_facts_and_labels(self):
        git(self.folder, 'remote', 'add', 'origin', 'https://me:word@example.com/team/r.git')
        head = git(self.folder, 'rev-parse', 'HEAD').stdout.decode().strip()
        plain = self.build('--source=HEAD')
        self.assertEqual(plain['git'], {'revision': head, 'remote': 'https://example.com/team/r.git', 'dirty': False})
        labelled = self.build('--source=HEAD', '--label-git')
        self.assertNotEqual(labelled['tag'], plain['tag'])
        labels = testbed.configuration(labelled['digest'])['Config']['Labels']
        self.assertEqual(labels['org.opencontainers.image.revision'], head)
        self.assertEqual(labels['org.opencontainers.image.source'], 'https://example.com/team/r.git')
        self.assertEqual(labels['autopack.git.dirty'], 'false')
        git(self.folder, 'commit', '-q', '--allow-empty', '-m', 'second')
        self.assertEqual(self.build('--source=HEAD')['tag'], plain['tag'])
        self.assertNotEqual(self.build('--source=HEAD', '--label-git')['tag'], labelled['tag'])

    def test_a_script_that_git_changes_at_checkout_is_not_said_to_be_missing(self):
        write_tree({'.gitattributes': 'task.py working-tree-encoding=UTF-16\n'}, self.folder)
        git(self.folder, 'add', '.gitattributes')
        for flag in ('--script=trainer/task.py', '--python-module=trainer.task'):
            answer = autopack('explain', '--check', '--executor-image-uri=python:3.11', flag, '--source=index',
                              cwd=self.folder, status=2)
            self.assertIn('`trainer/task.py` is a file that `working-tree-encoding` changes at checkout', answer.err)
            self.assertIn('`--source=worktree` reads it', answer.err)
            self.assertNotIn('does not exist', answer.err)

    def test_submit_and_run_take_it_too(self):
        write_tree({'trainer/task.py': 'print("two")\n'}, self.folder)
        answer = autopack('run', '--executor-image-uri', testbed.executor(), '--script=trainer/task.py', '--source=HEAD',
                          cwd=self.folder)
        self.assertEqual(answer.out, 'one\n')
        pool = (f'--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri={testbed.executor()},'
                'local-package-path=.,script=trainer/task.py')
        answer = autopack('submit', '--submitter=local', '--display-name=x', pool, '--source=index', cwd=self.folder)
        self.assertIn('one', answer.err)


class Lfs(unittest.TestCase):
    def test_a_fetched_file_has_its_contents(self):
        folder = repository({'trainer/task.py': 'print(open("trainer/model.bin").read())\n'})
        git(folder, 'lfs', 'install', '--local')
        write_tree({'.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'trainer/model.bin': 'weights'}, folder)
        git(folder, 'add', '-A')
        git(folder, 'commit', '-q', '-m', 'model')
        answers = [autopack('run', '--executor-image-uri', testbed.executor(), '--script=trainer/task.py', f'--source={source}',
                            cwd=folder).out for source in ('worktree', 'HEAD')]
        self.assertEqual(answers, ['weights\n', 'weights\n'])


class DirectEngine(unittest.TestCase):
    """Without an engine, pushed to a registry."""

    @classmethod
    def setUpClass(cls):
        cls.house = f'{testbed.registry()}/source'
        cls.base = testbed.pushed_executor('source/base:1')

    @classmethod
    def tearDownClass(cls):
        testbed.remove_images(cls.house)

    def build(self, folder, name, *flags, **variables):
        answer = autopack('build', '--executor-image-uri', self.base, '--script=trainer/task.py', '--engine=direct',
                          '--format=json', '--output-image-uri', f'{self.house}/{name}', *flags, cwd=folder,
                          env=alone(**variables)).json()
        self.assertFalse(answer['reused'])
        return answer

    def printed(self, image):
        self.addCleanup(docker, 'rmi', '-f', image['uri'])
        return testbed.run_image(image['uri'])

    def same(self, one, other):
        self.assertEqual((one['tag'], one['digest']), (other['tag'], other['digest']))

    def project(self):
        folder = repository({
            'trainer/task.py': 'print("one")\n',
            f'trainer/a b/{UMLAUT}.txt': 'text\n',
            'trainer/table.csv': '1,2\r\n',
            'trainer/weights.bin': 'w' * 1_500_000,
            '.gitattributes': '*.txt text eol=crlf\n*.bin binary\n*.csv -text\n',
        }, f'a project {UMLAUT}')
        write_tree({'trainer/run.sh': '#!/bin/sh\n'}, folder)
        (folder / 'trainer/run.sh').chmod(0o755)
        (folder / 'trainer/link').symlink_to('a b')
        commit(folder, 'more')
        return folder

    def checkout(self, folder, *arguments):
        """Returns the files of a clean checkout of the index."""
        clean = testbed.new_folder('clean')
        git(folder, 'checkout-index', '-a', f'--prefix={clean}/', *arguments)
        return clean

    def test_key_and_digest_are_those_of_a_clean_checkout(self):
        folder = self.project()
        head = self.build(self.checkout(folder), 'head')
        write_tree({'trainer/task.py': 'print("staged")\n'}, folder)
        git(folder, 'add', 'trainer/task.py')
        staged = self.build(self.checkout(folder), 'staged')
        self.assertNotEqual(staged['tag'], head['tag'])
        write_tree({'trainer/task.py': 'print("dirty")\n', 'trainer/new.py': '', '.dockerignore': '*.bin\n',
                    '.gitattributes': '', f'trainer/a b/{UMLAUT}.txt': 'dirty\n'}, folder)
        (folder / 'trainer/run.sh').unlink()
        index = self.build(folder, 'index', '--source=index')
        self.same(index, staged)
        self.assertEqual(self.printed(index), 'staged')
        self.assertEqual(index['git']['dirty'], True)
        commit_image = self.build(folder, 'commit', '--source=HEAD')
        self.same(commit_image, head)
        self.assertEqual(self.printed(commit_image), 'one')
        self.assertNotIn(self.build(folder, 'worktree')['tag'], (head['tag'], staged['tag']))

    def test_a_worktree_and_a_bare_repository_have_the_same(self):
        folder = self.project()
        head = self.build(self.checkout(folder), 'of-worktree')
        other = testbed.new_folder('worktrees') / f'other {UMLAUT}'
        git(folder, 'worktree', 'add', '-q', '-b', 'side', other)
        (other / 'trainer/task.py').write_text('print("dirty")\n')
        self.same(self.build(other, 'of-other', '--source=index'), head)
        bare = testbed.new_folder('bare') / 'project.git'
        git(folder, 'clone', '-q', '--bare', folder, bare)
        self.same(self.build(bare, 'of-bare', '--source=main'), head)
        answer = autopack('build', *FLAGS, '--source=nothing', cwd=bare, env=alone(), status=2)
        self.assertIn(f'`nothing` names no commit of the git repository `{bare}`', answer.err)

    def test_files_that_sparse_checkout_leaves_out_are_there(self):
        folder = self.project()
        head = self.build(self.checkout(folder), 'of-full')
        git(folder, 'sparse-checkout', 'set', '--no-cone', '/trainer/task.py')
        self.assertFalse((folder / 'trainer/weights.bin').exists())
        self.same(self.build(folder, 'of-sparse', '--source=index'), head)
        self.same(self.build(folder, 'of-sparse-commit', '--source=HEAD'), head)

    def test_fetched_lfs_files_are_there(self):
        folder = repository({'trainer/task.py': 'print(open("trainer/model.bin").read())\n'})
        git(folder, 'lfs', 'install', '--local')
        write_tree({'.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'trainer/model.bin': 'weights'}, folder)
        commit(folder, 'model')
        (folder / 'trainer/model.bin').write_text('dirty')
        image = self.build(folder, 'lfs', '--source=index')
        self.assertEqual(self.printed(image), 'weights')


class Refusals(unittest.TestCase):
    """Unsupported content of git is reported, with the remedy."""

    def setUp(self):
        self.folder = repository({'trainer/task.py': 'print("one")\n', 'other/data.txt': 'data\n'})

    def explain(self, *flags, status=0):
        return autopack('explain', *FLAGS, '--check', *flags, cwd=self.folder, env=alone(), status=status).err

    def obey(self, said):
        """Types the command of a hint."""
        line = next(line for line in said.splitlines() if line.lstrip().startswith('hint: git '))
        subprocess.run(['sh', '-c', line.strip().removeprefix('hint: ')], cwd=self.folder, check=True, env=testbed.environment())

    def test_a_split_index(self):
        git(self.folder, 'update-index', '--split-index')
        self.explain('--source=HEAD')
        said = self.explain('--source=index', status=2)
        self.assertIn("unsupported mandatory extension: 'link'", said)
        self.obey(said)
        self.explain('--source=index')

    def test_a_sparse_index(self):
        git(self.folder, 'sparse-checkout', 'set', '--cone', '--sparse-index', 'trainer')
        self.explain('--source=HEAD')
        said = self.explain('--source=index', status=2)
        self.assertIn("unsupported mandatory extension: 'sdir'", said)
        self.obey(said)
        self.explain('--source=index')

    def test_an_image_of_the_directory_needs_no_index(self):
        git(self.folder, 'update-index', '--split-index')
        flags = ['build', '--executor-image-uri', testbed.executor(), '--script=trainer/task.py', '--no-push',
                 '--output-image-uri', testbed.image_name('split'), '--format=json']
        answer = autopack(*flags, cwd=self.folder)
        self.assertNotIn('git', answer.json())
        self.assertIn('warning: the result contains nothing about git: ', answer.err)
        self.obey(answer.err)
        self.assertFalse(autopack(*flags, cwd=self.folder).json()['git']['dirty'])

    def owned_by(self, owner):
        testbed.run_image('-v', f'{self.folder}:/folder', '--entrypoint=chown', testbed.executor(), '-R', owner, '/folder')

    def test_a_repository_of_somebody_else(self):
        self.addCleanup(self.owned_by, f'{os.getuid()}:{os.getgid()}')
        self.owned_by('4711:4711')
        said = self.explain('--source=index', status=1)
        self.assertIn(f'the git repository of `{self.folder}` cannot be opened', said)
        self.assertIn(f'git config --global --add safe.directory {self.folder}', said)
        home = testbed.new_folder('home')
        (home / '.gitconfig').write_text(f'[safe]\n\tdirectory = {self.folder}\n')
        autopack('explain', *FLAGS, '--check', '--source=index', cwd=self.folder, env=alone(HOME=home))

    def test_submodules_and_lfs_files_that_are_not_there(self):
        library = repository({'a.py': ''}, 'library')
        git(self.folder, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', library, 'trainer/lib')
        pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:' + '0' * 64 + '\nsize 9\n'
        write_tree({'trainer/model.bin': pointer}, self.folder)
        git(self.folder, 'add', '-A')
        write_tree({'.gitattributes': '*.bin filter=lfs\n'}, self.folder)
        git(self.folder, 'add', '.gitattributes')
        said = self.explain('--source=index', status=2)
        self.assertIn('`trainer/lib` is a submodule', said)
        self.assertIn('`--source=worktree` includes them; `--exclude` leaves them out', said)
        self.assertIn('`trainer/model.bin` is a Git LFS file', said)
        self.assertIn('`git lfs fetch` fetches it', said)
        write_tree({'.dockerignore': 'trainer/lib\ntrainer/model.bin\n'}, self.folder)
        git(self.folder, 'add', '.dockerignore')
        self.explain('--source=index')

    def test_what_lies_outside(self):
        other = testbed.new_folder('outside')
        for extra in (f'--extra-dirs={other}', '--source=nothing'):
            self.explain('--source=index', extra, status=2)
        answer = autopack('explain', *FLAGS, '--check', '--source=HEAD', cwd=other, env=alone(), status=2)
        self.assertIn('is not in a git repository', answer.err)


class SettingsFiles(unittest.TestCase):
    """The project's settings come from the same source as its files."""

    PLAIN = f'executor-image-uri: {testbed.EXECUTOR}\nscript: trainer/task.py\n'
    TOML = f'[tool.autopack]\nexecutor-image-uri = "{testbed.EXECUTOR}"\nscript = "trainer/task.py"\n'

    def setUp(self):
        testbed.executor()
        self.folder = repository({'trainer/task.py': 'print(1)\n', 'trainer/other.py': 'print(2)\n',
                                  'autopack.yaml': self.PLAIN, 'sub dir/task.py': 'print(3)\n'})

    def dockerfile(self, *flags, cwd=None, status=0, **variables):
        return autopack('dockerfile', *flags, cwd=cwd or self.folder, env=testbed.environment(**variables), status=status)

    def test_no_dirty_settings_slip_in(self):
        clean = self.dockerfile().out
        self.assertIn('trainer/task.py', clean)
        write_tree({'autopack.yaml': self.PLAIN.replace('task', 'other')}, self.folder)
        self.assertIn('trainer/other.py', self.dockerfile().out)
        for source in ('index', 'HEAD', 'main'):
            self.assertEqual(self.dockerfile(f'--source={source}').out, clean)
        self.assertEqual(self.dockerfile(AUTOPACK_SOURCE='index').out, clean)
        git(self.folder, 'add', '-A')
        self.assertIn('trainer/other.py', self.dockerfile('--source=index').out)
        self.assertEqual(self.dockerfile('--source=HEAD').out, clean)
        submit = ['submit', '--dry-run', '--source=HEAD', '--config=autopack.yaml', '-v']
        told = autopack(*submit, '--region=us-central1', '--project=p', '--skip-checks', cwd=self.folder, status=None).err
        self.assertIn('from HEAD:autopack.yaml:', told)
        told = self.dockerfile('--source=HEAD', '-v').err
        self.assertIn('--script is `trainer/task.py` from HEAD:autopack.yaml:2', told)

    def test_the_key_is_that_of_a_clean_tree(self):
        def keys(*flags):
            report = autopack('explain', '--format=json', *flags, cwd=self.folder).json()
            return report['dependency_key'], report['image_key']
        clean = keys()
        write_tree({'autopack.yaml': self.PLAIN + 'system-packages: [git]\n', 'trainer/task.py': ''}, self.folder)
        self.assertNotEqual(keys(), clean)
        self.assertEqual(keys('--source=index'), clean)
        self.assertEqual(keys('--source=HEAD'), clean)

    def test_a_table_of_pyproject(self):
        git(self.folder, 'rm', '-q', 'autopack.yaml')
        write_tree({'pyproject.toml': self.TOML}, self.folder)
        git(self.folder, 'add', '-A')
        clean = self.dockerfile().out
        write_tree({'pyproject.toml': self.TOML.replace('task', 'other')}, self.folder)
        self.assertEqual(self.dockerfile('--source=index').out, clean)
        self.assertIn('trainer/other.py', self.dockerfile().out)
        # A broken file on the disk is not read at all, and an untracked second one is ignored.
        write_tree({'pyproject.toml': '[[', 'autopack.yaml': '{'}, self.folder)
        self.assertEqual(self.dockerfile('--source=index').out, clean)
        self.dockerfile(status=2)

    def test_a_source_that_stands_in_settings(self):
        clean = self.dockerfile().out
        write_tree({'autopack.yaml': self.PLAIN + 'source: index\n'}, self.folder)
        git(self.folder, 'add', '-A')
        write_tree({'autopack.yaml': self.PLAIN.replace('task', 'other') + 'source: index\n'}, self.folder)
        self.assertEqual(self.dockerfile().out, clean)
        self.assertIn('trainer/other.py', self.dockerfile('--source=worktree').out)
        # The user's own settings are not part of the repository.
        home = testbed.new_folder('home')
        write_tree({'.config/autopack/config.yaml': 'source: HEAD\ndisplay-name: mine\n'}, home)
        git(self.folder, 'checkout', '-q', 'HEAD', '.')
        write_tree({'autopack.yaml': self.PLAIN.replace('task', 'other')}, self.folder)
        answer = self.dockerfile('-v', HOME=home)
        self.assertIn('trainer/task.py', answer.out)
        self.assertIn('--display-name is `mine`', answer.err)

    def test_a_directory_below_the_root_and_a_bare_repository(self):
        below = self.folder / 'sub dir'
        write_tree({'autopack.yaml': self.PLAIN.replace('trainer/', '')}, below)
        commit(self.folder, 'below')
        clean = self.dockerfile(cwd=below).out
        write_tree({'autopack.yaml': '{'}, below)
        self.assertEqual(self.dockerfile('--source=HEAD', cwd=below).out, clean)
        bare = testbed.new_folder('bare') / 'project.git'
        git(self.folder, 'clone', '-q', '--bare', self.folder, bare)
        self.assertIn('trainer/task.py', self.dockerfile('--source=main', cwd=bare).out)

    def test_settings_that_nobody_added_are_missed_aloud(self):
        git(self.folder, 'rm', '-q', '--cached', 'autopack.yaml')
        answer = self.dockerfile('--source=index', '--no-infer', status=2)
        self.assertIn('`--executor-image-uri` is missing', answer.err)
        self.assertIn('`autopack.yaml` is not in `--source=index`', answer.err)
        self.assertIn('hint: git add autopack.yaml', answer.err)

    @staticmethod
    def warnings(answer):
        done = ('Scanned', 'Inferred', 'Dry run')
        return ''.join(line for line in answer.err.splitlines(True) if not any(verb in line for verb in done))

    def labels(self, *flags, cwd=None):
        """Returns the labels of the job that would be sent, and the warnings."""
        answer = autopack('submit', '--dry-run', '--skip-checks', '--region=us-central1', '--project=p', *flags,
                          cwd=cwd or self.folder, env=testbed.environment(AUTOPACK_VERBOSITY=None))
        return answer.json()['request']['body'].get('labels'), self.warnings(answer)

    JOB = ('displayName: x\nlabels: {{from: {}}}\njobSpec:\n  workerPoolSpecs:\n  - machineSpec: {{machineType: n1-standard-4}}\n'
           '    containerSpec: {{imageUri: gcr.io/p/i:v1}}\n')

    def test_a_job_file_comes_from_the_source_too(self):
        odd = f'jobs {UMLAUT}/the job.yaml'
        write_tree({odd: self.JOB.format('commit'), 'autopack.yaml': f'config: {odd}\n'}, self.folder)
        commit(self.folder, 'job')
        write_tree({odd: self.JOB.format('index')}, self.folder)
        git(self.folder, 'add', '-A')
        write_tree({odd: self.JOB.format('disk')}, self.folder)
        below = self.folder / 'sub dir'
        for source, expected in (('worktree', 'disk'), ('index', 'index'), ('HEAD', 'commit')):
            for flags, cwd in (([], None), ([f'--config={odd}'], None), ([f'--config={self.folder}/{odd}'], None),
                               ([f'--config=../{odd}'], below)):
                with self.subTest((source, flags)):
                    labels, said = self.labels(f'--source={source}', *flags, cwd=cwd)
                    self.assertEqual(labels, {'from': expected})
                    self.assertNotIn('warning', said)
        # The error uses git's name of the source.
        write_tree({odd: 'labels: [\n'}, self.folder)
        git(self.folder, 'add', '-A')
        said = autopack('submit', '--dry-run', '--source=index', f'--config={odd}', cwd=self.folder, status=2).err
        self.assertIn(f'`index:{odd}`', said)

    def test_a_legacy_job_file_is_translated_from_the_source(self):
        legacy = json.dumps({'jobId': 'old', 'trainingInput': {
            'masterType': 'n1-standard-4', 'scaleTier': 'CUSTOM', 'masterConfig': {'imageUri': 'gcr.io/p/i:v1'},
            'region': 'us-central1'}})
        odd = f'jobs {UMLAUT}/old job.yaml'
        write_tree({odd: legacy}, self.folder)
        commit(self.folder, 'job')
        (self.folder / odd).unlink()
        for source in ('HEAD', 'index'):
            with self.subTest(source):
                said = autopack('submit', '--dry-run', f'--source={source}', f'--config=../{odd}', status=2,
                                cwd=self.folder / 'sub dir').err
                hint = said.split('hint: ')[1].splitlines()[0]
                hint = hint.replace('autopack', str(testbed.binary)) + ' --dry-run --project=p --region=us-central1'
                answer = testbed.run(['bash', '-c', hint], cwd=self.folder / 'sub dir', env=testbed.environment())
                self.assertIn(b'gcr.io/p/i:v1', answer.stdout)

    def test_a_job_file_that_only_the_disk_has(self):
        elsewhere = write_tree({'job.yaml': self.JOB.format('elsewhere')})
        self.assertEqual(self.labels('--source=HEAD', f'--config={elsewhere}/job.yaml'), ({'from': 'elsewhere'}, ''))
        write_tree({'new job.yaml': self.JOB.format('disk')}, self.folder)
        labels, said = self.labels('--source=index', '--config=new job.yaml')
        self.assertEqual(labels, {'from': 'disk'})
        self.assertIn('`new job.yaml` is read from the disk: it is not in `--source=index`', said)
        hint = said.split('hint: ')[1].strip()
        testbed.run(['bash', '-c', hint], cwd=self.folder)
        self.assertEqual(self.labels('--source=index', '--config=new job.yaml'), ({'from': 'disk'}, ''))
        (self.folder / 'new job.yaml').unlink()
        self.assertEqual(self.labels('--source=index', '--config=new job.yaml'), ({'from': 'disk'}, ''))
        said = autopack('submit', '--dry-run', '--source=HEAD', '--config=new job.yaml', cwd=self.folder, status=2).err
        self.assertIn('`--config` names `new job.yaml`, which does not exist', said)

    def test_a_file_of_flags_is_what_was_typed(self):
        write_tree({'flags.yaml': '--display-name: one\n'}, self.folder)
        command = ['dockerfile', '--flags-file=flags.yaml', '--executor-image-uri', testbed.executor(),
                   '--script=trainer/task.py']
        env = testbed.environment(AUTOPACK_VERBOSITY=None)

        def said(*flags):
            return self.warnings(autopack(*command, *flags, cwd=self.folder, env=env))
        self.assertIn('`flags.yaml` is read from the disk: it is not in `--source=index`', said('--source=index'))
        commit(self.folder, 'flags')
        self.assertEqual(said('--source=HEAD'), '')
        write_tree({'flags.yaml': '--display-name: two\n'}, self.folder)
        self.assertEqual(said(), '')
        for source, hint in (('index', 'git diff -- flags.yaml'), ('HEAD', 'git diff HEAD -- flags.yaml')):
            told = said(f'--source={source}')
            self.assertIn(f'`flags.yaml` is read from the disk: it differs from the one in `--source={source}`', told)
            self.assertIn(f'hint: {hint}\n', told)
            self.assertIn(b'+--display-name: two', testbed.run(['bash', '-c', hint], cwd=self.folder).stdout)

    def test_a_project_elsewhere_takes_the_settings_of_this_directory(self):
        here = testbed.new_folder('here')
        write_tree({'autopack.yaml': self.PLAIN}, here)
        answer = self.dockerfile('--source=HEAD', '--local-package-path', self.folder, cwd=here)
        self.assertIn('trainer/task.py', answer.out)
