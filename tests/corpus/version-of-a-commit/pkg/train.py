from importlib.metadata import version

import pkg

print('version', version('pkg'), pkg.__version__)
