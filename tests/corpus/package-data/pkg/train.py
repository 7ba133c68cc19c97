from importlib.metadata import version
from importlib.resources import files

print(version('pkg'), files('pkg.data').joinpath('prompt.txt').read_text())
