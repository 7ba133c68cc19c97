"""Requirements in repositories: fetched by this machine's git with its keys, or refused with the fix."""

import functools
import http.server
import json
import unittest

import loopback
import secret_watch
import testbed
from repositories import git
from ssh_server import SshServer
from terminal import Terminal
from test_sources import ENTRY, write_in_tree
from testbed import autopack, docker


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def repository(name):
    """Returns its folder and its commit."""
    folder = write_in_tree(name, '3.0')
    for words in (['init', '-q', '-b', 'main'], ['add', '.'], ['commit', '-q', '-m', 'one'], ['update-server-info']):
        git(folder, *words)
    return folder, git(folder, 'rev-parse', 'HEAD').stdout.decode().strip()


class Repositories(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('repositories/base:1')
        cls.index = testbed.start_index()
        cls.server = SshServer()
        cls.place, cls.commit = repository('versioned')
        cls.url = f'{cls.server.address}{cls.place}'
        # Names its own address, which pip does not record: the account is another person's elsewhere.
        cls.url_without_account = f'ssh://127.0.0.1:{cls.server.port}{cls.place}'

    def setUp(self):
        self.cache = testbed.new_cache()
        self.env = testbed.environment(PIP_INDEX_URL=self.index.url, XDG_CACHE_HOME=self.cache,
                                       GIT_SSH_COMMAND=self.server.client, SSH_AUTH_SOCK=None)
        self.folder = testbed.write_tree({'train.py': ENTRY})
        self.name = testbed.image_name('repositories')

    def words(self, *flags):
        return ['build', '--executor-image-uri', self.base, '--script=train.py', '--format=json', '-v',
                '--build-network=host', f'--output-image-uri={self.name}', *flags]

    def build(self, *lines, flags=(), status=0, **env):
        (self.folder / 'requirements.txt').write_text(''.join(line + '\n' for line in lines))
        return autopack(*self.words(*flags), cwd=self.folder, env={**self.env, **env}, status=status)

    def serve(self, folder):
        server = loopback.Server(functools.partial(Quiet, directory=str(folder)))
        self.addCleanup(server.close)
        return server.url.rstrip('/')

    def test_by_ssh_with_the_key_of_an_agent_and_by_http(self):
        other, commit = repository('other')
        answer = self.build(f'versioned @ git+{self.url}@{self.commit}', f'git+{self.serve(other)}/.git@{commit}#egg=other',
                            SSH_AUTH_SOCK=str(self.server.agent()))
        uri = answer.json()['uri']
        # The output of programs is searched for the key.
        told = json.loads(testbed.run_image(uri, 'versioned', 'other'))
        self.assertEqual([told[name][0] for name in told], ['3.0', '3.0'])
        self.assertEqual(told['versioned'][2], {'url': self.url_without_account, 'vcs_info': {
            'commit_id': self.commit, 'requested_revision': self.commit, 'vcs': 'git'}})
        testbed.run_image('--entrypoint', 'tar', uri, '-cC', '/', 'usr/local', 'usr/app', 'home', 'root')
        docker('history', '--no-trunc', uri)
        docker('inspect', uri)
        self.assertEqual(secret_watch.files_that_show(self.cache), [])
        self.assertIn('once the docker engine has built', autopack(
            'explain', *self.words()[1:5], f'--output-image-uri={self.name}', cwd=self.folder, env=self.env).out)

    def test_without_a_key_the_requirement_is_named(self):
        answer = self.build(f'versioned @ git+{self.url}@{self.commit}', status=1)
        self.assertIn(f'requirements.txt:1: could not build `{self.url}`', answer.err)
        self.assertIn('Permission denied', answer.err)
        self.assertIn(f'git ls-remote {self.url}', answer.err)

    def test_a_server_that_is_not_known_is_no_question(self):
        (self.folder / 'requirements.txt').write_text(f'versioned @ git+{self.url}@{self.commit}\n')
        program = Terminal([testbed.binary, *self.words()], {**self.env, 'GIT_SSH_COMMAND':
                           'ssh -F none -o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=ask'}, self.folder)
        told = program.read()
        self.assertEqual(program.wait(), 1)
        self.assertNotIn('yes/no', told)
        self.assertIn('Host key verification failed', told)

    def test_a_branch_is_resolved_by_the_git_of_this_machine(self):
        line = f'versioned @ git+{self.url}@main'
        self.env['AUTOPACK_UV'] = str(testbed.uv())
        answer = self.build(line, SSH_AUTH_SOCK=str(self.server.agent()))
        self.assertEqual(json.loads(testbed.run_image(answer.json()['uri'], 'versioned'))['versioned'][0], '3.0')
        # pip would need ssh in the image, and the keys.
        answer = self.build(line, flags=['--resolver=engine'], status=2)
        self.assertIn(f'`git+{self.url}@main` is fetched over SSH, and the executor image does not have it', answer.err)
        self.assertIn('requirements.txt:1', answer.err)
        self.assertIn('`--resolver=engine`', answer.err)

    def test_an_address_in_git_s_own_form_is_refused(self):
        answer = self.build('versioned @ git+ssh://git@host.example:team/versioned.git', status=2)
        self.assertIn('write `git+ssh://git@host.example/team/versioned.git`', answer.err)

    def test_what_pip_cannot_fetch_is_refused_before_the_build(self):
        answer = self.build(f'versioned @ git+{self.serve(self.place)}/.git@{self.commit}', flags=['--engine=docker'], status=2)
        self.assertIn('is fetched by git, and the executor image does not have it', answer.err)
        self.assertIn('requirements.txt:1', answer.err)
        self.assertIn('--system-packages=git', answer.err)
