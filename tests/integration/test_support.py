"""Tests of the parts that other tests rely on."""

import unittest
import urllib.error
import urllib.request

import testbed
from secret_watch import secret


class Index(unittest.TestCase):
    def test_lists_projects_and_serves_their_files(self):
        index = testbed.index()
        page = urllib.request.urlopen(index.url + 'greeter/').read().decode()
        self.assertIn('greeter-1.0-py3-none-any.whl', page)
        self.assertIn('greeter-2.0-py3-none-any.whl', page)

    def test_asks_for_a_login(self):
        index = testbed.start_index(user='robot', password=secret('password'))
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(index.url)
        self.assertEqual(caught.exception.code, 401)
        self.assertEqual([entry['status'] for entry in index.requests], [401])


class Executor(unittest.TestCase):
    def test_has_python_pip_and_numpy(self):
        out = testbed.run_image(testbed.executor(), 'python3', '-c',
                                'import numpy, pip; print(numpy.__name__, pip.__name__)')
        self.assertEqual(out, 'numpy pip')


if __name__ == '__main__':
    unittest.main()
