"""Vertex AI's jobs in the stand-in: three collections, with a life cycle, filters and pages."""

import datetime
import functools
import json
import pathlib
import re
import subprocess
import sys
import threading

from list_filter import BadFilter, Parser

# Collection -> message of the schemas, prefix of its states.
KINDS = {
    'customJobs': ('CustomJob', 'JOB_STATE_'),
    'hyperparameterTuningJobs': ('HyperparameterTuningJob', 'JOB_STATE_'),
    'trainingPipelines': ('TrainingPipeline', 'PIPELINE_STATE_'),
}
ENDS = ('SUCCEEDED', 'FAILED', 'CANCELLED', 'EXPIRED', 'PARTIALLY_SUCCEEDED')
FIELDS = {'display_name': 'displayName', 'create_time': 'createTime', 'state': 'state',
          'training_task_definition': 'trainingTaskDefinition'}
FIRST_ID = 4_000_000_000_000_000_000


def now():
    time = datetime.datetime.now(datetime.timezone.utc)
    return time.isoformat(timespec='microseconds').replace('+00:00', 'Z')


def scalar_fault(kind, value, values):
    good = {
        'string': isinstance(value, str),
        'bool': isinstance(value, bool),
        'int32': isinstance(value, int) and not isinstance(value, bool),
        'int64': isinstance(value, str) and re.fullmatch(r'-?\d+', value) is not None,
        'double': isinstance(value, (int, float)) and not isinstance(value, bool),
        'duration': isinstance(value, str) and re.fullmatch(r'\d{1,12}(\.\d{1,9})?s', value) is not None,
        'map': isinstance(value, dict) and all(isinstance(item, str) for item in value.values()),
        'enumeration': isinstance(value, str) and value in values,
    }
    return None if good.get(kind, True) else f'{json.dumps(value)} is no {kind}'


def schema_faults(value, message, table, path):
    """Returns the violations of the table of fields in `value`, as (path, text)."""
    if not isinstance(value, dict):
        yield path, f'{json.dumps(value)} is no {message}'
        return
    for name, (_, _, _, _, is_required) in table[message].items():
        if is_required and name not in value:
            yield f'{path}.{name}'.lstrip('.'), 'Required field is missing.'
    for name, item in value.items():
        where = f'{path}.{name}'.lstrip('.')
        kind, values, is_keyed, is_list, _ = table[message].get(name, ('output', (), False, False, False))
        if kind == 'output':
            yield where, 'Cannot find field.'
            continue
        if is_list and not isinstance(item, list):
            yield where, f'{json.dumps(item)} is no list'
            continue
        if is_keyed:
            item = [] if not isinstance(item, dict) else list(item.values())
        for index, element in enumerate(item if is_list or is_keyed else [item]):
            at = f'{where}[{index}]' if is_list else where
            if kind in table:
                yield from schema_faults(element, kind, table, at) if element or kind != 'WorkerPoolSpec' else ()
            elif fault := scalar_fault(kind, element, values):
                yield at, fault


def pool_faults(body):
    """Checks rules that are not in the schemas, of a CustomJob or the job inside another resource."""
    spec = body.get('jobSpec') or body.get('trialJobSpec') or body.get('trainingTaskInputs') or {}
    for index, pool in enumerate(spec.get('workerPoolSpecs', [])):
        where = f'job_spec.worker_pool_specs[{index}]'
        if not pool and index > 0:
            continue
        if ('containerSpec' in pool) == ('pythonPackageSpec' in pool):
            yield where, 'Exactly one of `container_spec` and `python_package_spec` should be specified.'
        machine = pool.get('machineSpec', {})
        if ('acceleratorType' in machine) != ('acceleratorCount' in machine):
            yield (f'{where}.machine_spec.accelerator_type',
                   'Both `accelerator_type` and `accelerator_count` should be specified or none.')
        if index == 0 and pool.get('replicaCount', '1') != '1':
            yield f'{where}.replica_count', 'The primary pool has exactly one replica.'


class Oracle:
    """The validator beside this repository in a process of its own, which checks one body after another."""

    PROGRAM = '''
import contextlib, io, json, runpy, sys, traceback
lines, main = sys.stdin, runpy.run_path(sys.argv[1])['main']
for line in lines:
    arguments, body = json.loads(line)
    sys.stdin = io.TextIOWrapper(io.BytesIO(body.encode()))
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit:
            pass
        except Exception:
            traceback.print_exc()
    print(json.dumps([out.getvalue(), err.getvalue()]), flush=True)
'''

    def __init__(self, folder):
        self.lock = threading.Lock()
        self.process = subprocess.Popen([sys.executable, '-c', self.PROGRAM, pathlib.Path(folder, 'validate.py')],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, arguments, body):
        """Returns its output and its errors."""
        with self.lock:
            self.process.stdin.write(json.dumps([[str(argument) for argument in arguments], body]).encode() + b'\n')
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())


# It ends with this process, whose end closes its input.
oracle_at = functools.cache(Oracle)


def oracle_faults(body, schema, oracle, document='aiplatform-v1-pruned', options=()):
    """Returns the violations of the API's discovery document in `body`, as (path, text)."""
    file = next(pathlib.Path(oracle).glob(f'discovery/{document}*.json'))
    out, err = oracle_at(oracle).ask(['--require', '--strict-int64', '--no-output-only', '--json', *options, file, schema, '-'],
                                     json.dumps(body))
    if not out:
        yield '$', err
        return
    for error in json.loads(out)['errors']:
        yield error['path'], error['message']


