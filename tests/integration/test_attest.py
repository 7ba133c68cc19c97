"""Documents attached to images: provenance, also signed, in a real registry."""

import base64
import json
import pathlib
import shutil
import subprocess
import unittest

import secret_watch
import stored_image
import testbed
from repositories import git
from testbed import autopack

STATEMENT = 'application/vnd.in-toto+json'
BUNDLE = 'application/vnd.dev.sigstore.bundle.v0.3+json'
MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
INDEX = 'application/vnd.oci.image.index.v1+json'
STAND_IN = pathlib.Path(__file__).parents[1] / 'support' / 'cosign.py'
ENTRY = 'print("trained")\n'


def skopeo(*arguments):
    return json.loads(testbed.run(['skopeo', *arguments]).stdout)


def referrers(uri):
    """Returns the entries of the fallback tag of an image: Debian's registry has no API for referrers."""
    repository, digest = uri.split('@')
    return skopeo('inspect', '--raw', '--tls-verify=false', f'docker://{repository}:{digest.replace(":", "-")}')['manifests']


def document(uri, entry):
    """Returns the manifest of a referrer, and the bytes of its document."""
    repository = uri.split('@')[0]
    place = f'{repository}@{entry["digest"]}'
    manifest = skopeo('inspect', '--raw', '--tls-verify=false', f'docker://{place}')
    host, path = repository.split('/', 1)
    blob = subprocess.run(['curl', '-fsS', f'http://{host}/v2/{path}/blobs/{manifest["layers"][0]["digest"]}'],
                          capture_output=True, check=True).stdout
    return manifest, blob


def go_program(module):
    """Returns a program of a Go module, built once for this user by this machine's go."""
    folder = testbed.cache_folder() / 'go' / module.replace('/', '-')
    program = folder / module.split('@')[0].rsplit('/', 1)[1]
    if not program.exists():
        subprocess.run(['go', 'install', module], env={**testbed.environment(), 'GOBIN': str(folder)}, check=True, timeout=3600)
    return program


def attach(uri, artifact_type, content, annotations=None):
    """Attaches a document as anyone who can push to the repository can."""
    host, rest = uri.split('/', 1)
    path, digest = rest.split('@')
    raw = subprocess.run(['skopeo', 'inspect', '--raw', '--tls-verify=false', f'docker://{uri}'], capture_output=True, check=True).stdout
    for blob in (b'{}', content):
        stored_image.push_blob(host, path, blob)
    manifest = {'schemaVersion': 2, 'mediaType': MANIFEST, 'artifactType': artifact_type, 'annotations': annotations or {},
                'config': {'mediaType': 'application/vnd.oci.empty.v1+json', 'digest': stored_image.digest_of(b'{}'), 'size': 2},
                'layers': [{'mediaType': artifact_type, 'digest': stored_image.digest_of(content), 'size': len(content)}],
                'subject': {'mediaType': json.loads(raw)['mediaType'], 'digest': digest, 'size': len(raw)}}
    text = json.dumps(manifest).encode()
    put(host, path, stored_image.digest_of(text), MANIFEST, text)
    try:
        listed = referrers(uri)
    except AssertionError:
        listed = []
    listed.append({'mediaType': MANIFEST, 'digest': stored_image.digest_of(text), 'size': len(text), 'artifactType': artifact_type,
                   'annotations': annotations or {}})
    put(host, path, digest.replace(':', '-'), INDEX, json.dumps({'schemaVersion': 2, 'mediaType': INDEX, 'manifests': listed}).encode())


def put(host, path, reference, media_type, text):
    subprocess.run(['curl', '-fsS', '-X', 'PUT', '-H', f'Content-Type: {media_type}', '--data-binary', '@-',
                    f'http://{host}/v2/{path}/manifests/{reference}'], input=text, check=True)


