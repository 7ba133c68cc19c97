"""Jobs on a real Slurm with two nodes on loopback, here and behind a real sshd: states, logs, ends, and one job whatever is
lost on the way."""

import functools
import itertools
import json
import pathlib
import re
import shlex
import shutil
import unittest

import slurm_cluster
import testbed
from secret_watch import secret
from ssh_server import SshServer
from testbed import autopack

# Does what its arguments say, so that all tests share one image.
PROGRAM = '''import json, os, signal, sys, time
print(json.dumps({name: value for name, value in os.environ.items() if not name.startswith("SLURM")}), flush=True)
for action in sys.argv[1:]:
    name, _, value = action.partition("=")
    if name == "sleep":
        time.sleep(float(value))
    elif name == "write":
        open(value, "w").write("written")
    elif name == "keep":
        open(os.path.join(os.environ["AUTOPACK_JOB_DIRECTORY"], value), "w").write("kept")
    elif name == "exit":
        sys.exit(int(value))
    elif name == "print":
        print(value, flush=True)
'''

# Runs the user's ssh; loses the answers that the file $LOSSES counts, of scripts that contain $LOST_SCRIPT.
SSH = '''#!/bin/sh
real="{ssh} -F none -i {key} -o UserKnownHostsFile={known}"
case " $* " in *" -G "* | *" -O "*) exec $real "$@" ;; esac
input=$(mktemp) && cat > "$input"
left=$(cat {folder}/losses 2>/dev/null || echo 0)
if [ "$left" -gt 0 ] && grep -qF -e "$(cat {folder}/script)" "$input"; then
  kept=$(cat {folder}/skipped)
  if [ "$kept" -gt 0 ]; then
    echo $((kept - 1)) > {folder}/skipped
    exec $real "$@" < "$input"
  fi
  echo $((left - 1)) > {folder}/losses
  if [ "$(cat {folder}/kept)" = nothing ]; then exit 255; fi
  answer=$(mktemp)
  $real "$@" < "$input" > "$answer"
  head -c "$(cat {folder}/kept)" "$answer"
  rm -f "$input" "$answer"
  exit 255
fi
$real "$@" < "$input"
status=$?
rm -f "$input"
exit $status
'''


@functools.cache
def packaged():
    """Returns the name of an image with PROGRAM."""
    folder = testbed.write_tree({'train.py': PROGRAM})
    base = testbed.pushed_executor('slurm-executor')
    return autopack('build', '--executor-image-uri', base, '--script=train.py', '--output-image-uri',
                    testbed.image_name('slurm'), cwd=folder).out.strip()


class Login:
    """A login machine of the cluster behind sshd, and a user's ssh that can lose answers."""

    def __init__(self):
        cluster = slurm_cluster.cluster()
        self.home = testbed.new_folder('home', cluster.folder)
        self.server = SshServer(SLURM_CONF=cluster.settings, HOME=self.home)
        self.name = self.server.address.removeprefix('ssh://')
        self.folder = testbed.new_folder('ssh')
        program = self.folder / 'bin/ssh'
        program.parent.mkdir()
        program.write_text(SSH.format(ssh=shutil.which('ssh'), key=self.server.folder / 'user', folder=self.folder,
                                      known=self.server.folder / 'known_hosts'))
        program.chmod(0o755)

    def environment(self, **changes):
        return testbed.environment(PATH=f'{self.folder}/bin:{testbed.environment()["PATH"]}', **changes)

    def lose(self, count, script, kept=0, skipped=0):
        for name, value in (('losses', count), ('script', script), ('kept', kept), ('skipped', skipped)):
            (self.folder / name).write_text(str(value))

    def was_lost(self):
        return (self.folder / 'losses').read_text().strip() == '0'


@functools.cache
def login():
    return Login()


def variables_in(log):
    """Returns the variables of each replica that printed them, by rank."""
    lines = [json.loads(found.group(1)) for found in re.finditer(r'^.*?(\{"[A-Z].*\})$', log, re.MULTILINE)]
    return {int(line['RANK']): line for line in lines}


