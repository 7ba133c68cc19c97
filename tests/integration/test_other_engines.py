"""Engines that are not this machine's Docker: behind ssh, with containerd's store, and Podman without root."""

import getpass
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

import other_engines
import testbed
from testbed import autopack

FOLDER_MODE = 0o755


def started(add_cleanup, command, log, **options):
    """Starts a program that serves until the end of the test class."""
    with open(log, 'wb') as out:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=out, **options)
    add_cleanup(testbed.end, process)
    return process


class Ssh(unittest.TestCase):
    """A real sshd on loopback, whose docker command reaches the machine's engine."""

    @classmethod
    def setUpClass(cls):
        testbed.executor()
        cls.folder = folder = testbed.new_folder('ssh')
        folder.chmod(0o700)
        for name in ('host', 'user'):
            testbed.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', folder / name])
        cls.port = testbed.free_port()
        (folder / 'authorized').write_bytes((folder / 'user.pub').read_bytes())
        (folder / 'sshd_config').write_text(
            f'Port {cls.port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\n'
            'PidFile none\nStrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\n'
            'PermitRootLogin yes\nLogLevel VERBOSE\n')
        if os.geteuid() == 0:
            pathlib.Path('/run/sshd').mkdir(exist_ok=True)
        cls.log = folder / 'sshd.log'
        started(cls.addClassCleanup, ['/usr/sbin/sshd', '-D', '-e', '-f', folder / 'sshd_config'], cls.log)
        testbed.wait_until(lambda: testbed.listens(cls.port), what='sshd')
        # ssh reads the home directory of the user database, so its configuration is given by a command of its name.
        (folder / 'config').write_text(
            f'Host BuildBox\n  HostName 127.0.0.1\n  Port {cls.port}\n  User {getpass.getuser()}\n  IdentityFile {folder}/user\n'
            f'  UserKnownHostsFile {folder}/known\n  StrictHostKeyChecking accept-new\n  LogLevel ERROR\n'
            f'Host stranger\n  HostName 127.0.0.1\n  Port {cls.port}\n  IdentityFile {folder}/host\n  IdentitiesOnly yes\n'
            f'  UserKnownHostsFile {folder}/known\n  StrictHostKeyChecking accept-new\n')
        (folder / 'bin').mkdir()
        (folder / 'bin/ssh').write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/config "$@"\n')
        (folder / 'bin/ssh').chmod(0o755)
        cls.path = f'{folder}/bin:{os.environ["PATH"]}'

    def environment(self, **changes):
        return testbed.environment(**{'DOCKER_HOST': 'ssh://BuildBox', 'PATH': self.path, **changes})

    def logins(self):
        return self.log.read_text().count('Accepted publickey')

    def test_builds_pushes_and_runs_by_one_login(self):
        target = testbed.image_name('ssh')
        flags = ['--executor-image-uri', testbed.executor(), '--script=trainer/task.py']
        before = self.logins()
        answer = autopack('build', *flags, '--engine=docker', '--output-image-uri', f'{target}:t', env=self.environment(),
                          cwd=testbed.example('script'))
        self.assertTrue(answer.out.startswith(f'{target}@sha256:'), answer)
        self.assertEqual(self.logins() - before, 1)
        answer = autopack('run', *flags, '--env=GREETING=x', cwd=testbed.example('script'), env=self.environment())
        self.assertIn('accuracy: 0.9', answer.out)
        self.assertEqual(self.logins() - before, 2)
        self.assertFalse(list(pathlib.Path(tempfile.gettempdir()).glob('autopack-ssh*/master')))

    def test_the_flag_and_contexts_name_it_too(self):
        folder = testbed.write_tree({'task.py': 'print("there")\n'})
        flags = ['--executor-image-uri', testbed.executor(), '--script=task.py']
        home = testbed.new_folder('docker')
        env = self.environment(DOCKER_HOST=None, DOCKER_CONFIG=home)
        testbed.run(['docker', 'context', 'create', 'far', '--docker', 'host=ssh://BuildBox'], env=env)
        before = self.logins()
        autopack('run', *flags, cwd=folder, env=self.environment(DOCKER_HOST=None, DOCKER_CONFIG=home, DOCKER_CONTEXT='far'))
        autopack('run', *flags, '--engine-host=ssh://BuildBox', cwd=folder, env=self.environment(DOCKER_HOST='unix:///nowhere'))
        self.assertEqual(self.logins() - before, 2)

    def test_a_volume_is_of_the_other_machine(self):
        folder = testbed.write_tree({'task.py': 'print("there")\n'})
        answer = autopack('run', '--executor-image-uri', testbed.executor(), '--script=task.py', '--volume=.:/data', cwd=folder,
                          env=self.environment())
        self.assertIn(f'the program sees `{folder}` of the engine\'s machine', answer.err)

    def test_ctrl_c_leaves_no_container(self):
        folder = testbed.write_tree({'task.py': 'import time\nprint("runs", flush=True)\ntime.sleep(600)\n'})
        process = testbed.Process('run', '--executor-image-uri', testbed.executor(), '--script=task.py', cwd=folder,
                                  env=self.environment(), start_new_session=True)
        try:
            self.assertEqual(process.stdout.readline(), b'runs\n')
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does: its ssh gets the signal, too
            _, err = process.communicate(timeout=30)
        finally:
            process.kill()
        self.assertEqual(process.returncode, 130, err)
        image = f'ancestor=autopack/{folder.name}:run'
        self.assertEqual(testbed.docker('ps', '-aq', '--filter', image), '')

    def test_ssh_says_why_it_fails(self):
        folder = testbed.write_tree({'task.py': ''})
        flags = ['run', '--executor-image-uri', testbed.executor(), '--script=task.py']
        answer = autopack(*flags, cwd=folder, status=125, env=self.environment(DOCKER_HOST='ssh://stranger'))
        self.assertIn('Permission denied', answer.err)
        self.assertIn('hint: ssh stranger docker version', answer.err)
        answer = autopack(*flags, cwd=folder, status=125, env=self.environment(DOCKER_HOST='ssh://BuildBox/nowhere/docker.sock'))
        self.assertIn('/nowhere/docker.sock', answer.err)
        answer = autopack(*flags, cwd=folder, status=125, env=self.environment(PATH=testbed.new_folder('empty')))
        self.assertIn('ssh', answer.err)


