"""Runs the commands of the README and the guide: a missing flag, or one with another effect,
fails."""

import json
import pathlib
import re
import shlex
import subprocess
import unittest

import repositories
import testbed
from repositories import fake_token
from test_jobs import LONG_AGO, WithApi
from testbed import autopack, write_tree

GUIDE = testbed.EXAMPLES / 'guide'
PAGES = [testbed.ROOT / 'README.md', *sorted(GUIDE.glob('*.md')), *sorted(testbed.EXAMPLES.glob('*/README.md'))]
README = (testbed.ROOT / 'README.md').read_text()
PROJECT = {
    'trainer/__init__.py': '',
    'trainer/task.py': 'import sys\nimport common\nprint(common.NAME, *sys.argv[1:])\n',
    'common/__init__.py': 'NAME = "ready"\n',
    'Dockerfile': f'FROM {testbed.EXECUTOR}\nCOPY . .\nENTRYPOINT ["python3", "-m", "trainer.task"]\n',
}
PACKAGED = (f'--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri={testbed.EXECUTOR},local-package-path=.,'
            'python-module=trainer.task')


def section(title):
    return README.split(f'\n## {title}\n')[1].split('\n## ')[0]


def tables(text):
    """Returns the rows of each table by their left side, without the header."""
    found = []
    for block in re.findall(r'(?:^\|.*\|\n)+', text, re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip('|').split(' | ')] for line in block.strip().splitlines()]
        found.append({left.strip('| '): right.strip('| ') for left, right in rows[2:]})
    return found


def quoted(cell):
    return re.findall('`([^`]*)`', cell)


def command_lines(text):
    """Returns the lines that begin with autopack, in blocks and between backticks; joins continued lines."""
    blocks = re.findall(r'^```\w*\n(.*?)^```', text, re.MULTILINE | re.DOTALL)
    blocks += re.findall(r'^    (autopack (?:.*\\\n)*.*\n)', text, re.MULTILINE)
    for block in blocks:
        for line in re.sub(r'\\\n *', '', block).splitlines():
            for part in re.split(r' \| |; ', line.removeprefix('$ ')):
                if part.startswith('autopack '):
                    yield part.split('   # ')[0].split(' > ')[0].strip()
    outside = re.sub(r'^```.*?^```', '', text, flags=re.MULTILINE | re.DOTALL)
    for part in quoted(outside):
        if part.startswith('autopack '):
            yield part


class EveryCommand(unittest.TestCase):
    def test_parses(self):
        lines = [(page, line) for page in PAGES for line in command_lines(page.read_text())]
        self.assertGreater(len(lines), 40)
        for page, line in lines:
            with self.subTest(f'{page.parent.name}: {line}'):
                # `...` means more, FLAGS and ARGS the reader's own; each is replaced by a list of words.
                words = [word for word in shlex.split(line.split(' -- ')[0])[1:] if word not in ('...', 'FLAGS', '[FLAGS]')]
                words = [word.removesuffix(',') for word in words]
                if words[0] == 'jobs':
                    words = words[:2] + [word for word in words[2:] if word.startswith('--')]
                # Flags are parsed, and choices checked, before help is printed.
                answer = autopack(*words, '--help', env=testbed.environment(AUTOPACK_VERBOSITY=None))
                self.assertEqual(answer.err, '')

    def test_a_wrong_flag_would_be_found(self):
        for wrong in ('autopack build --engin=docker', 'autopack submit --submitter=nobody', 'autopack jobs lst'):
            autopack(*shlex.split(wrong)[1:], '--help', status=2)


def help_examples(command):
    """Returns the commands below `example:` in the help of a command, as a shell reads them."""
    text = autopack(command, '--help').out.split('\nexample:\n')[1].split('\n\n')[0]
    return re.findall(r'^  (\S(?:.*\\\n)*.*)', text, re.MULTILINE)


