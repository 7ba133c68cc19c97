import tqdm  # noqa: F401

print('started', flush=True)
import some_internal_tool  # noqa: F401, E402
