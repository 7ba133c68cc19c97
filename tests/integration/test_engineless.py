"""`run` without an engine: the image's layers are unpacked, and bwrap, crun or runc starts the program."""

import functools
import os
import pathlib
import shutil
import signal
import tempfile
import unittest

import terminal
import testbed
from testbed import autopack, docker

RUNTIMES = ('bwrap', 'crun', 'runc')
NOBODY = 65534
# What the program sees: everything but names that an engine invents.
SHOW = '''import os, sys
print(sys.argv[1:], os.getcwd(), os.getpid(), os.getuid(), os.getgid(), sys.stdin.read())
print({name: value for name, value in os.environ.items() if name not in ('HOSTNAME', 'PWD')})
print(os.path.isdir('/proc/1'), os.access('/dev/null', os.W_OK), os.path.isdir('/dev/shm'), os.path.isdir('/sys/class'))
print(sorted(os.listdir('/proc/self/fd'))[:3], len(os.listdir('/proc/self/fd')))
print(os.path.getmtime(__file__), oct(os.stat(__file__).st_mode))
sys.stderr.write('note\\n')
sys.exit(3)
'''


def only(runtime):
    """Returns a PATH on which no other runtime is found first."""
    folder = testbed.new_folder('bin')
    (folder / runtime).symlink_to(shutil.which(runtime, path=os.environ['PATH'] + ':/usr/sbin'))
    return folder


def without_engine(**variables):
    return testbed.index_environment(DOCKER_HOST='unix:///nowhere/docker.sock', **variables)


def new_cache():
    """Returns a cache in memory, where a base is unpacked in less time."""
    return shutil.move(testbed.new_cache(), testbed.new_folder('cache', testbed.memory()) / 'cache')


@functools.cache
def shared_cache():
    return new_cache()