def label_or_field(job, field):
    if field.startswith('labels.'):
        return job.get('labels', {}).get(field.removeprefix('labels.'))
    if field not in FIELDS:
        raise BadFilter(f'unknown field {field}')
    return job.get(FIELDS[field])


class JobService:
    """Jobs by resource name. `refuse(status, message)` makes the exception that a caller sees.

    A job in a region of `full`, or of `full` as `REGION/ACCELERATOR`, fails for lack of machines. `refusals` has status
    and message of a create by region. A job takes the next state of its script at each get, and keeps the last. `control` may name a file: the state in
    it is the one that jobs take next, as long as the file is there.
    """

    def __init__(self, refuse, table, oracle, states, control=None):
        self.refuse, self.table, self.oracle, self.control = refuse, table, oracle, control
        self.states = list(states)
        self.error = {'code': 13, 'message': 'Internal error occurred for the current attempt.'}
        self.full = set()
        self.refusals = {}
        self.end_time = None
        self.pipelines_know_labels = True
        self.changed = lambda name, state: None
        self.jobs = {}
        self.errors = {}  # of single jobs

    def faults(self, collection, body):
        message = KINDS[collection][0]
        faults = list(pool_faults(body))
        if message in self.table:
            faults += schema_faults(body, message, self.table, '')
        if self.oracle and not faults:
            faults += oracle_faults(body, f'GoogleCloudAiplatformV1{message}', self.oracle, options=[
                '--oneofs', self.oracle / 'discovery/aiplatform-v1-oneofs.json'])
        return faults

    def create(self, project, region, collection, body):
        faults = self.faults(collection, body)
        if faults:
            raise self.refuse(400, 'List of found errors:' + ''.join(
                f'\t{number}.Field: {path}; Message: {words}\t' for number, (path, words) in enumerate(faults, 1)))
        if region in self.refusals:
            raise self.refuse(*self.refusals[region])
        name = f'projects/{project}/locations/{region}/{collection}/{FIRST_ID + len(self.jobs)}'
        script = [state for word in self.states for state in repeated(word)]
        if {region, f'{region}/{accelerator_of(body)}'} & self.full:
            script = ['PENDING', 'FAILED']
            self.errors[name] = {'code': 8, 'message': f'Resources are insufficient in region: {region}. Try a different '
                                 'region or use a different accelerator.'}
        self.jobs[name] = {'job': {**body, 'name': name, 'createTime': now()}, 'states': script}
        self.enter(name, script[0] if script[:1] == ['QUEUED'] else 'PENDING')
        return self.jobs[name]['job']

    def enter(self, name, state):
        job, collection = self.jobs[name]['job'], name.split('/')[4]
        if job.get('state', '').endswith('_' + state):
            return
        job['state'], job['updateTime'] = KINDS[collection][1] + state, now()
        if state == 'RUNNING':
            job['startTime'] = now()
        if state == 'RUNNING' and collection == 'trainingPipelines':
            backing = name.replace(collection, 'customJobs') + '0'
            job['trainingTaskMetadata'] = {'backingCustomJob': backing}
        if state in ENDS:
            job['endTime'] = self.end_time or now()
        if state == 'FAILED':
            job['error'] = self.errors.get(name, self.error)
        self.changed(name, state)

    def get(self, name):
        if name not in self.jobs:
            raise self.refuse(404, f'The resource "{name}" is not found.')
        script = self.jobs[name]['states']
        if self.control and pathlib.Path(self.control).is_file():
            script[:] = pathlib.Path(self.control).read_text(encoding='utf-8').split()
        if script:
            self.enter(name, script.pop(0))
        return self.jobs[name]['job']

    def cancel(self, name):
        if name not in self.jobs:
            raise self.refuse(404, f'The resource "{name}" is not found.')
        if self.jobs[name]['job']['state'].split('_', 2)[2] in ENDS:
            raise self.refuse(400, 'The job has ended, so it cannot be cancelled.')
        self.jobs[name]['states'][:] = ['CANCELLING', 'CANCELLED']
        return {}

    def list(self, project, region, collection, query):
        """Newest first, as the service does."""
        text = query.get('filter', '')
        prefix = KINDS[collection][1]
        for state in re.findall(r'state\s*!?=\s*"?(\w+)', text):
            if not state.startswith(prefix):
                raise self.refuse(400, f'{state} is no state of {collection}.')
        if collection == 'trainingPipelines' and 'labels.' in text and not self.pipelines_know_labels:
            raise self.refuse(400, 'Unsupported field in the filter: labels.')
        parent = f'projects/{project}/locations/{region}/{collection}/'
        try:
            wanted = Parser(text, label_or_field).parse()
            jobs = [entry['job'] for name, entry in reversed(self.jobs.items())
                    if name.startswith(parent) and wanted(entry['job'])]
        except BadFilter as fault:
            raise self.refuse(400, f'The filter cannot be read: {fault}') from None
        start, size = int(query.get('pageToken') or 0), int(query.get('pageSize') or 100)
        result = {collection: jobs[start:start + size]} if jobs else {}
        return result | ({'nextPageToken': str(start + size)} if len(jobs) > start + size else {})


def accelerator_of(body):
    """Returns the accelerator of the first pool, in whatever kind of job."""
    spec = body.get('jobSpec') or body.get('trialJobSpec') or body.get('trainingTaskInputs') or {}
    spec = spec.get('trialJobSpec', spec)
    return spec['workerPoolSpecs'][0].get('machineSpec', {}).get('acceleratorType')


def repeated(word):
    """Returns `RUNNING*3` as three states."""
    state, _, count = word.partition('*')
    return [state] * int(count or 1)
