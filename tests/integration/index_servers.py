"""Queries good and bad package indexes on loopback, and compares the results with Debian's pip.

    index_servers.py --binary build/tests/index_facts [NAME...]
"""

import argparse
import hashlib
import json
import pathlib
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'support'))

import wheel_writer  # noqa: E402
from index_server import IndexServer  # noqa: E402

SYSTEM_PYTHON = '/usr/bin/python3'
BINARY = None

# The files that pip finds for a project: file URLs in its own order.
PIP = '''
import json, sys
from pip._internal.index.collector import LinkCollector
from pip._internal.index.package_finder import PackageFinder
from pip._internal.models.search_scope import SearchScope
from pip._internal.models.selection_prefs import SelectionPreferences
from pip._internal.network.session import PipSession
asked = json.load(sys.stdin)
session = PipSession(index_urls=asked['indexes'])
scope = SearchScope.create(find_links=asked['links'], index_urls=asked['indexes'], no_index=False)
finder = PackageFinder.create(link_collector=LinkCollector(session, scope), selection_prefs=SelectionPreferences(allow_yanked=True))
json.dump([[c.link.url_without_fragment, c.link.is_yanked] for c in finder.find_all_candidates(asked['project'])], sys.stdout)
'''


def write_wheel(directory, name, version, size=2000):
    path = pathlib.Path(directory) / f'{name}-{version}-py3-none-any.whl'
    with wheel_writer.Writer(path, f'{name}-{version}.dist-info') as wheel:
        wheel.add(f'{name}/__init__.py', hashlib.sha512(version.encode()).digest() * (size // 64))
        wheel.add_metadata(f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n', 'py3-none-any')
    return path


class Servers(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.wheels = self.folder / 'wheels'
        self.wheels.mkdir()
        for version in ('1.0', '1.1', '2.0'):
            write_wheel(self.wheels, 'pkg', version)
        (self.wheels / 'pkg-0.9.tar.gz').write_bytes(b'no archive')
        self.big = write_wheel(self.wheels, 'big', '1.0', 3_000_000)

    def serve(self, directory=None, **how):
        return self.enterContext(IndexServer([directory or self.wheels], **how))

    def question(self, index, cache='cache', **question):
        environment = {'HOME': str(self.folder), 'PIP_CONFIG_FILE': '/dev/null', 'PIP_RETRIES': '2', 'PIP_TIMEOUT': '2'}
        if index:
            environment['PIP_INDEX_URL'] = index if isinstance(index, str) else index.url
        environment |= question.pop('environment', {})
        return json.dumps({'environment': environment, 'cache': str(self.folder / cache), **question}).encode()

    def ask(self, index, **question):
        ended = subprocess.run([BINARY], input=self.question(index, **question), stdout=subprocess.PIPE, check=True)
        return json.loads(ended.stdout)

    def download(self, server, path, **what):
        return {'name': path.name, 'url': server.url.replace('simple/', 'files/') + path.name,
                'hashes': {'sha256': hashlib.sha256(path.read_bytes()).hexdigest()}, **what}

    def kept(self, cache='cache'):
        return [path for path in (self.folder / cache).rglob('*') if path.is_file()]

    def is_whole(self, said, path):
        self.assertEqual(pathlib.Path(said['answer'][0]['path']).read_bytes(), path.read_bytes(), said)
        self.assertEqual(len(self.kept()), 1, self.kept())

    def test_both_forms_tell_the_same(self):
        answers = []
        for form in ('json', 'html'):
            server = self.serve(form=form, metadata=True, yanked={'pkg-1.1-py3-none-any.whl': 'bad <news>'})
            files = self.ask(server, candidates=['PKG'], cache=form)['answer']['PKG']
            self.assertEqual(self.ask(server, candidates=['PKG'], cache=form)['answer']['PKG'], files)
            for file in files:
                self.assertTrue(file['url'].startswith(server.url.replace('simple/', 'files/')))
                file |= {'url': '', 'index': ''}
                if form == 'json':
                    self.assertEqual(file['size'], (self.wheels / file['name']).stat().st_size)
                    file['size'] = None
            answers.append(files)
        self.assertEqual(*answers)
        self.assertEqual([file['yanked'] for file in answers[0]], [None, None, 'bad <news>', None])
        self.assertEqual([len(file['metadata'] or {}) for file in answers[0]], [0, 1, 1, 1])

    def test_pip_finds_the_same_in_the_same_order(self):
        other = self.folder / 'other'
        local = self.folder / 'local'
        for place in (other, local):
            place.mkdir()
        write_wheel(other, 'pkg', '3.0')
        write_wheel(other, 'pkg_more', '4.0')
        write_wheel(local, 'pkg', '0.5')
        (local / 'page.html').write_text('<a href="deep/pkg-0.6.tar.gz">')
        one, two = self.serve(form='html', yanked={'pkg-2.0-py3-none-any.whl': ''}), self.serve(other, form='json')
        page = two.url + 'pkg/'
        for indexes, links in (([one.url], []), ([one.url, two.url], []), ([two.url], [str(local)]), ([one.url], [page, str(local / 'page.html')]),
                               ([two.url, one.url], [page, str(local)]), ([], [page])):
            said = subprocess.run([SYSTEM_PYTHON, '-c', PIP], input=json.dumps({'indexes': indexes, 'links': links, 'project': 'pkg'}).encode(),
                                  stdout=subprocess.PIPE, check=True, env={'HOME': str(self.folder), 'PIP_CONFIG_FILE': '/dev/null'})
            lines = [[['--find-links', place]] for place in links] + [[['--extra-index-url', place]] for place in indexes]
            found = self.ask(None, candidates=['pkg'], lines=lines)['answer']['pkg']
            # pip lists a directory in disk order, and reverses its files.
            self.assertEqual(sorted([file['url'], file['yanked'] is not None] for file in found), sorted(json.loads(said.stdout)), (indexes, links))
            remote = [file['url'] for file in found if file['url'].startswith('http')]
            self.assertEqual(remote, [url for url, _ in json.loads(said.stdout) if url.startswith('http')], (indexes, links))

    def test_a_login_is_found_as_by_pip_and_shown_to_nobody_else(self):
        server = self.serve(user='me', password='pa55/word')
        refused = self.ask(server, candidates=['pkg'])
        self.assertIn('401', refused['causes'][0])
        self.assertIn('netrc', refused['hints'][0])
        inside = server.url.replace('://', '://me:pa55%2Fword@')
        self.assertEqual(len(self.ask(inside, candidates=['pkg'])['answer']['pkg']), 4)
        (self.folder / '.netrc').write_text('machine 127.0.0.1\n  login me\n  password pa55/word\n')
        self.assertEqual(len(self.ask(server, candidates=['pkg'])['answer']['pkg']), 4)
        wrong = self.ask(server.url.replace('://', '://me:n0pe@'), candidates=['pkg'])
        self.assertNotIn('n0pe', json.dumps(wrong))
        for path in self.kept():
            self.assertNotIn(b'pa55', path.read_bytes())

    def test_a_redirect_to_another_host_takes_no_login_along(self):
        storage = self.serve()
        server = self.serve(user='me', password='word')
        target = storage.url.replace('simple/', 'files/') + self.big.name
        server.misbehave(f'/files/{self.big.name}', redirect=target)
        inside = server.url.replace('://', '://me:word@')
        self.is_whole(self.ask(inside, get=[self.download(server, self.big)]), self.big)
        self.assertTrue(server.asked(f'/files/{self.big.name}')[0]['login'])
        self.assertIsNone(storage.asked(f'/files/{self.big.name}')[0]['login'])

    def test_an_authority_of_pips_settings_stands_for_redirects_too(self):
        key, certificate = self.folder / 'key.pem', self.folder / 'certificate.pem'
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=index', '-addext',
                        'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate], check=True, capture_output=True)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
        storage, server = self.serve(tls=tls), self.serve(tls=tls)
        path = f'/files/{self.big.name}'
        server.misbehave(path, times=3, redirect=storage.url.replace('/simple/', path))
        wanted = [self.download(server, self.big)]
        self.assertIn('certificate', ' '.join(self.ask(server, get=wanted)['causes']))
        self.is_whole(self.ask(server, get=wanted, environment={'PIP_CERT': str(certificate)}), self.big)
        trusting = {'PIP_TRUSTED_HOST': '127.0.0.1'}
        self.assertEqual(len(self.ask(server, candidates=['pkg'], environment=trusting)['answer']['pkg']), 4)

    def test_statuses_of_pages_are_told_apart(self):
        server = self.serve()
        self.assertEqual(self.ask(server, candidates=['nobody'])['answer'], {'nobody': []})
        for status in (429, 503, 500):
            server.misbehave('/simple/pkg/', times=2, status=status)
            self.assertEqual(len(self.ask(server, candidates=['pkg'])['answer']['pkg']), 4)
        for status in (401, 403, 429, 503, 418):
            server.misbehave('/simple/pkg/', times=3, status=status)
            said = self.ask(server, candidates=['pkg'])
            self.assertIn(f'pkg/: {status}: as told', said['causes'][0])
            self.assertIn(server.url.rstrip('/'), said['error'])
            server.faults.clear()

    def test_downloads_that_break_are_gone_on_with(self):
        for ranges in (True, False):
            with self.subTest(ranges=ranges):
                server = self.serve(ranges=ranges)
                path = f'/files/{self.big.name}'
                server.misbehave(path, times=2, cut=1_000_000)
                cache = f'cache-{ranges}'
                said = self.ask(server, get=[self.download(server, self.big)], cache=cache)
                self.assertEqual(pathlib.Path(said['answer'][0]['path']).read_bytes(), self.big.read_bytes())
                self.assertEqual(len(self.kept(cache)), 1)
                places = [entry['range'] for entry in server.asked(path)]
                self.assertEqual(places, [None, 'bytes=1000000-', 'bytes=2000000-' if ranges else 'bytes=1000000-'])

    def test_the_next_process_goes_on_where_a_killed_one_was(self):
        server = self.serve()
        path = f'/files/{self.big.name}'
        server.misbehave(path, cut=1_500_000)
        server.misbehave(path, times=2, stall=30)
        question = self.question(server, get=[self.download(server, self.big)])
        first = subprocess.Popen([BINARY], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        first.stdin.write(question + b'\n')
        first.stdin.flush()
        deadline = time.monotonic() + 30
        while len(server.asked(path)) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        first.kill()
        first.wait()
        first.stdin.close()
        server.faults.clear()
        self.is_whole(self.ask(server, get=[self.download(server, self.big)]), self.big)
        self.assertEqual(server.asked(path)[-1]['range'], 'bytes=1500000-')

    def test_processes_that_want_the_same_file_share_one_download(self):
        server = self.serve()
        path = f'/files/{self.big.name}'
        server.misbehave(path, stall=0.5)
        question = self.question(server, get=[self.download(server, self.big)])
        running = [subprocess.Popen([BINARY], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)]
        for process in running:
            process.stdin.write(question + b'\n')
            process.stdin.close()
        said = [json.loads(process.stdout.read()) for process in running]
        for process in running:
            process.stdout.close()
            self.assertEqual(process.wait(), 0)
        for answer in said:
            self.is_whole(answer, self.big)
        self.assertEqual(len(server.asked(path)), 1)

    def test_lies_are_refused_and_nothing_is_kept(self):
        whole = self.big.read_bytes()
        for name, fault, what in (('other bytes', {'body': whole[:-1] + b'x'}, {}), ('shorter', {'body': whole[:-1]}, {}),
                                  ('longer', {'body': whole + b'x'}, {'size': len(whole)}), ('another size', {}, {'size': len(whole) + 1}),
                                  ('a page', {'body': b'<html>log in</html>'}, {}), ('nothing', {'body': b''}, {})):
            with self.subTest(name):
                server = self.serve()
                server.misbehave(f'/files/{self.big.name}', **fault)
                said = self.ask(server, get=[self.download(server, self.big, **what)])
                self.assertEqual(said.get('error'), f'`{self.big.name}` was not downloaded')
                self.assertEqual(self.kept(), [])
                self.assertEqual(len(server.asked(f'/files/{self.big.name}')), 1)

    def test_a_stall_ends_and_is_tried_again(self):
        server = self.serve()
        server.misbehave('/simple/pkg/', stall=6)
        server.misbehave(f'/files/{self.big.name}', stall=6)
        self.assertEqual(len(self.ask(server, candidates=['pkg'])['answer']['pkg']), 4)
        self.assertEqual(len(server.asked('/simple/pkg/')), 2)
        said = self.ask(server, get=[self.download(server, self.big)], cache='files')
        self.assertEqual(pathlib.Path(said['answer'][0]['path']).read_bytes(), self.big.read_bytes())

    def test_metadata_comes_by_itself_where_it_is_announced(self):
        for form in ('json', 'html'):
            for told in (True, False):
                server = self.serve(form=form, metadata=told)
                said = self.ask(server, metadata='pkg', cache=f'{form}-{told}')['answer']
                self.assertEqual({name: (text or '').startswith('Metadata-Version') for name, text in said.items()},
                                 {path.name: told and path.suffix == '.whl' for path in self.wheels.glob('pkg*')})
        server = self.serve(metadata=True)
        server.misbehave('/files/pkg-1.1-py3-none-any.whl.metadata', body=b'Metadata-Version: 2.1\nName: evil\n')
        self.assertEqual(self.ask(server, metadata='pkg', cache='fresh')['error'],
                         'the metadata of `pkg-1.1-py3-none-any.whl` does not match its hash in the index')

    def test_an_index_without_hashes_is_downloaded_from_each_time(self):
        server = self.serve(hashes=False)
        wanted = self.download(server, self.big) | {'hashes': {}}
        for _ in range(2):
            self.is_whole(self.ask(server, get=[wanted]), self.big)
        self.assertEqual(len(server.asked(f'/files/{self.big.name}')), 2)


def main():
    global BINARY
    parser = argparse.ArgumentParser()
    parser.add_argument('--binary', required=True)
    arguments, rest = parser.parse_known_args()
    BINARY = arguments.binary
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == '__main__':
    main()
