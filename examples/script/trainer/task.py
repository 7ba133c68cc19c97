"""Fits a logistic regression to two noisy clusters and prints its accuracy."""

import argparse
import json
import math
import os
import pathlib
import random


def make_points(count, seed):
    source = random.Random(seed)
    points = []
    for _ in range(count):
        label = source.randrange(2)
        centre = 1.0 if label else -1.0
        points.append((source.gauss(centre, 0.8), source.gauss(centre / 2, 0.8), label))
    return points


def guess(weights, x, y):
    return 1 / (1 + math.exp(-(weights[0] * x + weights[1] * y + weights[2])))


def fit(points, epochs, rate):
    weights = [0.0, 0.0, 0.0]
    for epoch in range(1, epochs + 1):
        gradient, loss = [0.0, 0.0, 0.0], 0.0
        for x, y, label in points:
            value = guess(weights, x, y)
            loss -= math.log(value if label else 1 - value)
            for i, part in enumerate((x, y, 1.0)):
                gradient[i] += (value - label) * part / len(points)
        weights = [weight - rate * part for weight, part in zip(weights, gradient)]
        if epoch % max(1, epochs // 5) == 0:
            print(f'epoch {epoch}: loss {loss / len(points):.4f}', flush=True)
    return weights


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--epochs', type=int, default=200)
    parser.add_argument('--rate', type=float, default=0.5)
    arguments = parser.parse_args()

    weights = fit(make_points(500, seed=1), arguments.epochs, arguments.rate)
    test = make_points(1000, seed=2)
    accuracy = sum((guess(weights, x, y) > 0.5) == bool(label) for x, y, label in test) / len(test)
    print(f'accuracy: {accuracy:.3f}')

    # Vertex AI names a folder for the result; on this machine nobody does.
    folder = os.environ.get('AIP_MODEL_DIR', '')
    if folder and '://' not in folder:
        path = pathlib.Path(folder) / 'model.json'
        path.write_text(json.dumps({'weights': weights, 'accuracy': accuracy}))
        print(f'wrote {path}')


if __name__ == '__main__':
    main()
