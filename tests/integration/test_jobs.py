"""Jobs are created exactly once, watched to their end, listed, described, cancelled, and their logs followed."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest

import secret_watch
import testbed
from testbed import autopack
from vertex_server import VertexServer

LONG_AGO = '2026-01-02T03:04:05Z'
SPEC = {'workerPoolSpecs': [{'machineSpec': {'machineType': 'n1-standard-4'}, 'replicaCount': '1',
                             'containerSpec': {'imageUri': 'gcr.io/p/i'}}]}
BODIES = {
    'customJobs': {'displayName': 'one', 'jobSpec': SPEC},
    'hyperparameterTuningJobs': {
        'displayName': 'two', 'maxTrialCount': 1, 'parallelTrialCount': 1, 'trialJobSpec': SPEC,
        'studySpec': {'metrics': [{'metricId': 'loss', 'goal': 'MINIMIZE'}],
                      'parameters': [{'parameterId': 'x', 'doubleValueSpec': {'minValue': 0, 'maxValue': 1}}]}},
    'trainingPipelines': {
        'displayName': 'three', 'trainingTaskInputs': SPEC,
        'trainingTaskDefinition': 'gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml'},
}
READY = ['--display-name=ready', '--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1']


def on_terminal(command, env, until=None, then=None):
    """Runs `command` on a pseudo-terminal; once its output contains `until`, calls `then` with its process. Returns
    status and text."""
    secret_watch.given(env)
    leader, follower = pty.openpty()
    process = subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=env, start_new_session=True)
    os.close(follower)
    text, limit = '', time.monotonic() + 60
    while time.monotonic() < limit:
        if not select.select([leader], [], [], 1)[0]:
            continue
        try:
            text += os.read(leader, 65536).decode(errors='replace')
        except OSError:
            break
        if until and until in text:
            until = None
            then(process)
    os.close(leader)
    secret_watch.require_none(command, text)
    return process.wait(10), text


class WithApi(unittest.TestCase):
    def setUp(self):
        self.api = VertexServer()
        self.addCleanup(self.api.close)
        token = testbed.write_tree({'token': secret_watch.secret('ya29.test')}) / 'token'
        self.env = testbed.environment(
            CLOUDSDK_CORE_PROJECT='test-project', CLOUDSDK_AI_REGION='us-central1',
            CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=token, CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=self.api.url,
            CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING=self.api.url)

    def run_jobs(self, *arguments, status=0):
        return autopack('jobs', *arguments, env=self.env, status=status)

    def submit(self, *flags, status=0):
        return autopack('submit', *READY, *flags, env=self.env, status=status)

    def make(self, collection='customJobs', states=(), project='test-project', region='us-central1', **changes):
        self.api.service.states = list(states)
        return self.api.service.create(project, region, collection, {**BODIES[collection], **changes})['name']

    def sent(self, method, fragment=''):
        return [request for request in self.api.requests if request['method'] == method and fragment in request['path']]


class ExactlyOnce(WithApi):
    def test_a_lost_answer_does_not_make_a_second_job(self):
        for failure, creates in (('drop', 1), ('lost', 1), ('garbled', 1), ('cut', 2), ('503', 2), ('500', 2)):
            with self.subTest(failure):
                before, self.api.requests[:] = len(self.api.jobs), []
                self.api.fail[:] = [failure]
                answer = self.submit()
                self.assertEqual(len(self.api.jobs), before + 1, answer)
                self.assertEqual(answer.out.strip(), list(self.api.jobs)[-1])
                sent = [request['body']['labels']['autopack-submission'] for request in self.sent('POST')]
                self.assertEqual(len(sent), creates)
                self.assertEqual(len(set(sent)), 1)
                self.assertIn('labels.autopack-submission', self.sent('GET')[0]['path'])

    def test_a_clear_refusal_is_not_repeated(self):
        for failure, fragment in (('400', '400 INVALID_ARGUMENT'), ('403', '403'), ('429', '429 RESOURCE_EXHAUSTED')):
            with self.subTest(failure):
                self.api.requests[:], self.api.fail[:] = [], [failure]
                answer = self.submit(status=1)
                self.assertEqual(answer.out, '')
                self.assertIn(fragment, answer.err)
                self.assertEqual([request['method'] for request in self.api.requests], ['POST'])
        self.assertEqual(self.api.jobs, {})

    def test_when_the_list_is_closed_too_the_user_is_told(self):
        self.api.fail[:] = ['drop', 'list-403']
        answer = self.submit(status=1)
        self.assertEqual(answer.out, '')
        self.assertIn('it is not known whether job `ready` was created', answer.err)
        self.assertIn('autopack jobs list --project=test-project --region=us-central1 --filter=', answer.err)
        self.assertEqual(len(self.sent('POST')), 1)

    def test_the_label_is_no_part_of_a_dry_run(self):
        self.assertNotIn('labels', self.submit('--dry-run').json()['request']['body'])

    def interrupt_create(self, failure):
        self.api.fail[:] = [failure]
        process = testbed.Process('submit', *READY, env=self.env, text=True)
        testbed.wait_until(lambda: self.sent('POST'), what='the create')
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        return process.returncode, out, err

    def test_an_interrupted_create_names_the_job_that_it_made(self):
        status, out, err = self.interrupt_create('hang')
        self.assertEqual(status, 130, err)
        self.assertEqual(out.strip(), list(self.api.jobs)[0])
        self.assertIn('the job was created and continues', err)
        self.assertIn('autopack jobs cancel ' + out.strip(), err)


class Waiting(WithApi):
    def outcome(self, states, *flags, **options):
        self.api.service.states = states
        return self.submit('--polling-interval=1', *flags, **options)

    def test_the_status_follows_from_the_outcome(self):
        for last, status in (('SUCCEEDED', 0), ('FAILED', 1), ('CANCELLED', 1), ('EXPIRED', 1), ('PAUSED', 1),
                             ('PARTIALLY_SUCCEEDED', 1)):
            with self.subTest(last):
                answer = self.outcome(['RUNNING', last], '--wait', status=status)
                self.assertEqual(answer.out.strip(), list(self.api.jobs)[-1])
                self.assertIn('   Running  ' + answer.out, answer.err)
                self.assertNotIn('\x1b', answer.err)

    def test_a_failure_is_translated(self):
        self.api.service.error = {'code': 8, 'message': 'Resources are insufficient in region: us-central1. Try a '
                                                        'different region or use a different accelerator.'}
        answer = self.outcome(['PENDING', 'FAILED'], '--wait', status=1)
        self.assertIn('error: custom job `' + answer.out.strip() + '` failed', answer.err)
        self.assertIn('caused by: RESOURCE_EXHAUSTED: Resources are insufficient', answer.err)
        self.assertIn('hint: wait for a place: --strategy=FLEX_START', answer.err)
        self.assertIn('hint: see all of it: autopack jobs describe ' + answer.out.strip(), answer.err)

    def test_json_is_one_object_with_job_and_error(self):
        answer = self.outcome(['RUNNING', 'FAILED'], '--wait', '--format=json', status=1)
        result = answer.json()
        self.assertEqual(sorted(result), ['error', 'image', 'job'])
        self.assertEqual(result['job']['state'], 'JOB_STATE_FAILED')
        self.assertEqual(result['error']['kind'], 'remote')
        result = self.outcome(['SUCCEEDED'], '--wait', '--format=json').json()
        self.assertEqual((result['job']['state'], sorted(result)), ('JOB_STATE_SUCCEEDED', ['image', 'job']))

    def test_trouble_while_waiting_is_waited_out(self):
        self.api.fail[:] = ['get-503', 'get-drop', 'get-429', 'get-401']
        answer = self.outcome(['RUNNING', 'SUCCEEDED'], '--wait')
        self.assertEqual(self.api.fail, [])
        self.assertEqual(answer.err.count('trying again'), 1, answer.err)

    def test_the_log_stands_on_stderr_and_the_name_on_stdout(self):
        self.api.service.changed = lambda name, state: state == 'RUNNING' and self.api.logs.add(name, 'epoch 1\nepoch 2')
        answer = self.outcome(['RUNNING', 'SUCCEEDED'], '--stream-logs')
        self.assertRegex(answer.err, r'INFO\t\S+ \S+ \+0000\tworkerpool0-0\tepoch 1\nINFO\t.*\tworkerpool0-0\tepoch 2\n')
        self.assertEqual(answer.out.strip(), list(self.api.jobs)[0])

    def test_a_log_that_may_not_be_read_is_no_failure(self):
        self.api.fail[:] = ['logs-403']
        answer = self.outcome(['RUNNING', 'SUCCEEDED'], '--stream-logs')
        self.assertIn('autopack follows the job without them', answer.err)

    def test_an_interruption_leaves_the_job_running(self):
        self.api.service.states = ['RUNNING']
        process = testbed.Process('submit', *READY, '--wait', env=self.env, text=True)
        testbed.wait_until(lambda: len(self.sent('GET')) > 1, what='the second look')
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, err)
        name = list(self.api.jobs)[0]
        self.assertEqual(out, name + '\n')
        self.assertIn('the job continues', err)
        self.assertIn('autopack jobs stream-logs ' + name, err)
        self.assertIn('autopack jobs cancel ' + name, err)
        self.assertEqual(self.api.jobs[name]['job']['state'], 'JOB_STATE_RUNNING')
        self.assertEqual(len(self.sent('POST')), 1)

    def test_a_terminal_has_one_line_for_all_states(self):
        self.api.service.states = ['PENDING', 'RUNNING*2', 'SUCCEEDED']
        env = {**self.env, 'TERM': 'xterm'}
        status, text = on_terminal([testbed.binary, 'submit', *READY, '--wait', '--polling-interval=1'], env)
        self.assertEqual(status, 0, text)
        self.assertRegex(testbed.without_markup(text), r'job \d+ is running \(\d\.\d s\)')
        name = list(self.api.jobs)[0]
        self.assertRegex(testbed.without_markup(text), rf'Succeeded\s+{name}\s+after \d')
        self.assertNotIn(f'Running  {name}', testbed.without_markup(text))

    def test_a_terminal_has_a_status_line(self):
        self.api.service.states = ['RUNNING']
        env = {**self.env, 'TERM': 'xterm'}
        status, text = on_terminal([testbed.binary, 'submit', *READY, '--wait'], env, until='is running (',
                                   then=lambda process: process.send_signal(signal.SIGINT))
        self.assertEqual(status, 130, text)
        self.assertRegex(testbed.without_markup(text), r'job \d+ is running \(\d\.\d s\)')
        self.assertIn(list(self.api.jobs)[0] + '\r\n', text)


class AfterwardsAndByName(WithApi):
    def test_what_to_do_next_is_told_unless_the_command_does_it(self):
        answer = self.submit()
        name = answer.out.strip()
        number = name.split('/')[-1]
        self.assertIn('   Console  https://console.cloud.google.com/ai/platform/locations/us-central1/training/'
                      f'{number}?project=test-project\n', answer.err)
        self.assertIn(f'    Follow  autopack jobs logs -f {name}\n', answer.err)
        self.api.service.states = ['SUCCEEDED']
        self.assertNotIn('Follow', self.submit('--wait').err)

    def test_a_job_is_found_by_its_display_name(self):
        for collection in BODIES:
            name = self.make(collection, displayName=f'my "{collection}" \\ job')
            self.assertEqual(self.run_jobs('describe', f'my "{collection}" \\ job', '--format=value(name)').out, name + '\n')
        number = self.make(displayName='2024')
        self.assertEqual(self.run_jobs('describe', '2024', '--format=value(name)').out, number + '\n')
        self.assertIn('there is no job `nobody` in region', self.run_jobs('describe', 'nobody', status=1).err)

    def test_a_name_of_several_is_told_with_the_list(self):
        names = [self.make(displayName='taxi', states=['RUNNING']), self.make('trainingPipelines', displayName='taxi'),
                 self.make(displayName='other')]
        answer = self.run_jobs('cancel', 'taxi', status=2)
        self.assertIn('2 jobs are called `taxi`', answer.err)
        for name in names[:2]:
            self.assertRegex(answer.err, rf'{name.split("/")[-1]}  (custom job|training pipeline)')
        self.assertEqual(self.sent('POST', ':cancel'), [])
        self.assertEqual(self.run_jobs('describe', 'taxi', '--latest', '--format=value(name)').out, names[1] + '\n')
        self.assertEqual(self.run_jobs('describe', '--latest', '--format=value(name)').out, names[2] + '\n')
        self.assertEqual(self.run_jobs('cancel', 'taxi', '--kind=custom').out, names[0] + '\n')

    def test_logs_end_with_what_there_is_and_with_f_with_the_job(self):
        name = self.make(displayName='taxi', states=['RUNNING'])
        for number in range(5):
            self.api.logs.add(name, f'line {number}')
        self.api.logs.page_size = 2
        answer = self.run_jobs('logs', 'taxi')
        self.assertEqual(len(answer.out.splitlines()), 5)
        self.assertEqual(self.api.jobs[name]['job']['state'], 'JOB_STATE_RUNNING')
        failed = self.make(displayName='failed', states=['RUNNING', 'FAILED'])
        self.api.logs.add(failed, 'the last line')
        self.assertIn('the last line', self.run_jobs('logs', '-f', '--latest', '--polling-interval=1', status=1).out)
        self.assertIn('the last line', self.run_jobs('logs', '--latest').out)

    def test_open_prints_the_address_and_starts_the_browser(self):
        name = self.make(displayName='taxi')
        folder = testbed.write_tree({'browser': '#!/bin/sh\necho "$@" > "$0.log.new"; mv "$0.log.new" "$0.log"\n'})
        (folder / 'browser').chmod(0o755)
        env = {**self.env, 'BROWSER': f'{folder}/browser --new-tab %s:lynx'}
        answer = autopack('jobs', 'open', 'taxi', env=env)
        address = answer.out.strip()
        self.assertIn(name.split('/')[-1], address)
        testbed.wait_until((folder / 'browser.log').exists, what='the browser')
        self.assertEqual((folder / 'browser.log').read_text(), f'--new-tab {address}\n')
        self.assertIn('in the browser', answer.err)
        env['BROWSER'] = '/nowhere/browser'
        self.assertNotIn('browser', autopack('jobs', 'open', name, env=env).err)

    def test_a_region_for_machines_is_taken_and_told(self):
        folder = testbed.write_tree({'configurations/config_default': '[compute]\nregion = us-central1\n'})
        env = {**self.env, 'CLOUDSDK_CONFIG': str(folder)}
        del env['CLOUDSDK_AI_REGION']
        self.make(displayName='taxi')
        answer = autopack('jobs', 'list', env=env)
        self.assertIn('taxi', answer.out)
        self.assertIn('Inferred  region `us-central1`', answer.err)
        self.assertIn('no region is set', autopack('jobs', 'list', '--no-infer', env=env, status=2).err)


class Wait(WithApi):
    def test_ends_with_the_job_and_its_status(self):
        name = self.make(states=['RUNNING', 'SUCCEEDED'])
        answer = self.run_jobs('wait', name, '--polling-interval=1')
        self.assertEqual(answer.out, name + '\n')
        self.assertIn('Succeeded', answer.err)
        failed = self.run_jobs('wait', self.make(states=['RUNNING', 'FAILED']), '--polling-interval=1', status=1)
        self.assertIn('error: ', failed.err)


class StreamLogs(WithApi):
    def setUp(self):
        super().setUp()
        self.api.service.end_time = LONG_AGO

    def stream(self, name, *flags, status=0):
        return self.run_jobs('stream-logs', name, '--polling-interval=1', *flags, status=status)

    def messages(self, answer):
        return [line.split('\t')[3] for line in answer.out.splitlines()]

    def test_pages_equal_times_and_late_entries_are_told_once(self):
        name = self.make(states=['RUNNING', 'RUNNING', 'SUCCEEDED'], project='999')
        self.api.service.end_time = None
        self.api.logs.page_size = 3
        for number in range(10):
            self.api.logs.add(name, f'line {number}', timestamp='2026-01-02T03:04:05.5Z')
        self.api.logs.add(name, 'later', timestamp='2026-01-02T03:04:07.123456789Z')
        self.api.logs.add(name, 'late', timestamp='2026-01-02T03:04:06Z', after=6)
        self.api.logs.add(name, 'last', timestamp='2026-01-02T03:04:08Z', after=12)
        answer = self.stream(name)
        self.assertEqual(self.messages(answer), [f'line {number}' for number in range(10)] + ['later', 'late', 'last'])
        self.assertEqual(self.sent('POST', 'entries:list')[0]['body']['resourceNames'], ['projects/999'])
        self.assertRegex(answer.out, r'^INFO\t2026-01-02 03:04:05 \+0000\tworkerpool0-0\tline 0\n')

    def test_it_ends_when_a_job_that_was_running_ends(self):
        name = self.make(states=['RUNNING*3', 'FAILED'])
        answer = self.stream(name, status=1)
        self.assertIn('failed', answer.err)
        self.assertGreaterEqual(len(self.sent('GET')), 4)

    def test_a_refused_reading_is_repeated(self):
        name = self.make(states=['SUCCEEDED'])
        self.api.logs.page_size = 2
        for number in range(9):
            self.api.logs.add(name, f'line {number}')
        self.api.fail[:] = ['logs-429', 'logs-drop']
        self.assertEqual(self.messages(self.stream(name)), [f'line {number}' for number in range(9)])
        self.assertEqual(self.api.fail, [])

    def test_one_replica_only_and_every_format(self):
        name = self.make(states=['SUCCEEDED'])
        self.api.logs.add(name, 'one\ntwo', task='workerpool0-0', severity='ERROR')
        self.api.logs.add(name, 'three', task='workerpool1-0', payload={'textPayload': 'three'})
        self.assertEqual(self.messages(self.stream(name, '--task-name=workerpool1-0')), ['three'])
        answer = self.stream(name, '--format=value(severity,task_name,message)', '--task-name=workerpool1-0')
        self.assertEqual(answer.out, 'INFO\tworkerpool1-0\tthree\n')
        lines = [json.loads(line) for line in self.stream(name, '--format=json').out.splitlines()]
        self.assertEqual([line['message'] for line in lines], ['one\ntwo', 'three'])
        coloured = self.stream(name, '--color=always').out
        self.assertIn('\x1b[36mworkerpool0-0\x1b[0m', coloured)
        self.assertIn('\x1b[33mworkerpool1-0\x1b[0m', coloured)
        self.assertIn('\x1b[1;31mERROR\x1b[0m', coloured)

    def test_a_pipeline_is_followed_by_the_job_it_started(self):
        name = self.make('trainingPipelines', states=['RUNNING', 'SUCCEEDED'])
        backing = name.replace('trainingPipelines', 'customJobs') + '0'
        self.api.logs.add(backing, 'from the backing job')
        self.assertEqual(self.messages(self.stream(name)), ['from the backing job'])

    def test_entries_that_cannot_be_read_are_left_out(self):
        name = self.make(states=['SUCCEEDED'])
        self.api.logs.add(name, 'good')
        self.api.logs.raw = [7, None, {'timestamp': 'never', 'jsonPayload': {'loss': 1}},
                             {'textPayload': 'esc\x1b[2J', 'severity': 5}]
        answer = self.stream(name)
        self.assertEqual(self.messages(answer), ['{"loss":1}', 'esc\\x1b[2J', 'good'])
        self.assertIn('the log contains entries that cannot be read', answer.err)

    def test_ctrl_c_leaves_the_job_alone(self):
        name = self.make(states=['RUNNING'])
        self.api.logs.add(name, 'begun')
        status, text = on_terminal([testbed.binary, 'jobs', 'stream-logs', name], {**self.env, 'TERM': 'xterm'},
                                   until='begun', then=lambda process: process.send_signal(signal.SIGINT))
        self.assertEqual(status, 130, text)
        self.assertIn('the job continues', text)
        self.assertEqual(self.sent('POST', ':cancel'), [])


class Jobs(WithApi):
    def test_the_list_has_all_kinds_and_all_pages(self):
        names = [self.make(collection, displayName=f'{collection}-{number}') for number in range(3) for collection in BODIES]
        answer = self.run_jobs('list', '--page-size=2')
        self.assertEqual(answer.out.splitlines()[0].split(), ['ID', 'KIND', 'STATE', 'CREATED', 'NAME'])
        self.assertEqual([line.split()[0] for line in answer.out.splitlines()[1:]],
                         [name.split('/')[-1] for name in reversed(names)])
        self.assertEqual(len(self.sent('GET')), 6)
        self.assertEqual([job['name'] for job in json.loads(self.run_jobs('list', '--format=json').out)], names[::-1])
        self.assertEqual(self.run_jobs('list', '--limit=4', '--format=value(name)').out.split(), names[:4:-1])

    def test_filters_are_the_services_own(self):
        for name in ('a', 'b'):
            self.make(displayName=name, labels={'team': 'x' if name == 'a' else 'y'}, states=[])
        self.make('trainingPipelines', displayName='c')
        for flags, expected in ((['--filter=labels.team=x'], ['a']), (['--filter=display_name:"*" AND NOT labels.team=x'], ['c', 'b']),
                                (['--kind=custom'], ['b', 'a']), (['--state=pending', '--kind=pipeline'], ['c']),
                                (['--filter=state="JOB_STATE_PENDING"'], ['c', 'b', 'a']), (['--state=failed'], []),
                                (['--state=pending', '--filter=display_name="b" OR display_name="c"'], ['c', 'b'])):
            with self.subTest(flags):
                self.assertEqual(self.run_jobs('list', *flags, '--format=value(displayName)').out.split(), expected)
        self.assertEqual(self.run_jobs('list', '--state=failed').out, '')
        self.assertEqual(self.run_jobs('list', '--state=failed', '--format=json').json(), [])

    def test_a_job_is_described_by_name_or_id(self):
        for collection, kind in zip(BODIES, ('custom', 'tuning', 'pipeline')):
            with self.subTest(collection):
                name = self.make(collection)
                number = name.split('/')[-1]
                self.assertIn(f'name: {name}\n', self.run_jobs('describe', name).out)
                self.assertEqual(self.run_jobs('describe', number, '--format=value(name)').out, name + '\n')
                self.api.requests.clear()
                self.assertEqual(self.run_jobs('describe', number, f'--kind={kind}', '--format=json').json()['name'], name)
                self.assertEqual(len(self.api.requests), 1)

    def test_the_name_decides_over_settings(self):
        name = self.make(project='other', region='europe-west4')
        self.assertIn(name, self.run_jobs('describe', name).out)

    def test_a_failed_job_is_explained(self):
        self.api.service.error = {'code': 3, 'message': 'The replica workerpool0-0 exited with a non-zero status of 1.'}
        answer = self.run_jobs('describe', self.make(states=['FAILED']))
        self.assertIn('state: JOB_STATE_FAILED', answer.out)
        self.assertIn('the program itself ended with an error', answer.err)

    def test_cancelling_twice_is_fine(self):
        for collection in BODIES:
            with self.subTest(collection):
                self.api.requests.clear()
                name = self.make(collection, states=['RUNNING'])
                answer = self.run_jobs('cancel', name)
                self.assertEqual(answer.out, name + '\n')
                self.assertIn('Cancelling  ' + name, answer.err)
                self.assertEqual(self.sent('POST', ':cancel')[0]['body'], {})
                self.assertIn('had already been cancelled', self.run_jobs('cancel', name).err)
                self.run_jobs('cancel', name)
                self.assertEqual(len(self.sent('POST', ':cancel')), 1)

    def test_what_the_service_refuses_is_told(self):
        name = self.make()
        missing = name[:-1] + 'x'
        for failures, arguments, fragment in (
                ([], ['describe', missing], f'there is no custom job `{missing}`'),
                ([], ['describe', '12345'], 'there is no job `12345` in region `us-central1`'),
                ([], ['cancel', '12345', '--kind=tuning'], 'there is no tuning job `12345`'),
                ([], ['stream-logs', missing], 'there is no custom job'),
                ([], ['list', '--filter=colour="red"'], 'unknown field colour'),
                ([], ['list', '--filter=state="RUNNING"'], 'RUNNING is no state'),
                ([], ['list', '--filter=(('], 'filter cannot be read'),
                (['get-403'], ['describe', name], '403 PERMISSION_DENIED'),
                (['get-garbled'], ['describe', name], 'the response has no job name'),
                (['list-garbled'], ['list'], 'the response is not a JSON object'),
                (['list-403'], ['list'], 'roles/aiplatform.user'),
                (['cancel-403'], ['cancel', name], 'could not cancel custom job'),
                (['get-404'], ['stream-logs', name], 'there is no custom job'),
                (['logs-403'], ['stream-logs', name], 'could not read the logs of job'),
                (['logs-garbled'], ['stream-logs', name], 'the response is not a list of log entries'),
                (['get-401', 'get-401'], ['describe', name], 'gcloud auth application-default login')):
            with self.subTest(' '.join(arguments) + str(failures)):
                self.api.fail[:] = failures
                answer = self.run_jobs(*arguments, status=1)
                self.assertEqual(answer.out, '')
                self.assertIn(fragment, answer.err)


class Example(unittest.TestCase):
    def test_the_example_runs_without_an_account(self):
        env = testbed.environment()
        env['PATH'] = os.path.dirname(testbed.binary) + os.pathsep + env['PATH']
        answer = testbed.run(['bash', testbed.EXAMPLES / 'jobs.sh'], env=env, timeout=60)
        text = answer.stdout.decode()
        self.assertIn('custom job  succeeded', text)
        self.assertIn('JOB_STATE_CANCEL', text)
        self.assertIn('the job is running', answer.stderr.decode())
