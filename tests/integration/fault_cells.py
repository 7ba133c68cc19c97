"""One cell of the fault matrix: a step of a command, a fault in it, and what must hold after it.

Each kind of command is a class. `steps` are its requests, as patterns of `METHOD PATH`; `run` runs the
command with its own name, `check` examines the result.
"""

import base64
import json
import re
import time

import secret_watch
import stored_image
import testbed
from fault_proxy import FaultProxy
from kubernetes_service import KubernetesService
from vertex_server import VertexServer

# An attempt, its pauses and the steps after it; longer means a hang.
LIMIT = 60
# The wait for a silent server is the longest timeout of a request.
STALL_LIMIT = 420


# A run recovers from temporary faults, whatever the step.
PASSING = ('refused', 'reset before the body', 'reset within the body', 'reset after the body', 'reset within the answer',
           '408', '429 with a time', '429', '500', '503', 'truncated')


class Cell:
    """The outcome of a step with a fault."""

    def __init__(self, word, trouble=''):
        self.word, self.trouble = word, trouble


def clear_error(answer):
    """Returns the error in how a failure is reported; empty if there is none."""
    if 'error:' not in answer.err:
        return 'no error is told'
    if 'internal' in answer.err or 'this is a bug' in answer.err:
        return 'an internal error'
    if len(answer.err) > 20_000:
        return f'an error of {len(answer.err)} bytes'
    return '' if answer.status in (1, 2) else f'status {answer.status}'


class Push:
    """A build by the direct engine, from a base in a registry to another repository of it."""

    steps = {
        'token': r'GET /token',
        'find the base': r'HEAD /v2/tests/small-base/manifests/',
        'read its manifest': r'GET /v2/tests/small-base/manifests/',
        'read its configuration and layers': r'GET /v2/tests/small-base/blobs/',
        'look for the image': r'HEAD /v2/faults/[^/]*/manifests/',
        'begin an upload': r'POST /v2/faults/[^/]*/blobs/uploads/',
        'send a blob': r'(PUT|PATCH) /v2/faults/[^/]*/blobs/uploads/',
        'look for a blob': r'HEAD /v2/faults/[^/]*/blobs/',
        'put the key\'s tag': r'PUT /v2/faults/[^/]*/manifests/ap-',
        'put the user\'s tag': r'PUT /v2/faults/[^/]*/manifests/v1',
    }
    once_only = ()
    fragile = ()
    patient = ()
    long = ()

    def __init__(self):
        self.registry = testbed.start_registry()
        stored_image.push_base(self.registry)
        self.login = ('robot', secret_watch.secret('password'))
        self.proxies = []

    def close(self):
        pass

    def run(self, proxy, name):
        folder = testbed.write_tree({'task.py': f'print("{name}")\n', 'data.bin': name * 40_000})
        home = testbed.new_folder('home')
        auth = base64.b64encode(':'.join(self.login).encode()).decode()
        testbed.write_tree({'.docker/config.json': json.dumps({'auths': {proxy.address: {'auth': auth}}})}, home)
        env = testbed.environment(DOCKER_HOST='unix:///nowhere/docker.sock', HOME=home, XDG_CACHE_HOME=home / '.cache')
        return lambda: testbed.autopack(
            'build', f'--executor-image-uri={proxy.address}/tests/small-base:1', '--script=task.py', '--engine=direct',
            '--format=json', f'--output-image-uri={proxy.address}/faults/{name}:v1', cwd=folder, env=env, status=None,
            timeout=STALL_LIMIT)

    def proxy(self):
        host, port = self.registry.split(':')
        return FaultProxy((host, int(port)), login=self.login)

    def check(self, name, first, second):
        """Returns the errors in the results of a run with the fault, and of one without."""
        digest = second.json()['digest']
        for tag in stored_image.tags(self.registry, f'faults/{name}'):
            if stored_image.whole_image(self.registry, f'faults/{name}', tag) != digest:
                return f'the tag {tag} names another image'
        if first.status == 0 and first.json()['digest'] != digest:
            return 'two images of one project'
        return ''


