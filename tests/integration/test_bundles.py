"""`--output=bundle:DIR` and `squashfs:FILE`: the root file system of an image, against docker's and with runtimes."""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import tarfile
import tempfile
import unittest

import testbed
from testbed import autopack, docker

NOBODY = 65534
BECOME = ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups']
PROGRAM = 'import os\nprint(os.getuid(), os.getgid(), os.getcwd(), os.environ["GREETING"], os.environ["HOME"])\n'
# Whatever a container may have in its files, in three layers that hide parts of each other.
ODD = r'''
RUN mkdir -p /odd/opq /odd/gone /odd/many && cd /odd && echo one > a && ln a b && ln a c && echo x > opq/lower && \
  echo x > gone/x && truncate -s 5M sparse && printf end >> sparse && mkfifo pipe && mknod null c 1 3 && ln -s a link && \
  printf x > "$(printf 'n\377\\me')" && chmod 4755 b && cp /bin/true able && chown 1000:50 sparse && ln -s /odd/opq away && \
  mkdir closed && echo s > closed/s && chmod 0400 closed/s && chmod 0500 closed && touch -d 2001-02-03 closed && \
  python3 -c "import os; os.setxattr('able', 'security.capability', bytes.fromhex('0100000200200000000000000000000000000000'))"
RUN cd /odd && echo two > a && rm -r opq gone && mkdir opq && echo upper > opq/upper && rm away && mkdir away && \
  echo x > away/x && chmod 0711 /odd
RUN mkdir -p /srv/w && chown 1234:55 /srv/w && echo 'worker:x:1234:55::/srv/w:/bin/sh' >> /etc/passwd
USER worker
ENV GREETING=hello
'''
# An engine makes these for the container, or changes them.
OF_THE_ENGINE = {'.', '.dockerenv', 'dev', 'dev/console', 'etc', 'etc/hostname', 'etc/hosts', 'etc/mtab', 'etc/resolv.conf'}


def facts_of_tar(path):
    """Returns name -> type, mode, owner, time, contents or target, device, capabilities of everything in a tar."""
    found = {}
    with tarfile.open(path, encoding='utf-8', errors='surrogateescape') as tar:
        for member in tar:
            name = os.path.normpath(member.name.strip('/') or '.')
            if member.islnk():
                found[name] = found[os.path.normpath(member.linkname.strip('/'))]
                continue
            content = hashlib.sha256(tar.extractfile(member).read()).hexdigest() if member.isreg() else member.linkname
            able = member.pax_headers.get('SCHILY.xattr.security.capability', '').encode('utf-8', 'surrogateescape')
            device = (member.devmajor, member.devminor) if member.ischr() or member.isblk() else None
            found[name] = (member.type, member.mode & 0o7777, member.uid, member.gid, int(member.mtime), content, device, able)
    return found


def facts_of_directory(root):
    types = {stat.S_IFREG: tarfile.REGTYPE, stat.S_IFDIR: tarfile.DIRTYPE, stat.S_IFLNK: tarfile.SYMTYPE,
             stat.S_IFCHR: tarfile.CHRTYPE, stat.S_IFBLK: tarfile.BLKTYPE, stat.S_IFIFO: tarfile.FIFOTYPE}
    found = {}
    for folder, folders, files in os.walk(root):
        for path in (os.path.join(folder, name) for name in folders + files):
            state = os.lstat(path)
            kind, content, device, able = types[stat.S_IFMT(state.st_mode)], '', None, b''
            if kind == tarfile.REGTYPE:
                content = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
            elif kind == tarfile.SYMTYPE:
                content = os.readlink(path)
            elif kind in (tarfile.CHRTYPE, tarfile.BLKTYPE):
                device = (os.major(state.st_rdev), os.minor(state.st_rdev))
            if 'security.capability' in os.listxattr(path, follow_symlinks=False):
                able = os.getxattr(path, 'security.capability', follow_symlinks=False)
            found[os.path.relpath(path, root)] = (kind, stat.S_IMODE(state.st_mode), state.st_uid, state.st_gid,
                                                  int(state.st_mtime), content, device, able)
    return found


