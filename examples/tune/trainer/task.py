"""Fits a line through noisy points by gradient descent; rate and momentum are for the tuning job to find."""

import argparse
import random

try:
    import hypertune
except ImportError:  # without a tuning job nobody listens
    hypertune = None


def fit(rate, momentum, epochs):
    source = random.Random(7)
    inputs = [source.uniform(-1, 1) for _ in range(200)]
    points = [(x, 1.5 * x - 0.3 + source.gauss(0, 0.1)) for x in inputs]

    def errors():
        return [(slope * x + offset - y, x) for x, y in points]

    slope = offset = slope_step = offset_step = 0.0
    for _ in range(epochs):
        slope_step = momentum * slope_step - rate * sum(error * x for error, x in errors()) / len(points)
        offset_step = momentum * offset_step - rate * sum(error for error, _ in errors()) / len(points)
        slope, offset = slope + slope_step, offset + offset_step
    return sum(error ** 2 for error, _ in errors()) / len(points)


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
