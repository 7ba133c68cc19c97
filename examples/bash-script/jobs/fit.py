import sys

import numpy as np

data = np.loadtxt(sys.argv[1])
slope, offset = np.polyfit(data[:, 0], data[:, 1], 1)
print(f'slope: {slope:.2f} offset: {offset:.2f}')
