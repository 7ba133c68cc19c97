import sys

sys.path.append('.')
from helper import value  # noqa: E402
from core.model import scale  # noqa: E402

print(value * scale)
