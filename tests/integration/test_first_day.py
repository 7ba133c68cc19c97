"""A new user's first day, typed into a shell on a pseudo-terminal and compared with golden screens.

    AUTOPACK_ACCEPT=1 python3 tests/integration/run.py --binary build/src/autopack FirstDay

writes tests/golden/screens/ again: read every screen as a person would. They are what a terminal shows, at 80 and 50
columns; a line `--- 24 rows ---` marks where a screen of that height begins, if something scrolled off it. Days
without colours must show the same words. It also draws the pictures again, and renews the blocks of the tour that show
a whole screen, with the figures of this machine.
"""

import concurrent.futures
import json
import os
import re
import textwrap
import unittest

import pages
import screen
import secret_watch
import testbed
from repositories import AUTHOR, fake_token
from terminal import Terminal, plain
from vertex_server import VertexServer

SCREENS = testbed.ROOT / 'tests/golden/screens'
TOUR = testbed.EXAMPLES / 'guide/tour.md'
# The titles of the screens that they show.
PICTURES = {'edit': 'An edit is pushed'}
SECONDS = 120  # on a busy machine
PROMPT = '\x1b]133;A\x07'
BASE = 'python:3.11'  # inferred for a project that names no version of Python

PROGRAM = '''\
def main():
    slope = 0.0
    for epoch in range(1, 4):
        slope += (3.0 - slope) / 2
        print(f"epoch {epoch}: slope {slope:.2f}", flush=True)

if __name__ == "__main__":
    main()
'''
GREETED = 'import greeter\n\n' + PROGRAM.replace('    slope = 0.0\n', '    print(greeter.hello())\n    slope = 0.0\n')
SETTINGS = '''\
script: train.py
executor-image-uri: {registry}/base/python:3.11
display-name: {name}
output-image-uri: {registry}/team/{name}
machine-type: n1-standard-4
'''
SERVICE = SETTINGS + '''\
project: demo-project
region: us-central1
'''
HOOKS = '''\
repos:
  - repo: local
    hooks:
      - id: autopack-lint
        name: project can be packaged
        entry: autopack explain --source=index --check --quiet
        language: system
        pass_filenames: false
        always_run: true
'''
STUDY = '''\
maxTrialCount: 2
parallelTrialCount: 1
studySpec:
  metrics: [{metricId: loss, goal: MINIMIZE}]
  parameters:
  - parameterId: rate
    doubleValueSpec: {minValue: 0.1, maxValue: 1}
'''

# Everything that differs between runs; its replacement is as wide wherever a line could wrap there.
CHANGING = [
    (r'127\.0\.0\.1:\d+', '127.0.0.1:5000'),
    (r'sha256:[0-9a-f]{64}', 'sha256:' + '0123456789abcdef' * 4),
    (r'sha256:[0-9a-f]{12}\b', 'sha256:0123456789ab'),
    (r'\b\d+ B sent', '786 B sent'),
    (r'\bap(d?)-[0-9a-f]{16}\b', r'ap\1-0123456789abcdef'),
    (r'\b\d+(\.\d+)? (s|min)\b', '0.1 s'),
    (r'\b\d+(\.\d+)? (kB|MB|GB)\b', '1.0 MB'),
    (r'\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(\.\d+)?', r'2026-01-02\g<1>03:04:05'),
    (r'# autopack-text: [0-9a-f]{16}', '# autopack-text: 0123456789abcdef'),
    (r'\b[0-9a-f]{32}\b', '0123456789abcdef' * 2),
    (r'\b\d\d:\d\d:\d\d\b', '03:04:05'),
    (r'\btaxi-[a-d]\b', 'taxi-x'),
    (r'\[main (\(root-commit\) )?[0-9a-f]{7,}\]', r'[main \g<1>0123456]'),
]


# The beginnings of lines that report finished steps.
VERB = re.compile(r'(?:\x1b\[[0-9;]*m)? *([A-Z][a-z]+)(?:\x1b\[0m)?  (?=\S)')
# Steps of builds are printed only if they took a second.
STEPS = ('Copied', 'Made', 'Read', 'Saved', 'Step')


DRAWN_OVER = re.compile(r'\x1b\[(\d+)A\r\x1b\[J')


