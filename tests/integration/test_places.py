"""A job that finds no capacity goes to the next of its places, once each, and every attempt is known by its labels."""

import json
import signal

import testbed
from google_services import GoogleServices
from test_jobs import WithApi
from testbed import autopack

REGIONS = '--region=us-central1,us-east1,europe-west4'
PLAIN = ['--display-name=taxi', '--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1']
GPUS = ['--display-name=taxi', '--container-image-uri=gcr.io/p/i:v1',
        '--accelerator-type=NVIDIA_H100_80GB,NVIDIA_TESLA_A100']
FOLLOW = ['--wait', '--polling-interval=1']


class Places(WithApi):
    def setUp(self):
        super().setUp()
        self.service = self.api.service
        self.service.states = ['RUNNING', 'SUCCEEDED']

    def submit_to(self, *flags, status=0, **options):
        return autopack('submit', *flags, env=self.env, status=status, **options)

    def places(self):
        """Returns region and machine of each job, in the order of creation."""
        return [(name.split('/')[3], entry['job']['jobSpec']['workerPoolSpecs'][0]['machineSpec'])
                for name, entry in self.api.jobs.items()]

    def labels(self):
        return [entry['job']['labels'] for entry in self.api.jobs.values()]


class Moving(Places):
    def test_a_job_without_capacity_moves_on_until_one_runs(self):
        self.service.full = {'us-central1', 'us-east1'}
        answer = self.submit_to(REGIONS, *PLAIN, *FOLLOW)
        self.assertEqual([region for region, _ in self.places()], ['us-central1', 'us-east1', 'europe-west4'])
        self.assertEqual(answer.out.split(), list(self.api.jobs))
        self.assertIn('     Moved  to us-east1: no capacity in us-central1 (attempt 2 of 3)\n', answer.err)
        self.assertIn('     Moved  to europe-west4: no capacity in us-east1 (attempt 3 of 3)\n', answer.err)
        labels = self.labels()
        self.assertEqual([each['autopack-attempt'] for each in labels], ['1', '2', '3'])
        self.assertEqual({each['autopack-group'] for each in labels}, {labels[0]['autopack-submission']})
        self.assertEqual(len({each['autopack-submission'] for each in labels}), 3)
        self.assertEqual({each['autopack-regions'] for each in labels}, {'us-central1_us-east1_europe-west4'})

    def test_every_region_comes_before_the_next_accelerator(self):
        self.service.full = {'us-central1/NVIDIA_H100_80GB', 'us-east1/NVIDIA_H100_80GB'}
        answer = self.submit_to('--region=us-central1,us-east1', *GPUS, *FOLLOW, '--format=json').json()
        machines = [(region, machine['acceleratorType'], machine['machineType']) for region, machine in self.places()]
        self.assertEqual(machines, [('us-central1', 'NVIDIA_H100_80GB', 'a3-highgpu-1g'),
                                    ('us-east1', 'NVIDIA_H100_80GB', 'a3-highgpu-1g'),
                                    ('us-central1', 'NVIDIA_TESLA_A100', 'a2-highgpu-1g')])
        self.assertEqual([(each['region'], each['acceleratorType'], each['state']) for each in answer['attempts']],
                         [('us-central1', 'NVIDIA_H100_80GB', 'failed'), ('us-east1', 'NVIDIA_H100_80GB', 'failed'),
                          ('us-central1', 'NVIDIA_TESLA_A100', 'succeeded')])
        self.assertIn('Resources are insufficient in region: us-central1', answer['attempts'][0]['reason'])
        self.assertEqual(answer['job']['name'], list(self.api.jobs)[-1])

    def test_each_region_has_an_image_of_its_own_if_asked_for(self):
        self.service.full = {'us-central1'}
        repository = f'{testbed.registry()}/REGION/taxi'
        flags = ['--region=us-central1,us-east1', '--display-name=taxi', '--executor-image-uri', testbed.pushed_executor('places'),
                 '--script=task.py', '--machine-type=n1-standard-4', '--output-image-uri', repository, '--engine=direct', *FOLLOW]
        folder = testbed.write_tree({'task.py': 'print(1)\n'})
        answer = self.submit_to(*flags, cwd=folder)
        images = [entry['job']['jobSpec']['workerPoolSpecs'][0]['containerSpec']['imageUri'] for entry in self.api.jobs.values()]
        names, digests = zip(*(image.split('@') for image in images))
        self.assertEqual(names, (repository.replace('REGION', 'us-central1'), repository.replace('REGION', 'us-east1')))
        self.assertEqual(len(set(digests)), 1)
        self.assertIn(f'Copied  {images[1]} in', answer.err)
        self.assertIn('0 B uploaded', answer.err)  # mounted
        self.assertEqual(testbed.run_image(images[1]), '1')

    def test_when_all_places_are_full_the_last_failure_names_them(self):
        self.service.full = {'us-central1', 'us-east1', 'europe-west4'}
        answer = self.submit_to(REGIONS, *PLAIN, *FOLLOW, status=1)
        self.assertEqual(len(self.api.jobs), 3)
        for region in ('us-central1', 'us-east1', 'europe-west4'):
            self.assertIn(f'no capacity in {region}', answer.err)

    def test_a_failure_of_the_program_is_final(self):
        self.service.states = ['RUNNING', 'FAILED']
        for code, message in ((3, 'The replica workerpool0-0 exited with a non-zero status of 1.'),
                              (8, 'The replica workerpool0-0 ran out of memory and exited with a non-zero status of 137.'),
                              (14, 'The service is unavailable.')):
            with self.subTest(message):
                before, self.service.error = len(self.api.jobs), {'code': code, 'message': message}
                self.assertNotIn('Moved', self.submit_to(REGIONS, *PLAIN, *FOLLOW, status=1).err)
                self.assertEqual(len(self.api.jobs), before + 1)

    def test_a_refused_create_moves_on_without_being_awaited(self):
        self.service.refusals = {
            'us-central1': (429, 'The following quota metrics exceed quota limits: '
                                 'aiplatform.googleapis.com/custom_model_training_cpus'),
            'us-east1': (400, 'Machine type "n1-standard-4" is not supported in region us-east1.')}
        answer = self.submit_to(REGIONS, *PLAIN)
        self.assertEqual([region for region, _ in self.places()], ['europe-west4'])
        self.assertIn('the service refused the job in us-central1', answer.err)
        self.assertEqual(answer.out.split(), list(self.api.jobs))
        self.service.refusals['europe-west4'] = self.service.refusals['us-central1']
        answer = self.submit_to(REGIONS, *PLAIN, status=1)
        self.assertIn('no place has capacity for the job; 3 were tried', answer.err)
        self.assertIn('us-east1: Machine type "n1-standard-4" is not supported', answer.err)

    def test_a_refusal_of_the_job_itself_is_final(self):
        for refusal in ((400, 'Invalid image.'), (403, 'No.'), (429, 'Too many requests per minute.')):
            with self.subTest(refusal):
                self.service.refusals = {'us-central1': refusal}
                self.submit_to(REGIONS, *PLAIN, status=1)
        self.assertEqual(self.api.jobs, {})

    def test_an_interruption_between_two_attempts_starts_no_other(self):
        self.service.full = {'us-central1', 'us-east1'}
        process = []

        def interrupt(_, state):
            if state == 'FAILED':
                process[0].send_signal(signal.SIGINT)
        self.service.changed = interrupt
        process.append(testbed.Process('submit', REGIONS, *PLAIN, *FOLLOW, env=self.env, text=True))
        out, err = process[0].communicate(timeout=30)
        self.assertEqual(process[0].returncode, 130, err)
        self.assertEqual(out.split(), list(self.api.jobs))
        self.assertEqual(len(self.api.jobs), 1)

    def test_a_single_value_is_sent_as_before(self):
        self.submit_to('--region=us-central1', *PLAIN)
        self.assertEqual([name for labels in self.labels() for name in labels], ['autopack-submission'])

    def test_a_list_in_the_settings_file(self):
        folder = testbed.write_tree({'autopack.yaml': 'region: [us-central1, us-east1]\n'
                                                      'accelerator-type: [NVIDIA_L4, NVIDIA_TESLA_T4]\n'
                                                      'container-image-uri: gcr.io/p/i:v1\n'})
        del self.env['CLOUDSDK_AI_REGION']  # it overrides the file
        answer = self.submit_to('--dry-run', cwd=folder).json()
        self.assertEqual(answer['attempts'], [
            {'region': region, 'machineType': machine, 'acceleratorType': accelerator}
            for machine, accelerator in (('g2-standard-4', 'NVIDIA_L4'), ('n1-standard-8', 'NVIDIA_TESLA_T4'))
            for region in ('us-central1', 'us-east1')])
        self.assertIn('/locations/us-central1/', answer['request']['url'])
        self.assertNotIn('labels', answer['request']['body'])
        self.assertIn('no job in region `us-central1`', autopack('jobs', 'list', env=self.env, cwd=folder).err)


