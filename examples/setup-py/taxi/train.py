"""Fits the fare per kilometre; also the console script `taxi-train`."""

from importlib import metadata

import numpy as np

from taxi import fares


def main():
    distance, fare = fares.rides(2000, seed=5)
    rate, base = np.polyfit(distance, fare, 1)
    print(f'taxi {metadata.version("taxi")}')
    print(f'base: {base:.1f} per km: {rate:.1f}')


if __name__ == '__main__':
    main()