def without_running_steps(text, columns):
    """Returns `text` without overwritten lines, whose number is random. None may be wider than the terminal."""
    while drawn := DRAWN_OVER.search(text):
        lines = text[:drawn.start()].split('\r\n')
        kept = lines[:-1 - int(drawn[1])]
        assert all(len(plain(line)) < columns for line in lines[len(kept):]), lines
        text = ''.join(line + '\r\n' for line in kept) + text[drawn.end():]
    return text


def steady(text, columns):
    """Returns `text` with changing parts replaced; refolds lines that contain some and that autopack folded."""
    lines = []
    text = without_running_steps(text, columns)
    # The terminal's echo of the key and the line feed of the program come in either order.
    text = re.sub(r'\r\n(?:\r\n)?\^C(?:\r\n)?$', '\r\n^C\r\n', text)
    for line in text.split('\r\n'):
        if lines and VERB.match(lines[-1]) and re.match(r' {12}\S', line):
            lines[-1] += line[11:]
        else:
            lines.append(line)
    result = []
    for line in lines:
        for pattern, replacement in CHANGING:
            line = re.sub(pattern, replacement, line)
        verb = VERB.match(line)
        if not verb:
            result.append(line)
        elif verb[1] not in STEPS:
            parts = textwrap.wrap(line[verb.end():], columns - 12, break_long_words=False, break_on_hyphens=False)
            result.append(verb[0] + ('\r\n' + 12 * ' ').join(parts))
    return '\r\n'.join(result)


class Day:
    """A shell in an empty folder, and the screens seen there, as (title, the terminal's bytes)."""

    def __init__(self, name, columns, colours):
        self.columns, self.screens = columns, []
        self.registry = testbed.registry()
        self.api = VertexServer(narrate=True)
        self.api.service.states = ['RUNNING', 'SUCCEEDED']
        self.name = name
        self.folder = testbed.new_folder('home-of') / name
        self.folder.mkdir()
        home = self.folder.parent
        programs = testbed.new_folder('programs')
        (programs / 'autopack').symlink_to(testbed.binary)
        token = testbed.write_tree({'token': secret_watch.secret('ya29.first-day')}) / 'token'
        env = testbed.environment(
            PATH=f'{programs}:{os.environ["PATH"]}', HOME=home, XDG_CACHE_HOME=home / '.cache', TERM='xterm',
            NO_COLOR=None if colours else '1', CI=None, AUTOPACK_VERBOSITY=None, PIP_INDEX_URL=testbed.index().url,
            # An engine that takes only whole images installs for `run` what is in the registry already.
            AUTOPACK_BUILD_NETWORK=None if testbed.loads_parts() else 'host',
            PRE_COMMIT_HOME=home / 'pre-commit', PRE_COMMIT_COLOR='never', CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=token,
            CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=self.api.url, CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING=self.api.url,
            PS1=f'\\[{PROMPT}\\]$ ', PS2='', **AUTHOR)
        self.terminal = Terminal(['bash', '--norc', '--noprofile', '-i'], env, self.folder, columns)
        self.terminal.read(PROMPT)
        self.type("bind 'set enable-bracketed-paste off'")
        self.screens.clear()

    def close(self):
        self.terminal.end()
        self.api.close()

    def write(self, name, text, append=False):
        path = self.folder / name
        text = text.replace('{name}', self.name).replace('{registry}', self.registry)
        path.write_text((path.read_text() if append else '') + text)

    def type(self, line, title=None, then=None):
        """Types `line` and waits for the next prompt; `then` = (the text to wait for, keys to type after it)."""
        self.terminal.type(line + '\n')
        text = ''
        if then:
            text = self.terminal.read(then[0], SECONDS)
            self.terminal.type(then[1])
        text += self.terminal.read(PROMPT, SECONDS)
        self.screens.append((title or line, '$ ' + text.removesuffix(PROMPT)))

    def rendered(self):
        """Returns the screens as rows, with changing parts replaced."""
        sent = []
        for _, text in self.screens:
            sent.append({'columns': self.columns, 'text': steady(text, self.columns)})
        return self.as_rows(sent)

    def unchanged(self):
        """Returns the screens with this run's figures, wide enough for each line of autopack."""
        sent = []
        for _, text in self.screens:
            text = re.sub(r'127\.0\.0\.1:\d+', '127.0.0.1:5000', without_running_steps(text, self.columns))
            sent.append({'columns': 200, 'text': text.replace(self.name, 'taxi')})
        return self.as_rows(sent)

    def as_rows(self, sent):
        answer = testbed.run([testbed.SYSTEM_PYTHON, screen.__file__], input=json.dumps(sent).encode())
        return list(zip((title for title, _ in self.screens), json.loads(answer.stdout)))


