import sys

from trainer.model import SLOPE

print("slope", SLOPE, *sys.argv[1:])