class Submit:
    """A submission that waits for its job's end."""

    steps = {
        'token': r'POST /token',
        'create': r'POST /v1/projects/[^/]*/locations/[^/]*/customJobs',
        'look for the job': r'GET /v1/projects/[^/]*/locations/[^/]*/customJobs\?',
        'watch the job': r'GET /v1/projects/[^/]*/locations/[^/]*/customJobs/',
    }
    # A running job's service is retried for half an hour.
    once_only = ('watch the job',)
    # A 429 without a time means an exhausted quota.
    fragile = ('create',)
    patient = ()
    long = ()

    def __init__(self):
        self.api = VertexServer(states=['SUCCEEDED'])
        self.key = {'type': 'authorized_user', 'client_id': 'id', 'client_secret': secret_watch.secret('client'),
                    'refresh_token': secret_watch.secret('refresh')}

    def close(self):
        self.api.close()

    def proxy(self):
        return FaultProxy(('127.0.0.1', self.api.port))

    def run(self, proxy, name):
        home = testbed.new_folder('home')
        url = f'http://{proxy.address}/'
        testbed.write_tree({'key.json': json.dumps(self.key)}, home)
        env = testbed.environment(
            HOME=home, XDG_CACHE_HOME=home / '.cache', GOOGLE_APPLICATION_CREDENTIALS=home / 'key.json',
            CLOUDSDK_AUTH_TOKEN_HOST=url + 'token', CLOUDSDK_CORE_PROJECT='test-project',
            CLOUDSDK_AI_REGION='us-central1', CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=url)
        if any(pattern.pattern == self.steps['look for the job'] for pattern, _, _ in proxy.spoilt):
            proxy.spoil(self.steps['create'], 'reset after the body')
        return lambda: testbed.autopack(
            'submit', f'--display-name={name}', '--skip-checks', '--wait', '--polling-interval=1',
            '--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1', env=env, status=None,
            timeout=STALL_LIMIT)

    def check(self, name, first, second):
        jobs = [entry['job'] for entry in self.api.service.jobs.values() if entry['job']['displayName'] == name]
        told = set(re.findall(r'projects/\S+/customJobs/\d+', first.out + first.err)) if first.out else set()
        lasting = [job for job in jobs if job['state'] != 'JOB_STATE_CANCELLED' and job['name'] not in told]
        told_again = re.findall(r'projects/\S+/customJobs/\d+', second.out)
        if len({job['name'] for job in lasting} - set(told_again)) > 0:
            return f'{len(lasting)} jobs that nobody was told of'
        if first.status == 0 and not told:
            return 'no job is told'
        return '' if len(told_again) == 1 else 'the second run tells no job'


class Kubernetes:
    """A submission to Kubernetes that follows its job."""

    steps = {
        'try the job': r'POST /apis/batch/v1/namespaces/ml/jobs\?dryRun=',
        'try a pod': r'POST /api/v1/namespaces/ml/pods\?',
        'ask for rights': r'POST /apis/authorization.k8s.io/',
        'create': r'POST /apis/batch/v1/namespaces/ml/jobs\?fieldManager=',
        'look at the job': r'GET /apis/batch/v1/namespaces/ml/jobs/',
        'list the pods': r'GET /api/v1/namespaces/ml/pods\?(?!.*watch=)',
        'watch': r'GET .*[?&]watch=',
        'read a log': r'GET .*/log\?',
    }
    # A cluster with a job is asked again for half an hour.
    once_only = ('look at the job', 'list the pods', 'watch', 'read a log')
    fragile = ()
    patient = ('watch', 'read a log')
    # A log may be long.
    long = ('read a log',)

    def __init__(self):
        self.service = KubernetesService(testbed.new_folder('kubernetes'), tls=False)
        # A spoilt watch is forwarded as a whole.
        self.service.longest_watch = 0.5

    def close(self):
        self.service.close()
        assert not self.service.errors, self.service.errors

    def proxy(self):
        return FaultProxy(('127.0.0.1', self.service.port))

    def run(self, proxy, name):
        home = testbed.new_folder('home')
        config = self.service.kubeconfig('submitter', server=f'http://{proxy.address}')
        env = testbed.environment(HOME=home, XDG_CACHE_HOME=home / '.cache', KUBECONFIG=config)
        template = json.dumps({'metadata': {'annotations': {'test/outcome': 'succeed'}}})
        return lambda: testbed.autopack(
            'submit', '--submitter=kubernetes', f'--display-name={name}', '--stream-logs', '--polling-interval=1',
            f'--pod-template={template}',
            '--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=registry.example/i@sha256:' + '0' * 64,
            cwd=home, env=env, status=None, timeout=STALL_LIMIT)

    def check(self, name, first, second):
        made = {job['metadata']['name'] for job in self.service.items('Job')
                if job['metadata']['annotations'].get('autopack/display-name') == name}
        told = {text.rpartition('/')[2] for text in re.findall(r'kubernetes/test/ml/[\w-]+', first.out + first.err)}
        told_again = {text.rpartition('/')[2] for text in re.findall(r'kubernetes/test/ml/[\w-]+', second.out)}
        if made - told - told_again:
            return f'jobs that were not reported: {made - told - told_again}'
        if first.status == 0 and not re.findall(r'kubernetes/test/ml/[\w-]+', first.out):
            return 'no job is reported'
        replaced = any(text in first.err for text in ('<html>', '[' * 100, ' ' * 1000))  # a log is whatever text arrives
        if first.status == 0 and first.err.count('line 4') != 1 and 'cannot be read' not in first.err and not replaced:
            return f'the last line is shown {first.err.count("line 4")} times'
        return '' if len(told_again) == 1 else 'the second run reports no job'


