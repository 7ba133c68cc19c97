"""An image for another processor, from Debian's packages for it, equals the result of that image's own pip, run by
QEMU."""

import json
import os
import platform
import unittest

import testbed
from stored_image import push_image
from test_wheels import digest, write_wheel
from testbed import autopack, docker
from wheel_writer import Writer

ENTRY = """import json, platform, native, importlib.metadata as metadata
found = sorted(d.metadata["Name"] for d in metadata.distributions() if d.metadata["Name"].startswith(("native", "pure", "for_")))
print(json.dumps([platform.machine(), native.BUILT_FOR, found]))
"""
OTHER = {'x86_64': 'aarch64', 'aarch64': 'x86_64'}[platform.machine()]
ARCHITECTURE = {'aarch64': 'arm64', 'x86_64': 'amd64'}[OTHER]
QEMU = f'/usr/bin/qemu-{OTHER}-static'


def write_native_wheel(house, tag):
    path = house / f'native-1.0-{tag}.whl'
    with Writer(path, 'native-1.0.dist-info') as wheel:
        wheel.add('native/__init__.py', f'BUILT_FOR = "{tag}"\n'.encode())
        wheel.add('native-1.0.data/scripts/native-run', b'#!python\nprint("runs")\n')
        wheel.add_metadata('Metadata-Version: 2.1\nName: native\nVersion: 1.0\nRequires-Dist: pure\n', tag)
    return path


class OtherProcessor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The machine keeps the tar and the byte code of its modules: a minute to make, for either.
        tar = testbed.run(['bash', testbed.SUPPORT, 'unpacked_root_tar', ARCHITECTURE, 'python3', 'python3-pip'],
                          env=os.environ).stdout.decode().strip()
        byte_code = testbed.cache_folder() / f'byte-code-{ARCHITECTURE}'
        byte_code.mkdir(exist_ok=True)
        cls.qemu = [f'--volume={QEMU}:/qemu:ro', '--network=host', '--entrypoint=/qemu', f'--volume={byte_code}:/byte-code',
                    '--env=PYTHONPYCACHEPREFIX=/byte-code']
        cls.image = 'autopack-tests/other-processor:1'
        testbed.docker('import', tar, cls.image)
        cls.addClassCleanup(testbed.remove_images, 'autopack-tests/other-processor')
        with open(tar, 'rb') as layer:
            push_image(testbed.registry(), 'other/base', '1', [layer.read()], {'architecture': ARCHITECTURE})
        version = cls.inside(cls.image, '-c', 'import sys; print("%d%d" % sys.version_info[:2])')
        house = testbed.new_folder('house')
        cls.wheels = {'native': [write_native_wheel(house, tag) for tag in (
            f'cp{version}-cp{version}-manylinux_2_17_{OTHER}.manylinux2014_{OTHER}', f'cp{version}-cp{version}-manylinux_2_99_{OTHER}',
            f'cp{version}-cp{version}-musllinux_1_2_{OTHER}', f'cp37-abi3-manylinux_2_17_{OTHER}',
            f'cp{version}-cp{version}-manylinux_2_17_{platform.machine()}', f'cp{version}-cp{version}-linux_{platform.machine()}',
            'py3-none-any')]}
        for name in ('pure', 'for_arm', 'for_intel'):
            cls.wheels[name] = [write_wheel(house, name, '1.0', {f'{name}/__init__.py': '', f'{name}/data.txt': name * 1000})]
        cls.index = testbed.start_index([house])

    @classmethod
    def inside(cls, image, *arguments):
        """Returns the output of the image's Python."""
        return docker('run', '--rm', *cls.qemu, image, '/usr/bin/python3', *arguments)

    def setUp(self):
        markers = {'for_arm': '; platform_machine == "aarch64"', 'for_intel': '; platform_machine == "x86_64"'}
        lines = [' '.join([f'{name}==1.0{markers.get(name, "")}', *(f'--hash=sha256:{digest(path)}' for path in paths)])
                 for name, paths in self.wheels.items()]
        self.folder = testbed.write_tree({'train.py': ENTRY, 'requirements.txt': '\n'.join(lines) + '\n'})

    def test_is_what_its_own_pip_makes(self):
        answer = autopack('build', f'--executor-image-uri={testbed.registry()}/other/base:1', f'--platform=linux/{ARCHITECTURE}',
                          '--script=train.py', f'--output-image-uri={testbed.image_name("other")}', '--format=json', cwd=self.folder,
                          env=testbed.environment(PIP_INDEX_URL=self.index.url, DOCKER_HOST='unix:///nowhere')).json()
        docker('pull', '-q', answer['uri'])
        self.assertEqual(testbed.configuration(answer['uri'])['Architecture'], ARCHITECTURE)
        arm = OTHER == 'aarch64'
        self.assertEqual(json.loads(self.inside(answer['uri'], 'train.py')),
                         [OTHER, self.wheels['native'][0].name[len('native-1.0-'):-len('.whl')],
                          ['for_arm' if arm else 'for_intel', 'native', 'pure']])
        container = f'autopack-tests-other-{os.getpid()}'
        docker('run', f'--name={container}', *self.qemu, f'--volume={self.folder}:/project:ro', self.image, '/usr/bin/python3', '-m',
               'pip', 'install', '--break-system-packages', '--no-compile', '--no-cache-dir', '--disable-pip-version-check',
               f'--index-url={self.index.url}', '-r', '/project/requirements.txt')
        try:
            docker('commit', container, 'autopack-tests/other-processor:by-pip')
        finally:
            docker('rm', '--force', container)
        trees = [testbed.file_tree(image, '/usr/local') for image in (answer['uri'], 'autopack-tests/other-processor:by-pip')]
        for tree in trees:
            for path in [path for path in tree if path.endswith(('/INSTALLER', '/RECORD')) or '__pycache__' in path]:
                del tree[path]
        for path, (kind, _, *rest) in trees[1].items():
            if '/bin/' in path:  # an intended difference: a script is executable
                trees[1][path] = (kind, 0o755, *rest)
        self.assertEqual(*trees)
        self.assertTrue(any(path.endswith('bin/native-run') for path in trees[0]))
