"""Compares how names of images are read with docker and skopeo: whether they are valid, and what they refer to.

    image_references.py --binary build/tests/support/reference_facts

A table of names, and random names. Docker says whether each is valid when it should pull it, and how it writes the name
when it tags an image with it; skopeo also says the first.
"""

import concurrent.futures
import functools
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'support'))
sys.dont_write_bytecode = True

import testbed  # noqa: E402
from testbed import docker, run  # noqa: E402

DIGEST = 'sha256:' + 'a' * 64
IMAGE = 'autopack-tests/reference:1'

NAMES = [
    'a', 'a:b', 'a/b', 'a/b:c', 'a.b/c', 'localhost/a', 'localhost:5000/a:b', '127.0.0.1:5000/a', '[::1]:5000/a', '[::1]/a',
    '[fe80::1%25eth0]:5000/a', '[2001:db8::]/a', '[]/a', '[::1]a/b', '[::1]:/a',
    'a:', ':a', '/a', 'a/', 'a//b', 'A', 'A/b', 'A.b/c', 'a/B', 'a:B', 'a:-', 'a:.', 'a:_x', f'a:{"x" * 128}',
    f'a:{"x" * 129}', 'a_b', 'a__b', 'a___b', 'a.b', 'a..b', 'a-b', 'a--b', '-a', 'a-', '_a', 'a_', '.a', 'a.', 'a._b', 'a-_b',
    f'a@{DIGEST}', f'a:b@{DIGEST}', f'a@{DIGEST}:b', 'a@sha256:aa', f'a@{DIGEST.upper()}', 'a@', 'a@b', f'a@@{DIGEST}',
    f'@{DIGEST}', f'a@{DIGEST}0', f'a@{DIGEST[:-1]}g', f'localhost:5000/a/b@{DIGEST}', '\u00e9', 'a/\u00e9', 'a:\u00e9',
    f'{"a" * 247}/b', f'{"a" * 255}', f'{"a" * 256}', f'localhost/{"a" * 255}', f'localhost/{"a" * 256}', f'library/{"a" * 240}',
    'a:5000', 'a:5000/b', 'a:x/b', 'docker.io/a', 'docker.io/library/a', 'index.docker.io/a', 'index.docker.io/library/a:b',
    'library/a', 'docker.io/a/b', 'a.b:80/c:d', 'a.b:/c', 'a.b:x/c', '-a.b/c', 'a-.b/c', 'a..b/c', 'a_b.c/d', 'a_b:80/d', 'localhost',
    'localhost:5000', 'LOCALHOST/a', 'Localhost:5000/a', 'docker.io', 'docker.io/', 'a' * 64, 'f' * 64, 'f' * 63, DIGEST,
    'sha256:' + 'a' * 32, 'http://a.b/c', 'a b', ' a', 'a ', 'a/./b', 'a/../b', '../a', 'a\tb', 'a%20b', 'a#b', 'a?b', 'a&b', 'a+b', 'a~b',
]

HOSTS = ['', '', '', 'localhost/', 'localhost:5000/', 'a.b/', 'a-b.c:80/', 'A.b/', 'a_b.c/', '127.0.0.1/', '[::1]:5000/', 'x:/', 'docker.io/',
         'index.docker.io/', 'a.b./', '.a/']
PARTS = ['a', 'b1', 'library', 'a.b', 'a_b', 'a__b', 'a--b', 'a-', '.', '', 'A', '0', 'a.-b', 'x' * 60]
TAGS = ['', '', '', ':b', ':1.0', ':B_', ':', ':-', ':.a', ':a/b', ':a:b']
DIGESTS = ['', '', '', f'@{DIGEST}', '@sha256:00', f'@sha512:{"a" * 128}', f'@md5:{"a" * 32}']

