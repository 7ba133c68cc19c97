"""A real sshd on loopback that accepts this user with a separate key, and a client that knows both."""

import getpass
import os
import pathlib
import subprocess

import secret_watch
import testbed

SSHD = '/usr/sbin/sshd'


class SshServer:
    """`address` as in a URL; `client` the command for git, which knows the server but has no key. Commands there have
    `variables`."""

    def __init__(self, **variables):
        self.folder, self.port = testbed.new_folder('sshd'), testbed.free_port()
        for name in ('host', 'user'):
            testbed.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', self.folder / name])
        # The first lines contain the public half.
        for line in (self.folder / 'user').read_text().splitlines()[3:-1]:
            secret_watch.register(line, 'an SSH key')
        settings = {'Port': self.port, 'ListenAddress': '127.0.0.1', 'HostKey': self.folder / 'host', 'PidFile': 'none',
                    'AuthorizedKeysFile': self.folder / 'user.pub', 'StrictModes': 'no', 'UsePAM': 'no',
                    'PermitRootLogin': 'yes', 'PasswordAuthentication': 'no', 'KbdInteractiveAuthentication': 'no'}
        if variables:
            settings['SetEnv'] = ' '.join(f'{name}={value}' for name, value in variables.items())
        (self.folder / 'config').write_text(''.join(f'{name} {value}\n' for name, value in settings.items()))
        if os.geteuid() == 0:
            pathlib.Path('/run/sshd').mkdir(exist_ok=True)
        with open(self.folder / 'log', 'wb') as log:
            process = subprocess.Popen([SSHD, '-D', '-e', '-f', self.folder / 'config'], stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log)
        testbed.at_exit(testbed.end, process)
        testbed.wait_until(lambda: testbed.listens(self.port), what='sshd')
        public = (self.folder / 'host.pub').read_text()
        (self.folder / 'known_hosts').write_text(f'[127.0.0.1]:{self.port} {public}')
        self.address = f'ssh://{getpass.getuser()}@127.0.0.1:{self.port}'
        self.client = f'ssh -F none -o IdentityFile=none -o UserKnownHostsFile={self.folder}/known_hosts'

    def agent(self):
        """Returns the socket of an agent with the key."""
        place = self.folder / 'agent'
        if not place.exists():
            process = subprocess.Popen(['ssh-agent', '-D', '-a', place], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            testbed.at_exit(testbed.end, process)
            testbed.wait_until(place.exists, what='the agent')
            testbed.run(['ssh-add', '-q', self.folder / 'user'], env=testbed.environment(SSH_AUTH_SOCK=place))
        return place
