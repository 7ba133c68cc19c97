"""The page of `explain --html` in a real browser: it shows the contents of the JSON, by mouse, keyboard and search."""

import json
import shlex
import unittest

import testbed
from browser import Browser
from testbed import autopack

ENTER, ESCAPE, RIGHT = '\ue007', '\ue00c', '\ue014'
HOSTILE = 'a<\u2028/script><img src=x onerror=document.title=1>'
# As on a page: misleading characters are escaped.
SHOWN = HOSTILE.replace('\u2028', '\\u2028')


def size(count):
    for unit in ('B', 'kB', 'MB'):
        if count < 999.5:
            break
        count /= 1000
    return f'{count:.0f} {unit}' if unit == 'B' or count >= 99.95 else f'{count:.1f} {unit}'


CONTRAST = '''
    const luminance = (colour) => {
      const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3).map((c) => {
        const part = c / 255;
        return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const ground = luminance(getComputedStyle(document.body).backgroundColor);
    return [ground, [...document.querySelectorAll("#map button, dt, dd, th, td, .faint, nav button")].map((e) => {
      const style = getComputedStyle(e);
      const own = style.backgroundColor;
      return ratio(luminance(style.color), own.endsWith(", 0)") ? ground : luminance(own));
    })];'''


class Shown(unittest.TestCase):
    """A page in the browser, loaded again for each test."""
    page = None

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.prefer('light')
        self.browser.resize(1100)
        self.browser.open(self.page)

    def texts(self, selector):
        return self.browser.run('return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent.trim())', selector)

    def assert_enough_contrast(self):
        grounds = []
        for scheme in ('light', 'dark'):
            self.browser.prefer(scheme)
            ground, ratios = self.browser.run(CONTRAST)
            grounds.append(ground)
            self.assertGreater(len(ratios), 20)
            self.assertGreater(min(ratios), 4.5, scheme)
        self.assertGreater(grounds[0], 0.9)
        self.assertLess(grounds[1], 0.1)

    def assert_fits(self, width):
        self.browser.resize(width)
        self.assertLessEqual(self.browser.run('return document.documentElement.scrollWidth'), width)

    def assert_plain(self):
        """Names are text, and nothing is fetched."""
        self.assertEqual(self.browser.run('return document.images.length'), 0)
        self.assertEqual(self.browser.run('return performance.getEntriesByType("resource").length'), 0)
        self.assertEqual(self.browser.complaints(), [])


