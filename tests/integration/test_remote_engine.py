"""A Docker Engine at a tcp address that requires certificates, named by environment and by a Docker context."""

import functools
import hashlib
import json
import subprocess
import unittest

import testbed
from testbed import autopack, run

def openssl(*arguments):
    run(['openssl', *arguments])


def signed(folder, name, usage):
    """Returns a key and a certificate of the authority in `folder` for 127.0.0.1."""
    extensions = testbed.write_tree({'ext': f'subjectAltName=IP:127.0.0.1\nextendedKeyUsage={usage}\n'}) / 'ext'
    key, request, certificate = (folder / f'{name}{suffix}' for suffix in ('-key.pem', '.csr', '.pem'))
    openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', f'/CN={name}', '-keyout', key, '-out', request)
    openssl('x509', '-req', '-in', request, '-CA', folder / 'ca.pem', '-CAkey', folder / 'ca-key.pem',
            '-CAcreateserial', '-days', '2', '-extfile', extensions, '-out', certificate)


def make_certificates():
    folder = testbed.new_folder('certificates')
    openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=autopack test authority',
            '-keyout', folder / 'ca-key.pem', '-out', folder / 'ca.pem')
    signed(folder, 'server', 'serverAuth')
    signed(folder, 'client', 'clientAuth')
    # The file names that the docker command reads in DOCKER_CERT_PATH.
    (folder / 'cert.pem').write_bytes((folder / 'client.pem').read_bytes())
    (folder / 'key.pem').write_bytes((folder / 'client-key.pem').read_bytes())
    return folder


@functools.cache
def certificates():
    return make_certificates()


class Engine:
    """A second engine beside the machine's own, at a loopback port; it has the executor image."""

    def __init__(self):
        self.folder, self.port = testbed.new_folder('engine'), testbed.free_port()
        self.bridge = f'autopack{self.port}'
        run(['ip', 'link', 'delete', self.bridge], check=False)  # left by a killed run: the port is free
        run(['ip', 'link', 'add', self.bridge, 'type', 'bridge'])
        testbed.at_exit(run, ['ip', 'link', 'delete', self.bridge])
        run(['ip', 'address', 'add', '172.31.251.1/24', 'dev', self.bridge])
        self.start()
        testbed.at_exit(self.stop)
        archive = self.folder / 'executor.tar'
        run(['docker', 'save', '--output', archive, testbed.executor()])
        run(['docker', 'load', '--input', archive], env=remote_environment(self.port))

    def start(self):
        keys = certificates()
        with open(self.folder / 'log', 'ab') as log:
            # A separate bridge and no firewall rules: without a name it would remove that of the machine's engine.
            self.process = subprocess.Popen(
                ['dockerd', '--host', f'tcp://127.0.0.1:{self.port}', '--tlsverify', '--tlscacert', keys / 'ca.pem',
                 '--tlscert', keys / 'server.pem', '--tlskey', keys / 'server-key.pem', '--data-root', self.folder / 'data',
                 '--exec-root', self.folder / 'exec', '--pidfile', self.folder / 'pid', '--bridge', self.bridge,
                 '--iptables=false', '--ip6tables=false'], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        testbed.wait_until(lambda: testbed.listens(self.port), what='the remote engine')

    def stop(self):
        testbed.end(self.process)


@functools.cache
def remote_engine():
    return Engine()


def remote_environment(port, **changes):
    return testbed.environment(DOCKER_HOST=f'tcp://127.0.0.1:{port}', DOCKER_TLS_VERIFY='1',
                               DOCKER_CERT_PATH=certificates(), **changes)


def context_folder(port):
    """Returns a Docker configuration whose current context is the engine at `port`."""
    folder, name = testbed.new_folder('docker-config'), 'faraway'
    identity = hashlib.sha256(name.encode()).hexdigest()
    meta, tls = folder / 'contexts/meta' / identity, folder / 'contexts/tls' / identity / 'docker'
    meta.mkdir(parents=True)
    tls.mkdir(parents=True)
    (folder / 'config.json').write_text(json.dumps({'currentContext': name}))
    (meta / 'meta.json').write_text(json.dumps({
        'Name': name, 'Metadata': {},
        'Endpoints': {'docker': {'Host': f'tcp://127.0.0.1:{port}', 'SkipTLSVerify': False}}}))
    for file in ('ca.pem', 'cert.pem', 'key.pem'):
        (tls / file).write_bytes((certificates() / file).read_bytes())
    return folder


class RemoteEngine(unittest.TestCase):
    def setUp(self):
        self.port = remote_engine().port
        self.folder = testbed.write_tree({'task.py': 'print("far away")\n', 'requirements.txt': 'greeter==1.0\n'})
        self.flags = ['--executor-image-uri', testbed.EXECUTOR, '--script=task.py', '--build-network=host']

    def environment(self, **changes):
        return remote_environment(self.port, PIP_INDEX_URL=testbed.index().url, **changes)

    def test_builds_and_runs_there(self):
        image = autopack('build', *self.flags, '--engine=docker', '--no-push', cwd=self.folder,
                         env=self.environment()).out.strip()
        self.assertRegex(image, r'^sha256:[0-9a-f]{64}$')
        there = run(['docker', 'image', 'inspect', image], env=self.environment(), check=False)
        self.assertEqual(there.returncode, 0, there.stderr)
        here = run(['docker', 'image', 'inspect', image], check=False)
        self.assertNotEqual(here.returncode, 0, 'the image is in the machine\'s own engine')

    def test_pushes_from_there(self):
        name = testbed.image_name('remote')
        pushed = autopack('build', *self.flags, '--output-image-uri', name, cwd=self.folder,
                          env=self.environment()).out.strip()
        self.assertTrue(pushed.startswith(name + '@sha256:'), pushed)
        self.assertEqual(testbed.run_image(pushed), 'far away')

    @testbed.nightly('test_pushes_from_there, and the unit tests of endpoints')
    def test_a_context_brings_its_certificates(self):
        environment = testbed.environment(DOCKER_HOST=None, DOCKER_CONFIG=context_folder(self.port),
                                          PIP_INDEX_URL=testbed.index().url)
        image = autopack('build', *self.flags, '--engine=docker', '--no-push', cwd=self.folder, env=environment).out
        self.assertRegex(image.strip(), r'^sha256:[0-9a-f]{64}$')

    def test_without_a_client_certificate_it_is_refused(self):
        bare = testbed.new_folder('bare')
        (bare / 'ca.pem').write_bytes((certificates() / 'ca.pem').read_bytes())
        environment = remote_environment(self.port) | {'DOCKER_CERT_PATH': str(bare)}
        answer = autopack('build', *self.flags, '--no-push', cwd=self.folder, env=environment, status=None)
        self.assertIn(answer.status, (1, 2), answer)
        self.assertIn('DOCKER_CERT_PATH', answer.err)
        self.assertEqual(answer.out, '')

    def test_an_engine_of_another_authority_is_refused(self):
        stranger = make_certificates()
        environment = remote_environment(self.port) | {'DOCKER_CERT_PATH': str(stranger)}
        answer = autopack('build', *self.flags, '--no-push', cwd=self.folder, env=environment, status=1)
        self.assertIn('certificate', answer.err)
        self.assertIn('DOCKER_CERT_PATH', answer.err)

    def test_http_to_a_port_that_speaks_tls(self):
        environment = testbed.environment(DOCKER_HOST=f'tcp://127.0.0.1:{self.port}')
        answer = autopack('build', *self.flags, '--no-push', cwd=self.folder, env=environment, status=1)
        self.assertIn('DOCKER_TLS_VERIFY', answer.err)
