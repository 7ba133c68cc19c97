"""Compares how pages of package indexes are read with Debian's pip, on generated pages.

    index_pages.py --binary build/tests/index_facts

Intended differences are not generated: links with user information, hosts in upper case, attributes without a value,
and names that would lead out of a directory.
"""

import argparse
import html
import json
import random
import subprocess
import sys

from pip._internal.index.collector import IndexContent, parse_links
from pip._internal.models.link import Link

SEED = 503
# An older pip knows only the older name.
METADATA = ['data-dist-info-metadata', 'data-core-metadata'] if hasattr(Link('https://h/'), 'metadata_file_data') else \
    ['data-dist-info-metadata']
URLS = ['https://index.test/simple/pkg/', 'https://index.test/simple/pkg', 'https://index.test/simple/pkg/index.html?x=y/z',
        'http://127.0.0.1:8080/', 'https://index.test/a%20b/c+d/', 'https://[::1]:8443/root/simple/pkg/']


class Cases:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def some(self, text, chance=0.3):
        return text if self.random.random() < chance else ''

    def hexadecimal(self, digits):
        return ''.join(self.random.choice('0123456789abcdefABCDEF') for _ in range(digits))

    def file_name(self):
        name = self.random.choice(['pkg', 'my_pkg', 'My.Pkg', 'zope.interface', 'p'])
        version = self.random.choice(['1.0', '2.1.post1', '1!3.0', '1.0+cpu', '1.0%2Bcpu', '1.0rc1', '2024.1', '0.1~x', "1.0'x"])
        kind = self.random.choice(['-py3-none-any.whl', '-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl',
                                   '.tar.gz', '.zip', '-1build-py2.py3-none-any.whl', '.tar.bz2', '.exe', '', '.whl.asc'])
        return f'{name}-{version}{kind}'

    def reference(self):
        path = self.random.choice(['', '', '../../packages/ab/cd/', '/files/', './', '../', 'a b/', 'x@1.0/', 'x%2fy/', 'x%2Fy/', 'é/', '%C3%A9/',
                                   'https://files.test/packages/', 'https://files.test:8443/', 'http://files.test/', '//cdn.test/p/',
                                   '../../../../../far/', 'a/./b/../c/', '~user/', 'a,b/(c)/', 'a!b/',
                                   'file:///srv/wheels/'])
        name = self.file_name()
        query = self.some(self.random.choice(['?a=b', '?a=b&c=d%20e', '?token=x+y/z', '?q']), 0.15)
        fragment = self.random.choice(['', f'#sha256={self.hexadecimal(64)}', f'#md5={self.hexadecimal(32)}',
                                       f'#sha512={self.hexadecimal(128)}', f'#egg=pkg&sha256={self.hexadecimal(64)}',
                                       f'#sha384={self.hexadecimal(96)}&egg=pkg&md5=0', '#egg=pkg', '#', '#blake2=00',
                                       f'#sha256={self.hexadecimal(64)}&subdirectory=x'])
        return self.some(' ', 0.05) + path + name + query + fragment

    def conditions(self):
        return self.random.choice(['>=3.8', '>=3.8,<4', '!=3.0.*,>=2.7', '', '~=3.7', '>= 3.6 , <3.12', 'é'])

    def reason(self):
        return self.random.choice(['broken', '', 'it is "quoted" & <tagged>', "it's", 'é€😀', 'a\nb'])

    def metadata(self):
        return self.random.choice(['true', f'sha256={self.hexadecimal(64)}', f'sha512={self.hexadecimal(128)}', 'nonsense'])

    def spelled(self, name):
        return ''.join(self.random.choice([c, c.upper()]) if self.random.random() < 0.1 else c for c in name)

    def encoded(self, value):
        """Encodes as servers do; sometimes with numbers for characters that need none."""
        text = html.escape(value, quote=True)
        if self.random.random() < 0.2 and '&' not in text:
            at = self.random.randrange(len(text) + 1)
            text = text[:at] + ''.join(self.random.choice([f'&#{ord(c)};', f'&#x{ord(c):x};']) for c in text[at:at + 3]) + text[at + 3:]
        return text

    def attribute(self, name, value):
        text = self.encoded(value)
        space = self.random.choice(['', '', '', ' ', '\n'])
        if self.random.random() < 0.1 and value and not set(text) & set(' \t\n\r\f"\'>`=') and not text.endswith('/'):
            return f'{self.spelled(name)}={text}'
        quote = self.random.choice('"\'')
        # html.escape replaces both quotes.
        return f'{self.spelled(name)}{space}={space}{quote}{text}{quote}'

    def anchor(self):
        reference = self.reference()
        attributes = [self.attribute('href', reference)]
        if self.random.random() < 0.5:
            attributes.append(self.attribute('data-requires-python', self.conditions()))
        if self.random.random() < 0.2:
            attributes.append(self.attribute('data-yanked', self.reason()))
        for name in METADATA:
            if self.random.random() < 0.3:
                attributes.append(self.attribute(name, self.metadata()))
        if self.random.random() < 0.2:
            attributes.append(self.random.choice(['rel=internal', 'class="x y"', 'data-gpg-sig="true"', 'title="a > b"', "title='<a href=x>'"]))
        self.random.shuffle(attributes)
        space = self.random.choice([' ', '  ', '\n  ', '\t'])
        end = self.random.choice(['>', '>', ' >', '\n>', ' />'])
        return f'<{self.random.choice("aaaaA")}{space}{space.join(attributes)}{end}{self.random.choice(["pkg", "", "<b>x</b>", "a &lt; b"])}</a>'

    def other(self):
        return self.random.choice(['<br/>\n', '\n', 'text', '<p>', '</p>', '<!-- <a href="hidden-1.zip">x</a> -->', '<h1>Links for pkg</h1>',
                                   '<script>var x = "<a href=\'hidden-2.zip\'>";</script>', '<style>a > b {}</style>', '<a name="x">y</a>',
                                   '<a href="">z</a>', '<abbr href="hidden-3.zip">', '1 < 2', 'a &amp; b', '<!DOCTYPE html>', '<?xml version="1.0"?>',
                                   '<link href="hidden-4.zip">', '<img src=x alt="a>b">', '<a href="mailto:me@host.test">m</a>'])

    def page(self):
        parts = [self.random.choice([self.anchor, self.anchor, self.other])() for _ in range(self.random.choice([0, 1, 3, 8, 20]))]
        if self.random.random() < 0.15:
            base = self.random.choice(['https://base.test/x/y/', 'https://base.test/x/y', 'https://base.test'])
            parts.insert(self.random.randrange(len(parts) + 1), f'<base {self.attribute("href", base)}>')
        return '<!DOCTYPE html>\n<html><body>\n' + self.some('\n', 0.5).join(parts) + '</body></html>\n'

    def file(self):
        reference = self.reference().split('#')[0]
        entry = {'url': reference}
        hashes = {name: self.hexadecimal(digits) for name, digits in (('sha256', 64), ('md5', 32), ('sha512', 128)) if self.random.random() < 0.4}
        if self.random.random() < 0.9:
            entry['hashes'] = hashes
        if self.random.random() < 0.5:
            entry['requires-python'] = self.random.choice([self.conditions(), None])
        if self.random.random() < 0.4:
            entry['yanked'] = self.random.choice([True, False, self.reason()])
        for name in METADATA:
            if self.random.random() < 0.4:
                entry[name.removeprefix('data-')] = self.random.choice([True, False, {'sha256': self.hexadecimal(64)}, {}])
        if self.random.random() < 0.5:
            entry |= {'size': 1234, 'upload-time': '2024-01-01T00:00:00Z', 'provenance': None}
        return entry

    def json_page(self):
        page = {'meta': {'api-version': self.random.choice(['1.0', '1.1', '1.4'])}, 'name': 'pkg', 'versions': ['1.0', '2.0'],
                'files': [self.file() for _ in range(self.random.choice([0, 1, 5, 20]))]}
        if self.random.random() < 0.1:
            page['files'].insert(0, {'filename': 'no-url-1.0.zip'})
        items = list(page.items())
        self.random.shuffle(items)
        return json.dumps(dict(items), ensure_ascii=self.random.random() < 0.5)


