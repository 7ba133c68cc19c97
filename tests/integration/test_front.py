"""`init`, `run --watch`, `images`, `clean` and `diff`, on the real engine and a real registry."""

import json
import os
import signal
import time
import unittest

import terminal
import testbed
from testbed import autopack

SCRIPT = 'if __name__ == "__main__":\n    print("one")\n'


def git(folder, *arguments):
    testbed.run(['git', '-c', 'user.name=A', '-c', 'user.email=a@example.com', *arguments], cwd=folder)


def explained(folder, *flags):
    answer = autopack('explain', '--format=json', *flags, cwd=folder)
    return json.loads(answer.out), answer


class Init(unittest.TestCase):
    def test_what_it_writes_is_explained_without_a_warning_and_changes_no_image(self):
        folder = testbed.write_tree({'train.py': SCRIPT, 'helpers.py': 'x = 1\n', '.gitignore': 'out/\n*.log\n!kept.log\n',
                                     'out/big.bin': 'x', 'a.log': 'a', 'kept.log': 'k', 'sub/b.log': 'b', 'sub/c.py': ''})
        git(folder, 'init', '-q')
        base = f'--executor-image-uri={testbed.executor()}'
        before, _ = explained(folder, base)
        answer = autopack('init', base, cwd=folder)
        self.assertEqual(answer.out, '')
        self.assertIn('Wrote  autopack.yaml', answer.err)
        self.assertIn('Wrote  .dockerignore', answer.err)
        after, told = explained(folder)
        self.assertNotIn('arning', told.err)
        self.assertEqual(after['warnings'], [])
        self.assertEqual(after['image_key'], before['image_key'])

    def test_project_and_region_are_those_of_gcloud(self):
        folder = testbed.write_tree({'train.py': SCRIPT})
        autopack('init', cwd=folder, env=testbed.environment(CLOUDSDK_CORE_PROJECT='demo-project',
                                                             CLOUDSDK_AI_REGION='us-central1'))
        written = (folder / 'autopack.yaml').read_text()
        self.assertIn('\nproject: demo-project\n', written)
        self.assertIn('\nscript: train.py\n', written)
        request = json.loads(autopack('submit', '--dry-run', '--format=json', cwd=folder).out)['request']
        pool = request['body']['jobSpec']['workerPoolSpecs'][0]
        self.assertEqual(pool['machineSpec'], {'machineType': 'n1-standard-4'})

    def test_what_is_there_stays_as_it_is(self):
        folder = testbed.write_tree({'train.py': SCRIPT, 'autopack.yaml': 'script: train.py\n', '.dockerignore': 'x\n'})
        before = testbed.tree_hash(folder)
        answer = autopack('init', '--format=json', cwd=folder)
        self.assertEqual(json.loads(answer.out), {'written': [], 'kept': ['autopack.yaml', '.dockerignore']})
        self.assertEqual(testbed.tree_hash(folder), before)

    def test_several_programs_are_no_question_where_nobody_answers(self):
        folder = testbed.write_tree({'first.py': 'print(1)\n', 'second.py': 'print(2)\n'})
        answer = autopack('init', cwd=folder, status=2)
        self.assertIn('several programs could be meant to run', answer.err)
        self.assertEqual(sorted(os.listdir(folder)), ['first.py', 'second.py'])
        autopack('init', '--script=second.py', cwd=folder)
        self.assertIn('\nscript: second.py\n', (folder / 'autopack.yaml').read_text())

    def test_an_installed_command_becomes_the_jobs_program(self):
        folder = testbed.write_tree({
            'pyproject.toml': '[project]\nname = "demo"\nversion = "1"\n[project.scripts]\ndemo-train = "demo:main"\n'
                              '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n',
            'demo.py': 'def main():\n    print(1)\n', 'other.py': 'y = 2\n'})
        autopack('init', cwd=folder)
        answer = autopack('submit', '--project=p', '--region=us-central1', '--dry-run', '--format=json', cwd=folder)
        pool = json.loads(answer.out)['request']['body']['jobSpec']['workerPoolSpecs'][0]
        self.assertIn('containerSpec', pool)


    def test_a_person_is_asked_which_program_is_meant(self):
        folder = testbed.write_tree({'first.py': 'print(1)\n', 'second.py': 'print(2)\n'})
        asked = terminal.Terminal([testbed.binary, 'init'], testbed.environment(), folder)
        asked.read('Which one? [1-2] ')
        asked.type('2\n')
        asked.read()
        self.assertEqual(asked.wait(), 0)
        self.assertIn('\nscript: second.py\n', (folder / 'autopack.yaml').read_text())