class Page(Shown):
    @classmethod
    def setUpClass(cls):
        project = testbed.write_tree({
            'train.py': 'import lib.model\n', 'lib/__init__.py': '', 'lib/model.py': '# code\n' * 700,
            'lib/deep/data.csv': '1,2\n' * 3000, 'notes.txt': 'x' * 41, '.dockerignore': 'runs\n',
            'runs/log.txt': 'y' * 70000, f'{HOSTILE}/odd.py': 'print(1)\n', 'bad.py': 'import nowhere_to_be_found\n'})
        arguments = ('explain', f'--executor-image-uri={testbed.executor()}', '--script=train.py', '--format=json',
                     f'--output-image-uri={testbed.image_name("page")}')
        cls.page = testbed.new_folder('page') / 'explained.html'
        cls.said = autopack(*arguments, f'--html={cls.page}', cwd=project).json()
        cls.plain = autopack(*arguments, cwd=project).json()
        super().setUpClass()

    def tiles(self):
        return self.browser.run('return [...document.querySelectorAll("#map button")].map((e) => e.getAttribute("aria-label"))')

    def focused(self):
        return self.browser.run('return document.activeElement.getAttribute("aria-label")')

    def sizes_below(self, prefix):
        return {file['path']: file['size'] for file in self.said['code']
                if file['type'] == 'file' and file['path'].startswith(prefix)}

    def test_shows_what_the_json_says(self):
        self.assertEqual(self.said, self.plain)
        self.assertEqual(self.texts('h1'), [self.said['upload']['destination']])
        self.assertIn(' '.join(self.said['entrypoint']), self.texts('#facts dd'))
        layers = self.said['layers']
        self.assertEqual(self.texts('#layers tbody td:nth-child(3)'), [layer['name'] for layer in layers])
        self.assertEqual(self.texts('#layers tbody td:nth-child(1)'),
                         [size(layer['size']) if layer['size'] or layer['digest'] else 'not known' for layer in layers])
        self.assertEqual(self.texts('#left-out tbody tr td:nth-child(1)'), [size(rule['size']) for rule in self.said['left_out']])
        self.assertIn('runs (.dockerignore:1)', self.texts('#left-out tbody td:nth-child(2)'))
        self.assertEqual(len(self.texts('#warnings > li')), len(self.said['warnings']))
        self.assertEqual(self.texts('main > section:first-child h2'), ['Warnings'])
        self.assertNotIn('`', ' '.join(self.texts('#warnings')))
        sent = self.said['upload']
        self.assertIn(f'{"about" if sent["exact"] else "more than"} {size(sent["bytes"])} to {sent["destination"]}',
                      self.texts('#rebuilt dd'))
        self.assertEqual(self.texts('#dockerfile'), [self.said['dockerfile'].strip()])
        total = sum(self.sizes_below('').values())
        self.assertEqual(self.texts('#way span'), [size(total)])

    def test_a_directory_opens_and_closes(self):
        inside = self.sizes_below('lib/')
        label = f'lib, {size(sum(inside.values()))}, directory with {len(inside)} files'
        self.assertIn(label, self.tiles())
        self.browser.click(f'#map button[aria-label="{label}"]')
        self.assertEqual(self.texts('#way button'), ['image', 'code', 'lib'])
        self.assertEqual(self.texts('#sizes tbody td:nth-child(2)'), ['deep/', 'model.py', '__init__.py'])
        self.assertEqual(self.texts('#sizes tbody td:nth-child(1)'),
                         [size(inside[name]) for name in ('lib/deep/data.csv', 'lib/model.py', 'lib/__init__.py')])
        self.browser.click('#way button:first-child')
        names = [layer['name'] for layer in self.said['layers'] if not layer['name'].startswith(('code', 'data'))]
        self.assertEqual({tile.rsplit(', ', 1)[0] for tile in self.tiles() if not tile.startswith('code,')}, set(names))

    def test_the_keyboard_is_enough(self):
        self.browser.run('document.querySelector("#map button").focus()')
        first = self.focused()
        self.assertTrue(first.startswith('lib, '), first)
        self.browser.press(RIGHT)
        self.assertEqual(self.focused(), self.tiles()[1])
        self.browser.run('document.querySelector("#map button").focus()')
        self.browser.press(ENTER)
        self.assertEqual(self.texts('#way button'), ['image', 'code', 'lib'])
        self.assertEqual(self.focused(), self.tiles()[0])
        self.browser.press(ESCAPE)
        self.assertEqual(self.texts('#way button'), ['image', 'code'])
        outlined = self.browser.run('return getComputedStyle(document.activeElement).outlineStyle')
        self.assertEqual(outlined, 'solid')

    def test_everything_has_a_name_and_enough_contrast(self):
        nameless = self.browser.run('''
            return [...document.querySelectorAll("button, section, nav, table")].filter((e) =>
                !e.getAttribute("aria-label") && !e.getAttribute("aria-labelledby") && !e.textContent.trim()).length''')
        self.assertEqual(nameless, 0)
        self.assert_enough_contrast()

    def test_fits_a_narrow_window(self):
        self.assert_fits(360)
        right = self.browser.run('return Math.max(...[...document.querySelectorAll("#map button")].map((e) => '
                                 'e.getBoundingClientRect().right))')
        self.assertLessEqual(right, 360)

    def test_names_of_files_are_text_and_nothing_is_fetched(self):
        self.assertTrue([tile for tile in self.tiles() if tile.startswith('a<')], self.tiles())
        self.assert_plain()


