import greeter

import pkg

print(pkg.__version__, greeter.hello())
