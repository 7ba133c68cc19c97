"""Pushing to Artifact Registry: its names, its logins, its uploads, its refusals."""

import unittest

import testbed
from artifact_registry import ArtifactRegistry, make_certificates, refusal
from secret_watch import secret
from testbed import autopack, docker

HOST = 'europe-west4-docker.pkg.dev'
IMAGE = f'{HOST}/my-project/team/app'


class ToArtifactRegistry(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.certificates = make_certificates(testbed.new_folder('artifact'),
                                             [HOST, 'artifactregistry.googleapis.com'])
        # Small, so that it transfers quickly: only its programs matter to a plan.
        cls.base = f'{testbed.registry()}/artifact/base:1'
        context = testbed.write_tree({'Dockerfile': 'FROM scratch\nCOPY bin /usr/bin/\nENV PATH=/usr/bin\n',
                                      'bin/python3': '#!/bin/sh\n'})
        (context / 'bin' / 'python3').chmod(0o755)
        docker('build', '-q', '-t', cls.base, context)
        docker('push', '-q', cls.base)

    @classmethod
    def tearDownClass(cls):
        testbed.remove_images(f'{testbed.registry()}/artifact')

    def setUp(self):
        self.server = ArtifactRegistry(self.certificates)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.server.repositories.add('my-project/team')
        self.token = testbed.new_folder('token') / 'token'
        self.sign_in(secret('access-token'))
        self.folder = testbed.write_tree({'task.py': 'print("hello")\n'})

    def sign_in(self, token):
        self.server.access_tokens = {token}
        self.token.write_text(token + '\n')

    def build(self, image=IMAGE, status=0, **variables):
        environment = {'CLOUDSDK_AUTH_ACCESS_TOKEN_FILE': self.token, **self.server.environment(), **variables}
        return autopack('build', '--executor-image-uri', self.base, '--script=task.py', '--engine=direct',
                        '--format=json', '--output-image-uri', image, cwd=self.folder, status=status,
                        env=testbed.environment(**environment))

    def refused(self, image=IMAGE, **variables):
        answer = self.build(image, status=1, **variables)
        return answer.json()['error'], answer

    def counted(self, method):
        return sum(request.startswith(method + ' ') for request in self.server.requests)

    def test_takes_an_image_and_gives_it_back(self):
        image = self.build().json()
        self.assertEqual(image['uri'], f'{IMAGE}@{image["digest"]}')
        self.assertIn(('my-project/team/app', image['digest']), self.server.manifests)
        self.assertEqual(self.counted('PATCH') + self.counted('PUT') - 1, len(self.server.blobs))
        self.server.requests.clear()
        again = self.build().json()
        self.assertEqual((again['reused'], again['digest']), (True, image['digest']))
        self.assertEqual(self.counted('POST') + self.counted('PUT'), 0)

    def test_a_token_that_ended_is_read_again(self):
        def end_token():
            self.sign_in(secret('access-token'))
            return refusal(401, 'UNAUTHORIZED', 'authentication failed')

        class Once(list):
            def pop(self, index=-1):
                super().pop(index)
                return end_token()

        self.server.answers['PUT /artifacts-uploads/'] = Once([None])
        self.assertFalse(self.build().json()['reused'])

    def test_an_upload_that_breaks_starts_again_whole(self):
        (self.folder / 'weights.bin').write_bytes(bytes(range(256)) * 20_000)
        self.server.drop_bodies = 2
        self.assertGreater(self.build().json()['bytes_uploaded'], 0)

    def test_a_missing_repository_is_told_with_the_command_that_makes_it(self):
        error, _ = self.refused(f'{HOST}/my-project/other/app')
        self.assertIn('NAME_UNKNOWN', error['causes'][0])
        self.assertEqual(error['hints'][0], 'gcloud artifacts repositories create other --location=europe-west4 '
                                            '--project=my-project --repository-format=docker')

    def test_a_missing_repository_of_autopacks_own_naming_is_made(self):
        answer = autopack('build', '--executor-image-uri', self.base, '--script=task.py', '--engine=direct',
                          '--display-name=app', cwd=self.folder, env=testbed.environment(
                              CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=self.token, CLOUDSDK_CORE_PROJECT='my-project',
                              CLOUDSDK_AI_REGION='europe-west4', **self.server.environment()))
        self.assertTrue(answer.out.startswith(f'{HOST}/my-project/autopack/app@sha256:'), answer)
        self.assertIn('my-project/autopack', self.server.repositories)
        self.assertIn('Created', answer.err)

    def test_a_name_without_an_image_is_told(self):
        error, _ = self.refused(f'{HOST}/my-project/team')
        self.assertIn('PROJECT/REPOSITORY/IMAGE', error['hints'][0])

    def test_a_missing_permission_is_told_with_the_role(self):
        self.server.denied = True
        error, answer = self.refused()
        self.assertIn('DENIED', error['causes'][0])
        self.assertTrue(any('roles/artifactregistry.writer' in hint for hint in error['hints']), answer)

    def test_without_credentials_a_login_is_asked_for(self):
        error, _ = self.refused(CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=None, NO_GCE_CHECK='true')
        self.assertIn('Unauthenticated request', error['causes'][0])
        self.assertTrue(any(f'gcloud auth configure-docker {HOST}' in hint for hint in error['hints']), error)

    def test_a_refused_token_is_never_shown(self):
        self.server.access_tokens = {secret('another-token')}
        error, _ = self.refused()
        self.assertTrue(any('access token file' in hint for hint in error['hints']), error)
        self.token.write_text(secret('refused-token'))
        self.refused()  # its output is searched, like all output

    def test_a_tag_that_cannot_move_is_told(self):
        self.server.immutable_tags = True
        self.build(f'{IMAGE}:v1')
        (self.folder / 'task.py').write_text('print("changed")\n')
        error, _ = self.refused(f'{IMAGE}:v1')
        self.assertIn('immutable', error['causes'][0])
        self.assertIn('new tag', error['hints'][0])

    def test_a_quota_is_waited_for_a_while(self):
        busy = refusal(429, 'TOOMANYREQUESTS', 'Quota exceeded for quota metric', Retry_After='0')
        self.server.answers['POST /blobs/uploads/'] = [busy]
        self.assertFalse(self.build().json()['reused'])
        (self.folder / 'task.py').write_text('print("changed")\n')
        self.server.answers['POST /blobs/uploads/'] = [
            refusal(429, 'TOOMANYREQUESTS', 'Quota exceeded for quota metric', Retry_After='3600')] * 9
        error, _ = self.refused()
        self.assertIn('429 TOOMANYREQUESTS', error['causes'][0])
        self.assertTrue(any('try again later' in hint for hint in error['hints']), error)


if __name__ == '__main__':
    unittest.main()
