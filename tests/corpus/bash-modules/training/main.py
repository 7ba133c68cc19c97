import sys

print(sys.argv[1:], open('data/small.csv').readline().strip())