class OnSlurm(unittest.TestCase):
    def setUp(self):
        self.cluster = slurm_cluster.cluster()
        self.home = self.home_of_class()
        self.env = self.cluster.environment(HOME=self.home, XDG_CACHE_HOME=testbed.cache_folder().parent / 'autopack-slurm')

    @classmethod
    @functools.cache
    def home_of_class(cls):
        # The nodes see it, and containers of Slurm find their bundles there.
        return testbed.new_folder('home', slurm_cluster.cluster().folder)

    def submit(self, *flags, name='job', args=(), env=None, status=0, **options):
        image = [f'--container-image-uri={packaged()}'] if not any('executor-image-uri' in flag for flag in flags) else []
        return autopack('submit', '--submitter=slurm', f'--display-name={name}', *image, *flags,
                        *([f'--args={",".join(args)}'] if args else []), env=env or self.env, status=status, **options)

    def describe(self, name, **options):
        return autopack('jobs', 'describe', name, '--format=json', env=options.pop('env', self.env), **options).json()

    def jobs_with(self, name):
        listed = self.cluster.command('squeue', '-h', '-t', 'all', '-o', '%i|%j|%k').split('\n')
        return [line for line in listed if f'|{name}|' in line and 'autopack-submission=' in line]


class SlurmJobs(OnSlurm):
    def test_a_job_runs_with_the_variables_of_vertex_ai(self):
        token = secret('slurm-token')
        strange = 'it\'s "two"\nlines $(id) `id` $HOME \\ a,b=c'
        config = testbed.write_tree({'job.json': json.dumps({'workerPoolSpecs': [{'containerSpec': {
            'imageUri': packaged(), 'args': ['write=here', 'keep=result', 'print=done'],
            'env': [{'name': 'STRANGE', 'value': strange.replace('$(', '$$(')}, {'name': 'HIDDEN', 'value': token}]}}]})})
        answer = autopack('submit', '--submitter=slurm', '--display-name=first', '--config=job.json', '--labels=team=a',
                          '--format=json', cwd=config, env=self.env)
        name = answer.json()['job']['name']
        self.assertRegex(name, r'^slurm/-/\d+$')
        self.assertIn('Slurm\'s own containers', answer.err)
        autopack('jobs', 'wait', name, env=self.env)
        job = self.describe(name)
        self.assertEqual((job['state'], job['displayName'], job['labels']['team']),
                         ('JOB_STATE_SUCCEEDED', 'first', 'a'))
        folder = self.home / '.autopack/jobs' / job['labels']['autopack-submission']
        self.assertEqual((folder / 'result').read_text(), 'kept')
        log = (folder / 'logs/workerpool0-0.log').read_text()
        self.assertIn('done', log)
        variables = variables_in(log)[0]
        self.assertEqual(variables['STRANGE'], strange)
        self.assertEqual(variables['HIDDEN'], token)
        self.assertEqual((variables['RANK'], variables['WORLD_SIZE']), ('0', '1'))
        self.assertIn(variables['MASTER_ADDR'], slurm_cluster.NODES)
        spec = json.loads(variables['CLUSTER_SPEC'])
        self.assertEqual(spec['cluster'], {'workerpool0': [f'{variables["MASTER_ADDR"]}:{variables["MASTER_PORT"]}']})
        self.assertEqual(spec['task'], {'type': 'workerpool0', 'index': 0})
        # The machine's own variables stay outside.
        self.assertNotIn('XDG_CACHE_HOME', variables)
        kept = self.cluster.command('scontrol', 'write', 'batch_script', name.rsplit('/', 1)[1], '-')
        self.assertNotIn(token, kept)
        self.assertNotIn(token, (folder / 'script').read_text())
        self.assertEqual((folder / 'environment').stat().st_mode & 0o777, 0o600)
        # The image is as it was.
        self.assertEqual(list((self.home / '.autopack/images').glob('*/rootfs/usr/app/here')), [])

    def test_two_pools_meet_each_other(self):
        folder = testbed.example('cluster')
        pool = f'executor-image-uri={testbed.pushed_executor("slurm-executor")},local-package-path=.,script=allreduce.py'
        answer = self.submit(f'--worker-pool-spec={pool},output-image-uri={testbed.image_name("sum")}',
                             '--worker-pool-spec=replica-count=1', '--stream-logs', name='sum', cwd=folder)
        for rank in (0, 1):
            self.assertRegex(answer.err, rf'workerpool{rank}-0.*rank {rank} of 2: slope 3.00 offset 2.00')

    def test_the_example_runs_as_its_page_says(self):
        folder = testbed.example('slurm')
        command = re.search(r'^ {4}autopack (submit .*?)\n\n', (folder / 'README.md').read_text(), re.MULTILINE | re.DOTALL)
        words = shlex.split(command.group(1).replace('\\\n', ' ').replace('BASE', testbed.pushed_executor('slurm-executor'))
                            .replace('REGISTRY/line', testbed.image_name('line')))
        answer = autopack(*words, cwd=folder, env=self.env)
        for rank in (0, 1):
            self.assertIn(f'rank {rank} of 2: slope 3.0 offset 2.0', answer.err)
        model = pathlib.Path(self.describe(answer.out.strip())['directory'], 'model.json')
        self.assertEqual(json.loads(model.read_text()), {'slope': 3.0, 'offset': 2.0})

    def test_a_failed_program_fails_the_job_with_its_status(self):
        answer = self.submit('--wait', name='fails', args=('exit=3',), status=1)
        self.assertIn('`workerpool0-0` ended with status 3', answer.err)
        name = answer.out.strip()
        job = self.describe(name)
        self.assertEqual(job['state'], 'JOB_STATE_FAILED')
        self.assertIn('FAILED', self.cluster.command('scontrol', 'show', 'job', name.rsplit('/', 1)[1]))
        # The same when Slurm has forgotten it.
        forgets = testbed.write_tree({'bin/squeue': '#!/bin/sh\n'})
        (forgets / 'bin/squeue').chmod(0o755)
        later = self.describe(name, env={**self.env, 'PATH': f'{forgets}/bin:{self.env["PATH"]}'})
        self.assertEqual((later['state'], later['error']), (job['state'], job['error']))

    def test_a_cancelled_job(self):
        name = self.submit(name='long', args=('print=begun', 'sleep=600')).out.strip()
        testbed.wait_until(lambda: 'begun' in autopack('jobs', 'logs', name, env=self.env).out, 30, 'the program')
        self.assertEqual(self.describe(name)['state'], 'JOB_STATE_RUNNING')
        autopack('jobs', 'cancel', name, env=self.env)
        ended = autopack('jobs', 'wait', name, env=self.env, status=1)
        self.assertIn('was cancelled', ended.err)
        self.assertEqual(self.describe(name)['state'], 'JOB_STATE_CANCELLED')
        record = self.home / '.autopack/jobs' / self.describe(name)['labels']['autopack-submission'] / 'end'
        testbed.wait_until(record.exists, what='the record of the end')
        self.assertRegex(record.read_text(), r'^CANCELLED 143 - \d+$')
        autopack('jobs', 'cancel', name, env=self.env)

    def test_what_slurm_would_refuse_is_reported_before_anything_is_built(self):
        folder = testbed.write_tree({'train.py': PROGRAM})
        for flags, message in ((['--partition=mian'], 'did you mean `main`?'),
                               (['--partition=short', '--time=60'], 'the partition `short` ends jobs after'),
                               (['--gres=gpu:9'], 'Slurm refuses the job'),
                               (['--time=5h'], '`--time=5h` is not a time in Slurm\'s form'),
                               (['--replica-count=3'], 'the partition `main` has 2 nodes'),
                               (['--service-account=a@b.iam.gserviceaccount.com'], '`serviceAccount` has no place'),
                               (['--shared-directory=relative'], 'is not a path on the cluster')):
            with self.subTest(flags):
                answer = self.submit(*flags, '--executor-image-uri', testbed.executor(), '--script=train.py',
                                     '--output-image-uri', testbed.image_name('never'), name='refused', cwd=folder, status=None)
                self.assertNotEqual(answer.status, 0)
                self.assertIn(message, answer.err)
                self.assertNotIn('Built', answer.err)
        self.assertEqual(self.jobs_with('refused'), [])

    def test_a_dry_run_prints_the_script_and_sends_nothing(self):
        answer = self.submit('--dry-run', '--partition=main', '--time=2:00', name='dry')
        self.assertIn('#SBATCH --partition=main\n', answer.out)
        self.assertIn('export RANK=', answer.out)
        self.assertEqual(self.jobs_with('dry'), [])

    def test_jobs_of_this_cluster_are_listed(self):
        name = self.submit(name='listed', args=('print=x',)).out.strip()
        listed = autopack('jobs', 'list', '--submitter=slurm', '--format=json', env=self.env).json()
        self.assertIn(name, [job['name'] for job in listed])
        autopack('jobs', 'wait', 'listed', '--submitter=slurm', env=self.env)
        self.assertIn(name, autopack('jobs', 'list', '--submitter=slurm', '--state=succeeded', env=self.env).out)
        self.assertIn('there is no job `slurm/-/999999`',
                      autopack('jobs', 'describe', 'slurm/-/999999', env=self.env, status=None).err)