class Base(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.base = f'{testbed.registry()}/bundles/{cls.__name__.lower()}:1'
        context = testbed.write_tree({'Dockerfile': f'FROM {testbed.executor()}\n{ODD}'})
        docker('build', '-q', '-t', cls.base, context)
        docker('push', '-q', cls.base)
        cls.project = testbed.write_tree({'train.py': PROGRAM})

    @classmethod
    def tearDownClass(cls):
        testbed.remove_images(f'{testbed.registry()}/bundles/{cls.__name__.lower()}', f'autopack/{cls.__name__.lower()}')

    def words(self, *flags):
        return ['build', f'--executor-image-uri={self.base}', '--script=train.py', f'--display-name={type(self).__name__.lower()}', *flags]

    def build(self, *flags, status=0, env=None):
        return autopack(*self.words(*flags), cwd=self.project, status=status, env=env)

    def export(self, image):
        """Returns the facts of the files of a container of the image."""
        tar = testbed.new_folder('export', testbed.memory()) / 'files.tar'
        container = docker('create', image)
        docker('export', '-o', tar, container)
        docker('rm', container)
        self.addCleanup(shutil.rmtree, tar.parent)
        return facts_of_tar(tar)

    def check_equal(self, ours, theirs, but=frozenset()):
        ignored = OF_THE_ENGINE | but
        self.assertGreater(len(ours), 5000)
        self.assertEqual({name: facts for name, facts in ours.items() if name not in ignored},
                         {name: facts for name, facts in theirs.items() if name not in ignored})


class Squashfs(Base):
    ADDED = {'etc/rc', 'etc/environment', '.singularity.d', '.singularity.d/env', '.singularity.d/runscript',
             '.singularity.d/env/10-docker2singularity.sh'}

    def tar_of(self, file):
        tar = testbed.new_folder('squashfs', testbed.memory()) / 'files.tar'
        self.addCleanup(shutil.rmtree, tar.parent)
        with open(tar, 'wb') as into:
            subprocess.run(['sqfs2tar', file], stdout=into, check=True)
        return facts_of_tar(tar)

    def test_has_the_files_of_a_container(self):
        place = testbed.new_folder('squashfs')
        image = self.build('--no-push', '--output=docker', f'--output=squashfs:{place}/made').out.strip()
        ours = self.tar_of(place / 'made')
        self.check_equal(ours, self.export(image), self.ADDED)
        self.assertLessEqual(self.ADDED, ours.keys())
        self.assertEqual(ours['odd/sparse'][2:4], (1000, 50))
        listed = testbed.run(['unsquashfs', '-lln', place / 'made']).stdout
        self.assertIn(b'squashfs-root/odd/n\xff\\me', listed)
        self.assertIn(b'crw-r--r-- 0/0                   1,  3 ', listed)
        said = testbed.run(['unsquashfs', '-cat', place / 'made', 'etc/environment']).stdout
        self.assertIn(b'GREETING=hello\n', said)

    def test_is_the_same_each_time(self):
        place = testbed.new_folder('squashfs')
        cache = testbed.new_folder('cache')
        self.build('--no-push', f'--output=squashfs:{place}/one')
        autopack(*self.words('--no-push', f'--output=squashfs:{place}/two'), cwd=self.project, umask=0o077,
                 env=testbed.environment(XDG_CACHE_HOME=cache, TZ='Asia/Tokyo', DOCKER_HOST='unix:///nowhere'))
        self.assertEqual((place / 'one').read_bytes(), (place / 'two').read_bytes())

    def test_starts_its_program(self):
        place = testbed.new_folder('squashfs', testbed.memory())
        self.addCleanup(shutil.rmtree, place)
        self.build('--no-push', f'--output=squashfs:{place}/made')
        testbed.run(['unsquashfs', '-q', '-n', '-d', place / 'root', place / 'made'])
        for script in ('etc/rc', '.singularity.d/runscript'):
            start = '. /.singularity.d/env/*.sh; cd /; . ' + f'/{script}'
            answer = testbed.run(['chroot', place / 'root', '/usr/bin/env', '-i', '/bin/sh', '-c', start])
            self.assertEqual(answer.stdout.decode(), '0 0 /usr/app hello /home\n', answer.stderr)

    def test_that_is_not_finished_leaves_nothing(self):
        place = testbed.new_folder('squashfs')
        for how in (signal.SIGINT, signal.SIGKILL):
            process = testbed.Process(*self.words('--no-push', f'--output=squashfs:{place}/made'), cwd=self.project)
            self.addCleanup(testbed.end, process)
            testbed.wait_until(lambda: any(path.stat().st_size for path in place.glob('.made.*')), what='a squashfs under way')
            process.send_signal(how)
            process.communicate()
            self.assertEqual(process.returncode, 130 if how == signal.SIGINT else -how)
            self.assertFalse((place / 'made').exists())
        self.build('--no-push', f'--output=squashfs:{place}/made')
        self.assertEqual([path.name for path in place.iterdir()], ['made'])


class Bundles(Base):
    def place(self):
        """Returns a folder that every user can enter."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix='autopack-bundle-'))
        self.addCleanup(shutil.rmtree, folder)
        folder.chmod(0o755)
        return folder

    @staticmethod
    def start(runtime, bundle, become=()):
        """Runs a bundle's program. crun refuses a machine with both versions of cgroups, so it sees none."""
        program = shutil.which(runtime, path=os.environ['PATH'] + ':/usr/sbin')
        options = ['--cgroup-manager=disabled'] if runtime == 'crun' else []
        hide = 'mount -t tmpfs none /sys/fs/cgroup; ' if runtime == 'crun' else ''
        state = bundle.parent / f'state-{runtime}'
        return testbed.run(['unshare', '--mount', 'sh', '-c', hide + 'exec "$@"', 'sh', *become, program, '--root', state, *options,
                            'run', '--bundle', bundle, f'test-{runtime}-{os.getpid()}'], check=False, cwd=bundle)

    def test_have_the_files_of_a_container(self):
        place = self.place()
        image = self.build('--no-push', '--output=docker', f'--output=bundle:{place}/made').out.strip()
        theirs, ours = self.export(image), facts_of_directory(place / 'made' / 'rootfs')
        self.check_equal(ours, theirs)
        self.assertEqual(ours['odd/able'][-1][:4], bytes.fromhex('01000002'))
        root = place / 'made' / 'rootfs' / 'odd'
        self.assertEqual((root / 'b').stat().st_ino, (root / 'c').stat().st_ino)
        self.assertLess((root / 'sparse').stat().st_blocks * 512, 100_000)
        self.assertEqual(stat.S_IMODE((place / 'made').stat().st_mode), 0o700)

    def test_run_as_root_with_the_user_of_the_image(self):
        place = self.place()
        self.build('--no-push', f'--output=bundle:{place}/made')
        for runtime in ('runc', 'crun'):
            with self.subTest(runtime):
                answer = self.start(runtime, place / 'made')
                self.assertEqual(answer.stdout.decode(), '1234 55 /usr/app hello /home\n', answer.stderr)

    def test_of_another_user_run_and_are_the_same_each_time(self):
        place = self.place()
        shutil.copy(testbed.binary, place / 'autopack')
        for path in (self.project, self.project / 'train.py'):
            path.chmod(0o755)
        project = shutil.copytree(self.project, place / 'project')
        for path in (place, *place.rglob('*')):
            os.chown(path, NOBODY, NOBODY)
        for number, umask in enumerate(('077', '000')):
            env = testbed.environment(HOME=place, XDG_CACHE_HOME=place / f'cache-{number}', DOCKER_HOST='unix:///nowhere')
            testbed.run([*BECOME, 'sh', '-c', f'umask {umask}; exec "$@"', 'sh', place / 'autopack',
                         *self.words('--no-push', f'--output=bundle:{place}/made-{number}')], cwd=project, env=env)
        first, second = (facts_of_directory(place / f'made-{number}') for number in range(2))
        self.assertEqual(first, second)
        self.assertEqual(first['rootfs/odd/b'][1], 0o755)
        self.assertNotIn('rootfs/odd/null', first)
        self.assertEqual({facts[2] for facts in first.values()}, {NOBODY})
        for runtime in ('runc', 'crun'):
            with self.subTest(runtime):
                answer = self.start(runtime, place / 'made-0', BECOME)
                self.assertEqual(answer.stdout.decode(), '0 0 /usr/app hello /home\n', answer.stderr)

    def test_go_besides_a_registry_with_each_builder(self):
        place = self.place()
        name = f'{testbed.registry()}/bundles/bundles-pushed:1'
        # The other tests have the direct builder.
        for engine in ('docker',) if testbed.FORM == 'daily' else ('direct', 'docker'):
            with self.subTest(engine):
                self.build(f'--engine={engine}', f'--output-image-uri={name}', f'--output=bundle:{place}/{engine}',
                           f'--output=oci:{place}/layout-{engine}')
                docker('pull', '-q', name)
                self.check_equal(facts_of_directory(place / engine / 'rootfs'), self.export(name))

    def test_replace_no_other_directory(self):
        place = self.place()
        (place / 'mine').mkdir()
        (place / 'mine' / 'notes').write_text('mine')
        answer = self.build('--no-push', f'--output=bundle:{place}/mine', status=2)
        self.assertIn(f'could not write `bundle:{place}/mine`', answer.err)
        self.assertIn('exists and is not a bundle by autopack', answer.err)
        self.assertEqual([path.name for path in place.rglob('*')], ['mine', 'notes'])

    def test_that_are_not_finished_leave_nothing(self):
        place = self.place()
        self.build('--no-push', f'--output=bundle:{place}/made')
        before = (place / 'made').stat().st_ino
        for how in (signal.SIGINT, signal.SIGKILL):
            with self.subTest(how):
                process = testbed.Process(*self.words('--no-push', f'--output=bundle:{place}/made'), cwd=self.project)
                self.addCleanup(testbed.end, process)
                testbed.wait_until(lambda: list(place.glob('.made.*/contents/*')), what='a bundle under way')
                process.send_signal(how)
                process.communicate()
                self.assertEqual(process.returncode, 130 if how == signal.SIGINT else -how)
                self.assertEqual((place / 'made').stat().st_ino, before)
                if how == signal.SIGINT:
                    self.assertEqual([path.name for path in place.iterdir()], ['made'])
        self.build('--no-push', f'--output=bundle:{place}/made')
        self.assertEqual([path.name for path in place.iterdir()], ['made'])
        self.assertNotEqual((place / 'made').stat().st_ino, before)

    def test_of_two_runs_at_once(self):
        place = self.place()
        both = [testbed.Process(*self.words('--no-push', f'--output=bundle:{place}/made'), cwd=self.project) for _ in range(2)]
        for process in both:
            self.addCleanup(testbed.end, process)
            _, errors = process.communicate()
            self.assertEqual(process.returncode, 0, errors)
        self.assertEqual([path.name for path in place.iterdir()], ['made'])
        self.build('--no-push', f'--output=bundle:{place}/alone')
        self.assertEqual(facts_of_directory(place / 'made'), facts_of_directory(place / 'alone'))
        configuration = json.loads((place / 'made' / 'config.json').read_text())
        self.assertEqual(configuration['process']['args'], ['python3', 'train.py'])


if __name__ == '__main__':
    unittest.main()
