"""Fits a line through noisy points by gradient descent; rate and momentum are for the tuning job to find."""

import argparse

import numpy as np

try:
    import hypertune
except ImportError:  # without a tuning job nobody listens
    hypertune = None


def fit(rate, momentum, epochs):
    random = np.random.default_rng(7)
    inputs = np.column_stack([random.uniform(-1, 1, 200), np.ones(200)])
    wanted = inputs @ np.array([1.5, -0.3]) + random.normal(scale=0.1, size=200)
    weights, step = np.zeros(2), np.zeros(2)
    for _ in range(epochs):
        step = momentum * step - rate * inputs.T @ (inputs @ weights - wanted) / len(wanted)
        weights += step
    return float(np.mean((inputs @ weights - wanted) ** 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rate', type=float, default=0.1)
    parser.add_argument('--optimizer', choices=('plain', 'momentum'), default='plain')
    parser.add_argument('--momentum', type=float, default=0.9)
    parser.add_argument('--epochs', type=int, default=50)
    arguments = parser.parse_args()

    momentum = arguments.momentum if arguments.optimizer == 'momentum' else 0.0
    loss = fit(arguments.rate, momentum, arguments.epochs)
    print(f'loss: {loss:.5f}')
    if hypertune:
        hypertune.HyperTune().report_hyperparameter_tuning_metric(
            hyperparameter_metric_tag='loss', metric_value=loss, global_step=arguments.epochs)


if __name__ == '__main__':
    main()
