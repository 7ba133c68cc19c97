"""`run` is the program's own: streams, status, arguments, signals."""

import signal
import unittest

import testbed
from testbed import autopack


def run(files, *flags, entry='--script=task.py', env=None, **options):
    folder = testbed.write_tree(files)
    return autopack('run', '--executor-image-uri', testbed.executor(), entry, *flags, cwd=folder, env=env, **options)


class Run(unittest.TestCase):
    def test_streams_stay_apart(self):
        answer = run({'task.py': 'import sys\nprint("result")\nprint("note", file=sys.stderr)\n'})
        self.assertEqual(answer.out, 'result\n')
        self.assertIn('note\n', answer.err)

    def test_status_is_the_programs(self):
        run({'task.py': 'raise SystemExit(3)\n'}, status=3)

    def test_standard_input_is_passed(self):
        answer = run({'task.py': 'import sys\nprint(sys.stdin.read().upper())\n'}, input=b'some words')
        self.assertEqual(answer.out, 'SOME WORDS\n')

    def test_bytes_are_passed_as_they_are(self):
        folder = testbed.write_tree({'task.py': 'import sys\nsys.stdout.buffer.write(bytes(range(256)))\n'})
        result = testbed.run([testbed.binary, 'run', '--executor-image-uri', testbed.executor(), '--script=task.py'],
                             cwd=folder)
        self.assertEqual(result.stdout, bytes(range(256)))

    def test_arguments_are_passed_as_they_are(self):
        answer = run({'task.py': 'import sys\nprint(sys.argv[1:])\n'}, '--', '--epochs=3', 'a b', '', '--epochs=3')
        self.assertEqual(answer.out, "['--epochs=3', 'a b', '', '--epochs=3']\n")

    def test_runs_an_image_without_packaging(self):
        folder = testbed.new_folder('no-program')
        answer = autopack('run', '--executor-image-uri', testbed.executor(), '--', 'echo', 'as it is', cwd=folder)
        self.assertEqual(answer.out, 'as it is\n')

    def test_an_image_alone_gets_the_program_of_the_directory(self):
        folder = testbed.write_tree({'train.py': 'import sys\nprint("trained", *sys.argv[1:])\n'})
        answer = autopack('run', '--executor-image-uri', testbed.executor(), '--', '--epochs=2', cwd=folder)
        self.assertEqual(answer.out, 'trained --epochs=2\n')
        answer = autopack('run', '--no-infer', '--executor-image-uri', testbed.executor(), '--', 'echo', 'x', cwd=folder)
        self.assertEqual(answer.out, 'x\n')
        self.assertIn('as it is: no entry point was named', answer.err)

    def test_an_image_of_the_settings_gets_the_program(self):
        folder = testbed.write_tree({'train.py': 'print("trained")\n',
                                     'autopack.yaml': f'executor-image-uri: {testbed.executor()}\n'})
        self.assertEqual(autopack('run', cwd=folder).out, 'trained\n')

    def test_what_is_inferred_is_told_before_it_can_fail(self):
        folder = testbed.write_tree({'train.py': 'print("trained")\n', '.python-version': '3.11\n'})
        environment = testbed.environment(DOCKER_HOST='unix:///nowhere/docker.sock', HTTPS_PROXY='http://127.0.0.1:1')
        answer = autopack('build', '--no-push', cwd=folder, env=environment, status=None)
        self.assertLess(answer.err.index('Inferred  executor image `python:3.11`'), answer.err.index('error: '), answer)

    def test_the_program_is_inferred_and_told(self):
        folder = testbed.write_tree({'fit.py': 'if __name__ == "__main__":\n    print("fitted")\n', 'net.py': ''})
        answer = autopack('build', '--no-push', '--executor-image-uri', testbed.executor(), cwd=folder)
        self.assertIn('script `fit.py`: the only program to train with, by its name', answer.err)
        answer = autopack('build', '--no-push', '--no-infer', '--executor-image-uri', testbed.executor(), cwd=folder,
                          status=2)
        self.assertIn('nothing to run', answer.err)

    def test_environment_and_arguments_of_flags_and_settings(self):
        files = {'task.py': 'import os, sys\nprint(os.environ["A"], os.environ["B"], os.environ["C"], sys.argv[1:])\n',
                 'autopack.yaml': 'env: {A: settings}\nargs: [--lr=1]\n',
                 'job.env': '\ufeff# a comment\n\nB=file\nC\n'}
        answer = run(files, '--env-file=job.env', '--', '--last', env=testbed.environment(C='of the shell'))
        self.assertEqual(answer.out, "settings file of the shell ['--lr=1', '--last']\n")
        answer = run(files, '--env-file=job.env', '--env=A=flag,C=3', '--args=one,two')
        self.assertEqual(answer.out, "flag file 3 ['one', 'two']\n")

    def test_a_volume_is_seen_and_a_port_published(self):
        data = testbed.write_tree({'words.txt': 'from here\n'})
        answer = run({'task.py': 'print(open("/data/words.txt").read(), end="")\n'}, f'--volume={data}:/data:ro',
                     '--publish=127.0.0.1:0:6006', status=None)
        self.assertIn('is not `HOST:CONTAINER` of port numbers', answer.err)
        answer = run({'task.py': 'print(open("/data/words.txt").read(), end="")\nopen("/data/new", "w")\n'},
                     f'--volume={data}:/data:ro', '--publish=6006', status=1)
        self.assertEqual(answer.out, 'from here\n')
        self.assertFalse((data / 'new').exists())

    def test_a_shell_in_the_image(self):
        answer = run({'task.py': 'print("not this")\n'}, '--shell', '--', '-c', 'pwd; ls')
        self.assertEqual(answer.out, '/usr/app\ntask.py\n')

    def test_missing_credentials_make_no_directory(self):
        home = testbed.new_folder('home')
        run({'task.py': 'print(1)\n'}, env=testbed.environment(HOME=home))
        self.assertFalse((home / '.config' / 'gcloud').exists())
        missing = home / 'key.json'
        answer = run({'task.py': 'print(1)\n'}, '--service-account-key-file', missing, status=None)
        self.assertIn(answer.status, (2, 125), answer)
        self.assertFalse(missing.exists())

    def test_credentials_are_mounted(self):
        key = testbed.write_tree({'key.json': '{"type": "service_account"}'}) / 'key.json'
        answer = run({'task.py': 'import os\nprint(open(os.environ["GOOGLE_APPLICATION_CREDENTIALS"]).read())\n'},
                     '--service-account-key-file', key)
        self.assertEqual(answer.out, '{"type": "service_account"}\n')

    def test_nothing_of_the_users_is_removed(self):
        folder = testbed.write_tree({'task.py': 'print(1)\n', '__pycache__/task.cpython-311.pyc': 'kept'})
        before = testbed.tree_hash(folder)
        answer = autopack('run', '--executor-image-uri', testbed.executor(), '--script=task.py', cwd=folder)
        self.assertEqual(answer.out, '1\n')
        self.assertEqual(testbed.tree_hash(folder), before)

    def test_signals_are_forwarded(self):
        folder = testbed.write_tree({'task.py': (
            'import signal, sys, time\n'
            'signal.signal(signal.SIGTERM, lambda *_: (print("bye", flush=True), sys.exit(9)))\n'
            'print("ready", flush=True)\ntime.sleep(60)\n')})
        process = testbed.Process('run', '--executor-image-uri', testbed.executor(), '--script=task.py', cwd=folder)
        self.assertEqual(process.stdout.readline(), b'ready\n')
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
        self.assertEqual(out, b'bye\n', err)
        self.assertEqual(process.returncode, 9, err)

    def test_no_container_is_left(self):
        answer = run({'task.py': 'import socket\nprint(socket.gethostname())\n'})
        self.assertRegex(answer.out, r'^[0-9a-f]{12}\n$')
        left = testbed.docker('ps', '-aq', '--no-trunc', '--filter', f'id={answer.out.strip()}')
        self.assertEqual(left, '')

    def test_the_script_of_another_shell(self):
        answer = run({'go.sh': 'echo "$0 $1"\n'}, '--', 'x', entry='--script=go.sh')
        self.assertEqual(answer.out, 'go.sh x\n')
