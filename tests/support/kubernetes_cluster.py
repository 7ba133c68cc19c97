"""A Kubernetes cluster for tests: the stand-in, or the real one that AUTOPACK_TESTS_KUBERNETES names by a kubeconfig.

The real one is a control plane with fake nodes on this machine. Its kubeconfig is one of a user who may submit; in the same
folder are `admin.kubeconfig`, and `pod.log` with the lines that each pod shows.
"""

import contextlib
import http.client
import json
import os
import pathlib
import ssl
import urllib.parse

import yaml

import secret_watch
import testbed
from kubernetes_service import LABELS, KubernetesService
from kubernetes_store import kind_of

REAL = os.environ.get('AUTOPACK_TESTS_KUBERNETES')
# How long a state of the cluster may take.
PATIENCE = 60 if REAL else 20


class Api:
    """Requests with the rights of a kubeconfig."""

    def __init__(self, kubeconfig):
        content = yaml.safe_load(pathlib.Path(kubeconfig).read_text(encoding='utf-8'))
        cluster = content['clusters'][0]['cluster']
        self.address = urllib.parse.urlsplit(cluster['server'])
        self.token = secret_watch.register(content['users'][0]['user']['token'], 'a token of the cluster')
        authority = cluster.get('certificate-authority')
        self.context = ssl.create_default_context(cafile=authority) if authority else None
        self.name = content['current-context']

    def ask(self, method, path, body=None, kind='application/json'):
        """Returns status and answer."""
        made = http.client.HTTPSConnection if self.context else http.client.HTTPConnection
        connection = made(self.address.hostname, self.address.port, timeout=30, **({'context': self.context} if self.context else {}))
        with contextlib.closing(connection):
            connection.request(method, path, None if body is None else json.dumps(body), {
                'Authorization': f'Bearer {self.token}', 'Content-Type': kind, 'Accept': 'application/json'})
            answer = connection.getresponse()
            data = answer.read()
        try:
            return answer.status, json.loads(data)
        except ValueError:
            return answer.status, data.decode(errors='replace')

    @staticmethod
    def path(kind, name='', namespace='ml'):
        kind = kind_of(kind)
        root = 'apis/' if kind.group else 'api/'
        place = f'namespaces/{namespace}/' if kind.namespaced else ''
        return f'/{root}{kind.version}/{place}{kind.plural}' + (f'/{name}' if name else '')

    def items(self, kind, selector='', namespace='ml'):
        query = f'?labelSelector={urllib.parse.quote(selector)}' if selector else ''
        status, answer = self.ask('GET', self.path(kind, namespace=namespace) + query)
        assert status == 200, answer
        return answer['items']

    def make(self, kind, name, namespace='ml', **fields):
        what = kind_of(kind)
        status, answer = self.ask('POST', self.path(kind, namespace=namespace), {
            'apiVersion': what.version, 'kind': kind, 'metadata': {'name': name}, **fields})
        assert status in (201, 409), answer

    def delete(self, kind, name, namespace='ml'):
        self.ask('DELETE', self.path(kind, name, namespace) + '?propagationPolicy=Background')

    def change(self, kind, name, change, namespace='ml'):
        status, answer = self.ask('PATCH', self.path(kind, name, namespace), change, 'application/merge-patch+json')
        assert status == 200, answer


class Cluster:
    """The cluster of a class of tests. `service` is the stand-in; None if the cluster is real."""

    def __init__(self, **options):
        self.folder = testbed.new_folder('kubernetes')
        if REAL and not options:
            self.service = None
            self.kubeconfig = pathlib.Path(REAL)
            admin = self.kubeconfig.with_name('admin.kubeconfig')
            self.lines_file = self.kubeconfig.with_name('pod.log')
        else:
            self.service = KubernetesService(self.folder, **options)
            self.kubeconfig = self.service.kubeconfig('submitter')
            admin = self.service.kubeconfig('admin')
        self.admin_config = admin
        self.api = Api(admin)
        self.context = Api(self.kubeconfig).name
        for node in self.api.items('Node', namespace='') if not self.service else ():
            self.api.change('Node', node['metadata']['name'], {'metadata': {'labels': LABELS}}, '')

    def close(self):
        """Removes what tests left, or ends the stand-in."""
        if self.service:
            self.service.close()
            assert not self.service.errors, self.service.errors
            return
        for kind in ('TrainJob', 'JobSet', 'Job'):
            for item in self.api.items(kind, 'autopack-submission'):
                self.api.delete(kind, item['metadata']['name'])

    def show(self, *lines):
        """Makes these the lines that each pod of the namespace shows."""
        if self.service:
            self.service.lines = list(lines)
        else:
            self.lines_file.write_text(''.join(f'2026-11-26T21:00:{number:02}.123456789Z stdout F {line}\n'
                                               for number, line in enumerate(lines)), encoding='utf-8')

    def name_of(self, name):
        """Returns the name of a job of this cluster as autopack prints it."""
        return f'kubernetes/{self.context}/ml/{name}'

    def pods(self, job):
        """Returns the pods of an object, by their replica: `workerpool0-0`."""
        found = {}
        for selector in ('jobset.sigs.k8s.io/jobset-name', 'batch.kubernetes.io/job-name'):
            for pod in self.api.items('Pod', f'{selector}={job}'):
                labels = pod['metadata']['labels']
                pool = labels.get('jobset.sigs.k8s.io/replicatedjob-name', 'workerpool0')
                index = labels.get('jobset.sigs.k8s.io/job-index', labels.get('batch.kubernetes.io/job-completion-index', '0'))
                found[f'{pool}-{index}'] = pod
        return found

    def wait_for_pods(self, job, count, phase='Running'):
        def all_there():
            pods = self.pods(job)
            return pods if len(pods) == count and all(pod['status']['phase'] == phase for pod in pods.values()) else None

        return testbed.wait_until(all_there, PATIENCE, f'{count} pods of {job} {phase}')

    def end(self, pod, outcome, code=1):
        """Lets a running pod end."""
        self.api.change('Pod', pod['metadata']['name'], {'metadata': {'annotations': {
            'test/outcome': outcome, 'test/exit-code': str(code)}}})

    def make_queue(self):
        """Makes the queue `team-a` for 8 GPUs, with the classes `low` and `high`."""
        if self.service:
            if not self.service.items('LocalQueue'):
                self.service.make_queue()
            return
        self.api.make('ResourceFlavor', 'h100', '', spec={'nodeLabels': LABELS})
        resources = [('cpu', '32'), ('memory', '256Gi'), ('nvidia.com/gpu', '8')]
        self.api.make('ClusterQueue', 'cq', '', spec={
            'namespaceSelector': {}, 'preemption': {'withinClusterQueue': 'LowerPriority'}, 'resourceGroups': [{
                'coveredResources': [name for name, _ in resources], 'flavors': [{'name': 'h100', 'resources': [
                    {'name': name, 'nominalQuota': value} for name, value in resources]}]}]})
        for name, value in (('low', 1), ('high', 1000)):
            self.api.make('WorkloadPriorityClass', name, '', value=value)
        self.api.make('LocalQueue', 'team-a', spec={'clusterQueue': 'cq'})
