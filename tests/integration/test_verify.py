"""`autopack verify`: an image against its rebuild, on another machine, and after someone changed it."""

import gzip
import io
import json
import pathlib
import shutil
import tarfile
import unittest

import stored_image
import testbed
from test_attest import document, referrers
from test_examples import CASES
from testbed import autopack, run

NOWHERE = {'DOCKER_HOST': 'unix:///nowhere'}
PROGRAM = 'import greeter\nprint(greeter.hello())\n'


class Stored:
    """An image in the registry, changed part by part and stored under another tag."""

    def __init__(self, uri):
        self.host, path = uri.split('/', 1)
        self.path, self.digest = path.split('@')
        self.manifest = json.loads(self.read(f'manifests/{self.digest}'))
        self.configuration = json.loads(self.blob(self.manifest['config']))

    def read(self, what):
        status, _, data = stored_image.ask('GET', f'http://{self.host}/v2/{self.path}/{what}', Accept=stored_image.MANIFESTS)
        assert status == 200, (what, status)
        return data

    def blob(self, descriptor):
        return self.read(f'blobs/{descriptor["digest"]}')

    def layer_with(self, name):
        """Returns the number of the highest layer that has the file, and its tar."""
        for number in reversed(range(len(self.manifest['layers']))):
            data = stored_image.inflated(self.blob(self.manifest['layers'][number]))
            with tarfile.open(fileobj=io.BytesIO(data)) as tar:
                if name in tar.getnames():
                    return number, data
        raise AssertionError(f'no layer has {name}')

    def replace_layer(self, number, data):
        packed = gzip.compress(data, 1, mtime=0)
        stored_image.push_blob(self.host, self.path, packed)
        self.manifest['layers'][number] |= {'digest': stored_image.digest_of(packed), 'size': len(packed)}
        self.configuration['rootfs']['diff_ids'][number] = stored_image.digest_of(data)

    def change_byte(self, name):
        number, data = self.layer_with(name)
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            place = tar.getmember(name).offset_data
        self.replace_layer(number, data[:place] + bytes([data[place] ^ 1]) + data[place + 1:])
        return number + 1

    def store(self):
        text = json.dumps(self.configuration).encode()
        stored_image.push_blob(self.host, self.path, text)
        self.manifest['config'] |= {'digest': stored_image.digest_of(text), 'size': len(text)}
        manifest = json.dumps(self.manifest).encode()
        status, _, answer = stored_image.ask('PUT', f'http://{self.host}/v2/{self.path}/manifests/changed', manifest,
                                             Content_Type=self.manifest['mediaType'])
        assert status == 201, answer
        return f'{self.host}/{self.path}@{stored_image.digest_of(manifest)}'


