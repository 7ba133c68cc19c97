"""A bill of materials contains what is in the image: as the schemas, pip, dpkg and the registry see it."""

import json
import re
import shutil
import subprocess
import unittest
import urllib.parse

import secret_watch
import stored_image
import testbed
from test_wheels import digest, line, write_wheel
from testbed import autopack

FAULTS = testbed.ROOT / 'tests' / 'support' / 'sbom_faults.py'


def parsed(purl):
    """Returns type, name and version of a purl, and its qualifiers."""
    path, _, query = purl.removeprefix('pkg:').partition('?')
    path, _, version = path.partition('@')
    kind, *_, name = map(urllib.parse.unquote, path.split('/'))
    return kind, name, urllib.parse.unquote(version), dict(urllib.parse.parse_qsl(query))


def purls(document):
    """Returns name and version of each package in a document, by the purl's type."""
    found = {}
    if 'packages' in document:
        texts = [ref['referenceLocator'] for part in document['packages'] for ref in part.get('externalRefs', ())]
    else:
        parts = (document['metadata']['component'], *document['components'])
        texts = [part['purl'] for part in parts if 'purl' in part]
    for kind, name, version, qualifiers in map(parsed, texts):
        key = (name, version, qualifiers['arch']) if kind in ('deb', 'apk') else (name, version)
        found.setdefault(kind, set()).add(key)
    return found


class SbomCase(unittest.TestCase):
    def setUp(self):
        self.cache = testbed.new_cache()

    def environment(self, **changes):
        return testbed.environment(XDG_CACHE_HOME=str(self.cache), **changes)

    def build(self, *flags, folder=None, env=None, status=0):
        """Returns the answer and both documents, which are valid."""
        folder = folder or self.folder
        place = testbed.new_folder('sbom')
        files = [place / 'a.spdx.json', place / 'a.cdx.json']
        answer = autopack('build', '--format=json', '-v', *flags, *(f'--sbom={file}' for file in files), cwd=folder,
                          env=env or self.env, status=status)
        if status:
            self.assertEqual(list(place.iterdir()), [])
            return answer
        check = subprocess.run([testbed.SYSTEM_PYTHON, FAULTS, *files], stdout=subprocess.PIPE, check=False)
        self.assertEqual(check.stdout.decode().strip(), '')
        documents = [json.loads(file.read_text()) for file in files]
        self.assertEqual(*map(purls, documents))
        return answer, *documents

    def check_with_programs(self, image, document, pip='python3'):
        """Compares the packages with those that pip and dpkg list in the image."""
        found = purls(document)
        listed = testbed.run_image('--entrypoint', pip, image, '-m', 'pip', 'list', '--format=json',
                                   '--disable-pip-version-check')
        names = {(one['name'].lower().replace('_', '-'), one['version']) for one in json.loads(listed)}
        self.assertEqual(found.get('pypi', set()), names)
        listed = testbed.run_image('--entrypoint', 'dpkg-query', image, '-W', '-f',
                                   '${db:Status-Status} ${Package} ${Version} ${Architecture}\\n')
        packages = {tuple(row.split()[1:]) for row in listed.splitlines() if row.startswith('installed ')}
        self.assertGreater(len(packages), 50)
        self.assertEqual(found['deb'], packages)

    @staticmethod
    def parts(document):
        return {part['name']: part for part in document['components']}

    @staticmethod
    def property(part, name):
        return next((one['value'] for one in part.get('properties', ()) if one['name'] == name), None)


