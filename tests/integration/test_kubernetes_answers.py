"""The stand-in for Kubernetes refuses what a real server was recorded to refuse, where the records are available.

The lives of objects are in test_kubernetes_lives.py. `LEFT_OUT` of kubernetes_records.py names the records that no test
compares.
"""

import copy
import json
import pathlib
import re
import unittest

import kubernetes_records as records
from kubernetes_scene import RECORDS, Scene, admin, events, refused


class Refusals(Scene):
    tls = True

    def test_logins_and_rights(self):
        self.play('auth-401-bad-token', 'auth-401-expired-jwt', 'auth-401-post', 'auth-401-wrong-audience', 'auth-403-basic',
                  'auth-anonymous-403', 'rbac-403-create-job', 'rbac-403-get', 'rbac-403-jobset', 'rbac-403-missing-namespace',
                  'rbac-403-namespace-get', 'rbac-403-nodes', 'rbac-403-other-namespace', 'rbac-403-pod-log',
                  'kueue-visibility-403', 'ssar-anonymous', 'ssar-denied-jobsets', 'ssar-nonexistent-resource',
                  'ssar-allowed-jobsets', 'ssar-allowed-podlog', 'ssar-admin', 'order-bad-token-and-bad-json',
                  'order-forbidden-and-bad-json', 'watch-forbidden-403')
        certificate = self.service.certificates.make('carol', '/O=ml-team/CN=carol')
        answer = records.ask(self.service, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
            'apiVersion': 'authentication.k8s.io/v1', 'kind': 'SelfSubjectReview'}, certificate=certificate)
        self.assertEqual(answer.body['status']['userInfo'], {'username': 'carol', 'groups': ['ml-team', 'system:authenticated']})

    def test_paths_and_formats(self):
        self.play('accept-406', 'apis-missing-group', 'list-missing-resource', 'post-missing-group', 'method-not-allowed-405',
                  'healthz', 'readyz', 'namespace-get-404', 'pods-list-missing-namespace-200', 'job-get-404', 'job-delete-404',
                  'field-selector-bad-400', 'label-selector-bad-400', 'dryrun-bad-value', 'fieldmanager-too-long',
                  'fieldvalidation-bad-value', 'job-wrong-content-type-415', 'job-empty-body', 'job-not-json-400',
                  'job-yaml-body-201', 'job-yaml-boolean-name-400', 'watch-rv-bad-500', 'log-pod-404')

    def test_jobs_that_cannot_be(self):
        namespace = self.service.make('Namespace', 'dying', '')
        namespace['metadata']['deletionTimestamp'] = 'now'
        self.play(*refused('job-', 'deepdry-'), 'job-after-dryrun-404', 'order-invalid-and-missing-namespace',
                  'order-unknown-field-and-missing-namespace', 'order-job-invalid-and-duplicate')

    def test_a_key_given_twice(self):
        body = (b'{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a", "name": "b"}, "spec": {"template": {"spec": '
                b'{"restartPolicy": "Never", "containers": [{"name": "a", "image": "b"}]}}}}')
        answer = admin(self.service, 'POST', '/apis/batch/v1/namespaces/ml/jobs?fieldValidation=Strict', body)
        self.assertEqual((answer.status, answer.body['message']), (400, RECORDS['job-duplicate-key-strict'].body['message']))

    def test_jobsets_that_cannot_be(self):
        self.play(*refused('jobset-'), 'order-wrong-type-and-bad-name')

    def test_the_longest_names(self):
        body = RECORDS['jobset-name-23-coordinator-201'].request['body']
        for coordinator, subdomain, length in ((True, None, 23), (False, None, 41), (True, 'abcd', 41)):
            for extra in (0, 1):
                item = copy.deepcopy(body)
                item['metadata']['name'] = 'n' * (length + extra)
                if not coordinator:
                    del item['spec']['coordinator']
                if subdomain:
                    item['spec']['network']['subdomain'] = subdomain
                answer = admin(self.service, 'POST', '/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets?dryRun=All', item)
                self.assertEqual(answer.status, 422 if extra else 201, (coordinator, subdomain, length, answer.data))

    def test_trainjobs_that_cannot_be(self):
        self.play(*refused('trainjob-'))

    def test_namespaces_with_rules(self):
        self.service.make('Namespace', 'restricted', '', labels={'pod-security.kubernetes.io/enforce': 'restricted'})
        self.service.make('ServiceAccount', 'default', 'restricted')
        self.play('podsecurity-pod-dryrun-403', 'podsecurity-jobset-dryrun-201', 'podsecurity-job-201-warning')
        self.play('podsecurity-job-events', edit=lambda answer: sorted({tuple(entry) for entry in events(answer)}))

        def by_digest(kind, item):
            images = [container['image'] for entry in item['spec']['replicatedJobs']
                      for container in entry['template']['spec']['template']['spec']['containers']] if kind.kind == 'JobSet' else []
            bad = any('@sha256:' not in image for image in images)
            return ("ValidatingAdmissionPolicy 'no-latest' with binding 'no-latest' denied request: images must be named by digest"
                    if bad else None)

        self.service.admission.policies.append(by_digest)
        self.play('policy-denied-dryrun-422', 'policy-allowed-dryrun-201')

    def test_quotas(self):
        self.service.make('ResourceQuota', 'q', 'ml2', spec=RECORDS['quota-create'].request['body']['spec'])
        self.play('quota-dryrun-job-over-pod-quota-201', 'quota-job-1-201', 'quota-job-2-count-403', 'quota-job-2-count-dryrun-403',
                  'quota-pod-must-specify-403', 'quota-pod-403', 'quota-job-status')

        def once(answer):
            return sorted({tuple(entry) for entry in events(answer)})

        self.play('quota-pod-failedcreate-events', edit=once)

    def test_the_order_of_checks(self):
        self.service.make('ResourceQuota', 'jsq', 'ml', spec={'hard': {'count/jobsets.jobset.x-k8s.io': '1'}})
        self.create('order-quota-and-duplicate')
        self.play('order-unknown-field-and-duplicate', 'order-invalid-and-duplicate', 'order-webhook-denied-and-duplicate',
                  'order-quota-and-webhook-denied', 'order-quota-and-duplicate', 'quota-jobset-count-403',
                  'quota-jobset-count-dryrun-403')

    def test_discovery(self):
        ours = admin(self.service, 'GET', '/apis/jobset.x-k8s.io/v1alpha2').body
        theirs = RECORDS['apis-jobset-v1alpha2'].body
        self.assertEqual(ours['groupVersion'], theirs['groupVersion'])
        shown = {key: value for key, value in theirs['resources'][0].items() if key != 'storageVersionHash'}
        self.assertEqual(ours['resources'], [shown])
        groups = {group['name'] for group in RECORDS['apis-plain'].body['groups']}
        self.assertLessEqual({group['name'] for group in admin(self.service, 'GET', '/apis').body['groups']}, groups)


