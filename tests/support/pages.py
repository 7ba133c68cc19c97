"""Shows screens of the first day in pages: as SVG pictures, and as blocks below a comment with the screen's title.

A screen is a list of rows as screen.py renders them. In a block, a line `...` stands for any lines.
"""

import html
import re

from screen import MARK, without_colours

WIDTH, HEIGHT, MARGIN = 8.4, 18, 14
BACKGROUND, FOREGROUND = '#1a1b26', '#c0caf5'
COLOURS = {'red': '#f7768e', 'green': '#9ece6a', 'yellow': '#e0af68', 'blue': '#7aa2f7', 'magenta': '#bb9af7',
           'cyan': '#7dcfff', 'dim': '#787c99'}


def parts_of(row):
    """Yields the parts of a row and the words of their style."""
    words, begin = '', 0
    for mark in MARK.finditer(row):
        if mark.start() > begin:
            yield row[begin:mark.start()], words.split()
        words, begin = mark[0].strip('</>'), mark.end()
    if begin < len(row):
        yield row[begin:], words.split()


def picture(rows):
    """Returns rows as an SVG picture; the first one is the command."""
    columns = max(len(without_colours(row)) for row in rows)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{columns * WIDTH + 2 * MARGIN:.0f}" '
             f'height="{len(rows) * HEIGHT + 2 * MARGIN}" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" '
             'font-size="14">', f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>']
    for number, row in enumerate(rows):
        column = 0
        for text, words in parts_of(row):
            colour = next((COLOURS[word] for word in words if word in COLOURS), FOREGROUND)
            weight = ' font-weight="bold"' if 'bold' in words or number == 0 else ''
            lines.append(f'<text x="{MARGIN + column * WIDTH:.1f}" y="{2 * MARGIN + number * HEIGHT}" fill="{colour}"{weight} '
                         f'textLength="{len(text) * WIDTH:.1f}" xml:space="preserve">{html.escape(text)}</text>')
            column += len(text)
    return '\n'.join(lines) + '\n</svg>\n'


def rows_of(svg):
    """Returns the rows of a picture, without colours."""
    rows = {}
    for x, y, text in re.findall(r'<text x="([\d.]+)" y="(\d+)"[^>]*>([^<]*)</text>', svg):
        column = round((float(x) - MARGIN) / WIDTH)
        rows[int(y)] = rows.get(int(y), '').ljust(column) + html.unescape(text)
    return [row for _, row in sorted(rows.items())]


BLOCK = re.compile(r'^<!-- ([^\n]*) -->\n```\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def blocks_of(page):
    """Returns the title and the rows of each block of a page."""
    return [(title, text.splitlines()) for title, text in BLOCK.findall(page)]


def is_shown(rows, screen):
    """Returns true if `rows`, of a block, are those of the screen; line breaks and spaces do not count."""
    pattern = '.*'.join(re.escape(''.join(''.join(part).split()))
                        for part in split(rows, '...'))
    return re.fullmatch(pattern, ''.join(''.join(screen).split())) is not None


def split(rows, line):
    parts = [[]]
    for row in rows:
        if row == line:
            parts.append([])
        else:
            parts[-1].append(row)
    return parts


def renewed(page, screens):
    """Returns the page with the blocks that show a whole screen as it is now; `screens` has them by title."""
    def block(match):
        title, text = match.groups()
        rows = text.splitlines() if '...' in text.splitlines() else screens[title]
        return f'<!-- {title} -->\n```\n' + '\n'.join(rows) + '\n```'
    return BLOCK.sub(block, page)
