"""Settings files and their schema, compared with a real validator and with the binary."""

import concurrent.futures
import json
import re
import unittest

import testbed
from testbed import autopack

VALIDATOR = testbed.ROOT / 'tests/support/validate.py'
STEP = 8 if testbed.FORM == 'daily' else 1
COMMANDS = ('submit', 'tune', 'run', 'build', 'dockerfile', 'explain', 'doctor', 'translate', 'jobs', 'completion')
# Parsed by special code when the job is made; its cases have their own test.
POOLS = 'worker-pool-spec'
VALUES = ('text', '', '12', '1x', 'true', 'off', 'grid-search', 3, 2.5, True, False, None, [], ['a'], [1, True], [[]],
          [None], {}, {'a': 'b'}, {'a': 1, 'b': None}, {'a': ['x', 1]}, {'a': {'b': 1}}, {'a': [[1]]}, [{'a': 1}],
          [{'a': {'b': 1}}])


def faults(schema, documents):
    """Returns a validator's errors for each document; None for a valid one."""
    path = testbed.new_folder('schema') / 'schema.json'
    path.write_text(json.dumps(schema))
    answer = testbed.run([testbed.SYSTEM_PYTHON, VALIDATOR, path], input=json.dumps(documents).encode())
    return json.loads(answer.stdout)


def yaml_as_json(text):
    """Uses Debian's YAML module, like the validator."""
    program = 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))'
    return json.loads(testbed.run([testbed.SYSTEM_PYTHON, '-c', program], input=text.encode()).stdout)


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = autopack('--schema').json()
        cls.properties = cls.schema['properties']

    def check_valid(self, documents):
        self.assertEqual(faults(self.schema, documents), [None] * len(documents))

    def test_examples_validate(self):
        files = sorted(testbed.EXAMPLES.rglob('autopack.yaml'))
        self.assertTrue(files)
        pages = (testbed.ROOT / 'README.md', testbed.EXAMPLES / 'guide/settings.md')
        shown = [block for page in pages for block in re.findall(r'```yaml\n(.*?)```', page.read_text(), re.DOTALL)
                 if 'machine-type' in block]
        self.assertEqual(len(shown), 2)
        self.check_valid([yaml_as_json(text) for text in [path.read_text() for path in files] + shown])

    def test_what_is_saved_validates(self):
        folder = testbed.new_folder()
        autopack('submit', '--dry-run', '--save', '--skip-checks', '--region=us-central1', '--project=p', '--display-name=true',
                 '--env=A=1,B=x y', '--args=--n=1,2', '--timeout=2h',
                 '--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1,replica-count=1', cwd=folder)
        self.check_valid([yaml_as_json((folder / 'autopack.yaml').read_text())])

    def test_wrong_ones_do_not(self):
        wrong = [{'regoin': 'x'}, {'engine': 'dokcer'}, {'wait': 'perhaps'}, {'project': ['a', 'b']}, {'region': []}, {'limit': 'many'},
                 {POOLS: [{'machine': 'n1-standard-4'}]}, {POOLS: [['a']]}, {'env': {'A': {'B': 'C'}}}, {'config': True},
                 ['region'], 'region']
        for document, fault in zip(wrong, faults(self.schema, wrong)):
            with self.subTest(document):
                self.assertIsNotNone(fault)

    def takes(self, command, document):
        """Returns whether a command accepts the settings: then it reaches its wrong argument. None if they need trust
        first."""
        folder = testbed.write_tree({'autopack.yaml': json.dumps(document)})
        # A variable would override the file.
        env = testbed.environment(AUTOPACK_VERBOSITY=None)
        said = autopack(command, 'list', 'nonsense', 'nonsense', cwd=folder, env=env, status=None).err
        if 'may not say by themselves' in said:
            return None, said
        return bool(re.search('unexpected argument|has no `list`', said)), said

    def test_agrees_with_the_binary(self):
        texts = {command: autopack(command, '--help-all').out for command in COMMANDS}
        homes = {}
        for key in self.properties:
            homes[key] = next((command for command, text in texts.items() if re.search(rf'--{key}\b(?!-)', text)), 'build')
        cases, seen = [], set()
        for key, schema in self.properties.items():
            kind = json.dumps({name: value for name, value in schema.items() if name != 'description'})
            # Of equivalent flags, one gets all values; in the daily form an eighth of them, another one for the next kind.
            values = (VALUES + tuple(schema.get('enum', ())))[len(seen) % STEP::STEP] if kind not in seen else (True,)
            seen.add(kind)
            cases += [(key, value) for value in values if key != POOLS]
        verdicts = faults(self.schema, [{key: value} for key, value in cases])
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = pool.map(lambda case: self.takes(homes[case[0]], {case[0]: case[1]}), cases)
        wrong = [(case, verdict, said) for case, verdict, (taken, said) in zip(cases, verdicts, answers)
                 if taken is not None and taken != (verdict is None)]
        self.assertEqual(wrong, [])

    def test_agrees_about_pools(self):
        job = {'project': 'p', 'region': 'us-central1', 'display-name': 'x', 'skip-checks': True}
        pool = {'machine-type': 'n1-standard-4', 'container-image-uri': 'gcr.io/p/i:v1'}
        cases = [[pool], pool, 'machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1',
                 [pool | {'replica-count': 1}], [pool | {'replica-count': '1'}], [pool | {'machine': 'x'}],
                 [pool | {'disk-size-gb': 100}], [[pool]], [pool | {'machine-type': {'a': 1}}], None, [None]]
        verdicts = faults(self.schema, [job | {POOLS: case} for case in cases])
        for case, verdict in zip(cases, verdicts):
            with self.subTest(case):
                folder = testbed.write_tree({'autopack.yaml': json.dumps(job | {POOLS: case})})
                answer = autopack('submit', '--dry-run', cwd=folder, status=None)
                self.assertEqual((answer.status == 0, answer.status), (verdict is None, 0 if verdict is None else 2), answer)


