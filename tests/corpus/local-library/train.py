import metric
import tqdm  # noqa: F401

print(metric.hello())