class Attaching(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('attest/base:1')
        cls.programs = testbed.new_folder('programs')
        (cls.programs / 'cosign').symlink_to(STAND_IN)
        cls.key = testbed.new_folder('keys') / 'cosign.key'
        testbed.run(['openssl', 'ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', cls.key])
        cls.public = testbed.run(['openssl', 'ec', '-in', cls.key, '-pubout']).stdout
        secret_watch.register(cls.key.read_text(), 'the signing key')

    def setUp(self):
        self.index = testbed.index()
        self.name = testbed.image_name('attest')
        self.repository = testbed.new_folder('repository')
        self.folder = self.repository / 'models' / 'one'
        testbed.write_tree({'train.py': ENTRY, 'requirements.txt': 'greeter\n'}, self.folder)
        for words in (['init', '-q', '-b', 'main'], ['remote', 'add', 'origin', 'https://someone:word@example.org/team/models.git'],
                      ['add', '.'], ['commit', '-q', '-m', 'one']):
            git(self.repository, *words)
        self.commit = git(self.repository, 'rev-parse', 'HEAD').stdout.decode().strip()
        self.env = testbed.environment(PIP_INDEX_URL=self.index.url, XDG_CACHE_HOME=testbed.new_cache())

    def build(self, *flags, status=0, **env):
        return autopack('build', f'--executor-image-uri={self.base}', '--script=train.py', f'--output-image-uri={self.name}',
                        '--format=json', *flags, cwd=self.folder, env={**self.env, **env}, status=status)

    def signed_with(self, key, **env):
        path = f'{self.programs}:{self.env.get("PATH", "/usr/bin:/bin")}'
        return self.build(f'--sign-key={key}', PATH=path, **env)

    def provenance(self, uri):
        found = [document(uri, one)[1] for one in referrers(uri) if one['artifactType'] == STATEMENT]
        self.assertEqual(len(found), 1)
        return json.loads(found[0])

    def test_the_provenance_names_every_input_by_its_digest(self):
        answer = self.build('--attest')
        uri = answer.json()['uri']
        self.assertEqual([one['name'] for one in answer.json()['attached']], ['provenance', 'SPDX SBOM', 'CycloneDX SBOM'])
        entry, = [one for one in referrers(uri) if one['artifactType'] == STATEMENT]
        manifest, text = document(uri, entry)
        self.assertEqual(manifest['subject']['digest'], answer.json()['digest'])
        self.assertEqual(manifest['artifactType'], STATEMENT)
        statement = json.loads(text)
        self.assertEqual(statement['subject'], [{'name': self.name, 'digest': {'sha256': answer.json()['digest'][7:]}}])
        definition = statement['predicate']['buildDefinition']
        self.assertEqual(definition['externalParameters']['settings'], {'executor-image-uri': self.base, 'script': 'train.py'})
        self.assertEqual(definition['externalParameters']['directory'], 'models/one')
        inputs = {one['annotations']['autopack.role']: one for one in definition['resolvedDependencies']}
        self.assertEqual(inputs['source'], {'annotations': {'autopack.role': 'source'}, 'name': 'project',
                                            'digest': {'gitCommit': self.commit}, 'uri': 'git+https://example.org/team/models.git'})
        base = skopeo('inspect', '--tls-verify=false', f'docker://{self.base}')['Digest']
        self.assertEqual(inputs['executor image']['digest'], {'sha256': base[7:]})
        wheel = testbed.wheel_house() / 'greeter-2.0-py3-none-any.whl'
        digest = testbed.run(['sha256sum', wheel]).stdout.decode().split()[0]
        self.assertEqual(inputs['wheel']['name'], wheel.name)
        self.assertEqual(inputs['wheel']['digest'], {'sha256': digest})
        self.assertIn('name = "greeter"', base64.b64decode(inputs['resolution']['content']).decode())
        self.assertNotIn('word', text.decode())

    def test_a_reused_image_keeps_its_provenance_and_gets_one_if_it_has_none(self):
        first = self.build()
        self.assertNotIn('attached', first.json())
        again = self.build('--attest')
        self.assertEqual(again.json()['uri'], first.json()['uri'])
        self.assertTrue(again.json()['reused'])
        before = self.provenance(again.json()['uri'])
        self.assertNotIn('attached', self.build('--attest').json())
        self.assertEqual(self.provenance(again.json()['uri']), before)
        wheels = [one for one in before['predicate']['buildDefinition']['resolvedDependencies']
                  if one['annotations']['autopack.role'] == 'wheel']
        self.assertEqual([one['name'] for one in wheels], ['greeter-2.0-py3-none-any.whl'])

    def test_another_machine_that_reuses_an_image_knows_its_wheels_from_the_repository(self):
        first = self.build().json()['uri']
        self.env['XDG_CACHE_HOME'] = str(testbed.new_cache())
        self.assertEqual(self.build('--attest').json()['uri'], first)
        inputs = self.provenance(first)['predicate']['buildDefinition']['resolvedDependencies']
        self.assertEqual([one['name'] for one in inputs if one['annotations']['autopack.role'] == 'wheel'],
                         ['greeter-2.0-py3-none-any.whl'])

    def test_signed_documents_are_bundles_of_cosign(self):
        record = testbed.new_folder('record') / 'runs'
        answer = self.signed_with(self.key, COSIGN_RECORD=str(record))
        uri = answer.json()['uri']
        self.assertEqual([one['name'] for one in answer.json()['attached']], [
            'provenance', 'SPDX SBOM', 'CycloneDX SBOM', 'signed provenance', 'signed SPDX SBOM', 'signed CycloneDX SBOM',
            'signed image'])
        self.assertEqual(len(record.read_text().splitlines()), 4)
        public = testbed.new_folder('keys') / 'cosign.pub'
        public.write_bytes(self.public)
        types = set()
        for entry in referrers(uri):
            if entry['artifactType'] != BUNDLE:
                continue
            self.assertEqual(entry['annotations']['dev.sigstore.bundle.content'], 'dsse-envelope')
            envelope = json.loads(document(uri, entry)[1])['dsseEnvelope']
            payload = base64.b64decode(envelope['payload'])
            statement = json.loads(payload)
            self.assertEqual(statement['predicateType'], entry['annotations']['dev.sigstore.bundle.predicateType'])
            self.assertEqual(statement['subject'][0]['digest'], {'sha256': answer.json()['digest'][7:]})
            types.add(statement['predicateType'])
            folder = testbed.new_folder('signed')
            (folder / 'text').write_bytes(f'DSSEv1 {len(STATEMENT)} {STATEMENT} {len(payload)} '.encode() + payload)
            (folder / 'signature').write_bytes(base64.b64decode(envelope['signatures'][0]['sig']))
            testbed.run(['openssl', 'dgst', '-sha256', '-verify', public, '-signature', folder / 'signature', folder / 'text'])
        self.assertEqual(types, {'https://slsa.dev/provenance/v1', 'https://sigstore.dev/cosign/sign/v1',
                                 'https://spdx.dev/Document', 'https://cyclonedx.org/bom'})
        self.assertEqual(self.signed_with(self.key).json().get('attached'), None)

    def test_what_a_stranger_attached_is_neither_signed_nor_hides_what_is(self):
        uri = self.build('--attest').json()['uri']
        forged = self.provenance(uri)
        forged['predicate']['buildDefinition']['externalParameters']['settings']['requirements'] = ['evil']
        attach(uri, STATEMENT, json.dumps(forged).encode(), {'in-toto.io/predicate-type': 'https://slsa.dev/provenance/v1'})
        for kind in ('https://slsa.dev/provenance/v1', 'https://sigstore.dev/cosign/sign/v1'):
            attach(uri, BUNDLE, b'{}', {'dev.sigstore.bundle.content': 'dsse-envelope', 'dev.sigstore.bundle.predicateType': kind})
        again = self.signed_with(self.key).json()
        self.assertEqual(again['uri'], uri)
        self.assertEqual([one['name'] for one in again['attached']],
                         ['signed provenance', 'signed SPDX SBOM', 'signed CycloneDX SBOM', 'signed image'])
        payloads = [base64.b64decode(json.loads(text)['dsseEnvelope']['payload']).decode()
                    for text in (document(uri, one)[1] for one in referrers(uri) if one['artifactType'] == BUNDLE) if text != b'{}']
        self.assertEqual(len(payloads), 4)
        self.assertNotIn('evil', ''.join(payloads))
        public = testbed.new_folder('keys') / 'right.pub'
        public.write_bytes(self.public)
        answer = autopack('verify', uri, f'--key={public}', cwd=self.folder, env=self.env)
        self.assertTrue(answer.out.startswith('equal: '), answer)

    def test_provenance_names_no_directory_of_this_machine(self):
        outside = testbed.write_tree({'config.txt': 'a'})
        base = testbed.new_folder('bases') / 'base'
        testbed.run(['skopeo', 'copy', '--src-tls-verify=false', f'docker://{self.base}', f'oci:{base}'])
        answer = autopack('build', f'--executor-image-uri=oci:{base}', '--script=train.py', f'--output-image-uri={self.name}',
                          f'--extra-dirs={outside}', '--format=json', '--attest', cwd=self.folder, env=self.env)
        text = json.dumps(self.provenance(answer.json()['uri']))
        self.assertIn('"oci:base"', text)
        self.assertIn(outside.name, text)
        for folder in (outside, base):
            self.assertNotIn(str(folder.parent), text)

    def test_verify_accepts_only_what_the_key_signed(self):
        answer = self.signed_with(self.key)
        uri, keys = answer.json()['uri'], testbed.new_folder('keys')
        (keys / 'right.pub').write_bytes(self.public)
        testbed.run(['openssl', 'ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', keys / 'wrong.key'])
        (keys / 'wrong.pub').write_bytes(testbed.run(['openssl', 'ec', '-in', keys / 'wrong.key', '-pubout']).stdout)

        def verify(key, status, image=uri):
            return autopack('verify', image, f'--key={keys / key}', cwd=self.folder, env=self.env, status=status)
        right = verify('right.pub', 0)
        self.assertTrue(right.out.startswith('equal: '), right)
        self.assertIn('https://slsa.dev/provenance/v1', right.err)
        self.assertIn('signed nothing about', verify('wrong.pub', 1).err)
        self.assertIn('is not a public key', verify('wrong.key', 2).err)
        (self.folder / 'train.py').write_text('print("other")\n')
        unsigned = self.build().json()['uri']
        self.assertIn('signed nothing about', verify('right.pub', 1, unsigned).err)

    def test_the_attached_sboms_are_those_of_a_file(self):
        files = testbed.new_folder('sboms')
        uri = self.build('--attest', f'--sbom={files / "a.spdx.json"}', f'--sbom={files / "a.cdx.json"}').json()['uri']
        attached = {one['artifactType']: document(uri, one)[1] for one in referrers(uri)}
        self.assertEqual(attached['application/spdx+json'], (files / 'a.spdx.json').read_bytes())
        self.assertEqual(attached['application/vnd.cyclonedx+json'], (files / 'a.cdx.json').read_bytes())

    def test_what_cannot_be_attached_or_signed_is_refused_before_anything_is_made(self):
        def refused(*words, status, **env):
            answer = autopack('build', f'--executor-image-uri={self.base}', '--script=train.py', *words, cwd=self.folder,
                              env={**self.env, **env}, status=status)
            self.assertEqual(answer.out, '')
            return answer.err
        self.assertIn('is not pushed', refused('--attest', status=2))
        empty = testbed.new_folder('empty')
        for tool in ('git', 'uv'):
            if path := shutil.which(tool):
                (empty / tool).symlink_to(path)
        pushed = f'--output-image-uri={self.name}'
        self.assertIn('needs the program `cosign`', refused(pushed, f'--sign-key={self.key}', status=1, PATH=str(empty)))
        path = f'{self.programs}:{self.env.get("PATH", "/usr/bin:/bin")}'
        self.assertIn('there is no key `nothing.key`', refused(pushed, '--sign-key=nothing.key', status=2, PATH=path))
        host, repository = self.name.split('/', 1)
        answer = testbed.run(['curl', '-s', f'http://{host}/v2/{repository}/tags/list']).stdout.decode()
        self.assertIn('NAME_UNKNOWN', answer)

    def test_a_key_that_cannot_sign_is_reported_after_the_push(self):
        bad = testbed.new_folder('keys') / 'bad.key'
        bad.write_text('no key\n')
        path = f'{self.programs}:{self.env.get("PATH", "/usr/bin:/bin")}'
        answer = self.build(f'--sign-key={bad}', status=1, PATH=path)
        self.assertIn('cosign could not sign', answer.err)
        self.assertIn('COSIGN_PASSWORD', answer.err)

    @testbed.nightly('test_signed_documents_are_bundles_of_cosign')
    def test_cosign_verifies_what_is_attached(self):
        program = go_program('github.com/sigstore/cosign/v3/cmd/cosign@v3.1.3')
        folder, password = testbed.new_folder('keys'), secret_watch.secret('cosign-password')
        testbed.run([program, 'generate-key-pair'], cwd=folder, env={**testbed.environment(), 'COSIGN_PASSWORD': password})
        path = f'{program.parent}:{self.env.get("PATH", "/usr/bin:/bin")}'
        uri = self.build(f'--sign-key={folder / "cosign.key"}', PATH=path, COSIGN_PASSWORD=password).json()['uri']
        words = [f'--key={folder / "cosign.pub"}', '--allow-http-registry', '--insecure-ignore-tlog', uri]
        testbed.run([program, 'verify', *words])
        for kind in ('slsaprovenance1', 'spdxjson', 'cyclonedx'):
            testbed.run([program, 'verify-attestation', f'--type={kind}', *words])
