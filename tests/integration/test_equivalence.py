"""Generated trees give the same image with either engine; TREE_SEED repeats a run."""

import hashlib
import os
import random
import shutil
import subprocess
import tarfile
import unittest

import testbed
from testbed import autopack, docker

TREES = 5
WORDS = ('a', 'data', 'with space', ' leading', 'trailing ', 'grün', '数据', "it's", '"quoted"', 'a$HOME', 'star*', '[x]',
         '-dash', '#hash', '!bang', 'semi;colon', 'back\\slash', 'comma,', 'x' * 101, 'y' * 180, 'skip', 'keep.tmp', 'e\u0301')
RULES = ('**/*.tmp', '!**/keep.tmp', 'app/**/skip', '**/x*', 'app/a', '!app/a/data', '# a comment', '*.log', 'app/data/')
SIZES = (0, 1, 511, 512, 513, 4096, 100_000, 1_200_000)


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def name(self):
        base = self.random.choice(WORDS)
        return base + self.random.choice(('', '', '.py', '.tmp', str(self.random.randrange(100))))

    def fill(self, folder, depth):
        made = []
        for _ in range(self.random.randrange(2, 7)):
            path = os.path.join(folder, self.name())
            if os.path.lexists(path):
                continue
            kind = self.random.random()
            if kind < 0.3 and depth:
                os.mkdir(path, self.random.choice((0o755, 0o700, 0o777)))
                self.fill(path, depth - 1)
            elif kind < 0.45:
                self.link(folder)
            elif kind < 0.5 and made:
                os.link(self.random.choice(made), path)
            else:
                with open(path, 'wb') as file:
                    file.write(self.random.randbytes(self.random.choice(SIZES)))
                os.chmod(path, self.random.choice((0o644, 0o600, 0o755, 0o700, 0o666, 0o4755)))
                made.append(path)

    def link(self, folder):
        """A link to a file beside it, so that no rule selects only one: a dangling link is refused."""
        target = os.path.join(folder, 'linked')
        with open(target, 'wb') as file:
            file.write(b'linked')
        way = self.random.choice(('linked', './linked', f'../{os.path.basename(folder)}/linked'))
        path = os.path.join(folder, f'link {self.random.randrange(1000)}')
        if not os.path.lexists(path):
            os.symlink(way, path)

    def project(self):
        folder = testbed.new_folder('tree')
        (folder / 'app').mkdir()
        self.fill(folder / 'app', 3)
        # Path components are at most 255 bytes long, paths are longer.
        deep = folder / 'app' / ('deep' * 30) / ('deeper' * 30)
        deep.mkdir(parents=True)
        (deep / ('n' * 120)).write_text('long')
        os.symlink('n' * 120, deep / 'link')
        with open(os.fsencode(folder / 'app') + b'/latin-\xe9', 'wb') as file:
            file.write(b'not UTF-8')
        (folder / 'extra dir ü').mkdir()
        self.fill(folder / 'extra dir ü', 1)
        (folder / 'start.sh').write_text('echo started\n')
        rules = self.random.sample(RULES, self.random.randrange(len(RULES)))
        (folder / '.dockerignore').write_text('\n'.join(rules) + '\n', encoding='utf-8')
        return folder


def entries(image, directory):
    """Returns path -> kind, mode, owner and content of everything below `directory`."""
    container = docker('create', image, 'none')
    try:
        copy = subprocess.Popen(['docker', 'cp', f'{container}:{directory}', '-'], stdout=subprocess.PIPE)
        found = {}
        with tarfile.open(fileobj=copy.stdout, mode='r|', errors='surrogateescape') as archive:
            for member in archive:
                content = member.linkname
                if member.isreg():
                    content = hashlib.sha256(archive.extractfile(member).read()).hexdigest()
                # A build creates directories and links with its own time.
                time = member.mtime if member.isreg() else 0
                found[ascii(member.name)] = (member.type, member.mode, member.uid, member.gid, time, content)
        copy.wait()
        return found
    finally:
        docker('rm', container)


def configuration(image):
    config = testbed.configuration(image)['Config']
    return {name: config.get(name) for name in ('User', 'Env', 'Entrypoint', 'Cmd', 'WorkingDir', 'Volumes', 'Labels')}


class GeneratedTrees(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('equivalence/base:1')
        cls.seed = int(os.environ.get('TREE_SEED') or random.randrange(1_000_000))
        print(f'TREE_SEED={cls.seed}', flush=True)

    @classmethod
    def tearDownClass(cls):
        testbed.remove_images(f'{testbed.registry()}/equivalence')
        testbed.remove_images('autopack/equivalence')

    def image(self, folder, engine, *flags):
        answer = autopack('build', '--executor-image-uri', self.base, '--script=start.sh', '--extra-dirs=app,extra dir ü',
                          '--no-push', '--format=json', *flags, cwd=folder).json()
        self.assertEqual(answer['engine'], engine)
        return answer['digest']

    def test_are_the_same_image_with_either_engine(self):
        for number in range(TREES):
            with self.subTest(seed=self.seed, tree=number):
                folder = Generator(self.seed + number).project()
                theirs = self.image(folder, 'docker', '--engine=docker', '--display-name=equivalence-built')
                for ours in (self.image(folder, 'direct', '--output=docker', '--display-name=equivalence-put'),
                             self.image(folder, 'direct' if testbed.loads_parts() else 'docker',
                                        '--display-name=equivalence-loaded')):
                    for directory in ('/usr/app', '/home'):
                        mine, other = entries(ours, directory), entries(theirs, directory)
                        self.assertEqual(sorted(set(mine) ^ set(other)), [])
                        self.assertEqual({path: (mine[path], other[path]) for path in mine if mine[path] != other[path]}, {})
                    self.assertEqual(configuration(ours), configuration(theirs))
                shutil.rmtree(folder)


if __name__ == '__main__':
    unittest.main()
