import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
from common.lr import rate  # noqa: E402
from models.net import Net  # noqa: E402

print(Net().name, rate(2))
