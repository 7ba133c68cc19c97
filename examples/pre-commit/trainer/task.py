"""Finds a line through points."""

points = [(x, 3 * x + 2) for x in range(10)]
count = len(points)
mean_x = sum(x for x, _ in points) / count
mean_y = sum(y for _, y in points) / count
slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
print(f'slope {slope:.1f}, intercept {mean_y - slope * mean_x:.1f}')