class Engineless(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('engineless/base:1')
        cls.cache = shared_cache()

    @classmethod
    def tearDownClass(cls):
        testbed.remove_images(f'{testbed.registry()}/engineless', 'autopack/engineless')

    def roots(self, cache=None):
        return pathlib.Path(cache or self.cache) / 'autopack' / 'roots'

    def env(self, runtime='bwrap', cache=None, **variables):
        return without_engine(XDG_CACHE_HOME=cache or self.cache, PATH=only(runtime), **variables)

    def run_here(self, files, *flags, env=None, **options):
        folder = files if isinstance(files, pathlib.Path) else testbed.write_tree(files)
        return autopack('run', f'--executor-image-uri={self.base}', *flags, cwd=folder, env=env or self.env(), **options)


class Programs(Engineless):
    maxDiff = 4000

    def test_see_what_they_see_with_an_engine(self):
        folder = testbed.write_tree({'task.py': SHOW, 'job.env': 'B=file\n'})
        flags = ['--env=A=x y', '--env-file=job.env', '--', '--epochs=3', '', 'a b']
        engine = self.run_here(folder, *flags, env=testbed.index_environment(), input=b'words', status=3)
        self.addCleanup(testbed.remove_images, f'autopack/{folder.name}')
        file = open(__file__, 'rb')  # a descriptor that is not the program's
        self.addCleanup(file.close)
        for runtime in RUNTIMES:
            with self.subTest(runtime):
                answer = self.run_here(folder, *flags, env=self.env(runtime), input=b'words', status=3, pass_fds=[file.fileno()])
                self.assertEqual(answer.out, engine.out)
                self.assertIn('note\n', answer.err)
                self.assertIn(f'{runtime}: no docker engine answers', answer.err)

    def test_see_volumes(self):
        data = testbed.write_tree({'words.txt': 'from here\n'})
        program = ('print(open("/data/words.txt").read(), open("/one.txt").read())\n'
                   'open("/out/new", "w").write("x")\nopen("/data/new", "w")\n')
        for runtime in RUNTIMES:
            with self.subTest(runtime):
                out = testbed.new_folder('out')
                answer = self.run_here({'task.py': program}, f'--volume={data}:/data:ro', f'--volume={out}:/out',
                                       f'--volume={data}/words.txt:/one.txt:ro', env=self.env(runtime), status=1)
                self.assertEqual(answer.out, 'from here\n from here\n\n')
                self.assertIn('Read-only file system', answer.err)
                self.assertEqual((out / 'new').read_text(), 'x')
                self.assertEqual((out / 'new').stat().st_uid, os.getuid())

    def test_get_signals(self):
        program = ('import signal, sys, time\n'
                   'signal.signal(signal.SIGTERM, lambda *_: (print("bye", flush=True), sys.exit(9)))\n'
                   'print("ready", flush=True)\ntime.sleep(60)\n')
        for runtime in RUNTIMES:
            with self.subTest(runtime):
                process = testbed.Process('run', f'--executor-image-uri={self.base}', env=self.env(runtime),
                                          cwd=testbed.write_tree({'task.py': program}))
                self.assertEqual(process.stdout.readline(), b'ready\n')
                process.send_signal(signal.SIGTERM)
                out, err = process.communicate(timeout=20)
                self.assertEqual((out, process.returncode), (b'bye\n', 9), err)

    def test_change_nothing_for_the_next(self):
        program = ('import os\nprint(os.path.exists("/usr/new"), os.path.exists("/etc/passwd"))\n'
                   'open("/usr/new", "w").write("x")\nos.remove("/etc/passwd")\nos.chmod("/usr", 0)\n'
                   'open(__file__, "a").write("# changed")\n')
        folder = testbed.write_tree({'task.py': program})
        first = self.run_here(folder)
        before = testbed.tree_hash(self.roots())
        second = self.run_here(folder)
        self.assertEqual((first.out, second.out), ('False True\n', 'False True\n'))
        self.assertEqual(testbed.tree_hash(self.roots()), before)
        self.assertEqual(os.listdir(self.roots() / 'runs'), [])

    def test_run_in_a_shell_and_unchanged(self):
        answer = self.run_here({'task.py': 'print("not this")\n'}, '--shell', '--', '-c', 'pwd; ls')
        self.assertEqual(answer.out, '/usr/app\ntask.py\n')
        answer = self.run_here(testbed.new_folder('none'), '--', 'echo', 'as it is')
        self.assertEqual(answer.out, 'as it is\n')

    def test_have_a_terminal(self):
        program = ('import os, sys, time\nprint(sys.stdin.isatty(), os.get_terminal_size().columns, os.getpgrp() >= 0)\n'
                   'print(input("name? ").upper())\n'
                   'try:\n    print("ready")\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    print("interrupted")\n    sys.exit(7)\n')
        for runtime in RUNTIMES:
            with self.subTest(runtime):
                session = terminal.Terminal([testbed.binary, 'run', f'--executor-image-uri={self.base}'], self.env(runtime),
                                            testbed.write_tree({'task.py': program}), columns=97)
                self.assertIn('True 97 True', session.read('name? '))
                session.type('someone\r')
                self.assertIn('SOMEONE', session.read('ready'))
                session.type('\x03')
                self.assertIn('interrupted', session.read())
                self.assertEqual(session.wait(), 7)

    def test_have_jobs_in_a_shell(self):
        session = terminal.Terminal([testbed.binary, 'run', f'--executor-image-uri={self.base}', '--shell'], self.env(),
                                    testbed.write_tree({'task.py': ''}))
        session.read('# ')
        session.type('sleep 60 & jobs; fg\r')
        session.read('Running')
        session.type('\x03')
        session.type('echo a""b; exit 5\r')
        self.assertIn('ab\r\n', session.read())
        self.assertNotIn('no job control', session.text)
        self.assertEqual(session.wait(), 5)

    def test_start_again_when_a_file_changes(self):
        folder = testbed.write_tree({'task.py': 'import time\nprint("one", flush=True)\ntime.sleep(60)\n'})
        process = testbed.Process('run', '--watch', f'--executor-image-uri={self.base}', cwd=folder, env=self.env())
        self.assertEqual(process.stdout.readline(), b'one\n')
        (folder / 'task.py').write_text('print("two", flush=True)\n')
        self.assertEqual(process.stdout.readline(), b'two\n')
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertEqual((out, process.returncode), (b'', 130), err)
        self.assertIn(b'Restarts  task.py', err)

    def test_use_the_network_of_the_machine(self):
        port = self.base.split(':')[1].split('/')[0]
        program = f'import socket\nsocket.create_connection(("localhost", {port}))\nprint("connected")\n'
        self.assertEqual(self.run_here({'task.py': program}, '--publish=6006:6006', '--publish=6007').out, 'connected\n')
        answer = self.run_here({'task.py': program}, '--publish=8080:6006', '--gpus=all', status=125)
        self.assertIn('port 6006 of the program cannot be port 8080 of this machine', answer.err)
        self.assertIn('the program gets no GPUs', answer.err)


class Images(Engineless):
    def test_with_requirements_and_an_edit(self):
        folder = testbed.write_tree({'task.py': 'import greeter\nprint(greeter.hello())\n', 'requirements.txt': 'greeter==1.0\n'})
        answer = self.run_here(folder)
        self.assertEqual(answer.out, 'hello one\n')
        layers = set(os.listdir(self.roots() / 'layers'))
        (folder / 'task.py').write_text('import greeter\nprint(greeter.hello().upper())\n')
        answer = self.run_here(folder)
        self.assertEqual(answer.out, 'HELLO ONE\n')
        self.assertRegex(answer.err, r'Unpacked +1 of \d+ layers')
        # The layer of the old code is gone; that of the new code replaces it.
        now = set(os.listdir(self.roots() / 'layers'))
        self.assertEqual((len(layers - now), len(now - layers)), (1, 1))
        self.assertNotIn('Unpacked', self.run_here(folder).err)

    def test_that_take_files_away_and_have_a_user(self):
        name = f'{testbed.registry()}/engineless/changed:1'
        docker('build', '-q', '-t', name, testbed.write_tree({'Dockerfile': f'''FROM {testbed.executor()}
RUN useradd --uid 1234 --home-dir /srv/home worker && mkdir -p /opt/a && touch /opt/a/old /opt/gone && chmod 700 /opt/a
RUN rm /opt/gone && rm -r /opt/a && mkdir /opt/a && touch /opt/a/new && chown -R worker /opt/a
USER worker
'''}))
        docker('push', '-q', name)
        program = ('import getpass, os\nprint(getpass.getuser(), os.getuid(), os.getgid(), sorted(os.listdir("/opt")), '
                   'os.listdir("/opt/a"), os.environ["HOME"])\nopen("/opt/a/mine", "w")\n')
        folder = testbed.write_tree({'task.py': program})
        flags = ['run', f'--executor-image-uri={name}']
        expected = autopack(*flags, cwd=folder, env=testbed.index_environment()).out
        self.addCleanup(testbed.remove_images, f'autopack/{folder.name}')
        self.assertEqual(autopack(*flags, cwd=folder, env=self.env()).out, expected)
        self.assertIn("['a'] ['new']", expected)

    def test_at_once_are_unpacked_once(self):
        cache = new_cache()
        env = self.env(cache=cache)
        folder = testbed.write_tree({'task.py': 'print("ran")\n'})
        running = [testbed.Process('run', f'--executor-image-uri={self.base}', cwd=folder, env=env) for _ in range(2)]
        for process in running:
            out, err = process.communicate(timeout=60)
            self.assertEqual((out, process.returncode), (b'ran\n', 0), err)
        self.assertEqual([name for name in os.listdir(self.roots(cache) / 'layers') if name.startswith('.')], [])
        cleaned = autopack('clean', '--all', cwd=folder, env=env)
        self.assertIn('unpacked layers of images', cleaned.err)
        self.assertFalse(self.roots(cache).exists())

    def test_that_an_engine_has_to_build(self):
        folder = testbed.write_tree({'Dockerfile': f'FROM {self.base}\nRUN true\n'})
        answer = autopack('run', '--dockerfile=Dockerfile', cwd=folder, env=self.env(), status=125)
        self.assertIn('only an engine can build this image: `Dockerfile` is the user\'s own Dockerfile', answer.err)

    def test_of_an_unprivileged_user(self):
        # Outside of the folder of the tests, which only its user may enter.
        place = pathlib.Path(tempfile.mkdtemp(prefix=f'autopack-tests-{os.getpid()}-', dir=testbed.memory().parent))
        self.addCleanup(shutil.rmtree, place)
        shutil.copytree(self.cache / 'autopack' / 'bases', place / '.cache' / 'autopack' / 'bases')
        shutil.copy(testbed.binary, place / 'autopack')
        program = 'import os\nopen("/usr/x", "w")\nprint(os.getuid(), os.path.exists("/usr/x"))\n'
        folder = testbed.write_tree({'task.py': program}, place / 'project')
        paths = {runtime: shutil.copytree(only(runtime), place / runtime, symlinks=True) for runtime in RUNTIMES}
        for path in (place, *place.rglob('*')):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        become = [shutil.which('setpriv'), f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups']
        for runtime in RUNTIMES:
            with self.subTest(runtime):
                env = without_engine(HOME=place, XDG_CACHE_HOME=place / '.cache', PATH=paths[runtime])
                answer = testbed.run([*become, place / 'autopack', 'run', f'--executor-image-uri={self.base}'],
                                     cwd=folder, env=env)
                self.assertEqual(answer.stdout, b'0 True\n')
                self.assertIn(f'{runtime}: no docker engine answers', answer.stderr.decode())


class Ends(Engineless):
    def test_of_a_killed_run_leave_nothing(self):
        program = 'import os, time\nos.mkdir("/usr/closed", 0)\nprint("ready", flush=True)\ntime.sleep(60)\n'
        for runtime in RUNTIMES:
            with self.subTest(runtime):
                folder = testbed.write_tree({'task.py': program})
                process = testbed.Process('run', f'--executor-image-uri={self.base}', f'--env=TOKEN={folder.name}-hidden',
                                          cwd=folder, env=self.env(runtime))
                self.assertEqual(process.stdout.readline(), b'ready\n')
                mine = self.processes_with(f'{folder.name}-hidden'.encode())
                self.assertTrue(mine)
                process.kill()
                process.communicate()
                testbed.wait_until(lambda: not any(pathlib.Path('/proc', pid).exists() for pid in mine),
                                   what='the end of the program')
                self.assertEqual(len(os.listdir(self.roots() / 'runs')), 1)
                self.run_here({'task.py': 'print(1)\n'})
                self.assertEqual(os.listdir(self.roots() / 'runs'), [])

    def processes_with(self, hidden):
        """Returns the processes that have `hidden` in a variable; only autopack may have it in its command line."""
        found = []
        for place in pathlib.Path('/proc').glob('[0-9]*'):
            try:
                words, variables = (place / 'cmdline').read_bytes().split(b'\0'), (place / 'environ').read_bytes()
            except OSError:
                continue
            if words[0] != testbed.binary.encode():
                self.assertNotIn(hidden, b' '.join(words))
            if hidden in variables:
                found.append(place.name)
        return found

    def test_doctor_names_the_runtime(self):
        answer = autopack('doctor', env=self.env('crun', NO_GCE_CHECK='true'), status=1)
        self.assertIn('`run` uses crun if no engine answers', answer.out)

    def test_without_a_runtime_name_the_package(self):
        folder = testbed.write_tree({'task.py': 'print(1)\n'})
        hide = 'mount -t tmpfs none /usr/sbin; mount -t tmpfs none /usr/local/sbin; PATH=$1; shift; exec "$@"'
        answer = testbed.run(['unshare', '--map-root-user', '--mount', 'sh', '-c', hide, 'sh', testbed.new_folder('bin'),
                              testbed.binary, 'run', f'--executor-image-uri={self.base}'], cwd=folder, check=False,
                             env=without_engine(XDG_CACHE_HOME=self.cache))
        said = answer.stderr.decode()
        self.assertEqual(answer.returncode, 125, said)
        self.assertIn('none of `bwrap`, `crun` and `runc` is installed', said)
        self.assertIn('hint: apt-get install bubblewrap', said)
        self.assertIn('/nowhere/docker.sock', said)