# A page of SKUs.
CATALOGUE = {'skus': [{
    'description': 'N1 Predefined Instance Core running in Americas', 'category': {'usageType': 'OnDemand'},
    'serviceRegions': ['us-central1'], 'pricingInfo': [{'pricingExpression': {'usageUnit': 'h', 'tieredRates': [
        {'unitPrice': {'currencyCode': 'USD', 'units': '0', 'nanos': 31611000}}]}}]}]}


class Commands(WithApi):
    """Runs the examples of every command's help, and the blocks of README and guide, in a project that fits them."""

    # What each prints; the first of several with the same beginning counts.
    EXPECTED = {
        'submit --dry-run': r'"displayName": "train"',
        'submit --submitter=local': r'Succeeded  local/',
        'submit': r'Submitted  projects/test-project/locations/us-central1/customJobs/',
        'tune': r'Submitted  projects/test-project/locations/us-central1/hyperparameterTuningJobs/',
        'run': r'(?m)^trained',
        'init': r'Kept  autopack\.yaml as it is',
        'build': r'(?m)^[\d.:]+/examples/team/train@sha256:',
        'dockerfile': r'Wrote  Dockerfile and Dockerfile\.dockerignore',
        'lock --check': r'pylock\.toml',
        'lock': r'Wrote  pylock\.toml',
        'explain --executor-image-uri=BASE --python-module': r'(?m)^runs +python3 -m trainer\.task$',
        'explain': r'(?m)^runs +python3 train\.py$',
        'images --format=json': r'"repositories":',
        'images': r'/examples/team/train:ap-',
        'diff': r'(?m)^Size |no difference',
        'verify': r'equal',
        'rebase': r'(?m)^[\d.:]+/examples/team/train@sha256:',
        'clean --dry-run': r'Found  |Would go',
        'clean --old': r'Cleaned  ',
        'doctor': r'(?m)project',
        'jobs list': r'train',
        'jobs logs -f': r'Succeeded  projects/',
        'jobs logs': r'service',
        'jobs describe': r'displayName: train',
        'jobs wait': r'Succeeded  projects/',
        'jobs open': r'https://console\.',
        'jobs cancel': r'Cancel',
        'jobs retry': r'Submitted  projects/test-project/locations/us-east1/',
        'prices': r'Read  \d+ prices in \d regions',
        'trust --list': r'^',  # none is trusted yet
        'trust': r'(?i)trust',
        'completion': r'^$',
        'translate': r'Submitted  projects/test-project/locations/us-central1/',
    }

    # Blocks of pages that another test runs.
    ELSEWHERE = {'autopack run --watch': 'test_first_day', 'autopack build --executor-image-uri=oci:base': 'test_files',
                 'autopack build --executor-image-uri=BASE --script=trainer/tusk.py': 'Mentions'}

    def setUp(self):
        super().setUp()
        self.base = testbed.pushed_executor('examples/python:3.11')
        self.addCleanup(testbed.remove_images_later, f'{testbed.registry()}/examples')
        self.team = f'{testbed.registry()}/examples/team'
        self.folder = write_tree({
            'trainer/__init__.py': '', 'trainer/task.py': '', 'train.py': 'import sys\nprint("trained", *sys.argv[1:])\n', 'requirements.txt': 'greeter==1.0\n',
            'autopack.yaml': f'executor-image-uri: {self.base}\noutput-image-uri: {self.team}/train\ndisplay-name: train\n',
            'config.yaml': 'trainingInput: {region: us-central1, masterConfig: {imageUri: "gcr.io/p/i"}, scaleTier: BASIC}\n',
            'job.yaml': 'displayName: train\n', 'vertex.json': json.dumps(CATALOGUE), 'compute.json': json.dumps(CATALOGUE)})
        repositories.git(self.folder, 'init', '-q')
        for number in range(4):
            (self.folder / 'notes.txt').write_text(str(number))
            repositories.commit(self.folder, f'note {number}')
        for version in ('v1', 'v2'):
            testbed.push(f'{self.team}/train:{version}')
        self.api.service.end_time = LONG_AGO
        self.env.pop('AUTOPACK_VERBOSITY')
        self.home = write_tree({'.local/share/bash-completion/completions/.keep': ''})
        self.env |= {'HOME': str(self.home), 'PIP_INDEX_URL': testbed.index().url, 'PATH': f'{pathlib.Path(testbed.binary).parent}:{self.env["PATH"]}'}

    def run_shown(self, command, *more):
        for shown, here in (('python:3.11', self.base), ('us-docker.pkg.dev/PROJECT/REPOSITORY', self.team),
                            ('registry.example/team', self.team), ('transformers', 'greeter'), ('=BASE', f'={self.base}'),
                            ('--worker-pool-spec=...', f'--worker-pool-spec=executor-image-uri={self.base},local-package-path=.,'
                                                       'machine-type=n1-standard-4,script=train.py'),
                            ('local-package-path=.', f'local-package-path=.,output-image-uri={self.team}/train'), (' ...', ''),
                            (' --with-hypertune', ''), *more):  # a package that the test's index lacks
            command = command.replace(shown, here)
        answer = testbed.run(['bash', '-ec', command], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, check=False)
        return answer.returncode, (answer.stdout + answer.stderr).decode()

    def expect(self, command, *more):
        with self.subTest(command):
            status, said = self.run_shown(command, *more)
            expected = next(text for words, text in self.EXPECTED.items() if command.startswith(f'autopack {words}'))
            self.assertRegex(said, expected)
            # The account of this test has no quotas to look at.
            self.assertTrue(status == 0 or command.startswith('autopack doctor'), said)

    def make_jobs(self):
        """Makes a job that runs and a newer one that has ended; returns their names."""
        running = self.make(states=['RUNNING', 'RUNNING'], displayName='train')
        self.run_jobs('describe', running)
        return running, self.make(states=['SUCCEEDED'], displayName='train')

    def make_full(self):
        """Makes a job that ended for lack of capacity in the first of two regions; returns its name."""
        self.api.service.full = {'us-central1'}
        name = self.make(displayName='train', labels={'autopack-regions': 'us-central1_us-east1'})
        self.api.service.full = set()
        for _ in range(2):
            self.run_jobs('describe', name)
        return name

    def make_image(self):
        """Makes the image of the files as they are, and the base that it is moved to."""
        testbed.push(f'{self.base}-slim')
        status, said = self.run_shown('autopack build --script=train.py --output-image-uri=registry.example/team/train:v1 '
                                      f'--output=oci:{self.home}/layout')
        self.assertEqual(status, 0, said)

    def test_examples_of_help_do_what_they_show(self):
        commands = re.findall(r'^  (\w+)  ', autopack('--help').out, re.MULTILINE)
        self.assertGreater(len(commands), 15)
        for command in commands:
            self.api.service.states = ['SUCCEEDED']
            if command == 'jobs':
                self.make_jobs()
            if command in ('verify', 'rebase'):
                self.make_image()
            for example in help_examples(command):
                self.expect(example, ('oci:DIR', f'oci:{self.home}/layout'))

    def test_blocks_of_pages_do_what_they_show(self):
        pages = [page for page in (testbed.ROOT / 'README.md', *sorted(GUIDE.glob('*.md'))) if page.name != 'tour.md']
        blocks = [block for page in pages for block in
                  re.findall(r'^```\w*\n.*?^```$', page.read_text(), re.MULTILINE | re.DOTALL)]
        commands = [command for block in blocks for command in command_lines(block)]
        self.assertGreater(len(commands), 20)
        for command in commands:
            if not command.startswith(tuple(self.ELSEWHERE)):
                full = self.make_full() if 'jobs retry' in command else None
                running, ended = self.make_jobs()
                self.api.service.states = ['SUCCEEDED']
                self.expect(command, ('NAME', full or (running if 'cancel' in command else ended)))


