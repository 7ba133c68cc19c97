"""Cloud Build and its bucket in the stand-in: objects of Cloud Storage, and builds that a docker engine really makes.

A build extracts its source, runs `docker` with the arguments of its step, writes the output to the log object, pushes the
images and reports their digests. Every body of a create is held against the API's discovery document, of which
cloudbuild-v1-pruned.json is a part. `granted` are the caller's permissions, `buckets` the buckets by project; `outcome`
replaces what a build does, and `hold` keeps it from ending until it is cancelled.
"""

import io
import json
import os
import pathlib
import re
import subprocess
import tarfile
import tempfile
import threading
import urllib.parse
import uuid

from job_service import now, oracle_at

SCHEMA = pathlib.Path(__file__).resolve().parent / 'cloudbuild-v1-pruned.json'
ACCOUNT = '4242-compute@developer.gserviceaccount.com'
BUILDS = re.compile(r'/v1/projects/([^/]+)/locations/([^/]+)/builds(?:/([^/:]+))?(:cancel)?')
OBJECT = re.compile(r'/storage/v1/b/([^/]+)/o/([^/]+)')
TEST_PERMISSIONS = re.compile(r'/storage/v1/b/([^/]+)/iam/testPermissions')
ENDS = ('SUCCESS', 'FAILURE', 'INTERNAL_ERROR', 'TIMEOUT', 'CANCELLED', 'EXPIRED')
MULTIPLE = 256 * 1024
ENGINE = threading.Lock()


class Objects:
    """Buckets of Cloud Storage, as its JSON API shows them."""

    def __init__(self, refuse, url):
        self.refuse, self.url = refuse, url
        self.buckets = {'test-project': ['test-project_cloudbuild']}
        self.granted = {'storage.objects.create', 'storage.objects.get', 'storage.objects.delete'}
        self.objects, self.deleted, self.sessions = {}, [], {}
        self.generation = 1_700_000_000_000_000

    def require_bucket(self, name):
        if not any(name in names for names in self.buckets.values()):
            raise self.refuse(404, 'The specified bucket does not exist.')

    def put(self, bucket, name, data):
        self.generation += 1
        self.objects[bucket, name] = (str(self.generation), data)

    def resource(self, bucket, name):
        generation, data = self.objects[bucket, name]
        return {'kind': 'storage#object', 'bucket': bucket, 'name': name, 'generation': generation, 'size': str(len(data))}

    def list_buckets(self, query):
        names = self.buckets.get(query['project'], [])
        return {'items': [{'name': name} for name in names if name.startswith(query.get('prefix', ''))]}

    def begin(self, bucket, query, headers):
        self.require_bucket(bucket)
        if query.get('uploadType') != 'resumable' or query.get('ifGenerationMatch') != '0':
            raise self.refuse(400, 'Only resumable uploads of new objects are expected.')
        if (bucket, query['name']) in self.objects:
            raise self.refuse(412, 'At least one of the pre-conditions you specified did not hold.')
        session = uuid.uuid4().hex
        self.sessions[session] = [bucket, query['name'], int(headers['X-Upload-Content-Length']), b'']
        return 200, b'', {'Location': f'{self.url().rstrip("/")}/upload/storage/v1/b/{bucket}/o?upload_id={session}'}

    def go_on(self, query, headers, body):
        session = self.sessions.get(query['upload_id'])
        if not session:
            raise self.refuse(404, 'The upload session does not exist.')
        bucket, name, size, data = session
        place = re.fullmatch(r'bytes (?:(\d+)-(\d+)|\*)/(\d+)', headers['Content-Range'])
        if int(place[3]) != size:
            raise self.refuse(400, 'The size differs from the one of the session.')
        if place[1] and (bucket, name) not in self.objects:
            first, last = int(place[1]), int(place[2])
            if last + 1 - first != len(body) or first > len(data) or (last + 1 < size and len(body) % MULTIPLE):
                raise self.refuse(400, 'The range does not fit the body.')
            data = session[3] = data[:first] + body
            if len(data) == size:
                self.put(bucket, name, data)
        if (bucket, name) in self.objects:
            return 200, self.resource(bucket, name), {}
        return 308, b'', {'Range': f'bytes=0-{len(data) - 1}'} if data else {}

    def read(self, key, query, headers):
        generation, data = self.objects[key]
        if query.get('alt') != 'media':
            return 200, self.resource(*key), {}
        first, last = (int(number) for number in re.fullmatch(r'bytes=(\d+)-(\d+)', headers['Range']).groups())
        if first >= len(data):
            raise self.refuse(416, 'The requested range cannot be satisfied.')
        return 206, data[first:last + 1], {'Content-Type': 'text/plain'}

    def handle(self, method, path, query, headers, body):
        if path == '/storage/v1/b' and method == 'GET':
            return 200, self.list_buckets(query), {}
        if (match := TEST_PERMISSIONS.fullmatch(path)) and method == 'GET':
            self.require_bucket(match[1])
            return 200, {'permissions': [one for one in self.granted]}, {}
        if path.startswith('/upload/storage/v1/b/'):
            if method == 'POST':
                return self.begin(path.split('/')[5], query, headers)
            return self.go_on(query, headers, body)
        match = OBJECT.fullmatch(path)
        key = (match[1], urllib.parse.unquote(match[2])) if match else None
        if key not in self.objects:
            raise self.refuse(404, 'No such object.')
        if method == 'GET':
            return self.read(key, query, headers)
        if method == 'DELETE':
            if query.get('generation', self.objects[key][0]) != self.objects[key][0]:
                raise self.refuse(404, 'No such object.')
            self.deleted.append(key)
            del self.objects[key]
            return 204, b'', {}
        raise self.refuse(404, 'The method is not found.')


