"""Counts the lines of standard input, so that something can be piped into a container."""

import sys

print(f'lines: {sum(1 for _ in sys.stdin)}')
