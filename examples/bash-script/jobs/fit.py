import statistics
import sys

with open(sys.argv[1], encoding='utf-8') as file:
    rows = [[float(word) for word in line.split()] for line in file]
slope, offset = statistics.linear_regression(*zip(*rows))
print(f'slope: {slope:.2f} offset: {offset:.2f}')