def spend(day):
    day.type('autopack run', 'Nothing is here yet')
    day.write('train.py', PROGRAM)
    day.type('autopack run', 'A program is written')
    day.write('train.py', PROGRAM.replace('4)', '3)'))
    day.type('autopack run', 'It is edited')
    day.write('train.py', GREETED)
    day.type('autopack run', 'It needs a package')
    day.write('requirements.txt', 'greeter==1.0\n')
    day.type('autopack run', 'The package is required')
    day.type('autopack init', 'Settings')
    day.type('cat autopack.yaml')
    day.type('autopack explain', 'What is in the image, and why')
    day.type('autopack dockerfile -o Dockerfile', 'A Dockerfile for review')
    day.type('cat Dockerfile')
    day.type('autopack run -- --epochs=2', 'Arguments')
    day.write('autopack.yaml', 'system-packages: [git]\n', append=True)
    day.type('autopack dockerfile --check Dockerfile', 'The Dockerfile is out of date')
    day.write('autopack.yaml', SETTINGS)
    day.write('.pre-commit-config.yaml', HOOKS)
    day.type('git init -q -b main && pre-commit install', 'Hooks')
    day.write('keys.py', f'TOKEN = "{fake_token()}"\n')
    day.type('git add -A && git commit -qm first', 'A token is about to be committed')
    day.type('git rm -qf keys.py && git commit -qm first')
    day.type('autopack build --script=trian.py --extra-dirs=dta', 'Two mistakes')
    day.type('autopack build', 'The image is pushed')
    day.write('train.py', GREETED.replace('4)', '3)'))
    day.type('autopack build', 'An edit is pushed')
    day.type('autopack build', 'Nothing changed')
    day.type('autopack diff HEAD', 'What the edit changed')
    day.type('autopack lock', 'The versions are locked')
    day.type('autopack lock --check')
    day.type('rm pylock.toml')
    day.type('autopack submit', 'The job is submitted, from here on by the settings file')
    day.write('autopack.yaml', SERVICE)
    day.type('autopack submit --dry-run | head -20')
    day.type('autopack submit')
    day.type('autopack jobs list')
    day.type('autopack jobs logs -f --latest', 'Its logs')
    day.type('autopack submit --wait --polling-interval=1', 'Another is waited for')
    day.api.service.states = ['RUNNING']
    day.type('autopack submit', 'A third is cancelled')
    day.type('autopack jobs cancel --latest')
    day.type('autopack jobs list')
    day.write('study.yaml', STUDY)
    day.type('autopack tune --config=study.yaml', 'A study')
    day.type('autopack jobs describe --latest')
    day.type('autopack run --watch', 'It runs again whenever a file changes', ('Ended', '\x03'))


def show_in_pages(day):
    """Draws the pictures, and renews the tour."""
    day = [(title, [row for row in rows if not is_step(row)]) for title, rows in day]
    titled = dict(day)
    for name, title in PICTURES.items():
        (testbed.EXAMPLES / f'pictures/{name}.svg').write_text(pages.picture(shown(titled[title])), encoding='utf-8')
    screens = {title: [screen.without_colours(row) for row in shown(rows)] for title, rows in titled.items()}
    TOUR.write_text(pages.renewed(TOUR.read_text(), screens))


def is_step(row):
    verb = VERB.match(screen.without_colours(row))
    return verb and verb[1] in STEPS


def shown(rows):
    """Returns the rows of a screen without the next prompt."""
    return rows[:-1] if rows[-1].strip() == '$' else rows


def golden_screens():
    """Returns the rows of the golden screens by title, without colours."""
    text = screen.without_colours((SCREENS / '80-columns.txt').read_text(encoding='utf-8'))
    parts = re.split(r'^=== (.*) ===$', text, flags=re.MULTILINE)[1:]
    return [(title, shown([row for row in rows.strip('\n').splitlines() if row != f'--- {screen.ROWS} rows ---']))
            for title, rows in zip(parts[::2], parts[1::2])]


