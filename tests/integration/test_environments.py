"""The variables that say where a replica is are the same bytes wherever a job runs, but for host names and the word `cloud`.

`tests/golden/environment.json` contains them, as Vertex AI documents them. Each submitter's are compared with it: those of a
job on this machine as its containers print them, those for Kubernetes from the object, after its documented expansion.
"""

import json
import os
import re
import unittest

import testbed
from kubernetes_service import KubernetesService
from testbed import autopack

GOLDEN = testbed.ROOT / 'tests/golden/environment.json'
NAMES = ('CLUSTER_SPEC', 'TF_CONFIG', 'RANK', 'WORLD_SIZE', 'MASTER_ADDR', 'MASTER_PORT')
PROGRAM = f'import json, os\nprint(json.dumps({{name: os.environ.get(name) for name in {NAMES!r}}}))'
COUNTS = (1, 2)


def job(image):
    return {'workerPoolSpecs': [{'machineSpec': {'machineType': 'n1-standard-4'}, 'replicaCount': count, 'containerSpec': {
        'imageUri': image, 'command': ['python3', '-c', PROGRAM], 'args': ['--epochs=1', '$(NOBODY)', 'a "b"']}} for count in COUNTS]}


def plain(variables):
    """Returns the variables with `HOST-POOL-INDEX` for each host, and one word for the cloud."""
    spec = json.loads(variables['CLUSTER_SPEC'])
    hosts = {address.rpartition(':')[0]: f'HOST-{name.removeprefix("workerpool")}-{index}'
             for name, addresses in spec['cluster'].items() for index, address in enumerate(addresses)}
    result = {}
    for name, value in variables.items():
        for host in sorted(hosts, key=len, reverse=True):
            value = value.replace(host, hosts[host])
        result[name] = re.sub(r'"cloud":"[^"]*"', '"cloud":"CLOUD"', value)
    return result


def expanded(entries, fields):
    """Returns a container's variables as a kubelet makes them: `$(NAME)` is an earlier variable, `$$` a dollar."""
    known = {}
    for entry in entries:
        if 'valueFrom' in entry:
            known[entry['name']] = fields[entry['valueFrom']['fieldRef']['fieldPath']]
            continue
        known[entry['name']] = re.sub(r'\$\$|\$\(([^()]*)\)', lambda match: '$' if match[0] == '$$' else known.get(
            match[1], match[0]), entry.get('value', ''))
    return known


class Environments(unittest.TestCase):
    maxDiff = None

    def compare(self, found):
        """Compares what was found, replica -> variables, with the golden file, or writes it."""
        shown = {replica: plain(variables) for replica, variables in sorted(found.items())}
        if os.environ.get('AUTOPACK_ACCEPT'):
            GOLDEN.write_text(json.dumps(shown, indent=1) + '\n', encoding='utf-8')
        self.assertEqual(shown, json.loads(GOLDEN.read_text(encoding='utf-8')))

    def test_on_this_machine(self):
        folder = testbed.write_tree({'job.json': json.dumps(job(testbed.executor()))})
        answer = autopack('submit', '--submitter=local', '--display-name=environment', '--config=job.json', cwd=folder)
        said = dict(re.findall(r'(workerpool\d-\d) \| (\{.*\})', answer.err))
        self.compare({replica: json.loads(text) for replica, text in said.items()})

    def test_on_kubernetes(self):
        with KubernetesService(testbed.new_folder('kubernetes'), tls=False) as service:
            folder = testbed.write_tree({'job.json': json.dumps(job('registry.example/i@sha256:' + '0' * 64))})
            body = autopack('submit', '--submitter=kubernetes', '--display-name=environment', '--config=job.json', '--dry-run',
                            '--format=json', cwd=folder, env=testbed.environment(KUBECONFIG=service.kubeconfig())).json()
        found, rank = {}, 0
        for pool in body['request']['body']['spec']['replicatedJobs']:
            container = pool['template']['spec']['template']['spec']['containers'][0]
            for index in range(pool['replicas']):
                variables = expanded(container['env'], {
                    "metadata.labels['jobset.sigs.k8s.io/job-global-index']": str(rank),
                    "metadata.labels['jobset.sigs.k8s.io/job-index']": str(index)})
                found[f'{pool["name"]}-{index}'] = {name: variables[name] for name in NAMES}
                rank += 1
        self.compare(found)


if __name__ == '__main__':
    unittest.main()
