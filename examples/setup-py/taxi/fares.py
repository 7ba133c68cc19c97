import numpy as np


def rides(count, seed):
    random = np.random.default_rng(seed)
    distance = random.gamma(2.0, 3.0, count)
    return distance, 2.5 + 1.8 * distance + random.normal(scale=0.5, size=count)
