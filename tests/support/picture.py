#!/usr/bin/env python3
"""Draws a command's output on a terminal of 80 columns, with its colours, as an SVG picture.

    picture.py FILE.svg COMMAND...

The picture begins with the command as typed.
"""

import html
import os
import pathlib
import pty
import re
import shlex
import sys

CELL_WIDTH, LINE_HEIGHT, MARGIN = 8.4, 18, 14
COLOURS = {'31': '#f7768e', '32': '#9ece6a', '33': '#e0af68', '34': '#7aa2f7', '35': '#bb9af7', '36': '#7dcfff', '2': '#7a819e'}
ESCAPE = re.compile(r'\x1b\[([0-9;]*)([A-Za-z])')


def output_of(command):
    """Returns the output of `command` on a terminal."""
    pid, master = pty.fork()
    if pid == 0:
        os.environ.update(TERM='xterm-256color', COLUMNS='80')
        os.environ.pop('NO_COLOR', None)
        os.execvp(command[0], command)
    text = b''
    while True:
        try:
            piece = os.read(master, 1 << 16)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.waitpid(pid, 0)
    return text.decode().replace('\r\n', '\n')


def spans(line):
    """Returns the parts of a line with their colours and weights, without overwritten text."""
    line = line.rsplit('\r', 1)[-1]
    colour, bold, at = None, False, 0
    for match in [*ESCAPE.finditer(line), None]:
        part = line[at:match.start() if match else len(line)]
        if part:
            yield part, colour, bold
        if match:
            at = match.end()
            for code in match.group(1).split(';') if match.group(2) == 'm' else []:
                bold = code == '1' or (bold and code not in ('', '0'))
                colour = COLOURS.get(code) or (None if code in ('', '0', '39') else colour)


def draw(lines):
    columns = max(80, *(sum(len(part) for part, _, _ in spans(line)) for line in lines))
    width, height = columns * CELL_WIDTH + 2 * MARGIN, len(lines) * LINE_HEIGHT + 2 * MARGIN
    rows = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
            'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">',
            '<rect width="100%" height="100%" rx="8" fill="#1a1b26"/>']
    for number, line in enumerate(lines):
        column = 0
        for part, colour, bold in spans(line):
            weight = ' font-weight="bold"' if bold else ''
            rows.append(f'<text x="{MARGIN + column * CELL_WIDTH:.1f}" y="{MARGIN + (number + 1) * LINE_HEIGHT - 4}" '
                        f'fill="{colour or "#c0caf5"}"{weight} textLength="{len(part) * CELL_WIDTH:.1f}" '
                        f'xml:space="preserve">{html.escape(part)}</text>')
            column += len(part)
    return '\n'.join([*rows, '</svg>']) + '\n'


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    file, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    typed = '\x1b[1m$ ' + shlex.join([pathlib.Path(command[0]).name, *command[1:]]) + '\x1b[0m'
    file.write_text(draw([typed, *output_of(command).rstrip('\n').split('\n')]), encoding='utf-8')


if __name__ == '__main__':
    main()
