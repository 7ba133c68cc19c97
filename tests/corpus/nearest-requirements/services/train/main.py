import greeter

print(greeter.hello())
