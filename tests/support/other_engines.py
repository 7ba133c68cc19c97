"""Engines of another release than this machine's: Docker 26.1 and Podman 5.4 of Debian 13, in a root file system of it.

    other_engines.py ENGINE COMMAND...

runs COMMAND with DOCKER_HOST at one of these engines: docker-26, docker-26-containerd (whose images are in containerd's
store) or podman-5 (of a user without root).
"""

import contextlib
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import testbed

FOLDER_MODE = 0o755
PACKAGES = ['docker.io', 'podman', 'uidmap', 'passt', 'iptables', 'nftables', 'mount', 'passwd', 'ca-certificates']
USER = 'ada'

# Runs a command in the root file system $1: as its root by pivot_root, because a changed root may not make user
# namespaces. /dev/net/tun is open to all users there, as udev leaves it on other machines.
ENTER = '''set -e; root=$1; shift
mount --bind "$root" "$root"; cd "$root"; mkdir -p old
for name in proc sys dev; do mount --rbind "/$name" "$name"; done
mount --rbind /tmp tmp; mount -t tmpfs tmpfs run; mkdir run/lock
mknod run/tun c 10 200; chmod 666 run/tun; mount --bind run/tun dev/net/tun
pivot_root . old; cd /; umount -l old; exec "$@"
'''


@functools.cache
def debian_13():
    """Returns a root file system of Debian 13 with its engines and a user, made once and kept."""
    said = testbed.run(['bash', testbed.SUPPORT, 'root_tar', 'engines', *PACKAGES],
                       env=dict(os.environ, autopack_suite='trixie'), timeout=600)
    tar = pathlib.Path(said.stdout.decode().strip())
    root = tar.with_suffix('')
    if not root.exists():
        partial = pathlib.Path(tempfile.mkdtemp(prefix='engines-', dir=tar.parent))
        testbed.run(['tar', '-x', '-f', tar, '-C', partial])
        testbed.run(['chroot', partial, 'useradd', '--create-home', USER])
        partial.chmod(FOLDER_MODE)
        partial.rename(root)
    return root


@contextlib.contextmanager
def started(command, place):
    """Runs a program of Debian 13 that serves, for the duration of a with statement. It sees this machine's /tmp."""
    with open(place / 'log', 'wb') as log:
        process = subprocess.Popen(
            ['unshare', '-m', '--propagation', 'private', 'bash', '-c', ENTER, 'enter', debian_13(), *map(str, command)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield process
    finally:
        testbed.end(process)


def wait_for(socket):
    env = testbed.environment(DOCKER_HOST=f'unix://{socket}')
    testbed.wait_until(lambda: testbed.run(['docker', 'version'], check=False, env=env).returncode == 0, 60, 'the engine')
    return env['DOCKER_HOST']


@contextlib.contextmanager
def docker_26(*, containerd_store):
    place = testbed.new_folder('engine')
    bridge = f'autopack{testbed.free_port()}'
    (place / 'daemon.json').write_text(json.dumps({'features': {'containerd-snapshotter': containerd_store}}))
    with contextlib.ExitStack() as stack:
        testbed.run(['ip', 'link', 'add', bridge, 'type', 'bridge'])
        stack.callback(testbed.run, ['ip', 'link', 'delete', bridge])
        testbed.run(['ip', 'address', 'add', '172.31.252.1/24', 'dev', bridge])
        # A separate bridge and no firewall rules: without a name it would remove that of the machine's engine.
        stack.enter_context(started(
            ['dockerd', '--config-file', place / 'daemon.json', '--data-root', place / 'data', '--exec-root=/run/exec',
             '--pidfile=/run/docker.pid', '--host', f'unix://{place}/docker.sock', '--bridge', bridge, '--iptables=false',
             '--ip6tables=false'], place))
        yield wait_for(place / 'docker.sock')


@contextlib.contextmanager
def podman_5():
    place = pathlib.Path(tempfile.mkdtemp(prefix='autopack-podman-'))
    uid = 1000
    try:
        for name in ('home', 'run'):
            (place / name).mkdir(0o700)
            os.chown(place / name, uid, uid)
        place.chmod(FOLDER_MODE)
        (place / 'containers.conf').write_text(
            '[engine]\ncgroup_manager = "cgroupfs"\nruntime = "runc"\nevents_logger = "file"\n'
            '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n')
        (place / 'storage.conf').write_text('[storage]\ndriver = "overlay"\n')
        (place / 'registries.conf').write_text('[[registry]]\nlocation = "127.0.0.1"\ninsecure = true\n')
        variables = {'HOME': 'home', 'XDG_RUNTIME_DIR': 'run', 'CONTAINERS_CONF': 'containers.conf',
                     'CONTAINERS_STORAGE_CONF': 'storage.conf', 'CONTAINERS_REGISTRIES_CONF': 'registries.conf'}
        with started(['runuser', '-u', USER, '--', 'env', 'PODMAN_IGNORE_CGROUPSV1_WARNING=1',
                      *(f'{name}={place}/{file}' for name, file in variables.items()),
                      'podman', 'system', 'service', '--time=0', f'unix://{place}/run/podman.sock'], place):
            yield wait_for(place / 'run/podman.sock')
    finally:
        shutil.rmtree(place, ignore_errors=True)


ENGINES = {'docker-26': lambda: docker_26(containerd_store=False),
           'docker-26-containerd': lambda: docker_26(containerd_store=True),
           'podman-5': podman_5}


def main():
    name, *command = sys.argv[1:]
    with ENGINES[name]() as address:
        return subprocess.run(command, env=dict(os.environ, DOCKER_HOST=address), check=False).returncode


if __name__ == '__main__':
    sys.exit(main())
