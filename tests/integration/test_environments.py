"""The variables that say where a replica is are the same bytes wherever a job runs, but for host names and the word `cloud`.

`tests/golden/environment.json` contains them, as Vertex AI documents them. Each submitter's are compared with it: those of a
job on this machine as its containers print them, those for Kubernetes from the object, after its documented expansion, those
for Slurm from the script, run with commands of Slurm that only print.
"""

import json
import os
import re
import sys
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

    def test_on_slurm(self):
        srun = f'#!{sys.executable}\n' + PROGRAM + '\n'
        folder = testbed.write_tree({'job.json': json.dumps(job('registry.example/i@sha256:' + '0' * 64)),
                                     'bin/scontrol': '#!/bin/sh\nprintf "%s\\n" $3\n', 'bin/srun': srun})
        for name in ('scontrol', 'srun'):
            (folder / 'bin' / name).chmod(0o755)
        printed = autopack('submit', '--submitter=slurm', '--display-name=environment', '--config=job.json', '--dry-run',
                           cwd=folder).out
        script, _, variables = printed.partition('# The file `environment`:\n')
        (folder / 'script').write_text(script)
        (folder / 'environment').write_text(variables)
        env = testbed.environment(PATH=f'{folder}/bin:{os.environ["PATH"]}', SLURM_JOB_ID='7',
                                  SLURM_JOB_NODELIST_HET_GROUP_0='a0', SLURM_JOB_NODELIST_HET_GROUP_1='b0 b1')
        testbed.run(['sh', 'script'], cwd=folder, env=env)
        # The job ends with its first replica.
        testbed.wait_until(lambda: len(list((folder / 'exits').glob('*[0-9]'))) == sum(COUNTS), what='all replicas')
        self.compare({log.stem: json.loads(log.read_text()) for log in (folder / 'logs').iterdir()})


if __name__ == '__main__':
    unittest.main()