class Engine:
    """A build by the docker engine."""

    steps = {
        'ping': r'(GET|HEAD) (/v[0-9.]+)?/(_ping|version)',
        'inspect an image': r'GET (/v[0-9.]+)?/images/.*/json',
        'make a container': r'POST (/v[0-9.]+)?/containers/create',
        'look into it': r'HEAD (/v[0-9.]+)?/containers/.*/archive',
        'build': r'POST (/v[0-9.]+)?/build\?',
        'tag': r'POST (/v[0-9.]+)?/images/.*/tag\?',
    }
    once_only = ()
    # An engine is on this machine: its refusals are reported immediately.
    fragile = tuple(steps)
    # A build may be silent for hours.
    patient = ('build',)
    long = ()

    def __init__(self):
        self.base = testbed.executor()
        self.asked = {}
        testbed.at_exit(testbed.remove_images, 'autopack-tests/faults-')

    def close(self):
        pass

    def proxy(self):
        return FaultProxy('/var/run/docker.sock', unix=str(testbed.new_folder('socket') / 'docker.sock'))

    def run(self, proxy, name):
        self.asked[name] = proxy.seen
        folder = testbed.write_tree({'task.sh': f'echo {name}\n'})
        home = testbed.new_folder('home')
        env = testbed.environment(DOCKER_HOST=f'unix://{proxy.unix}', HOME=home, XDG_CACHE_HOME=home / '.cache')
        return lambda: testbed.autopack(
            'build', f'--executor-image-uri={self.base}', '--script=task.sh', '--engine=docker', '--format=json',
            f'--output-image-uri=autopack-tests/faults-{name}:v1', '--no-push', cwd=folder, env=env, status=None,
            timeout=STALL_LIMIT)

    def check(self, name, first, second):
        wanted = second.json()['digest']
        named = testbed.docker('image', 'inspect', '-f', '{{.Id}}', f'autopack-tests/faults-{name}:v1')
        if named != wanted:
            return f'the tag names {named}, not {wanted}'
        if 'cannot reach the Docker Engine' in first.err:
            return ''  # nor could its results there be removed
        made = {container[1] for step in self.asked[name] if (container := re.search(r'/containers/create\?name=([\w-]+)', step))}
        left = [container for container in made
                if testbed.run(['docker', 'container', 'inspect', container], check=False).returncode == 0]
        return '' if made and not left else f'containers made: {made}, left: {left}'


def try_cell(kind, step, fault, times, name):
    """Runs the command with `fault` at `step`, then again without it."""
    with kind.proxy() as proxy:
        proxy.spoil(kind.steps[step], fault, times)
        command = kind.run(proxy, name)
        begin = time.monotonic()
        first = command()
        spent = time.monotonic() - begin
        if not proxy.hits:
            return Cell('-')
        trouble = '' if first.status == 0 else clear_error(first)
        is_slow = fault == 'stall' or fault == 'oversized' and step in kind.long
        if spent > (STALL_LIMIT if is_slow else LIMIT):
            trouble = f'it took {spent:.0f} s'
        proxy.mend()
        proxy.is_open.wait(10)
        second = command()
        if second.status != 0:
            return Cell('BAD', trouble or f'the run after it fails: {second}')
        trouble = trouble or kind.check(name, first, second)
        if first.status != 0 and times and fault in PASSING and step not in kind.fragile:
            trouble = trouble or 'it does not try again'
        proxy.elsewhere.require_no_secret()
        if trouble:
            return Cell('BAD', f'{trouble}\n{first}')
        return Cell('ok' if first.status == 0 else 'told')