class Pages(unittest.TestCase):
    def test_the_tour_shows_what_a_user_sees(self):
        screens = {}
        for title, rows in golden_screens():
            screens.setdefault(title, rows)
        text = TOUR.read_text()
        blocks = pages.blocks_of(text)
        self.assertEqual(len(blocks), text.count('\n```\n$ '), 'each block has a title above it')
        commands = {words[1] for _, (row, *_) in blocks if (words := row.split('|')[0].split()[1:])[0] == 'autopack'}
        self.assertGreaterEqual(commands, {'run', 'init', 'explain', 'dockerfile', 'build', 'submit', 'jobs', 'tune', 'lock',
                                           'diff'})
        for title, block in blocks:
            with self.subTest(title):
                rows = steady('\r\n'.join(block), 80).replace('taxi', 'taxi-x').split('\r\n')
                if not pages.is_shown(rows, screens[title]):
                    self.assertEqual(rows, screens[title])

    def test_the_pictures_show_it_too(self):
        screens = dict(golden_screens())
        self.assertEqual({file.stem for file in (testbed.EXAMPLES / 'pictures').glob('*.svg')}, set(PICTURES))
        for name, title in PICTURES.items():
            with self.subTest(name):
                rows = pages.rows_of((testbed.EXAMPLES / f'pictures/{name}.svg').read_text(encoding='utf-8'))
                rows = steady('\r\n'.join(rows), 80).replace('taxi', 'taxi-x').split('\r\n')
                self.assertEqual(''.join(''.join(rows).split()), ''.join(''.join(screens[title]).split()))


class FirstDay(unittest.TestCase):
    alone = True  # the screens contain the engine's first tasks

    def setUp(self):
        executor = testbed.executor()
        had = testbed.docker('images', '--quiet', '--no-trunc', BASE)
        testbed.docker('tag', executor, BASE)
        self.addCleanup(testbed.docker, *(['tag', had, BASE] if had else ['rmi', BASE]))
        testbed.remove_images('autopack/taxi-')
        self.addCleanup(testbed.remove_images, 'autopack/taxi-')
        testbed.pushed_executor('base/python:3.11')
        testbed.index()

    def live(self, name, columns, colours):
        day = Day(name, columns, colours)
        try:
            spend(day)
        finally:
            day.close()
        return day

    def test_is_what_the_golden_screens_show(self):
        accepts = os.environ.get('AUTOPACK_ACCEPT') == '1'
        kinds = {(80, True): 'taxi-a', (50, True): 'taxi-b', (80, False): 'taxi-c', (50, False): 'taxi-d'}
        if testbed.FORM == 'daily' and not accepts:
            kinds = {kind: kinds[kind] for kind in ((80, True), (50, False))}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            lived = dict(zip(kinds, pool.map(lambda kind: self.live(kinds[kind], *kind), kinds)))
        days = {kind: day.rendered() for kind, day in lived.items()}
        unchanged = {kind: day.unchanged() for kind, day in lived.items()} if accepts else {}
        if not testbed.loads_parts():
            return  # the screens are those of the other store; each command of the day did what it should
        for (columns, has_colours), day in days.items():
            text, path = self.text(day), SCREENS / f'{columns}-columns.txt'
            if accepts and has_colours:
                path.write_text(text, encoding='utf-8')
                if columns == 80:
                    show_in_pages(unchanged[(columns, has_colours)])
            expected = path.read_text(encoding='utf-8')
            self.maxDiff = None
            with self.subTest(f'{columns} columns, {"" if has_colours else "no "}colours'):
                self.assertEqual(text, expected if has_colours else screen.without_colours(expected))

    @staticmethod
    def text(day):
        parts = []
        for title, rows in day:
            if len(rows) > screen.ROWS:
                rows.insert(len(rows) - screen.ROWS, f'--- {screen.ROWS} rows ---')
            parts.append('\n'.join([f'=== {title} ===', *rows]) + '\n')
        return '\n'.join(parts)


if __name__ == '__main__':
    unittest.main()
