import importlib.metadata

import tqdm

from lab import __version__
from lab.data import numbers


def main():
    print("trained", sum(tqdm.tqdm(numbers(), disable=True)), __version__, importlib.metadata.version("lab"))


if __name__ == "__main__":
    main()
