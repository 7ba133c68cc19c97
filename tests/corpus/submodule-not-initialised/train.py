import sys

print('started', flush=True)
sys.path.append('third_party/apex')
import apex  # noqa: E402
