"""Fits a line to noisy points, and prints it."""

import os
import random

SLOPE, OFFSET = 3, 2


def fit(points):
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return slope, mean_y - slope * mean_x


def main():
    data = random.Random(0)
    slope, offset = fit([(x, SLOPE * x + OFFSET + data.gauss(0, 0.1)) for x in (data.random() for _ in range(1000))])
    print(f'rank {os.environ.get("RANK", "0")}: slope {slope:.1f} offset {offset:.1f}')


main()
