print('started', flush=True)
from .layers import Layer  # noqa: F401