class Debian13(unittest.TestCase):
    """The engines of a newer release."""

    def build_push_and_run(self, host):
        env, folder = testbed.environment(DOCKER_HOST=host), testbed.example('script')
        flags = ['--executor-image-uri', testbed.pushed_executor('debian-13'), '--script=trainer/task.py', '--engine=docker']
        target = testbed.image_name('debian-13')
        answer = autopack('build', *flags, '--output-image-uri', f'{target}:t', env=env, cwd=folder)
        self.assertTrue(answer.out.startswith(f'{target}@sha256:'), answer)
        self.assertIn('accuracy: 0.9', testbed.run_image(answer.out.strip()))
        self.assertIn('accuracy: 0.9', autopack('run', *flags, env=env, cwd=folder).out)
        answer = autopack('build', *flags, '--output-image-uri', f'{target}:t', env=env, cwd=folder)
        self.assertIn('Reused', answer.err)
        return autopack('doctor', env=env, status=1).out

    def test_docker_with_containerds_store(self):
        """Docker 26.1, whose BuildKit cannot read an uploaded context then."""
        with other_engines.docker_26(containerd_store=True) as host:
            doctor = self.build_push_and_run(host)
            self.assertIn("with containerd's store", doctor)
            self.assertIn('classic builder', doctor)
            self.assertIn('containerd (overlayfs)', doctor)
            folder = testbed.write_tree({
                'Dockerfile': f'FROM {testbed.pushed_executor("debian-13")}\nRUN --mount=type=cache,target=/x true\n'})
            answer = autopack('build', '--dockerfile=Dockerfile', '--no-push', cwd=folder, status=2,
                              env=testbed.environment(DOCKER_HOST=host))
            self.assertIn('Docker 28 or newer', answer.err)

    @testbed.nightly('test_docker_with_containerds_store')
    def test_docker_with_its_own_store(self):
        with other_engines.docker_26(containerd_store=False) as host:
            self.assertIn('BuildKit', self.build_push_and_run(host))

    @testbed.nightly('RootlessPodman')
    def test_podman_5_without_root(self):
        testbed.hold_podman(self.addCleanup)
        with other_engines.podman_5() as host:
            self.assertIn('Podman 5', self.build_push_and_run(host))


# Gives the user the device that a network of its own needs, as udev does on other machines.
# And the descriptions of devices, which Podman 4 reads only in these folders.
AS_USER = '''set -e; mknod "$1" c 10 200; chmod 666 "$1"; mount --bind "$1" /dev/net/tun; mount --bind "$2" /etc/cdi
shift 2; exec runuser -u "$@"'''
CDI = {'cdiVersion': '0.5.0', 'kind': 'nvidia.com/gpu', 'devices': [
    {'name': name, 'containerEdits': {'env': [f'DEVICE_{name}=here']}} for name in ('all', '0', '1')]}


