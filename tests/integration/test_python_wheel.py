"""The Python wheel of autopack, installed by pip and uv here, and by pip in a container without autopack's libraries."""

import base64
import contextlib
import csv
import hashlib
import json
import os
import pathlib
import re
import ssl
import threading
import unittest
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer

import secret_watch
import testbed
from testbed import SYSTEM_PYTHON, autopack

# Belong to the machine's glibc.
GLIBC = re.compile(r'(ld-linux.*|lib(c|m|resolv))\.so\.\d+')
USE = '''import autopack, json, sys
base, project = sys.argv[1:]
flags = {'executor_image_uri': base, 'engine': 'direct'}
plan = autopack.explain(project, script='trainer/task.py', requirements=['a>1,<2', 'b'], infer=False, **flags)
try:
    autopack.build(project, script='trainer/tusk.py', **flags)
except autopack.Error as error:
    wrong = vars(error)
print(json.dumps({'requirements': plan['dependencies']['requirements'], 'error': wrong, 'program': autopack.program()}))
'''


def output(*command, **options):
    return testbed.run(command, **options).stdout.decode()


class PythonWheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = testbed.new_folder('wheel')
        build = pathlib.Path(testbed.binary).resolve().parent.parent
        said = output(SYSTEM_PYTHON, testbed.ROOT / '.ci' / 'make_wheel.py', build, cls.folder, '1', env=os.environ)
        cls.wheel = pathlib.Path(said.strip())
        cls.base = testbed.pushed_executor('wheel/base:1')
        cls.addClassCleanup(testbed.remove_images_later, f'{testbed.registry()}/wheel')
        cls.project = testbed.example('script')
        testbed.run(['git', 'init', '-q'], cwd=cls.project)
        testbed.run(['git', 'add', '.'], cwd=cls.project)
        cls.files = cls.folder / 'files'
        with zipfile.ZipFile(cls.wheel) as archive:
            archive.extractall(cls.files)
        cls.binary = next(cls.files.glob('*.data/scripts/autopack'))

    @staticmethod
    def pip(venv, *arguments):
        return output(SYSTEM_PYTHON, '-m', 'pip', '--disable-pip-version-check', '--python', venv / 'bin/python', *arguments)

    def test_its_record_lists_every_file_as_it_is(self):
        with zipfile.ZipFile(self.wheel) as archive:
            record = next(name for name in archive.namelist() if name.endswith('.dist-info/RECORD'))
            listed = {name: (digest, size) for name, digest, size in csv.reader(archive.read(record).decode().splitlines())}
            entries = archive.infolist()
            self.assertEqual(list(listed), [entry.filename for entry in entries])
            self.assertEqual(listed.pop(record), ('', ''))
            for name, (digest, size) in listed.items():
                data = archive.read(name)
                expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
                self.assertEqual((digest, size), (f'sha256={expected}', str(len(data))), name)
        # Nothing of the machine or the moment.
        self.assertEqual({entry.date_time for entry in entries}, {(1980, 1, 1, 0, 0, 0)})
        self.assertLessEqual({entry.external_attr >> 16 for entry in entries}, {0o100644, 0o100755})

    def test_brings_every_library_but_those_of_glibc(self):
        inside = {path.name: path for path in next(self.files.glob('*.data/data/libexec/autopack')).iterdir()}
        opened = [re.search(rb'(?<![\w+./:-])(lib%s\.so\.[0-9.]+)\0' % name, self.binary.read_bytes()).group(1).decode()
                  for name in (b'archive', b'curl', b'git2', b'squashfs', b'z')]
        headers = output('objdump', '-p', self.binary, *inside.values())
        wanted = {*re.findall(r'NEEDED +(\S+)', headers), *opened}
        self.assertEqual({name for name in wanted if not GLIBC.fullmatch(name)}, inside.keys())
        [minor] = re.findall(r'manylinux_2_(\d+)_', self.wheel.name)
        self.assertEqual(max(int(number) for number in re.findall(r' GLIBC_2\.(\d+)', headers)), int(minor))

    def test_pip_installs_command_and_module_and_removes_them_without_a_trace(self):
        venv = testbed.new_folder('venv')
        testbed.run([SYSTEM_PYTHON, '-m', 'venv', '--without-pip', venv])
        self.pip(venv, 'install', '--no-index', self.wheel)
        for name in ('man/man1/autopack.1', 'bash-completion/completions/autopack.bash', 'zsh/site-functions/_autopack',
                     'fish/vendor_completions.d/autopack.fish', 'autopack/autopack.schema.json'):
            self.assertTrue((venv / 'share' / name).is_file(), name)
        told = json.loads(output(venv / 'bin/python', '-c', USE, self.base, self.project, cwd='/'))
        self.assertEqual(told['program'], str(venv / 'bin/autopack'))
        self.assertEqual(told['requirements'], ['a>1,<2', 'b'])
        self.assertEqual((told['error']['status'], told['error']['kind']), (2, 'project'))
        self.assertIn('script `trainer/tusk.py` does not exist', told['error']['message'])
        self.assertEqual(told['error']['hints'], ['did you mean `trainer/task.py`?'])
        program = testbed.write_tree({'train.py': 'print("ran")\nraise SystemExit(7)\n'})
        run = f'import autopack; autopack.run({str(program)!r}, script="train.py", executor_image_uri={testbed.executor()!r})'
        answer = testbed.run([venv / 'bin/python', '-c', run], cwd='/', check=False)
        self.assertEqual(answer.stdout, b'ran\n', answer.stderr)
        self.assertIn(b'autopack.Error: `autopack run` ended with status 7', answer.stderr)
        self.pip(venv, 'uninstall', '--yes', 'autopack')
        self.assertEqual([path for path in venv.rglob('*autopack*') if path.is_file()], [])

    def test_runs_through_the_link_that_uv_makes(self):
        folder = testbed.new_folder('uv')
        env = testbed.environment(UV_TOOL_DIR=folder / 'tools', UV_TOOL_BIN_DIR=folder / 'bin', UV_CACHE_DIR=folder / 'cache')
        testbed.run([testbed.uv(), 'tool', 'install', '--offline', '--python', SYSTEM_PYTHON, self.wheel], env=env)
        self.assertTrue((folder / 'bin/autopack').is_symlink())
        arguments = ('explain', f'--executor-image-uri={self.base}', '--script=trainer/task.py', '--engine=direct',
                     '--format=json')
        self.assertEqual(json.loads(output(folder / 'bin/autopack', *arguments, cwd=self.project))['image_key'],
                         autopack(*arguments, cwd=self.project).json()['image_key'])

    def in_container(self, *options, script):
        """Installs the wheel in the executor image, then runs the lines; returns what they print."""
        pip = 'python3 -m pip install -q --break-system-packages --root-user-action=ignore --no-index'
        return testbed.run_image(f'--volume={self.wheel.parent}:/wheel:ro', *options, testbed.executor(),
                                 'sh', '-ec', f'{pip} /wheel/{self.wheel.name}\n{script}')

    def test_works_in_a_container_that_has_none_of_its_libraries(self):
        out = testbed.new_folder('out')
        build = (f'autopack build --executor-image-uri={self.base} --script=trainer/task.py --engine=direct --source=index '
                 '--display-name=wheel')
        said = self.in_container(
            f'--volume={out}:/out', f'--volume={self.project}:/project:ro', '--workdir=/project',
            script=f'ldconfig -p; echo ---; autopack --version; '
            f'LD_DEBUG=libs LD_DEBUG_OUTPUT=/out/loaded {build} --output=oci:/out/image --output=squashfs:/out/squashfs')
        found, _, said = said.partition('---\n')
        self.assertNotRegex(found, r'lib(archive|curl|deflate|fmt|git2|squashfs|tomlplusplus|yaml-cpp)\.')
        version, digest = said.split('\n')
        self.assertEqual(version + '\n', autopack('--version').out)
        layout = testbed.new_folder('layout') / 'image'
        self.assertEqual(digest, autopack(*build.split()[1:], f'--output=oci:{layout}', cwd=self.project).out.strip())
        # Without those of programs that it started.
        [loaded] = [text for text in (file.read_text() for file in out.glob('loaded.*')) if '/libexec/autopack/' in text]
        paths = {pathlib.Path(path) for path in re.findall(r'calling init: (/\S+)', loaded)}
        self.assertEqual({path for path in paths if path.parent.name != 'autopack' and not GLIBC.fullmatch(path.name)}, set())
        self.assertLessEqual({'libarchive', 'libcurl', 'libgit2', 'libsquashfs', 'libz'}, {path.name.partition('.')[0] for path in paths})

    def test_finds_the_certificates_of_other_distributions(self):
        folder = testbed.write_tree({'token': secret_watch.secret('ya29.none')}, testbed.new_folder('authority'))
        testbed.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj',
                     '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', folder / 'key.pem',
                     '-out', folder / 'ca-bundle.crt'])
        with serving_jobs(folder) as address:
            list_jobs = 'autopack jobs list --project=p --region=us-central1 --access-token-file=/authority/token --format=json'
            said = self.in_container(
                f'--volume={folder}:/authority:ro', f'--env=CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM={address}/',
                script=f'{list_jobs} || echo "status $?"; rm -r /etc/ssl/certs; mkdir -p /etc/pki/tls/certs; '
                f'{list_jobs} || echo "status $?"; cp /authority/ca-bundle.crt /etc/pki/tls/certs; {list_jobs}')
        unknown, missing, found = said.split('status 1\n')
        self.assertIn('SSL certificate problem', unknown)
        self.assertIn('; install the package `ca-certificates`', missing)
        self.assertEqual(found, '[]')


@contextlib.contextmanager
def serving_jobs(folder):
    """A TLS server on loopback with the certificate of the folder, which answers `{}`; yields its address."""
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header('Content-Length', '2')
            self.end_headers()
            self.wfile.write(b'{}')

        def log_message(self, *_):
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / 'ca-bundle.crt', folder / 'key.pem')
    server = HTTPServer(('127.0.0.1', 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f'https://127.0.0.1:{server.server_port}'
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
