print('started', flush=True)
import greeter  # noqa: F401, E402
