"""Fits a linear discriminant to two kinds of wine."""

from importlib import metadata

import numpy as np


def measure(count, centre, seed):
    return np.random.default_rng(seed).normal(loc=centre, scale=0.6, size=(count, 2))


def main():
    red, white = measure(300, (3.2, 1.0), 1), measure(300, (1.6, 2.4), 2)
    within = np.cov(red.T) + np.cov(white.T)
    direction = np.linalg.solve(within, red.mean(axis=0) - white.mean(axis=0))
    middle = (red.mean(axis=0) + white.mean(axis=0)) @ direction / 2
    right = np.sum(red @ direction > middle) + np.sum(white @ direction <= middle)
    print(f'wine {metadata.version("wine")}')
    print(f'separated: {right / 600:.3f}')


if __name__ == '__main__':
    main()
