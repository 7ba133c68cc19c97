import os
import sys

print('process', os.environ['PROCESSES'], sys.argv[1:])