def metadata_of(link):
    """Returns the hashes of a metadata file, which may all be unknown; None if there is no such file."""
    if hasattr(link, 'metadata_file_data'):
        data = link.metadata_file_data
        return None if data is None else (data.hashes or {})
    told = link.dist_info_metadata
    if isinstance(told, dict):
        return told
    if not told:
        # pip 23.0 ignores an empty value.
        return None
    name, sign, digits = told.partition('=') if isinstance(told, str) else ('', '', '')
    return {name: digits} if sign and name.startswith('sha') else {}


def by_pip(kind, page, url):
    files = []
    for link in parse_links(IndexContent(page.encode(), kind, None, url, cache_link_parsing=False)):
        # Unlike pip, autopack accepts no file of this machine from a server's page.
        if link.scheme not in ('http', 'https'):
            continue
        hashes = dict(getattr(link, '_hashes', None) or ({link.hash_name: link.hash} if link.hash_name else {}))
        metadata = metadata_of(link)
        files.append({'name': link.filename, 'url': link.url_without_fragment,
                      # An older pip reads everything after it as the hash.
                      'hashes': {name: digits.split('&')[0].lower() for name, digits in hashes.items()},
                      'requires-python': link.requires_python or '', 'yanked': link.yanked_reason,
                      'metadata': None if metadata is None else {name: digits.lower() for name, digits in metadata.items()}})
    return files


def pages(cases):
    for _ in range(700):
        yield 'text/html', cases.page(), cases.random.choice(URLS)
    for _ in range(500):
        yield 'application/vnd.pypi.simple.v1+json', cases.json_page(), cases.random.choice(URLS)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--binary', required=True)
    asked = list(pages(Cases(SEED)))
    questions = ''.join(json.dumps({'page': {'type': kind, 'body': page, 'url': url}}) + '\n' for kind, page, url in asked)
    answers = subprocess.run([parser.parse_args().binary], input=questions, text=True, check=True, stdout=subprocess.PIPE).stdout
    wrong = files = 0
    for (kind, page, url), line in zip(asked, answers.splitlines(), strict=True):
        wanted = by_pip(kind, page, url)
        found = [{name: file[name] for name in ('name', 'url', 'hashes', 'requires-python', 'yanked', 'metadata')}
                 for file in json.loads(line).get('answer', [{}])]
        files += len(wanted)
        if found != wanted:
            wrong += 1
            if wrong <= 10:
                different = next(((a, b) for a, b in zip(found, wanted) if a != b), (len(found), len(wanted)))
                print(f'{url}\n{page if len(page) < 500 else ""}\n  is read as {different[0]}\n  not as     {different[1]}')
    print(f'{len(asked)} pages with {files} files, {wrong} read otherwise')
    if files < 2000:
        sys.exit('the pages are too empty')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
