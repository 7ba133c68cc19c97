"""Each kind of credentials is exchanged for tokens that reach the API, and for new ones before they expire."""

import base64
import hashlib
import hmac
import json
import ssl
import subprocess
import unittest

import testbed
from artifact_registry import make_certificates
from secret_watch import secret
from testbed import autopack
from vertex_server import VertexServer

READY = ['submit', '--display-name=ready',
         '--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1']
SECRET = secret('refresh-token')
SUBJECT = secret('subject')
CLOUD_PLATFORM = 'https://www.googleapis.com/auth/cloud-platform'


class Credentials(unittest.TestCase):
    def start(self, **options):
        api = VertexServer(**options)
        self.addCleanup(api.close)
        return api

    def submit(self, api, *flags, status=0, **variables):
        environment = testbed.environment(**{
            'CLOUDSDK_CORE_PROJECT': 'test-project', 'CLOUDSDK_AI_REGION': 'us-central1',
            'CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM': api.url, **variables})
        answer = autopack(*READY, *flags, env=environment, status=status)
        self.assertNotIn('PRIVATE KEY', answer.out + answer.err)
        return answer

    def user_file(self):
        content = {'type': 'authorized_user', 'client_id': 'id', 'client_secret': SECRET, 'refresh_token': SECRET,
                   'quota_project_id': 'payer'}
        return testbed.write_tree({'adc.json': json.dumps(content)}) / 'adc.json'

    def keys(self):
        folder = testbed.new_folder()
        key, public = folder / 'key.pem', folder / 'public.pem'
        subprocess.run(['openssl', 'genpkey', '-algorithm', 'RSA', '-out', key], check=True, capture_output=True)
        subprocess.run(['openssl', 'pkey', '-in', key, '-pubout', '-out', public], check=True, capture_output=True)
        return key, public

    def key_file(self, key, api):
        content = {'type': 'service_account', 'client_email': 'robot@p.iam.gserviceaccount.com', 'private_key_id': '1',
                   'private_key': key.read_text(), 'token_uri': f'{api.url}token', 'project_id': 'p'}
        return testbed.write_tree({'sa.json': json.dumps(content)}) / 'sa.json'

    def test_a_service_account_key_signs_for_a_token(self):
        key, public = self.keys()
        api = self.start(public_key=str(public))
        self.submit(api, GOOGLE_APPLICATION_CREDENTIALS=self.key_file(key, api))
        token, create = api.requests
        self.assertEqual(token['claims']['iss'], 'robot@p.iam.gserviceaccount.com')
        self.assertEqual(create['authorization'], 'ya29.stand-in-1')

    def test_a_user_refreshes_and_pays(self):
        api = self.start(fail=['token-503', '401'])
        self.submit(api, GOOGLE_APPLICATION_CREDENTIALS=self.user_file(), CLOUDSDK_AUTH_TOKEN_HOST=f'{api.url}token')
        creates = [request for request in api.requests if request['path'] != '/token']
        self.assertEqual([request['authorization'] for request in creates], ['ya29.stand-in-1', 'ya29.stand-in-2'])
        self.assertEqual({request['quota_project'] for request in creates}, {'payer'})

    def test_a_key_signs_its_own_tokens_where_gcloud_would(self):
        key, public = self.keys()
        api = self.start(public_key=str(public))
        self.submit(api, GOOGLE_APPLICATION_CREDENTIALS=self.key_file(key, api),
                    CLOUDSDK_AUTH_SERVICE_ACCOUNT_USE_SELF_SIGNED_JWT='true')
        self.assertEqual([request['authorization'] for request in api.requests],
                         [f'self-signed for {CLOUD_PLATFORM} by robot@p.iam.gserviceaccount.com'])

    def external_file(self, api, source, **more):
        content = {'type': 'external_account', 'audience': '//iam.googleapis.com/projects/1/locations/global/'
                   'workloadIdentityPools/p/providers/q', 'subject_token_type': 'urn:ietf:params:oauth:token-type:jwt',
                   'token_url': f'{api.url}v1/token', 'credential_source': source, **more}
        return testbed.write_tree({'external.json': json.dumps(content)}) / 'external.json'

    def test_an_external_account_exchanges_a_files_token(self):
        api = self.start()
        subject = testbed.write_tree({'subject': SUBJECT + '\n'}) / 'subject'
        answer = self.submit(api, '-vv', GOOGLE_APPLICATION_CREDENTIALS=self.external_file(api, {'file': str(subject)}))
        self.assertIn('credentials: external account', answer.err)
        exchange, create = api.requests
        self.assertEqual(exchange['form']['scope'], CLOUD_PLATFORM)
        self.assertEqual(create['authorization'], 'ya29.stand-in-1')

    def test_an_external_account_runs_a_program_and_impersonates(self):
        api = self.start()
        reply = json.dumps({'version': 1, 'success': True, 'id_token': SUBJECT,
                            'token_type': 'urn:ietf:params:oauth:token-type:id_token'})
        program = testbed.write_tree({'program': f"#!/bin/sh\necho '{reply}'\n"}) / 'program'
        program.chmod(0o755)
        file = self.external_file(
            api, {'executable': {'command': str(program)}}, service_account_impersonation_url=f'{api.url}v1/projects/-/'
            'serviceAccounts/sa@p.iam.gserviceaccount.com:generateAccessToken')
        answer = self.submit(api, status=2, GOOGLE_APPLICATION_CREDENTIALS=file)
        self.assertIn('export GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1', answer.err)
        self.assertEqual(api.requests, [])
        self.submit(api, GOOGLE_APPLICATION_CREDENTIALS=file, GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES='1')
        exchange, impersonation, create = api.requests
        self.assertEqual(exchange['form']['scope'], 'https://www.googleapis.com/auth/iam')
        self.assertEqual(impersonation['body'], {'delegates': None, 'scope': [CLOUD_PLATFORM], 'lifetime': '3600s'})
        self.assertEqual([impersonation['authorization'], create['authorization']], ['ya29.stand-in-1', 'ya29.stand-in-2'])

    def test_an_external_account_of_aws_signs_a_request(self):
        api = self.start()
        source = {'environment_id': 'aws1', 'regional_cred_verification_url':
                  'https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15'}
        key = secret('aws-key')
        file = self.external_file(api, source, subject_token_type='urn:ietf:params:aws:token-type:aws4_request')
        keys = {'AWS_ACCESS_KEY_ID': 'AKID', 'AWS_SECRET_ACCESS_KEY': key, 'AWS_SESSION_TOKEN': secret('aws-session'),
                'AWS_REGION': 'eu-west-1'}
        self.submit(api, GOOGLE_APPLICATION_CREDENTIALS=file, **keys)
        _, proof, create = api.requests
        headers = proof['headers']
        names = ['host', 'x-amz-date', 'x-amz-security-token', 'x-goog-cloud-target-resource']
        text = '\n'.join(['POST', '/', 'Action=GetCallerIdentity&Version=2011-06-15',
                          *(f'{name}:{headers[name]}' for name in names), '', ';'.join(names), hashlib.sha256().hexdigest()])
        scope = f'{headers["x-amz-date"][:8]}/eu-west-1/sts/aws4_request'
        text = '\n'.join(['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hashlib.sha256(text.encode()).hexdigest()])
        signer = f'AWS4{key}'.encode()
        for part in [*scope.split('/'), text]:
            signer = hmac.digest(signer, part.encode(), 'sha256')
        self.assertEqual(headers['Authorization'], f'AWS4-HMAC-SHA256 Credential=AKID/{scope}, '
                         f'SignedHeaders={";".join(names)}, Signature={signer.hex()}')
        self.assertEqual(create['authorization'], 'ya29.stand-in-1')

    def test_an_external_account_shows_its_certificate(self):
        authority, certificate, key = make_certificates(testbed.new_folder('certificates'), ['127.0.0.1'])
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(authority))
        context.load_cert_chain(certificate, key)
        context.verify_mode = ssl.CERT_REQUIRED
        tokens, api = self.start(tls=context), self.start()
        config = testbed.write_tree({'config.json': json.dumps({'cert_configs': {'workload': {
            'cert_path': str(certificate), 'key_path': str(key)}}})}) / 'config.json'
        file = self.external_file(tokens, {'certificate': {'certificate_config_location': str(config)}},
                                  subject_token_type='urn:ietf:params:oauth:token-type:mtls')
        self.submit(api, GOOGLE_APPLICATION_CREDENTIALS=file, SSL_CERT_FILE=authority)
        shown = ssl.PEM_cert_to_DER_cert(certificate.read_text())
        self.assertEqual(tokens.requests[-1]['certificates'], [base64.b64encode(shown).decode()])
        self.assertEqual(len(api.requests), 1)

    def test_a_person_of_a_workforce_pool_refreshes(self):
        api = self.start()
        content = {'type': 'external_account_authorized_user', 'client_id': 'id', 'client_secret': SECRET,
                   'refresh_token': SECRET, 'token_url': f'{api.url}v1/oauthtoken', 'quota_project_id': 'payer'}
        file = testbed.write_tree({'adc.json': json.dumps(content)}) / 'adc.json'
        self.submit(api, GOOGLE_APPLICATION_CREDENTIALS=file)
        refresh, create = api.requests
        self.assertTrue(refresh['basic'])
        self.assertEqual((create['authorization'], create['quota_project']), ('ya29.stand-in-1', 'payer'))

    def test_a_rejected_subject_token_is_not_quoted(self):
        api = self.start()
        subject = testbed.write_tree({'subject': SECRET}) / 'subject'
        answer = self.submit(api, '-vv', status=1,
                             GOOGLE_APPLICATION_CREDENTIALS=self.external_file(api, {'file': str(subject)}))
        self.assertIn('The subject token *** is rejected', answer.err)

    def test_a_flag_acts_as_a_service_account(self):
        api = self.start()
        chain = 'between@p.iam.gserviceaccount.com,last@p.iam.gserviceaccount.com'
        user = {'GOOGLE_APPLICATION_CREDENTIALS': self.user_file(), 'CLOUDSDK_AUTH_TOKEN_HOST': f'{api.url}token',
                'CLOUDSDK_API_ENDPOINT_OVERRIDES_IAMCREDENTIALS': api.url}
        self.submit(api, f'--impersonate-service-account={chain}', **user)
        refresh, impersonation, create = api.requests
        self.assertEqual(impersonation['account'], 'last@p.iam.gserviceaccount.com')
        self.assertEqual(impersonation['body']['delegates'],
                         ['projects/-/serviceAccounts/between@p.iam.gserviceaccount.com'])
        self.assertEqual(create['authorization'], 'ya29.stand-in-2')
        answer = self.submit(api, '--impersonate-service-account=forbidden@p.iam.gserviceaccount.com', status=1, **user)
        self.assertIn('roles/iam.serviceAccountTokenCreator', answer.err)

    def test_a_machine_of_googles_needs_no_file(self):
        api = self.start()
        machine = {'NO_GCE_CHECK': None, 'GCE_METADATA_HOST': f'127.0.0.1:{api.port}',
                   'CLOUDSDK_CONFIG': testbed.new_folder('gcloud')}
        self.submit(api, **machine)
        self.assertEqual({request['flavor'] for request in api.requests if 'flavor' in request}, {'Google'})
        self.assertEqual(api.requests[-1]['authorization'], 'ya29.stand-in-1')

    def test_gclouds_account_is_asked_of_gcloud(self):
        api = self.start()
        config = testbed.write_tree({'configurations/config_work': '[core]\naccount = me@example.org\n', 'bin/gcloud':
                                     '#!/bin/sh\necho "$*" >>"$CLOUDSDK_CONFIG/calls"\n'
                                     f'echo \'{{"credential": {{"access_token": "{SECRET}", '
                                     '"token_expiry": "2999-01-01T00:00:00Z"}}\'\n'})
        (config / 'bin/gcloud').chmod(0o755)
        settings = {'CLOUDSDK_CONFIG': config, 'PATH': f'{config}/bin:{testbed.environment()["PATH"]}',
                    'XDG_CACHE_HOME': config / 'cache'}
        answer = self.submit(api, '--configuration=work', '-v', **settings)
        self.assertIn("credentials: gcloud's account `me@example.org`, of gcloud's configuration `work`", answer.err)
        self.submit(api, '--account=you@example.org', **settings)
        # a cached token needs no other call
        self.submit(api, '--account=you@example.org', **settings)
        calls = (config / 'calls').read_text().splitlines()
        self.assertEqual([call.split()[-1] for call in calls], ['--account=me@example.org', '--account=you@example.org'])
        files = [file for file in (config / 'cache/autopack/tokens').iterdir()]
        self.assertEqual({file.stat().st_mode & 0o7777 for file in files}, {0o600})
        self.assertEqual(len(files), 2)

    def test_a_token_that_is_kept_and_was_revoked_is_replaced(self):
        user = self.user_file()
        api = self.start()
        variables = {'GOOGLE_APPLICATION_CREDENTIALS': user, 'CLOUDSDK_AUTH_TOKEN_HOST': f'{api.url}token',
                     'XDG_CACHE_HOME': testbed.new_folder('cache')}
        self.submit(api, **variables)
        self.submit(api, **variables)
        self.assertEqual([request['path'] for request in api.requests].count('/token'), 1)
        api.fail.append('401')
        self.submit(api, **variables)
        self.submit(api, **variables)
        self.assertEqual([request['path'] for request in api.requests].count('/token'), 2)
        self.assertEqual(api.requests[-1]['authorization'], 'ya29.stand-in-2')

    def test_a_token_that_ends_while_a_job_is_waited_for_is_replaced(self):
        api = self.start(states=['RUNNING', 'RUNNING', 'SUCCEEDED'])
        api.google.lifetime = 224  # one second less than the required remaining lifetime
        self.submit(api, '--wait', '--polling-interval=1', GOOGLE_APPLICATION_CREDENTIALS=self.user_file(),
                    CLOUDSDK_AUTH_TOKEN_HOST=f'{api.url}token')
        used = [request['authorization'] for request in api.requests if request['path'] != '/token']
        self.assertGreater(len(used), 3)
        self.assertEqual(len(set(used)), len(used), used)

    def test_the_credentials_know_their_project(self):
        key, public = self.keys()
        api = self.start(public_key=str(public))
        self.submit(api, GOOGLE_APPLICATION_CREDENTIALS=self.key_file(key, api), CLOUDSDK_CORE_PROJECT=None)
        self.assertTrue(api.requests[-1]['path'].startswith('/v1/projects/p/locations/us-central1/'))
        self.submit(api, NO_GCE_CHECK=None, GCE_METADATA_HOST=f'127.0.0.1:{api.port}', CLOUDSDK_CORE_PROJECT=None,
                    CLOUDSDK_CONFIG=testbed.new_folder('gcloud'))
        self.assertTrue(api.requests[-1]['path'].startswith('/v1/projects/stand-in-project/'))

    def test_an_expired_login_names_the_remedy(self):
        api = self.start(fail=['invalid_rapt'])
        answer = self.submit(api, status=1, GOOGLE_APPLICATION_CREDENTIALS=self.user_file(),
                             CLOUDSDK_AUTH_TOKEN_HOST=f'{api.url}token')
        self.assertIn('gcloud auth application-default login', answer.err)

    def test_a_refusal_is_told_finding_by_finding(self):
        token = testbed.write_tree({'token': SECRET}) / 'token'
        api = self.start(fail=['403'])
        answer = self.submit(api, status=1, CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=token)
        self.assertIn('403 PERMISSION_DENIED', answer.err)
        self.assertIn('roles/aiplatform.user', answer.err)