class JobPage(Shown):
    """The page of `submit --dry-run --html`: the request, beside the image that it names."""

    hidden = 'value-that-the-request-alone-shows'

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = testbed.write_tree({'train.py': 'print(1)\n', 'job.yaml': json.dumps({
            'scheduling': {'timeout': '7200s', 'strategy': 'SPOT'},
            'workerPoolSpecs': [
                {'diskSpec': {'bootDiskType': 'pd-ssd', 'bootDiskSizeGb': 200},
                 'containerSpec': {'env': [{'name': 'KEY_OF_SERVICE', 'value': cls.hidden}, {'name': 'B', 'value': '2'}]}},
                {}, {'machineSpec': {'machineType': 'n1-standard-4'}, 'replicaCount': '2', 'containerSpec': {
                    'imageUri': 'gcr.io/p/server:v1', 'command': ['serve', HOSTILE, "it's"], 'args': ['--password', cls.hidden]}}]})})
        target = testbed.image_name('jobpage')
        cls.page = testbed.new_folder('page') / 'job.html'
        cls.arguments = ('submit', '--dry-run', f'--display-name={HOSTILE}', '--config=job.yaml', '--region=us-central1',
                         '--project=p', '--worker-pool-spec=machine-type=n1-standard-8,accelerator-type=NVIDIA_TESLA_T4,'
                         f'accelerator-count=2,executor-image-uri={testbed.executor()},local-package-path=.,'
                         f'script=train.py,output-image-uri={target}:v1',
                         f'--args=--epochs=2,--api-key={cls.hidden}')
        answer = autopack(*cls.arguments, f'--html={cls.page}', cwd=folder)
        cls.request = answer.json()['request']['body']
        cls.plain = autopack(*cls.arguments, cwd=folder).json()['request']['body']
        cls.folder = folder

    def cell(self, row, column):
        return self.browser.run('return document.querySelectorAll("#pools tbody tr")[arguments[0]].cells[arguments[1]].innerText',
                                row, column)

    def facts_of(self, selector):
        return dict(zip(self.texts(f'{selector} dt'), self.texts(f'{selector} dd')))

    def test_has_a_row_for_each_pool_of_the_request(self):
        self.assertEqual(self.request, self.plain)
        pools = self.request['jobSpec']['workerPoolSpecs']
        self.assertEqual(self.texts('#pools tbody td:nth-child(1)'), [f'workerpool{i}' for i in range(len(pools))])
        self.assertEqual(self.texts('#pools tbody td:nth-child(2)'), [pool.get('replicaCount', '0') for pool in pools])
        first, empty, last = pools
        machine = first['machineSpec']
        self.assertEqual(self.cell(0, 2).split('\n'), [
            machine['machineType'], f'{machine["acceleratorCount"]} × {machine["acceleratorType"]}',
            f'disk: {first["diskSpec"]["bootDiskSizeGb"]} GB {first["diskSpec"]["bootDiskType"]}'])
        ran = self.facts_of('#pools tbody tr:nth-child(1)')
        self.assertEqual(ran['Image'], first['containerSpec']['imageUri'])
        self.assertEqual(ran['Made'], 'from this project, as shown below')
        self.assertEqual(ran['Variables'].split(', '), [one['name'] for one in first['containerSpec']['env']])
        self.assertEqual(ran['Arguments'], '--epochs=2 --api-key=***')
        self.assertEqual((empty, self.cell(1, 3)), ({}, 'nothing: it keeps the place free'))
        ran = self.facts_of('#pools tbody tr:nth-child(3)')
        self.assertEqual((ran['Image'], ran['Arguments']), (last['containerSpec']['imageUri'], '--password ***'))
        self.assertNotIn('Made', ran)
        self.assertEqual(shlex.split(ran['Command']), ['serve', SHOWN, "it's"])

    def test_tells_the_job_and_the_image(self):
        facts = self.facts_of('#facts')
        job = self.request
        self.assertEqual([facts[name] for name in ('Kind', 'Project', 'Region', 'Timeout', 'Scheduling')],
                         ['CustomJob', 'p', 'us-central1', job['jobSpec']['scheduling']['timeout'], 'strategy: SPOT'])
        self.assertEqual(self.texts('h1'), [f'The job {SHOWN}'])
        self.assertIn('train.py, 9 B', self.browser.run(
            'return [...document.querySelectorAll("#map button")].map((e) => e.getAttribute("aria-label"))'))

    def test_reads_well_and_holds_no_secret(self):
        self.assertNotIn(self.hidden, self.page.read_text())
        self.assert_plain()
        self.assert_enough_contrast()
        self.assert_fits(360)
        widths = self.browser.run('return [...document.querySelectorAll("#pools td")].map((e) => e.getBoundingClientRect().width)')
        self.assertGreater(min(widths), 300)  # blocks, below each other
        self.assertEqual(self.browser.run('return [...document.querySelectorAll("#pools tbody > *")].map((e) => e.role)'), ['row'] * 3)

    def test_a_job_of_images_that_are_there_has_no_map(self):
        page = self.page.with_name('ready.html')
        study = ['--metric=loss:minimize', '--parameter=rate:double:1e-3..1:log', '--max-trial-count=6', '--parallel-trial-count=2']
        pool = '--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1'
        for command, flags, kind, trials in (('submit', [], 'CustomJob', None),
                                             ('tune', study, 'HyperparameterTuningJob', '6, 2 at once')):
            autopack(command, '--dry-run', '--display-name=ready', '--region=us-central1', '--project=p', pool, *flags,
                     f'--html={page}', cwd=self.folder)
            self.browser.open(page)
            facts = self.facts_of('#facts')
            self.assertEqual((facts['Kind'], facts.get('Trials')), (kind, trials))
            self.assertEqual(self.facts_of('#pools tbody tr')['Image'], 'gcr.io/p/i:v1')
            self.assertTrue(self.browser.run('return document.getElementById("image").hidden'))
            self.assertEqual(self.browser.complaints(), [])


class Flag(unittest.TestCase):
    def test_is_refused_where_nothing_is_planned_or_written(self):
        project = testbed.write_tree({'train.py': ''})
        base = f'--executor-image-uri={testbed.executor()}'
        answer = autopack('explain', base, '--script=train.py', '--check', '--html=x.html', cwd=project, status=2)
        self.assertIn('`--check` plans nothing that `--html` could show', answer.err)
        answer = autopack('explain', base, '--script=train.py', '--html=train.py/x.html', cwd=project, status=None)
        self.assertNotEqual(answer.status, 0)
        self.assertIn('train.py', answer.err)

    def test_is_refused_where_a_job_is_sent(self):
        project = testbed.write_tree({'train.py': ''})
        for command in ('submit', 'tune'):
            answer = autopack(command, '--html=x.html', cwd=project, status=2)
            self.assertIn('`--html` shows what would be sent, and this sends it', answer.err)
            self.assertIn('add `--dry-run`', answer.err)
            self.assertFalse((project / 'x.html').exists())
