"""Locks the requirements of public training projects against the index in pip's settings.

    requirements.py [--binary build-release/src/autopack] [--cache DIRECTORY] [--write] [--show] [PATTERN...]

requirements/OWNER+NAME.yaml holds the files of a project that list its requirements, and the expected outcome (README.md
explains the keys). The script writes each project into a folder of its own and runs `autopack lock` for an image with
Debian 12's Python 3.11, pip, setuptools and wheel. It ignores files uploaded after NEWEST, so that the answers repeat.
It downloads no wheels, and source distributions only where their metadata must be built. The hosts of git repositories
and of further indexes do not exist.

It prints a line for each project: outcome, number of packages, seconds; the last line counts. The status is 1 if any
differs. --write records numbers and versions that differ, --show prints autopack's output, --cache keeps the metadata.
"""

import argparse
import os
import pathlib
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'support'))
sys.dont_write_bytecode = True

import bases  # noqa: E402
import testbed  # noqa: E402
import tomllib  # noqa: E402
import yaml  # noqa: E402

NEWEST = '2026-11-20'
PROJECTS = HERE / 'requirements'
KEYS = {'commit', 'start', 'files', 'resolved', 'chosen', 'refused', 'because', 'says'}
CERTIFICATES = os.environ.get('SSL_CERT_FILE', '/etc/ssl/certs/ca-certificates.crt')
LIMIT = 600


class Facts:
    """A project's file: its requirements, and what must come of them."""

    def __init__(self, path):
        self.path, self.name = path, path.stem
        values = yaml.safe_load(path.read_text(encoding='utf-8'))
        unknown = set(values) - KEYS
        if unknown or ('resolved' in values) == ('refused' in values):
            raise ValueError(f'{path}: {unknown or "neither or both of `resolved` and `refused`"}')
        self.start, self.files = values['start'], values['files']
        self.resolved, self.refused = values.get('resolved'), words(values.get('refused'))
        self.chosen, self.says = values.get('chosen', {}), words(values.get('says'))

    def faults(self, status, packages, text):
        """Returns what is not as expected, one line each."""
        said = ' '.join(text.split())
        missing = [f'does not say {part!r}' for part in self.says if part not in said]
        if self.refused:
            if status == 0:
                return [f'resolved, {len(packages)} packages']
            return missing + [f'does not say {part!r}' for part in self.refused if part not in said]
        if status != 0:
            return [f'refused: {first_error(text)}']
        if len(packages) != self.resolved:
            missing.append(f'{len(packages)} packages instead of {self.resolved}')
        return missing + [f'{name} {packages.get(name, "not")} chosen instead of {version}'
                          for name, version in self.chosen.items() if packages.get(name) != version]

    def write(self, packages):
        """Records the number and the versions that were chosen."""
        text = self.path.read_text(encoding='utf-8')
        text = re.sub(r'(?m)^resolved: .*$', f'resolved: {len(packages)}', text)
        for name, version in self.chosen.items():
            if name in packages:
                text = re.sub(rf'(?m)^(chosen: .*\b{re.escape(name)}: )\'?{re.escape(version)}\'?(?=[,}}])',
                              rf"\g<1>'{packages[name]}'", text)
        self.path.write_text(text, encoding='utf-8')


def words(value):
    return [value] if isinstance(value, str) else value or []


def first_error(text):
    return next((line for line in text.splitlines() if line.startswith('error')), text.strip()[:200])


def environment(cache):
    return testbed.environment(SSL_CERT_FILE=CERTIFICATES, PIP_CERT=CERTIFICATES, XDG_CACHE_HOME=cache,
                               AUTOPACK_VERBOSITY=None)


def lock(facts, base, cache):
    """Returns the exit status, the locked packages and their versions, and what was said."""
    folder = testbed.write_tree(facts.files, testbed.new_folder('requirements'))
    answer = testbed.autopack('lock', f'--executor-image-uri={base}', f'--exclude-newer={NEWEST}', *facts.start,
                              cwd=folder, env=environment(cache), status=None, timeout=LIMIT)
    if answer.status != 0:
        return answer.status, {}, answer.err
    written, = folder.rglob('pylock.toml')
    with written.open('rb') as file:
        packages = tomllib.load(file)['packages']
    return 0, {package['name']: package.get('version', 'local') for package in packages}, answer.err


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--binary', default=str(testbed.ROOT / 'build-release' / 'src' / 'autopack'))
    parser.add_argument('--cache', type=pathlib.Path)
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--show', action='store_true')
    parser.add_argument('patterns', nargs='*', metavar='PATTERN')
    arguments = parser.parse_args()
    testbed.set_binary(arguments.binary)
    every = [Facts(path) for path in sorted(PROJECTS.glob('*.yaml'), key=lambda path: path.name.lower())]
    chosen = [facts for facts in every
              if not arguments.patterns or any(pattern.lower() in facts.name.lower() for pattern in arguments.patterns)]
    base, cache = bases.base('official'), (arguments.cache or testbed.new_folder('cache')).resolve()
    width, bad = max((len(facts.name) for facts in chosen), default=0), 0
    for facts in chosen:
        begin = time.perf_counter()
        status, packages, text = lock(facts, base, cache)
        seconds = time.perf_counter() - begin
        if arguments.write and facts.resolved is not None and status == 0:
            facts.write(packages)
            facts = Facts(facts.path)
        faults = facts.faults(status, packages, text)
        bad += bool(faults)
        outcome = f'resolved {len(packages):4}' if status == 0 else 'refused      '
        print(f'{facts.name:{width}}  {outcome}  {seconds:6.1f}  {"; ".join(faults) or "as expected"}', flush=True)
        if arguments.show:
            print(f'{text.rstrip()}\n{packages}\n', flush=True)
    print(f'{len(chosen) - bad} as expected, {bad} not')
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