class SlurmTimeLimit(OnSlurm):
    def test_a_job_ends_at_its_time_limit(self):
        name = self.submit('--time=1', name='limited', args=('print=begun', 'sleep=600')).out.strip()
        testbed.wait_until(lambda: 'begun' in autopack('jobs', 'logs', name, env=self.env).out, 30, 'the program')
        # Slurm has no limit below a minute.
        self.cluster.command('scontrol', 'update', f'JobId={name.rsplit("/", 1)[1]}', 'EndTime=now+1')
        ended = autopack('jobs', 'wait', name, env=self.env, status=1)
        self.assertIn('the job reached its time limit', ended.err)
        folder = self.home / '.autopack/jobs' / self.describe(name)['labels']['autopack-submission']
        testbed.wait_until((folder / 'end').exists, what='the record of the end')
        self.assertRegex((folder / 'end').read_text(), r'^TIMEOUT 143 - \d+$')


class SlurmByLogin(OnSlurm):
    def setUp(self):
        super().setUp()
        self.login = login()
        self.env = self.login.environment(HOME=testbed.new_folder('home'))
        self.place = f'--login={self.login.name}'
        self.login.lose(0, '-')

    def test_a_lost_answer_after_sbatch_leaves_one_job(self):
        self.login.lose(1, 'sbatch --parsable')
        answer = self.submit(self.place, '--stream-logs', name='once', args=('print=far away',))
        self.assertTrue(self.login.was_lost())
        self.assertIn('answer was lost', answer.err)
        name = answer.out.strip()
        self.assertRegex(name, rf'^slurm/{re.escape(self.login.name)}/\d+$')
        self.assertIn('far away', answer.err)
        self.assertEqual(len(self.jobs_with('once')), 1)
        self.assertIn('far away', autopack('jobs', 'logs', name, env=self.env).out)
        self.assertEqual(self.describe(name)['state'], 'JOB_STATE_SUCCEEDED')
        listed = autopack('jobs', 'list', '--submitter=slurm', self.place, env=self.env).out
        self.assertIn(name, listed)

    def test_an_answer_cut_anywhere_leaves_one_job(self):
        for kept in testbed.daily_sample(range(0, 80), 3):
            self.login.lose(1, 'sbatch --parsable', kept)
            name = f'cut-{kept}'
            self.submit(self.place, name=name, args=('print=x',))
            self.assertEqual(len(self.jobs_with(name)), 1, f'{kept} bytes of the answer arrived')

    def test_a_connection_lost_in_any_step(self):
        # A script that each step sends, and what follows: a job all the same, or an error and no job.
        steps = {'facts': ('for command in sbatch', False), 'test': ('--test-only', False),
                 'bundle': ('images=', False), 'submit': ('sbatch --parsable', True)}
        for (step, (script, makes_job)), kept in itertools.product(steps.items(), (0, 'nothing')):
            with self.subTest(step=step, kept=kept):
                name = f'lost-{step}-{kept}'
                # `nothing`: the script did not arrive, either.
                self.login.lose(1, script, kept)
                answer = self.submit(self.place, name=name, args=('print=x',), status=None)
                self.assertTrue(self.login.was_lost(), step)
                self.assertEqual(answer.status, 0 if makes_job else 1, answer)
                self.assertEqual(len(self.jobs_with(name)), 1 if makes_job else 0)
                if not makes_job:
                    self.assertIn('no answer from', answer.err)

    def test_following_survives_a_lost_connection(self):
        name = self.submit(self.place, name='followed', args=('print=begun', 'sleep=3', 'print=ended')).out.strip()
        self.login.lose(2, 'queue=$(squeue', skipped=1)
        answer = autopack('jobs', 'stream-logs', name, env=self.env)
        self.assertTrue(self.login.was_lost())
        self.assertEqual(re.findall(r'\t(begun|ended)$', answer.out, re.MULTILINE), ['begun', 'ended'])

    def test_a_login_that_refuses_the_key(self):
        unknown = {**self.env, 'PATH': testbed.environment()['PATH']}
        answer = self.submit(f'--login={self.login.name}', name='refused-key', env=unknown, status=1)
        self.assertIn('no answer from', answer.err)
        self.assertIn('try the login: ssh -p', answer.err)


if __name__ == '__main__':
    unittest.main()