class Dropping(Places):
    def setUp(self):
        super().setUp()
        self.google = GoogleServices()
        self.addCleanup(self.google.close)
        self.env |= {**self.google.variables('AIPLATFORM')}

    def test_unknown_places_are_left_out(self):
        answer = self.submit_to('--region=us-eats1,us-east1', *PLAIN)
        self.assertIn('us-eats1 is left out: unknown region `us-eats1` (did you mean `us-east1`?)', answer.err)
        self.assertEqual([region for region, _ in self.places()], ['us-east1'])
        answer = self.submit_to('--region=us-eats1,us-wets1', *PLAIN, status=2)
        self.assertIn('us-eats1: unknown region', answer.err)
        self.assertIn('us-wets1: unknown region', answer.err)

    def test_places_without_quota_are_left_out(self):
        self.google.facts['quotas']['custom_model_training_cpus'] = {'us-central1': 0, 'us-east1': 100, 'europe-west4': 2}
        answer = self.submit_to(REGIONS, *PLAIN)
        self.assertIn('us-central1 is left out: quota `custom_model_training_cpus` in `us-central1` is 0', answer.err)
        self.assertIn('europe-west4 is left out', answer.err)
        self.assertEqual([region for region, _ in self.places()], ['us-east1'])
        self.google.facts['quotas']['custom_model_training_cpus']['us-east1'] = 0
        answer = self.submit_to(REGIONS, *PLAIN, status=1)
        for region in ('us-central1', 'us-east1', 'europe-west4'):
            self.assertIn(f'{region}: quota `custom_model_training_cpus`', answer.err)
        self.assertEqual(len(self.api.jobs), 1)

    def test_an_accelerator_that_the_typed_machine_lacks_is_left_out(self):
        answer = self.submit_to('--region=us-central1', *GPUS, '--machine-type=a2-highgpu-1g')
        self.assertIn('us-central1 with NVIDIA_H100_80GB is left out: machine type `a2-highgpu-1g` has 1', answer.err)

    def test_too_many_places_and_lists_elsewhere_are_refused(self):
        regions = ','.join(f'region{number}' for number in range(17))
        answer = self.submit_to(f'--region={regions}', *GPUS, status=2)
        self.assertIn('17 regions with 2 accelerators are 34 places to try, and 32 are the limit', answer.err)
        answer = autopack('jobs', 'describe', '7', REGIONS, env=self.env, status=2)
        self.assertIn('`--region` names 3 regions, and this command works in one', answer.err)
        self.assertEqual(json.loads(autopack('jobs', 'list', '--format=json', env=self.env).out), [])


