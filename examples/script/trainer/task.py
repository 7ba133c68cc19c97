"""Fits a logistic regression to two noisy clusters and prints its accuracy."""

import argparse
import json
import os
import pathlib

import numpy as np


def make_points(count, seed):
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, count)
    centres = np.array([[-1.0, -0.5], [1.0, 0.5]])
    return centres[labels] + random.normal(scale=0.8, size=(count, 2)), labels


def fit(points, labels, epochs, rate):
    inputs = np.column_stack([points, np.ones(len(points))])
    weights = np.zeros(inputs.shape[1])
    for epoch in range(1, epochs + 1):
        guess = 1 / (1 + np.exp(-inputs @ weights))
        weights -= rate * inputs.T @ (guess - labels) / len(labels)
        if epoch % max(1, epochs // 5) == 0:
            loss = -np.mean(np.log(np.where(labels == 1, guess, 1 - guess)))
            print(f'epoch {epoch}: loss {loss:.4f}', flush=True)
    return weights


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--epochs', type=int, default=200)
    parser.add_argument('--rate', type=float, default=0.5)
    arguments = parser.parse_args()

    weights = fit(*make_points(4000, seed=1), arguments.epochs, arguments.rate)
    points, labels = make_points(1000, seed=2)
    guess = np.column_stack([points, np.ones(len(points))]) @ weights > 0
    accuracy = float(np.mean(guess == labels))
    print(f'accuracy: {accuracy:.3f}')

    # Vertex AI names a folder for the result; on this machine nobody does.
    folder = os.environ.get('AIP_MODEL_DIR', '')
    if folder and '://' not in folder:
        path = pathlib.Path(folder) / 'model.json'
        path.write_text(json.dumps({'weights': weights.tolist(), 'accuracy': accuracy}))
        print(f'wrote {path}')


if __name__ == '__main__':
    main()
