"""GPU code of wheels and executor images is compared with the accelerator of the job."""

import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest
import zipfile

import gpu_library
import testbed
from secret_watch import secret
from testbed import autopack
from vertex_server import VertexServer

MACHINES = {'NVIDIA_TESLA_P100': 'n1-standard-8', 'NVIDIA_TESLA_V100': 'n1-standard-8', 'NVIDIA_TESLA_T4': 'n1-standard-8',
            'NVIDIA_L4': 'g2-standard-8', 'NVIDIA_H100_80GB': 'a3-highgpu-1g', 'NVIDIA_B200': 'a4-highgpu-8g'}
TORCH = ['75', '80', '86', '90', '100', '120']


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Gpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('gpu/base:1')
        cls.house = testbed.new_folder('gpu-house')
        torch = {'torch/lib/libtorch_cuda.so': gpu_library.library([gpu_library.container(TORCH)] * 3)}
        narrow = {'narrow/_C.so': gpu_library.library([gpu_library.container(['80', '90a'])])}
        wide = {'narrow/_C.so': gpu_library.library([gpu_library.container(['70', '75', '80', '90a'])])}
        late = {'late/_C.so': gpu_library.library([gpu_library.container(['70', 'ptx70'])])}
        several = {f'several/libseveral_cuda{cuda}.so': gpu_library.library([gpu_library.container(names)])
                   for cuda, names in (('118', ['60', '70', '80']), ('130', ['75', '80', '100']))}
        # An engine has the images of earlier runs, whose wheels nobody reads again.
        unique = os.urandom(8)
        cls.wheels = {(name, version): gpu_library.write_wheel(cls.house, name, version, {**libraries, f'{name}/unique': unique})
                      for name, version, libraries in (
                          ('torch', '2.15.0', torch), ('narrow', '1.0', narrow), ('narrow', '0.9', wide),
                          ('late', '1.0', late), ('several', '1.0', several))}
        cls.index = testbed.start_index([cls.house])

    def setUp(self):
        self.api = VertexServer()
        self.addCleanup(self.api.close)
        token = testbed.write_tree({'token': secret('ya29.test')}) / 'token'
        self.env = testbed.environment(
            PIP_INDEX_URL=self.index.url, CLOUDSDK_CORE_PROJECT='test-project', CLOUDSDK_AI_REGION='us-central1',
            XDG_CACHE_HOME=str(testbed.new_cache()), CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=token,
            CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=self.api.url)
        self.target = testbed.image_name('gpu')

    def write(self, *wheels, imported=True):
        lines = ''.join(f'{name}=={version} --hash=sha256:{digest(self.wheels[name, version])}\n' for name, version in wheels)
        modules = '' if not imported else ''.join(f'import {name}\n' for name, _ in wheels)
        self.folder = testbed.write_tree({'train.py': f'{modules}print("ran")\n', 'requirements.txt': lines})

    def submit(self, accelerator, *flags, status=0, command='submit', env=None):
        study = ['--metric=loss:minimize', '--parameter=rate:double:1e-3..1:log', '--max-trial-count=2']
        return autopack(command, '--display-name=gpu', f'--executor-image-uri={self.base}', '--script=train.py', '-v',
                        f'--output-image-uri={self.target}', f'--machine-type={MACHINES[accelerator]}',
                        *([] if MACHINES[accelerator][0] != 'n' else [f'--accelerator-type={accelerator}']),
                        *(study if command == 'tune' else []), *flags, cwd=self.folder, env=env or self.env, status=status)

    def test_what_cannot_run_is_refused_after_the_build_and_then_before_it(self):
        self.write(('torch', '2.15.0'))
        first = self.submit('NVIDIA_TESLA_P100', status=2)
        self.assertLess(first.err.index('  Pushed'), first.err.index('cannot run on NVIDIA_TESLA_P100'))
        self.assertEqual(self.api.requests, [])
        for accelerator in ('NVIDIA_TESLA_V100', 'NVIDIA_TESLA_P100'):
            for command, flags in (('submit', []), ('tune', []), ('submit', ['--dry-run'])):
                with self.subTest(accelerator=accelerator, command=command, flags=flags):
                    answer = self.submit(accelerator, *flags, command=command, status=2)
                    self.assertIn(f'error: `torch` 2.15.0 cannot run on {accelerator}, whose compute capability is', answer.err)
                    self.assertIn('`libtorch_cuda.so` has code for 75 80 86 90 100 120', answer.err)
                    self.assertIn('from: requirements.txt:1', answer.err)
                    self.assertIn('NVIDIA_L4', answer.err)
                    self.assertIn('`--skip-checks=program` sends it anyway', answer.err)
                    self.assertNotIn('Pushed', answer.err)
        self.assertEqual(self.api.requests, [])
        sent = self.submit('NVIDIA_TESLA_V100', '--skip-checks=program')
        self.assertIn('warning: `torch` 2.15.0 cannot run on NVIDIA_TESLA_V100', sent.err)
        self.assertEqual(len(self.api.requests), 1)

    def test_what_runs_is_sent(self):
        self.write(('torch', '2.15.0'))
        for count, accelerator in enumerate(('NVIDIA_TESLA_T4', 'NVIDIA_L4', 'NVIDIA_H100_80GB', 'NVIDIA_B200'), 1):
            with self.subTest(accelerator=accelerator):
                answer = self.submit(accelerator)
                self.assertNotIn('compute capability', answer.err)
                self.assertEqual(len(self.api.requests), count)

    def test_what_the_program_may_do_without_is_a_warning(self):
        self.write(('narrow', '1.0'), imported=False)
        first = self.submit('NVIDIA_TESLA_T4')
        again = self.submit('NVIDIA_TESLA_T4')
        (self.folder / 'train.py').write_text('try:\n    import narrow\nexcept ImportError:\n    pass\n')
        perhaps = self.submit('NVIDIA_TESLA_T4')
        for answer in (first, again, perhaps):
            self.assertIn('warning: `narrow` 1.0 cannot run on NVIDIA_TESLA_T4', answer.err)
        self.assertEqual(len(self.api.requests), 3)
        (self.folder / 'train.py').write_text('import narrow\n')
        self.assertIn('error: `narrow` 1.0 cannot run on NVIDIA_TESLA_T4', self.submit('NVIDIA_TESLA_T4', status=2).err)
        self.assertEqual(len(self.api.requests), 3)

    def test_a_version_that_fits_is_named_once_it_was_read(self):
        self.write(('narrow', '1.0'))
        first = self.submit('NVIDIA_TESLA_T4', status=2)
        self.assertIn('a version with code for 7.0 to 7.5, or with PTX for at most 7.5', first.err)
        self.write(('narrow', '0.9'))
        self.submit('NVIDIA_TESLA_T4')
        self.write(('narrow', '1.0'))
        self.assertIn('`narrow==0.9` has code for it', self.submit('NVIDIA_TESLA_T4', status=2).err)

    def test_ptx_alone_is_a_warning_and_one_library_of_several_suffices(self):
        self.write(('late', '1.0'), ('several', '1.0'))
        answer = self.submit('NVIDIA_L4', '--accelerator-type=NVIDIA_L4')
        self.assertIn('warning: `late` 1.0 has only PTX that fits NVIDIA_L4', answer.err)
        self.assertEqual(answer.err.count('warning: '), 1, answer.err)
        old = self.submit('NVIDIA_TESLA_P100', status=2)
        self.assertIn('`late` 1.0 cannot run on NVIDIA_TESLA_P100', old.err)
        self.assertNotIn('`several` 1.0 cannot', old.err)
        self.assertIn('`libseveral_cuda130.so` has code for 75 80 100, none of which runs on NVIDIA_TESLA_P100', old.err)

    def test_another_machine_learns_it_from_the_registry(self):
        self.write(('narrow', '1.0'))
        self.submit('NVIDIA_TESLA_T4', status=2)
        for path in self.house.glob('narrow-1.0*'):
            self.assertTrue(path.exists())
        env = {**self.env, 'XDG_CACHE_HOME': str(testbed.new_cache()), 'PIP_INDEX_URL': 'http://127.0.0.1:9/'}
        answer = self.submit('NVIDIA_TESLA_T4', status=2, env=env)
        self.assertIn('`narrow` 1.0 cannot run on NVIDIA_TESLA_T4', answer.err)
        self.assertEqual(self.api.requests, [])

    def test_jobs_of_clusters_are_compared_too(self):
        self.write(('narrow', '1.0'))
        flags = [f'--executor-image-uri={self.base}', '--script=train.py', f'--output-image-uri={self.target}']
        autopack('build', *flags, cwd=self.folder, env=self.env)
        for submitter in ('slurm', 'kubernetes'):
            with self.subTest(submitter=submitter):
                job = ['submit', f'--submitter={submitter}', '--dry-run', '--display-name=gpu', *flags]
                refused = autopack(*job, '--accelerator-type=NVIDIA_TESLA_T4', cwd=self.folder, env=self.env, status=2)
                self.assertIn('error: `narrow` 1.0 cannot run on NVIDIA_TESLA_T4', refused.err)
                fitting = autopack(*job, '--accelerator-type=NVIDIA_TESLA_A100', cwd=self.folder, env=self.env, status=None)
                self.assertNotIn('cannot run on', fitting.err)

    def test_an_executor_image_whose_layers_are_read(self):
        name = f'{testbed.registry()}/gpu/narrow:1'
        folder = testbed.write_tree({'Dockerfile': f'FROM {self.base}\nCOPY site/ /usr/local/lib/python3.11/dist-packages/\n'})
        with zipfile.ZipFile(self.wheels['narrow', '1.0']) as wheel:
            wheel.extractall(folder / 'site')
        testbed.docker('build', '-q', '-t', name, str(folder))
        testbed.docker('push', '-q', name)
        env = {**self.env, 'XDG_CACHE_HOME': str(testbed.new_folder('empty-cache'))}
        self.folder = testbed.write_tree({'train.py': 'print("ran")\n'})
        flags = [f'--executor-image-uri={name}', '--script=train.py', f'--output-image-uri={self.target}',
                 '--accelerator-type=NVIDIA_TESLA_T4']
        unread = autopack('explain', *flags, '-v', '--format=json', cwd=self.folder, env=env)
        self.assertNotIn('cannot run on', unread.err)
        self.assertIn('GPU code: nobody has read the layers of the executor image', unread.err)
        self.assertFalse(unread.json()['gpu']['executor_image_is_read'])
        autopack('build', *flags[:-1], '--engine=direct', cwd=self.folder, env={**env, 'XDG_CACHE_HOME': str(
            cache := testbed.new_folder('direct-cache'))})
        env['XDG_CACHE_HOME'] = str(cache)
        said = autopack('explain', *flags, '-v', '--format=json', cwd=self.folder, env=env)
        self.assertIn('warning: `narrow` 1.0 cannot run on NVIDIA_TESLA_T4', said.err)
        row, = said.json()['gpu']['libraries']
        self.assertEqual((row['of'], row['fits']), ('executor image', ['fails']))
        self.assertTrue(row['library'].startswith('/usr/local/lib/python3.11/dist-packages/narrow/'))
        job = ['submit', *flags, '--dry-run', '--display-name=gpu', '--machine-type=n1-standard-8']
        self.assertIn('warning: `narrow` 1.0 cannot run on', autopack(*job, cwd=self.folder, env=env).err)
        (self.folder / 'requirements.txt').write_text('narrow\n')
        self.assertIn('warning: `narrow` 1.0 cannot run on', autopack(*job, cwd=self.folder, env=env).err)
        (self.folder / 'train.py').write_text('import narrow\n')
        self.assertIn('error: `narrow` 1.0 cannot run on', autopack(*job, cwd=self.folder, env=env, status=2).err)

    def test_run_compares_with_the_gpu_of_this_machine(self):
        tools = testbed.write_tree({'nvidia-smi': '#!/bin/sh\necho "$*" | grep -q compute_cap && echo "Tesla T4, 7.5"\n'})
        (tools / 'nvidia-smi').chmod(0o755)
        self.write(('narrow', '1.0'))
        flags = [f'--executor-image-uri={self.base}', '--script=train.py']
        env = {**self.env, 'PATH': f'{tools}:{self.env["PATH"]}'}
        # The engine of this machine has no GPUs to give, so that the program does not start.
        said = autopack('run', *flags, '--gpus=all', '--build-network=host', cwd=self.folder, env=env, status=None)
        self.assertIn('warning: `narrow` 1.0 cannot run on Tesla T4, whose compute capability is 7.5', said.err)
        self.assertNotIn('cannot run on', autopack('run', *flags, '--build-network=host', cwd=self.folder, env=env).err)

    def test_a_tpu_without_tensorflow(self):
        self.folder = testbed.write_tree({'train.py': 'print("ran")\n', 'requirements.txt': 'tensorflow\n'})
        flags = [f'--executor-image-uri={self.base}', '--script=train.py', f'--output-image-uri={self.target}', '--dry-run',
                 '--display-name=gpu', '--tpu-topology=1x1']
        refused = autopack('submit', *flags, '--machine-type=ct6e-standard-1t', cwd=self.folder, env=self.env, status=2)
        self.assertIn('error: `tensorflow` cannot use TPU v6e', refused.err)
        autopack('submit', *flags, '--machine-type=ct5lp-hightpu-1t', cwd=self.folder, env=self.env)
        (self.folder / 'requirements.txt').write_text('tensorflow\njax\n')
        autopack('submit', *flags, '--machine-type=ct6e-standard-1t', cwd=self.folder, env=self.env)

    def test_explain_shows_the_code_and_what_no_gpu_of_the_job_runs(self):
        self.write(('narrow', '1.0'), ('late', '1.0'))
        flags = [f'--executor-image-uri={self.base}', '--script=train.py', f'--output-image-uri={self.target}']
        autopack('build', *flags, cwd=self.folder, env=self.env)
        said = autopack('explain', *flags, '--accelerator-type=NVIDIA_TESLA_T4', cwd=self.folder, env=self.env)
        self.assertIn('warning: `narrow` 1.0 cannot run on NVIDIA_TESLA_T4', said.err)
        self.assertRegex(said.out, r'narrow/_C.so +80 90a')
        answer = autopack('explain', *flags, '--machine-type=a3-highgpu-1g', '--format=json', cwd=self.folder, env=self.env)
        gpu = answer.json()['gpu']
        self.assertEqual(gpu['accelerators'], [{'name': 'NVIDIA_H100_80GB', 'capability': '9.0'}])
        rows = {row['library']: row for row in gpu['libraries']}
        self.assertEqual(rows['narrow/_C.so']['architectures'], ['80', '90a'])
        self.assertEqual(rows['narrow/_C.so']['fits'], ['runs'])
        self.assertEqual(rows['late/_C.so']['fits'], ['compiles'])
        self.assertEqual(rows['narrow/_C.so']['unused_bytes'], 104)
        self.assertEqual(json.loads(json.dumps(gpu['unread'])), [])


