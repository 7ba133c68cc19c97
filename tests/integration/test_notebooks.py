"""`--script=train.ipynb` runs the cells of a notebook as a program."""

import json
import os
import unittest

import testbed
from repositories import repository
from test_wheels import write_wheel
from testbed import autopack

CELLS = [['markdown', '# Title'],
         ['code', '%pip install -q "lk_top>=1"\n%matplotlib inline\nimport importlib.metadata, json, os'],
         ['code', '%%time\n%env RATE=0.1\nimport helper'],
         ['code', 'print(json.dumps([importlib.metadata.version("lk_low"), os.environ["RATE"], helper.VALUE]))']]


def notebook(cells):
    return json.dumps({'nbformat': 4, 'nbformat_minor': 5, 'metadata': {'language_info': {'name': 'python'}},
                       'cells': [{'cell_type': kind, 'metadata': {}, 'source': source.splitlines(True),
                                  **({'outputs': [], 'execution_count': None} if kind == 'code' else {})}
                                 for kind, source in cells]})


class Notebooks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('notebooks/base:1')
        house = testbed.new_folder('house')
        write_wheel(house, 'lk_top', '1.0', {'lk_top.py': ''}, ['lk_low>=1'])
        write_wheel(house, 'lk_low', '1.0', {'lk_low.py': ''})
        cls.index = testbed.start_index([house])

    def setUp(self):
        self.env = testbed.environment(PIP_INDEX_URL=self.index.url, AUTOPACK_UV=str(testbed.uv()),
                                       XDG_CACHE_HOME=str(testbed.new_cache()))
        self.folder = repository({'train.ipynb': notebook(CELLS), 'helper.py': 'VALUE = 7\n'})

    def call(self, command, *flags, status=0):
        return autopack(command, '--executor-image-uri', self.base, '--script=train.ipynb', *flags, cwd=self.folder,
                        env=self.env, status=status)

    def build(self, *flags):
        return self.call('build', '--format=json', f'--output-image-uri={testbed.image_name("notebooks")}', *flags)

    def test_its_cells_run_in_order(self):
        answer = self.build('--engine=direct')
        self.assertNotIn('warning', answer.err)
        self.assertIn('notebook `train.ipynb`, 1 more requirement', answer.err)
        self.assertEqual(json.loads(testbed.run_image(answer.json()['uri'])), ['1.0', '0.1', 7])
        self.assertIn('# %% [cell 3]\n# %%time\nimport os; os.environ["RATE"] = "0.1"\nimport helper\n',
                      testbed.run_image('--entrypoint', 'cat', answer.json()['uri'], 'train.py'))
        self.assertEqual(sorted(os.listdir(self.folder)), ['.git', 'helper.py', 'train.ipynb'])
        self.assertEqual(self.build('--engine=direct', '--source=HEAD').json()['digest'], answer.json()['digest'])
        (self.folder / 'train.ipynb').write_text(notebook([*CELLS, ['code', 'print("more")']]))
        self.assertNotEqual(self.build('--engine=direct').json()['tag'], answer.json()['tag'])

    def test_a_lock_contains_what_it_installs(self):
        self.call('lock')
        self.assertIn('lk-low', (self.folder / 'pylock.toml').read_text())
        answer = self.build('--engine=docker', '--build-network=host')
        self.assertNotIn('warning', answer.err)
        self.assertEqual(json.loads(testbed.run_image(answer.json()['uri'])), ['1.0', '0.1', 7])
        cells = [['code', '%pip install lk_low'], *CELLS[2:]]
        (self.folder / 'train.ipynb').write_text(notebook(cells))
        self.assertIn('`pylock.toml` is not used: the choice of requirements has changed',
                      self.call('explain', '--check').err)

    def test_the_dockerfile_says_where_the_program_comes_from(self):
        text = self.call('dockerfile').out
        self.assertIn('# It runs train.py, which autopack makes from the code cells of a notebook: ', text)
        self.assertIn('\n# autopack-notebook: train.ipynb\n', text)
        self.assertIn('ENTRYPOINT ["python3", "train.py"]', text)
        self.assertIn('(made from train.ipynb)', self.call('explain').out)

    def test_its_dockerfile_can_be_built(self):
        (self.folder / 'train.ipynb').write_text(notebook([['code', 'import helper\nprint(helper.VALUE)']]))
        self.call('dockerfile', '-o', 'Dockerfile')
        flags = ['build', '--dockerfile=Dockerfile', '--no-push', '--format=json']
        answer = autopack(*flags, cwd=self.folder, env=self.env)
        self.assertEqual(testbed.run_image(answer.json()['digest']), '7')
        (self.folder / 'train.ipynb').unlink()
        refused = autopack(*flags, cwd=self.folder, env=self.env, status=2)
        self.assertIn('`train.ipynb`, whose cells the Dockerfile runs, is not a notebook in this project', refused.err)

    def test_commands_are_refused_with_their_cells(self):
        (self.folder / 'train.ipynb').write_text(notebook([*CELLS, ['code', 'x = 1\n!ls'], ['code', 'await x']]))
        answer = self.call('build', '--no-push', status=2)
        self.assertIn('`!ls` is a command of a notebook\n  from: train.ipynb cell 5:2\n', answer.err)
        self.assertIn('from: train.ipynb cell 6:1\n', answer.err)


if __name__ == '__main__':
    unittest.main()
