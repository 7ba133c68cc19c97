"""One build for several platforms: an image index in a real registry, where each image equals a build of its platform
alone."""

import json
import signal
import unittest

import testbed
from fault_proxy import FaultProxy
from stored_image import OCI, ask, push_image, tar_of
from testbed import autopack

INDEX = OCI + 'index.v1+json'
NO_ENGINE = {'DOCKER_HOST': 'unix:///nowhere/docker.sock'}
PLATFORMS = ('linux/amd64', 'linux/arm64')
FILES = {'usr/bin/python3': b'#!/bin/sh\n', 'usr/lib/python3/dist-packages/pip/__init__.py': b''}


class Platforms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.address = testbed.registry()
        entries = []
        for platform in PLATFORMS:
            system, architecture = platform.split('/')
            digest = push_image(cls.address, 'platforms/base', architecture,
                                [tar_of(FILES | {'etc/architecture': architecture.encode()})], {'architecture': architecture})
            status, headers, text = ask('GET', f'http://{cls.address}/v2/platforms/base/manifests/{digest}',
                                        Accept=OCI + 'manifest.v1+json')
            entries.append({'mediaType': OCI + 'manifest.v1+json', 'digest': digest, 'size': len(text),
                            'platform': {'os': system, 'architecture': architecture}})
        index = json.dumps({'schemaVersion': 2, 'mediaType': INDEX, 'manifests': entries}).encode()
        status, _, text = ask('PUT', f'http://{cls.address}/v2/platforms/base/manifests/1', index, Content_Type=INDEX)
        assert status == 201, text

    def setUp(self):
        self.folder = testbed.write_tree({'train.py': 'print("one")\n'})
        self.name = f'{testbed.image_name("platforms")}'

    def build(self, *flags, status=0, name=None, **variables):
        return autopack('build', f'--executor-image-uri={self.address}/platforms/base:1', '--script=train.py',
                        f'--output-image-uri={name or self.name + ":v1"}', '--format=json', *flags, cwd=self.folder, status=status,
                        env=testbed.environment(**(NO_ENGINE | variables)))

    def inspected(self, name, platform=None):
        """Returns skopeo's description of the image `name`; for an index, of the image for `platform`."""
        override = [f'--override-arch={platform.split("/")[1]}'] if platform else []
        return json.loads(testbed.run(['skopeo', *override, 'inspect', '--tls-verify=false', f'docker://{name}']).stdout)

    def raw(self, name):
        return json.loads(testbed.run(['skopeo', 'inspect', '--raw', '--tls-verify=false', f'docker://{name}']).stdout)

    def test_an_index_names_what_each_platform_alone_gives(self):
        alone = {platform: self.build(f'--platform={platform}', name=self.name + '-alone').json() for platform in PLATFORMS}
        built = self.build('--platform=linux/amd64', '--platform=linux/arm64').json()
        index = self.raw(self.name + ':v1')
        self.assertEqual(index['mediaType'], INDEX)
        self.assertEqual(built['uri'], f'{self.name}@{built["digest"]}')
        self.assertEqual(self.raw(built['uri']), index)
        self.assertEqual(self.raw(f'{self.name}:{built["tag"]}'), index)
        self.assertEqual([entry['digest'] for entry in index['manifests']], [alone[one]['digest'] for one in PLATFORMS])
        self.assertEqual({one: image['digest'] for one, image in built['platforms'].items()},
                         {one: alone[one]['digest'] for one in PLATFORMS})
        for platform in PLATFORMS:
            found = self.inspected(self.name + ':v1', platform)
            self.assertEqual(f'{found["Os"]}/{found["Architecture"]}', platform)
        # Again, as a list and in another spelling: nothing is new, and the index is the same.
        again = self.build('--platform=linux/amd64,linux/arm64,linux/amd64').json()
        self.assertEqual(again['digest'], built['digest'])
        self.assertTrue(all(image['reused'] for image in again['platforms'].values()), again)

    def test_an_edit_makes_another_index(self):
        first = self.build('--platform=linux/amd64,linux/arm64').json()
        (self.folder / 'train.py').write_text('print("two")\n')
        answer = self.build('--platform=linux/amd64,linux/arm64')
        self.assertEqual(answer.err.count('rebuilt because train.py changed'), 2, answer.err)
        second = answer.json()
        self.assertNotEqual((first['digest'], first['tag']), (second['digest'], second['tag']))
        self.assertEqual(self.raw(self.name + ':v1'), self.raw(second['uri']))

    def test_what_takes_one_image_is_refused_before_anything_is_sent(self):
        self.assertIn('which the docker engine keeps none of',
                      self.build('--platform=linux/amd64,linux/arm64', '--no-push', status=2).err)
        refused = self.build('--platform=linux/amd64,linux/arm64', '--output=oci:out', '--output=tar:x', '--output=docker', status=2).err
        self.assertIn('an archive for `docker load` holds the image of one platform', refused)
        self.assertIn('the docker engine keeps the image of one platform', refused)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ['train.py'])
        for command in ('run', 'submit'):
            answer = autopack(command, '--platform=linux/amd64', '--platform=linux/arm64', '--executor-image-uri=python:3.11',
                              '--script=train.py', cwd=self.folder, status=None)
            self.assertNotEqual(answer.status, 0)
            self.assertIn('this command makes one image', answer.err)

    def test_a_layout_holds_the_index_and_its_images(self):
        place = testbed.new_folder('elsewhere')
        elsewhere = self.build('--platform=linux/amd64,linux/arm64', '--no-push', f'--output=oci:{place}/out').json()
        self.build('--output=oci:out:one')  # stays beside the index
        built = self.build('--platform=linux/amd64,linux/arm64', '--no-push', '--output=oci:out:all', '--output=oci:out').json()
        listed = json.loads((self.folder / 'out/index.json').read_text())['manifests']
        names = {entry.get('annotations', {}).get('org.opencontainers.image.ref.name'): entry for entry in listed}
        self.assertEqual(set(names), {'one', 'all', None})
        self.assertEqual((names['all']['mediaType'], names['all']['digest']), (INDEX, built['digest']))
        self.assertEqual(names[None]['digest'], built['digest'])
        self.assertEqual(built['uri'], built['digest'])
        # A file written into the project is in no image: a build elsewhere is the same.
        again = self.build('--platform=linux/amd64,linux/arm64', '--no-push', '--output=oci:out', '--output=oci:a [x]*').json()
        self.assertTrue((self.folder / 'a [x]*/index.json').is_file())
        self.assertEqual((built['digest'], again['digest']), (elsewhere['digest'],) * 2)
        for platform in PLATFORMS:
            found = json.loads(testbed.run(['skopeo', f'--override-arch={platform.split("/")[1]}', 'inspect',
                                            f'oci:{self.folder}/out:all']).stdout)
            self.assertEqual(f'{found["Os"]}/{found["Architecture"]}', platform)
        # Another program reads all of it, and autopack uses the image of one platform as a base.
        testbed.run(['skopeo', 'copy', '--all', f'oci:{self.folder}/out:all', f'oci:{self.folder}/copy:all'])
        copied, = json.loads((self.folder / 'copy/index.json').read_text())['manifests']
        self.assertEqual(copied['digest'], built['digest'])
        for platform in PLATFORMS:
            said = autopack('explain', '--executor-image-uri=oci:out:all', '--script=train.py', f'--platform={platform}',
                            '--format=json', cwd=self.folder, env=testbed.environment(**NO_ENGINE)).json()
            self.assertEqual(said['platform'], platform)

    def layout_with_one(self):
        """Returns the layout `out` in the project, with an image that stays, and a function that lists its contents."""
        self.build('--output=oci:out:one')

        def held():
            return (self.folder / 'out/index.json').read_text(), sorted(path.name for path in (self.folder / 'out').rglob('*'))
        return held

    def test_a_build_that_fails_midway_leaves_no_part_of_an_index(self):
        base = testbed.new_folder('base') / 'layout'
        self.build('--platform=linux/amd64,linux/arm64', '--no-push', f'--output=oci:{base}:1')
        held = self.layout_with_one()
        before = held()

        def build(output, status=None):
            return autopack('build', f'--executor-image-uri=oci:{base}:1', '--script=train.py', '--no-push', f'--output={output}',
                            '--platform=linux/amd64,linux/arm64', cwd=self.folder, status=status,
                            env=testbed.environment(**NO_ENGINE))

        def stored(digest):
            return base / 'blobs/sha256' / digest.split(':')[1]

        build('oci:first', status=0)  # caches the facts of the base
        # The first layer of the second platform's image is lost.
        entry, = json.loads((base / 'index.json').read_text())['manifests']
        for step in (lambda index: index['manifests'][1], lambda manifest: manifest['layers'][0]):
            entry = step(json.loads(stored(entry['digest']).read_text()))
        stored(entry['digest']).write_bytes(bytes(entry['size']))
        answer = build('oci:out:all')
        self.assertNotEqual(answer.status, 0)
        self.assertIn('for linux/amd64', answer.err)  # was written
        self.assertEqual(held(), before)

    def test_a_signal_midway_leaves_no_part_of_an_index(self):
        held = self.layout_with_one()
        before = held()
        host, port = self.address.split(':')
        with FaultProxy((host, int(port))) as proxy:
            words = ['build', f'--executor-image-uri={proxy.address}/platforms/base:1', '--script=train.py', '--no-push',
                     '--platform=linux/amd64,linux/arm64']
            env = testbed.environment(**NO_ENGINE)
            autopack(*words, '--output=oci:first', cwd=self.folder, env=env)  # caches the facts of the base
            proxy.spoil('GET .*/blobs/', 'stall', times=None)  # the layout has the base's layer for the first platform
            process = testbed.Process(*words, '--output=oci:out:all', cwd=self.folder, env=env)
            self.addCleanup(process.kill)
            testbed.wait_until(lambda: proxy.hits, 60, 'the layer of the second platform to be asked for')
            self.assertNotEqual(held(), before, 'nothing was written before the signal')
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(held(), before)

    def test_a_push_and_a_layout_hold_the_same_index(self):
        built = self.build('--platform=linux/amd64,linux/arm64', '--output=oci:out').json()
        listed, = json.loads((self.folder / 'out/index.json').read_text())['manifests']
        self.assertEqual(listed['digest'], built['digest'])
        self.assertEqual(self.raw(self.name + ':v1')['manifests'],
                         json.loads((self.folder / 'out/blobs/sha256' / listed['digest'].split(':')[1]).read_text())['manifests'])

    def test_explain_tells_each_platform_as_alone(self):
        def explain(*flags):
            return autopack('explain', f'--executor-image-uri={self.address}/platforms/base:1', '--script=train.py',
                            f'--output-image-uri={self.name}:v1', *flags, cwd=self.folder, env=testbed.environment(**NO_ENGINE))

        alone = {platform: explain(f'--platform={platform}', '--format=json').json() for platform in PLATFORMS}
        self.assertEqual(explain('--platform=linux/amd64,linux/arm64', '--format=json').json(), {'platforms': alone})
        text = explain('--platform=linux/amd64', '--platform=linux/arm64').out
        self.assertEqual(text, '\n'.join(explain(f'--platform={platform}').out for platform in PLATFORMS))
        self.assertEqual(explain('--platform=linux/amd64,linux/arm64', '--check').out, '')

    def test_an_engine_for_another_platform_is_refused_before_anything_is_sent(self):
        testbed.engine()
        (self.folder / 'requirements.txt').write_text('numpy\n')
        answer = self.build('--platform=linux/amd64,linux/arm64', status=2, DOCKER_HOST=None)
        self.assertIn('builds no image for `linux/arm64`', answer.err)
        self.assertNotIn('builds no image for `linux/amd64`', answer.err)
        tags = ask('GET', f'http://{self.address}/v2/{self.name.split("/", 1)[1]}/tags/list')
        self.assertEqual(tags[0], 404)


if __name__ == '__main__':
    unittest.main()