class CloudBuildService:
    """Builds by id. `refuse(status, message)` makes the exception that a caller sees."""

    def __init__(self, refuse, oracle, url, lock):
        self.refuse, self.oracle, self.lock = refuse, oracle, lock
        self.storage = Objects(refuse, url)
        self.builds = {}
        self.outcome = None        # fields of a build that ends without work
        self.log = 'a line\n' * 30  # of such a build
        self.hold = False
        self.is_allowed = True
        self.threads = []
        self.docker = ['docker']   # a command that builds with BuildKit

    @property
    def objects(self):
        return self.storage.objects

    def faults(self, body):
        if not self.oracle:
            return []
        out, err = oracle_at(self.oracle).ask(['--require', '--strict-int64', '--no-output-only', '--json', SCHEMA, 'Build', '-'],
                                              json.dumps(body))
        return [f'{error["path"]}: {error["message"]}' for error in json.loads(out)['errors']] if out else [err]

    def create(self, project, region, body):
        if faults := self.faults(body):
            raise self.refuse(400, '; '.join(faults))
        for text in json.dumps(body).replace('$$', '').split('$')[1:]:
            raise self.refuse(400, f'invalid value for build: key in the template "{text[:20]}" is not a valid substitution')
        build = {**body, 'id': str(uuid.uuid4()), 'status': 'QUEUED', 'createTime': now(), 'projectId': project,
                 'serviceAccount': f'projects/{project}/serviceAccounts/{ACCOUNT}'}
        build['name'] = f'projects/4242/locations/{region}/builds/{build["id"]}'
        build['logUrl'] = f'https://console.cloud.google.com/cloud-build/builds;region={region}/{build["id"]}?project=4242'
        self.builds[build['id']] = build
        thread = threading.Thread(target=self.work, args=(build,), daemon=True)
        self.threads.append(thread)
        thread.start()
        return {'name': f'projects/{project}/locations/{region}/operations/x',
                'metadata': {'@type': 'type.googleapis.com/google.devtools.cloudbuild.v1.BuildOperationMetadata', 'build': build}}

    def write_log(self, build, text):
        bucket, _, folder = build['logsBucket'].removeprefix('gs://').partition('/')
        name = f'{folder}/log-{build["id"]}.txt'
        with self.lock:
            before = self.objects.get((bucket, name), ('', b''))[1]
            self.storage.put(bucket, name, before + text.encode())

    def end(self, build, **fields):
        with self.lock:
            if build['status'] not in ENDS:
                build.update(fields, finishTime=now())

    def work(self, build):
        with self.lock:
            build['status'] = 'WORKING'
            source = build['source']['storageSource']
            generation, data = self.objects.get((source['bucket'], source['object']), (None, b''))
        if self.hold:
            return
        if self.outcome:
            self.write_log(build, self.log + 'ERROR\n')
            self.end(build, **self.outcome)
        elif generation != source['generation']:
            self.end(build, status='FAILURE', failureInfo={'type': 'FETCH_SOURCE_FAILED', 'detail': 'No such object.'})
        else:
            with tempfile.TemporaryDirectory() as workspace:
                with tarfile.open(fileobj=io.BytesIO(data), mode='r:gz') as archive:
                    archive.extractall(workspace)
                try:
                    self.run_steps(build, workspace)
                finally:
                    self.end(build, status='INTERNAL_ERROR')  # unless it has ended

    def run_steps(self, build, workspace):
        # One at a time: an engine may lose an image that is made again while it is removed.
        with ENGINE:
            self.run_in_engine(build, workspace)

    def run_in_engine(self, build, workspace):
        self.write_log(build, f'starting build "{build["id"]}"\n\nFETCHSOURCE\nBUILD\n')
        for step in build['steps']:
            # BuildKit takes files of the same size and time for those of the last build from the same path.
            arguments = [workspace if one == '.' else one.replace('$$', '$') for one in step['args']]
            environment = {**os.environ, **dict(one.split('=', 1) for one in step['env'])}
            with subprocess.Popen([*self.docker, *arguments], cwd=workspace, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
                for line in process.stdout:
                    self.write_log(build, line)
            if process.returncode:
                self.write_log(build, 'ERROR\n')
                self.end(build, status='FAILURE', failureInfo={'type': 'USER_BUILD_STEP', 'detail': 'step exited with 1'})
                return
        results = []
        for image in build['images']:
            pushed = subprocess.run(['docker', 'push', image], capture_output=True, text=True, check=False).stdout
            digest = re.search(r'digest: (sha256:\w+)', pushed)
            results.append({'name': image, 'digest': digest[1]})
            subprocess.run(['docker', 'rmi', image], capture_output=True, check=False)
        self.write_log(build, 'PUSH\nDONE\n')
        self.end(build, status='SUCCESS', results={'images': results})

    def list(self, query):
        tag = re.fullmatch(r'tags="([\w-]+)"', query['filter'])[1]
        return {'builds': found} if (found := [build for build in self.builds.values() if tag in build['tags']]) else {}

    def cancel(self, build):
        if build['status'] in ENDS:
            raise self.refuse(400, 'Cannot cancel a build that has completed.')
        build.update(status='CANCELLED', finishTime=now())
        return build

    def handle(self, method, path, query, headers, body, misbehave):
        """Returns status, content and headers, or None for other paths."""
        match = BUILDS.fullmatch(path)
        if not match and not path.startswith(('/storage/', '/upload/')):
            return None
        if not re.fullmatch(r'Bearer \S+', headers.get('Authorization', '')):
            raise self.refuse(401, 'Request is missing required authentication credential.')
        if not match:
            call = {'DELETE': 'delete', 'POST': 'begin', 'PUT': 'upload'}.get(method, 'object')
            return misbehave(call, lambda: self.storage.handle(method, path, query, headers, body))
        if not self.is_allowed:
            raise self.refuse(403, 'The caller does not have permission')
        project, region, build, verb = match.groups()
        if build and build not in self.builds:
            raise self.refuse(404, 'Requested entity was not found.')
        if verb:
            return 200, misbehave('build-cancel', lambda: self.cancel(self.builds[build])), {}
        if build:
            return 200, misbehave('build-get', lambda: self.builds[build]), {}
        if method == 'POST':
            return 200, misbehave('build', lambda: self.create(project, region, json.loads(body))), {}
        return 200, misbehave('build-list', lambda: self.list(query)), {}