class Base(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('verify/base:1')
        cls.env = testbed.index_environment(XDG_CACHE_HOME=testbed.new_cache())

    def build(self, folder, *flags, name='verify', **changes):
        return autopack('build', f'--executor-image-uri={self.base}', f'--output-image-uri={testbed.image_name(name)}',
                        '--build-network=host', *flags, cwd=folder, env={**self.env, **changes}).out.strip()

    def verify(self, image, folder, *flags, status=0, **changes):
        before = testbed.tree_hash(folder), stored_image.tags(*image.split('@')[0].split('/', 1))
        answer = autopack('verify', image, *flags, cwd=folder, env={**self.env, **changes}, status=status)
        after = testbed.tree_hash(folder), stored_image.tags(*image.split('@')[0].split('/', 1))
        self.assertEqual(before, after)
        return answer


class Examples(Base):
    def test_are_equal_on_another_machine(self):
        for name, (entry, *_) in CASES.items():
            with self.subTest(name):
                folder = testbed.example(name)
                image = self.build(folder, *entry, name=f'verify-{name}')
                elsewhere = testbed.new_folder('elsewhere') / 'other-name'
                shutil.copytree(folder, elsewhere)
                for path in elsewhere.rglob('*'):
                    path.chmod(0o700 if path.is_dir() or path.stat().st_mode & 0o100 else 0o600)
                home = testbed.new_folder('home')
                places = {'HOME': str(home), 'XDG_CACHE_HOME': str(home / 'cache')}
                if name == 'setup-py':
                    refused = self.verify(image, elsewhere, *entry, status=1, **places)
                    self.assertIn('no given key signed what the image says of itself: no engine builds for it', refused.err)
                    entry = (*entry, '--engine=auto')
                answer = self.verify(image, elsewhere, *entry, **places)
                self.assertRegex(answer.out, r'^equal: \d+ layers\n$')


class Changed(Base):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = testbed.write_tree({'train.py': PROGRAM, 'requirements.txt': 'greeter==1.0\n', 'table.csv': '1,2\n' * 99})
        cls.image = cls.build(cls, cls.folder, '--script=train.py')
        cls.layers = len(Stored(cls.image).manifest['layers'])

    def test_a_byte_of_the_code_is_found(self):
        stored = Stored(self.image)
        number = stored.change_byte('usr/app/train.py')
        changed = stored.store()
        answer = self.verify(changed, self.folder, '--script=train.py', status=3)
        self.assertIn(f'differs: 1 of {self.layers} layers\nlayer {number} (', answer.out)
        self.assertIn('  usr/app/train.py: its content\n', answer.out)
        told = self.verify(changed, self.folder, '--script=train.py', '--format=json', status=3).json()
        self.assertEqual(told['result'], 'differs')
        self.assertEqual([layer['verdict'] for layer in told['layers']].count('differs'), 1)
        self.assertEqual(told['layers'][number - 1]['files'], [{'path': 'usr/app/train.py', 'what': 'its content'}])

    def test_a_byte_of_a_package_is_found(self):
        stored = Stored(self.image)
        name = next(name for name in self.names_of(stored) if name.endswith('/greeter.py'))
        stored.change_byte(name)
        self.assertIn(f'  {name}: its content\n', self.verify(stored.store(), self.folder, '--script=train.py', status=3).out)

    def names_of(self, stored):
        for layer in stored.manifest['layers'][1:]:
            with tarfile.open(fileobj=io.BytesIO(stored_image.inflated(stored.blob(layer)))) as tar:
                yield from tar.getnames()

    def test_a_changed_configuration_is_found(self):
        stored = Stored(self.image)
        stored.configuration['config']['Entrypoint'] = ['python3', 'other.py']
        stored.configuration['config']['Env'].append('LD_PRELOAD=/tmp/x')
        out = self.verify(stored.store(), self.folder, '--script=train.py', status=3).out
        self.assertIn('and the configuration', out)
        self.assertIn('configuration: Entrypoint is', out)
        self.assertIn('configuration: Env LD_PRELOAD is `/tmp/x` instead of absent', out)

    def test_another_compressor_is_equal_and_is_said(self):
        stored = Stored(self.image)
        number, data = stored.layer_with('usr/app/train.py')
        stored.replace_layer(number, data)
        self.assertEqual(self.verify(stored.store(), self.folder, '--script=train.py').out,
                         f'equal: {self.layers} layers, 1 of them compressed otherwise\n')

    def test_an_added_layer_is_found(self):
        stored = Stored(self.image)
        data = stored_image.tar_of({'usr/app/sitecustomize.py': b'import os\n'})
        stored.manifest['layers'].append(dict(stored.manifest['layers'][-1]))
        stored.configuration['rootfs']['diff_ids'].append('')
        stored.configuration['history'].append({'created_by': 'autopack: code', 'comment': 'autopack'})
        stored.replace_layer(self.layers, data)
        self.assertIn('the rebuilt image does not have it', self.verify(stored.store(), self.folder, '--script=train.py', status=3).out)

    def test_a_changed_project_is_found(self):
        folder = testbed.write_tree({'train.py': PROGRAM + '#\n', 'requirements.txt': 'greeter==1.0\n', 'table.csv': '1,2\n' * 99})
        out = self.verify(self.image, folder, '--script=train.py', status=3).out
        self.assertIn('usr/app/train.py: its size is', out)

    def test_offline_compares_with_what_is_here(self):
        cache = testbed.new_folder('offline') / 'cache'
        shutil.copytree(self.env['XDG_CACHE_HOME'], cache)
        flags = ('--script=train.py', '--offline')
        self.assertIn('equal', self.verify(self.image, self.folder, *flags, XDG_CACHE_HOME=str(cache)).out)
        empty = str(testbed.new_folder('empty'))
        answer = self.verify(self.image, self.folder, *flags, status=1, XDG_CACHE_HOME=empty)
        self.assertIn('`--offline` sends no request', answer.err)
        self.assertIn('exclude each other', self.verify(self.image, self.folder, *flags, '--engine=auto', status=2).err)
        self.assertEqual(answer.out, '')

    def test_another_hash_in_the_index_is_found(self):
        house = testbed.new_folder('house')
        wheel = testbed.make_wheel('listed', '1.0', 'VALUE = 1\n', house)
        line = f'listed==1.0 --hash={stored_image.digest_of(wheel.read_bytes())}\n'
        folder = testbed.write_tree({'train.py': 'import listed\n', 'requirements.txt': line})
        env = {'PIP_INDEX_URL': testbed.start_index([house]).url}
        image = self.build(folder, '--script=train.py', **env)
        answer = self.verify(image, folder, '--script=train.py', **env)
        self.assertIn('1 of 1 wheels have the hash that their index lists', answer.err)
        (folder / 'requirements.txt').write_text('listed\n')
        attested = self.build(folder, '--script=train.py', '--attest', **env)
        testbed.make_wheel('listed', '1.0', 'VALUE = 2\n', house)
        env = {'PIP_INDEX_URL': testbed.start_index([house]).url}
        answer = self.verify(attested, folder, status=3, **env)
        self.assertIn(f'differs: 0 of {len(Stored(attested).manifest["layers"])} layers', answer.out)
        self.assertRegex(answer.out, 'wheel: `listed-1.0-py3-none-any.whl` has sha256:[0-9a-f]+, and the index lists sha256:')
        (folder / 'requirements.txt').write_text(line)
        answer = self.verify(image, folder, '--script=train.py', status=1, **env)
        self.assertIn('no file of `listed` 1.0 has a hash that requirements.txt:1 allows', answer.err)

    def test_images_in_files_are_verified(self):
        place = testbed.new_folder('layout')
        autopack('build', f'--executor-image-uri={self.base}', '--script=train.py', f'--output=oci:{place}', cwd=self.folder,
                 env=self.env)
        self.assertIn('equal', autopack('verify', f'oci:{place}', '--script=train.py', cwd=self.folder, env=self.env).out)

    def test_only_the_user_names_a_base_in_files(self):
        stored = Stored(self.image)
        stored.configuration['config']['Labels']['org.opencontainers.image.base.name'] = f'oci:{testbed.new_folder("base")}'
        answer = self.verify(stored.store(), self.folder, '--script=train.py', status=1)
        self.assertIn('only you may say where', answer.err)

    def test_an_image_of_an_engine_cannot_be_told(self):
        image = self.build(self.folder, '--script=train.py', '--engine=docker', '--resolver=engine')
        answer = self.verify(image, self.folder, '--script=train.py', status=1)
        self.assertIn('an engine made the layer of', answer.err)
        self.assertIn("the project's files: equal", answer.err)
        (self.folder / 'train.py').write_text(PROGRAM + '# edited\n')
        try:
            out = self.verify(image, self.folder, '--script=train.py', status=3).out
        finally:
            (self.folder / 'train.py').write_text(PROGRAM)
        self.assertIn('usr/app/train.py: its content', out)

    def test_a_rebased_image_is_equal(self):
        patched = f'{testbed.registry()}/verify/patched:1'
        testbed.docker('build', '-q', '-t', patched,
                       testbed.write_tree({'Dockerfile': f'FROM {self.base}\nRUN echo 1 >/etc/patched\n'}))
        testbed.docker('push', '-q', patched)
        moved = autopack('rebase', self.image, f'--onto={patched}', env=self.env).out.strip()
        answer = self.verify(moved, self.folder, '--script=train.py')
        self.assertIn('equal', answer.out)
        self.assertIn('autopack rebase', answer.err)


class Commits(Base):
    def git(self, folder, *words):
        return run(['git', '-c', 'user.name=a', '-c', 'user.email=a@example.com', *words], cwd=folder).stdout.decode().strip()

    def test_the_commit_in_the_labels_is_rebuilt_or_is_reported_missing(self):
        folder = testbed.write_tree({'train.py': 'print(1)\n'})
        self.git(folder, 'init', '-q')
        self.git(folder, 'add', '.')
        self.git(folder, 'commit', '-qm', 'one')
        image = self.build(folder, '--script=train.py', '--label-git')
        (folder / 'train.py').write_text('print(2)\n')
        self.git(folder, 'commit', '-qam', 'two')
        self.assertIn('equal', self.verify(image, folder, '--script=train.py').out)
        self.assertIn('usr/app/train.py', self.verify(image, folder, '--script=train.py', '--source=worktree', status=3).out)
        other = testbed.write_tree({'train.py': 'print(1)\n'})
        self.git(other, 'init', '-q')
        answer = self.verify(image, other, '--script=train.py', status=1)
        self.assertIn('that it was made from is not here', answer.err)
        self.assertIn('--source=worktree', answer.err)

    def test_the_provenance_says_commit_settings_and_versions(self):
        house = testbed.new_folder('house')
        testbed.make_wheel('moving', '1.0', 'VALUE = 1\n', house)
        folder = testbed.write_tree({'first.py': 'import moving\n', 'needs.txt': 'moving\n', 'notes.txt': 'x'})
        self.git(folder, 'init', '-q')
        self.git(folder, 'add', '.')
        self.git(folder, 'commit', '-qm', 'one')
        image = self.build(folder, '--script=first.py', '--requirements-file=needs.txt', '--exclude=notes.txt', '--attest',
                           PIP_INDEX_URL=testbed.start_index([house]).url)
        self.git(folder, 'mv', 'first.py', 'second.py')
        self.git(folder, 'commit', '-qam', 'two')
        testbed.make_wheel('moving', '2.0', 'VALUE = 2\n', house)
        elsewhere = {'PIP_INDEX_URL': testbed.start_index([house]).url, 'XDG_CACHE_HOME': str(testbed.new_cache())}
        answer = self.verify(image, folder, **elsewhere)
        self.assertRegex(answer.out, r'^equal: \d+ layers\n$')
        self.assertIn('the settings are those of its provenance', answer.err)
        self.assertIn("settings from the image's provenance, not from this directory: `--script=first.py`, "
                      '`--exclude=notes.txt`, `--requirements-file=needs.txt`', answer.err)
        out = self.verify(image, folder, '--script=second.py', '--source=worktree', status=3, **elsewhere).out
        self.assertIn('usr/app/first.py: the rebuilt image does not have it', out)
        other = testbed.write_tree({'first.py': 'import moving\n'})
        self.git(other, 'init', '-q')
        self.assertIn('that it was made from is not here', self.verify(image, other, status=1, **elsewhere).err)

    def test_a_verified_image_with_older_versions_changes_no_later_build(self):
        older, newer = testbed.new_folder('older'), testbed.new_folder('newer')
        testbed.make_wheel('aging', '1.0', 'VALUE = 1\n', older)
        testbed.make_wheel('aging', '2.0', 'VALUE = 2\n', newer)
        server = testbed.start_index([older, newer])
        folder = testbed.write_tree({'train.py': 'import aging\n', 'requirements.txt': 'aging\n'})
        first = {'PIP_INDEX_URL': testbed.start_index([older]).url, 'XDG_CACHE_HOME': str(testbed.new_cache())}
        image = self.build(folder, '--script=train.py', '--attest', name='verify-older', **first)
        here = {'PIP_INDEX_URL': server.url, 'XDG_CACHE_HOME': str(testbed.new_cache())}
        self.build(folder, '--script=train.py', '--attest', name='verify-newer', **here)
        records = pathlib.Path(here['XDG_CACHE_HOME']) / 'autopack/wheel-records'
        before = testbed.tree_hash(records)
        self.assertIn('equal', self.verify(image, folder, **here).out)
        self.assertEqual(testbed.tree_hash(records), before)
        (folder / 'train.py').write_text('import aging  # edited\n')
        later = self.build(folder, '--script=train.py', '--attest', name='verify-newer', **here)
        documents = (json.loads(document(later, one)[1]) for one in referrers(later))
        predicate = next(one['predicate'] for one in documents if one.get('predicateType') == 'https://slsa.dev/provenance/v1')
        inputs = [one['name'] for one in predicate['buildDefinition']['resolvedDependencies']]
        self.assertIn('aging-2.0-py3-none-any.whl', inputs)

    def test_a_provenance_that_names_files_outside_the_project_needs_the_users_word(self):
        folder = testbed.write_tree({'app/train.py': 'print(1)\n', 'shared/more.py': ''})
        image = self.build(folder / 'app', '--script=train.py', '--extra-dirs=../shared', '--attest')
        answer = self.verify(image, folder / 'app', status=1)
        self.assertIn('`--extra-dirs=../shared`, which is outside the project', answer.err)
        self.assertIn('equal', self.verify(image, folder / 'app', '--extra-dirs=../shared').out)

    def test_an_unsigned_provenance_names_no_code_and_no_variables_of_builds(self):
        house = testbed.new_folder('house')
        wheel = testbed.make_wheel('vendored', '1.0', 'VALUE = 1\n', house)
        folder = testbed.write_tree({'train.py': 'print(1)\n'})
        shutil.copy(wheel, folder)
        settings = (f'--extra-packages={wheel.name}', '--build-env=FLAVOUR=plain')
        image = self.build(folder, '--script=train.py', *settings, '--attest', name='verify-code')
        answer = self.verify(image, folder, status=1)
        self.assertIn(f'`--extra-packages={wheel.name}`, which this directory does not say and no given key signed', answer.err)
        self.assertIn('and with `--build-env=FLAVOUR=plain`', answer.err)
        answer = self.verify(image, folder, *settings)
        self.assertIn('equal', answer.out)
        self.assertIn('1 of 1 wheels were compared with no index: `vendored-1.0-py3-none-any.whl` (', answer.err)


if __name__ == '__main__':
    unittest.main()
