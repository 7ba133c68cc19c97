"""Translates every legacy job in translate/ and holds the result against the files there.

    translate.py --binary build/src/autopack [--accept]

The result is also submitted (dry), as the command that `translate` recommends says, and must come out unchanged;
where the API's schemas lie beside the project it is held against them too. The last line is `N passed, N failed`.
"""

import difflib
import json
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'support'))
sys.dont_write_bytecode = True

import testbed  # noqa: E402

ORACLE = HERE.parent.parent / '..' / 'shared' / 'oracle'


def alone():
    """An environment in which nothing but the files can answer."""
    return testbed.environment(DOCKER_HOST='unix:///nowhere/docker.sock', XDG_CACHE_HOME=testbed.new_folder('cache'))


def compared(path, text, accept):
    if accept:
        path.write_text(text)
        return ''
    wanted = path.read_text() if path.exists() else ''
    return ''.join(difflib.unified_diff(wanted.splitlines(True), text.splitlines(True), path.name, 'now'))


def recommended(messages):
    """The arguments of the command that the messages tell to send the job with."""
    line = next(line for line in messages.splitlines() if '| autopack submit' in line)
    return shlex.split(line.split('| autopack ', 1)[1])


def submitted(folder, resource, messages):
    """What is wrong with the request that the recommended command makes of the resource."""
    (folder / 'trainer').mkdir(exist_ok=True)
    (folder / 'dist').mkdir(exist_ok=True)
    for name in ('trainer/__init__.py', 'trainer/task.py', 'dist/extra-0.1.tar.gz'):
        (folder / name).write_text('')
    arguments = recommended(messages)
    answer = testbed.autopack(*arguments, '--project=my-project', '--dry-run', cwd=folder, env=alone(), status=None,
                              input=json.dumps(resource).encode())
    if answer.status != 0:
        return str(answer)
    body = json.loads(answer.out)['request']['body']
    packaged = any(argument.startswith('--worker-pool-spec') for argument in arguments)
    if packaged:
        images = {pool['containerSpec'].pop('imageUri') for pool in body['jobSpec']['workerPoolSpecs']}
        return '' if len(images) == 1 and body == resource else f'packaged {images} as {json.dumps(body, indent=2)}'
    return '' if body == resource else f'submitted as {json.dumps(body, indent=2)}'


def schema_findings(resource, messages):
    """What the API's own schemas have against the resource."""
    packaged = any(argument.startswith('--worker-pool-spec') for argument in recommended(messages))
    name = 'HyperparameterTuningJob' if 'trialJobSpec' in resource else 'CustomJob'
    document = next(ORACLE.glob('discovery/aiplatform-v1-pruned*.json'))
    command = [sys.executable, ORACLE / 'validate.py', '--strict-int64', '--no-output-only',
               '--oneofs', ORACLE / 'discovery' / 'aiplatform-v1-oneofs.json', *(() if packaged else ('--require',)),
               document, name, '-']
    answer = subprocess.run(command, input=json.dumps(resource), capture_output=True, text=True, check=False)
    return '' if answer.returncode == 0 else answer.stdout + answer.stderr


def check(case, accept):
    folder = testbed.new_folder(f'translate-{case.name}')
    given = json.loads((case / 'case.json').read_text())
    source = testbed.EXAMPLES / given['example'] if 'example' in given else case
    if (source / 'config.yaml').exists():
        (folder / 'config.yaml').write_text((source / 'config.yaml').read_text())
    answer = testbed.autopack('translate', *given['argv'], cwd=folder, env=alone(), status=None)
    if answer.status != 0:
        return str(answer)
    resource = json.loads(answer.out)
    findings = [compared(case / 'resource.json', answer.out, accept),
                compared(case / 'messages.txt', answer.err, accept), submitted(folder, resource, answer.err)]
    if ORACLE.is_dir():
        findings.append(schema_findings(resource, answer.err))
    return '\n'.join(finding for finding in findings if finding)


def main():
    accept = '--accept' in testbed.main_binary(sys.argv[1:])
    passed = failed = 0
    for case in sorted(path for path in (HERE / 'translate').iterdir() if path.is_dir()):
        try:
            finding = check(case, accept)
        except (AssertionError, OSError, ValueError, KeyError, StopIteration) as error:
            finding = repr(error)
        passed, failed = passed + (not finding), failed + bool(finding)
        if finding:
            print(f'FAILED {case.name}\n{finding.rstrip()}')
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed or not passed else 0)


if __name__ == '__main__':
    main()