class Retrying(Places):
    """`jobs retry` knows what is left from the labels of the jobs alone: each run has a cache of its own."""

    def first(self, *flags):
        self.service.full = {'us-central1', 'us-east1'}
        answer = self.submit_to(REGIONS, *(flags or PLAIN), '--labels=team=x')
        self.assertIn('      Next  us-east1, if it ends for lack of capacity: autopack jobs retry ' + answer.out, answer.err)
        self.ended(answer.out.strip())
        return answer.out.strip()

    def ended(self, name):
        while self.service.get(name)['state'] not in ('JOB_STATE_FAILED', 'JOB_STATE_SUCCEEDED'):
            pass

    def retry(self, *arguments, status=0):
        return self.run_jobs('retry', *arguments, status=status)

    def body(self, name):
        """Returns what the user asked for."""
        job = self.api.jobs[name]['job']
        return job['displayName'], job['jobSpec'], job['labels']['team']

    def test_each_retry_takes_the_next_place(self):
        first = self.first()
        second = self.retry(first).out.strip()
        self.assertIn('/us-east1/', second)
        self.assertEqual(self.body(second), self.body(first))
        self.assertIn(f'`{second}` is pending: it has not ended', self.retry('taxi', status=2).err)
        self.ended(second)
        third = self.retry(first, '--wait', '--polling-interval=1').out.strip()
        self.assertIn('/europe-west4/', third)
        self.assertIn('did not end for lack of capacity, but is succeeded', self.retry(first, status=2).err)
        labels = self.labels()
        self.assertEqual([each['autopack-attempt'] for each in labels], ['1', '2', '3'])
        self.assertEqual(len({each['autopack-group'] for each in labels}), 1)

    def test_a_retry_moves_on_by_itself_and_ends_when_every_place_was_tried(self):
        first = self.first()
        self.service.full = {'us-central1', 'us-east1', 'europe-west4'}
        answer = self.retry('taxi', '--wait', '--polling-interval=1', status=1)
        self.assertIn('     Moved  to europe-west4: no capacity in us-east1 (attempt 3 of 3)\n', answer.err)
        self.assertEqual(answer.out.split(), list(self.api.jobs)[1:])
        answer = self.retry(first, status=1)
        self.assertIn('every place of the job was tried', answer.err)
        self.assertEqual(len(self.api.jobs), 3)
        self.service.full = set()
        self.assertIn('/us-west1/', self.retry(first, '--region=us-east1,us-west1').out)
        self.assertEqual(self.labels()[-1]['autopack-regions'], 'us-central1_us-east1_europe-west4_us-west1')
        self.assertEqual(self.labels()[-1]['autopack-attempt'], '4')

    def test_a_job_of_one_place_moves_to_typed_ones(self):
        self.service.full = {'us-central1'}
        machine = ['--machine-type=a2-highgpu-1g', '--accelerator-type=NVIDIA_TESLA_A100', *GPUS[:2]]
        first = self.submit_to(*machine).out.strip()
        self.ended(first)
        self.assertIn('every place of the job was tried', self.retry(first, status=1).err)
        self.service.full = set()
        second = self.retry(first, '--accelerator-type=NVIDIA_L4').out.strip()
        self.assertEqual(self.places()[-1], ('us-central1', {'machineType': 'g2-standard-4', 'acceleratorType': 'NVIDIA_L4',
                                                             'acceleratorCount': 1}))
        self.assertEqual(self.labels()[-1]['autopack-group'], self.labels()[0]['autopack-submission'])
        self.assertIn(f'taxi (attempt 2 in us-central1; before: {first.split("/")[-1]} in us-central1)',
                      self.run_jobs('list').out)
        self.assertEqual(self.run_jobs('describe', 'taxi', '--format=value(name)').out.strip(), second)

    def test_a_program_that_failed_is_not_retried(self):
        self.service.states = ['RUNNING', 'FAILED']
        self.service.error = {'code': 3, 'message': 'The replica workerpool0-0 exited with a non-zero status of 1.'}
        name = self.submit_to(REGIONS, *PLAIN).out.strip()
        self.ended(name)
        answer = self.retry(name, status=2)
        self.assertIn('did not end for lack of capacity, but is failed', answer.err)
        self.assertIn('exited with a non-zero status', answer.err)

    def test_a_lost_answer_makes_no_second_job(self):
        for failure in ('drop', 'lost', 'garbled', 'cut', '503', 'list-503', 'get-503'):
            with self.subTest(failure):
                self.api.jobs.clear()
                first = self.first()
                self.api.fail[:] = [failure]
                second = self.retry(first).out.strip()
                self.assertEqual(list(self.api.jobs), [first, second])

    def test_the_list_shows_a_group_as_one_job(self):
        first = self.first()
        other = self.make(displayName='other')
        second = self.retry(first).out.strip()
        ids = [name.split('/')[-1] for name in (first, second, other)]
        rows = self.run_jobs('list').out.splitlines()[1:]
        self.assertEqual([row.split()[0] for row in rows], [ids[2], ids[1]])
        self.assertIn(f'taxi (attempt 2 in us-east1; before: {ids[0]} in us-central1)', rows[1])
        rows = self.run_jobs('list', '--region=us-central1,us-east1').out.splitlines()[1:]
        self.assertEqual([row.split()[0] for row in rows], [ids[1], ids[2]])
        found = self.run_jobs('list', '--region=us-central1,us-east1', '--format=value(name)').out.split()
        self.assertEqual(found, [second, other, first])

    def test_flags_and_jobs_that_do_not_fit_are_refused(self):
        name = self.first()
        for arguments, message in ((['retry'], 'needs the job\'s name'),
                                   (['describe', name, '--wait'], '`--wait` is for `autopack jobs retry`'),
                                   (['retry', name, '--region=us-eats1'], 'unknown region `us-eats1`'),
                                   (['retry', name, '--accelerator-type=NVIDIA_L4'], 'replaces a GPU, and'),
                                   (['retry', name, '--filter=a'], '`--filter` is for `autopack jobs list`')):
            with self.subTest(arguments):
                self.assertIn(message, self.run_jobs(*arguments, status=2).err)
