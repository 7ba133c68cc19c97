import os

os.chdir(os.path.dirname(os.path.abspath(__file__)))
print(open('../data/set.txt').read().strip())