class RootlessPodman(unittest.TestCase):
    """Podman of a user without root, which autopack starts: no engine is running for that user."""

    @classmethod
    def setUpClass(cls):
        testbed.hold_podman(cls.addClassCleanup)
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix='autopack-podman-'))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.folder.chmod(FOLDER_MODE)
        cls.user = f'autopack{os.getpid()}'
        testbed.run(['useradd', '--home-dir', cls.folder / 'home', '--create-home', cls.user])
        cls.addClassCleanup(testbed.run, ['userdel', cls.user])
        cls.addClassCleanup(testbed.run, ['pkill', '-KILL', '-u', cls.user], check=False)
        cls.binary = cls.folder / 'autopack'
        shutil.copy(testbed.binary, cls.binary)
        runtime = cls.folder / 'run'
        runtime.mkdir(0o700)
        shutil.chown(runtime, cls.user)
        if not pathlib.Path('/etc/cdi').exists():
            pathlib.Path('/etc/cdi').mkdir()
            cls.addClassCleanup(pathlib.Path('/etc/cdi').rmdir)
        cls.devices = cls.folder / 'cdi'
        cls.devices.mkdir()
        (cls.devices / 'gpus.json').write_text(json.dumps(CDI))
        (cls.folder / 'containers.conf').write_text(
            f'[engine]\ncgroup_manager = "cgroupfs"\nruntime = "{shutil.which("runc")}"\nevents_logger = "file"\n'
            '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n')
        (cls.folder / 'storage.conf').write_text('[storage]\ndriver = "overlay"\n')
        host = testbed.registry()
        (cls.folder / 'registries.conf').write_text(f'[[registry]]\nlocation = "{host}"\ninsecure = true\n')
        cls.environment = testbed.environment(
            HOME=cls.folder / 'home', XDG_CACHE_HOME=cls.folder / 'home/.cache', XDG_RUNTIME_DIR=runtime, DOCKER_HOST=None,
            CONTAINERS_CONF=cls.folder / 'containers.conf', CONTAINERS_STORAGE_CONF=cls.folder / 'storage.conf',
            CONTAINERS_REGISTRIES_CONF=cls.folder / 'registries.conf', PODMAN_IGNORE_CGROUPSV1_WARNING='1', AUTOPACK_UV=None)
        cls.project = cls.folder / 'home/project'
        shutil.copytree(testbed.example('script'), cls.project)
        testbed.run(['chown', '-R', f'{cls.user}:', cls.folder / 'home'])

    def run_as_user(self, *arguments, status=0):
        command = ['unshare', '-m', '--propagation', 'private', 'bash', '-c', AS_USER, 'as-user',
                   testbed.new_folder() / 'tun', self.devices, self.user, '--', self.binary, *arguments]
        result = testbed.run(command, env=self.environment, cwd=self.project, check=False)
        answer = testbed.Answer([str(argument) for argument in arguments], result)
        self.assertEqual(answer.status, status, answer)
        return answer

    def test_builds_pushes_and_runs(self):
        flags = ['--executor-image-uri', testbed.pushed_executor('podman'), '--script=trainer/task.py']
        target = testbed.image_name('rootless')
        answer = self.run_as_user('build', *flags, '--engine=docker', '--output-image-uri', f'{target}:t')
        self.assertIn('Started  Podman, because no engine is running', answer.err)
        self.assertTrue(answer.out.startswith(f'{target}@sha256:'), answer)
        self.assertIn('accuracy: 0.9', testbed.run_image(answer.out.strip()))
        self.assertIn('accuracy: 0.9', self.run_as_user('run', *flags).out)
        # A user of a container without root owns nothing of root's: the files of a volume are the user's own.
        answer = self.run_as_user('run', *flags, '--volume=.:/data:ro,z', '--gpus=all', '--shell', '--', 'sh', '-c',
                                  'ls /data; env | grep DEVICE; touch /data/new || exit 9', status=9)
        self.assertIn('trainer', answer.out)
        self.assertIn('DEVICE_all=here', answer.out)
        answer = self.run_as_user('run', *flags, '--gpus=2', '--shell', '--', 'env')
        self.assertIn('DEVICE_0=here', answer.out)
        self.assertIn('DEVICE_1=here', answer.out)