# Flags of other programs in the pages.
OTHERS = {'--buildtype', '--bundle', '--case', '--container', '--container-image', '--cpus-per-task', '--find-links',
          '--insecure-ignore-tlog', '--mem', '--name', '--no-binary', '--no-build-isolation', '--no-deps',
          '--no-install-recommends', '--no-requeue', '--nproc-per-node', '--prefix', '--rate', '--real', '--rm', '--runtime',
          '--test-only', '--type', '--yes'}


class Mentions(unittest.TestCase):
    """What the pages name is there."""

    def test_each_flag_exists(self):
        shown = autopack('--schema').json()
        commands = re.findall(r'^  (\w+)  ', autopack('--help').out, re.MULTILINE)
        texts = [autopack(command, '--help-all').out for command in commands]
        known = {flag for text in texts for flag in re.findall(r'--[a-z][a-z0-9-]+', text)}
        known |= {f'--{key}' for key in shown['properties']}
        for page in PAGES:
            named = set(re.findall(r'(?<![\w-])--[a-z][a-z0-9-]+', page.read_text()))
            self.assertEqual(named - known - OTHERS, set(), page)

    def test_each_file_exists(self):
        for page in PAGES:
            for name in re.findall(r'`((?:tests|examples|templates)/[\w./-]+)', page.read_text()):
                with self.subTest(f'{page.name}: {name}'):
                    # Programs of the tests are built.
                    self.assertTrue((testbed.ROOT / name).exists() or name == 'tests/secret_rate')

    def test_messages_are_those_of_the_program(self):
        folder = write_tree({**PROJECT, 'trainer/keys.py': f'\nTOKEN = "{fake_token()}"\n',
                             'trainer/reader.py': 'import yaml\n', '.dockerignore': '', 'requirements.txt': '# none\n'})
        base = f'--executor-image-uri={testbed.EXECUTOR}'
        testbed.executor()
        answers = [
            autopack('build', base, '--script=trainer/tusk.py', '--no-push', '--exclude=keys.py', cwd=folder, status=None).err,
            autopack('explain', base, '--script=trainer/task.py', cwd=folder, status=None).err,
            autopack('explain', base, '--script=trainer/reader.py', '--exclude=keys.py', cwd=folder, status=None).err,
        ]
        for page in PAGES:
            if page.name == 'tour.md':  # compared with screens
                continue
            for line in re.findall(r'^(?:error|warning|  hint): .*$', page.read_text(), re.MULTILINE):
                with self.subTest(f'{page.name}: {line}'):
                    pattern = re.sub(r"echo '[0-9a-f]{12}", "echo '[0-9a-f]{12}", re.escape(line).replace("\\ '", " '"))
                    pattern = pattern.replace('task\\.py`\\ line\\ 4', 'reader\\.py`\\ line\\ 1')
                    if not any(re.search(f'^{pattern}$', answer, re.MULTILINE) for answer in answers):
                        kind = line.split(':', maxsplit=1)[0]
                        self.fail([other for answer in answers for other in answer.splitlines() if other.startswith(kind)])


