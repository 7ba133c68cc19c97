import counter  # noqa: F401
import greeter

print(greeter.hello())
