"""Requirements that are wheels become layers, without an engine, and the image equals pip's."""

import hashlib
import json
import random
import shutil
import subprocess
import unittest

import odd_wheels
import secret_watch
import stored_image
import testbed
from relay import Relay
from testbed import autopack, docker
from wheel_writer import Writer

ENTRY = """import json, counted, names.left, names.right, importlib.metadata as metadata
found = sorted(d.metadata["Name"] + "==" + d.version for d in metadata.distributions(name="counted"))
print(json.dumps([counted.VALUE, names.left.SIDE, names.right.SIDE, found]))
"""


def write_wheel(house, name, version, files, requires=(), entry_points=None, python=None):
    path = house / f'{name}-{version}-py3-none-any.whl'
    with Writer(path, f'{name}-{version}.dist-info') as wheel:
        for file, text in files.items():
            wheel.add(file, text.encode())
        needs = ''.join(f'Requires-Dist: {line}\n' for line in requires)
        needs += f'Requires-Python: {python}\n' if python else ''
        wheel.add_metadata(f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}', 'py3-none-any',
                           entry_points)
    return path


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def line(path):
    name, version = path.name.split('-')[:2]
    return f'{name}=={version} --hash=sha256:{digest(path)}\n'


class Wheels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('wheels/base:1')
        cls.house = testbed.new_folder('house')
        cls.counted = [write_wheel(cls.house, 'counted', version, {'counted/__init__.py': f'VALUE = "{version}"\n'},
                                   ['names_left', 'names_right>=1', 'absent; python_version < "3"'],
                                   b'[console_scripts]\ncount-it = counted:main\n') for version in ('1.0', '1.1')]
        cls.left = write_wheel(cls.house, 'names_left', '2.0', {'names/left.py': 'SIDE = "left"\n'})
        cls.right = write_wheel(cls.house, 'names_right', '3.0', {'names/right.py': 'SIDE = "right"\n'})
        cls.index = testbed.start_index([cls.house])

    def setUp(self):
        self.cache = testbed.new_cache()
        self.env = testbed.environment(PIP_INDEX_URL=self.index.url, XDG_CACHE_HOME=str(self.cache))
        self.folder = testbed.write_tree({'train.py': ENTRY, 'requirements.txt': self.requirements(self.counted[0])})
        self.name = testbed.image_name('wheels')

    def requirements(self, counted):
        return line(counted) + line(self.left) + line(self.right)

    def build(self, *flags, status=0, env=None, name=None):
        return autopack('build', '--executor-image-uri', self.base, '--script=train.py', '--format=json', '-v',
                        '--build-network=host', f'--output-image-uri={name or self.name}', *flags, cwd=self.folder,
                        env=env or self.env, status=status)

    def run_image(self, uri, *command):
        return testbed.run_image(*(['--entrypoint', command[0]] if command else []), uri, *command[1:])

    def test_are_installed_without_an_engine(self):
        answer = self.build('--engine=direct', env={**self.env, 'DOCKER_HOST': 'unix:///nowhere'})
        uri = answer.json()['uri']
        self.assertEqual(json.loads(self.run_image(uri)), ['1.0', 'left', 'right', ['counted==1.0']])
        self.assertIn('No broken requirements', self.run_image(uri, 'python3', '-m', 'pip', 'check'))
        self.assertIn('counted', self.run_image(uri, 'python3', '-m', 'pip', 'list'))
        self.assertNotIn('PYTHONDONTWRITEBYTECODE=1', testbed.configuration(uri)['Config']['Env'])

    def test_explain_tells_how_they_are_installed(self):
        def told(*flags):
            return autopack('explain', '--executor-image-uri', self.base, '--script=train.py',
                            f'--output-image-uri={self.name}', *flags, cwd=self.folder, env=self.env).out
        self.build()
        self.assertIn('3 pinned packages as layers of their wheels, without an engine', told())
        (self.folder / 'requirements.txt').write_text('counted>=1\n')
        self.assertIn('by the docker engine: not a complete set of pins: requirements.txt:1', told('--resolver=engine'))
        self.assertIn('as layers of their wheels, once uv has chosen the versions that are left open', told())
        self.build()
        self.assertIn('3 pinned packages as layers of their wheels', told())

    def test_constraints_of_pips_settings_and_options_of_an_environment_file_hold(self):
        (self.folder / 'requirements.txt').unlink()
        (self.folder / 'environment.yml').write_text(
            f'dependencies:\n  - pip:\n    - -i {self.index.url}\n    - -r more.txt\n    - counted\n')
        (self.folder / 'more.txt').write_text('names_left\n')
        limits = testbed.new_folder('limits') / 'c.txt'
        limits.write_text('counted<1.1\n')
        env = testbed.environment(PIP_CONSTRAINT=str(limits), XDG_CACHE_HOME=str(self.cache))
        first = self.build(env=env).json()
        self.assertEqual(json.loads(self.run_image(first['uri'])), ['1.0', 'left', 'right', ['counted==1.0']])
        limits.write_text('counted>=1.1,<2\n')
        for resolver in ('uv', 'engine'):
            second = self.build(f'--resolver={resolver}', env=env, name=f'{self.name}-{resolver}').json()
            self.assertEqual(json.loads(self.run_image(second['uri']))[0], '1.1')

    def test_are_the_files_that_pip_writes(self):
        ours = self.build().json()['uri']
        pips = self.build('--engine=docker', name=self.name + '-pip').json()['uri']
        docker('pull', '-q', ours)
        there = [testbed.file_tree(uri, '/usr/local') for uri in (ours, pips)]
        for tree in there:
            for path in [path for path in tree if '__pycache__' in path or path.endswith(('/INSTALLER', '/RECORD', '/count-it'))]:
                del tree[path]
        self.assertEqual(*there)
        self.assertTrue(any(path.endswith('names/left.py') for path in there[0]))

    def test_a_changed_one_alone_is_fetched_and_sent(self):
        first = self.build().json()
        (self.folder / 'requirements.txt').write_text(self.requirements(self.counted[1]))
        asked = len(self.index.requests)
        second = self.build().json()
        fetched = {request['path'].split('/')[-1] for request in self.index.requests[asked:] if 'whl' in request['path']}
        self.assertEqual(fetched, {self.counted[1].name})
        self.assertLess(second['bytes_uploaded'], 20_000)
        self.assertGreater(second['bytes_uploaded'], 500)
        self.assertNotEqual(first['uri'], second['uri'])
        self.assertEqual(json.loads(self.run_image(second['uri'])), ['1.1', 'left', 'right', ['counted==1.1']])

    def test_a_large_one_that_stays_is_not_looked_at_again(self):
        large = write_wheel(testbed.new_folder('large'), 'large', '1.0', {'large.py': '#' * (17 << 20)})
        index = testbed.start_index([self.house, large.parent])
        env = {**self.env, 'PIP_INDEX_URL': index.url}
        for counted in self.counted:
            (self.folder / 'requirements.txt').write_text(self.requirements(counted) + line(large))
            asked = len(index.requests)
            answer = self.build('--engine=direct', env=env)
            for path in (self.cache / 'autopack' / 'wheels').glob('*/*'):
                if path.stat().st_size > 16 << 20:
                    path.unlink()
        fetched = {request['path'].split('/')[-1] for request in index.requests[asked:] if 'whl' in request['path']}
        self.assertEqual(fetched, {self.counted[1].name})
        self.assertEqual(json.loads(self.run_image(answer.json()['uri']))[0], '1.1')

    def test_a_cached_wheel_with_other_contents_is_fetched_again(self):
        other = write_wheel(testbed.new_folder('other'), 'counted', '1.0', {'counted/__init__.py': 'VALUE = "6.6"\n'},
                            ['names_left', 'names_right>=1', 'absent; python_version < "3"'],
                            b'[console_scripts]\ncount-it = counted:main\n')
        wheel = self.counted[0]
        self.assertEqual(other.stat().st_size, wheel.stat().st_size)
        cache = self.cache / 'autopack'
        shutil.rmtree(cache)
        self.build('--engine=direct')
        self.assertEqual(cache.stat().st_mode & 0o777, 0o700)
        for kept in ('layers', 'none'):
            with self.subTest(kept=kept):
                if kept == 'none':
                    shutil.rmtree(cache / 'layers')
                (cache / 'wheels' / digest(wheel)[:2] / f'{digest(wheel)}-{wheel.stat().st_size}').write_bytes(other.read_bytes())
                asked = len(self.index.requests)
                answer = self.build('--engine=direct', name=f'{self.name}-{kept}')
                self.assertIn(wheel.name, [request['path'].split('/')[-1] for request in self.index.requests[asked:]])
                self.assertIn('in the cache is damaged', answer.err)
                self.assertEqual(json.loads(self.run_image(answer.json()['uri']))[0], '1.0')

    def test_the_same_lock_gives_the_same_layers_on_another_machine(self):
        def wheel_layers(answer):
            manifest = json.loads(subprocess.run(
                ['skopeo', 'inspect', '--raw', '--tls-verify=false', f'docker://{answer["uri"]}'],
                stdout=subprocess.PIPE, check=True).stdout)
            return [layer['digest'] for layer in manifest['layers'] if 'autopack.layer-key' in layer.get('annotations', {})]
        first = self.build().json()
        env = {**self.env, 'XDG_CACHE_HOME': str(testbed.new_folder('other'))}
        second = self.build(env=env, name=self.name + '-other').json()
        self.assertEqual(wheel_layers(first), wheel_layers(second))
        self.assertTrue(wheel_layers(first))

    def large_wheel(self):
        """Returns a wheel with its own layer, of 10 MB and more."""
        text = '#' + random.Random(1).randbytes(12 << 20).hex()
        return write_wheel(testbed.new_folder('large'), 'large', '1.0', {'large.py': text})

    def relayed(self):
        """Returns the registry by another name, and a counter of the bytes from it."""
        host, port = testbed.registry().split(':')
        relay = Relay((host, int(port)))
        return relay, f'{host}:{relay.port}'

    def build_elsewhere(self, host, *flags):
        """Builds on a machine that has built nothing and has no engine."""
        env = {**self.env, 'XDG_CACHE_HOME': str(testbed.new_folder('other')), 'DOCKER_HOST': 'unix:///nowhere'}
        base, name = (text.replace(testbed.registry(), host) for text in (self.base, self.name))
        return autopack('build', '--executor-image-uri', base, '--script=train.py', '--format=json', '-v',
                        f'--output-image-uri={name}', *flags, cwd=self.folder, env=env)

    def test_another_machine_finds_the_same_lock_in_the_registry(self):
        uri = self.build().json()['uri']
        relay, host = self.relayed()
        asked = len(self.index.requests)
        answer = self.build_elsewhere(host)
        self.assertEqual(answer.json()['uri'].replace(host, testbed.registry()), uri)
        self.assertTrue(answer.json()['reused'])
        self.assertEqual(len(self.index.requests), asked)
        self.assertLess(relay.received, 1_000_000)

    def test_another_machine_fetches_of_a_changed_lock_what_changed(self):
        large = self.large_wheel()
        index = testbed.start_index([self.house, large.parent])
        self.env['PIP_INDEX_URL'] = index.url
        (self.folder / 'requirements.txt').write_text(self.requirements(self.counted[0]) + line(large))
        self.build()
        (self.folder / 'requirements.txt').write_text(self.requirements(self.counted[1]) + line(large))
        relay, host = self.relayed()
        asked = len(index.requests)
        answer = self.build_elsewhere(host)
        fetched = {request['path'].split('/')[-1] for request in index.requests[asked:] if 'whl' in request['path']}
        self.assertIn(self.counted[1].name, fetched)
        self.assertNotIn(large.name, fetched)
        self.assertLess(relay.received, 1_000_000)
        uri = answer.json()['uri'].replace(host, testbed.registry())
        self.assertEqual(json.loads(self.run_image(uri)), ['1.1', 'left', 'right', ['counted==1.1']])
        self.assertEqual((answer.json()['wheels']['count'], answer.json()['wheels']['new']), (4, 1))
        self.assertIn('1 of 4 wheels new', answer.err)
        self.assertIn(f'the facts remembered in `{self.name.replace(testbed.registry(), host)}` for the layers of 1 wheel;', answer.err)
        self.assertGreater(answer.json()['wheels']['bytes_there'], 10_000_000)

    def remembered(self):
        """Returns the tag of the remembered facts in the registry, their manifest and their index."""
        api = 'http://{}/v2/{}'.format(*self.name.split('/', 1))
        tags = json.loads(stored_image.ask('GET', f'{api}/tags/list')[2])['tags']
        tag = next(tag for tag in tags if tag.startswith('apn-'))
        manifest = json.loads(stored_image.ask('GET', f'{api}/manifests/{tag}', Accept=stored_image.MANIFESTS)[2])
        return tag, manifest, json.loads(stored_image.ask('GET', f'{api}/blobs/{manifest["config"]["digest"]}')[2])

    def poison_facts(self):
        """Makes the facts name the layer of directories for the wheels."""
        tag, manifest, index = self.remembered()
        smallest = min(index['layers'], key=lambda layer: layer['size'])
        index['layers'] = [{**smallest, 'key': layer['key']} for layer in index['layers']]
        text = json.dumps(index).encode()
        address, path = self.name.split('/', 1)
        stored_image.push_blob(address, path, text)
        manifest['config'].update(digest=stored_image.digest_of(text), size=len(text))
        status, _, _ = stored_image.ask('PUT', f'http://{address}/v2/{path}/manifests/{tag}', json.dumps(manifest).encode(),
                                        Content_Type=manifest['mediaType'])
        self.assertEqual(status, 201)

    def test_facts_that_name_other_layers_are_trusted_aloud_or_not_at_all(self):
        large = self.large_wheel()
        self.env['PIP_INDEX_URL'] = testbed.start_index([self.house, large.parent]).url
        requirements = self.requirements(self.counted[0])
        (self.folder / 'requirements.txt').write_text(requirements + line(large))
        self.build('--engine=direct')
        good = self.remembered()[2]['layers']
        (self.folder / 'requirements.txt').write_text('# another\n' + self.requirements(self.counted[1]) + line(large))
        self.poison_facts()
        answer = self.build_elsewhere(testbed.registry(), '--strict')
        self.assertIn('named other contents for', answer.err)
        self.assertNotIn('Trusted', answer.err)
        self.assertEqual(json.loads(self.run_image(answer.json()['uri']))[0], '1.1')
        corrected = {layer['key']: layer['digest'] for layer in self.remembered()[2]['layers']}
        key = max(good, key=lambda layer: layer['size'])
        self.assertEqual(corrected[key['key']], key['digest'])
        self.poison_facts()
        (self.folder / 'requirements.txt').write_text(requirements)
        answer = self.build_elsewhere(testbed.registry(), '--no-cache')
        self.assertEqual(json.loads(self.run_image(answer.json()['uri']))[0], '1.0')
        self.assertNotIn(key['key'], [layer['key'] for layer in self.remembered()[2]['layers']])

    def test_a_wheel_that_needs_another_python_is_refused_before_anything_is_sent(self):
        house = testbed.new_folder('needs')
        path = house / 'needs-1.0-py3-none-any.whl'
        with Writer(path, 'needs-1.0.dist-info') as wheel:
            wheel.add_metadata('Metadata-Version: 2.1\nName: needs\nVersion: 1.0\nRequires-Python: >=3.99\n', 'py3-none-any')
        (self.folder / 'requirements.txt').write_text('./' + path.name + '\n')
        (self.folder / path.name).write_bytes(path.read_bytes())
        answer = self.build(status=2)
        self.assertIn('it requires Python `>=3.99`, but the executor image has 3.', answer.err)
        other = 'other-1.0-cp399-cp399-manylinux_2_17_x86_64.whl'
        (self.folder / other).write_bytes(b'')
        (self.folder / 'requirements.txt').write_text(f'./{other}\n')
        answer = autopack('explain', '--check', '--executor-image-uri', self.base, '--script=train.py', cwd=self.folder,
                          env=self.env, status=2)
        self.assertIn(f'`{other}` is not for Python 3.', answer.err)
        self.assertIn('requirements.txt:1', answer.err)

    def test_layers_are_mounted_from_where_this_machine_sent_them(self):
        large = self.large_wheel()
        self.env['PIP_INDEX_URL'] = testbed.start_index([self.house, large.parent]).url
        (self.folder / 'requirements.txt').write_text(self.requirements(self.counted[0]) + line(large))
        self.assertGreater(self.build().json()['bytes_uploaded'], 10_000_000)
        self.assertLess(self.build(name=self.name + '-other').json()['bytes_uploaded'], 1_000_000)

    def test_byte_code_is_shipped_when_it_is_asked_for(self):
        def compiled(uri):
            docker('pull', '-q', uri)
            return sorted(path for path in testbed.file_tree(uri, '/usr/local') if path.endswith('.pyc') and '/names/' in path)
        self.assertEqual(compiled(self.build().json()['uri']), [])
        with_path = {**self.env, 'PATH': '/nowhere'}  # no Python here: that of the executor image
        for env in (self.env, with_path):
            name = f'{self.name}-{"engine" if env is with_path else "here"}'
            uri = self.build('--compile-bytecode', env={**env, 'XDG_CACHE_HOME': str(testbed.new_folder('other'))}, name=name).json()['uri']
            self.assertEqual([path.rpartition('/')[2].split('.')[0] for path in compiled(uri)], ['left', 'right'])
            self.assertIn('PYTHONDONTWRITEBYTECODE=1', testbed.configuration(uri)['Config']['Env'])
        # Unchecked: Python does not compare it with a changed source.
        changed = testbed.run_image('--entrypoint', 'sh', uri, '-c',
                         'echo "SIDE = 1" > $(python3 -c "import names.left as it; print(it.__file__)"); python3 -c "import names.left as it; print(it.SIDE)"')
        self.assertEqual(changed, 'left')

    def test_byte_code_that_nobody_can_make_is_told_before_anything_is_sent(self):
        env = {**self.env, 'PATH': '/nowhere', 'DOCKER_HOST': 'unix:///nowhere'}
        answer = self.build('--compile-bytecode', '--engine=direct', env=env, status=1)
        self.assertIn('`--compile-bytecode` needs Python 3', answer.err)
        tags = subprocess.run(['skopeo', 'list-tags', '--tls-verify=false', f'docker://{self.name}'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertNotEqual(tags.returncode, 0)

    def test_pins_without_hashes_are_complete_or_completed(self):
        requirements = self.folder / 'requirements.txt'
        requirements.write_text('counted==1.0\nnames-left==2.0\nnames.right==3.0\n')
        answer = self.build('--engine=direct')
        self.assertEqual(json.loads(self.run_image(answer.json()['uri']))[0], '1.0')
        requirements.write_text('counted==1.0\nnames-left==2.0\n')
        answer = self.build('--engine=direct', '--resolver=engine', status=1)
        self.assertIn('names-right', answer.err)
        answer = self.build('--resolver=engine')
        self.assertIn('the docker engine installs the dependencies', answer.err)
        self.assertEqual(json.loads(self.run_image(answer.json()['uri']))[0], '1.0')
        answer = self.build('--engine=direct', name=self.name + '-uv')
        self.assertIn('Resolved  3 packages', answer.err)
        self.assertEqual(json.loads(self.run_image(answer.json()['uri'])), ['1.0', 'left', 'right', ['counted==1.0']])

    def test_why_pip_has_to_install_is_said_where_an_index_cannot_be_reached(self):
        answer = self.build(env={**self.env, 'PIP_INDEX_URL': 'http://127.0.0.1:9/simple', 'PIP_RETRIES': '0',
                                 'DOCKER_HOST': 'unix:///nowhere'}, status=1)
        self.assertRegex(answer.err, r'Left +the requirements to pip in the docker engine: could not read the page of .*'
                                     'in the index http://127.0.0.1:9/simple: ')

    def test_a_wrong_hash_is_refused_and_leaves_nothing(self):
        text = (self.folder / 'requirements.txt').read_text().replace(digest(self.left), '0' * 64)
        (self.folder / 'requirements.txt').write_text(text)
        answer = self.build('--engine=direct', status=1)
        self.assertIn('names-left', answer.err)
        tags = subprocess.run(['skopeo', 'list-tags', '--tls-verify=false', f'docker://{self.name}'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertNotEqual(tags.returncode, 0)

    def test_a_damaged_file_is_refused_and_leaves_nothing(self):
        """For sizes that are recompressed, copied, and copied in pieces."""
        lie = {'crc': 7}
        for size in (2_000, 400_000, 20_000_000):
            content = random.Random(size).randbytes(size // 2).hex().encode()
            for what, wheel in {
                'its checksum differs': odd_wheels.Wheel('damaged', files=[odd_wheels.File('damaged.py', content, local=lie, central=lie)]),
                'does not have the hash in RECORD': odd_wheels.Wheel('damaged', files=[odd_wheels.File('damaged.py', content)], record=lambda rows: [
                    f'damaged.py,sha256={"A" * 43},' if row.startswith('damaged.py') else row for row in rows]),
            }.items():
                with self.subTest(size=size, what=what):
                    house = testbed.new_folder('damaged')
                    (self.folder / 'requirements.txt').write_text(line(wheel.write(house)))
                    answer = self.build('--engine=direct', env={**self.env, 'PIP_INDEX_URL': testbed.start_index([house]).url}, status=2)
                    self.assertIn('`damaged-1.0-py3-none-any.whl` cannot be installed', answer.err)
                    self.assertIn(what, answer.err)
                    self.assertNotEqual(subprocess.run(['skopeo', 'list-tags', '--tls-verify=false', f'docker://{self.name}'],
                                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False).returncode, 0)

    def test_a_login_of_the_index_stays_on_this_machine_and_out_of_the_cache(self):
        user, password = 'packager', secret_watch.secret('index')
        index = testbed.start_index([self.house], user=user, password=password)
        address = index.url.replace('://', f'://{user}:{password}@')
        answer = self.build('--engine=direct', '-vv', env={**self.env, 'PIP_INDEX_URL': address})
        self.assertTrue(any(request['status'] == 200 for request in index.requests))
        self.assertNotIn(password, answer.err + answer.out)
        for path in self.cache.rglob('*'):
            if path.is_file():
                self.assertNotIn(password.encode(), path.read_bytes(), path)
        refused = self.build('--engine=direct', '--no-cache', env={**self.env, 'PIP_INDEX_URL': index.url,
                                                                   'XDG_CACHE_HOME': str(testbed.new_folder('other'))}, status=1)
        self.assertIn('401', refused.err)

    def test_what_the_base_has_is_replaced(self):
        own = write_wheel(testbed.new_folder('numpy'), 'numpy', '0.1', {'numpy/__init__.py': 'OWN = True\n'})
        index = testbed.start_index([own.parent])
        (self.folder / 'requirements.txt').write_text(line(own))
        (self.folder / 'train.py').write_text('import numpy\nprint(numpy.OWN, numpy.__file__)\n')
        uri = self.build('--engine=direct', env={**self.env, 'PIP_INDEX_URL': index.url}).json()['uri']
        self.assertTrue(self.run_image(uri).startswith('True /usr/local/'))

    def test_a_library_of_the_gpu_is_replaced_as_pip_does_and_that_is_told(self):
        house = testbed.new_folder('torch')
        wheels = [write_wheel(house, 'torch', version, {'torch/__init__.py': f'V = "{version}"\n', f'torch/only_{version[0]}.py': ''})
                  for version in ('1.0', '2.0')]
        base = f'{testbed.registry()}/wheels/gpu:1'
        context = testbed.write_tree({'Dockerfile': f'FROM {self.base}\nENV CUDA_VERSION=12.1.0\nCOPY *.whl /tmp/\n'
                                                    'RUN python3 -m pip install --break-system-packages /tmp/*.whl\n'})
        (context / wheels[0].name).write_bytes(wheels[0].read_bytes())
        docker('build', '-q', '-t', base, context)
        docker('push', '-q', base)
        (self.folder / 'requirements.txt').write_text(line(wheels[1]))
        (self.folder / 'train.py').write_text('import os, torch\nprint(torch.V, sorted(name for name in os.listdir(torch.__path__[0]) if name.endswith(".py")))\n')
        index = testbed.start_index([house])
        answer = autopack('build', '--executor-image-uri', base, '--script=train.py', '--engine=direct', '--format=json',
                          f'--output-image-uri={self.name}', cwd=self.folder, env={**self.env, 'PIP_INDEX_URL': index.url})
        self.assertIn('`torch` 1.0 of the executor image, which is for CUDA 12.1.0, is replaced', answer.err)
        self.assertEqual(self.run_image(answer.json()['uri']), "2.0 ['__init__.py', 'only_2.py']")

    def test_runs_here_by_the_engine(self):
        # An engine that loads only whole images runs pip itself, which finds an index on loopback in the host's network alone.
        flags = [] if testbed.loads_parts() else ['--build-network=host']
        answer = autopack('run', '--executor-image-uri', self.base, '--script=train.py', '-v', *flags, cwd=self.folder, env=self.env)
        self.assertEqual(json.loads(answer.out)[0], '1.0')

    def test_files_need_no_registry(self):
        place = testbed.new_folder('layout') / 'image'
        autopack('build', '--executor-image-uri', self.base, '--script=train.py', f'--output=oci:{place}',
                 '--engine=direct', cwd=self.folder, env={**self.env, 'DOCKER_HOST': 'unix:///nowhere'})
        name = f'{testbed.registry()}/wheels/from-files:1'
        testbed.run(['skopeo', 'copy', '-q', '--dest-tls-verify=false', f'oci:{place}', f'docker://{name}'])
        self.assertEqual(json.loads(self.run_image(name))[0], '1.0')
