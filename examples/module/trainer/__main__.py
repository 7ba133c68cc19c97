"""Runs as `python -m trainer`: estimates pi from random points."""

import sys

from trainer.sampling import estimate


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    value = estimate(count)
    print(f'points: {count}')
    print(f'pi: {value:.2f}')


if __name__ == '__main__':
    main()
