"""Compares the versions that `autopack lock` chooses with those of pip, for the requirements of public projects.

    compare_with_pip.py [--binary build-release/src/autopack] [--cache DIRECTORY] [PATTERN...]

Takes the projects of requirements.py that resolve. For each, the newest pip chooses in a container of the same executor
image, with the same index and without files uploaded after the same date; it builds source distributions there. Prints a
line for each project: the number of packages, and each package on whose version they differ, autopack's first.
"""

import argparse
import datetime
import json
import pathlib
import re

import requirements
from requirements import bases, testbed

# For uv, files of the day itself are not newer.
DAY_AFTER = datetime.date.fromisoformat(requirements.NEWEST) + datetime.timedelta(days=1)


class Pip:
    """pip in a container that sees the folder of the projects."""

    def __init__(self, base, folder):
        self.folder = folder
        certificates = requirements.CERTIFICATES
        self.name = testbed.docker('run', '--detach', '--rm', '--network=host', f'--volume={folder}:{folder}',
                                   f'--volume={certificates}:{certificates}:ro', f'--env=PIP_CERT={certificates}',
                                   '--env=PIP_ROOT_USER_ACTION=ignore', f'--env=SSL_CERT_FILE={certificates}',
                                   '--entrypoint=sleep', base, 'infinity')
        testbed.docker('exec', self.name, 'python3', '-m', 'pip', 'install', '--quiet', '--upgrade', 'pip')

    def versions(self, project, words):
        """Returns the chosen versions by name, and what pip printed if it fails."""
        report = project / 'pip-report.json'
        answer = testbed.run(['docker', 'exec', '--workdir', project, self.name, 'timeout', str(requirements.LIMIT), 'python3',
                              '-m', 'pip', 'install', '--quiet', '--dry-run', f'--report={report}',
                              f'--uploaded-prior-to={DAY_AFTER}', *words], check=False)
        if answer.returncode != 0:
            return {}, answer.stderr.decode(errors='replace')
        installs = json.loads(report.read_text())['install']
        return {re.sub('[-_.]+', '-', one['metadata']['name'].lower()): one['metadata']['version'] for one in installs
                if one['download_info']['url'] != f'file://{project}'}, ''

    def close(self):
        testbed.docker('rm', '--force', self.name)


def words_for_pip(facts, base, folder, cache):
    """Returns the requirements in the command of the generated Dockerfile."""
    answer = testbed.autopack('dockerfile', f'--executor-image-uri={base}', *facts.start, cwd=folder,
                              env=requirements.environment(cache), status=None)
    words = re.findall(r'--requirement[ =](\S+)', answer.out)
    found = [word for file in dict.fromkeys(words) for word in ('--requirement', file)]
    own = re.search(r"--editable '?([^\s']+)", answer.out)
    return found + (['--editable', own[1]] if own else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--binary', default=str(testbed.ROOT / 'build-release' / 'src' / 'autopack'))
    parser.add_argument('--cache', type=pathlib.Path)
    parser.add_argument('patterns', nargs='*', metavar='PATTERN')
    arguments = parser.parse_args()
    testbed.set_binary(arguments.binary)
    base, cache = bases.base('official'), (arguments.cache or testbed.new_folder('cache')).resolve()
    pip = Pip(base, testbed.scratch())
    compared = equal = 0
    for path in sorted(requirements.PROJECTS.glob('*.yaml'), key=lambda path: path.name.lower()):
        facts = requirements.Facts(path)
        if facts.refused or (arguments.patterns and not any(word.lower() in facts.name.lower() for word in arguments.patterns)):
            continue
        status, ours, text = requirements.lock(facts, base, cache)
        folder = testbed.write_tree(facts.files, testbed.new_folder('pip'))
        words = words_for_pip(facts, base, folder, cache)
        if status != 0 or not words:
            print(f'{facts.name}: not compared: {requirements.first_error(text) if status else "no requirements for pip"}', flush=True)
            continue
        theirs, failure = pip.versions(folder, words)
        if failure:
            last = failure.strip().splitlines()[-1:] or ['ended']
            print(f'{facts.name}: {len(ours)} packages; pip fails: {last[0][:200]}', flush=True)
            continue
        different = [f'{name} {ours.get(name, "-")} {theirs.get(name, "-")}' for name in sorted({*ours, *theirs})
                     if ours.get(name) not in ('local', theirs.get(name))]
        compared, equal = compared + 1, equal + (not different)
        print(f'{facts.name}: {len(ours)} packages; {", ".join(different) or "equal"}', flush=True)
    pip.close()
    print(f'{compared} compared, {equal} equal')


if __name__ == '__main__':
    main()
