"""`autopack rebase`: an image gets another base by manifests alone, or is refused with every reason."""

import json
import shutil
import unittest

import bases
import stored_image
import testbed
from testbed import autopack, docker

PROGRAM = '''import json, os, pathlib, numpy, greeter
print(json.dumps([greeter.hello(), numpy.__version__, os.environ.get("GREETING"), os.getuid(), os.getcwd(),
                  pathlib.Path("/etc/patched").exists()]))
'''
LIBC = "RUN cd /lib/*-linux-gnu*/ && sed -i 's/release version 2[.][0-9][0-9]/release version {}/' libc.so.6"
NOWHERE = {'DOCKER_HOST': 'unix:///nowhere'}


class Rebase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('rebase/base:1')
        cls.numpy, cls.python = testbed.run_image(
            cls.base, 'python3', '-c', 'import numpy, sys; print(numpy.__version__, "%d.%d.%d" % sys.version_info[:3])').split()
        cls.env = testbed.index_environment(XDG_CACHE_HOME=testbed.new_cache())
        cls.project = testbed.write_tree({'train.py': PROGRAM, 'requirements.txt': f'greeter==1.0\nnumpy=={cls.numpy}\n'})
        cls.name = testbed.image_name('rebase')
        cls.image = cls.build(cls.name)

    @classmethod
    def build(cls, name, *flags, folder=None):
        return autopack('build', '--executor-image-uri', cls.base, '--script=train.py', f'--output-image-uri={name}',
                        '--build-network=host', *flags, cwd=folder or cls.project, env=cls.env).out.strip()

    def rebase(self, image, base, *flags, status=0, **changes):
        return autopack('rebase', image, f'--onto={base}', *flags, env={**self.env, **NOWHERE, **changes}, status=status)

    def variant(self, name, steps):
        """Pushes a base that is made by `steps` on the executor image."""
        name = f'{testbed.registry()}/rebase/{name}'
        docker('build', '--quiet', '--tag', name, testbed.write_tree({'Dockerfile': f'FROM {self.base}\n{steps}\n'}))
        docker('push', '-q', name)
        return name

    def said_by(self, image):
        docker('pull', '-q', image)
        return json.loads(testbed.run_image(image))

    def refused(self, base, *reasons, image=None):
        answer = self.rebase(image or self.image, base, '--format=json', status=1)
        error = answer.json()['error']
        self.assertIn('has to be built again', error['message'])
        self.assertIn('autopack build --executor-image-uri=', error['hints'][0])
        for reason in reasons:
            self.assertTrue(any(reason in cause for cause in error['causes']), answer)
        return error['causes']

    def test_a_patched_base_is_below_the_same_layers(self):
        patched = self.variant('patched:1', 'RUN echo 1 >/etc/patched')
        before = stored_image.tags(*self.name.split('/', 1))
        answer = self.rebase(self.image, patched, '--format=json').json()
        self.assertEqual(answer['uri'], f'{self.name}@{answer["digest"]}')
        self.assertEqual(stored_image.tags(*self.name.split('/', 1)), before)
        self.assertEqual(self.said_by(answer['uri']), ['hello one', self.numpy, None, 0, '/usr/app', True])
        self.assertLess(answer['bytes_uploaded'], 100_000)
        self.assertEqual(stored_image.whole_image(*self.name.split('/', 1), answer['digest']), answer['digest'])
        old, new = testbed.layers(self.pulled(self.image)), testbed.layers(answer['uri'])
        own = len(old) - len(testbed.layers(self.base))
        self.assertEqual(new[-own:], old[-own:])
        labels = testbed.configuration(answer['uri'])['Config']['Labels']
        self.assertEqual(labels['org.opencontainers.image.base.name'], patched)
        self.assertEqual(labels['org.opencontainers.image.base.digest'], answer['base']['after']['digest'])
        self.assertEqual(labels['autopack.rebased-from'], self.image.split('@')[1])
        self.assertNotIn('autopack.key', labels)
        self.assertNotIn('autopack.dependency-key', labels)

    def pulled(self, image):
        docker('pull', '-q', image)
        return image

    def test_settings_of_the_new_base_carry_over(self):
        other = self.variant('settings:1', 'ENV GREETING=hello PATH=/opt/more:$PATH\nLABEL vendor=v2\n'
                             'ENTRYPOINT ["/bin/false"]\nWORKDIR /elsewhere')
        moved = self.rebase(self.image, other).out.strip()
        self.assertEqual(self.said_by(moved), ['hello one', self.numpy, 'hello', 0, '/usr/app', False])
        config = testbed.configuration(moved)['Config']
        self.assertIn('vendor', config['Labels'])
        self.assertTrue(any(line.startswith('PATH=/opt/more:') for line in config['Env']))
        self.assertIn('HOME=/home', config['Env'])

    def test_a_newer_c_library_and_other_layers_fit(self):
        newer = self.variant('newer-libc:1', LIBC.format('2.99'))
        self.assertEqual(self.said_by(self.rebase(self.image, newer).out.strip())[0], 'hello one')
        container = docker('create', newer, 'none')
        flat = f'{testbed.registry()}/rebase/flat:1'
        archive = testbed.new_folder('flat') / 'flat.tar'
        docker('export', '-o', archive, container)
        docker('rm', container)
        docker('import', '--change', f'ENV PATH={bases.PATH}', archive, flat)
        docker('push', '-q', flat)
        again = self.rebase(self.rebase(self.image, newer).out.strip(), flat).out.strip()
        self.assertEqual(self.said_by(again)[0], 'hello one')

    def test_a_tag_moves_only_if_it_is_named(self):
        patched = self.variant('tagged:1', 'RUN echo 2 >/etc/patched')
        other = testbed.image_name('rebase-tagged')
        digest = self.rebase(self.image, patched, f'--tag={other}:v2', '--format=json').json()['digest']
        self.assertEqual(stored_image.whole_image(*other.split('/', 1), 'v2'), digest)
        self.assertEqual(stored_image.tags(*other.split('/', 1)), ['v2'])
        dry = testbed.image_name('rebase-dry')
        answer = self.rebase(self.image, patched, '-t', f'{dry}:v1', '--dry-run', '--format=json').json()
        self.assertEqual((answer['digest'], answer['bytes_uploaded']), (digest, 0))
        self.assertEqual(stored_image.tags(*dry.split('/', 1)), [])

    def test_the_same_base_changes_nothing(self):
        answer = self.rebase(self.image, self.base)
        self.assertEqual(answer.out.strip(), self.image)
        self.assertIn('already', answer.err)

    def test_a_copy_on_the_same_base_is_printed_by_its_own_digest(self):
        host, path = self.name.split('/', 1)
        text = stored_image.ask('GET', f'http://{host}/v2/{path}/manifests/{self.image.split("@")[1]}',
                                Accept=stored_image.MANIFESTS)[2]
        manifest = json.loads(text)
        index = {'schemaVersion': 2, 'mediaType': 'application/vnd.oci.image.index.v1+json', 'manifests': [
            {'mediaType': manifest['mediaType'], 'digest': stored_image.digest_of(text), 'size': len(text),
             'platform': {'os': 'linux', 'architecture': 'amd64'}}]}
        for tag, document in (('pretty', manifest), ('index', index)):
            with self.subTest(tag=tag):
                stored_image.ask('PUT', f'http://{host}/v2/{path}/manifests/{tag}', json.dumps(document, indent=3).encode(),
                                 Content_Type=document['mediaType'])
                other = testbed.image_name(f'rebase-{tag}')
                for target in (f'{self.name}:copy-of-{tag}', f'{other}:v1'):
                    place, name = target.rpartition(':')[::2]
                    answer = self.rebase(f'{self.name}:{tag}', self.base, f'--tag={target}', '--format=json').json()
                    self.assertTrue(answer['same_base'])
                    self.assertEqual(answer['uri'], f'{place}@{answer["digest"]}')
                    self.assertEqual(stored_image.whole_image(*place.split('/', 1), name), answer['digest'])
                layout = testbed.new_folder('copy') / 'layout'
                digest = self.rebase(f'{self.name}:{tag}', self.base, f'--output=oci:{layout}').out.strip()
                entry, = json.loads((layout / 'index.json').read_text())['manifests']
                self.assertEqual(entry['digest'], digest)

    def test_images_and_bases_in_files_are_moved(self):
        folder = testbed.new_folder('layouts')
        patched = self.variant('files:1', 'RUN echo 3 >/etc/patched')
        saved = folder / 'base.tar'
        docker('save', '-o', saved, patched)
        autopack('build', '--executor-image-uri', self.base, '--script=train.py', f'--output=oci:{folder}/image:v1',
                 cwd=self.project, env=self.env)
        answer = self.rebase(f'oci:{folder}/image:v1', f'tar:{saved}', f'--output=tar:{folder}/moved.tar', '--format=json')
        docker('load', '-i', folder / 'moved.tar')
        self.assertEqual(self.rebase(f'oci:{folder}/image:v1', f'tar:{saved}', '--output=oci:' + str(folder / 'new')).out.strip(),
                         answer.json()['digest'])
        moved = self.rebase(f'oci:{folder}/new', patched, f'--current-base=tar:{saved}', f'--tag={self.name}').out.strip()
        self.assertEqual(self.said_by(moved)[0], 'hello one')
        self.rebase(f'oci:{folder}/new', patched, f'--tag={self.name}', status=1)

    def test_a_rebased_image_is_not_reused_by_a_build(self):
        patched = self.variant('reused:1', 'RUN echo 4 >/etc/patched')
        name = testbed.image_name('rebase-reused')
        moved = self.rebase(self.build(name), patched, f'--tag={name}:mine').out.strip()
        built = autopack('build', '--executor-image-uri', patched, '--script=train.py', f'--output-image-uri={name}:mine',
                         cwd=self.project, env=self.env).out.strip()
        self.assertNotEqual(moved, built)
        docker('pull', '-q', f'{name}:mine')
        self.assertIn('autopack.key', testbed.configuration(f'{name}:mine')['Config']['Labels'])
        self.assertEqual(testbed.layers(f'{name}:mine'), testbed.layers(self.pulled(moved)))

    def test_another_python_is_refused(self):
        older = self.python.rpartition('.')[0] + '.0'
        base = self.variant('older-python:1', f"RUN cd /usr/bin && sed -i 's/{self.python}/{older}/g' $(readlink -f python3)")
        self.assertEqual(len(self.refused(base, f'the version of Python is `{older}` instead of `{self.python}`')), 1)

    def test_other_paths_are_refused_with_every_reason(self):
        base = f'{testbed.registry()}/rebase/official:1'
        docker('tag', bases.base('official'), base)
        docker('push', '-q', base)
        self.refused(base, 'the interpreter is `/usr/local/bin/python3` instead of `/usr/bin/python3`',
                     'the directory of packages is', 'the search path of Python is')

    def test_another_user_is_refused(self):
        self.assertEqual(self.refused(self.variant('user:1', 'USER 1000'), 'the user is'), ['the user is `1000` instead of `root`'])

    def test_an_older_c_library_is_refused(self):
        self.assertEqual(len(self.refused(self.variant('older-libc:1', LIBC.format('2.17')), 'the C library is `glibc 2.17`')), 1)

    def test_a_missing_package_is_refused_and_one_of_another_version(self):
        packages = '/usr/lib/python3/dist-packages'
        gone = self.variant('gone:1', f'RUN rm -r {packages}/numpy*')
        self.assertEqual(len(self.refused(gone, 'the package `numpy` of')), 1)
        other = self.variant('other:1', f"RUN sed -i 's/^Version: .*/Version: 0.9/' {packages}/numpy-*/METADATA "
                             f'{packages}/numpy-*/PKG-INFO || true')
        self.refused(other, f'the package `numpy` of `{packages}` is `0.9` instead of `{self.numpy}`')

    def test_a_package_of_the_base_that_nothing_counts_on_may_change(self):
        labels = testbed.configuration(self.pulled(self.image))['Config']['Labels']
        self.assertEqual(labels['autopack.base-packages'], f'numpy=={self.numpy}')
        packages = '/usr/lib/python3/dist-packages'
        other = self.variant('pip:1', f"RUN sed -i 's/^Version: .*/Version: 99.0/' {packages}/pip-*/METADATA")
        self.assertEqual(self.said_by(self.rebase(self.image, other).out.strip())[0], 'hello one')

    def test_packages_compiled_on_the_old_base_are_refused(self):
        house = testbed.new_folder('compiled')
        testbed.make_sdist(testbed.write_tree({
            'setup.py': 'from setuptools import setup, Distribution\n'
                        'class Compiled(Distribution):\n    def has_ext_modules(self):\n        return True\n'
                        'setup(name="compiled", version="1.0", py_modules=["compiled"], distclass=Compiled)\n',
            'compiled.py': ''}), house)
        index = testbed.start_index([house])
        folder = testbed.write_tree({'train.py': 'import compiled\n', 'requirements.txt': 'compiled==1.0\n'})
        image = autopack('build', '--executor-image-uri', self.base, '--script=train.py', '--build-network=host',
                         f'--output-image-uri={testbed.image_name("rebase-compiled")}', cwd=folder,
                         env={**self.env, 'PIP_INDEX_URL': index.url}).out.strip()
        patched = self.variant('compiled:1', 'RUN echo 6 >/etc/patched')
        self.refused(patched, 'packages were compiled on the old base: compiled', image=image)

    def test_another_platform_is_refused(self):
        self.refused(self.for_arm(), 'the platform is `linux/arm64` instead of `linux/amd64`')

    def for_arm(self):
        """Pushes the executor image with another architecture in its configuration."""
        host, path = f'{testbed.registry()}/rebase/base'.split('/', 1)

        def read(what):
            return stored_image.ask('GET', f'http://{host}/v2/{path}/{what}', Accept=stored_image.MANIFESTS)[2]
        manifest = json.loads(read('manifests/1'))
        configuration = json.loads(read(f'blobs/{manifest["config"]["digest"]}')) | {'architecture': 'arm64'}
        text = json.dumps(configuration).encode()
        stored_image.push_blob(host, path, text)
        manifest['config'] |= {'digest': stored_image.digest_of(text), 'size': len(text)}
        stored_image.ask('PUT', f'http://{host}/v2/{path}/manifests/arm', json.dumps(manifest).encode(),
                         Content_Type=manifest['mediaType'])
        return f'{host}/{path}:arm'

    def test_layers_that_an_engine_ran_are_refused(self):
        image = self.build(testbed.image_name('rebase-run'), '--engine=docker', '--resolver=engine')
        patched = self.variant('run:1', 'RUN echo 5 >/etc/patched')
        causes = self.refused(patched, 'ran on the files of the old base', image=image)
        self.assertTrue(any('RUN ' in cause for cause in causes), causes)

    def test_an_image_of_others_and_a_missing_base_are_reported(self):
        answer = self.rebase(self.base, self.base, status=1)
        self.assertIn('does not say on which base', answer.err)
        folder = testbed.new_folder('lost')
        shutil.copy(self.project / 'train.py', folder / 'train.py')
        lost = f'{testbed.registry()}/rebase/lost'
        digest = stored_image.push_image(*lost.split('/', 1), '1', [stored_image.tar_of({'usr/bin/python3': b'#!/bin/sh\n'})])
        image = autopack('build', f'--executor-image-uri={lost}:1', '--script=train.py', '--engine=direct',
                         f'--output-image-uri={self.name}', cwd=folder, env=self.env).out.strip()
        host, path = lost.split('/', 1)
        self.assertEqual(stored_image.ask('DELETE', f'http://{host}/v2/{path}/manifests/{digest}')[0], 202)
        answer = self.rebase(image, self.base, status=1, XDG_CACHE_HOME=str(testbed.new_folder('cache')))
        self.assertIn('cannot be read', answer.err)
        self.assertIn('--current-base', answer.err)


if __name__ == '__main__':
    unittest.main()