class OfWheels(SbomCase):
    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('sbom-wheels/base:1')
        cls.house = testbed.new_folder('house')
        cls.small = write_wheel(cls.house, 'small_thing', '1.0', {'small_thing/__init__.py': ''})
        cls.other = write_wheel(cls.house, 'other', '2.0+local.1', {'other/__init__.py': ''})
        cls.index = testbed.start_index([cls.house])

    def setUp(self):
        super().setUp()
        self.env = self.environment(PIP_INDEX_URL=self.index.url)
        self.folder = testbed.write_tree({'train.py': 'import small_thing, other\n',
                                          'requirements.txt': line(self.small) + line(self.other)})
        self.name = testbed.image_name('sbom-wheels')
        self.flags = ('--executor-image-uri', self.base, '--script=train.py', f'--output-image-uri={self.name}')

    def test_a_pushed_image_without_an_engine(self):
        answer, spdx, cyclonedx = self.build(*self.flags, '--engine=direct',
                                             env={**self.env, 'DOCKER_HOST': 'unix:///nowhere'})
        image = answer.json()
        testbed.docker('pull', '-q', image['uri'])
        self.check_with_programs(image['uri'], spdx)
        parts = self.parts(cyclonedx)
        for wheel, name, version in ((self.small, 'small_thing', '1.0'), (self.other, 'other', '2.0+local.1')):
            self.assertEqual(parts[name]['version'], version)
            self.assertEqual(parts[name]['hashes'], [{'alg': 'SHA-256', 'content': digest(wheel)}])
            url, = (ref['url'] for ref in parts[name]['externalReferences'])
            self.assertTrue(url.startswith(self.index.url.split('/simple')[0]), url)
            self.assertTrue(urllib.parse.unquote(url).endswith(wheel.name), url)
        whole = cyclonedx['metadata']['component']
        self.assertEqual(whole['version'], image['digest'])
        self.assertIn(urllib.parse.quote(image['digest'], safe=':'), whole['purl'])
        manifest = json.loads(stored_image.ask('GET', f'http://{self.name.replace("/", "/v2/", 1)}/manifests/{image["digest"]}',
                                               Accept=stored_image.MANIFESTS)[2])
        layers = [part['name'] for part in cyclonedx['components'] if self.property(part, 'autopack:diff-id')]
        self.assertEqual(sorted(layers), sorted({layer['digest'] for layer in manifest['layers']}))
        base = parts[self.base.rpartition(':')[0]]
        self.assertEqual(base['type'], 'container')
        self.assertTrue(base['version'].startswith('sha256:'))

    def test_equal_images_have_equal_documents(self):
        first = self.build(*self.flags)[1:]
        self.assertEqual(self.build(*self.flags)[1:], first)
        (self.folder / 'train.py').write_text('import small_thing\n')
        second = self.build(*self.flags)[1:]
        self.assertEqual([purls(one)['pypi'] for one in second], [purls(one)['pypi'] for one in first])
        self.assertNotEqual(second[0]['documentNamespace'], first[0]['documentNamespace'])
        self.assertNotEqual(second[1]['serialNumber'], first[1]['serialNumber'])

    def test_another_machine_writes_the_same(self):
        first = self.build(*self.flags, '--engine=direct')[1:]
        self.cache = testbed.new_cache()
        answer, *second = self.build(*self.flags, '--engine=direct', env=self.environment(PIP_INDEX_URL='http://127.0.0.1:9/simple'))
        self.assertTrue(answer.json()['reused'])
        self.assertEqual(tuple(second), first)

    def test_an_edit_reads_only_the_layers_of_the_code(self):
        env = {**self.env, 'DOCKER_HOST': 'unix:///nowhere'}
        self.build(*self.flags, '--engine=direct', env=env)
        (self.folder / 'train.py').write_text('import other\n')
        answer = self.build(*self.flags, '--engine=direct', '-vv', env=env)[0]
        self.assertIn('HEAD', answer.err)
        self.assertNotRegex(answer.err, r'GET \S+/blobs/sha256:')

    def test_layers_that_were_made_now_are_not_read_back(self):
        env = {**self.env, 'DOCKER_HOST': 'unix:///nowhere'}
        (self.folder / 'requirements.txt').rename(self.folder / 'later.txt')
        self.build(*self.flags, '--engine=direct', env=env)  # from now on the executor image is known
        (self.folder / 'later.txt').rename(self.folder / 'requirements.txt')
        answer, *made = self.build(*self.flags, '--engine=direct', '-vv', env=env)
        self.assertIn(('other', '2.0+local.1'), purls(made[0])['pypi'])
        layers = {part['name'] for part in made[1]['components'] if self.property(part, 'autopack:diff-id')}

        def read(output):
            return set(re.findall(r'GET \S+/blobs/(sha256:[0-9a-f]+)', output)) & layers
        self.assertLessEqual(len(read(answer.err)), 1)  # the directories of the dependency image, a few bytes
        shutil.rmtree(self.cache / 'autopack' / 'layer-packages')
        answer, *again = self.build(*self.flags, '--engine=direct', '-vv', env=env)
        self.assertEqual(again, made)
        self.assertEqual(read(answer.err), layers)

    def test_files_of_images(self):
        place = testbed.new_folder('images')
        flags = [flag for flag in self.flags if not flag.startswith('--output')]
        answer, spdx, cyclonedx = self.build(*flags, f'--output=oci:{place}/layout', f'--output=tar:{place}/a.tar',
                                             env={**self.env, 'DOCKER_HOST': 'unix:///nowhere'})
        index = json.loads((place / 'layout' / 'index.json').read_text())
        self.assertEqual(cyclonedx['metadata']['component']['version'], index['manifests'][0]['digest'])
        self.assertIn(('small-thing', '1.0'), purls(spdx)['pypi'])
        self.assertFalse(answer.json()['reused'])

    def test_a_file_in_the_project_stays_out_of_the_image(self):
        answers = []
        for _ in range(2):
            answers.append(autopack('build', *self.flags, '--format=json', '--sbom=all.spdx.json', cwd=self.folder, env=self.env))
            self.assertTrue((self.folder / 'all.spdx.json').exists())
        self.assertEqual(*(answer.json()['uri'] for answer in answers))

    def test_what_is_refused(self):
        for flag, words in (('--sbom=a.json', '`a.json` is not a value of `--sbom`'),
                            ('--sbom=-', 'its name does not say a format'),
                            ('--sbom=nowhere/a.cdx.json', 'there is no directory `nowhere`')):
            with self.subTest(flag=flag):
                answer = autopack('build', *self.flags, flag, cwd=self.folder, env=self.env, status=2)
                self.assertIn(words, answer.err)
        answer = autopack('build', *self.flags, '--platform=linux/amd64,linux/arm64', '--sbom=a.cdx.json', cwd=self.folder,
                          env=self.env, status=2)
        self.assertIn('`--sbom` describes one image', answer.err)

    def test_attached_to_the_image(self):
        place = testbed.new_folder('sbom')
        files = {'application/spdx+json': place / 'a.spdx.json', 'application/vnd.cyclonedx+json': place / 'a.cdx.json'}
        image = autopack('build', *self.flags, '--format=json', '--attest', *(f'--sbom={file}' for file in files.values()),
                         cwd=self.folder, env=self.env).json()
        address, path = self.name.split('/', 1)

        def fetch(kind, name):
            return stored_image.ask('GET', f'http://{address}/v2/{path}/{kind}/{name}',
                                    Accept='application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json')[2]
        listed = json.loads(fetch('manifests', image['digest'].replace(':', '-')))['manifests']
        for media_type, file in files.items():
            entry, = (one for one in listed if one['artifactType'] == media_type)
            layer, = json.loads(fetch('manifests', entry['digest']))['layers']
            self.assertEqual(fetch('blobs', layer['digest']), file.read_bytes())

    def test_no_login_is_in_a_document(self):
        token = secret_watch.secret('sbom-remote-token')
        for command in (['init', '-q'], ['remote', 'add', 'origin', f'https://{token}@example.com/team/taxi.git'], ['add', '.'],
                        ['-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'first']):
            testbed.run(['git', '-C', self.folder, *command])
        _, spdx, cyclonedx = self.build(*self.flags)
        self.assertNotIn(token, json.dumps([spdx, cyclonedx]))
        commit = testbed.run(['git', '-C', self.folder, 'rev-parse', 'HEAD']).stdout.decode().strip()
        project, = (part for part in cyclonedx['components'] if part['bom-ref'] == 'project')
        self.assertEqual(project['version'], commit)
        self.assertEqual(project['externalReferences'][0]['url'], f'git+https://example.com/team/taxi.git@{commit}')
        (self.folder / 'train.py').write_text('import other\n')
        project, = (part for part in self.build(*self.flags)[2]['components'] if part['bom-ref'] == 'project')
        self.assertEqual(project['version'], f'{commit}-dirty')


TINY = {'DEBIAN/control': 'Package: tiny-tool\nVersion: 1:2.0~rc1+b1\nArchitecture: all\nSource: tiny (1.9)\n'
                          'Maintainer: A <a@example.com>\nDescription: a test\n',
        'usr/share/doc/tiny-tool/copyright': 'Format: https://example.org/copyright-format/1.0/\n\n'
                                             'Files: *\nCopyright: A\nLicense: GPL-2+ or Expat\n'}
# The base image has its own repository of Debian packages, and a distribution that projects replace.
BASE = '''FROM {executor}
COPY repository /repository
COPY wheels /wheels
RUN rm -rf /etc/apt/sources.list* /etc/dpkg/dpkg.cfg.d/* && echo 'deb [trusted=yes] file:/repository ./' >/etc/apt/sources.list && \\
    python3 -m pip install --break-system-packages --no-index --no-deps --quiet /wheels/*.whl
'''


class OfAnEngine(SbomCase):
    @classmethod
    def setUpClass(cls):
        house = testbed.new_folder('house')
        context = testbed.write_tree({'Dockerfile': BASE.format(executor=testbed.executor())})
        (context / 'wheels').mkdir()
        write_wheel(context / 'wheels', 'replaced', '1.0', {'replaced/__init__.py': 'VALUE = 1\n'})
        cls.new = write_wheel(house, 'replaced', '1.1', {'replaced/__init__.py': 'VALUE = 2\n'})
        cls.index = testbed.start_index([house])
        package = testbed.write_tree(TINY)
        (context / 'repository').mkdir()
        testbed.run(['dpkg-deb', '--root-owner-group', '--build', package, context / 'repository' / 'tiny-tool.deb'])
        with open(context / 'repository' / 'Packages', 'wb') as listed:
            subprocess.run(['dpkg-scanpackages', '.'], cwd=context / 'repository', stdout=listed, stderr=subprocess.DEVNULL,
                           check=True)
        cls.base = f'{testbed.registry()}/sbom-engine/base:1'
        testbed.docker('build', '--quiet', '--tag', cls.base, context)
        testbed.docker('push', '-q', cls.base)
        testbed.remove_images_later('autopack-tests/sbom-engine')

    def setUp(self):
        super().setUp()
        self.env = self.environment(PIP_INDEX_URL=self.index.url)
        self.folder = testbed.write_tree({'train.py': 'import replaced\n', 'requirements.txt': line(self.new)})
        self.flags = ('--executor-image-uri', self.base, '--script=train.py', '--build-network=host')

    def check_tiny(self, spdx, cyclonedx):
        tiny = self.parts(cyclonedx)['tiny-tool']
        self.assertEqual(tiny['purl'], 'pkg:deb/debian/tiny-tool@1:2.0~rc1%2Bb1?arch=all&distro=debian-12&upstream=tiny%401.9')
        self.assertEqual(tiny['licenses'], [{'expression': 'GPL-2.0-or-later OR MIT'}])
        declared, = (part['licenseDeclared'] for part in spdx['packages'] if part['name'] == 'tiny-tool')
        self.assertEqual(declared, 'GPL-2.0-or-later OR MIT')

    def test_packages_of_apt_and_of_pip(self):
        name = 'autopack-tests/sbom-engine/built'
        answer, spdx, cyclonedx = self.build(*self.flags, '--engine=docker', '--system-packages=tiny-tool', '--no-push',
                                             f'--output-image-uri={name}')
        self.check_with_programs(answer.json()['uri'], spdx)
        self.check_tiny(spdx, cyclonedx)
        self.assertIn(('replaced', '1.1'), purls(spdx)['pypi'])
        self.assertNotIn('hashes', self.parts(cyclonedx)['replaced'])
        below = next(line['dependsOn'] for line in cyclonedx['dependencies'] if line['ref'] == 'executor-image')
        self.assertFalse([ref for ref in below if 'tiny-tool' in ref or 'replaced' in ref])
        self.assertTrue([ref for ref in below if ref.startswith('deb-dpkg-')])

    def test_a_wheel_replaces_a_distribution_of_the_executor_image(self):
        name = testbed.image_name('sbom-engine')
        answer, spdx, cyclonedx = self.build(*self.flags, '--engine=direct', f'--output-image-uri={name}')
        testbed.docker('pull', '-q', answer.json()['uri'])
        self.check_with_programs(answer.json()['uri'], spdx)
        self.assertEqual(self.parts(cyclonedx)['replaced']['hashes'][0]['content'], digest(self.new))

    def test_a_dockerfile_of_the_users_own(self):
        (self.folder / 'Dockerfile').write_text(
            f'FROM {self.base}\nRUN apt-get update && apt-get install -y tiny-tool\n'
            'RUN python3 -m pip uninstall -y --break-system-packages replaced\nCOPY train.py /\n')
        answer, spdx, cyclonedx = self.build('--dockerfile=Dockerfile', '--no-push',
                                             '--output-image-uri=autopack-tests/sbom-engine/own')
        self.check_with_programs(answer.json()['uri'], spdx)
        self.check_tiny(spdx, cyclonedx)
        self.assertNotIn('replaced', self.parts(cyclonedx))

    def test_packages_of_alpine(self):
        folder = testbed.write_tree({'Dockerfile': 'FROM scratch\nCOPY root /\n', 'root/etc/os-release':
                                     'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.19.1\n', 'root/lib/apk/db/installed':
                                     'C:Q1x=\nP:musl\nV:1.2.4-r2\nA:x86_64\nL:MIT\no:musl\nF:lib\nR:ld-musl-x86_64.so.1\n\n'
                                     'P:libssl3\nV:3.1.4-r5\nA:x86_64\nL:Apache-2.0\no:openssl\n\n'})
        _, spdx, cyclonedx = self.build('--dockerfile=Dockerfile', '--no-push',
                                        '--output-image-uri=autopack-tests/sbom-engine/alpine', folder=folder)
        self.assertEqual(purls(spdx)['apk'], {('musl', '1.2.4-r2', 'x86_64'), ('libssl3', '3.1.4-r5', 'x86_64')})
        self.assertEqual(self.parts(cyclonedx)['libssl3']['purl'],
                         'pkg:apk/alpine/libssl3@3.1.4-r5?arch=x86_64&distro=alpine-3.19.1&upstream=openssl')
        self.assertEqual(self.parts(cyclonedx)['musl']['licenses'], [{'license': {'id': 'MIT'}}])
