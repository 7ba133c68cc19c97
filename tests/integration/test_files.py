"""Images in files and machines without an engine: bases that are read, layouts and archives."""

import json
import shutil
import unittest

import testbed
from testbed import autopack, docker

NO_DAEMON = {'DOCKER_HOST': 'unix:///nowhere/docker.sock'}
QUICKSTART = testbed.EXAMPLES / 'quickstart.sh'


def without_a_daemon(**variables):
    return testbed.environment(**NO_DAEMON, XDG_CACHE_HOME=testbed.new_folder('cache'), **variables)


def skopeo(*arguments):
    return testbed.run(['skopeo', *arguments]).stdout.decode()


class Base(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('files/base:1')
        cls.layout = testbed.new_folder('layout') / 'base'
        skopeo('copy', '-q', '--src-tls-verify=false', f'docker://{cls.base}', f'oci:{cls.layout}:base')

    @classmethod
    def tearDownClass(cls):
        testbed.remove_images(f'{testbed.registry()}/files')
        testbed.remove_images('autopack/files')
        testbed.remove_images('autopack/base')

    def build(self, base, *flags, env=None, status=0, folder=None):
        return autopack('build', '--executor-image-uri', base, '--script=trainer/task.py', '--display-name=files', *flags,
                        cwd=folder or testbed.example('script'), env=env or without_a_daemon(), status=status)


class Facts(Base):
    def facts(self, base, env):
        text = autopack('dockerfile', '--executor-image-uri', base, '--script=trainer/task.py',
                        cwd=testbed.example('script'), env=env).out
        facts = json.loads(text.split('# autopack-base: ')[1].split('\n')[0])
        return {name: facts[name] for name in facts if name not in ('reference', 'digest')}

    def check(self, base):
        engine = self.facts(base, testbed.environment(XDG_CACHE_HOME=testbed.new_folder('cache')))
        alone = self.facts(base, without_a_daemon())
        if not testbed.loads_parts():
            # The engine identifies images by their manifests there.
            engine['image_id'] = alone['image_id']
        self.assertEqual(engine, alone)
        return alone

    def test_agree_with_the_engines(self):
        facts = self.check(self.base)
        self.assertEqual((facts['python'], facts['pip'], facts['apt']), ('python3', True, True))

    def test_agree_when_layers_take_away(self):
        name = f'{testbed.registry()}/files/changed:1'
        context = testbed.write_tree({'Dockerfile': f'''FROM {testbed.executor()}
RUN rm -r /usr/lib/python3/dist-packages/pip && rm /usr/bin/apt-get
RUN rm -r /usr/local/bin && mkdir /usr/local/bin && ln -s ../../bin/python3 /usr/local/bin/python
ENV CUDA_VERSION=12.1
USER 1000
ENTRYPOINT ["/usr/bin/env"]
'''})
        docker('build', '-q', '-t', name, context)
        docker('push', '-q', name)
        facts = self.check(name)
        self.assertEqual((facts['python'], facts['pip'], facts['apt']), ('python3', False, False))
        self.assertEqual((facts['user'], facts['cuda_version']), ('1000', '12.1'))

    def test_are_the_same_in_files(self):
        archive = testbed.new_folder('archive') / 'base.tar'
        docker('save', '-o', archive, testbed.executor())
        expected = self.facts(self.base, without_a_daemon())
        for base in (f'oci:{self.layout}', f'tar:{archive}'):
            with self.subTest(base):
                facts = self.facts(base, without_a_daemon())
                facts['image_id'] = expected['image_id']  # skopeo rewrites its configuration
                self.assertEqual(facts, expected)


class Outputs(Base):
    def test_need_no_engine_for_files(self):
        place = testbed.new_folder('outputs')
        answer = self.build(f'oci:{self.layout}:base', f'--output=oci:{place}/layout', f'--output=tar:{place}/image.tar')
        layout = json.loads(skopeo('inspect', '--config', f'oci:{place}/layout'))
        self.assertEqual(layout['config']['Entrypoint'], ['python3', 'trainer/task.py'])
        self.assertTrue(answer.out.startswith('sha256:'), answer)
        loaded = docker('load', '-q', '-i', f'{place}/image.tar').split()[-1]
        self.addCleanup(docker, 'rmi', '-f', loaded)
        if testbed.loads_parts():
            self.assertEqual(docker('inspect', '-f', '{{.Id}}', loaded), answer.out.strip())
        self.assertIn('accuracy: 0.9', testbed.run_image(loaded))
        skopeo('copy', '-q', f'oci:{place}/layout', f'oci-archive:{place}/copy.tar')

    @testbed.nightly('the unit tests of image archives')
    def test_a_compressed_base_is_unpacked(self):
        place = testbed.new_folder('outputs')
        skopeo('copy', '-q', f'oci:{self.layout}', f'docker-archive:{place}/base.tar:base:1')
        testbed.run(['gzip', '-1', place / 'base.tar'])
        self.build(f'tar:{place}/base.tar.gz', f'--output=oci:{place}/layout', env=without_a_daemon())
        layout = json.loads(skopeo('inspect', f'oci:{place}/layout'))
        self.assertGreater(len(layout['Layers']), 1)

    def test_take_only_what_changed(self):
        place = testbed.new_folder('outputs')
        folder, env = testbed.example('script'), without_a_daemon()
        self.build(f'oci:{self.layout}', f'--output=oci:{place}/layout', folder=folder, env=env)
        before = {path: path.stat().st_mtime_ns for path in (place / 'layout' / 'blobs').rglob('*') if path.is_file()}
        with open(folder / 'trainer' / 'task.py', 'a', encoding='utf-8') as code:
            code.write('# edited\n')
        self.build(f'oci:{self.layout}', f'--output=oci:{place}/layout', folder=folder, env=env)
        after = {path: path.stat().st_mtime_ns for path in (place / 'layout' / 'blobs').rglob('*') if path.is_file()}
        kept = {path: before[path] for path in before if path in after}
        self.assertEqual(kept, {path: after[path] for path in kept})
        index = json.loads((place / 'layout' / 'index.json').read_text())
        digest = index['manifests'][0]['digest'].removeprefix('sha256:')
        manifest = json.loads((place / 'layout' / 'blobs' / 'sha256' / digest).read_text())
        needed = {blob['digest'].removeprefix('sha256:') for blob in [manifest['config'], *manifest['layers']]}
        self.assertEqual({path.name for path in after}, needed | {digest})
        self.assertLess(sum(path.stat().st_size for path in after if path not in before), 20_000)
        skopeo('inspect', f'oci:{place}/layout')

    def test_go_besides_a_registry(self):
        place = testbed.new_folder('outputs')
        answer = self.build(self.base, f'--output=oci:{place}/layout:v1', '--engine=direct', '--format=json',
                            '--output-image-uri', f'{testbed.registry()}/files/both:v1').json()
        theirs = json.loads(skopeo('inspect', '--tls-verify=false', f'docker://{answer["uri"]}'))
        ours = json.loads(skopeo('inspect', f'oci:{place}/layout:v1'))
        self.assertEqual(ours['Layers'], theirs['Layers'])

    def test_reach_the_daemon(self):
        env = testbed.environment()
        folder = testbed.example('script')
        for base in (self.base, f'oci:{self.layout}'):
            with self.subTest(base):
                answer = self.build(base, '--output=docker', '--format=json', folder=folder, env=env).json()
                self.assertEqual(answer['engine'], 'direct')
                self.assertIn('accuracy: 0.9', testbed.run_image(answer['digest']))

    def test_are_taken_out_of_the_engine(self):
        place = testbed.new_folder('outputs')
        folder = testbed.example('script')
        answer = self.build(testbed.executor(), f'--output=oci:{place}/layout', '--format=json', folder=folder,
                            env=testbed.environment()).json()
        self.assertEqual(answer['engine'], 'docker')
        config = testbed.run(['skopeo', 'inspect', '--config', '--raw', f'oci:{place}/layout']).stdout
        self.assertEqual(json.loads(config)['config']['Entrypoint'], ['python3', 'trainer/task.py'])
        if testbed.loads_parts():
            self.assertEqual(testbed.hashlib.sha256(config).hexdigest(), answer['digest'].split(':')[1])

    def test_an_installation_needs_an_engine(self):
        place = testbed.new_folder('outputs')
        folder = testbed.example('requirements')
        with (folder / 'libs/mathutil/setup.py').open('a') as setup:
            setup.write('__import__("os").system("true")\n')
        answer = self.build(f'oci:{self.layout}', f'--output=oci:{place}/layout', folder=folder, status=1)
        self.assertIn('only an engine can build this image: its dependencies have to be installed', answer.err)
        self.assertFalse(list(place.iterdir()))

    def test_leave_what_is_there_alone(self):
        place = testbed.write_tree({'thesis.txt': 'precious'})
        answer = self.build(f'oci:{self.layout}', f'--output=oci:{place}', status=2)
        self.assertIn('is not an OCI layout', answer.err)
        self.assertEqual([path.name for path in place.iterdir()], ['thesis.txt'])

    def test_a_base_in_files_is_built_on(self):
        answer = self.build(f'oci:{self.layout}', '--engine=docker', '--no-push', env=testbed.environment())
        self.assertIn('accuracy: 0.9', testbed.run_image(answer.out.strip()))

    def test_a_damaged_base_is_refused(self):
        layout = testbed.new_folder('damaged') / 'base'
        shutil.copytree(self.layout, layout)
        largest = max((layout / 'blobs' / 'sha256').iterdir(), key=lambda path: path.stat().st_size)
        content = bytearray(largest.read_bytes())
        content[len(content) // 2] ^= 1
        largest.write_bytes(content)
        answer = self.build(f'oci:{layout}', f'--output=oci:{layout.parent}/out', status=1)
        self.assertRegex(answer.err, 'damaged|no tar that can be read')
        self.assertFalse((layout.parent / 'out').exists())


class Interoperation(Base):
    """Other tools pull and run what autopack pushed."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.pushed = autopack('build', '--executor-image-uri', cls.base, '--script=trainer/task.py', '--engine=direct',
                              '--output-image-uri', f'{testbed.registry()}/files/pushed', cwd=testbed.example('script'),
                              env=without_a_daemon()).out.strip()

    def test_docker(self):
        docker('pull', '-q', self.pushed)
        self.assertIn('accuracy: 0.9', testbed.run_image(self.pushed))

    def test_skopeo(self):
        place = testbed.new_folder('skopeo')
        skopeo('copy', '-q', '--src-tls-verify=false', f'docker://{self.pushed}', f'oci:{place}/copy:1')
        answer = self.build(f'oci:{place}/copy:1', f'--output=oci:{place}/again')
        self.assertTrue(answer.out.startswith('sha256:'), answer)

    @testbed.nightly('test_engines.Podman')
    def test_podman(self):
        testbed.hold_podman(self.addCleanup)
        folder = testbed.new_folder('podman')
        limits = folder / 'containers.conf'
        limits.write_text('[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n')
        env = testbed.environment(CONTAINERS_CONF=limits)
        runtime = shutil.which('runc') or shutil.which('crun')
        podman = ['podman', '--runtime', runtime, '--cgroup-manager=cgroupfs', '--root', folder / 'root', '--runroot',
                  folder / 'run', '--storage-driver', 'overlay']
        self.addCleanup(testbed.run, [*podman, 'system', 'reset', '--force'], check=False, env=env)
        testbed.run([*podman, 'pull', '-q', '--tls-verify=false', self.pushed], env=env)
        said = testbed.run([*podman, 'run', '--rm', '--network=none', self.pushed], env=env).stdout.decode()
        self.assertIn('accuracy: 0.9', said)
        self.build(self.base, f'--output=tar:{folder}/image.tar')
        loaded = testbed.run([*podman, 'load', '-q', '-i', folder / 'image.tar'], env=env).stdout.decode().split()[-1]
        said = testbed.run([*podman, 'run', '--rm', '--network=none', loaded], env=env).stdout.decode()
        self.assertIn('accuracy: 0.9', said)


class Quickstart(unittest.TestCase):
    def test_does_its_job_without_an_engine(self):
        tar = testbed.executor_tar()
        cache = testbed.new_folder('cache')
        (cache / 'autopack-tests').mkdir()
        (cache / 'autopack-tests' / tar.name).symlink_to(tar)
        said = testbed.run(['bash', QUICKSTART, '--no-engine', '--binary', testbed.binary],
                           env=testbed.environment(**NO_DAEMON, XDG_CACHE_HOME=cache)).stdout.decode()
        self.assertIn('No engine: the job is done with an OCI layout instead', said)
        self.assertEqual(said.count('accuracy: 0.9'), 2, said)
        self.assertIn('epoch 400', said)


if __name__ == '__main__':
    unittest.main()