class Files(unittest.TestCase):
    def test_wrong_values_are_told_all_at_once_with_their_lines(self):
        folder = testbed.write_tree({'autopack.yaml': 'project: [a, b]\nwait:\n\ndisplay-name: true\nenv:\n  A: {B: C}\n'})
        said = autopack('submit', '--dry-run', cwd=folder, status=2).err
        for message in ('`project` is one text, not ["a","b"]', 'autopack.yaml:1', '`wait` has no value', 'autopack.yaml:2',
                        '`display-name` is one text, not true', 'display-name: "true"', 'autopack.yaml:5', '4 errors'):
            self.assertIn(message, said)

    def test_the_example_needs_no_flags(self):
        folder = testbed.example('settings')
        env = testbed.environment(AUTOPACK_EXECUTOR_IMAGE_URI=testbed.executor())
        self.assertEqual(autopack('run', cwd=folder, env=env).out, 'steps: 5\n')
        body = autopack('submit', '--dry-run', '--skip-checks', '--project=p', cwd=folder, env=env).json()['request']['body']
        self.assertEqual(body['labels'], {'team': 'research'})
        self.assertEqual(body['jobSpec']['workerPoolSpecs'][0]['containerSpec']['env'], [{'name': 'STEPS', 'value': '5'}])
        self.assertEqual(body['jobSpec']['scheduling'], {'restartJobOnWorkerRestart': True, 'timeout': '7200s'})


class Targets(unittest.TestCase):
    FILE = ('region: us-central1\nproject: p\nmachine-type: n1-standard-4\ncontainer-image-uri: gcr.io/p/i:v1\n'
            'targets:\n'
            '  eu: {region: europe-west4, labels: {place: eu}}\n'
            '  here:\n    submitter: local\n')

    def submit(self, *flags, status=0, home=None, text=FILE):
        folder = testbed.write_tree({'autopack.yaml': text})
        env = testbed.environment(XDG_CONFIG_HOME=home or testbed.new_folder('config'))
        return autopack('submit', '--dry-run', '--skip-checks', '--display-name=x', *flags, cwd=folder, env=env, status=status)

    def test_a_target_overrides_the_file(self):
        self.assertIn('us-central1', self.submit().json()['request']['url'])
        chosen = self.submit('--to=eu').json()['request']
        self.assertIn('europe-west4', chosen['url'])
        self.assertEqual(chosen['body']['labels'], {'place': 'eu'})
        self.assertIn('asia-east1', self.submit('--to=eu', '--region=asia-east1').json()['request']['url'])

    def test_a_target_of_the_person_overrides_the_project(self):
        home = testbed.write_tree({'autopack/config.yaml': 'targets:\n  asia: {region: asia-east1}\n'})
        self.assertIn('asia-east1', self.submit('--to=asia', home=home).json()['request']['url'])

    def test_a_missing_target_is_refused_with_the_nearest(self):
        said = self.submit('--to=ue', status=2).err
        self.assertIn('there is no target `ue`', said)
        self.assertIn('`eu`', said)
        self.assertIn('targets: {eu: {submitter: ...}}', self.submit('--to=eu', status=2, text='region: x\n').err)

    def test_a_project_may_not_choose_where_code_runs_in_a_target_either(self):
        self.submit('--to=eu')
        said = self.submit('--to=here', status=2).err
        self.assertIn('`submitter` is `local`, which a project', said)
        self.assertIn('autopack.yaml:8', said)

    def test_mistakes_of_every_target_are_reported(self):
        said = self.submit(status=2, text=self.FILE + '    regoin: x\n').err
        self.assertIn('there is no setting `regoin`', said)
        self.assertIn('autopack.yaml:9', said)

    def test_pyproject_has_targets_too(self):
        text = ('[tool.autopack]\nregion = "us-central1"\nproject = "p"\nmachine-type = "n1-standard-4"\n'
                'container-image-uri = "gcr.io/p/i:v1"\n[tool.autopack.targets.eu]\nregion = "europe-west4"\n')
        folder = testbed.write_tree({'pyproject.toml': text})
        answer = autopack('submit', '--dry-run', '--skip-checks', '--display-name=x', '--to=eu', cwd=folder)
        self.assertIn('europe-west4', answer.json()['request']['url'])
