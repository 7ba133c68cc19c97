import importlib.metadata

import tqdm

print("version", importlib.metadata.version("lab"), sum(tqdm.tqdm([1, 2], disable=True)))
