"""Measures jobs and studies on this machine beside docker's command line and docker compose.

    jobs.py [--binary build-release/src/autopack] [--rounds 3] [--case NAME...]

All run the same program in the same image, on a network of their own. Times of a start go from the command to the
moment at which the engine lists all containers as running, those of an end to the return of the command that ends them.
docker compose is left out where it is not installed (Debian's `docker-compose`).
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'support')]
sys.dont_write_bytecode = True

import bench  # noqa: E402
import testbed  # noqa: E402

REPLICAS = 32
WAITING = ['sh', '-c', 'trap "exit 0" TERM; sleep 1000 & wait']
TRIALS, TRIAL_SECONDS = 50, 0.1
TRIAL = ['python3', '-c', 'import json, os, sys, time\npath = os.environ.get("CLOUD_ML_HP_METRIC_FILE", "/tmp/h/metrics")\n'
         f'os.makedirs(os.path.dirname(path))\ntime.sleep({TRIAL_SECONDS})\n'
         'json.dump({"global_step": "1", "loss": sys.argv[2], "timestamp": time.time()}, open(path, "w"))\n']


def wait_for(label, count):
    while len(testbed.docker('ps', '--quiet', '--filter', f'label={label}').split()) != count:
        time.sleep(0.05)


def replica(program):
    return {'machineSpec': {'machineType': 'n1-standard-4'},
            'containerSpec': {'imageUri': testbed.executor(), 'command': program}}


class Autopack:
    name = 'autopack submit --submitter=local'

    def start(self):
        pools = [replica(WAITING), replica(WAITING) | {'replicaCount': REPLICAS - 1}]
        folder = testbed.write_tree({'job.json': json.dumps({'workerPoolSpecs': pools})})
        home = testbed.new_folder('home')
        self.job = subprocess.Popen(
            [testbed.binary, 'submit', '--submitter=local', '--display-name=bench', '--config=job.json'], cwd=folder,
            env=testbed.environment(HOME=home, XDG_CACHE_HOME=home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for('autopack.job', REPLICAS)

    def end(self):
        self.job.send_signal(signal.SIGINT)
        self.job.wait()


class Run:
    """What a script of `docker run` lines does."""
    name = 'docker run, one after the other'

    def start(self):
        testbed.docker('network', 'create', 'bench')
        for number in range(REPLICAS):
            testbed.docker('run', '--detach', '--network=bench', f'--name=bench-{number}', '--label=bench',
                           testbed.executor(), *WAITING)
        wait_for('bench', REPLICAS)

    def end(self):
        testbed.docker('stop', *(f'bench-{number}' for number in range(REPLICAS)))
        testbed.docker('rm', *(f'bench-{number}' for number in range(REPLICAS)))
        testbed.docker('network', 'rm', 'bench')


class Compose:
    name = 'docker compose'

    def __init__(self):
        service = {'image': testbed.executor(), 'command': WAITING, 'labels': {'bench': ''}}
        services = {f'replica{number}': service for number in range(REPLICAS)}
        self.folder = testbed.write_tree({'docker-compose.yml': json.dumps({'version': '3', 'services': services})})

    def compose(self, *words):
        subprocess.run(['docker-compose', *words], cwd=self.folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def start(self):
        self.compose('up', '--detach')
        wait_for('bench', REPLICAS)

    def end(self):
        self.compose('down')


def case_replicas(rounds):
    tools = [Autopack(), Run()] + ([Compose()] if shutil.which('docker-compose') else [])
    starts, ends = [[] for _ in tools], [[] for _ in tools]
    for _ in range(rounds):
        for place, tool in enumerate(tools):
            begin = time.monotonic()
            tool.start()
            middle = time.monotonic()
            tool.end()
            starts[place].append(middle - begin)
            ends[place].append(time.monotonic() - middle)
    names = [tool.name for tool in tools]
    bench.table(f'{REPLICAS} replicas: until all run', names, [statistics.median(times) for times in starts])
    bench.table(f'{REPLICAS} replicas: until all are gone', names, [statistics.median(times) for times in ends])


def study(at_once):
    folder = testbed.write_tree({'job.json': json.dumps({'workerPoolSpecs': [replica(TRIAL)]})})
    home = testbed.new_folder('home')
    testbed.run([testbed.binary, 'tune', '--submitter=local', '--display-name=bench', '--config=job.json',
                 '--parameter=x:0.0..1.0', '--metric=loss:minimize', '--algorithm=random-search',
                 f'--max-trial-count={TRIALS}', f'--parallel-trial-count={at_once}'], cwd=folder,
                env=testbed.environment(HOME=home, XDG_CACHE_HOME=home))


def containers(at_once):
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        list(pool.map(lambda _: testbed.docker('run', '--rm', testbed.executor(), *TRIAL, '--x', '1'), range(TRIALS)))


def case_study(rounds):
    for at_once in (1, 2, 4, 8):
        times = bench.interleaved(rounds, [bench_of(study, at_once), bench_of(containers, at_once)])
        bench.table(f'a study of {TRIALS} trials of {TRIAL_SECONDS} s, {at_once} at once',
                    ['autopack tune --submitter=local', 'docker run --rm'], times)


def bench_of(action, at_once):
    def timed(_):
        begin = time.monotonic()
        action(at_once)
        return time.monotonic() - begin
    return timed


CASES = {'replicas': case_replicas, 'study': case_study}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--binary', default=str(testbed.ROOT / 'build-release' / 'src' / 'autopack'))
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--case', nargs='+', choices=CASES, default=list(CASES))
    arguments = parser.parse_args()
    testbed.binary = str(pathlib.Path(arguments.binary).resolve())
    testbed.engine()
    print(f'{datetime.date.today()}, {os.cpu_count()} cores, Linux {platform.release()}, Docker Engine '
          f'{testbed.docker("version", "--format", "{{.Server.Version}}")}; median of {arguments.rounds}', flush=True)
    for name in arguments.case:
        CASES[name](arguments.rounds)


if __name__ == '__main__':
    main()