def pip_download(folder, *requirements):
    """Downloads wheels for Python 3.11 with pip, without what they require."""
    subprocess.run([testbed.SYSTEM_PYTHON, '-m', 'pip', 'download', '-q', '--no-deps', '--python-version=3.11',
                    '--only-binary=:all:', '-d', str(folder), *requirements], check=True)


def unpack(wheel, folder, suffix=''):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if suffix in name:
                path = pathlib.Path(archive.extract(name, folder))
                path.chmod(0o755)
                yield path


class RealGpuCode(unittest.TestCase):
    """Wheels of PyPI, and NVIDIA's own tools, some 1.5 GB."""

    @classmethod
    def setUpClass(cls):
        cls.house = testbed.new_folder('gpu-real')
        cls.tools = testbed.new_folder('gpu-tools')

    def tool(self, requirement, name):
        folder = testbed.new_folder('gpu-tool')
        pip_download(folder, requirement)
        for wheel in folder.glob('*.whl'):
            for path in unpack(wheel, self.tools):
                if path.name == name:
                    return path
        raise AssertionError(f'{requirement} has no {name}')

    def code(self, path):
        """Returns how often each architecture occurs: `cubin 90a`."""
        program = pathlib.Path(testbed.binary).parent.parent / 'tests' / 'support' / 'gpu_code'
        library = json.loads(testbed.run([program, path]).stdout)['libraries'][0]
        return {f'{kind} {architecture}': count for kind, architecture, count, _ in library['code']}

    @testbed.nightly('Gpu.test_what_runs_is_sent')
    def test_every_count_is_that_of_cuobjdump(self):
        program = self.tool('nvidia-cuda-cuobjdump', 'cuobjdump')
        pip_download(self.house, 'bitsandbytes==0.50.2')
        libraries = [path for path in unpack(next(self.house.glob('bitsandbytes-*')), self.tools, '_cuda')
                     if path.suffix == '.so']
        self.assertGreater(len(libraries), 5)
        compared = 0
        for library in libraries:
            with self.subTest(library=library.name):
                listing = testbed.run([program, '-all', '--list-elf', '--list-ptx', library], check=False)
                if b'Invalid ELF' in listing.stderr:
                    continue  # cuobjdump 13 cannot open some code for GPUs that CUDA 13 no longer supports
                said = listing.stdout.decode()
                compared += 1
                counts = collections.Counter()
                for kind, architecture in re.findall(r'(ELF|PTX) file .*\.(?:sm|compute)_(\w+)\.(?:cubin|ptx)', said):
                    counts[f'{"cubin" if kind == "ELF" else "ptx"} {architecture}'] += 1
                self.assertEqual(self.code(library), dict(counts))
        self.assertGreater(compared, 4)

    @testbed.nightly('Gpu.test_what_runs_is_sent')
    def test_code_of_ptxas_for_each_architecture_is_found(self):
        ptxas = self.tool('nvidia-cuda-nvcc', 'ptxas')
        fatbinary = ptxas.parent / 'fatbinary'
        folder = testbed.new_folder('gpu-made')
        names = sorted(set(re.findall(r'sm_(\d+[af]?)', testbed.run([ptxas, '--help']).stdout.decode())))
        self.assertGreater(len(names), 5)
        release = re.search(r'release (\d+)\.(\d+)', testbed.run([ptxas, '--version']).stdout.decode())
        version = f'{int(release[1]) - 4}.{release[2]}'  # of PTX: 9.0 came with CUDA 13.0
        made_for = set()
        for name in names:
            text = f'.version {version}\n.target sm_{name}\n.address_size 64\n.visible .entry k() {{ ret; }}\n'
            (folder / f'{name}.ptx').write_text(text)
            made = testbed.run([ptxas, f'-arch=sm_{name}', '-o', folder / f'{name}.cubin', folder / f'{name}.ptx'],
                               check=False)
            if b'is not defined for option' in made.stderr:
                continue  # its help names architectures of the past, too
            made_for.add(name)
            testbed.run([fatbinary, f'--create={folder / name}.fatbin', '-64',
                         f'--image3=kind=elf,sm={name},file={folder / name}.cubin',
                         f'--image3=kind=ptx,sm={name},file={folder / name}.ptx'])
            library = folder / f'{name}.so'
            library.write_bytes(gpu_library.library([(folder / f'{name}.fatbin').read_bytes()]))
            with self.subTest(architecture=name):
                self.assertEqual(self.code(library), {f'cubin {name}': 1, f'ptx {name}': 1})
        self.assertLessEqual({'75', '80', '89', '90', '90a', '100', '100f', '120'}, made_for)

    @testbed.nightly('Gpu.test_what_runs_is_sent')
    def test_a_real_torch_is_refused_for_old_gpus_alone(self):
        for requirement, fitting, failing in (
                ('torch==2.15.0', ('NVIDIA_TESLA_T4', 'NVIDIA_L4', 'NVIDIA_H100_80GB', 'NVIDIA_B200'),
                 ('NVIDIA_TESLA_P100', 'NVIDIA_TESLA_V100')),
                ('torch==2.0.1', ('NVIDIA_TESLA_P100', 'NVIDIA_TESLA_V100', 'NVIDIA_TESLA_T4', 'NVIDIA_L4'),
                 ('NVIDIA_H100_80GB', 'NVIDIA_B200'))):
            folder, house = testbed.new_folder('gpu-torch'), testbed.new_folder('gpu-torch-house')
            pip_download(folder, requirement)
            # Its requirements are gigabytes.
            wheel = gpu_library.write_wheel(house, 'torch', requirement[7:], {
                str(path.relative_to(folder)): path.read_bytes()
                for path in unpack(next(folder.glob('*.whl')), folder, '/libtorch_cuda')})
            shutil.rmtree(folder)
            index = testbed.start_index([house])
            project = testbed.write_tree({'train.py': 'print("ran")\n',
                                          'requirements.txt': f'{requirement} --hash=sha256:{digest(wheel)}\n'})
            env = testbed.environment(PIP_INDEX_URL=index.url, XDG_CACHE_HOME=str(testbed.new_cache()))
            flags = [f'--executor-image-uri={testbed.pushed_executor("gpu/base:1")}', '--script=train.py',
                     f'--output-image-uri={testbed.image_name("gpu-torch")}']
            autopack('build', *flags, cwd=project, env=env)
            for accelerator in (*fitting, *failing):
                with self.subTest(torch=requirement, accelerator=accelerator):
                    said = autopack('explain', *flags, f'--accelerator-type={accelerator}', cwd=project, env=env)
                    self.assertEqual(f'cannot run on {accelerator}' in said.err, accelerator in failing)
            shutil.rmtree(house)
