import sys

for name in sys.argv[1:]:
    exec(open(name).read())
