"""Renders a terminal's screen from a program's bytes: rows, each part with a colour or weight in <words>...</>.

    echo '[{"columns": 80, "text": "..."}]' | /usr/bin/python3 screen.py

prints a list of lists of rows as JSON: those that scrolled off a screen of 24 rows first. It runs under Debian's own
Python, which has the terminal emulator pyte.
"""

import itertools
import json
import re
import sys

ROWS = 24
WORDS = 'bold|italics|underscore|reverse|dim|black|red|green|yellow|blue|magenta|cyan|white'
MARK = re.compile(f'<(?:{WORDS})(?: (?:{WORDS}))*>|</>')


def without_colours(row):
    """Returns a row of `screen.py` as on a terminal without colours."""
    return MARK.sub('', row)


def style(cell):
    words = [word for word, is_set in (('bold', cell.bold), ('italics', cell.italics), ('underscore', cell.underscore),
                                       ('reverse', cell.reverse)) if is_set]
    # pyte's brown is the yellow of every modern terminal.
    return ' '.join(words + [cell.fg.replace('brown', 'yellow')] * (cell.fg != 'default'))


def row_text(cells, columns):
    row = [cells[column] for column in range(columns)]
    while row and row[-1].data == ' ' and not style(row[-1]):
        row.pop()
    parts = []
    for words, group in itertools.groupby(row, style):
        text = ''.join(cell.data for cell in group)
        parts.append(f'<{words}>{text}</>' if words else text)
    return ''.join(parts)


def shown(columns, text):
    import pyte

    class Screen(pyte.HistoryScreen):
        # pyte 0.8 passes this on to code that does not support private modes, and lacks dim text.
        def select_graphic_rendition(self, *codes, **_):
            super().select_graphic_rendition(*codes)
            if 2 in codes:
                self.cursor.attrs = self.cursor.attrs._replace(fg='dim')

    screen = Screen(columns, ROWS, history=10_000, ratio=1)
    pyte.Stream(screen).feed(text)
    rows = [row_text(line, columns) for line in screen.history.top]
    rows += [row_text(screen.buffer[number], columns) for number in range(ROWS)]
    while rows and not rows[-1]:
        rows.pop()
    return rows


if __name__ == '__main__':
    json.dump([shown(screen['columns'], screen['text']) for screen in json.load(sys.stdin)], sys.stdout)
