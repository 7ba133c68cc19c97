"""A test that repeats recorded requests to a Kubernetes API server, and compares the answers of the stand-in with the records.

A scene starts a stand-in and repeats requests of some records, in order. A read is repeated until it equals the record: the
state that it asks for comes a moment later.
"""

import copy
import os
import pathlib
import time
import unittest

import kubernetes_records as records
import testbed
from kubernetes_controllers import Times
from kubernetes_service import KubernetesService

ORACLE = pathlib.Path(os.environ.get('AUTOPACK_ORACLE') or testbed.ROOT.parent / 'shared/oracle') / 'kubernetes/answers'
RECORDS = records.read(ORACLE)
SECONDS = 8


def refused(*prefixes, without=()):
    """Returns the records of creations that were refused or only tried, which depend on no other."""
    return [name for name, record in RECORDS.items() if name.startswith(prefixes) and record.request.get('method') == 'POST'
            and ('dryRun=All' in record.request['path'] or record.status not in (201, 409))
            and not any(word in name for word in ('duplicate-409', 'duplicate-dryrun', 'duplicate-key', *without))]


def admin(service, method, path, body=None, kind='application/json'):
    return records.ask(service, method, path, body, {'Authorization': f'Bearer {service.tokens["admin"]}', 'Content-Type': kind})


class Scene(unittest.TestCase):
    """A test that repeats records."""

    times = Times(run=0.05, restart=0.05)
    tls = False

    def setUp(self):
        self.service = KubernetesService(testbed.new_folder('kubernetes'), tls=self.tls, times=copy.copy(self.times), fresh=False)
        self.addCleanup(self.service.close)
        self.addCleanup(lambda: self.assertEqual(self.service.errors, []))

    def play(self, *names, edit=None):
        """Repeats records; reads until the answer is the recorded one."""
        for name in names:
            record = RECORDS[name]
            end = time.monotonic() + (SECONDS if record.request['method'] == 'GET' else 0)
            while True:
                found = self.differences(record, records.replay(self.service, record), edit)
                if not found or time.monotonic() > end:
                    break
                time.sleep(0.04)
            with self.subTest(record=name):
                self.assertEqual(found, [], '\n'.join([name, *found]))

    @staticmethod
    def differences(record, answer, edit):
        if edit is None:
            return records.compare(record, answer)
        if answer.status != record.status:
            return [f'status {answer.status}']
        try:
            given = edit(records.plain(answer.body))
        except (KeyError, IndexError) as fault:
            return [f'no {fault} yet in {answer.data[:500]}']
        return list(records.differences(edit(records.plain(record.body)), given))

    def create(self, record, **changes):
        """Creates the object of a record with another name."""
        request = RECORDS[record].request
        body = copy.deepcopy(request['body'])
        body['metadata'] |= changes
        answer = admin(self.service, 'POST', request['path'].replace('&dryRun=All', ''), body)
        self.assertEqual(answer.status, 201, answer.data)
        return answer.body


def events(answer):
    """Returns what matters of a list of events, in any order."""
    return sorted([item['type'], item['reason'], item['message'], item['involvedObject']['name'], item['reportingComponent']]
                  for item in answer['items'])
