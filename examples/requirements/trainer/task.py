"""Smooths a series with the shared library and reports what is left of the noise."""

from importlib import metadata

import mathutil
import numpy as np

series = np.sin(np.linspace(0, 6, 300)) + np.random.default_rng(3).normal(scale=0.2, size=300)
smooth = np.array(mathutil.moving_average(series.tolist(), 15))
truth = np.sin(np.linspace(0, 6, 300))[7:-7]
print(f'mathutil {metadata.version("mathutil")}')
print(f'noise before: {np.std(series[7:-7] - truth):.3f}')
print(f'noise after: {np.std(smooth - truth):.3f}')
