"""Checks the text of all files in git for content that must not be in a public project.

    check_text.py ROOT

Findings: a path of somebody's home or scratch directory, the host of a package registry (a mirror is the
machine's own choice), a mark of unfinished work, white space at the end of a line, a missing final line feed.
"""

import pathlib
import re
import subprocess
import sys

# Split into pieces, so that this file does not find itself.
RULES = (
    (re.compile(r'/(?:ho' r'me|Us' r'ers)/[a-z][\w-]*/'), "path of somebody's home directory"),
    (re.compile(r'(?<![\w.$}/-])/(?:wo' r'rk|tm' r'p/w|tm' r'p/wt)/'), 'path of one machine'),
    (re.compile(r'\b(?:py' r'pi\.org|files\.pyth' r'onhosted\.org|deb\.deb' r'ian\.org|registry\.np' r'mjs\.org'
                r'|archive\.ubu' r'ntu\.com)\b'), 'host of a package registry'),
    (re.compile(r'\b(?:TO' r'DO|FIX' r'ME|XX' r'X)\b'), 'mark of unfinished work'),
    (re.compile(r'[ \t]+$'), 'white space at the end of the line'),
)


def tracked(root):
    answer = subprocess.run(['git', '-C', root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
                            capture_output=True, check=False)
    if answer.returncode == 0:
        return sorted(name for name in answer.stdout.decode().split('\0') if name)
    # An unpacked archive has no repository.
    return sorted(str(path.relative_to(root)) for path in root.rglob('*')
                  if path.is_file() and not path.relative_to(root).parts[0].startswith(('build', '.git')))


def findings(root):
    for name in tracked(root):
        path = root / name
        if path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes()
        if b'\0' in data:
            continue
        try:
            text = data.decode('utf-8')
        except UnicodeDecodeError:
            continue
        verbatim = name == 'LICENSE' or '/golden/' in name or '/corpus/' in name or name.endswith('.diff')
        for number, line in enumerate(text.split('\n'), 1):
            for pattern, what in RULES:
                if verbatim and 'white space' in what:
                    continue
                match = pattern.search(line)
                if match:
                    yield f'{name}:{number}: {what}: {match.group(0)!r}'
        if text and not text.endswith('\n') and not verbatim:
            yield f'{name}: no line feed at the end'


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(findings(pathlib.Path(sys.argv[1])))
    print('\n'.join(found) if found else 'text is clean')
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