class Watches(Scene):
    def test_history_is_forgotten(self):
        path = '/apis/batch/v1/namespaces/ml/jobs'
        answer = admin(self.service, 'GET', f'{path}?watch=1&resourceVersion=99999999&timeoutSeconds=0.2')
        self.assertEqual((answer.status, answer.data), (200, b''))
        for name in ('get-rv-future-504', 'list-rv-future-504'):
            answer = records.replay(self.service, RECORDS[name])
            self.assertEqual((answer.status, answer.headers['retry-after']), (504, '1'))
            self.assertEqual(answer.body['details'], RECORDS[name].body['details'])
        self.create('job-create-201', name='one')
        self.create('job-create-201', name='two')
        first = admin(self.service, 'GET', f'{path}?limit=1').body
        self.assertEqual((len(first['items']), first['metadata']['remainingItemCount']), (1, 1))
        more = f'{path}?limit=1&continue={first["metadata"]["continue"]}'
        self.assertEqual(admin(self.service, 'GET', more).body['items'][0]['metadata']['name'], 'two')
        self.service.compact()
        answer = admin(self.service, 'GET', more)
        self.assertEqual((answer.status, answer.body['reason']), (410, 'Expired'))
        answer = admin(self.service, 'GET', f'{path}?resourceVersion=5&resourceVersionMatch=Exact')
        self.assertEqual((answer.status, answer.body['message']), (410, RECORDS['list-rv-compacted-exact-410'].body['message']))
        answer = admin(self.service, 'GET', f'{path}?watch=1&resourceVersion=2&timeoutSeconds=5')
        self.assertEqual(answer.status, 200)
        self.assertEqual([answer.body['type'], answer.body['object']['code']], ['ERROR', 410])
        lines = [json.loads(line) for line in admin(
            self.service, 'GET', f'{path}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&timeoutSeconds=0.2').data.splitlines()]
        wanted = [line for line in RECORDS['watch-send-initial-events'].body if line['type'] == 'BOOKMARK'][0]
        self.assertEqual([line['type'] for line in lines][:3], ['ADDED', 'ADDED', 'BOOKMARK'])
        self.assertEqual(records.plain(lines[2]), records.plain(wanted))

    def test_a_server_that_has_just_started_is_not_ready(self):
        self.service.initializing = {'jobsets'}
        path = '/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets?watch=1&timeoutSeconds=0.2'
        answer = admin(self.service, 'GET', path)
        self.assertEqual((answer.status, answer.body), (429, RECORDS['watch-cache-initializing-429'].body))
        self.assertEqual(admin(self.service, 'GET', path).status, 200)


class Coverage(unittest.TestCase):
    def test_each_record_is_compared_or_left_out_for_a_reason(self):
        here = pathlib.Path(__file__).parent
        text = ''.join((here / name).read_text(encoding='utf-8') for name in ('test_kubernetes_answers.py', 'test_kubernetes_lives.py'))
        named = set(re.findall(r"'([a-z][a-z0-9-]+)'", text))
        for base, parts in re.findall(r"self\.life\('([a-z0-9-]+)', ([^)]*)\)", text):
            named |= {f'{base}-create', *(f'{base}-{part}' for part in re.findall(r"'(\w+)'", parts))}
        compared = {*refused('job-', 'deepdry-', 'jobset-', 'trainjob-'), *named} & set(RECORDS)
        left_out = {name for name in RECORDS if records.is_left_out(name)}
        self.assertEqual(sorted(set(RECORDS) - compared - left_out), [])
        self.assertEqual(sorted(compared & left_out), [])


if not RECORDS:
    del Refusals, Watches

if __name__ == '__main__':
    unittest.main()
