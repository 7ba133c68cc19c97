"""Holds what autopack makes of every example against the files in examples/: no engine, no network.

    run.py --binary build/src/autopack [--accept]

`--accept` writes the files anew; it needs an engine that has the executor image, because the facts of the base
are recorded in the Dockerfiles. The last line is `N passed, N failed`.
"""

import difflib
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'support'))
sys.dont_write_bytecode = True

import testbed  # noqa: E402

EXECUTOR = 'autopack-tests/python:1'
OUTPUT = 'us-docker.pkg.dev/my-project/models/example:v1'

# example -> entry point as a key of --worker-pool-spec, further flags of submit or, for `tune`, of tune
CASES = {
    'script': ('script=trainer/task.py', ['--args=--epochs=50']),
    'module': ('python-module=trainer', ['--args=500000']),
    'bash-script': ('script=jobs/train.sh', ['--env=ROWS=1000']),
    'requirements': ('script=trainer/task.py', []),
    'setup-py': ('python-module=taxi.train', ['--labels=team=taxi']),
    'pyproject': ('python-module=wine.train', ['--timeout=3600s']),
    'several-pools': ('script=trainer/task.py', [
        '--config=job.yaml', '--worker-pool-spec=machine-type=n1-standard-4,replica-count=3']),
    'tune': ('script=trainer/task.py', [
        '--config=study.yaml', '--metric=loss:minimize', '--parameter=rate:double:1e-3..1:log',
        '--max-trial-count=20', '--parallel-trial-count=4', '--with-hypertune']),
}
# What `dockerfile` calls a flag of the command that submits.
DOCKERFILE_FLAGS = {'tune': ['--requirements=cloudml-hypertune']}


def alone():
    """An environment in which nothing but the files can answer."""
    return testbed.environment(DOCKER_HOST='unix:///nowhere/docker.sock', XDG_CACHE_HOME=testbed.new_folder('cache'))


def check_dockerfile(name, entry, accept):
    """The text for the example; its committed copy carries the facts of the base."""
    folder = testbed.example(name)
    kept = HERE / 'examples' / f'{name}.Dockerfile'
    command = ['dockerfile', f'--executor-image-uri={EXECUTOR}', f'--{entry}', *DOCKERFILE_FLAGS.get(name, [])]
    if accept:
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(testbed.autopack(*command, cwd=folder).out)
        return ''
    (folder / 'Dockerfile').write_text(kept.read_text())
    answer = testbed.autopack(*command, '--check', 'Dockerfile', cwd=folder, env=alone(), status=None)
    return '' if answer.status == 0 else str(answer)


def check_body(name, entry, flags, accept):
    """The request that `submit --dry-run` prints."""
    folder = testbed.example(name)
    kept = HERE / 'examples' / f'{name}.json'
    pool = (f'--worker-pool-spec=machine-type=n1-standard-8,executor-image-uri={EXECUTOR},local-package-path=.,'
            f'output-image-uri={OUTPUT},{entry}')
    (folder / 'Dockerfile').write_text((HERE / 'examples' / f'{name}.Dockerfile').read_text())
    verb = 'tune' if name == 'tune' else 'submit'
    answer = testbed.autopack(verb, '--display-name', name, '--project=my-project', '--region=us-central1', pool,
                              *flags, '--dry-run', cwd=folder, env=alone(), status=None)
    if answer.status != 0:
        return str(answer)
    text = json.dumps(json.loads(answer.out)['request'], indent=2, sort_keys=True) + '\n'
    if accept:
        kept.write_text(text)
    wanted = kept.read_text()
    return ''.join(difflib.unified_diff(wanted.splitlines(True), text.splitlines(True), kept.name, 'now'))


def main():
    arguments = testbed.main_binary(sys.argv[1:])
    accept = '--accept' in arguments
    if accept:
        testbed.executor()
    passed = failed = 0
    for name, (entry, flags) in CASES.items():
        for what, check in (('Dockerfile', lambda: check_dockerfile(name, entry, accept)),
                            ('request', lambda: check_body(name, entry, flags, accept))):
            try:
                finding = check()
            except (AssertionError, OSError, ValueError) as error:
                finding = str(error) or repr(error)
            passed, failed = passed + (not finding), failed + bool(finding)
            print(f'{"FAILED" if finding else "ok":6} {name}: {what}')
            if finding:
                print(finding.rstrip())
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