# Names that a peer accepts and autopack refuses, with the reason.
REFUSED_HERE = {
    r'.*@sha512:.*': 'what autopack makes, and all registries serve, is named by sha256',
    r'[^/:]*_[^/:]*\.[^/:]*/.*|[^/:]*\.[^/:]*_[^/:]*/.*': 'no host has an underscore; docker goes on to ask a host without a name',
    r'sha256:[0-9a-f]{64}': 'it is the ID of an image; docker asks for a repository `sha256`, and refuses to tag one',
}
# Names that releases of before 2023 refuse.
NEWER = {
    r'\[.*': 'addresses of IPv6',
    r'[^/.:]*[A-Z][^/.:]*/.*': 'a host that capital letters tell from a path',
    r'.{240,}': 'lengths counted without the host',
}
REFUSALS = ('invalid reference format', 'invalid repository name', 'unsupported digest algorithm', 'invalid checksum digest',
            'must not be more than')


def is_of(table, name):
    return any(re.fullmatch(pattern, name) for pattern in table)


def names():
    chance = random.Random(16)
    some = {chance.choice(HOSTS) + '/'.join(chance.choices(PARTS, k=chance.choice([1, 1, 2, 3]))) + chance.choice(TAGS) +
            chance.choice(DIGESTS) for _ in range(120)}
    return [*NAMES, *sorted(some - set(NAMES))]


def is_refused(said):
    """Refused by the client: an engine, which may be older, has read the name too if it responds."""
    return 'Error response from daemon' not in said and any(refusal in said for refusal in REFUSALS)


def taken_by_docker(name):
    return not is_refused(run(['docker', 'pull', '--quiet', '--', name], check=False).stderr.decode())


def taken_by_skopeo(name):
    said = run(['skopeo', 'inspect', '--raw', '--', f'docker://{name}'], check=False).stderr.decode()
    # It accepts a tag or a digest, not both.
    return None if 'both a tag and digest' in said else not is_refused(said)


@functools.cache
def empty_image():
    docker('import', '/dev/null', IMAGE)
    return IMAGE


def written_by_docker(name):
    """Returns docker's spelling of a name without a digest, then removes the name. None if an older engine refuses
    it."""
    if run(['docker', 'tag', empty_image(), name], check=False).returncode != 0:
        return None
    listed = docker('image', 'inspect', '-f', '{{join .RepoTags "\\n"}}', IMAGE).split('\n')
    written = [other for other in listed if other != IMAGE]
    # Not by the name itself: the engine reads `a` as the start of an image id if one begins with it.
    docker('rmi', *written)
    return written


def differences(name, fact):
    taken = fact != 'none'
    for peer in (taken_by_docker, taken_by_skopeo):
        theirs = peer(name)
        if theirs is not None and theirs != taken and not is_of(REFUSED_HERE if theirs else NEWER, name):
            yield f'`{name}`: {peer.__name__} {theirs}, here {fact}'


def main():
    testbed.main_binary(sys.argv[1:])
    testbed.engine()
    asked = names()
    answers = run([testbed.binary], input='\n'.join(asked).encode() + b'\n').stdout.decode().split('\n')[:-1]
    facts = dict(zip(asked, answers, strict=True))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        wrong = [text for found in pool.map(lambda one: list(differences(*one)), facts.items()) for text in found]
    compared = 0
    try:
        for name, fact in facts.items():
            if fact != 'none' and '@' not in name:
                *_, written = fact.split('\t')
                theirs = written_by_docker(name)
                compared += theirs is not None
                if theirs not in (None, [written]):
                    wrong.append(f'`{name}`: docker writes {theirs}, here {written}')
    finally:
        run(['docker', 'rmi', IMAGE], check=False)
    print('\n'.join(wrong))
    print(f'{len(facts)} names, {compared} of them written by docker too')
    print(f'{len(facts) + compared - len(wrong)} passed, {len(wrong)} failed')
    sys.exit(1 if wrong or compared < 30 else 0)


if __name__ == '__main__':
    main()