class Watch(unittest.TestCase):
    def start(self, folder, *flags):
        process = testbed.Process('run', '--watch', '--executor-image-uri', testbed.executor(), *flags, cwd=folder)
        self.addCleanup(testbed.end, process)
        return process

    def stop(self, process, status=130):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, status, err)
        return err.decode()

    def test_an_edit_stops_the_program_and_runs_the_new_one(self):
        folder = testbed.write_tree({'task.py': 'import time\nprint("one", flush=True)\ntime.sleep(600)\n',
                                     '.dockerignore': 'notes.txt\n', 'notes.txt': ''})
        process = self.start(folder)
        self.assertEqual(process.stdout.readline(), b'one\n')
        (folder / 'notes.txt').write_text('not in the image\n')
        # like many editors: a new file takes the name
        (folder / '.task.py.new').write_text('print("two", flush=True)\n')
        os.replace(folder / '.task.py.new', folder / 'task.py')
        self.assertEqual(process.stdout.readline(), b'two\n')
        time.sleep(1)
        (folder / 'more').mkdir()
        (folder / 'more' / 'words.py').write_text('word = "three"\n')
        (folder / 'task.py').write_text('from more.words import word\nprint(word, flush=True)\n')
        self.assertEqual(process.stdout.readline(), b'three\n')
        (folder / 'more' / 'words.py').write_text('word = "four"\n')
        self.assertEqual(process.stdout.readline(), b'four\n')
        err = self.stop(process)
        self.assertRegex(err, r'Restarts  task.py changed \(\d')
        self.assertRegex(err, r'Restarts  more/words.py changed \(\d')
        self.assertEqual(err.count('Inferred  script `task.py`'), 1, err)
        self.assertEqual(err.count('Scanned  '), 1, err)  # a restart is one line
        self.assertEqual(err.count('Loaded  ') + err.count('Built  '), 1, err)
        self.assertNotIn('notes.txt changed', err)
        self.assertIn('Ended  with status 0', err)
        self.assertEqual(testbed.docker('ps', '-q', '--filter', f'ancestor=autopack/{folder.name}:run'), '')

    def test_what_cannot_be_packaged_is_told_and_waited_for(self):
        folder = testbed.write_tree({'task.py': 'print("one", flush=True)\n'})
        process = self.start(folder)
        self.assertEqual(process.stdout.readline(), b'one\n')
        (folder / 'requirements.txt').write_text('--no-such-option\n./missing\n')
        time.sleep(2)
        (folder / 'requirements.txt').unlink()
        (folder / 'task.py').write_text('print("two", flush=True)\n')
        self.assertEqual(process.stdout.readline(), b'two\n')
        self.stop(process)

    def test_a_signal_reaches_the_program_and_ends_all(self):
        folder = testbed.write_tree({'task.py': (
            'import os, signal, sys, time\n'
            'signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b"bye\\n"), sys.exit(9)))\n'
            'print("ready", flush=True)\ntime.sleep(600)\n')})
        process = self.start(folder)
        self.assertEqual(process.stdout.readline(), b'ready\n')
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
        self.assertEqual((out, process.returncode), (b'bye\n', 143), err)

    def test_ctrl_c_on_a_terminal_ends_all(self):
        folder = testbed.write_tree({'task.py': 'import time\nprint("ready")\ntime.sleep(600)\n'})
        watched = terminal.Terminal([testbed.binary, 'run', '--watch', '--executor-image-uri', testbed.executor(),
                                     '--script=task.py'], testbed.environment(), folder)
        watched.read('ready')
        (folder / 'task.py').write_text('print("second")\n')
        watched.read('waits for a change')
        watched.type('\x03')
        watched.read()
        self.assertEqual(watched.wait(), 130)

    def test_nothing_to_watch_is_an_error(self):
        answer = autopack('run', '--watch', '--executor-image-uri', testbed.executor(), cwd=testbed.new_folder(), status=125)
        self.assertIn('no files to watch', answer.err)
        answer = autopack('run', '--watch', '--source=HEAD', '--executor-image-uri=python:3.11', '--script=task.py',
                          cwd=testbed.write_tree({'task.py': ''}), status=125)
        self.assertIn('`--watch` looks at the files of the disk', answer.err)


