import greeter

from netlab.core import name

print(name(), greeter.hello())
