import sys

print(sys.flags.dev_mode)