class Inventory(unittest.TestCase):
    alone = True  # it removes leftovers of ended runs on this machine

    def build(self, folder, *flags):
        return autopack('build', '--executor-image-uri', testbed.executor(), '--script=task.py', *flags, cwd=folder)

    def images(self, folder, *flags):
        answer = autopack('images', '--format=json', '--executor-image-uri', testbed.executor(), '--script=task.py',
                          *flags, cwd=folder)
        return json.loads(answer.out)

    def test_images_of_engine_and_registry_and_which_is_current(self):
        folder = testbed.write_tree({'task.py': 'print(1)\n'})
        name = f'--output-image-uri={testbed.image_name("listed")}'
        self.build(folder, name)
        first = self.images(folder, name)
        (folder / 'task.py').write_text('print(2)\n')
        stale = self.images(folder, name)
        self.assertTrue(any(one['current'] and one['place'] == 'registry' for one in first['images']), first)
        self.assertFalse(any(one['current'] and one['kind'] == 'image' for one in stale['images']), stale)
        self.build(folder, name)
        both = [one for one in self.images(folder, name)['images']
                if one['place'] == 'registry' and one['kind'] == 'image']
        self.assertEqual(sorted(one['current'] for one in both), [False, True], both)
        self.assertGreater(both[0]['size'], 1_000_000)
        text = autopack('images', '--executor-image-uri', testbed.executor(), '--script=task.py', name, cwd=folder)
        self.assertRegex(text.out, r'\APLACE +NAME +KIND +CURRENT +AGE +SIZE +DIGEST\n')
        self.assertRegex(text.out, r'(?m)^registry +\S+:ap-[0-9a-f]{16} +image +current +- +\S+ MB +[0-9a-f]{12}$')
        self.assertRegex(text.out, r'(?m)^engine .* - +\d+ ')

    def test_clean_takes_its_own_and_nothing_else(self):
        folder, other = (testbed.write_tree({'task.py': f'print({n})\n'}) for n in range(2))
        names = [f'clean-{os.getpid()}-{each.name}' for each in (folder, other)]
        for each, name in zip((folder, other), names):
            self.build(each, '--no-push', f'--display-name={name}')
        mine, foreign = (f'autopack/{name}' for name in names)
        self.addCleanup(testbed.remove_images, foreign)
        tag = next(name for name in testbed.images(mine + ':') if ':ap-' in name)
        testbed.docker('tag', tag, f'{mine}:keep')
        self.addCleanup(testbed.remove_images, mine)
        flags = ('--executor-image-uri', testbed.executor(), '--script=task.py', f'--display-name={names[0]}')
        before = testbed.images(mine + ':')
        answer = autopack('clean', '--dry-run', *flags, cwd=folder)
        self.assertIn(f'Would go  image {tag} (', answer.err)
        self.assertRegex(answer.err, r'Found  (\d+ caches?, )?\d+ images?, at most ')
        self.assertEqual(testbed.images(mine + ':'), before)
        autopack('clean', '--old', *flags, cwd=folder)
        self.assertIn(tag, testbed.images(mine + ':'))
        (folder / 'task.py').write_text('print(3)\n')
        autopack('clean', '--old', *flags, cwd=folder)
        self.assertEqual(testbed.images(mine + ':'), [f'{mine}:keep'])
        answer = json.loads(autopack('clean', '--format=json', *flags, cwd=folder).out)
        self.assertIn('cache', [one['kind'] for one in answer['removed']])
        self.assertTrue(testbed.images(foreign + ':'))
        again = autopack('clean', *flags, cwd=folder)
        self.assertIn('nothing that autopack left', again.err)

    def test_clean_all_takes_the_caches_and_keeps_what_was_not_answered(self):
        cache = testbed.new_folder('cache')
        environment = testbed.environment(XDG_CACHE_HOME=cache, DOCKER_HOST='unix:///nonexistent.sock')
        folder = testbed.write_tree({'task.py': 'print(1)\n'})
        autopack('explain', '--executor-image-uri=python:3.11', '--script=task.py', cwd=folder, env=environment)
        (cache / 'autopack' / 'submissions').mkdir(parents=True)
        (cache / 'autopack' / 'submissions' / 'one').write_text('{}')
        answer = autopack('clean', '--all', cwd=folder, env=environment)
        self.assertIn('no engine answers', answer.err)
        self.assertEqual(sorted(os.listdir(cache / 'autopack')), ['submissions'])
        self.assertTrue((cache / 'autopack' / 'submissions' / 'one').exists())