def anchors(page):
    return {re.sub(r'[^a-z0-9 -]', '', title.lower()).replace(' ', '-')
            for title in re.findall(r'^#+ (.*)$', page.read_text(), re.MULTILINE)}


class Links(unittest.TestCase):
    def test_lead_somewhere(self):
        developers = ('CONTRIBUTING.md', 'CHANGELOG.md', 'src/README.md', 'tests/README.md', '.github/SECURITY.md')
        pages = [*PAGES, *(testbed.ROOT / page for page in developers)]
        links = [(page, link) for page in pages for link in re.findall(r'\]\(([^)]+)\)', page.read_text())]
        self.assertGreater(len(links), 20)
        for page, link in links:
            with self.subTest(f'{page.name}: {link}'):
                path, _, anchor = link.partition('#')
                target = page.parent / path if path else page
                self.assertTrue(target.exists())
                if anchor:
                    self.assertIn(anchor, anchors(target))

    def test_every_page_is_reached(self):
        for page in GUIDE.glob('*.md'):
            self.assertIn(f'(examples/guide/{page.name})', README)


class ComingFrom(WithApi):
    """The tables of other tools' names: each row by its left side, so that a new one needs a case here."""

    def setUp(self):
        super().setUp()
        testbed.executor()
        self.gcloud, = tables(section('From gcloud'))
        self.dockerfile, = tables(section('From a Dockerfile'))
        self.legacy, = tables((GUIDE / 'ai-platform.md').read_text())
        self.folder = write_tree(PROJECT)
        self.api.service.end_time = LONG_AGO

    def rows(self, table, cases):
        self.assertEqual(sorted(table), sorted(cases))
        for left, case in cases.items():
            with self.subTest(left):
                case(left, table[left])

    def dry_run(self, *flags, command='submit', status=0):
        return autopack(command, '--dry-run', '--skip-checks', '--display-name=x', *flags, cwd=self.folder, env=self.env,
                        status=status).json()['request']['body']

    def nothing_to_do(self, left, right):
        self.assertTrue(right.startswith('nothing: '), right)

    def test_gcloud(self):
        flags = {'submit': ['--display-name=x', '--region=us-central1', '--labels=a=b', '--args=^;^1;2',
                            '--worker-pool-spec=machine-type=n1-standard-4,replica-count=1,'
                            f'executor-image-uri={testbed.EXECUTOR},local-package-path=.,script=trainer/task.py'],
                 'run': [f'--executor-image-uri={testbed.EXECUTOR}', '--python-module=trainer.task']}

        def command(_, right):
            words = shlex.split(quoted(right)[0])
            self.assertEqual(words[0], 'autopack')
            whole = [part for word in words[1:] for part in (flags[words[1]] if word == 'FLAGS' else ['1', '2'] if word == 'ARGS'
                                                            else [word])]
            if words[1] == 'submit':
                body = autopack(*whole, '--dry-run', '--skip-checks', cwd=self.folder, env=self.env).json()['request']['body']
                self.assertEqual((body['labels'], body['jobSpec']['workerPoolSpecs'][0]['containerSpec']['args']),
                                 ({'a': 'b'}, ['1', '2']))
            else:
                self.assertEqual(autopack(*whole, cwd=self.folder).out, 'ready 1 2\n')

        def jobs(left, right):
            verbs = quoted(right)[0].removeprefix('autopack jobs ').split(', ')
            self.assertEqual(verbs, quoted(left)[0].removeprefix('gcloud ai custom-jobs ').split(', '))
            for verb in verbs:
                name = self.make(states=['RUNNING'] if verb == 'cancel' else ['SUCCEEDED'])
                more = {'list': [], 'stream-logs': [name, '--polling-interval=1']}.get(verb, [name])
                answer = self.run_jobs(verb, *more)
                self.assertEqual(verb != 'stream-logs', name.split('/')[-1] in answer.out, answer)

        def both(left, right):
            for flag in quoted(left):
                self.assertIn(flag, ('--config', '--worker-pool-spec'))
            write_tree({'job.yaml': 'workerPoolSpecs:\n- machineSpec: {machineType: n1-standard-8}\n'
                                    '  containerSpec: {imageUri: gcr.io/p/i, env: [{name: A, value: b}]}\n'}, self.folder)
            pool = self.dry_run('--config=job.yaml', '--worker-pool-spec=machine-type=n1-standard-4')['jobSpec']['workerPoolSpecs'][0]
            self.assertEqual((pool['machineSpec']['machineType'], pool['containerSpec']['env']),
                             ('n1-standard-4', [{'name': 'A', 'value': 'b'}]))

        self.rows(self.gcloud, {
            '`gcloud ai custom-jobs create FLAGS`': command,
            '`gcloud ai custom-jobs local-run FLAGS -- ARGS`': command,
            '`gcloud ai custom-jobs list, describe, cancel, stream-logs`': jobs,
            '`gcloud auth configure-docker` before a push': self.nothing_to_do,
            '`gcloud artifacts repositories create`': self.nothing_to_do,
            '`--config` *or* `--worker-pool-spec`': both})

    def test_a_dockerfile(self):
        entry = '--python-module=trainer.task'

        def written(*flags, base=True):
            return autopack('dockerfile', *([f'--executor-image-uri={testbed.EXECUTOR}'] if base else []), *flags,
                            cwd=self.folder).out

        def gives(pattern, base=True):
            def case(_, right):
                flags = [word.replace('=base', f'={testbed.EXECUTOR}') for word in quoted(right) if word.startswith('--')]
                text = written(*flags, *([] if entry in flags else [entry]), base=base)
                self.assertRegex(text, pattern)
                self.assertTrue(not flags or not base or text != written(entry) or entry in flags)
            return case

        def found(_, right):
            self.assertTrue(right.startswith('nothing: '), right)
            write_tree({'requirements.txt': 'greeter\n'}, self.folder)
            self.assertRegex(written(entry), r'(?s)pip install .*--requirement requirements\.txt')
            (self.folder / 'requirements.txt').unlink()

        def ignored(left, right):
            self.assertEqual((quoted(left), right), (['.dockerignore'], 'the same file'))
            write_tree({'.dockerignore': 'trainer/*.csv\n', 'trainer/a.csv': ''}, self.folder)
            report = autopack('explain', f'--executor-image-uri={testbed.EXECUTOR}', entry, cwd=self.folder).out
            self.assertIn('.dockerignore:1 trainer/*.csv', report)

        def outside(_, right):
            write_tree({'shared/x.py': ''}, self.folder.parent)
            self.assertRegex(written(entry, *quoted(right)), r'COPY \["\.autopack/extras/shared", "shared"\]')

        def launched(_, right):
            write_tree({'train.py': '', 'requirements.txt': 'torch\n'}, self.folder)
            self.assertRegex(written(*shlex.split(quoted(right)[0])), r'ENTRYPOINT \[.*"torchrun".*"train\.py"\]')

        def with_variable(_, right):
            self.assertRegex(written(entry, '--requirements=x', *quoted(right)), r'export FORCE_CUDA=1')

        def anything(_, right):
            own, write = quoted(right)
            self.assertIn('ready', autopack('run', own, cwd=self.folder, env=testbed.environment()).out)
            words = shlex.split(write)[1:]
            (self.folder / 'Dockerfile').unlink()
            autopack(*words, f'--executor-image-uri={testbed.EXECUTOR}', entry, cwd=self.folder)
            self.assertIn('ENTRYPOINT', (self.folder / 'Dockerfile').read_text())

        self.rows(self.dockerfile, {
            '`FROM base`': gives(f'FROM {testbed.EXECUTOR}', base=False),
            '`RUN pip install -r requirements.txt`': found,
            '`RUN pip install x y`': gives(r'(?s)pip install .*\bx\b.*\by\b'),
            '`RUN apt-get install git`': gives(r'apt-get .*install .*\bgit\b'),
            '`COPY . .`': gives(r'COPY \["\.", "\./"\]'),
            '`COPY ../shared shared`': outside,
            '`ENTRYPOINT ["python", "-m", "trainer.task"]`': gives(r'ENTRYPOINT \["python3", "-m", "trainer\.task"\]'),
            '`ENTRYPOINT ["torchrun", "train.py"]`': launched,
            '`ENV FORCE_CUDA=1` before `RUN pip`': with_variable,
            '`.dockerignore`': ignored,
            'anything else': anything})

    def test_ai_platform(self):
        # The effect of each name on the right side on the body, and the values of the left side's flags.
        pool = {'machine-type': ('n1-standard-8', 'machineSpec.machineType'),
                'accelerator-type': ('NVIDIA_TESLA_T4', 'machineSpec.acceleratorType'),
                'accelerator-count': ('2', 'machineSpec.acceleratorCount'),
                'replica-count': ('3', 'replicaCount')}
        packaging = {'local-package-path': '.', 'python-module': 'trainer.task', 'executor-image-uri': testbed.EXECUTOR}
        flags = {'--display-name': ('census', 'displayName'),
                 '--base-output-dir': ('gs://b/d', 'jobSpec.baseOutputDirectory.outputUriPrefix')}
        legacy = {'--package-path': 'trainer', '--module-name': 'trainer.task', '--runtime-version': '2.11',
                  '--python-version': '3.7', '--scale-tier': 'custom', '--master-machine-type': 'n1-standard-8',
                  '--master-accelerator': 'type=nvidia-tesla-t4,count=2', '--worker-count': '3',
                  '--worker-machine-type': 'n1-standard-8', '--job-dir': 'gs://b/d', '--staging-bucket': 'gs://b',
                  '--packages': 'dist/extra-0.1.tar.gz', '--stream-logs': None}
        tried = set()

        def value(body, path):
            for key in path.split('.'):
                body = body[key]
            return body

        def one(left, right):
            for name in re.findall(r'--[a-z-]+', left):
                tried.add(name)
            for name in quoted(right):
                name = name.removesuffix('=ARG,...')
                if name in flags:
                    given, path = flags[name]
                    self.assertEqual(value(self.dry_run(PACKAGED, f'{name}={given}'), path), given)
                elif name in pool:
                    given, path = pool[name]
                    more = {'machine-type': pool['machine-type'][0], name: given}
                    if name.startswith('accelerator'):
                        more |= {key: pool[key][0] for key in ('accelerator-type', 'accelerator-count')}
                    spec = ','.join(f'{key}={text}' for key, text in more.items())
                    # Replicas are in a second pool; the first is one machine.
                    body = self.dry_run(*([PACKAGED, f'--worker-pool-spec={spec}'] if name == 'replica-count' else
                                          [PACKAGED.replace('machine-type=n1-standard-4', spec)]))
                    self.assertEqual(str(value(body['jobSpec']['workerPoolSpecs'][-1], path)), given)
                elif name in packaging:
                    self.assertIn(f'{name}={packaging[name]}', PACKAGED)
                    body = self.dry_run(PACKAGED)
                    self.assertTrue(body['jobSpec']['workerPoolSpecs'][0]['containerSpec']['imageUri'])
                elif name == '--args':
                    body = self.dry_run(PACKAGED, '--args=1,2')
                    self.assertEqual(body['jobSpec']['workerPoolSpecs'][0]['containerSpec']['args'], ['1', '2'])
                elif name == '--stream-logs':
                    self.api.service.states = ['SUCCEEDED']
                    answer = self.submit(name, '--polling-interval=1')
                    self.assertIn('customJobs/', answer.out)
                else:
                    self.assertIn(name, ('--worker-pool-spec', 'AIP_MODEL_DIR'))

        self.rows(self.legacy, {left: one for left in self.legacy})
        self.assertEqual(tried, set(legacy))
        # `translate` accepts the flags of the left side, all at once.
        words = [name if given is None else f'{name}={given}' for name, given in legacy.items()]
        write_tree({'dist/extra-0.1.tar.gz': ''}, self.folder)
        resource = autopack('translate', 'census', '--region=us-central1', *words, '--', '--epochs=5', cwd=self.folder).json()
        self.assertEqual(resource['displayName'], 'census')
        self.assertIn('--epochs=5', json.dumps(resource))


if __name__ == '__main__':
    unittest.main()
