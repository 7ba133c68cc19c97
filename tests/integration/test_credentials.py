"""Credentials files become tokens that reach the API, and an unclear answer never makes a second job."""

import json
import subprocess
import unittest

import testbed
from testbed import autopack
from vertex_server import VertexServer

READY = ['submit', '--display-name=ready',
         '--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1']
SECRET = 'a-refresh-token'


class Credentials(unittest.TestCase):
    def start(self, **options):
        api = VertexServer(**options)
        self.addCleanup(api.close)
        return api

    def submit(self, api, *flags, status=0, **variables):
        environment = testbed.environment(
            CLOUDSDK_CORE_PROJECT='test-project', CLOUDSDK_AI_REGION='us-central1',
            CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=api.url, **variables)
        answer = autopack(*READY, *flags, env=environment, status=status)
        self.assertNotIn(SECRET, answer.out + answer.err)
        return answer

    def user_file(self):
        content = {'type': 'authorized_user', 'client_id': 'id', 'client_secret': SECRET, 'refresh_token': SECRET,
                   'quota_project_id': 'payer'}
        return testbed.write_tree({'adc.json': json.dumps(content)}) / 'adc.json'

    def test_a_service_account_key_signs_for_a_token(self):
        folder = testbed.new_folder()
        key, public = folder / 'key.pem', folder / 'public.pem'
        subprocess.run(['openssl', 'genpkey', '-algorithm', 'RSA', '-out', key], check=True, capture_output=True)
        subprocess.run(['openssl', 'pkey', '-in', key, '-pubout', '-out', public], check=True, capture_output=True)
        api = self.start(public_key=str(public))
        content = {'type': 'service_account', 'client_email': 'robot@p.iam.gserviceaccount.com', 'private_key_id': '1',
                   'private_key': key.read_text(), 'token_uri': f'{api.url}token', 'project_id': 'p'}
        (folder / 'sa.json').write_text(json.dumps(content))
        self.submit(api, GOOGLE_APPLICATION_CREDENTIALS=folder / 'sa.json')
        token, create = api.requests
        self.assertEqual(token['claims']['iss'], 'robot@p.iam.gserviceaccount.com')
        self.assertEqual(create['authorization'], 'ya29.stand-in-1')

    def test_a_user_refreshes_and_pays(self):
        api = self.start(fail=['token-503', '401'])
        self.submit(api, GOOGLE_APPLICATION_CREDENTIALS=self.user_file(), CLOUDSDK_AUTH_TOKEN_HOST=f'{api.url}token')
        creates = [request for request in api.requests if request['path'] != '/token']
        self.assertEqual([request['authorization'] for request in creates], ['ya29.stand-in-1', 'ya29.stand-in-2'])
        self.assertEqual({request['quota_project'] for request in creates}, {'payer'})

    def test_an_expired_login_names_the_remedy(self):
        api = self.start(fail=['invalid_rapt'])
        answer = self.submit(api, status=1, GOOGLE_APPLICATION_CREDENTIALS=self.user_file(),
                             CLOUDSDK_AUTH_TOKEN_HOST=f'{api.url}token')
        self.assertIn('gcloud auth application-default login', answer.err)

    def test_an_unclear_answer_makes_no_second_job(self):
        token = testbed.write_tree({'token': SECRET}) / 'token'
        for failure in ('drop', 'lost', '500'):
            with self.subTest(failure):
                api = self.start(fail=[failure])
                answer = self.submit(api, status=1, CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=token)
                self.assertEqual(len(api.requests), 1)
                self.assertIn('gcloud ai custom-jobs list', answer.err)
                self.assertEqual(answer.out, '')

    def test_a_refusal_is_told_finding_by_finding(self):
        token = testbed.write_tree({'token': SECRET}) / 'token'
        api = self.start(fail=['403'])
        answer = self.submit(api, status=1, CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=token)
        self.assertIn('403 PERMISSION_DENIED', answer.err)
        self.assertIn('roles/aiplatform.user', answer.err)