class Diff(unittest.TestCase):
    def diff(self, folder, *sides, status=0):
        flags = ('--executor-image-uri', testbed.executor(), '--script=task.py')
        return json.loads(autopack('diff', *sides, *flags, '--format=json', cwd=folder, status=status).out)

    def changes(self, found, kind='files'):
        return {one['name']: (one['before'] is not None, one['after'] is not None) for one in found[kind]}

    def test_two_images_of_registry_layout_and_engine(self):
        name = testbed.image_name('compared')
        layout, archive = testbed.new_folder('layout') / 'image', testbed.new_folder('archive') / 'image.tar'
        # Looking for a cached step, Docker 20.10 fails if another test removes any image built from scratch meanwhile.
        images = {'base': {'Dockerfile': 'FROM scratch\nCOPY base /base\n', 'base/a': name}}
        for tag, files in (('v1', {'app/task.py': 'print(1)\n', 'app/old.py': 'x = 1\n'}),
                           ('v2', {'app/task.py': 'print(22)\n', 'app/new.py': 'y = 2\n'})):
            images[tag] = files | {'Dockerfile': f'FROM {name}:base\nCOPY app /usr/app\n', 'app/same.py': 's = 1\n'}
        for tag, files in images.items():
            testbed.run(['docker', 'build', '-q', '--no-cache', '-t', f'{name}:{tag}', str(testbed.write_tree(files))])
            testbed.run(['docker', 'push', '-q', f'{name}:{tag}'])
        testbed.run(['docker', 'save', '-o', str(archive), f'{name}:v2'])
        for alias in ('first', 'second'):  # of one image
            testbed.run(['skopeo', 'copy', '-q', '--src-tls-verify=false', f'docker://{name}:v1', f'oci:{layout}:{alias}'])
        expected = {'usr/app/task.py': (True, True), 'usr/app/old.py': (True, False), 'usr/app/new.py': (False, True)}
        folder = testbed.write_tree({'task.py': 'print(22)\n', 'new.py': 'y = 2\n', 'same.py': 's = 1\n'})
        found = self.diff(folder, f'{name}:v1', f'{name}:v2')
        self.assertEqual(self.changes(found), expected)
        self.assertEqual((found['sharedLayers'], found['after']['unreadLayers']), (1, 1))
        self.assertEqual(self.changes(self.diff(folder, f'oci:{layout}', f'tar:{archive}')), expected)
        whole = self.diff(folder, f'oci:{layout}', f'tar:{archive}', '--whole')
        self.assertEqual((self.changes(whole), whole['after']['unreadLayers']), (expected, 0))
        same = self.diff(folder, f'oci:{layout}', f'{name}:v1')
        self.assertTrue(same['same'], same)
        local = f'autopack-tests/compared:{os.getpid()}'
        testbed.docker('tag', f'{name}:v1', local)
        self.addCleanup(testbed.remove_images, 'autopack-tests/compared')
        self.assertEqual(self.changes(self.diff(folder, local, f'{name}:v2')), expected)
        self.assertEqual(self.changes(self.diff(folder, f'{name}:v1', '.')), expected)

    def test_packages_and_configuration_of_two_images(self):
        for version, extra in (('1.0', ''), ('2.0', 'ENV MODE=new\n')):
            house = testbed.write_tree({f'site-packages/demo-{version}.dist-info/METADATA': 'Name: demo\n',
                                        'Dockerfile': f'FROM scratch\nCOPY site-packages /lib/site-packages\n{extra}'})
            testbed.run(['docker', 'build', '-q', '--no-cache', '-t', f'autopack-tests/packages:{version}', str(house)])
        self.addCleanup(testbed.remove_images, 'autopack-tests/packages')
        found = self.diff(testbed.write_tree({'task.py': ''}), 'autopack-tests/packages:1.0',
                          'autopack-tests/packages:2.0')
        self.assertEqual(found['packages'], [{'name': 'demo', 'before': '1.0', 'after': '2.0'}])
        self.assertIn({'name': 'Env MODE', 'before': None, 'after': 'new'}, found['configuration'])

    def test_commits_the_index_and_the_files_as_they_are(self):
        folder = testbed.write_tree({'task.py': 'print(1)\n', 'requirements.txt': 'numpy\n'})
        git(folder, 'init', '-q')
        git(folder, 'add', '.')
        git(folder, 'commit', '-qm', 'one')
        (folder / 'task.py').write_text('print(2)\n')
        self.assertEqual(self.changes(self.diff(folder, 'HEAD')), {'usr/app/task.py': (True, True)})
        self.assertTrue(self.diff(folder, 'HEAD', 'index')['same'])
        (folder / 'requirements.txt').write_text('numpy>1\n')
        git(folder, 'commit', '-qam', 'two')
        found = self.diff(folder, 'HEAD~1', 'HEAD')
        self.assertEqual(len(found['requirements']), 1, found)
        self.assertIn('requirements.txt changed', found['requirements'][0])

    def test_what_is_nowhere_is_an_error(self):
        folder = testbed.write_tree({'task.py': ''})
        answer = autopack('diff', cwd=folder, status=2)
        self.assertIn('`autopack diff` compares two things', answer.err)
        autopack('diff', f'{testbed.registry()}/no/such:v1', '.', '--executor-image-uri=python:3.11', '--script=task.py',
                 cwd=folder, status=1)


class Steps(unittest.TestCase):
    def test_a_failure_of_pip_leads_with_the_requirement_and_its_line(self):
        folder = testbed.write_tree({'task.py': '', 'requirements.txt': '--no-index\nno-such-package==1\n'})
        answer = autopack('build', '--no-push', '--engine=docker', '--executor-image-uri', testbed.executor(),
                          '--script=task.py', cwd=folder, env=testbed.environment(AUTOPACK_VERBOSITY='info'), status=2)
        self.assertIn('Failed  install requirements.txt (1 package) (', answer.err)
        first = next(line for line in answer.err.split('\n') if line.startswith('error: '))
        self.assertEqual(first, 'error: pip finds no version of `no-such-package==1`, asked for in `requirements.txt` '
                                'line 2')
