"""Git repositories for tests, made with the real git, without this machine's settings."""

import random
import string

import secret_watch
import testbed


AUTHOR = {'GIT_AUTHOR_NAME': 'A', 'GIT_AUTHOR_EMAIL': 'a@example.com', 'GIT_COMMITTER_NAME': 'A',
          'GIT_COMMITTER_EMAIL': 'a@example.com', 'GIT_CONFIG_NOSYSTEM': '1'}


def alone(**changes):
    """Returns an environment without an engine and a network."""
    return testbed.environment(DOCKER_HOST='unix:///nowhere/docker.sock', XDG_CACHE_HOME=testbed.new_folder('cache'),
                               **changes)


def git(folder, *arguments, env=None, check=True):
    return testbed.run(['git', '-C', folder, *arguments], env=(env or testbed.environment()) | AUTHOR, check=check)


def repository(files, name='repository'):
    folder = testbed.new_folder(name)
    git(folder, 'init', '-q', '-b', 'main')
    testbed.write_tree(files, folder)
    commit(folder, 'first')
    return folder


def commit(folder, message):
    git(folder, 'add', '-A')
    git(folder, 'commit', '-q', '-m', message)


def fake_token():
    """Made at run time, so that no text in this repository looks like a token."""
    return secret_watch.register(
        'ghp' + '_' + ''.join(random.Random(1).choices(string.ascii_letters + string.digits, k=36)), 'a token in a project')
