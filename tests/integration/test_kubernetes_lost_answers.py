"""Answers of a Kubernetes API server that are lost on their way: one job each, whatever was lost.

Each request of a submission is cut in turn: before it arrives, after it was carried out, and within its answer. The daily form
takes a sample; the others cut 200 answers.
"""

import concurrent.futures
import itertools
import json
import unittest

import testbed
from fault_proxy import FAULTS, FaultProxy
from kubernetes_service import KubernetesService

CUTS = ('reset before the body', 'reset after the body', 'reset within the answer')
COUNT = 24 if testbed.FORM == 'daily' else 200
SPECS = {
    'job': [1],
    'jobset': [1, 2],
    'trainjob': [1],
}


class Cutting(FaultProxy):
    """Spoils the request with a number among all but streams."""

    def __init__(self, target, number, cut):
        self.number, self.cut, self.numbers = number, cut, itertools.count()
        super().__init__(target)

    def fault_of(self, step):
        if '&watch=' in step or '?watch=' in step or 'follow=' in step:
            return None
        with self.lock:
            if next(self.numbers) != self.number:
                return None
            self.hits += 1
            self.seen.append(step)
        return FAULTS[self.cut]


class LostAnswers(unittest.TestCase):
    numbers = itertools.count()

    def submit(self, proxy, kind, name):
        config = self.service.kubeconfig('submitter', server=f'http://{proxy.address}')
        home = testbed.new_folder('home')
        template = json.dumps({'metadata': {'annotations': {'test/outcome': 'succeed'}}})
        pools = [f'--worker-pool-spec=machine-type=n1-standard-4,replica-count={count},container-image-uri=registry.example/i@sha256:'
                 + '0' * 64 for count in SPECS[kind]]
        more = ['--object=trainjob', '--runtime=torch-distributed'] if kind == 'trainjob' else []
        return testbed.autopack(
            'submit', '--submitter=kubernetes', f'--display-name={name}', '--wait', '--polling-interval=1',
            f'--pod-template={template}', *pools, *more, cwd=home, status=None, timeout=60,
            env=testbed.environment(HOME=home, XDG_CACHE_HOME=home / '.cache', KUBECONFIG=config))

    def cut(self, cell):
        """Runs one submission; returns what is wrong with it, and the step that was cut."""
        kind, number, cut = cell
        name = f'{kind}-{number}-{CUTS.index(cut)}-{next(self.numbers)}'
        with Cutting(('127.0.0.1', self.service.port), number, cut) as proxy:
            answer = self.submit(proxy, kind, name)
            step = proxy.seen[0] if proxy.seen else ''
        made = [item for what in ('Job', 'JobSet', 'TrainJob') for item in self.service.items(what)
                if item['metadata'].get('annotations', {}).get('autopack/display-name') == name]
        if answer.status != 0 or len(made) != 1 or not answer.out.strip().endswith('/' + made[0]['metadata']['name']):
            return f'{step} {cut}: {len(made)} objects\n{answer}', step
        return '', step

    def test_one_job_whatever_is_lost(self):
        self.service = KubernetesService(testbed.new_folder('kubernetes'), tls=False)
        self.addCleanup(self.service.close)
        testbed.base_environment()
        every = []
        for kind in SPECS:
            with Cutting(('127.0.0.1', self.service.port), None, CUTS[0]) as proxy:
                self.assertEqual(self.submit(proxy, kind, kind).status, 0)
                every += [(kind, number, cut) for number in range(next(proxy.numbers)) for cut in CUTS]
        chosen = [every[at * len(every) // COUNT] for at in range(COUNT)]
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            results = list(threads.map(self.cut, chosen))
        self.assertEqual([trouble for trouble, _ in results if trouble], [])
        cut = [step for _, step in results if step]
        print(f'{len(cut)} answers were lost', flush=True)
        # How often a job is looked at depends on when its states come.
        self.assertGreater(len(cut), COUNT * 3 // 4)

    def test_the_answer_to_the_creation(self):
        """Each way to lose it, with a quota that the first creation uses up."""
        self.service = KubernetesService(testbed.new_folder('kubernetes'), tls=False)
        self.addCleanup(self.service.close)
        for cut in CUTS:
            with self.subTest(cut), FaultProxy(('127.0.0.1', self.service.port)) as proxy:
                self.service.make('ResourceQuota', f'q{CUTS.index(cut)}', spec={
                    'hard': {'count/jobs.batch': str(self.service.created('Job') + 1)}})
                proxy.spoil(r'POST /apis/batch/v1/namespaces/ml/jobs\?fieldManager=', cut)
                before = self.service.created('Job')
                answer = self.submit(proxy, 'job', f'created-{CUTS.index(cut)}')
                self.service.remove('ResourceQuota', f'q{CUTS.index(cut)}')
                self.assertEqual((answer.status, proxy.hits, self.service.created('Job') - before), (0, 1, 1), answer)


if __name__ == '__main__':
    unittest.main()
